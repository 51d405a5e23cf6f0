/* SPDX-License-Identifier: ISC */
/* Requests under way: each has a connection of its own. */
#ifndef CLIENT_MCP_REQUESTS_H
#define CLIENT_MCP_REQUESTS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

struct pollfd;
struct target;

/* Requests of a message, kept for their answer. */
struct mcp_asked {
	struct json_object *ids;	/* array; takes */
	bool		 batch;
	bool		 handshake;	/* it is an initialize */
	bool		 tool;		/* one is called */
	struct json_object *token;	/* wants progress, by this; takes */
	char		 what[64];	/* is asked: for people */
	char		*warning;	/* to who launches, or NULL; takes */
};

/* The daemon that is asked; own: it may be started. */
void	 mcp_requests_init(const struct target *, bool own);
bool	 mcp_requests_room(void);
size_t	 mcp_requests_count(void);

/* Asks; the line is without its end, and borrowed. */
void	 mcp_requests_ask(const struct mcp_asked *, const char *line,
	    size_t len);
/* Nothing more is said of this request. */
void	 mcp_requests_cancel(struct json_object *id);
/* Protocol version that a handshake agreed on; "" = there was none. */
const char *mcp_requests_version(void);

/* For poll(2): descriptors, at most max; and what came of them. */
size_t	 mcp_requests_poll(struct pollfd *, size_t max);
void	 mcp_requests_run(const struct pollfd *, size_t n);
/*
 * Says to those who asked for it that it goes on.  Milliseconds until that is
 * to be said again, -1 = never.
 */
int	 mcp_requests_progress(void);
void	 mcp_requests_end(void);

#endif
