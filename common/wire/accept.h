/* SPDX-License-Identifier: ISC */
/*
 * Accepting connections of unknown clients: how many there may be, patience
 * when fds run out, and no more log lines than one can read.
 */
#ifndef DL_ACCEPT_H
#define DL_ACCEPT_H

#include <sys/queue.h>
#include <sys/socket.h>

#include <stddef.h>
#include <stdint.h>

#include "base/loop.h"

/* Takes fd. */
typedef void	(*accept_fn)(int fd, const struct sockaddr_storage *from,
		    void *arg);

/* Embedded in the structure that owns the listening socket. */
struct acceptor {
	LIST_ENTRY(acceptor)	 all;
	struct loop_io		 io;
	int			 fd;	/* owned */
	accept_fn		 fn;
	void			*arg;
};

/*
 * To be called first before there is a filter, then whenever settings change.
 * How many connections there may be: max-connections, or fewer where the
 * limit of open files cannot be raised to each fds for every one of them
 * beside the other ones.  what names them in the log ("TLS connections").
 */
size_t	 accept_limit(const char *what, uint64_t each, uint64_t other);

/* Accepts from fd, which it takes, until accept_end(). */
void	 accept_begin(struct acceptor *, int fd, accept_fn, void *arg);
void	 accept_end(struct acceptor *);
/* A connection has ended: if accepting was paused, it goes on. */
void	 accept_resume(void);

/* log_info(), but at most a few lines a second: clients cause it. */
void	 accept_log(const char *, ...) __attribute__((format(printf, 1, 2)));

#endif
