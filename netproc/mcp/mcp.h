/* SPDX-License-Identifier: ISC */
/*
 * The Model Context Protocol: agents trace programs by it.  Messages come by
 * the command MCP and by POST /mcp; each is answered by itself, and nothing of
 * a client is remembered but the patterns for its next program.
 */
#ifndef DL_NET_MCP_H
#define DL_NET_MCP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "netproc/text/jsonwalk.h"
#include "netproc/text/line.h"

struct conn;
struct mcp_tool;
struct rsession;

/* Revisions of the protocol, in their order. */
enum mcp_era {
	MCP_2024_11_05,
	MCP_2025_03_26,		/* batches, annotations */
	MCP_2025_06_18,		/* structured results */
	MCP_2025_11_25,		/* wrong arguments are a tool's result */
	MCP_2026_07_28,		/* no handshake: each request says it all */
	MCP_ERAS
};

/* JSON-RPC's and the protocol's own. */
#define MCP_PARSE_ERROR		(-32700)
#define MCP_INVALID_REQUEST	(-32600)
#define MCP_NO_METHOD		(-32601)
#define MCP_INVALID_PARAMS	(-32602)
#define MCP_INTERNAL		(-32603)
#define MCP_HEADER_MISMATCH	(-32020)
#define MCP_NO_VERSION		(-32022)

/* A message, or a batch of them, and what it is answered. */
struct mcp {
	char		*text;		/* owned; all words point into it */
	bool		 web;		/* by HTTP: */
	unsigned int	 status;	/* of the answer there */
	/* headers there, NULL = not sent; borrowed until the first wait */
	const char	*version, *method, *name;
	bool		 batch;
	struct json_walk rest;		/* of a batch */
	struct word	 one;		/* what is to come, where it is none */
	enum mcp_era	 agreed;	/* by a handshake, or said at the door */
	bool		 is_agreed;
	struct word	 cwd, env;	/* of the client's process; may be empty */
	bool		 busy, waiting;
	struct text	 out;
	/* the request at hand */
	struct word	 id;		/* empty = null */
	enum mcp_era	 era;
	const struct mcp_tool *tool;
	struct word	 session;	/* argument sessionId; may be empty */
	struct text	 had;		/* patterns that a launch has taken */
};

/* Adds the command MCP. */
void	 mcp_init(void);
/* The same for POST /mcp. */
void	 cmd_mcp_web(struct conn *, struct rsession *, const struct words *);

/* -- mcp.c's, for the others -- */
/* Another process has answered the request: goes on with the next message. */
void	 mcp_go_on(struct conn *);

/* -- mcp_rpc.c: one message -- */
/* It is answered in m->out, or m->waiting is set. */
void	 mcp_message(struct conn *, const struct word *);
const char *mcp_era_text(enum mcp_era);
bool	 mcp_era_find(const struct word *string, enum mcp_era *);
/* The same of a text. */
bool	 mcp_era_named(const char *, enum mcp_era *);
/* Answers an error; status is HTTP's. */
void	 mcp_refuse(struct mcp *, int code, unsigned int status,
	    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The header of an HTTP request names a revision that is none of ours. */
void	 mcp_unsupported(struct mcp *, const struct word *message);
/* A result: members are written between. */
struct text *mcp_result(struct mcp *);
void	 mcp_result_end(struct mcp *);

/* -- mcp_tools.c: the table -- */
const struct mcp_tool *mcp_tool_find(const struct word *string);
const char *mcp_tool_name(const struct mcp_tool *);
/* The array of tools/list. */
void	 mcp_tools_json(struct text *, enum mcp_era);
/* NULL, or what is wrong with the names and kinds of the arguments. */
const char *mcp_tool_check(const struct mcp_tool *, const struct word *args);
void	 mcp_tool_run(struct conn *, const struct word *args);

/* -- mcp_call.c: what the tools do -- */
void	 mcp_call(struct conn *, const struct word *params);
void	 mcp_launch(struct conn *, const struct word *args);
void	 mcp_trace(struct conn *, const struct word *args);
void	 mcp_query(struct conn *, const struct word *args);
void	 mcp_stop(struct conn *, const struct word *args);

#endif
