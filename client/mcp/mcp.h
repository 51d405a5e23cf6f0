/* SPDX-License-Identifier: ISC */
/*
 * debuglantern-mcp: relays messages between an agent's client, on standard
 * input and output, and the daemon's local socket.  Messages are parsed only as
 * far as needed to know which requests wait for an answer.
 */
#ifndef CLIENT_MCP_MCP_H
#define CLIENT_MCP_MCP_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MCP_NAME	"debuglantern-mcp"

/* Bytes of a message; the daemon's 64 KiB must hold additions to it, too. */
#define MCP_MESSAGE_MAX	(60U * 1024)

/* JSON-RPC's. */
#define MCP_PARSE_ERROR		(-32700)
#define MCP_INVALID_REQUEST	(-32600)
#define MCP_INTERNAL		(-32603)

/* -- client/mcp/input.c: lines --------------------------------------------------- */

/* A line that is too long, of which only this is kept. */
struct mcp_long {
	size_t		 depth;
	bool		 in_string, escaped, is_key, object;
	bool		 at_key;		/* a name may come */
	bool		 taking, taken;		/* the value of "id" */
	bool		 method;		/* it has one */
	char		 name[8];
	size_t		 name_len;
	char		 id[128];		/* as it stands there */
	size_t		 id_len;
};

/* Looks at the next bytes of it; zero it first. */
void	mcp_long_feed(struct mcp_long *, const char *, size_t);
/* Its id as JSON, which is written as it came; or NULL. */
struct json_object *mcp_long_id(const struct mcp_long *);

struct mcp_input {
	char		 buf[MCP_MESSAGE_MAX + 1];
	size_t		 len;
	bool		 skipping, ended;
	struct mcp_long	 over;
};

/* Reads once what is there; false when the input cannot be read any more. */
bool	mcp_input_read(struct mcp_input *);
/*
 * The next line without its end, NUL-terminated, good until the next read; NULL
 * when no whole line is there.  A line that was too long is empty and has *over
 * set.
 */
char	*mcp_input_line(struct mcp_input *, size_t *len,
	    const struct mcp_long **over);

/* -- client/mcp/output.c: lines to the client ------------------------------------ */

/* Adds a line. */
void	mcp_put(const char *, size_t);
/* The same of an object; takes it. */
void	mcp_put_json(struct json_object *);
/* An error of ours; the id is borrowed, NULL for null. */
struct json_object *mcp_error(struct json_object *id, int code,
	    const char *words);
void	mcp_put_error(struct json_object *id, int code, const char *words);
size_t	mcp_unsent(void);
/* Writes as much as it can without waiting; false when nobody reads. */
bool	mcp_flush(void);

#endif
