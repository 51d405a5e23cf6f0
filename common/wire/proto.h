/* SPDX-License-Identifier: ISC */
/* Small numbers inside messages, and the bounds of what they carry. */
#ifndef DL_PROTO_H
#define DL_PROTO_H

#include <stdint.h>

/* The control protocol's line, without its newline. */
#define LINE_MAX_BYTES		65536
/* Saved arguments and variables of one session, in bytes with their NULs. */
#define ARGS_MAX_BYTES		(40 * 1024)
#define ENV_MAX_BYTES		(32 * 1024)
#define ENV_MAX_COUNT		512
#define LABEL_MAX		64
#define EXEC_PATH_MAX		1024
/* Names of groups as text; those that do not fit in are counted in it. */
#define GROUP_NAMES_MAX		256
/* The longest name of an uploaded file, as in file systems. */
#define FILE_NAME_LEN		255
#define USER_NAME_MAX		64
/* "user/label", with its NUL; an id is shorter. */
#define SESSION_NAME_MAX	(USER_NAME_MAX + LABEL_MAX + 1)

/* A certificate that expires within so many seconds is warned about. */
#define CERT_WARN_S		(14 * 24 * 3600)

/* LISTENER and LISTENER_RULE */
enum {
	LISTENER_AUTH_NONE	= 1 << 0,	/* everybody is the rule's uid */
	LISTENER_PLAIN		= 1 << 1,	/* not loopback and not encrypted */
	LISTENER_TLS		= 1 << 2,	/* tlsproc accepts */
	LISTENER_WEB		= 1 << 3,	/* HTTP; no user until AUTH */
	LISTENER_ALL		= (1 << 4) - 1
};

/* PEER_IS */
enum {
	PEER_KNOWN		= 0,
	PEER_REFUSED		= 1,		/* close; the reason is for the log */
	PEER_UNAUTHENTICATED	= 2,		/* from elsewhere: until AUTH */
	PEER_LATER		= 3		/* close; it cannot be told now */
};

/* Rights of a connection's principal beyond its own sessions, and limits. */
enum {
	PRINCIPAL_ADMIN		= 1 << 0,	/* sees and uses everybody's */
	PRINCIPAL_UNAUTHENTICATED = 1 << 1,	/* nobody until AUTH */
	PRINCIPAL_REFUSED	= 1 << 2,	/* was closed; for the audit log */
	PRINCIPAL_READ_ONLY	= 1 << 3,	/* by a read-only token */
	PRINCIPAL_BY_TOKEN	= 1 << 4,
	PRINCIPAL_BY_RULE	= 1 << 5,	/* auth none as USER */
	PRINCIPAL_BY_KEY	= 1 << 6,	/* KEY_COOKIE or KEY_LOGIN */
	PRINCIPAL_GUEST		= 1 << 7	/* one session's terminal, no more */
};

/*
 * With whose eyes a connection sees: an administrator may be there as one and
 * as none, and guests have numbers that are no uids.
 */
enum eyes {
	EYES_OWN,
	EYES_ADMIN,
	EYES_GUEST,
	EYES_COUNT
};

/* ACCOUNT */
enum {
	ACCOUNT_FOUND		= 1 << 0,	/* and may be a principal */
	ACCOUNT_ADMIN		= 1 << 1,
	ACCOUNT_BARRED		= 1 << 2	/* there, and is not let in */
};

/* By which way a connection came. */
enum door {
	DOOR_LOCAL,		/* the local socket */
	DOOR_TCP,
	DOOR_TLS,
	DOOR_WEB,
	DOOR_WEB_TLS,
	DOOR_COUNT
};

/* "[2001:db8::1]:65535", "pid 4194304" */
#define ADDRESS_TEXT		80

/* STATE_FILE */
enum {
	STATE_TOKENS
};

/* Access levels to a session; each includes those before it. */
enum access {
	ACCESS_NONE,
	ACCESS_SEE,		/* read-only: state, output */
	ACCESS_USE,		/* whatever its owner's account can do */
	ACCESS_OWN		/* share it, too */
};

/* NEW */
enum {
	NEW_TTY			= 1 << 0,	/* its runs have a terminal */
	NEW_EPHEMERAL		= 1 << 1	/* goes a while after its end */
};

/* Columns and rows of a terminal: 0 = as before, else 80 and 24. */
#define TTY_SIZE_MAX		1000
#define TTY_COLS		80
#define TTY_ROWS		24
/* Bytes of one TTY_INPUT. */
#define TTY_INPUT_MAX		16384
/* The size of an upload whose client does not know it either. */
#define UPLOAD_UNKNOWN		((uint64_t)INT64_MAX)
/* FLOW, HOLD: what is written is read as fast as it comes. */
#define FLOW_UNLIMITED		UINT64_MAX

/* TOKEN_CREATE */
enum {
	TOKEN_READ_ONLY		= 1 << 0
};

