/* SPDX-License-Identifier: ISC */
/* Connections that are logged in. */
#ifndef CLIENT_CTL_LOGIN_H
#define CLIENT_CTL_LOGIN_H

#include <json-c/json.h>

struct client;
struct conn;

/* As client_open(), for struct client. */
int	login_open(struct client *, struct conn **);

/*
 * Logs in on a connection that nothing was sent on. The answer is the
 * caller's to put; as client_answer().
 */
int	client_log_in(struct client *, struct conn *, const char *token,
	    struct json_object **jsonp);

/* The same by the token for the target, if there is one; else by HELLO. */
int	client_greet(struct client *, struct conn *);

#endif
