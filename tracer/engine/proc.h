/* SPDX-License-Identifier: ISC */
/* A target from within, as the parts of the engine share it. */
#ifndef DL_TRACER_PROC_H
#define DL_TRACER_PROC_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

#include "agent/agent.h"
#include "arch.h"
#include "ringread.h"
#include "target.h"

enum stop_kind {
	STOP_NONE,	/* runs, or has not been seen to stop */
	STOP_PLAIN,
	STOP_SIGNAL,	/* about to get `signo` */
	STOP_GROUP	/* all of the process has been stopped by a signal */
};

struct thread {
	pid_t	 tid;
	int	 slot;		/* -1: none, not traced */
	enum stop_kind stop;
	int	 signo;
	bool	 vfork;		/* a process that borrows our memory */
	bool	 born;		/* has not been seen to stop for the first time */
	bool	 dead;		/* its end is known, and not yet attended to */
	bool	 loads;		/* objects, and stands until they are looked at */
	bool	 midway;	/* stopped within a system call */
	bool	 ours;		/* stopped only for what is being done */
	bool	 moved;		/* has run since it stopped */
	bool	 held;		/* goes on by target_go() alone */
	struct target *parent;	/* of a followed child that has not stopped */
	struct thread *next;
};

/* A probe as the engine knows it; its index is the agent's. */
struct probe {
	/* first what is wanted for each record, so that it lies together */
	struct ring_programs told;
	uint32_t fn;
	uint32_t flags;		/* PROBE_* of the agent */
	bool	 on;		/* the code is patched */
	bool	 hidden;	/* the engine's own */
	uint8_t inner;          /* enum inner: what its calls say besides */
	bool	 built;		/* it has a stub, which it keeps when off */
	const char *why_open;	/* static */
	uint64_t addr;		/* of the jump */
	uint64_t func;		/* of the function */
	uint8_t	 orig[ARCH_JUMP];
	uint8_t	 moved[ARCH_MOVED]; /* plan.len bytes from addr on */
	struct arch_plan plan;
	struct arch_stub stub;
	struct capture *enter, *leave;	/* with CAP_END; NULL: none */
};

/* Memory for stubs near some text. */
struct area {
	uint64_t addr, size, used;
	struct area *next;
};

/*
 * Writes to the target that nobody looks at before stage_flush(), gathered as
 * long as each begins where the last one ended.  Memory that one of them goes
 * to is written in no other way until then.
 */
struct stage {
	uint8_t	*buf;		/* STAGE_MOST bytes, NULL before the first */
	uint64_t addr;
	size_t	 len;
	bool	 failed;
};

#define STAGE_MOST	65536
#define RING_LEAST	(64UL << 10)

enum { STAGE_STUBS, STAGE_PROBES, STAGE_DATA, STAGES };

/* Where one thread at a time leaves its records. */
struct slot {
	uint64_t state, ring;	/* addresses in the target */
	const void *view;	/* the ring, as this process has it */
	struct ring_reader *reader;
	pid_t	 tid;		/* 0: free */
	bool	 gone;		/* free it when it has been read */
	bool	 used;		/* its state has something of another */
	uint64_t last_ts;
	uint64_t named; /* when its name was looked at; 0: never */
	char name[TARGET_NAME];
	uint64_t lost, lost_exits, deep; /* as reported */
};

/* Rings that were mapped together, here. */
struct block {
	void	*view;
	size_t	 len;
	struct block *next;
};

struct target {
	pid_t	 pid;
	struct target_options opt;
	bool	 alive;
	bool	 injected;
	bool	 small;		/* a Go program */
	bool	 blind;		/* exceptions cannot be followed */
	const char *scans;	/* static: its runtime looks for return
				 * addresses, and why_open; NULL: it does not */
	bool	 unwanted;	/* a child that nobody has been told of */
	bool	 rescan;	/* other objects are loaded */
	bool	 hold;		/* the thread being told of is to be held */
	unsigned long filters;	/* of system calls, that it has not made */
	int	 mem_fd;
	struct thread *threads;

