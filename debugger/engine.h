/* SPDX-License-Identifier: ISC */
/*
 * Shared by the parts of a debugger process: one debugged program, the requests
 * of clients (ops), and the way to ask the adapter.  A process has one program,
 * one adapter and one thread.
 */
#ifndef DEBUGGER_ENGINE_H
#define DEBUGGER_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "link.h"
#include "ring.h"

struct json_object;
struct command;
struct profile;

/* -- the debugged program ---------------------------------------------- */
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

/* -- ops: one request of one client ------------------------------------ */
struct op {
	TAILQ_ENTRY(op)	 entry;
	struct ask	 ask;		/* who wants to know */
	unsigned int	 refs;
	bool		 answered;
	const struct command *command;
	struct json_object *args;	/* an object, never NULL */
	char		*warning;	/* of the frame it looks at; or NULL */
	/* an op of our own: who is told instead of a client; borrows */
	void		(*told)(struct op *, bool failed, struct json_object *);
	void		*told_data;
	/* the handler's own: a small number, and memory freed with the op */
	uint64_t	 word;
	void		*data;
	void		(*free_data)(void *);
	int64_t		 once;		/* its breakpoint of bps_until(), or 0 */
};

/*
 * An op lives as long as it is held.  Code that waits for something on its
 * behalf holds it; adapter_ask() does so for its caller.  An op that is no
 * longer held and was not answered answers "internal_error" itself.
 */
struct op *op_ref(struct op *);
void	 op_unref(struct op *);
/* The answer; only the first counts.  Takes result, adds "schema". */
void	 op_reply(struct op *, struct json_object *result);
void	 op_fail(struct op *, const char *code, const char *, ...)
	    __attribute__((format(printf, 3, 4)));
/* The same with more members beside code and message.  Takes more. */
void	 op_fail_with(struct op *, struct json_object *more, const char *code,
	    const char *, ...) __attribute__((format(printf, 4, 5)));

/*
 * Members of args.  false: it is of a wrong type, or missing although needed,
 * and the op was refused with words.  A missing one leaves *value alone.
 * Strings are borrowed from the op.
 */
bool	 op_string(struct op *, const char *name, bool need, const char **);
bool	 op_int(struct op *, const char *name, bool need, int64_t *);
bool	 op_bool(struct op *, const char *name, bool *);
/* Refuses unless the program is stopped; says what it does instead. */
bool	 op_stopped(struct op *);

/* -- asking the adapter ------------------------------------------------- */
struct dap_answer {
	bool		 ok;
	const char	*code;		/* not ok: the op's error code */
	const char	*message;	/* not ok: words, the adapter's or ours */
	struct json_object *body;	/* borrowed; NULL = none */
};

typedef void	(*dap_fn)(struct op *, const struct dap_answer *, void *arg);

/*
 * Sends a request.  Takes args (NULL = none).  fn is called exactly once and
 * never before this returns: with the answer, or with "unsupported" (this
 * adapter must not be asked that), "timeout", "adapter_exited".  op may be
 * NULL; it is held meanwhile.
 */
void	 adapter_ask(const char *request, struct json_object *args,
	    struct op *, dap_fn, void *arg);
/* May that request be sent?  By capabilities and what is known of it. */
bool	 adapter_takes(const char *request);
/* An announced capability, "supportsConditionalBreakpoints". */
bool	 adapter_can(const char *capability);
/* The announced capabilities; borrowed; NULL before they are. */
struct json_object *adapter_capabilities(void);
/* Refuses the op with what the answer says. */
void	 op_fail_dap(struct op *, const struct dap_answer *);
/*
 * After something that may have changed the program behind our back (raw,
 * eval, set): what was read of it holds no more.
 */
void	 engine_touched(void);
/* The adapter's own output since the program last resumed; len bytes. */
const char *engine_console(size_t *len);

/* -- what the inspecting half provides ---------------------------------- */
/* Called once the work is done; why NULL = good, else borrowed words. */
typedef void	(*done_fn)(struct op *, const char *why);

/*
 * Between initialized and configurationDone: sends every breakpoint of the
 * registry (lines, functions, exceptions).  op may be NULL (restart).
 */
void	 bps_configure(struct op *, done_fn);
/*
 * The breaks of a start request: puts them into the registry before anything
 * runs.  false: op was refused, nothing was added.  Borrows breaks.
 */
bool	 bps_preset(struct op *, struct json_object *breaks);
/* After bps_configure: words about those that are bad, static; NULL = none. */
const char *bps_preset_bad(void);
/* That start came to nothing: so do its breaks. */
void	 bps_preset_drop(void);
/* Whether anything of the registry would stop the program. */
bool	 bps_any(void);
/*
 * At every stop, before anybody hears of it: conditions and counts that the
 * adapter does not keep itself.  done(true) = it is none, the program is let
 * go on.  done may be called from within.
 */
void	 bps_check_conditions(void (*done)(bool resume));
/* The program goes on: the next stop is another one. */
void	 bps_resumed(void);
/* The program has not gone on after all: its stop is the one before. */
void	 bps_stayed(void);
/* An event "output" of the adapter; log points speak by it.  Borrows. */
void	 bps_log_event(struct json_object *body);
/* An event "breakpoint"; borrows body. */
void	 bps_event(struct json_object *body);
/* The adapter is gone: what it said about breakpoints holds no more. */
void	 bps_forget(void);
/*
 * Adds a place to stop, once: file and line, or function (the other NULL).
 * While nothing runs yet the place is only noted, and bps_configure() sends it.
 * Any stop, and the end, remove all of these by bps_until_over(); an op that
 * does not let the program run drops its own.
 */
void	 bps_until(struct op *, const char *file, int64_t line,
	    const char *function, done_fn);
void	 bps_until_drop(struct op *);
void	 bps_until_over(void);

/*
 * A stop or the end: gathers what its summary shows of the adapter (stack,
 * variables, exception) and calls done once.  Nothing resumes before.  The
 * output, from dbg.out_from to dbg.out_to, is complete once that is done.
 */
void	 summary_gather(void (*done)(void));
/*
 * The answer to a client that waited or asks for the state, in any phase; made
 * of what was gathered, within the bounds op asks for.  The caller owns it.
 */
struct json_object *summary_make(struct op *);


#endif
