/* SPDX-License-Identifier: ISC */
/* The routes of the HTTP interface: one row each. */
#ifndef DL_NET_ROUTE_H
#define DL_NET_ROUTE_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#include "netproc/text/line.h"

struct command;
struct conn;
struct param;
struct rsession;
struct web_req;

/* Properties of a route's request and answer. */
enum {
	ROUTE_OPEN	= 1 << 0,	/* for everybody, without a conn */
	ROUTE_JSON	= 1 << 1,	/* only when the body is JSON */
	ROUTE_UPLOAD	= 1 << 2,	/* an image or a bundle */
	ROUTE_INPUT	= 1 << 3,	/* octets for a program */
	ROUTE_CREATED	= 1 << 4,	/* 201 */
	ROUTE_RAW	= 1 << 5,	/* the answer has no envelope */
	ROUTE_SOCKET	= 1 << 6,	/* becomes a WebSocket */
	ROUTE_EVENTS	= 1 << 7,	/* the answer is a stream of events */
	ROUTE_LOGIN	= 1 << 8,	/* the body says who it is */
	ROUTE_USE	= 1 << 9,	/* a GET, but not for other origins */
	ROUTE_MCP	= 1 << 10	/* the body is passed on as it is */
};

struct route {
	const char	*method;
	/* ":name" stands for a part that becomes the argument of this name. */
	const char	*path;
	const char	*command;	/* its row; NULL with ROUTE_OPEN */
	unsigned int	 flags;		/* ROUTE_* */
	/* "action=list": an argument that is always so. */
	const char	*fixed;
	/* "label=name": what the command calls label is the client's name. */
	const char	*alias;
	/* In place of the command's, with the rights that it needs. */
	void		(*run)(struct conn *, struct rsession *,
			    const struct words *);
	/* With ROUTE_OPEN: answers at once. */
	enum MHD_Result	(*page)(struct web_req *);
	const char	*type;		/* of a raw answer */
	const char	*summary;
};

extern const struct route	routes[];
extern const size_t		nroutes;

#define ROUTE_PARTS	2

/* A part of the path that stood for ":name": borrowed from both. */
struct route_part {
	const char	*name;
	size_t		 name_len;
	const char	*value;
	size_t		 len;
};

/*
 * The row for a method and path; NULL when there is none, and then *methods
 * tells which methods the path has ("GET, DELETE"), empty = none.  A HEAD is
 * looked up as a GET; json: the body is said to be that.
 */
const struct route *route_find(const char *method, const char *path,
    bool json, struct route_part parts[ROUTE_PARTS], char *methods, size_t size);
/* Its command's row. */
const struct command *route_command(const struct route *);
/* Whether its client gives the parameter by name: not by the path or the body's
 * bytes, nor is it always the same. */
bool	 route_takes(const struct route *, const struct param *);
/* Client's name for a command's parameter; borrowed from either argument. */
const char *route_name(const struct route *, const char *);

#endif