	uint64_t agent;		/* address of the blob, 0: none */
	uint64_t gadget;	/* of a system call and a trap, 0: none */
	uint8_t	 poked[ARCH_GADGET];	/* what was there before one was made */
	struct agent_control *control;	/* mapped here as well */
	struct slot *slots;	/* AGENT_THREADS of them */
	uint32_t nslots;	/* that have memory in the target */
	struct block *blocks;

	struct probe *probes;
	uint32_t nprobes, room;
	uint32_t *by_fn;	/* index + 1 of the latest, 0: none */
	uint32_t nby_fn;
	uint64_t chunks[AGENT_CHUNKS];
	struct area *areas;
	uint64_t data, data_left;	/* for capture programs */
	struct stage stages[STAGES];
	uint64_t *objects;	/* addresses of those that have been looked at */
	size_t	 nobjects;
	uint64_t *twice;	/* functions that return otherwise than others */
	size_t	 ntwice;
	uint64_t *walked;	/* mappings that were looked through for... */
	size_t	 nwalked;
	uint64_t walker;	/* ...those that walk; one that has no hook */
	uint64_t entry;		/* where the program begins */
	bool	 arriving;	/* a trap waits for it there */
	uint8_t	 entry_code[ARCH_TRAP]; /* what was there */
	uint64_t stop_ns;
	uint64_t strangers;	/* as reported */
	bool	 more;		/* than the last reading has had */
	uint32_t generation;	/* programs before this one */
	struct target *past;	/* what is left to read of the last one */
	struct target *next;
};

/* --- registry.c */
/* The first; the others follow by next. */
struct target	*targets_all(void);
struct target	*target_of(pid_t tid, struct thread **);
void		 target_link(struct target *);
void		 target_unlink(struct target *);
void		 target_report(struct target *, const struct target_event *);

/* --- target.c */
void		 target_free(struct target *);
void		 objects_forget(struct target *);
/* Another program: what was recorded of the last one can still be read. */
bool		 past_keep(struct target *);
bool		 target_entry(struct target *, char why[TARGET_WHY]);
/* A trap where it begins; false: it cannot be set. */
bool		 target_await(struct target *);

/* --- memory of the target (mem.c); false: not all of it */
bool	 mem_read(const struct target *, uint64_t, void *, size_t);
/* Also where the target itself cannot write. */
bool	 mem_write(const struct target *, uint64_t, const void *, size_t);

/* False: no memory, or what went before could not be written. */
bool	 stage_put(const struct target *, struct stage *, uint64_t,
	    const void *, size_t);
bool	 stage_flush(const struct target *, struct stage *);
void	 stages_free(struct target *);

/* --- threads (thread.c) */
struct thread	*thread_add(struct target *, pid_t);
void		 thread_drop(struct target *, struct thread *);
bool		 threads_seize(struct target *, char why[TARGET_WHY]);
/* Stops one, or all that can run; what cannot is in the kernel for long and
 * stops before it runs again.  False: it is not stopped; for all of them,
 * some may be running, so that code must not be touched. */
bool		 thread_stop(struct target *, struct thread *);
bool		 threads_stop(struct target *);
void		 thread_go(struct thread *);
/* Only what thread_stop() and threads_stop() have stopped. */
void		 thread_back(struct thread *);
void		 threads_go(struct target *);
void		 threads_detach(struct target *);
/* The kernel's name of the thread; false: the thread is gone. */
bool thread_comm(const struct target *, pid_t, char name[TARGET_NAME]);
/* A system call in the target's name; the thread must be stopped and is as
 * it was afterwards.  Returns what the kernel has, negative errors too. */
int64_t		 remote(struct target *, struct thread *, long nr,
		    const uint64_t args[6]);
