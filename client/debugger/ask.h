/* SPDX-License-Identifier: ISC */
/* Requests to debug sessions. */
#ifndef CLIENT_DEBUGGER_ASK_H
#define CLIENT_DEBUGGER_ASK_H

#include <json-c/json.h>

struct dbg;

/*
 * Asks: takes args, the daemon's own of the command "debugger". *resultp is
 * the caller's to put. An exit code, after a report unless it is CTL_OK.
 */
int	dbg_ask_daemon(struct dbg *, struct json_object *args,
	    struct json_object **resultp);

/* The same with a request to the session that is meant; takes args. */
int	dbg_ask(struct dbg *, const char *request, struct json_object *args,
	    struct json_object **resultp);

/* The halves of it: sends what is asked, takes args; */
int	dbg_send(struct dbg *, struct json_object *args);

/* ... what an answer's line says. */
int	dbg_answer(struct dbg *, const char *line, size_t len,
	    struct json_object **resultp);

/* The arguments for dbg_ask_daemon() that carry a request; takes args. */
struct json_object *dbg_request(const char *request,
	    struct json_object *args);

/* Returns the exit code for an error code. */
int	dbg_exit_code(const char *code);

/* The result on stdout, as JSON or for people. Takes it. An exit code. */
int	dbg_print(struct dbg *, struct json_object *result);

#endif
