/* SPDX-License-Identifier: ISC */
/* SYSROOT: a file of the spawner's, sent as fast as the client reads. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "answer.h"
#include "ask.h"
#include "conn.h"
#include "sysroot.h"

#define PIECE	(128 * 1024)

static void
sysroot_refused(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	(void)a;
	answer_error(c, err == ERR_OK ? ERR_INTERNAL : err, msg);
}

void
cmd_sysroot(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)s;
	(void)ws;
	ask_send(c, ask_new(c, MSG_SYSROOT, NULL),
	    (struct ask){ .fn = sysroot_refused });
}

/* The file on its way to the client. */
struct sending {
	int		 fd;
	uint64_t	 left;
	off_t		 at;
};

static bool
sysroot_step(struct conn *c)
{
	struct sending *f = conn_state(c, struct sending);
	ssize_t n;

	if (f->left == 0) {
		conn_enter(c, &mode_line);
		if (c->port != NULL)
			c->port->answered(c);
		return true;
	}
	n = conn_send_file(c, f->fd, &f->at, f->left < PIECE ?
	    (size_t)f->left : PIECE);
	if (n == -1 && (errno == EAGAIN || errno == EINTR)) {
		conn_yield(c);
		return true;
	}
	if (n <= 0) {
		/* the size has been promised already */
		c->dead = true;
		return false;
	}
	f->left -= (uint64_t)n;
	c->active_ms = loop_now_ms();
	c->cost += (size_t)n;
	return true;
}

static void
sysroot_leave(struct conn *c)
{
	close(conn_state(c, struct sending)->fd);
	/* the spawner has kept a copy, so that closing took no time here */
	(void)chan_send(&spawner_chan, msg_new(MSG_SYSROOT_DONE, NULL,
	    c->number, 0), -1);
}

static const struct conn_mode mode_sysroot = {
	.name = "sysroot",
	.clock = CLOCK_IDLE,
	.alone = true,
	.step = sysroot_step,
	.leave = sysroot_leave,
};

int
net_on_sysroot_fd(struct msg *m)
{
	struct conn *c = ask_find(m);
	uint64_t size = msg_get_u64(m);
	char head[48];
	int n;

	if (msg_end(m) == -1 || size > INT64_MAX)
		return -1;
	if (c == NULL)
		return 0;
	if (ask_state(c)->fn != sysroot_refused)
		return -1;
	conn_enter(c, &mode_sysroot);
	conn_state(c, struct sending)->fd = msg_take_fd(m);
	conn_state(c, struct sending)->left = size;
	/* the bytes follow this line; HTTP has its own for that */
	if (c->port != NULL) {
		c->port->answer(c, ERR_OK);
		conn_run(c);
		return 0;
	}
	if (c->reply.form == REPLY_JSON)
		n = snprintf(head, sizeof(head), "{\"size\":%" PRIu64 "}", size);
	else
		n = snprintf(head, sizeof(head), "SYSROOT %" PRIu64, size);
	answer_open(c);
	conn_write(c, head, (size_t)n);
	answer_close(c);
	conn_run(c);
	return 0;
}
