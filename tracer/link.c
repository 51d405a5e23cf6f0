/* SPDX-License-Identifier: ISC */
/* The link: messages of the spawner to the tracer, and back. */
#include <unistd.h>

#include "linkchan.h"
#include "log.h"
#include "msg.h"
#include "trchello.h"

#define MSG(name, from, to, min, max, fd, states, refusal, handler)	\
	int handler(struct msg *);
#include "msgs.def"
#undef MSG

static struct channel	 chan;

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
link_open(int fd)
{
	chan_init(&chan, ROLE_TRACER, ROLE_SPAWNER, gone, NULL);
	if (chan_open(&chan, fd, 0) == -1)
		fatalx("fd 3 is not a channel; tracer is started by "
		    "debuglanternd");
	log_init("tracer", LOG_L_DEBUG, log_to_spawner);
}

int
tracer_on_hello(struct msg *m)
{
	static struct trc_hello hello;

	trc_hello_get(m, &hello);
	return msg_end(m);
}

int
tracer_on_request(struct msg *m)
{
	static const char none[] = "{\"code\":\"NOT_SUPPORTED\",\"message\":"
	    "\"there is no such request\",\"next\":\"ask for something else\"}";
	struct msg_out *o = msg_new(MSG_TRC_REPLY, NULL, m->hdr.conn,
	    m->hdr.request);

	msg_put_u32(o, DBG_FAILED);
	msg_put_bytes(o, none, sizeof(none) - 1);
	(void)chan_send(&chan, o, -1);
	return 0;
}

int
tracer_on_conn_gone(struct msg *m)
{
	if (msg_end(m) == -1)
		return -1;
	(void)chan_send(&chan, msg_new(MSG_TRC_LEFT, NULL, m->hdr.conn, 0),
	    -1);
	return 0;
}

int
tracer_on_file(struct msg *m)
{
	(void)msg_get_u32(m);
	return msg_end(m);
}

int
tracer_on_ring(struct msg *m)
{
	(void)msg_get_u32(m);
	return msg_end(m);
}

int
tracer_on_doorbell(struct msg *m)
{
	(void)msg_get_u64(m);
	return msg_end(m);
}

int
tracer_on_ran(struct msg *m)
{
	(void)msg_get_u32(m);
	(void)msg_get_u32(m);
	return msg_end(m);
}

int
tracer_on_run_failed(struct msg *m)
{
	char code[64], why[900];

	msg_get_str(m, code, sizeof(code));
	msg_get_str(m, why, sizeof(why));
	return msg_end(m);
}

int
tracer_on_ended(struct msg *m)
{
	(void)msg_get_u32(m);
	(void)msg_get_u32(m);
	return msg_end(m);
}

int
tracer_on_symbols(struct msg *m)
{
	return msg_end(m);
}

int
tracer_on_symbols_failed(struct msg *m)
{
	char why[900];

	msg_get_str(m, why, sizeof(why));
	return msg_end(m);
}
