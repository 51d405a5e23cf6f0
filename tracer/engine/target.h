/* SPDX-License-Identifier: ISC */
/*
 * The engine: functions of a running program are watched from within it.
 *
 * A target is one process and its threads.  The engine is its ptrace tracer
 * from target_open() to target_close() and keeps the agent in it; a process
 * has one engine, used by one thread, which is the only one that waits for
 * children: unknown ones are reported by on_child.  No function blocks for
 * longer than it takes to stop the target's threads.
 *
 * Times are CLOCK_MONOTONIC in nanoseconds.
 */
#ifndef DL_TARGET_H
#define DL_TARGET_H

#include <sys/types.h>

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/capture.h"

struct target;

#define TARGET_WHY	192	/* room for a reason, with its NUL */
#define TARGET_BUDGET	100000	/* calls per second, the usual one */
#define TARGET_STACK	64	/* words of the stack in a crash */
#define TARGET_NAME	16

#define TARGET_REGS	40	/* most registers that a crash tells of */

struct target_reg {
	const char *name;	/* static */
	uint64_t value;
};

enum target_event_kind {
	TARGET_THREAD_NEW,
	TARGET_THREAD_GONE,
	TARGET_FORK,    /* child is set if forks are followed */
	TARGET_EXEC,    /* another program; all probes are gone.  Its loader
			 * is done, so that its libraries are there, and it
			 * stands at its first instruction until the callback
			 * returns, which may probe it, or until
			 * target_go() if it says target_hold() */
	TARGET_EXIT,    /* the process is gone: status as waitpid's.  The rings
			 * can still be read; then close the target */
	TARGET_CRASH,   /* a signal that kills, if no handler has it */
	TARGET_LOST,    /* calls without records; tid 0: of threads that could
			 * not be given a ring (1024 have one) */
	TARGET_OBJECTS, /* libraries have been loaded, or are about to be; the
			 * thread stands in the loader, as for EXEC */
	TARGET_NAMED    /* a thread has another name */
};

struct target_event {
	enum target_event_kind kind;
	pid_t	 pid, tid;	/* as the engine's pid namespace has them */
	uint64_t ts;
	int	 status;	/* EXIT */
	struct target *child;	/* FORK: the receiver's, to be closed; NULL
				 * if not followed */
	pid_t	 child_pid;	/* FORK */
	bool	 differs;	/* FORK: its probes are those that its parent
				 * had then, not those that it has now */
	char name[TARGET_NAME]; /* of the thread: CRASH, NAMED, THREAD_NEW */
	/* CRASH */
	int	 signo, code;
	bool	 caught;	/* the program has a handler for it */
	uint64_t addr;		/* of the fault */
	struct target_reg regs[TARGET_REGS];
	uint32_t nregs;
	uint64_t pc;
	uint64_t sp;		/* address of stack[0] */
	uint64_t stack[TARGET_STACK]; /* with the program's own return
				       * addresses, not the agent's */
	uint32_t nstack;              /* words of it that could be read */
	/* LOST: since the last one */
	uint64_t calls, exits, deep;
	uint64_t torn;		/* records that were not valid */
};

/* A write of the program's to its output, by libc, that is about to be. */
struct target_write {
	uint64_t ts;
	uint64_t parent; /* as in struct trace_record */
	pid_t tid;
	int fd;               /* 1 or 2, as the program says */
	uint64_t len;         /* UINT64_MAX: not known */
	const uint8_t *bytes; /* borrowed; how it begins */
	uint32_t nbytes;      /* 0: not known */
};

struct target_options {
	size_t	 ring;		/* bytes per thread, a power of two of at
				 * least 64 KiB; 0 = 4 MiB.  Less if the
				 * process has no room for eight of them */
	bool	 follow_fork;	/* children become targets of their own, which
				 * have the probes that their parent has */
	bool	 starting;	/* it stands at its very first instruction,
				 * stopped by a signal: once it has been let go
				 * TARGET_EXEC says that it is where its own
				 * code begins */
	/* Both may be NULL.  Borrowed events.  on_event may probe, read and
	 * write; it must not close a target nor call target_events(). */
	void	(*on_event)(struct target *, const struct target_event *,
		    void *arg);
	void	(*on_child)(pid_t, int status, void *arg);
	/* From within target_read(), of a thread in order with its records;
	 * nothing in it is to be believed.  NULL: nobody wants to know. */
	void (*on_write)(
	    struct target *, const struct target_write *, void *arg);
	void	*arg;
};

/*
 * Attaches to a process of the caller's uid.  The process goes on running.
 * NULL: why says what is in the way (who else traces it, a 32-bit program, a
 * processor that is not supported).  The pid must not be the caller's.
 */
struct target	*target_open(pid_t, const struct target_options *,
		    char why[TARGET_WHY]);

/*
 * Whether programs of its kind can be traced on this machine.  False: why says
 * what the caller cannot help.  A program that cannot be looked at passes.
 */
bool target_supported(pid_t, char why[TARGET_WHY]);

/*
 * From within on_event, of EXEC or OBJECTS: the thread that it is about does
 * not go on before target_go().
 */
void		 target_hold(struct target *);
void		 target_go(struct target *);

/*
 * Ends all probes, puts code and stacks back as they were, lets the process
 * go and frees the target.  The agent's memory stays mapped in it, unused, as
 * a thread may be in it; it is used again by the next target_open().
 */
