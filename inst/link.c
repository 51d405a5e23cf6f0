/* SPDX-License-Identifier: ISC */
/* Messages that every instrument has from the spawner, and sends it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/loop.h"
#include "link.h"
#include "wire/proto.h"

/* Bytes of an answer that one message holds, besides two numbers. */
#define PIECE_MAX	(MSG_PAYLOAD_MAX - 2 * sizeof(uint32_t))
/* Answers that wait for the spawner: with more, nobody else is heard. */
#define BACKLOG_MOST	((size_t)2 << 20)
#define BACKLOG_MS	5

#define MSG(name, from, to, min, max, fd, states, refusal, handler)	\
	int handler(struct msg *);
#include "wire/msgs.def"
#undef MSG

static struct channel	 chan;
static const struct link_calls *up;
static struct loop_timer backlog;
static bool		 greeted, is_last;

/* Without the spawner there is no session, and nobody who could ask. */
static void
gone(struct channel *c, const char *why)
{
	(void)c;
	_exit(why == NULL ? 0 : 1);
}

static void
log_to_spawner(enum log_level level, const char *line)
{
	struct msg_out *o = msg_new(MSG_INST_LOG, NULL, 0, 0);

	msg_put_u32(o, level);
	msg_put_str(o, line);
	link_send(o);
}

void
link_begin(int fd, enum role self, const struct link_calls *calls)
{
	up = calls;
	chan_init(&chan, self, ROLE_SPAWNER, gone, NULL);
	if (chan_open(&chan, fd, 0) == -1)
		fatalx("fd 3 is not a channel; %s is started by debuglanternd",
		    role_name(self));
	log_init(role_name(self), LOG_L_DEBUG, log_to_spawner);
}

/* -- upwards -------------------------------------------------------------- */

bool
link_greet(void)
{
	bool first = !greeted;

	greeted = true;
	return first;
}

bool
link_is_greeted(void)
{
	return greeted;
}

char *
link_keep(const char *p, size_t len)
{
	char *copy;

	if (len == 0)
		return NULL;
	copy = malloc(len);
	if (copy == NULL)
		fatal("malloc");
	memcpy(copy, p, len);
	return copy;
}

int
inst_on_request(struct msg *m)
{
	struct ask a = { .conn = m->hdr.conn, .id = (uint32_t)m->hdr.request };
	const char *json;
	size_t len;

	a.rw = msg_get_u32(m) >= ACCESS_USE;
	a.uid = msg_get_u32(m);
	json = msg_get_rest(m, &len);
	if (msg_end(m) == -1 || !greeted)
		return -1;
	up->ask(&a, json, len);
	return 0;
}

int
inst_on_gone(struct msg *m)
{
	if (msg_end(m) == -1)
		return -1;
	up->conn_gone(m->hdr.conn);
	link_send(msg_new(MSG_INST_LEFT, NULL, m->hdr.conn, 0));
	return 0;
}

int
inst_on_ring(struct msg *m)
{
	(void)msg_get_u32(m);
	if (msg_end(m) == -1)
		return -1;
	up->ring(msg_take_fd(m));
	return 0;
}

int
inst_on_output_notice(struct msg *m)
{
	uint64_t total = msg_get_u64(m);

	if (msg_end(m) == -1)
		return -1;
	up->output_notice(total);
	return 0;
}

int
inst_on_run_failed(struct msg *m)
{
	char code[64], why[900];

	msg_get_str(m, code, sizeof(code));
	msg_get_str(m, why, sizeof(why));
	if (msg_end(m) == -1)
		return -1;
	up->run_failed(code, why);
	return 0;
}

/* -- downwards ------------------------------------------------------------ */

void
link_send(struct msg_out *o)
{
	(void)chan_send(&chan, o, -1);
}

void
link_send_plain(enum msg_type type)
{
	link_send(msg_new(type, NULL, 0, 0));
}

bool
link_is_full(void)
{
	return chan_backlog(&chan) > BACKLOG_MOST;
}

/* Large answers are as fast as the spawner: no more requests meanwhile. */
static void
look_backlog(void *arg)
{
	(void)arg;
	chan_pause(&chan, true);
	if (link_is_full()) {
		loop_timer_set(&backlog, BACKLOG_MS, look_backlog, NULL);
		return;
	}
	chan_pause(&chan, false);
	if (up->goes_on != NULL)
		up->goes_on();
}

void
link_reply_last(void)
{
	is_last = true;
}

void
link_reply(const struct ask *a, bool failed, const char *json, size_t len)
{
	uint32_t flags = failed ? INST_FAILED : 0;
	struct msg_out *o;
	size_t n;

	do {
		n = len < PIECE_MAX ? len : PIECE_MAX;
		o = msg_new(MSG_INST_REPLY, NULL, a->conn, a->id);
		msg_put_u32(o, flags | (n < len ? INST_MORE :
		    is_last ? INST_LAST : 0));
		msg_put_bytes(o, json, n);
		link_send(o);
		json += n;
		len -= n;
	} while (len > 0);
	if (link_is_full())
		look_backlog(NULL);
}

void
link_does(const struct ask *a, uint32_t action)
{
	struct msg_out *o = msg_new(MSG_INST_DOES, NULL, a->conn, a->id);

	msg_put_u32(o, action);
	link_send(o);
}

void
link_arm(uint64_t offset)
{
	struct msg_out *o = msg_new(MSG_INST_ARM, NULL, 0, 0);

	msg_put_u64(o, offset);
	link_send(o);
}

void
link_bye(void)
{
	link_send_plain(MSG_INST_BYE);
}

bool
link_put_vec(struct msg_out *o, char *const *v, size_t most)
{
	static char buf[LINK_VEC_MAX];
	size_t len = 0, n;

	if (most > sizeof(buf))
		most = sizeof(buf);
	for (; v != NULL && *v != NULL; v++) {
		n = strlen(*v) + 1;
		if (n > most - len)
			break;
		memcpy(buf + len, *v, n);
		len += n;
	}
	msg_put_blob(o, buf, len);
	return v == NULL || *v == NULL;
}
