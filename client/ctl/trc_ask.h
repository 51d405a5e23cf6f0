/* SPDX-License-Identifier: ISC */
/* Requests to tracers: TRACER of the protocol. */
#ifndef CLIENT_CTL_TRC_ASK_H
#define CLIENT_CTL_TRC_ASK_H

#include <json-c/json.h>
#include <stdbool.h>

struct client;

/* The code of that nothing was found to trace, also a warning's beginning. */
#define TRC_NO_SYMBOLS		"NO_DEBUG_SYMBOLS"
#define TRC_NO_SYMBOLS_WORDS	"nothing is watched: the program has no debug " \
	"information of what was asked for; build it with -g, or give --raw " \
	"to go by its symbol table, or --address"

/* The session whose tracer is asked; NULL: not given. */
struct trc_to {
	bool		 start;		/* one is started where there is none */
	const char	*session;
	const char	*name;		/* a session's that is made */
	const char	*sandbox, *network;
};

/*
 * Asks; takes args, the result is the caller's to put. As client_answer(),
 * but an error that is no more than a refusal is the result, and unreported:
 * trc_refused() is for it.
 */
int	trc_try(struct client *, const struct trc_to *, const char *request,
	    struct json_object *args, struct json_object **resultp);

/* Reports a refusal with what to do, and puts it. Returns CTL_REFUSED. */
int	trc_refused(const struct client *, struct json_object *);

/* The code of a refusal, the tracer's own if it has said one. Borrowed. */
const char *trc_code(struct json_object *);

/* Whether a refusal says that there is no such session, or no tracer of it. */
bool	trc_is_nowhere(struct json_object *);

/* Both in one. */
int	trc_ask(struct client *, const struct trc_to *, const char *request,
	    struct json_object *args, struct json_object **resultp);

/* The array of sessions that have a tracer. As client_answer(). */
int	trc_sessions(struct client *, struct json_object **listp);

#endif
