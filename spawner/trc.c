/* SPDX-License-Identifier: ISC */
/* A session's tracer: its process and what it may ask for. */
#include "answer.h"
#include "handlers.h"

static int
refuse(struct msg *m, bool is_start)
{
	struct asker a;

	if (!asker_init(&a, m, is_start ? "TRACER start" : NULL))
		return -1;
	answer(&a, &m->hdr.session, ERR_NO_TRACER, NULL);
	return 0;
}

int
spawn_on_trc_start(struct msg *m)
{
	return refuse(m, true);
}

int
spawn_on_trc_ask(struct msg *m)
{
	return refuse(m, false);
}

int
spawn_on_trc_reply(struct msg *m)
{
	(void)m;
	return -1;
}

int
spawn_on_trc_left(struct msg *m)
{
	(void)m;
	return -1;
}

int
spawn_on_trc_does(struct msg *m)
{
	(void)m;
	return -1;
}

int
spawn_on_trc_run(struct msg *m)
{
	(void)m;
	return -1;
}

int
spawn_on_trc_let_go(struct msg *m)
{
	(void)m;
	return -1;
}

int
spawn_on_trc_want_symbols(struct msg *m)
{
	(void)m;
	return -1;
}

int
spawn_on_trc_want_files(struct msg *m)
{
	(void)m;
	return -1;
}

int
spawn_on_trc_arm(struct msg *m)
{
	(void)m;
	return -1;
}

int
spawn_on_trc_state(struct msg *m)
{
	(void)m;
	return -1;
}

int
spawn_on_trc_bye(struct msg *m)
{
	(void)m;
	return -1;
}

int
spawn_on_trc_log(struct msg *m)
{
	(void)m;
	return -1;
}
