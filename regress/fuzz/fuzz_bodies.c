/* SPDX-License-Identifier: ISC */
/* links: common/wire/msg.c common/wire/chan.c common/base/loop.c common/wire/roles.c common/wire/fdkind.c common/wire/insthello.c common/wire/debugger_audit.c common/wire/run.c common/wire/view.c common/wire/settings.c common/base/log.c */
/* covers: common/wire/msg.c common/wire/insthello.c common/wire/debugger_audit.c common/wire/run.c common/wire/view.c common/wire/settings.c */
/*
 * Fuzz target of what messages say beside their headers: the first byte says
 * which body the rest is.  A body that is taken is written again, and reading
 * that must give the same.
 */
#include "regress/fuzz/fuzz.h"

#include "common/wire/debugger_audit.h"
#include "common/wire/msg_out.h"
#include "common/wire/run.h"
#include "common/wire/settings.h"
#include "common/wire/insthello.h"
#include "common/wire/view.h"

const msg_handler	msg_handlers[MSG_COUNT];

/* Reads the body; -1 when it is bad.  what is written must read the same. */
static int
trc(struct msg *m, struct msg_out *o)
{
	static struct trc_hello h;

	trc_hello_get(m, &h);
	if (msg_end(m) == -1)
		return -1;
	must(h.nfiles <= TRC_FILES);
	must(h.inst.args_len == 0 || h.inst.args[h.inst.args_len - 1] == '\0');
	trc_hello_put(o, &h);
	return 0;
}

static int
dbg(struct msg *m, struct msg_out *o)
{
	static struct dbg_hello h;

	dbg_hello_get(m, &h);
	if (msg_end(m) == -1)
		return -1;
	must(h.nadapters <= HELLO_ADAPTERS);
	dbg_hello_put(o, &h);
	return 0;
}

static int
run(struct msg *m, struct msg_out *o)
{
	static struct run_spec r;

	run_get(m, &r);
	if (msg_end(m) == -1)
		return -1;
	must(r.owner.ngroups <= GROUPS_MAX && r.sandbox < SANDBOX_COUNT &&
	    r.network < NETWORK_COUNT && r.cols <= TTY_SIZE_MAX &&
	    r.rows <= TTY_SIZE_MAX);
	must(r.argv_len == 0 || r.argv[r.argv_len - 1] == '\0');
	run_put(o, &r);
	return 0;
}

static int
job(struct msg *m, struct msg_out *o)
{
	static struct job_spec j;

	job_get(m, &j);
	if (msg_end(m) == -1)
		return -1;
	must(j.sandbox < SANDBOX_COUNT);
	job_put(o, &j);
	return 0;
}

static int
view(struct msg *m, struct msg_out *o)
{
	static struct session_view v;

	view_get(m, &v);
	if (msg_end(m) == -1)
		return -1;
	view_put(o, &v);
	return 0;
}

static int
conf(struct msg *m, struct msg_out *o)
{
	static struct settings s;

	memset(&s, 0, sizeof(s));
	settings_get(m, &s);
	if (msg_end(m) == -1)
		return -1;
	settings_put(o, &s);
	return 0;
}

static int
action(struct msg *m, struct msg_out *o)
{
	char name[32];
	enum dbg_action d;
	size_t len;

	(void)msg_name(msg_get_u32(m));
	(void)msg_is_secret(msg_get_u32(m) % MSG_COUNT);
	msg_get_str(m, name, sizeof(name));
	d = dbg_action_find(name);
	must(d < DBG_ACTION_COUNT);
	if (d != DBG_ACTION_NONE) {
		must(strcmp(dbg_action_name(d) + 9, name) == 0);
		(void)dbg_action_is_often(d);
	}
	msg_wipe(m, msg_get_rest(m, &len), 0);
	msg_put_u32(o, 0);
	msg_put_u32(o, 0);
	msg_put_str(o, name);
	(void)msg_take_fd(m);
	return msg_end(m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static int (*const bodies[])(struct msg *, struct msg_out *) = {
		trc, dbg, run, job, view, conf, action,
	};
	static uint8_t again[MSG_PAYLOAD_MAX];
	struct msg m = { .fd = -1 };
	struct msg_out *o;
	unsigned int which;
	char *body;
	size_t n;

	if (len == 0 || len > MSG_PAYLOAD_MAX)
		return 0;
	which = data[0] % (sizeof(bodies) / sizeof(bodies[0]));
	body = copy_of(data + 1, len - 1, false);
	m.next = (const uint8_t *)body;
	m.left = len - 1;
	o = msg_new(MSG_RESULT, NULL, 0, 0);
	if (bodies[which](&m, o) == 0) {
		must(!o->bad && msg_out_len(o) <= len + 64);
		n = msg_out_len(o);
		memcpy(again, o->payload, n);
		m = (struct msg){ .fd = -1, .next = again, .left = n };
		o = msg_new(MSG_RESULT, NULL, 0, 0);
		must(bodies[which](&m, o) == 0);
		must(msg_out_len(o) == n && memcmp(o->payload, again, n) == 0);
		msg_out_wipe(o);
	}
	free(body);
	return 0;
}