/* KEY_MAKE */
enum key_kind {
	KEY_COOKIE,		/* a browser that has logged in */
	KEY_LOGIN,		/* logs in once, within ten minutes */
	KEY_TICKET,		/* opens a terminal once, within half a minute */
	KEY_SESSION,		/* a session's two: for any bearer */
	KEY_KINDS
};

/* START */
enum {
	START_DEBUG		= 1 << 0,	/* stop at the first instruction */
	START_SPLIT		= 1 << 1,	/* stdout and stderr apart */
	START_DEBUG_PIPE	= 1 << 2,	/* debugger over this connection */
	START_TTY		= 1 << 3	/* on a terminal instead of pipes */
};

/* DEBUG */
enum {
	DEBUG_BY_PORT		= 0,
	DEBUG_BY_PIPE		= 1,
	DEBUG_TAKE		= 2	/* over: the port of another request */
};

/* LIMITS: per session resource limits, in the order of the fields */
enum {
	LIMIT_CPU,
	LIMIT_AS,
	LIMIT_NOFILE,
	LIMIT_NPROC,
	LIMIT_CORE,
	LIMIT_COUNT
};

/* QUOTA_RULE, QUOTA_ROWS: whom it is for, and what it limits */
enum quota_kind {
	QUOTA_DEFAULT,
	QUOTA_USER,
	QUOTA_GROUP,
	QUOTA_KINDS
};

enum quota_what {
	QUOTA_SESSIONS,
	QUOTA_BYTES,
	QUOTA_CPU,		/* seconds, of each process */
	QUOTA_MEMORY,		/* bytes */
	QUOTA_PROCESSES,
	QUOTA_COUNT
};

/* SAMPLED, USAGE and USER_USED: the kernel does not tell. */
#define USAGE_UNKNOWN		UINT64_MAX
/* USER_USE: nobody's uid. */
#define USER_ALL		UINT32_MAX

/* RUN_FD */
enum run_fd {
	RUN_FD_STDIN,		/* pipe, write end */
	RUN_FD_STDOUT,		/* pipe, read end; both streams unless split;
				   a terminal's master, and no stdin then */
	RUN_FD_STDERR,		/* pipe, read end; only when split */
	RUN_FD_STATUS,		/* pipe, read end: struct stub_report */
	RUN_FD_STUB,		/* pidfd: readable when the tree is gone */
	RUN_FD_TARGET,		/* pidfd of the program */
	RUN_FD_EVENTS,		/* file: memory.events of its cgroup; only where
				   its memory is limited */
	/* pipes: the other ends of an adapter's own three */
	RUN_FD_ADAPTER_IN,
	RUN_FD_ADAPTER_OUT,
	RUN_FD_ADAPTER_ERR,
	RUN_FD_COUNT
};

/* ATTACH_FD */
enum attach_fd {
	ATTACH_FD_WIRE,		/* socket, or pipe to its standard input */
	ATTACH_FD_ERRORS,	/* pipe, read end: its stderr */
	ATTACH_FD_PIDFD,
	ATTACH_FD_OUT,		/* pipe, read end: its standard output */
	ATTACH_FD_COUNT
};

/* ATTACH */
enum {
	ATTACH_PIPES		= 1 << 0	/* two instead of the socket */
};

/* SWEEP: which of a session's cgroups */
enum leaf_of {
	LEAF_SESSION,
	LEAF_DEBUGGER,		/* of its debugger's process */
	LEAF_TRACER,		/* of its tracer's, and symbols' */
	LEAF_COUNT
};

/* INSTRUMENT_FD */
enum instrument_fd {
	INSTRUMENT_FD_CHANNEL,	/* socket: the spawner's end */
	INSTRUMENT_FD_PIDFD,
	INSTRUMENT_FD_COUNT
};

/* INST_START, INST_ASK, INST_ANSWER */
enum inst_type {
	INST_DEBUGGER,
	INST_TRACER,
	INST_TYPES
};

/* INST_ANSWER and INST_REPLY */
enum {
	INST_MORE		= 1 << 0,
	INST_FAILED		= 1 << 1,
	INST_LAST		= 1 << 2	/* of INST_REPLY alone, with INST_BYE */
};
/* Bytes of one request, and of a debugger's answer. */
#define INST_REQUEST_MAX	(60 * 1024)
#define DBG_ANSWER_MAX		(256 * 1024)
/* The same of a tracer: a page of events, and what stands around it. */
#define TRC_ANSWER_MAX		(5 * 1024 * 1024)
/* Requests under way: of one connection, and of one session. */
#define INST_ASKS_OF_ONE	32
#define INST_ASKS		256

/* DBG_RUN */
enum {
	DBG_RUN_TTY		= 1 << 0,	/* the program has a terminal */
	DBG_RUN_BESIDE		= 1 << 1,	/* the program runs already */
	DBG_RUN_HOST		= 1 << 2	/* no sandbox: user mode only */
};

/* DBG_ENDED: what the code and the signal are; neither: not known */
enum {
	DBG_ENDED_ADAPTER	= 1 << 0,	/* how the adapter ended */
	DBG_ENDED_PROGRAM	= 1 << 1	/* how the program did, beside it */
};

