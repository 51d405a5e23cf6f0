/* SPDX-License-Identifier: ISC */
/*
 * A WebSocket after its handshake, as the server: messages in and out.  It does
 * no I/O and knows no connection: bytes come and go by two calls.
 *
 * Bounds on a client: a message, its fragments together, has at most
 * WS_MESSAGE_MAX bytes; answers to pings are written before more is read.
 */
#ifndef DL_NET_WS_H
#define DL_NET_WS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WS_MESSAGE_MAX	(64 * 1024)
/* Bytes of a reason for closing. */
#define WS_REASON_MAX	123

/* RFC 6455, 7.4.1: those that this end sends. */
enum ws_code {
	WS_NORMAL		= 1000,
	WS_GOING_AWAY		= 1001,
	WS_PROTOCOL_ERROR	= 1002,
	WS_UNSUPPORTED		= 1003,
	WS_NOT_UTF8		= 1007,
	WS_POLICY		= 1008,
	WS_TOO_BIG		= 1009,
	WS_INTERNAL		= 1011
};

struct ws;

struct ws_calls {
	/* At most len bytes that the client sent; 0 = none now. */
	size_t	(*take)(void *arg, void *buf, size_t len);
	/* Takes a copy of what is to be sent. */
	void	(*give)(void *arg, const void *, size_t);
	/* A whole message; text is valid UTF-8.  The bytes are borrowed. */
	void	(*message)(void *arg, bool binary, const uint8_t *, size_t);
};

/* calls is borrowed.  NULL without memory. */
struct ws *ws_new(const struct ws_calls *calls, void *arg);
void	 ws_free(struct ws *);
/*
 * Reads until take() has nothing.  Pings are answered, a close is returned,
 * and what the protocol forbids closes with the code for it; false = it is
 * closed, by whom ever: what was given is to be sent, then the socket ends.
 */
bool	 ws_read(struct ws *);
/* Sends a message of two parts; nothing once the WebSocket is closed. */
void	 ws_send(struct ws *, bool binary, const void *head, size_t nhead,
	    const void *body, size_t nbody);
void	 ws_ping(struct ws *);
/* Says why and sends nothing more; reason is cut to what fits. */
void	 ws_close(struct ws *, enum ws_code, const char *reason);
bool	 ws_is_open(const struct ws *);

#endif
