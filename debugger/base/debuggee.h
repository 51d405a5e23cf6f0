/* SPDX-License-Identifier: ISC */
/*
 * The debugged program, as all parts of a debugger process know it.  A process
 * has one program, one adapter and one thread.
 */
#ifndef DEBUGGER_BASE_DEBUGGEE_H
#define DEBUGGER_BASE_DEBUGGEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "link.h"
#include "wire/ring.h"

struct profile;

enum phase {
	PHASE_IDLE,		/* nothing was started yet, or it was detached */
	PHASE_INITIALIZING,	/* the adapter is being started */
	PHASE_CONFIGURING,	/* breakpoints are being sent */
	PHASE_RUNNING,
	PHASE_STOPPED,
	PHASE_TERMINATED,	/* it has ended, or the adapter has */
	PHASE_COUNT
};

#define STOP_HITS	16

/* Purpose of the last resume: names a stop better than adapters do. */
enum intent {
	INTENT_NONE,
	INTENT_ENTRY,		/* stop before its first instruction */
	INTENT_CONTINUE,
	INTENT_STEP,
	INTENT_PAUSE
};

/* Why the program stopped: merged from all events of one stop. */
struct stop {
	const char	*reason;	/* of our own table: "breakpoint", ... */
	char		 raw_reason[64];	/* the adapter's word */
	char		 description[1024];	/* its words, or "" */
	int64_t		 hits[STOP_HITS];	/* the adapter's breakpoint ids */
	size_t		 nhits;
	int		 signal;	/* that it got, 0 = none */
	bool		 preserves;	/* its thread is not what to look at */
};

/* How it ended. */
struct ending {
	bool		 known;		/* else only "it is over" */
	bool		 sure;		/* a code is none that stands for a signal */
	int		 code;		/* when signal is 0 */
	int		 signal;
	bool		 lost;		/* its adapter has lost sight of it */
	bool		 never;		/* it has not even begun */
	bool		 lives;		/* it was there before, and goes on */
	bool		 adapter_died;	/* words say how */
	char		 words[512];	/* for people; "" = nothing to add */
};

struct dbg {
	enum phase	 phase;
	/*
	 * Counts changes between running and not running: what was read of
	 * the adapter (frames, references) holds as long as this stays.
	 */
	uint64_t	 epoch;
	struct stop	 stop;		/* of the present or the latest stop */
	struct ending	 ending;	/* PHASE_TERMINATED */
	/* what inspection looks at: set by each stop, moved only by the
	 * commands thread, frame, up and down; 0 and less are good ids */
	int64_t		 thread;
	bool		 has_thread;
	unsigned int	 frame;		/* index, 0 = innermost */
	enum intent	 intent, before;	/* and of the resume before it */
	/* why the program stands although it was let run; "" = it was not */
	char		 refused[400];
	/* a stop that was told before the configuration was done */
	struct stop	 early;
	bool		 has_early, early_thread;
	int64_t		 early_tid;
	int		 fatal;		/* signal of the latest stop, if any */
	int32_t		 pid;		/* the program's, as the adapter says; 0 */
	const struct profile *profile;	/* NULL in PHASE_IDLE */
	struct ring	 ring;		/* output of the program; may be unmapped */
	uint64_t	 out_from, out_to;	/* what it wrote before this stop */
	char		 program[4096];	/* path, as the debuggee's side sees it */
	char		 cwd[4096];	/* of the client that started it */
	bool		 attached;	/* it was there before us */
	/* gathering what a stop shows; what resumes it waits for that */
	bool		 gathering;
};
extern struct dbg dbg;
/* The link's greeting at the start; its strings stay valid. */
extern struct dbg_hello dbg_said;

const char *phase_name(enum phase);

/*
 * After something that may have changed the program behind our back (raw,
 * eval, set): what was read of it holds no more.
 */
void	 debuggee_touched(void);
/* Sets what is called then, when the program is stopped. */
void	 debuggee_on_touched(void (*)(void));

#endif
