/* SPDX-License-Identifier: ISC */
/* The link: messages of the spawner to the engine, and back. */
#include <fcntl.h>
#include <string.h>

#include "base/log.h"
#include "hostpid.h"
#include "link.h"
#include "wire/msg.h"

/* Bytes of each: one message has three. */
#define VEC_MAX		(36 * 1024)

#define MSG(name, from, to, min, max, fd, states, refusal, handler)	\
	int handler(struct msg *);
#include "wire/msgs.def"
#undef MSG

static const struct link_handlers *up;
static pid_t		 adapter_pid;
static int		 fds[DBG_FD_COUNT] = { -1, -1, -1 };
/* The last that was looked for: events repeat it. */
static pid_t		 last_inner, last_host;

_Static_assert((int)RUN_TTY == DBG_RUN_TTY &&
    (int)RUN_BESIDE == DBG_RUN_BESIDE && (int)RUN_HOST == DBG_RUN_HOST,
    "the flags of a run are the message's");

void
link_open(int fd, const struct link_handlers *handlers)
{
	up = handlers;
	link_begin(fd, ROLE_DEBUGGER, &handlers->calls);
}

/* -- upwards -------------------------------------------------------------- */

int
debugger_on_hello(struct msg *m)
{
	static struct dbg_hello hello;

	dbg_hello_get(m, &hello);
	if (msg_end(m) == -1 || !link_greet())
		return -1;
	hello.inst.args = link_keep(hello.inst.args, hello.inst.args_len);
	up->hello(&hello);
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

/* -- downwards ------------------------------------------------------------ */

void
link_run(const struct dbg_run *r)
{
	struct msg_out *o = msg_new(MSG_DBG_RUN, NULL, 0, 0);
	bool whole;

	msg_put_u32(o, r->flags);
	msg_put_str(o, r->adapter);
	msg_put_str(o, r->cwd);
	whole = link_put_vec(o, r->argv, VEC_MAX);
	whole &= link_put_vec(o, r->envp, VEC_MAX);
	whole &= link_put_vec(o, r->shown, VEC_MAX);
	link_send(o);
	if (!whole)
		log_warnx("the program's arguments have too many bytes; some "
		    "are left out");
}

void
link_kill(void)
{
	link_send_plain(MSG_DBG_KILL);
}

void
link_drain(void)
{
	link_send_plain(MSG_DBG_DRAIN);
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
	link_send(o);
}
