/* SPDX-License-Identifier: ISC */
/* The link: messages of the spawner to the tracer, and back. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "link.h"
#include "linkchan.h"
#include "wire/msg.h"

/* Bytes of an answer that one message holds, besides its flags. */
#define PIECE_MAX	(MSG_PAYLOAD_MAX - sizeof(uint32_t))
/* Answers that wait for the spawner: with more, nobody else is heard. */
#define BACKLOG_MOST	((size_t)2 << 20)
#define BACKLOG_MS	5

#define MSG(name, from, to, min, max, fd, states, refusal, handler)	\
	int handler(struct msg *);
#include "wire/msgs.def"
#undef MSG

static struct channel	 chan;
static const struct link_handlers *up;
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
	struct msg_out *o = msg_new(MSG_TRC_LOG, NULL, 0, 0);

	msg_put_u32(o, level);
	msg_put_str(o, line);
	(void)chan_send(&chan, o, -1);
}

void
link_open(int fd, const struct link_handlers *handlers)
{
	up = handlers;
	chan_init(&chan, ROLE_TRACER, ROLE_SPAWNER, gone, NULL);
	if (chan_open(&chan, fd, 0) == -1)
		fatalx("fd 3 is not a channel; tracer is started by "
		    "debuglanternd");
	log_init("tracer", LOG_L_DEBUG, log_to_spawner);
}

/* -- upwards -------------------------------------------------------------- */

int
tracer_on_hello(struct msg *m)
{
	static struct trc_hello hello;
	char *args = NULL;

	trc_hello_get(m, &hello);
	if (msg_end(m) == -1 || greeted)
		return -1;
	if (hello.args_len > 0) {
		args = malloc(hello.args_len);
		if (args == NULL)
			fatal("malloc");
		memcpy(args, hello.args, hello.args_len);
	}
	hello.args = args;
	greeted = true;
	up->hello(&hello);
	return 0;
}

int
tracer_on_request(struct msg *m)
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
tracer_on_conn_gone(struct msg *m)
{
	if (msg_end(m) == -1)
		return -1;
	up->conn_gone(m->hdr.conn);
	(void)chan_send(&chan, msg_new(MSG_TRC_LEFT, NULL, m->hdr.conn, 0),
	    -1);
	return 0;
}

int
tracer_on_file(struct msg *m)
{
	uint32_t which = msg_get_u32(m);

	if (msg_end(m) == -1 || which >= TRC_FILES || !greeted)
		return -1;
	up->file((enum trc_file)which, msg_take_fd(m));
	return 0;
}

int
tracer_on_used(struct msg *m)
{
	uint64_t used = msg_get_u64(m);

	if (msg_end(m) == -1 || !greeted)
		return -1;
	up->used(used);
	return 0;
}

int
tracer_on_ring(struct msg *m)
{
	(void)msg_get_u32(m);
	if (msg_end(m) == -1)
		return -1;
	up->ring(msg_take_fd(m));
	return 0;
}

int
tracer_on_output_notice(struct msg *m)
{
	uint64_t total = msg_get_u64(m);

	if (msg_end(m) == -1)
		return -1;
	up->output_notice(total);
	return 0;
}

int
tracer_on_ran(struct msg *m)
{
	pid_t pid = (pid_t)msg_get_u32(m);

	(void)msg_get_u32(m);
	if (msg_end(m) == -1 || pid <= 0 || !greeted)
		return -1;
	up->ran(pid);
	return 0;
}

int
tracer_on_run_failed(struct msg *m)
{
	char code[64], why[900];

	msg_get_str(m, code, sizeof(code));
	msg_get_str(m, why, sizeof(why));
	if (msg_end(m) == -1)
		return -1;
	up->run_failed(code, why);
	return 0;
}

int
tracer_on_ended(struct msg *m)
{
	int code = (int)msg_get_u32(m), sig = (int)msg_get_u32(m);

	if (msg_end(m) == -1)
		return -1;
	up->ended(code, sig);
	return 0;
}

int
tracer_on_symbols(struct msg *m)
{
	if (msg_end(m) == -1)
		return -1;
	up->symbols(msg_take_fd(m));
	return 0;
}

int
tracer_on_symbols_failed(struct msg *m)
{
	char why[900];

	msg_get_str(m, why, sizeof(why));
	if (msg_end(m) == -1)
		return -1;
	up->symbols_failed(why);
	return 0;
}

/* -- downwards ------------------------------------------------------------ */

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
	uint32_t flags = failed ? DBG_FAILED : 0;
	struct msg_out *o;
	size_t n;

	do {
		n = len < PIECE_MAX ? len : PIECE_MAX;
		o = msg_new(MSG_TRC_REPLY, NULL, a->conn, a->id);
		msg_put_u32(o, flags | (n < len ? DBG_MORE :
		    is_last ? DBG_LAST : 0));
		msg_put_bytes(o, json, n);
		(void)chan_send(&chan, o, -1);
		json += n;
		len -= n;
	} while (len > 0);
	if (link_is_full())
		look_backlog(NULL);
}

void
link_does(const struct ask *a, enum trc_action action)
{
	struct msg_out *o = msg_new(MSG_TRC_DOES, NULL, a->conn, a->id);

	msg_put_u32(o, action);
	(void)chan_send(&chan, o, -1);
}

/* NULL: no strings.  Leaves out the first that does not fit, and all after. */
static void
put_vec(struct msg_out *o, char *const *v)
{
	static char buf[LINK_VEC_MAX];
	size_t len = 0, n;

	for (; v != NULL && *v != NULL; v++) {
		n = strlen(*v) + 1;
		if (n > sizeof(buf) - len)
			break;
		memcpy(buf + len, *v, n);
		len += n;
	}
	msg_put_blob(o, buf, len);
}

void
link_run(const struct trc_run *r)
{
	struct msg_out *o = msg_new(MSG_TRC_RUN, NULL, 0, 0);

	msg_put_str(o, r->cwd);
	put_vec(o, r->argv);
	put_vec(o, r->envp);
	msg_put_u32(o, TRC_RUN_FLAGS);
	(void)chan_send(&chan, o, -1);
}

static void
send_plain(enum msg_type type)
{
	(void)chan_send(&chan, msg_new(type, NULL, 0, 0), -1);
}

void
link_let_go(void)
{
	send_plain(MSG_TRC_LET_GO);
}

void
link_want_symbols(void)
{
	send_plain(MSG_TRC_WANT_SYMBOLS);
}

void
link_want_files(void)
{
	send_plain(MSG_TRC_WANT_FILES);
}

void
link_want_used(void)
{
	send_plain(MSG_TRC_WANT_USED);
}

void
link_arm(uint64_t offset)
{
	struct msg_out *o = msg_new(MSG_TRC_ARM, NULL, 0, 0);

	msg_put_u64(o, offset);
	(void)chan_send(&chan, o, -1);
}

void
link_named(const char *name)
{
	struct msg_out *o = msg_new(MSG_TRC_NAMED, NULL, 0, 0);

	msg_put_str(o, name);
	(void)chan_send(&chan, o, -1);
}

void
link_state(enum trc_phase phase, uint32_t functions, pid_t pid)
{
	struct msg_out *o = msg_new(MSG_TRC_STATE, NULL, 0, 0);

	msg_put_u32(o, phase);
	msg_put_u32(o, functions);
	msg_put_u32(o, (uint32_t)pid);
	(void)chan_send(&chan, o, -1);
}

void
link_bye(void)
{
	send_plain(MSG_TRC_BYE);
}
