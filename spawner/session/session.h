/* SPDX-License-Identifier: ISC */
/* A session: image, process tree, I/O and debugger; and the registry. */
#ifndef SPAWNER_SESSION_H
#define SPAWNER_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "access.h"
#include "base/loop.h"
#include "spawner/client/answer.h"
#include "spawner/run/output_flow.h"
#include "wire/proto.h"
#include "wire/ring.h"
#include "wire/view.h"

#define SID_TEXT	37

struct dbgproc;
struct guest;
struct archive_job;
struct tty;
struct trcproc;
struct session;

/* A pipe that is drained into the ring. */
struct stream {
	struct loop_io	 io;
	struct session	*session;
	uint32_t	 number;	/* 0 both, 1 stdout, 2 stderr */
};

/*
 * An adapter to be started in the program's place: what a debugger has asked
 * for.  Or the program itself, for a tracer, as any other start has it.
 */
struct adapter_order {
	bool		 traced;	/* argv is the session's own */
	char		 name[32];
	char		 cwd[EXEC_PATH_MAX];	/* empty = the session's */
	/* NUL-terminated strings one after the other; variables on top */
	const char	*argv, *envp;
	size_t		 argv_len, envp_len;
};

/* Between START and the launcher's answer. */
struct start {
	struct asker	 asker;
	uint64_t	 serial;	/* 0 = no start under way */
	uint32_t	 flags, sandbox, network, cols, rows;
	uint64_t	 limits[LIMIT_COUNT];
	struct tty	*tty;		/* of the run to come; NULL = pipes */
	struct adapter_order *order;	/* malloc'ed; NULL = a plain start */
	int		 fds[RUN_FD_COUNT];
	struct ring	 ring;		/* of the run to come */
	struct loop_timer timer;
	enum session_state before;
};

enum stop_stage {
	STOP_NONE,
	STOP_HUP,	/* SIGHUP sent to the tree of a terminal */
	STOP_TERM,	/* SIGTERM sent to the tree */
	STOP_KILL,	/* SIGKILL sent to the tree */
	STOP_STUB,	/* SIGKILL sent to its first process */
	STOP_FAILED
};

struct stop {
	enum stop_stage	 stage;
	uint64_t	 serial;	/* of the last SEND_SIGNAL */
	struct loop_timer timer;
	struct asker	*waiting;	/* malloc'ed */
	size_t		 nwaiting;
};

enum gdb_phase {
	GDB_NONE,
	GDB_ATTACHING,	/* the launcher has been asked */
	GDB_WATCHING,		/* gdbserver runs, "Attached" is awaited */
	GDB_OFFERED,		/* netproc has its socket */
	GDB_ACTIVE,
	GDB_ENDING		/* told to go, its pidfd is awaited */
};

struct gdbserver {
	enum gdb_phase phase;
	struct asker	 asker;		/* DEBUG, or START with --debug */
	uint64_t	 serial;
	bool		 by_pipe;
	bool		 of_start;	/* the program has not run yet */
	bool		 offered;	/* netproc was given the socket */
	int		 fds[ATTACH_FD_COUNT];
	struct loop_io	 errors_io, pid_io;
	struct loop_timer timer;
	char		 said[1024];	/* its stderr, the beginning */
	size_t		 said_len;
};

/* Task of a tracer, present or past, until its timeline is unwanted. */
struct traced {
	bool		 on;
	char		 name[256];	/* of its files at home; empty = none */
	bool		 forget;	/* and removing these is all it is for */
	unsigned int	 tries;		/* of that */
	bool		 made;		/* the session was made for it, to run: */
	char		*path;		/* malloc'ed; NULL = nothing yet */
	uint32_t	 sandbox, network;	/* in which */
	int		 files[TRC_FILES];	/* in memory; -1 = not so */
};

/* Another user who may see or use the session. */
struct share {
	uint32_t	 uid;
	enum access	 access;
	bool		 accepted;	/* that user has used it by its id */
	char		 name[USER_NAME_MAX];
};

/* Why a start with a debugger failed; told when it has been undone. */
struct refusal {
	struct asker	 asker;
	enum err	 code;
	char		*text;		/* malloc'ed; NULL = the code's own */
};

