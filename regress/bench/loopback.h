/* SPDX-License-Identifier: ISC */
/* Sockets on 127.0.0.1, for measuring: every failure ends the program. */
#ifndef BENCH_LOOPBACK_H
#define BENCH_LOOPBACK_H

#include <stddef.h>
#include <stdint.h>

/* Ports are in host order; fds are the caller's, blocking, close-on-exec. */
uint16_t loopback_port(const char *text);
int	 loopback_dial(uint16_t port);
/* Listens on a free port, prints it as a line and flushes stdout. */
int	 loopback_listen(void);
int	 loopback_accept(int listen_fd);
void	 send_all(int fd, const void *, size_t);

/* The lines of one connection; start from { .fd = fd }. */
struct lines {
	int	 fd;			/* borrowed */
	size_t	 len;			/* bytes held */
	size_t	 used;			/* of them, given out */
	char	 buf[64 * 1024];
};

/*
 * The next line without its newline, valid until the next call; NULL at the
 * end of the stream.  A line longer than the buffer ends the program.
 */
char	*lines_next(struct lines *);
/* For debuglanternd: opens the commands that are answered after HELLO. */
void	 lines_hello(struct lines *);

#endif
