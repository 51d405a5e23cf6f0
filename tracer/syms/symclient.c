/* SPDX-License-Identifier: ISC */
/* The tracer's end of the channel to a symbols process. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "symclient.h"
#include "wire/capture.h"

#define MSG(name, from, to, min, max, fd, states, refusal, handler)	\
	int handler(struct msg *);
#include "wire/msgs.def"
#undef MSG

static struct symclient *
client_of(struct channel *c)
{
	return (struct symclient *)(void *)((char *)c -
	    offsetof(struct symclient, chan));
}

static void
on_gone(struct channel *c, const char *why)
{
	struct symclient *s = client_of(c);

	s->ops->gone(s->arg, why);
}

int
symclient_init(struct symclient *s, int fd, const struct symclient_ops *ops,
    void *arg)
{
	memset(s, 0, sizeof(*s));
	s->ops = ops;
	s->arg = arg;
	chan_init(&s->chan, ROLE_TRACER, ROLE_SYMBOLS, on_gone, NULL);
	return chan_open(&s->chan, fd, 0);
}

void
symclient_close(struct symclient *s)
{
	chan_close(&s->chan);
}

static int
ask(struct symclient *s, enum msg_type type, int fd)
{
	return chan_send(&s->chan, msg_new(type, NULL, 0, ++s->request), fd);
}

int
symclient_open(struct symclient *s, int binary_fd)
{
	int flags = fcntl(binary_fd, F_GETFL);

	if (flags == -1 || (flags & O_ACCMODE) != O_RDONLY) {
		if (flags != -1)
			close(binary_fd);
		errno = EINVAL;
		return -1;
	}
	return ask(s, MSG_SYM_OPEN, binary_fd);
}

int
symclient_scan(struct symclient *s)
{
	return ask(s, MSG_SYM_SCAN, -1);
}

int
symclient_types(struct symclient *s, const uint32_t *dies, size_t n)
{
	struct msg_out *o = msg_new(MSG_SYM_TYPES, NULL, 0, ++s->request);
	size_t i;

	msg_put_u32(o, (uint32_t)n);
	for (i = 0; i < n; i++)
		msg_put_u32(o, dies[i]);
	return chan_send(&s->chan, o, -1);
}

/* -- answers -------------------------------------------------------------- */

int
tracer_on_sym_opened(struct msg *m)
{
	struct symclient *s = client_of(m->chan);
	uint64_t size = msg_get_u64(m);
	char id[SYM_BUILD_ID * 2 + 1];

	msg_get_str(m, id, sizeof(id));
	if (msg_end(m) == -1 || id[strspn(id, "0123456789abcdef")] != '\0')
		return -1;
	s->ops->opened(s->arg, size, id);
	return 0;
}

int
tracer_on_sym_index(struct msg *m)
{
	struct symclient *s = client_of(m->chan);

	(void)msg_get_u64(m);
	if (msg_end(m) == -1)
		return -1;
	s->ops->index(s->arg, msg_take_fd(m));
	return 0;
}

static bool
is_step(const struct capture *c)
{
	return c->op != CAP_END && c->op < CAP_OPS && c->reg < 16 &&
	    c->len > 0 && c->len <= CAPTURE_LEN_MAX &&
	    (c->op != CAP_REG || c->len <= 8) &&
	    (c->op != CAP_VEC || c->len <= 16) &&
	    (c->op != CAP_X87 || c->len == 16) &&
	    (c->op != CAP_REGSLICE || (c->off >= 0 && c->off < 16)) &&
	    (!capture_is_slice(c) || (c->scale > 0 && c->scale <= CAPTURE_LEN_MAX));
}

/* Whole steps, no more than there may be, and each within its bounds. */
static const void *
get_steps(struct msg *m, size_t *n)
{
	const char *p;
	struct capture c;
	size_t len, i;

	p = msg_get_blob(m, &len);
	if (len % sizeof(struct capture) != 0 ||
	    len / sizeof(struct capture) > CAPTURE_MAX)
		m->bad = true;
	*n = m->bad ? 0 : len / sizeof(c);
	for (i = 0; i < *n; i++) {
		memcpy(&c, p + i * sizeof(c), sizeof(c));
		if (!is_step(&c))
			m->bad = true;
	}
	return p;
}

int
tracer_on_sym_typed(struct msg *m)
{
	struct symclient *s = client_of(m->chan);
	struct sym_typed t;

	t.die = msg_get_u32(m);
	t.enter = get_steps(m, &t.nenter);
	t.leave = get_steps(m, &t.nleave);
	t.desc = msg_get_blob(m, &t.desc_len);
	if (msg_end(m) == -1)
		return -1;
	s->ops->typed(s->arg, &t);
	return 0;
}

int
tracer_on_sym_failed(struct msg *m)
{
	struct symclient *s = client_of(m->chan);
	char code[64], why[512];

	msg_get_str(m, code, sizeof(code));
	msg_get_str(m, why, sizeof(why));
	if (msg_end(m) == -1)
		return -1;
	s->ops->failed(s->arg, code, why);
	return 0;
}
