/* SPDX-License-Identifier: ISC */
/* Connections to daemons by local sockets. */
#ifndef CLIENT_DEBUGGER_OPEN_H
#define CLIENT_DEBUGGER_OPEN_H

#include <json-c/json.h>

struct client;
struct conn;

/* As client_open() and client_refused(), for the client of a struct dbg. */
int	dbg_open(struct client *, struct conn **);
void	dbg_refused(const struct client *, struct json_object *answer);

#endif
