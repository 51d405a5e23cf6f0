/* SPDX-License-Identifier: ISC */
/*
 * Sessions as netproc knows them: a copy that the spawner keeps up to date, on
 * the same channel as its answers, with the access that each user has.
 */
#ifndef DL_NET_REPLICA_H
#define DL_NET_REPLICA_H

#include <sys/queue.h>

#include <stdbool.h>
#include <stdint.h>

#include "answer.h"
#include "base/json.h"
#include "conn.h"
#include "netproc/text/line.h"
#include "wire/msg.h"
#include "wire/ring.h"
#include "wire/view.h"

struct rsession {
	LIST_ENTRY(rsession)	 hash;
	struct sid		 sid;
	char			 id[ID_TEXT];
	uint64_t		 seq;	/* counts sessions as they came */
	/* args and env point into strings; all else is by value */
	struct session_view	 view;
	struct text		 strings;
	struct text		 json;	/* the session object */
	struct text names;              /* the same without values of env */
	struct ring		 ring;	/* read-only; of run ring_run */
	uint32_t		 ring_run;
	bool			 armed;	/* the spawner will ring */
	struct {
		bool		 known;
		uint64_t	 at_ms;	/* of the loop's clock */
		uint64_t	 cpu_ns, memory; /* USAGE_UNKNOWN = nobody can say */
	}			 usage;	/* of the present run */
	struct conn_list	 watchers;
	LIST_HEAD(, visible_session) visible;
};

/*
 * Identity by which connections see sessions: an administrator has two, and a
 * guest sees a single session, at most to use its terminal.
 */
struct owner {
	LIST_ENTRY(owner)	 all;
	uint32_t		 uid;	/* of a guest a number that is none */
	enum eyes		 eyes;
	bool			 admin, guest;	/* by these */
	char			 name[USER_NAME_MAX];
	unsigned int		 refs;	/* connections, sessions */
	unsigned int		 nconns;
	TAILQ_HEAD(visible, visible_session) visible;	/* oldest first */
	/* feed.c's: the same, what changed last at the end; who listens */
	TAILQ_HEAD(, visible_session) changed;
	LIST_HEAD(, feed)	 feeds;
	LIST_ENTRY(owner)	 news;
	bool			 has_news;
	/* Ring of sessions last lost from view; NULL = none is kept. */
	struct gone		*gone;
	uint64_t		 ngone;
	uint64_t		 lost;		/* the last change not in it */
};

/* That somebody may see a session, or more. */
struct visible_session {
	TAILQ_ENTRY(visible_session) by_owner;
	TAILQ_ENTRY(visible_session) by_change;
	LIST_ENTRY(visible_session) by_session;
	struct owner		*owner;
	struct rsession		*session;
	uint32_t		 access;	/* enum access */
	bool			 named;		/* its label counts */
	uint64_t		 change;	/* the number of the last: feed.h */
};

/* Calls for whoever keeps the changes; the sessions are as they are then. */
struct replica_watcher {
	/* From now on an owner sees a session. */
	void	(*seen)(struct visible_session *);
	/* A session is another than it was, for all who see it. */
	void	(*changed)(struct rsession *);
	/* From now on an owner does not see a session, which may be going. */
	void	(*gone)(struct visible_session *);
};

/* All connections that nobody has said AUTH on. */
#define UID_UNKNOWN	UINT32_MAX

/* Before the first session; keeps the pointer. */
void	 replica_watch(const struct replica_watcher *);
/* NULL without memory.  Each get is undone by a put. */
struct owner *owner_ref(uint32_t uid, enum eyes);
void	 owner_unref(struct owner *);

/* Access of an owner to a session. */
enum access replica_access(const struct owner *, const struct rsession *);
/* Also false of those who come with a read-only token. */
bool replica_may_use(const struct conn *, const struct rsession *);
/* The session object for that connection. */
const struct text *replica_json(const struct conn *, const struct rsession *);
/* NULL when there is none. */
struct rsession *replica_find(const struct sid *);
/*
 * A client names a session by its id, a unique beginning of it, the label
 * of a session of the user's own, or "user/label".  A label of a session that
 * is shared with the user counts once the session was named by its id.  NULL
 * with *err set when that names none or more than one.
 */
struct rsession *replica_resolve(struct conn *, const struct word *,
    uint32_t *err);
/*
 * Words about a name that named none: NULL when the error says it all,
 * else good until the next call.
 */
const char *replica_why(const struct conn *, const struct word *,
    uint32_t err);
/* The user's own session of that label; NULL when there is none. */
struct rsession *replica_labelled(const struct owner *, const char *label);
/* The spawner has gone, and its sessions with it. */
void	 replica_clear(void);
/* The ring of the present run; NULL before there is one. */
const struct ring *replica_ring(const struct rsession *);
/* Asks to be told when there is more output than total. */
void	 replica_arm(struct rsession *, uint64_t total);

int	 net_on_session(struct msg *);
int	 net_on_sees(struct msg *);
int	 net_on_session_gone(struct msg *);
int	 net_on_ring(struct msg *);
int	 net_on_output_notice(struct msg *);

#endif
