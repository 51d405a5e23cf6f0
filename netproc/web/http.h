/* SPDX-License-Identifier: ISC */
/*
 * HTTP: libmicrohttpd speaks it, on sockets that listener.c has accepted.
 * Behind each such client stands a struct conn with a port in place of a
 * socket, so that requests are the commands of the control protocol, with
 * its checks, its audit and its limits.
 */
#ifndef DL_NET_HTTP_H
#define DL_NET_HTTP_H

#include <sys/queue.h>
#include <sys/socket.h>

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/errors.h"
#include "base/loop.h"

struct conn;
struct conn_port;
struct web_req;

/* Credential that a client has shown; only its hash is kept. */
#define CRED_HASH	32

/* A client's TCP connection. */
struct web {
	LIST_ENTRY(web)		 all;
	int			 fd;	/* libmicrohttpd's */
	uint32_t		 flags;	/* LISTENER_* */
	struct MHD_Connection	*mhd;	/* NULL while it is being added */
	struct sockaddr_storage	 from;
	struct conn		*conn;	/* NULL = it has ended */
	uint8_t			 cred[CRED_HASH]; /* of conn; zeros = none */
	bool			 authed;	/* by that */
	/* Why conn ended before anything was asked; ERR_OK = it did not. */
	uint32_t		 err;
	bool			 closing, given, uncounted;
	bool			 unread;	/* a request was not read to its end */
	/*
	 * The library may miss that a client has sent its end, when that comes
	 * together with its last bytes.
	 */
	struct loop_io		 end;
	struct loop_timer	 grace;
	char			 why[160];
	struct web_req		*req;	/* under way, or NULL */
};

/* Handlers of the requests of connections. */
struct http_requests {
	const struct conn_port	*port;	/* of each conn */
	MHD_AccessHandlerCallback access;
	MHD_RequestCompletedCallback completed;
	/* The answer is a stream of events that has begun. */
	bool			(*is_stream)(const struct web_req *);
	/* Answers before the end of the request; the connection ends next. */
	void			(*last_word)(struct web_req *);
};

/* Before confinement; keeps the pointer. */
void	 http_init(const struct http_requests *);
/* Takes fd.  full: all that it gets is the answer that there is no place. */
void	 http_accept(int fd, uint32_t listener_flags,
	    const struct sockaddr_storage *from, bool full);
/* A conn of its own for a client; false without memory. */
bool	 web_conn_new(struct web *);
/*
 * All that it gets from now on is this error: nobody counts it any more, so it
 * has a moment to hear of it, and ends at once if it is one of many.
 */
void	 web_refuse(struct web *, uint32_t err);
/* Ends the conn, if there is one; nobody is told. */
void	 web_conn_end(struct web *);
/* The library is run soon: something was resumed. */
void	 http_soon(void);
/* Nothing more of this request is looked at until web_req_wake(). */
void	 web_req_wait(struct web_req *);
/* Something has changed that its request waits for. */
void	 web_req_wake(struct web *);
/* Its conn has gone in the midst of a request: it ends soon. */
void	 web_orphan(struct web *);
/* The socket is somebody else's from now on. */
void	 web_give_away(struct web *);
/* Ends the TCP connection; libmicrohttpd notices when it is next run. */
void	 web_close(struct web *);

#endif
