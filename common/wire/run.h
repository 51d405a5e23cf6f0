/* SPDX-License-Identifier: ISC */
/* Orders of the spawner to the launcher: run a program, do a job. */
#ifndef DL_RUN_H
#define DL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"
#include "proto.h"
#include "settings.h"

#define GROUPS_MAX	256
/* The image's directory, below the state directory as a session sees it. */
#define IMAGE_NAME	"image"

/* Rights that the new process gets.  Numbers only. */
struct run_owner {
	uint32_t	 uid, gid;
	uint32_t	 ngroups;
	uint32_t	 groups[GROUPS_MAX];
};

struct run_spec {
	struct run_owner owner;
	enum sandbox	 sandbox;
	enum network	 network;
	bool		 debug;		/* stop at the first instruction */
	bool		 split;		/* a pipe of its own for stderr */
	bool		 bundle;	/* the fd is a mount namespace */
	bool		 control;	/* may be a client of the daemon */
	bool		 watch_loader;	/* fail when libraries are missing */
	bool		 file;		/* the image becomes a file inside */
	bool		 command;	/* argv[0] names it; there is no fd */
	bool		 adapter;	/* so does it, and it debugs the rest */
	bool		 tty;		/* on a terminal of that size */
	uint32_t	 cols, rows;
	uint64_t	 limits[LIMIT_COUNT];
	uint64_t	 memory, pids;	/* of the cgroup */
	/* of all that this owner runs */
	uint64_t	 user_memory, user_processes;
	/*
	 * The path in the bundle; for an image its name, without a slash, or
	 * the absolute path that the client has it from.
	 */
	char		 exec_path[EXEC_PATH_MAX];
	char		 home[256];	/* where an image starts, if it exists */
	char		 cwd[EXEC_PATH_MAX]; /* where it starts, empty = there */
	/*
	 * NUL-terminated strings one after the other, borrowed from the
	 * message (get) or the caller (put).  argv begins with argv[0].
	 */
	const char	*argv, *envp;
	size_t		 argv_len, envp_len;
};

void	run_put(struct msg_out *, const struct run_spec *);
/* Also checks every number against its range and marks bad messages. */
void	run_get(struct msg *, struct run_spec *);

/* UNPACK and PACK.  max_members and max_path are for UNPACK alone. */
struct job_spec {
	struct run_owner owner;
	enum sandbox	 sandbox;	/* of the bundle's sessions */
	uint64_t	 max_bytes, max_members, max_path;
	uint64_t	 processes;	/* of all that this owner runs */
	char		 exec_path[EXEC_PATH_MAX];
};

void	job_put(struct msg_out *, const struct job_spec *);
void	job_get(struct msg *, struct job_spec *);

void	owner_put(struct msg_out *, const struct run_owner *);
void	owner_get(struct msg *, struct run_owner *);

#endif
