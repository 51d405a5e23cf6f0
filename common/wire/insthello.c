/* SPDX-License-Identifier: ISC */
/* The spawner's first words to an instrument, on the wire. */
#include <string.h>

#include "insthello.h"

static void
session_put(struct msg_out *o, const struct inst_hello *h)
{
	msg_put_u32(o, h->user_mode);
	msg_put_u32(o, h->target_pid);
	msg_put_str(o, h->home);
	msg_put_str(o, h->session);
	msg_put_str(o, h->id);
	msg_put_str(o, h->program);
	msg_put_blob(o, h->args, h->args_len);
}

static void
session_get(struct msg *m, struct inst_hello *h)
{
	h->user_mode = msg_get_u32(m) != 0;
	h->target_pid = msg_get_u32(m);
	msg_get_str(m, h->home, sizeof(h->home));
	msg_get_str(m, h->session, sizeof(h->session));
	msg_get_str(m, h->id, sizeof(h->id));
	msg_get_str(m, h->program, sizeof(h->program));
	h->args = msg_get_strings(m, &h->args_len);
}

void
dbg_hello_put(struct msg_out *o, const struct dbg_hello *h)
{
	size_t i;

	session_put(o, &h->inst);
	msg_put_u32(o, h->image);
	msg_put_u32(o, h->narrow);
	msg_put_u32(o, h->on_tty);
	msg_put_u32(o, h->initialize_s);
	msg_put_u32(o, h->request_s);
	msg_put_u32(o, h->await_s);
	msg_put_u32(o, h->max_events);
	msg_put_u64(o, h->max_bytes);
	msg_put_u32(o, (uint32_t)h->nadapters);
	for (i = 0; i < h->nadapters; i++) {
		msg_put_str(o, h->adapters[i].name);
		msg_put_str(o, h->adapters[i].command);
	}
}

void
dbg_hello_get(struct msg *m, struct dbg_hello *h)
{
	size_t i;

	memset(h, 0, sizeof(*h));
	session_get(m, &h->inst);
	h->image = msg_get_u32(m) != 0;
	h->narrow = msg_get_u32(m) != 0;
	h->on_tty = msg_get_u32(m) != 0;
	h->initialize_s = msg_get_u32(m);
	h->request_s = msg_get_u32(m);
	h->await_s = msg_get_u32(m);
	h->max_events = msg_get_u32(m);
	h->max_bytes = msg_get_u64(m);
	h->nadapters = msg_get_u32(m);
	if (h->nadapters > HELLO_ADAPTERS) {
		h->nadapters = 0;
		m->bad = true;
	}
	for (i = 0; i < h->nadapters; i++) {
		msg_get_str(m, h->adapters[i].name,
		    sizeof(h->adapters[i].name));
		msg_get_str(m, h->adapters[i].command,
		    sizeof(h->adapters[i].command));
	}
}

void
trc_hello_put(struct msg_out *o, const struct trc_hello *h)
{
	session_put(o, &h->inst);
	msg_put_u32(o, h->made);
	msg_put_u32(o, h->resumed);
	msg_put_u32(o, h->nfiles);
	msg_put_u64(o, h->started_ns);
	msg_put_u64(o, h->calls_bytes);
	msg_put_u64(o, h->output_bytes);
	msg_put_u64(o, h->user_bytes);
	msg_put_u64(o, h->budget);
	msg_put_str(o, h->timeline);
	msg_put_u32(o, h->forget);
}

void
trc_hello_get(struct msg *m, struct trc_hello *h)
{
	memset(h, 0, sizeof(*h));
	session_get(m, &h->inst);
	h->made = msg_get_u32(m) != 0;
	h->resumed = msg_get_u32(m) != 0;
	h->nfiles = msg_get_u32(m);
	h->started_ns = msg_get_u64(m);
	h->calls_bytes = msg_get_u64(m);
	h->output_bytes = msg_get_u64(m);
	h->user_bytes = msg_get_u64(m);
	h->budget = msg_get_u64(m);
	msg_get_str(m, h->timeline, sizeof(h->timeline));
	h->forget = msg_get_u32(m) != 0;
	if (h->nfiles > TRC_FILES)
		m->bad = true;
}
