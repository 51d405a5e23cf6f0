/* SPDX-License-Identifier: ISC */
/* The link: messages of the spawner to the engine, and back. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "hostpid.h"
#include "link.h"
#include "linkchan.h"
#include "wire/msg.h"

/* Bytes of an answer that fit into one message, beside its flags. */
#define PIECE_MAX	(MSG_PAYLOAD_MAX - sizeof(uint32_t))
#define VEC_MAX		(36 * 1024)

#define MSG(name, from, to, min, max, fd, states, refusal, handler)	\
	int handler(struct msg *);
#include "wire/msgs.def"
#undef MSG

static struct channel	 chan;
static const struct link_handlers *up;
static bool		 greeted;
static pid_t		 adapter_pid;
static int		 fds[DBG_FD_COUNT] = { -1, -1, -1 };
/* The last that was looked for: events repeat it. */
static pid_t		 last_inner, last_host;

_Static_assert((int)RUN_TTY == DBG_RUN_TTY &&
    (int)RUN_BESIDE == DBG_RUN_BESIDE && (int)RUN_HOST == DBG_RUN_HOST,
    "the flags of a run are the message's");

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
	struct msg_out *o = msg_new(MSG_DBG_LOG, NULL, 0, 0);

	msg_put_u32(o, level);
	msg_put_str(o, line);
	(void)chan_send(&chan, o, -1);
}

void
link_open(int fd, const struct link_handlers *handlers)
{
	up = handlers;
	chan_init(&chan, ROLE_DEBUGGER, ROLE_SPAWNER, gone, NULL);
	if (chan_open(&chan, fd, 0) == -1)
		fatalx("fd 3 is not a channel; debugger is started by "
		    "debuglanternd");
	log_init("debugger", LOG_L_DEBUG, log_to_spawner);
}

/* -- upwards -------------------------------------------------------------- */

