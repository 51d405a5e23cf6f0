/* SPDX-License-Identifier: ISC */
/* Commands whose line is followed by bytes: UPLOAD and INPUT. */
#ifndef DL_NET_PAYLOAD_H
#define DL_NET_PAYLOAD_H

#include <stdbool.h>

#include "base/loop.h"
#include "netproc/conn/conn.h"
#include "netproc/text/line.h"
#include "wire/msg.h"

struct rsession;

struct payload {
	int		 fd;		/* memfd or pipe; owned; -1 = none */
	uint64_t	 done, left;
	bool		 open;		/* left is the most */
	struct sid	 session;
	struct loop_io	 io;		/* of the pipe */
};

/* The state of a connection whose mode reads a payload. */
static inline struct payload *
payload_state(const struct conn *c)
{
	return conn_state(c, struct payload);
}

void	cmd_upload(struct conn *, struct rsession *, const struct words *);
void	cmd_input(struct conn *, struct rsession *, const struct words *);

/* Whether the bytes of a payload are what the conn waits for. */
bool	payload_is_taken(const struct conn *);
/*
 * A payload whose size was UPLOAD_UNKNOWN ends with what has been fed; for a
 * conn whose payload is taken.  conn_run() is to follow.
 */
void	payload_end(struct conn *);
/*
 * Answers the error, and reads as many bytes without using them; behind a
 * port what is left is the port's affair.
 */
void	payload_refuse(struct conn *, uint32_t err, const char *why,
	    uint64_t left);

int	net_on_room(struct msg *);
int	net_on_input_fd(struct msg *);

#endif
