/* SPDX-License-Identifier: ISC */
/* From a GET to a WebSocket: the handshake of RFC 6455. */
#ifndef DL_NET_WEBUP_H
#define DL_NET_WEBUP_H

#include <stdbool.h>
#include <stddef.h>

#include "webreq.h"

/* 28 characters and a NUL. */
#define WS_ACCEPT_TEXT	29

/* The answer to a Sec-WebSocket-Key; false when that is none. */
bool	 ws_accept(const char *key, char out[WS_ACCEPT_TEXT]);
/* The token among offered subprotocols, into out; false = none is there. */
bool	 ws_offered_token(const char *offered, char *out, size_t size);
/* Whether a subprotocol is among those offered. */
bool	 ws_is_offered(const char *offered, const char *name);

/* Whether it asks for a WebSocket at all; who does not is told what one would
 * be refused for. */
bool	 webup_asked(struct web_req *);
/* Looks at the request; NULL = it is one for a WebSocket, else what is wrong. */
const char *webup_check(struct web_req *);
/* The credential that comes by the query or as a subprotocol, owned, or NULL. */
char	*webup_token(struct web_req *);
/* Its command: finds the session, says whether one may attach. */
void	 webup_run(struct conn *, struct web_req *);
/* Answers 101, after which conn has the socket. */
enum MHD_Result webup_respond(struct web_req *);

#endif
