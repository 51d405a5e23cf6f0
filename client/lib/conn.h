/* SPDX-License-Identifier: ISC */
/* A connection to a daemon: lines, bytes and payloads. */
#ifndef CLIENT_LIB_CONN_H
#define CLIENT_LIB_CONN_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>

#define CONN_LINE_MAX	65535		/* bytes of a command line, no LF */
#define CONN_ANSWER_MAX	(64U << 20)	/* bytes of an answer line */

struct conn;
struct ssh;
struct stream;
struct target;

/*
 * Makes a connection of a stream that is open: takes the stream and ssh. The
 * caller closes the result with dconn_close(). NULL after a report, then they
 * are still the caller's.
 */
struct conn *dconn_new(const struct stream *, const struct ssh *,
	    const struct target *, unsigned int timeout_s);
void	dconn_close(struct conn *);

/* Seconds as poll(2) has them; 0 stands for none, and 0 there for ever. */
int	dconn_ms(unsigned int timeout_s, unsigned int none);

/* Whether nobody on a network can read or change what is sent. */
bool	dconn_is_private(const struct conn *);

/* Whether the daemon is on this host, by whatever address. */
bool	dconn_is_here(const struct conn *);

/* For poll loops: a borrowed descriptor and what to wait for there. */
int	dconn_fd(const struct conn *);
short	dconn_read_events(const struct conn *);
short	dconn_write_events(const struct conn *);

/* Sends all of buf. -1 when the connection is gone, not reported. */
int	dconn_send(struct conn *, const void *buf, size_t len);

/*
 * Sends len bytes of a regular file, calls progress(arg, sent) now and then.
 * Stops early, without an error, when the daemon has begun to answer or
 * closed: its answer says why. -1 and errno when the file ends early
 * (ENODATA) or cannot be read.
 */
int	dconn_send_file(struct conn *, int file_fd, size_t len,
	    void (*progress)(void *, size_t), void *arg);

/* Meaning of errno after a failure on the connection. Borrowed. */
const char *dconn_strerror(const struct conn *);

/*
 * The next line without its LF, NUL terminated, valid until the next call on
 * this connection. NULL after a report: nothing, half a line or too long a
 * line came.
 */
char	*dconn_line(struct conn *, size_t *lenp);

/* Something has come, or its end, though nothing was asked. */
bool	dconn_is_over(const struct conn *);

/* For poll loops: a line that is here already, or NULL. */
char	*dconn_take_line(struct conn *, size_t *lenp);

/*
 * For poll loops: receives once. Bytes read, 0 at the end of the stream, -1
 * and errno (EAGAIN: nothing there; EMSGSIZE: the line is too long).
 */
ssize_t	dconn_fill(struct conn *);

/* Takes up to len bytes that are here already; how many. */
size_t	dconn_take(struct conn *, void *buf, size_t len);

/*
 * Up to len bytes, buffered ones first, waiting for at least one. 0 at the
 * end, -1 and errno (EINTR when a signal was caught, ETIMEDOUT).
 */
ssize_t	dconn_read(struct conn *, void *buf, size_t len);

/*
 * For poll loops: what is here already, else what comes without waiting, into
 * at least STREAM_PIECE bytes. As dconn_fill().
 */
ssize_t	dconn_recv(struct conn *, void *buf, size_t len);

/* Whether dconn_recv() has something whatever poll says. */
bool	dconn_buffered(const struct conn *);

/* For poll loops: as write(2), -1 and errno (EAGAIN). */
ssize_t	dconn_write(struct conn *, const void *buf, size_t len);

/* Tells the daemon that nothing more will come; as dconn_write(). */
int	dconn_end(struct conn *);

#endif
