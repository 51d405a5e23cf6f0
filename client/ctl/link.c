/* SPDX-License-Identifier: ISC */
/*
 * A connection that has become a terminal's. Data to send waits in a queue of
 * fixed size. The last bytes of the queue are reserved for sizes and
 * acknowledgements; only the latest of each matters.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/stream.h"
#include "link.h"

#define QUEUE_MAX	(128U << 10)
#define RESERVED	256U		/* of it, for what is not input */

struct link {
	struct conn	*conn;		/* borrowed from the client */
	char		 name[TARGET_TEXT];
	size_t		 start;
	size_t		 end;
	size_t		 done;		/* bytes of the queue that are sent */
	size_t		 queued;
	bool		 resize;	/* still to be queued */
	unsigned int	 cols;
	unsigned int	 rows;
	bool		 ack;
	uint64_t	 acked;
	unsigned char	 queue[QUEUE_MAX];
	unsigned char	 in[TERMINAL_HEAD + TERMINAL_MAX + 2 * STREAM_PIECE];
};

static int
attach_line(struct line *l, const char *id, const struct link_how *how)
{
	char word[64];

	if (line_word(l, "ATTACH") == -1 || line_word(l, id) == -1)
		return -1;
	if (how->from != NULL) {
		snprintf(word, sizeof(word), "from=%s", how->from);
		if (line_word(l, word) == -1)
			return -1;
	}
	if (how->read_only)
		return line_word(l, "ro");
	if (how->cols == 0)
		return 0;
	if (line_number(l, "cols", how->cols) == -1)
		return -1;
	return line_number(l, "rows", how->rows);
}

int
link_attach(struct client *c, const char *id, const struct link_how *how,
    struct link **linkp, struct json_object **sessionp)
{
	struct line l = { 0 };
	int code;

	*linkp = NULL;
	*sessionp = NULL;
	if (attach_line(&l, id, how) == -1) {
		free(l.text);
		return CTL_USAGE;
	}
	if ((code = client_send_line(c, &l)) != CTL_OK ||
	    (code = client_answer(c, sessionp)) != CTL_OK)
		return code;
	if ((*linkp = calloc(1, sizeof(**linkp))) == NULL) {
		json_object_put(*sessionp);
		return usage_error("out of memory");
	}
	(*linkp)->conn = c->conn;
	target_text(&c->target, (*linkp)->name);
	return CTL_OK;
}

void
link_free(struct link *l)
{
	/* Wipe the queue: typed input may be a password. */
	if (l != NULL)
		explicit_bzero(l, sizeof(*l));
	free(l);
}

int
link_fd(const struct link *l)
{
	return dconn_fd(l->conn);
}

static bool
to_send(const struct link *l)
{
	return l->done < l->queued || l->resize || l->ack;
}

short
link_events(const struct link *l, bool reading)
{
	short events = 0;

	if (reading)
		events |= dconn_read_events(l->conn);
	if (to_send(l))
		events |= dconn_write_events(l->conn);
	return events;
}

bool
link_ready(const struct link *l)
{
	size_t have = l->end - l->start;

	/* A length that is wrong is link_take()'s to tell of. */
	return have >= TERMINAL_HEAD && (have - TERMINAL_HEAD >=
	    terminal_msg_length(l->in + l->start) ||
	    terminal_msg_length(l->in + l->start) > TERMINAL_MAX);
}

bool
link_buffered(const struct link *l)
{
	return dconn_buffered(l->conn) && !link_ready(l);
}

int
link_take(struct link *l, struct terminal_msg *m)
{
	size_t len;
	int r;

	while (link_ready(l)) {
		len = terminal_msg_length(l->in + l->start);
		r = len > TERMINAL_MAX ? -1 : terminal_msg_decode(m,
		    l->in + l->start + TERMINAL_HEAD, len);
		if (r == -1) {
			report("%s sent an invalid terminal message",
			    l->name);
			return -1;
		}
		l->start += TERMINAL_HEAD + len;
		/* Types that came later than this client are not for it. */
		if (r == 0)
			return 1;
	}
	return 0;
}

static void
make_room(struct link *l)
{
	memmove(l->in, l->in + l->start, l->end - l->start);
	l->end -= l->start;
	l->start = 0;
}

static int
broken(const struct link *l, const char *why)
{
	report("the connection to %s broke: %s", l->name, why);
	return -1;
}

static int
receive(struct link *l)
{
	ssize_t n;

	make_room(l);
	/* There is room for STREAM_PIECE behind any part of a message. */
	n = dconn_recv(l->conn, l->in + l->end, sizeof(l->in) - l->end);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n == -1)
		return broken(l, dconn_strerror(l->conn));
	if (n == 0)
		return broken(l, "it was closed over there");
	l->end += (size_t)n;
	return 0;
}

/* Puts the latest size and acknowledgement behind what is queued. */
static void
queue_latest(struct link *l)
{
	if (l->done == l->queued)
		l->done = l->queued = 0;
	if (l->resize && QUEUE_MAX - l->queued >= RESERVED / 4) {
		l->queued += terminal_put_resize(l->queue + l->queued,
		    l->cols, l->rows);
		l->resize = false;
	}
	if (l->ack && QUEUE_MAX - l->queued >= RESERVED / 4) {
		l->queued += terminal_put_ack(l->queue + l->queued, l->acked);
		l->ack = false;
	}
}

static int
transmit(struct link *l)
{
	ssize_t n;

	queue_latest(l);
	while (l->done < l->queued) {
		n = dconn_write(l->conn, l->queue + l->done,
		    l->queued - l->done);
		if (n == -1 && (errno == EAGAIN || errno == EINTR))
			return 0;
		/* Read on: the daemon's last words tell more than this. */
		if (n == -1 && (errno == EPIPE || errno == ECONNRESET)) {
			l->done = l->queued;
			return 0;
		}
		if (n == -1)
			return broken(l, dconn_strerror(l->conn));
		explicit_bzero(l->queue + l->done, (size_t)n);
		l->done += (size_t)n;
		queue_latest(l);
	}
	return 0;
}

int
link_turn(struct link *l, bool reading)
{
	if (to_send(l) && transmit(l) == -1)
		return -1;
	return reading ? receive(l) : 0;
}

size_t
link_room(const struct link *l)
{
	size_t used = l->done == l->queued ? 0 : l->queued;
	size_t most = QUEUE_MAX - RESERVED - TERMINAL_HEAD - 1;

	if (used >= most)
		return 0;
	return most - used < TERMINAL_INPUT ? most - used : TERMINAL_INPUT;
}

void
link_input(struct link *l, const void *data, size_t len)
{
	/* A size that was there before it goes before it. */
	queue_latest(l);
	if (len > 0 && l->queued + TERMINAL_HEAD + len < QUEUE_MAX)
		l->queued += terminal_put_input(l->queue + l->queued, data,
		    len);
}

void
link_resize(struct link *l, unsigned int cols, unsigned int rows)
{
	l->cols = cols;
	l->rows = rows;
	l->resize = true;
}

void
link_ack(struct link *l, uint64_t offset)
{
	l->acked = offset;
	l->ack = true;
}
