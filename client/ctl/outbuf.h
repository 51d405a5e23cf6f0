/* SPDX-License-Identifier: ISC */
/* Output of a program on its way to one of our own descriptors. */
#ifndef CLIENT_CTL_OUTBUF_H
#define CLIENT_CTL_OUTBUF_H

#include <stdbool.h>
#include <stddef.h>

#include "client/lib/safe.h"

struct outbuf {
	int			 out_fd;	/* borrowed */
	bool			 filtered;	/* a terminal */
	bool			 plain_file;
	bool			 broken;	/* nobody reads it any more */
	struct safe_filter	 filter;
	char			*buf;
	size_t			 len;
	size_t			 done;
};

/* raw: nothing is spelled out on a terminal either. */
void	outbuf_init(struct outbuf *, int out_fd, bool raw);

/* Queues bytes; what was queued before must be gone. -1: out of memory. */
int	outbuf_put(struct outbuf *, const void *data, size_t len);

bool	outbuf_pending(const struct outbuf *);

/*
 * Writes a piece, to be called when poll says that out_fd takes one. -1 and
 * errno when it is broken; everything queued is dropped then and later on.
 */
int	outbuf_flush(struct outbuf *);

/* Queues what the terminal needs at the end. */
int	outbuf_end(struct outbuf *);

void	outbuf_free(struct outbuf *);

#endif
