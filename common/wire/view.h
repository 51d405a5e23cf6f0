/* SPDX-License-Identifier: ISC */
/*
 * A session as its owner sees it: what the spawner pushes to netproc at
 * every change, and what STATUS and LIST are made from.
 */
#ifndef DL_VIEW_H
#define DL_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"
#include "proto.h"

struct session_view {
	uint32_t	 owner;		/* uid */
	char		 owner_name[USER_NAME_MAX];
	uint32_t	 state;		/* LOADED, RUNNING, DEBUGGING, STOPPED */
	int32_t		 pid;		/* 0 = none */
	uint32_t	 debug_port;	/* 0 = none */
	uint32_t	 run;		/* counts starts; ring belongs to it */
	bool		 bundle;
	bool		 tty;
	bool		 split;
	bool		 command;	/* of the host, no image */
	bool		 ephemeral;
	uint32_t	 cols, rows;	/* of the terminal, 0 = none */
	bool		 debugger;	/* it has one; what that does: */
	bool		 debugger_current;	/* its owner's, without a name */
	uint32_t	 debugger_phase;	/* enum dbg_phase */
	char		 debugger_adapter[32];	/* empty = none yet */
	bool		 tracer;	/* it has one, */
	uint32_t	 tracer_phase;	/* enum trc_phase, */
	uint32_t	 tracer_functions;	/* which traces so many */
	/* what held for the last run; of use when it has started */
	uint32_t	 sandbox, network;
	uint64_t	 limits[LIMIT_COUNT];
	bool		 has_exit_code;
	uint32_t	 exit_code;
	uint32_t	 signal;	/* 0 = none */
	bool		 out_of_memory;	/* why that was SIGKILL */
	uint64_t	 size;		/* bytes uploaded */
	int64_t		 created_ns;	/* CLOCK_REALTIME */
	int64_t		 started_ns;	/* 0 = never */
	int64_t		 exited_ns;
	char		 exec_path[EXEC_PATH_MAX];
	char		 bundle_dir[256];
	char		 name[LABEL_MAX + 1];	/* label, empty = none */
	/* as typed; points into the message or the registry: borrowed */
	const char	*args;
	size_t		 args_len;
	/* a command and its arguments, each with its NUL: borrowed */
	const char	*cmd;
	size_t		 cmd_len;
	/* KEY=VALUE strings, each with its NUL, sorted by key: borrowed */
	const char	*env;
	size_t		 env_len;
	/* "bob:ro" strings, each with its NUL: borrowed */
	const char	*shares;
	size_t		 shares_len;
	/* sentences about the last run, each with its NUL: borrowed */
	const char	*warnings;
	size_t		 warnings_len;
};

void	view_put(struct msg_out *, const struct session_view *);
/* args and env point into the message: copy them if they must live on. */
void	view_get(struct msg *, struct session_view *);

#endif
