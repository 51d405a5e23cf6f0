/* SPDX-License-Identifier: ISC */
/* Orders to the launcher on the wire. */
#include <string.h>

#include "run.h"

void
owner_put(struct msg_out *o, const struct run_owner *w)
{
	uint32_t i;

	msg_put_u32(o, w->uid);
	msg_put_u32(o, w->gid);
	msg_put_u32(o, w->ngroups);
	for (i = 0; i < w->ngroups && i < GROUPS_MAX; i++)
		msg_put_u32(o, w->groups[i]);
}

void
owner_get(struct msg *m, struct run_owner *w)
{
	uint32_t i;

	w->uid = msg_get_u32(m);
	w->gid = msg_get_u32(m);
	w->ngroups = msg_get_u32(m);
	if (w->ngroups > GROUPS_MAX) {
		w->ngroups = 0;
		m->bad = true;
	}
	for (i = 0; i < w->ngroups; i++)
		w->groups[i] = msg_get_u32(m);
}

/* A number below count, else the message is bad. */
static uint32_t
get_below(struct msg *m, uint32_t count)
{
	uint32_t v = msg_get_u32(m);

	if (v < count)
		return v;
	m->bad = true;
	return 0;
}

void
run_put(struct msg_out *o, const struct run_spec *r)
{
	size_t i;

	owner_put(o, &r->owner);
	msg_put_u32(o, r->sandbox);
	msg_put_u32(o, r->network);
	msg_put_u32(o, r->debug);
	msg_put_u32(o, r->split);
	msg_put_u32(o, r->bundle);
	msg_put_u32(o, r->control);
	msg_put_u32(o, r->watch_loader);
	msg_put_u32(o, r->file);
	msg_put_u32(o, r->command);
	msg_put_u32(o, r->adapter);
	msg_put_u32(o, r->tty);
	msg_put_u32(o, r->cols);
	msg_put_u32(o, r->rows);
	for (i = 0; i < LIMIT_COUNT; i++)
		msg_put_u64(o, r->limits[i]);
	msg_put_u64(o, r->memory);
	msg_put_u64(o, r->pids);
	msg_put_u64(o, r->user_memory);
	msg_put_u64(o, r->user_processes);
	msg_put_str(o, r->exec_path);
	msg_put_str(o, r->home);
	msg_put_str(o, r->cwd);
	msg_put_blob(o, r->argv, r->argv_len);
	msg_put_blob(o, r->envp, r->envp_len);
}

void
run_get(struct msg *m, struct run_spec *r)
{
	size_t i;

	memset(r, 0, sizeof(*r));
	owner_get(m, &r->owner);
	r->sandbox = get_below(m, SANDBOX_COUNT);
	r->network = get_below(m, NETWORK_COUNT);
	r->debug = get_below(m, 2) != 0;
	r->split = get_below(m, 2) != 0;
	r->bundle = get_below(m, 2) != 0;
	r->control = get_below(m, 2) != 0;
	r->watch_loader = get_below(m, 2) != 0;
	r->file = get_below(m, 2) != 0;
	r->command = get_below(m, 2) != 0;
	r->adapter = get_below(m, 2) != 0;
	r->tty = get_below(m, 2) != 0;
	r->cols = get_below(m, TTY_SIZE_MAX + 1);
	r->rows = get_below(m, TTY_SIZE_MAX + 1);
	for (i = 0; i < LIMIT_COUNT; i++)
		r->limits[i] = msg_get_u64(m);
	r->memory = msg_get_u64(m);
	r->pids = msg_get_u64(m);
	r->user_memory = msg_get_u64(m);
	r->user_processes = msg_get_u64(m);
	msg_get_str(m, r->exec_path, sizeof(r->exec_path));
	msg_get_str(m, r->home, sizeof(r->home));
	msg_get_str(m, r->cwd, sizeof(r->cwd));
	r->argv = msg_get_strings(m, &r->argv_len);
	r->envp = msg_get_strings(m, &r->envp_len);
}

void
job_put(struct msg_out *o, const struct job_spec *j)
{
	owner_put(o, &j->owner);
	msg_put_u32(o, j->sandbox);
	msg_put_u64(o, j->max_bytes);
	msg_put_u64(o, j->max_members);
	msg_put_u64(o, j->max_path);
	msg_put_u64(o, j->processes);
	msg_put_str(o, j->exec_path);
}

void
job_get(struct msg *m, struct job_spec *j)
{
	memset(j, 0, sizeof(*j));
	owner_get(m, &j->owner);
	j->sandbox = get_below(m, SANDBOX_COUNT);
	j->max_bytes = msg_get_u64(m);
	j->max_members = msg_get_u64(m);
	j->max_path = msg_get_u64(m);
	j->processes = msg_get_u64(m);
	msg_get_str(m, j->exec_path, sizeof(j->exec_path));
}
