/* SPDX-License-Identifier: ISC */
/* The spawner's first words to a tracer's process, on the wire. */
#include <string.h>

#include "trchello.h"

void
trc_hello_put(struct msg_out *o, const struct trc_hello *h)
{
	msg_put_u32(o, h->user_mode);
	msg_put_u32(o, h->made);
	msg_put_u32(o, h->resumed);
	msg_put_u32(o, h->nfiles);
	msg_put_u32(o, h->target_pid);
	msg_put_u64(o, h->started_ns);
	msg_put_u64(o, h->calls_bytes);
	msg_put_u64(o, h->output_bytes);
	msg_put_u64(o, h->user_bytes);
	msg_put_u64(o, h->budget);
	msg_put_str(o, h->home);
	msg_put_str(o, h->session);
	msg_put_str(o, h->id);
	msg_put_str(o, h->timeline);
	msg_put_u32(o, h->forget);
	msg_put_str(o, h->program);
	msg_put_blob(o, h->args, h->args_len);
}

void
trc_hello_get(struct msg *m, struct trc_hello *h)
{
	memset(h, 0, sizeof(*h));
	h->user_mode = msg_get_u32(m) != 0;
	h->made = msg_get_u32(m) != 0;
	h->resumed = msg_get_u32(m) != 0;
	h->nfiles = msg_get_u32(m);
	h->target_pid = msg_get_u32(m);
	h->started_ns = msg_get_u64(m);
	h->calls_bytes = msg_get_u64(m);
	h->output_bytes = msg_get_u64(m);
	h->user_bytes = msg_get_u64(m);
	h->budget = msg_get_u64(m);
	msg_get_str(m, h->home, sizeof(h->home));
	msg_get_str(m, h->session, sizeof(h->session));
	msg_get_str(m, h->id, sizeof(h->id));
	msg_get_str(m, h->timeline, sizeof(h->timeline));
	h->forget = msg_get_u32(m) != 0;
	msg_get_str(m, h->program, sizeof(h->program));
	h->args = msg_get_strings(m, &h->args_len);
	if (h->nfiles > TRC_FILES)
		m->bad = true;
}
