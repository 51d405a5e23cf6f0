/* SPDX-License-Identifier: ISC */
/* The link: messages of the spawner to the tracer, and back. */
#include "link.h"
#include "wire/msg.h"

#define MSG(name, from, to, min, max, fd, states, refusal, handler)	\
	int handler(struct msg *);
#include "wire/msgs.def"
#undef MSG

static const struct link_handlers *up;

void
trace_link_open(int fd, const struct link_handlers *handlers)
{
	up = handlers;
	link_begin(fd, ROLE_TRACER, &handlers->calls);
}

/* -- upwards -------------------------------------------------------------- */

int
tracer_on_hello(struct msg *m)
{
	static struct trc_hello hello;

	trc_hello_get(m, &hello);
	if (msg_end(m) == -1 || !link_greet())
		return -1;
	hello.inst.args = link_keep(hello.inst.args, hello.inst.args_len);
	up->hello(&hello);
	return 0;
}

int
tracer_on_file(struct msg *m)
{
	uint32_t which = msg_get_u32(m);

	if (msg_end(m) == -1 || which >= TRC_FILES || !link_is_greeted())
		return -1;
	up->file((enum trc_file)which, msg_take_fd(m));
	return 0;
}

int
tracer_on_used(struct msg *m)
{
	uint64_t used = msg_get_u64(m);

	if (msg_end(m) == -1 || !link_is_greeted())
		return -1;
	up->used(used);
	return 0;
}

int
tracer_on_ran(struct msg *m)
{
	pid_t pid = (pid_t)msg_get_u32(m);

	(void)msg_get_u32(m);
	if (msg_end(m) == -1 || pid <= 0 || !link_is_greeted())
		return -1;
	up->ran(pid);
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

void
trace_link_run(const struct trc_run *r)
{
	struct msg_out *o = msg_new(MSG_TRC_RUN, NULL, 0, 0);

	msg_put_str(o, r->cwd);
	(void)link_put_vec(o, r->argv, LINK_VEC_MAX);
	(void)link_put_vec(o, r->envp, LINK_VEC_MAX);
	msg_put_u32(o, TRC_RUN_FLAGS);
	link_send(o);
}

void
link_let_go(void)
{
	link_send_plain(MSG_TRC_LET_GO);
}

void
link_want_symbols(void)
{
	link_send_plain(MSG_TRC_WANT_SYMBOLS);
}

void
link_want_files(void)
{
	link_send_plain(MSG_TRC_WANT_FILES);
}

void
link_want_used(void)
{
	link_send_plain(MSG_TRC_WANT_USED);
}

void
link_named(const char *name)
{
	struct msg_out *o = msg_new(MSG_TRC_NAMED, NULL, 0, 0);

	msg_put_str(o, name);
	link_send(o);
}

void
trace_link_state(enum trc_phase phase, uint32_t functions, pid_t pid)
{
	struct msg_out *o = msg_new(MSG_TRC_STATE, NULL, 0, 0);

	msg_put_u32(o, phase);
	msg_put_u32(o, functions);
	msg_put_u32(o, (uint32_t)pid);
	link_send(o);
}