void		 target_close(struct target *);

pid_t		 target_pid(const struct target *);
bool		 target_alive(const struct target *);
/*
 * Whether the target has children that are still to be reported.  Children
 * that have not been reported when the target is closed are let go.
 */
bool		 target_expects(const struct target *);
/* The engine's argument for one target; a followed child begins with its
 * parent's. */
void		 target_set_arg(struct target *, void *);

enum {
	TARGET_ENTRY_ONLY = 1,	/* returns are not wanted */
};

struct probe_spec {
	uint32_t fn;		/* the caller's id; one probe per id */
	uint64_t addr;		/* in the process, relocated */
	uint64_t size;		/* in bytes; 0 = not known */
	const char *name;       /* as the binary has it, borrowed, may be NULL:
				 * some names are known not to be functions */
	uint32_t flags;
	/* Programs, borrowed for the call; NULL = nothing is captured. */
	const struct capture *enter, *leave;
	uint32_t budget;	/* calls per second, 0 = no limit */
};

struct probe_result {
	bool	 ok;
	bool	 entry_only;	/* returns are not seen; why says why */
	char	 why[TARGET_WHY]; /* if !ok: why it is not traceable */
};

/*
 * All that can be are switched on in one stop of the target.  Returns how
 * many.  results has n elements.
 */
size_t		 target_probe(struct target *, const struct probe_spec *,
		    size_t n, struct probe_result *results);
/* Unknown ids are passed over.  Returns how many were there and are off. */
size_t		 target_unprobe(struct target *, const uint32_t *fns,
		    size_t n);
/* Code that walks along frame pointers and meets the agent's addresses, as no
 * hook could be put there or it has no unwind table; 0: none is known. */
uint64_t	 target_walker(const struct target *);
/* How long the last of these two kept the target from running. */
uint64_t	 target_stop_ns(const struct target *);
/* Whether one with this id is switched on. */
bool		 target_has(const struct target *, uint32_t fn);

/* Calls of a function: those that the budget has passed over. */
uint64_t	 target_skipped(struct target *, uint32_t fn);

enum trace_kind {
	TRACE_ENTER = 1,
	TRACE_EXIT,
	TRACE_CALL	/* both, of a call in which nothing was recorded: the
			 * EXIT has no flags */
};

enum {
	TRACE_SAMPLED = 1,	/* not all calls of it are recorded */
	TRACE_UNWOUND = 2,	/* an exception or longjmp has ended it */
	TRACE_OPEN = 4,		/* ENTER: there will be no EXIT */
};

struct trace_record {
	uint64_t ts;
	uint64_t id;		/* of this ENTER, or that of this EXIT;
				 * different within a target */
	uint64_t parent;	/* ENTER: id of the innermost recorded call
				 * that is open, 0 = none */
	uint64_t duration;	/* EXIT, CALL: ns */
	uint32_t fn;
	pid_t	 tid;
	uint8_t	 kind, flags;
	uint32_t depth;		/* recorded calls that are open below it */
	const uint8_t *captures; /* borrowed for the call; checked against the
				  * probe's program */
	uint32_t captures_len;
	/* CALL: of its EXIT, likewise */
	const uint8_t *exit_captures;
	uint32_t exit_captures_len;
};

/* A TRACE_CALL as the two that it stands for. */
static inline void
trace_split(const struct trace_record *call, struct trace_record *enter,
    struct trace_record *leave)
{
	*enter = *leave = *call;
	enter->kind = TRACE_ENTER;
	enter->duration = 0;
	leave->kind = TRACE_EXIT;
	leave->ts += call->duration;
	leave->parent = 0;
	leave->flags = 0;
	leave->captures = call->exit_captures;
	leave->captures_len = call->exit_captures_len;
}

typedef void	(*target_record_fn)(struct target *,
		    const struct trace_record *, void *arg);

/*
 * Sets the end of what target_read() reads, of all targets, until the next
 * call: records that live threads write from now on are left for later.  So all
 * targets read together have one end, however long reading takes.  Before the
 * first call there is no end.
 */
void		 target_moment(void);
/*
 * Hands over what the rings hold, of each thread in order.  Losses are
 * reported by on_event.  briefly: of each thread about as much as a ring
 * holds; target_more() says whether that was not all.  Returns how many ENTERs
 * and EXITs there were.
 */
size_t		 target_read(struct target *, bool briefly, target_record_fn,
		    void *arg);
bool		 target_more(const struct target *);
/*
 * Gives back some of the memory that reading after a storm has left, of all
 * targets.  To be called a few times in a second, while it is true that there
 * is more.
 */
bool		 target_relax(void);

/*
 * Attends to whatever has happened to any target; callbacks come from within.
 * Call it when target_fd() (a signalfd for SIGCHLD, which is blocked by the
 * first target_open) can be read, and soon: a thread that has met a bad
 * address in a capture waits for it.
 */
void		 target_events(void);
int		 target_fd(void);
/* Something is still to be attended to: target_events() is to be called again
 * soon, whatever target_fd() says. */
bool		 target_waits(void);

/* Reads the target's memory.  Returns how many bytes could be. */
size_t		 target_peek(struct target *, uint64_t addr, void *,
		    size_t len);

#endif