bool		 regs_get(const struct thread *, struct arch_regs *);
bool		 regs_set(const struct thread *, const struct arch_regs *);

/* --- the agent in it (inject.c); a thread must be stopped for all */
bool		 inject(struct target *, struct thread *, char why[TARGET_WHY]);
bool		 inject_fork(struct target *child, struct thread *,
		    const struct target *parent);
void		 inject_forget(struct target *);
/* The agent does nothing from now on. */
void		 inject_rest(struct target *);
bool		 memfd_make(struct target *, struct thread *, size_t len,
		    int *local_fd, int *remote_fd);
/* Gives a stopped thread a state.  Without one it is not traced. */
void		 slot_assign(struct target *, struct thread *);
void		 slot_release(struct target *, struct thread *);
/* Memory for stubs that can be reached from [lo, hi). */
struct area	*area_for(struct target *, struct thread *, uint64_t lo,
		    uint64_t hi, size_t need);
/* Whether its head is there, for an agent at that address. */
bool area_ready(const struct target *, uint64_t area, uint64_t agent);
uint64_t	 remote_map(struct target *, struct thread *, uint64_t addr,
		    uint64_t len, int prot, int flags, int64_t fd,
		    uint64_t off);
/* Notes in the target what the next tracer needs to go on there. */
void		 areas_note(struct target *);
uint64_t	 data_put(struct target *, struct thread *, const void *,
		    size_t);
bool		 fault_mend(struct target *, struct thread *);

/* --- code (patch.c, hooks.c); all must be stopped for code_restore */
void		 code_restore(struct target *);
void		 stacks_restore(struct target *);
/* Return addresses in a piece of a stack as the program knows them. */
void		 stack_translate(struct target *, int slot, uint64_t sp,
		    uint64_t *words, size_t n);
/* An address of ours as the program has it; others are left as they are. */
uint64_t	 code_translate(const struct target *, uint64_t addr);
void		 probes_forget(struct target *);
/* Whether these ARCH_JUMP bytes are what switches it on. */
bool		 probe_jumps(const struct probe *, const uint8_t *);
bool		 probes_copy(struct target *child, const struct target *);
/* Keeps the probes that the child's own memory has (forked_child.c).
 * False: these are not the ones that its parent has now. */
bool		 probes_found(struct target *child, const struct target *);
/* Clears the child's counts of skipped calls, which its parent reports. */
void		 skipped_forget(struct target *child);
/* Sets probes; results are zeroed, and the target is alive. */
size_t		 probes_set(struct target *, const struct probe_spec *, size_t,
		    struct probe_result *);
/* Finds what the engine watches for itself in objects that are new. */
void		 hooks_find(struct target *);
/* Marks the hooks of objects that are gone as off. */
void		 hooks_lost(struct target *);
/* Puts hooks on functions that walk along frame pointers, in what is mapped
 * where those of the specs are. */
void		 frame_walkers_find(struct target *, const struct probe_spec *,
		    size_t);
bool hook_add(struct target *, uint64_t addr, uint64_t size, uint32_t flags,
    uint8_t inner);

/* --- what the engine learns from calls of libc (inner.c) */
enum inner { INNER_NONE, INNER_WRITE, INNER_WRITEV, INNER_NAME };

struct inner_spec {
	const struct capture *enter;
	uint32_t least, many; /* first arguments that matter */
};
/* Kind of a libc function of that name; INNER_NONE: it is not watched. */
enum inner inner_of(const char *name);
const struct inner_spec *inner_spec(enum inner);
/*
 * Tells what a call of it says, if it was captured: also of one that has been
 * captured otherwise, because somebody watches the function.
 */
void inner_tell(struct target *, const struct probe *,
    const struct trace_record *, uint64_t within);

/* --- when this process is gone (exit_notice.c) */
bool		 exit_notice_set(struct agent_control *);
void		 exit_notice_clear(struct agent_control *);

#endif
