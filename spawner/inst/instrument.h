/* SPDX-License-Identifier: ISC */
/*
 * Instruments: a process for each session that has one, run as the session's
 * owner.  Clients reach the process through the spawner, which trusts it as
 * little as the program: its messages count only for its session, answers go
 * only to the client that asked, and anything else it does harms only itself.
 * Parts of debuggers or tracers alone are in debugger.h and tracer.h.
 */
#ifndef SPAWNER_INST_H
#define SPAWNER_INST_H

#include <sys/queue.h>

#include "instrument_order.h"
#include "spawner/client/client.h"
#include "spawner/session/session.h"
#include "wire/label.h"
#include "wire/proto.h"

struct inst;
struct inst_hello;
struct inst_start;

/* A request that is not answered yet. */
struct inst_asked {
	TAILQ_ENTRY(inst_asked) next;
	struct asker	 asker;		/* owner NULL = asker has gone */
	char		 user[USER_NAME_MAX];	/* who asked */
	uint32_t	 action;	/* what it does, for the audit log; 0 */
	uint32_t	 id;		/* of the channel to the instrument */
	size_t		 bytes;		/* of its answer so far */
	char		*json;		/* malloc'ed, until it can be sent */
	size_t		 json_len;
};
TAILQ_HEAD(inst_asked_list, inst_asked);

/* A user's frequent action, which is counted. */
struct inst_repeat {
	uint32_t	 action;		/* 0 = free */
	enum door	 door;
	unsigned int	 count, refused;	/* after the first */
	uint64_t	 since;		/* ms */
	char		 user[USER_NAME_MAX];
	char		 address[ADDRESS_TEXT];
};
#define INST_REPEATS	8

/* The answer that it leaves with: sent when it has gone. */
struct inst_last {
	struct asker	 asker;
	uint32_t	 flags;		/* INST_* of INST_ANSWER */
	char		*json;		/* malloc'ed; NULL = there is none */
	size_t		 len;
};

enum inst_life {
	INST_ORDERED,		/* the launcher has been asked */
	INST_UP,
	INST_GOING		/* is freed when the loop comes round */
};

struct inst_kind {
	enum inst_type	 type;
	const char	*start;		/* "DEBUGGER start", for the audit log */
	bool		 numbered;	/* a label that is taken gets a number */
	size_t		 size;		/* of what struct inst begins */
	struct inst_order_ops order;
	enum leaf_of	 leaf;
	enum err	 refused, none;	/* by it; there is no current one */
	size_t		 answer_max;	/* bytes */
	/* It may leave by itself for so long, once it is to. */
	uint64_t	 leave_ms;
	uint32_t	 nactions;
	const char	*(*action_name)(uint32_t action);
	bool		(*is_often)(uint32_t action);

	/*
	 * Asked for the session, before that is answered; use: it is to be its
	 * owner's current one.  NULL = nothing comes of that.
	 */
	void		(*asked)(struct session *, const struct asker *,
			    bool use);
	/* The session has none: answers, or starts one. */
	void		(*absent)(struct session *, struct asker *,
			    const char *json, size_t);
	/* The session of requests that name none; NULL = such are not found. */
	struct session	*(*current)(const struct owner *);
	/* A session that its starter named is fit for one; else answers. */
	bool		(*is_fit)(struct inst_start *, struct session *);
	/* The one that the session has, or NULL. */
	struct inst	*(*of)(const struct session *);
	/* It has been ordered; it is the session's from now on. */
	void		(*begun)(struct inst *, const struct inst_start *);
	/* It runs, and is greeted. */
	void		(*up)(struct inst *);
	/* Shows what has changed of it, if netproc has the session. */
	void		(*show)(struct session *);
	/* True: this asker only looks, despite other rights.  NULL = never. */
	bool		(*is_too_far)(const struct inst *,
			    const struct asker *);
	/* Idle time-out in s, 0 = none.  An instrument in use is not idle. */
	uint64_t	(*idle)(void);
	bool		(*is_in_use)(const struct inst *);
	/* It is unheard for something that is looked for: not any more. */
	void		(*give_up)(struct inst *);
	/* It goes: what is its own ends, its session has none any more. */
	void		(*end)(struct inst *);
	/* It has gone, not by its own word: what becomes of the session. */
	void		(*lost)(struct inst *, struct session *);
	/* By its own word; true = the session goes as well. */
	bool		(*left)(struct inst *, struct session *);
};