int
debugger_on_hello(struct msg *m)
{
	static struct dbg_hello hello;
	char *args = NULL;

	dbg_hello_get(m, &hello);
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
debugger_on_ring(struct msg *m)
{
	(void)msg_get_u32(m);
	if (msg_end(m) == -1)
		return -1;
	up->ring(msg_take_fd(m));
	return 0;
}

int
debugger_on_request(struct msg *m)
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
debugger_on_gone(struct msg *m)
{
	if (msg_end(m) == -1)
		return -1;
	up->conn_gone(m->hdr.conn);
	(void)chan_send(&chan, msg_new(MSG_DBG_LEFT, NULL, m->hdr.conn, 0),
	    -1);
	return 0;
}

int
debugger_on_fd(struct msg *m)
{
	uint32_t kind = msg_get_u32(m);
	int flags = fcntl(m->fd, F_GETFL);

	if (msg_end(m) == -1 || kind >= DBG_FD_COUNT || fds[kind] != -1 ||
	    flags == -1 || fcntl(m->fd, F_SETFL, flags | O_NONBLOCK) == -1)
		return -1;
	fds[kind] = msg_take_fd(m);
	return 0;
}

int
debugger_on_ran(struct msg *m)
{
	pid_t pid = (pid_t)msg_get_u32(m), inner = (pid_t)msg_get_u32(m);
	pid_t target = (pid_t)msg_get_u32(m);
	char path[EXEC_PATH_MAX];
	int own[DBG_FD_COUNT];

	msg_get_str(m, path, sizeof(path));
	if (msg_end(m) == -1 || fds[DBG_FD_IN] == -1 ||
	    fds[DBG_FD_OUT] == -1 || fds[DBG_FD_ERR] == -1)
		return -1;
	memcpy(own, fds, sizeof(own));
	fds[DBG_FD_IN] = fds[DBG_FD_OUT] = fds[DBG_FD_ERR] = -1;
	adapter_pid = pid;
	last_inner = last_host = 0;
	up->ran(inner, target, path, own);
	return 0;
}

int
debugger_on_run_failed(struct msg *m)
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
debugger_on_ended(struct msg *m)
{
	uint32_t flags = msg_get_u32(m);
	struct dbg_end e = {
		.known = (flags & DBG_ENDED_ADAPTER) != 0,
		.program = (flags & DBG_ENDED_PROGRAM) != 0,
	};

	e.code = (int)msg_get_u32(m);
	e.signal = (int)msg_get_u32(m);
	if (msg_end(m) == -1)
		return -1;
	adapter_pid = 0;
	up->ended(&e);
	return 0;
}

int
debugger_on_drained(struct msg *m)
{
	uint64_t total = msg_get_u64(m);

	if (msg_end(m) == -1)
		return -1;
	up->drained(total);
	return 0;
}

int
debugger_on_output_notice(struct msg *m)
{
	uint64_t total = msg_get_u64(m);

	if (msg_end(m) == -1)
		return -1;
	up->output_notice(total);
	return 0;
}

/* -- downwards ------------------------------------------------------------ */

static bool	 is_last;

void
link_reply_last(void)
{
	is_last = true;
}

static void
reply(const struct ask *a, bool failed, const char *json, size_t len)
{
	uint32_t flags = failed ? DBG_FAILED : 0;
	struct msg_out *o;
	size_t n;

	do {
		n = len < PIECE_MAX ? len : PIECE_MAX;
		o = msg_new(MSG_DBG_REPLY, NULL, a->conn, a->id);
		msg_put_u32(o, flags | (n < len ? DBG_MORE :
		    is_last ? DBG_LAST : 0));
		msg_put_bytes(o, json, n);
		(void)chan_send(&chan, o, -1);
		json += n;
		len -= n;
	} while (len > 0);
}

void
link_reply(const struct ask *a, bool failed, const char *json, size_t len)
{
	static const char large[] = "{\"schema\":1,\"code\":\"too_large\","
	    "\"message\":\"the answer is longer than 256 KiB; ask for less "
	    "(max, limit, count)\"}";

	if (len > DBG_ANSWER_MAX)
		reply(a, true, large, sizeof(large) - 1);
	else
		reply(a, failed, json, len);
}

void
link_does(const struct ask *a, enum dbg_action action)
{
	struct msg_out *o = msg_new(MSG_DBG_DOES, NULL, a->conn, a->id);

	msg_put_u32(o, action);
	(void)chan_send(&chan, o, -1);
}

/* NULL is no string at all. */
static void
put_vec(struct msg_out *o, char *const *v)
{
	static char buf[VEC_MAX];
	size_t len = 0, n;

	for (; v != NULL && *v != NULL; v++) {
		n = strlen(*v) + 1;
		if (n > sizeof(buf) - len) {
			log_warnx("the program's arguments have too many bytes; "
			    "some are left out");
			break;
		}
		memcpy(buf + len, *v, n);
		len += n;
	}
	msg_put_blob(o, buf, len);
}

void
link_run(const struct dbg_run *r)
{
	struct msg_out *o = msg_new(MSG_DBG_RUN, NULL, 0, 0);

	msg_put_u32(o, r->flags);
	msg_put_str(o, r->adapter);
	msg_put_str(o, r->cwd);
	put_vec(o, r->argv);
	put_vec(o, r->envp);
	put_vec(o, r->shown);
	(void)chan_send(&chan, o, -1);
}

static void
send_plain(enum msg_type type)
{
	(void)chan_send(&chan, msg_new(type, NULL, 0, 0), -1);
}

void
link_kill(void)
{
	send_plain(MSG_DBG_KILL);
}

void
link_drain(void)
{
	send_plain(MSG_DBG_DRAIN);
}

void
link_arm(uint64_t offset)
{
	struct msg_out *o = msg_new(MSG_DBG_ARM, NULL, 0, 0);

	msg_put_u64(o, offset);
	(void)chan_send(&chan, o, -1);
}

void
link_bye(void)
{
	send_plain(MSG_DBG_BYE);
}

pid_t
link_pid(pid_t inner)
{
	if (inner == 0 || adapter_pid == 0)
		return 0;
	if (inner != last_inner || last_host == 0) {
		last_inner = inner;
		last_host = hostpid(adapter_pid, inner);
	}
	return last_host;
}

void
link_state(const struct dbg_state *s)
{
	pid_t pid = s->ended ? 0 : link_pid(s->pid);
	struct msg_out *o = msg_new(MSG_DBG_STATE, NULL, 0, 0);

	msg_put_u32(o, s->phase);
	msg_put_u32(o, (uint32_t)pid);
	msg_put_u32(o, s->ended);
	msg_put_u32(o, s->ended ? (uint32_t)s->code & 0xff : 0);
	msg_put_u32(o, s->ended ? (uint32_t)s->signal : 0);
	(void)chan_send(&chan, o, -1);
}