struct session {
	TAILQ_ENTRY(session) entry;
	LIST_ENTRY(session) hash;
	struct sid	 id;
	char		 text[SID_TEXT];
	enum session_state state;
	struct owner	*owner;
	struct session_view view;	/* what its owner sees */
	uint64_t	 bytes;		/* counted against the quota */
	int		 image_fd;	/* memfd, bundle or half upload */
	uint32_t	 upload_conn;
	bool		 upload_open;	/* its size is known at its end */
	/* name of the uploaded file, or its path there; empty = not known */
	char		 file[EXEC_PATH_MAX];
	bool		 narrow;	/* an image of 32 bits */
	struct archive_job	*job;		/* unpacks it; NULL = none */

	struct viewer_access_list viewer_accesses;
	struct viewer_access own_access[2]; /* its owner's, by viewer.admin */
	LIST_HEAD(, guest) guests;
	struct share	*shares;	/* malloc'ed */
	size_t		 nshares;
	char		*shares_text;	/* malloc'ed; view borrows it */
	char		*warnings;	/* likewise */

	/* malloc'ed: as typed, split, and KEY=VALUE strings; view borrows */
	char		*args, *argv, *env;
	size_t		 argv_len;
	/* a command: its name, and that with argv; malloc'ed, view borrows */
	char		*program, *cmd;
	char		 cwd[EXEC_PATH_MAX];	/* empty = home */
	bool		 on_tty;	/* every run is */
	bool		 by_rule;	/* made by auth none */
	uint64_t	 made_ms;
	uint64_t	 active_ms;	/* last output or use */
	struct loop_timer expiry_timer;	/* of ephemeral ones */
	uint64_t	 limits[LIMIT_COUNT];	/* LIMIT_UNLIMITED = not set */

	struct start	 start;
	struct stop	 stop;
	struct gdbserver gdb;
	struct refusal	 refusal;
	struct dbgproc	*dbg;		/* NULL = it has no debugger */
	struct trcproc	*trc;		/* NULL if not traced */
	struct traced	 traced;
	bool		 forget;	/* when its tree has gone */

	/* the run */
	int		 stdin_fd, status_fd, stub_fd, target_fd;
	struct stream	 out, err;
	struct tty	*tty;		/* of the last run; NULL = pipes */
	struct flow	 flow;
	bool		 ending;	/* its tree is gone, its output is not */
	struct loop_io	 status_io, stub_io;
	uint32_t	 inner_pid;	/* in its own pid namespace */
	struct {
		int	 events_fd;	/* memory.events; -1 = no limit */
		uint64_t before;	/* kills in runs before this */
	}		 oom;
	uint32_t	 sandbox;
	bool		 adapter;	/* what runs is a debugger's, */
	bool		 elsewhere;	/* and what it debugs is no session's */
	uint32_t	 proven;	/* 1 << sandbox: its loader found all */
	struct ring	 ring;
	struct {
		bool	 asked, told;	/* the launcher, netproc */
		bool	 still;		/* and that nothing goes on */
		uint64_t cpu_ns, memory;
	}		 usage;		/* as told */
	bool		 armed;		/* netproc waits for a OUTPUT_NOTICE */
	uint64_t	 armed_at;
};

TAILQ_HEAD(session_list, session);
extern struct session_list sessions;
#define SESSION_FOREACH(s)	TAILQ_FOREACH(s, &sessions, entry)
#define SESSION_FOREACH_SAFE(s, tmp)					\
	for ((s) = TAILQ_FIRST(&sessions);				\
	    (s) != NULL && ((tmp) = TAILQ_NEXT(s, entry), 1); (s) = (tmp))

/* Calls to the parts of a session as it begins and ends. */
struct session_hooks {
	void	(*begins)(struct session *);
	/* Its users are told that it goes; then all that is its own ends. */
	void	(*unshown)(struct session *);
	void	(*ends)(struct session *);
	/* Nothing can happen to it any more. */
	void	(*freed)(struct session *);
};

/* Borrows the hooks for good. */
void		 session_init(const struct session_hooks *);
/* A new session in state UPLOADING; NULL with errno. */
struct session	*session_new(struct owner *);
/* Ends everything that belongs to it; the caller has told its users. */
void		 session_free(struct session *);
struct session	*session_find(const struct sid *);
size_t		 session_count(void);
/* Bytes of all images and bundles, uploads under way included. */
uint64_t	 session_bytes(void);
/* Also keeps the parent's count of live sessions right, except at STARTING. */
void		 session_set_state(struct session *, enum session_state);
/* Tells the parent how many are alive, if that is news. */
void		 session_tell_alive(void);
bool		 session_is_shown(const struct session *);
/* Sessions of all users that are being started, running or debugged. */
unsigned int	 session_alive_count(void);

#endif