struct inst {
	LIST_ENTRY(inst) next;
	const struct inst_kind *kind;
	struct session	*session;	/* NULL = it has gone */
	struct sid	 id;		/* of that, and of whom: */
	uint32_t	 uid;
	enum inst_life	 life;
	struct inst_order order;
	struct channel	 chan;
	struct loop_io	 pid_io;
	struct loop_timer timer;	/* of its idleness, then of its end */
	struct loop_timer drop;
	bool		 ended;		/* and its cgroup with it */
	struct loop_timer send_timer;
	bool		 late;		/* netproc does not keep up with it */
	bool		 unheard;	/* there is a reason of its kind's */
	struct inst_asked_list asked;
	unsigned int	 nasked;
	bool		 leaving;	/* it has said so */
	struct inst_last last;
	struct inst_repeat repeats[INST_REPEATS];
	struct loop_timer repeat_timer;
	uint32_t	 last_id;
	uint64_t	 used;		/* ms, of the last request or answer */
	bool		 made;		/* and the session for it */
	bool		 began;		/* a request of it has succeeded */
	bool		 ordered;	/* a run that it asked for is being started */
	bool		 unshown;	/* of what it said, for now */
	struct loop_timer show;
	unsigned int	 nlogged;
	bool		 armed;		/* it waits for output: */
	uint64_t	 armed_at;
};

LIST_HEAD(inst_list, inst);
extern struct inst_list insts;

/* A start whose owner's account is looked for. */
struct inst_start {
	LIST_ENTRY(inst_start) next;
	const struct inst_kind *kind;
	struct asker	 asker;
	uint64_t	 serial;
	struct sid	 target;
	bool		 has_target;
	bool		 again;		/* it takes the place of one that died */
	uint32_t	 sandbox, network;
	char		 label[LABEL_MAX + 1];
	char		*json;
	size_t		 json_len;
};

/* -- the process (instrument.c) -- */
/*
 * Starts one for the session, whose owner's account is known.  NULL: there is
 * no memory, or no launcher.
 */
struct inst	*inst_begin(const struct inst_kind *, struct session *,
		    const struct account *);
/* Ends the instrument now and frees it soon; waiting clients are told why. */
void	 inst_end(struct inst *, enum err, const char *why);
/* The same, and its session is shown without it. */
void	 inst_end_shown(struct inst *, enum err, const char *why);
/*
 * The daemon ends, and all of them before it: nobody can reap a program whose
 * tracer is stopped.  Whether none is left: it is asked again until then.
 */
bool	 inst_end_all(void);
/* Its end is noticed as any other; nothing happens without a launcher. */
void	 inst_kill(const struct inst *);
/* The instrument that sent the message. */
struct inst	*inst_of(const struct msg *);
/* It goes, and a session of its making, when the handler has returned. */
void	 inst_leave(struct inst *);
/* A session of its making stays for a while to be read, if there is a run. */
void	 inst_forsake(struct session *);
/* Shows the instrument's earlier report before what it says now. */
void	 inst_show_late(struct inst *);
/* The same, soon: at a rate that netproc can take. */
void	 inst_show_soon(struct inst *);
/* Hears it, unless there is a reason to wait. */
void	 inst_listen(struct inst *);
/* It does not read: whatever makes it be told more breaks the rules. */
bool	 inst_is_deaf(const struct inst *);
/* There may be output that it waits for. */
void	 inst_output(struct inst *);
/* Tells it that its order could not be carried out. */
void	 inst_tell_failed(struct inst *, const char *code, const char *why);
/* The ring of its session's run, if there is one. */
void	 inst_tell_ring(struct inst *);
/* The order's calls: every kind's. */
void	 inst_came(struct inst_order *);
void	 inst_failed(struct inst_order *, enum err, const char *why);

/* -- requests (instrument_request.c) -- */
void	 inst_ask(struct inst *, struct asker *, const char *, size_t);
/* The process can be asked: what has waited for that is sent. */
void	 inst_asks_begin(struct inst *);
void	 inst_asks_fail(struct inst *, enum err, const char *why);
/* Sends the answer that it left with, if there is one; frees it. */
void	 inst_last_send(struct inst_last *, const struct inst_kind *,
	    const struct sid *);
/* conn 0 = all */
void	 inst_drop_conn(uint32_t conn);

/* -- making one (instrument_start.c) -- */
/* INST_START, from the fields behind the type on: as a handler. */
int	 inst_start(const struct inst_kind *, struct msg *);
/* A request to one that has died: another one takes its place. */
void	 inst_start_again(const struct inst_kind *, struct session *,
	    struct asker *, const char *json, size_t);
/*
 * Fills in what every instrument is told of the session first; runs: it has a
 * program, unless that is an image.
 */
void	 inst_greet(struct inst_hello *, const struct session *, bool runs);
/* Starts whose accounts were asked for may be forgotten. */
void	 inst_drop_starts(uint32_t conn);

/* -- the audit log (instrument_audit.c) -- */
/* It has been answered. */
void	 inst_audit_done(struct inst *, const struct inst_asked *,
	    bool failed);
/* The client has gone, and the outcome of its request is not known. */
void	 inst_audit_left(const struct inst *, const struct inst_asked *);
/* Writes the actions that were only counted; the instrument goes. */
void	 inst_audit_end(struct inst *);

#endif