/* DBG_FD: the debugger's ends of the adapter's pipes */
enum dbg_fd {
	DBG_FD_IN,		/* its standard input */
	DBG_FD_OUT,
	DBG_FD_ERR,
	DBG_FD_COUNT
};

/* DBG_STATE: what a debugger is doing */
enum dbg_phase {
	DBG_IDLE,
	DBG_INITIALIZING,
	DBG_CONFIGURING,
	DBG_RUNNING,
	DBG_STOPPED,
	DBG_TERMINATED,
	DBG_PHASES
};

/* TRC_RUN: none yet */
#define TRC_RUN_FLAGS		0U

/* TRC_FILE: the parts of a timeline, as store_file_suffix() counts them */
enum trc_file {
	TRC_FILE_CALLS,
	TRC_FILE_DB,
	TRC_FILE_WAL,
	TRC_FILES
};

/* TRC_STATE: what a tracer is doing */
enum trc_phase {
	TRC_IDLE,		/* no program, or none that is attached to */
	TRC_TRACING,		/* it is attached to the program */
	TRC_OVER,		/* the program has ended: there is a timeline */
	TRC_PHASES
};

/* Symbols processes of one tracer. */
#define TRC_SYMBOLS_MAX		8

/*
 * Descriptors of an adapter that is a session's program, open beside its own
 * three: the standard streams of the program to be debugged, and the image.
 */
#define ADAPTER_STDIN_FD	3
#define ADAPTER_STDOUT_FD	4
#define ADAPTER_STDERR_FD	5
#define ADAPTER_IMAGE_FD	6

/* JOB_FD */
enum job_fd {
	JOB_FD_REPORT,		/* pipe, read end: struct job_report */
	JOB_FD_RESULT,		/* mount namespace (UNPACK) or file (PACK) */
	JOB_FD_PIDFD,		/* pidfd of the job's init: gone = all gone */
	JOB_FD_SPACE,		/* UNPACK: a file where it unpacks: fstatfs() */
	JOB_FD_COUNT
};

/* SEND_SIGNAL: whom the pidfd names decides who else is reached */
enum {
	SIGNAL_ONE,		/* that process */
	SIGNAL_TREE_TERM,	/* a stub: SIGTERM and SIGCONT to its tree */
	SIGNAL_TREE_KILL,	/* a stub: SIGKILL to its tree */
	SIGNAL_TREE_HUP,	/* a stub: SIGHUP and SIGCONT to its tree */
	SIGNAL_TARGETS
};

/*
 * Records that a stub writes, one per event; smaller than PIPE_BUF, so reads
 * are whole.  The tree is empty when the stub's pidfd is readable.
 */
enum {
	STUB_EXITED = 1,	/* the program: value = exit code */
	STUB_SIGNALED		/* the program: value = signal */
};
struct stub_report {
	uint32_t	what;
	uint32_t	value;
};

/* Steps of a start, for RUN_FAILED and its kin; step_text() words them. */
#define STEP_TABLE(X)							\
	X(PENDING,	"have more than 16 starts and jobs of one user "\
			"under way")					\
	X(PENDING_ALL,	"have more than 256 starts and jobs under way")	\
	X(FORK,		"fork a process")				\
	X(CGROUP,	"make the session's cgroup")			\
	X(IDS,		"become the session's owner")			\
	X(PIPES,	"make the session's pipes")			\
	X(TTY,		"make the session's terminal")			\
	X(USERNS,	"make a user namespace")			\
	X(IDMAP,	"write the id map of the user namespace")	\
	X(NAMESPACES,	"make the namespaces")				\
	X(MOUNT,	"set up the mounts")				\
	X(PIVOT,	"change the root directory")			\
	X(PROC,		"mount /proc")					\
	X(BUNDLE,	"enter the bundle")				\
	X(IMAGE,	"make a file of the image")			\
	X(NETWORK,	"set up the network namespace")			\
	X(LIMITS,	"set the resource limits")			\
	X(LANDLOCK,	"load the Landlock rules")			\
	X(CAPS,		"drop the capabilities")			\
	X(SECCOMP,	"load the system call filter")			\
	X(STUB,		"start the session's first process")		\
	X(TRACE,	"stop the program at its first instruction")	\
	X(CWD,		"enter the working directory")			\
	X(COMMAND,	"find the command")				\
	X(EXEC,		"execute the program")				\
	X(INTERP,	"find the program's interpreter")		\
	X(LOADER,	"load the program's libraries")			\
	X(GDBSERVER,	"execute gdbserver")				\
	X(INSTRUMENT,	"start a process beside the session")		\
	X(JOIN,		"join the session's namespaces")		\
	X(TMPFILE,	"make a temporary file")			\
	X(ARCHIVER,	"execute the archiver")

enum step {
	STEP_NONE,
#define X(id, text)	STEP_##id,
	STEP_TABLE(X)
#undef X
	STEP_COUNT
};

/* "make a user namespace" and the like; "take an unknown step". */
const char	*step_text(uint32_t);

#endif
