/* SPDX-License-Identifier: ISC */
/* Between thread.c, registry.c and event.c: stops that are seen while others
 * are waited for. */
#ifndef DL_TRACER_THREAD_H
#define DL_TRACER_THREAD_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target;
struct thread;

/* A status that nobody has attended to. */
struct pending {
	pid_t	 tid;
	int	 status;
	unsigned long msg;
	bool	 has_msg;
	uint64_t since;		/* nobody knows whose it is; 0: not asked */
	struct pending *next;
};

/* -- registry.c -- */
/* Puts a status into the queue; since: see above. */
void	 event_queue(pid_t tid, int status, unsigned long msg, bool has_msg,
	    uint64_t since);
/* Takes the first; false: there is none. */
bool	 event_next(struct pending *);
size_t	 events_waiting(void);
/* Keeps a status for target_events(). */
void	 event_later(pid_t tid, int status, unsigned long msg);
/* Forgets the stops of a thread that is let go. */
void	 event_forget(pid_t tid);
bool	 event_waits(pid_t tid);

/* -- thread.c -- */
/* A stop of the whole process by a signal. */
bool	 status_is_group(int status);
/* At the beginning or the end of a system call, where only ours stop. */
bool	 status_is_call(int status);
/* Out of a system call in which it stopped for an event.  False: it runs. */
bool	 thread_settle(struct target *, struct thread *);
/* A value of /proc/.../status, empty if it is not there. */
void	 about_thread(pid_t pid, pid_t tid, const char *key, char *value,
	    size_t size);
/* Takes down what filters of system calls its maker has. */
void	 filters_note(struct target *);
/* Whether the program may have forbidden what is done in its name: it could be
 * killed for that. */
bool	 thread_filtered(const struct target *, const struct thread *);
/* Whether the processor checks the program's returns against a shadow stack
 * (CET), which stubs do not maintain. */
bool	 threads_shadowed(const struct target *);
/* Moves the program counter from a restartable sequence to its abort handler,
 * before the thread runs elsewhere. */
void	 sequence_abort(const struct target *, const struct thread *,
	    struct arch_regs *);
/* From the trap where the program begins back to its beginning. */
void	 thread_untrap(struct target *, struct thread *);

#endif
