/* SPDX-License-Identifier: ISC */
/*
 * An HTTP request: what it may be and whose it is, the command that it becomes,
 * and the answer on its way back, a piece at a time.
 */
#ifndef DL_NET_WEBREQ_H
#define DL_NET_WEBREQ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "http.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/conn.h"
#include "route.h"
#include "wire/proto.h"

/* Bytes of arguments in JSON. */
#define WEB_BODY_MAX	((size_t)64 * 1024)

enum web_phase {
	WEB_READ,		/* what it brings is being read */
	WEB_ASK,		/* its command is to be run */
	WEB_AUTH,		/* AUTH has been sent before that */
	WEB_RUN			/* the answer comes */
};

/* A command that follows the first, which has worked. */
enum web_then {
	THEN_NOTHING,
	THEN_NAME,		/* of what was uploaded */
	THEN_EOF		/* of the program's input */
};

/* Lines of a response beside the usual ones. */
#define WEB_HEADERS	3
struct web_header {
	const char		*name;	/* static */
	char			*value;	/* owned */
};

#define WEB_NO_COOKIE	"lantern=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0"

struct form;

struct web_req {
	struct web		*web;
	struct MHD_Connection	*mhd;
	const struct route	*route;	/* NULL = it was refused before */
	struct route_part	 parts[ROUTE_PARTS];
	enum web_phase		 phase;
	enum web_phase		 after_auth;	/* phase then */
	bool			 admitted;	/* token is to be said */
	bool			 begun;	/* its headers were looked at */
	bool			 ended;	/* all of it has come */
	bool			 handling;	/* libmicrohttpd waits for us */
	bool			 head;		/* HEAD: no body is sent */
	bool			 held;	/* the body, until it is let in */
	bool			 suspended;
	char			*token;		/* to say AUTH with; owned */
	bool			 by_cookie;
	char			 csrf[33];	/* that goes with it */
	enum web_then		 then;		/* when the first has worked */
	enum web_then		 now;		/* what is to be run */
	char			*name;		/* for THEN_NAME; owned */
	char			*exec;		/* of a form; owned */
	char			 about[SESSION_NAME_MAX]; /* the first one's session */
	struct sid		 made;		/* the same, of an upload */

	/* what came */
	/* Content-Length, 0 = none; of a payload that is open, the most. */
	uint64_t		 size;
	bool			 chunked;
	bool			 open;	/* only its end tells its size */
	bool			 closed;	/* and that has come */
	bool			 filled;	/* a byte of the file was there */
	struct text		 body;
	const char		*in;		/* borrowed while handling */
	size_t			 in_len;
	uint64_t		 wasted;	/* bytes that nobody wanted */
	struct form		*form;		/* around the file; owned */

	/* the answer */
	struct text		 out;
	size_t			 out_pos;
	size_t			 skip;		/* bytes that are none of it */
	uint32_t		 err;
	unsigned int		 status;	/* 0 = as err has it */
	bool			 known, ending, whole, queued, failed;
	bool			 enveloped, streaming;
	struct web_header	 headers[WEB_HEADERS];
	size_t			 nheaders;
	bool			 secret;
	struct MHD_Response	*resp;	/* with a cookie in it; owned */
	uint32_t		 wants;		/* conn's EPOLL* bits */
	struct loop_timer	 turn;		/* of conn */
	struct loop_timer	 beat;		/* of a stream that is silent */
};

extern const struct conn_port	web_port;

/* Before confinement; http.c with it. */
void	 web_req_init(void);

#endif
