/* SPDX-License-Identifier: ISC */
/* Sessions on the wire. */
#include <string.h>

#include "view.h"

void
view_put(struct msg_out *o, const struct session_view *v)
{
	size_t i;

	msg_put_u32(o, v->owner);
	msg_put_str(o, v->owner_name);
	msg_put_u32(o, v->state);
	msg_put_u32(o, (uint32_t)v->pid);
	msg_put_u32(o, v->debug_port);
	msg_put_u32(o, v->run);
	msg_put_u32(o, v->bundle);
	msg_put_u32(o, v->tty);
	msg_put_u32(o, v->split);
	msg_put_u32(o, v->command);
	msg_put_u32(o, v->ephemeral);
	msg_put_u32(o, v->cols);
	msg_put_u32(o, v->rows);
	msg_put_u32(o, v->debugger);
	msg_put_u32(o, v->debugger_current);
	msg_put_u32(o, v->debugger_phase);
	msg_put_str(o, v->debugger_adapter);
	msg_put_u32(o, v->tracer);
	msg_put_u32(o, v->tracer_phase);
	msg_put_u32(o, v->tracer_functions);
	msg_put_u32(o, v->sandbox);
	msg_put_u32(o, v->network);
	for (i = 0; i < LIMIT_COUNT; i++)
		msg_put_u64(o, v->limits[i]);
	msg_put_u32(o, v->has_exit_code);
	msg_put_u32(o, v->exit_code);
	msg_put_u32(o, v->signal);
	msg_put_u32(o, v->out_of_memory);
	msg_put_u64(o, v->size);
	msg_put_u64(o, (uint64_t)v->created_ns);
	msg_put_u64(o, (uint64_t)v->started_ns);
	msg_put_u64(o, (uint64_t)v->exited_ns);
	msg_put_str(o, v->exec_path);
	msg_put_str(o, v->bundle_dir);
	msg_put_str(o, v->name);
	msg_put_blob(o, v->args, v->args_len);
	msg_put_blob(o, v->cmd, v->cmd_len);
	msg_put_blob(o, v->env, v->env_len);
	msg_put_blob(o, v->shares, v->shares_len);
	msg_put_blob(o, v->warnings, v->warnings_len);
}

void
view_get(struct msg *m, struct session_view *v)
{
	size_t i;

	memset(v, 0, sizeof(*v));
	v->owner = msg_get_u32(m);
	msg_get_str(m, v->owner_name, sizeof(v->owner_name));
	v->state = msg_get_u32(m);
	v->pid = (int32_t)msg_get_u32(m);
	v->debug_port = msg_get_u32(m);
	v->run = msg_get_u32(m);
	v->bundle = msg_get_u32(m) != 0;
	v->tty = msg_get_u32(m) != 0;
	v->split = msg_get_u32(m) != 0;
	v->command = msg_get_u32(m) != 0;
	v->ephemeral = msg_get_u32(m) != 0;
	v->cols = msg_get_u32(m);
	v->rows = msg_get_u32(m);
	v->debugger = msg_get_u32(m) != 0;
	v->debugger_current = msg_get_u32(m) != 0;
	v->debugger_phase = msg_get_u32(m);
	msg_get_str(m, v->debugger_adapter, sizeof(v->debugger_adapter));
	v->tracer = msg_get_u32(m) != 0;
	v->tracer_phase = msg_get_u32(m);
	v->tracer_functions = msg_get_u32(m);
	v->sandbox = msg_get_u32(m);
	v->network = msg_get_u32(m);
	for (i = 0; i < LIMIT_COUNT; i++)
		v->limits[i] = msg_get_u64(m);
	v->has_exit_code = msg_get_u32(m) != 0;
	v->exit_code = msg_get_u32(m);
	v->signal = msg_get_u32(m);
	v->out_of_memory = msg_get_u32(m) != 0;
	v->size = msg_get_u64(m);
	v->created_ns = (int64_t)msg_get_u64(m);
	v->started_ns = (int64_t)msg_get_u64(m);
	v->exited_ns = (int64_t)msg_get_u64(m);
	msg_get_str(m, v->exec_path, sizeof(v->exec_path));
	msg_get_str(m, v->bundle_dir, sizeof(v->bundle_dir));
	msg_get_str(m, v->name, sizeof(v->name));
	v->args = msg_get_blob(m, &v->args_len);
	v->cmd = msg_get_strings(m, &v->cmd_len);
	v->env = msg_get_strings(m, &v->env_len);
	v->shares = msg_get_strings(m, &v->shares_len);
	v->warnings = msg_get_strings(m, &v->warnings_len);
}
