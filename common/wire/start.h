/* SPDX-License-Identifier: ISC */
/*
 * Descriptors that setup leaves to the parent when it executes the parent, each
 * with a fixed number.  A number whose descriptor is missing is closed.  The
 * messages of msgs.def say the rest; they are in the channel already.
 */
#ifndef DL_START_H
#define DL_START_H

#include <sys/types.h>

#include <linux/capability.h>

#include "confine/caps.h"
#include "proto.h"
#include "roles.h"

#define PATH_LEN	256

/* Bytes of a file's whole name, with the NUL. */
#define WHOLE_NAME_LEN	4096
/* Bytes of the settings that only a restart changes, as text. */
#define FIXED_MAX	32768
/* A configuration's 32 in both families, the local socket. */
#define MAX_LISTENERS	67
#define LISTENER_TEXT	160
#define MAX_QUOTAS	256
/* A label of the DNS. */
#define SERVICE_MAX	64

/* Capabilities of the parent in system mode, which roles are started with. */
#define KEPT_CAPS	(CAP_BIT(CAP_SETUID) | CAP_BIT(CAP_SETGID) |	\
			 CAP_BIT(CAP_SYS_CHROOT) | CAP_BIT(CAP_KILL))

/* Reason why a step of the start that only root can take fails. */
#define NEEDS_ROOT	"system mode is for root of the host, with all of " \
			"its capabilities; others name --user"

/* A service user.  In user mode all of them are the invoking user. */
struct identity {
	uid_t		 uid;
	gid_t		 gid;
};

enum given_fd {
	GIVEN_CHANNEL = 3,	/* of a reload as well */
	GIVEN_NULL,		/* /dev/null */
	GIVEN_SETUP,		/* setup's own binary, for a reload */
	GIVEN_FENCE,		/* user namespace of launchers */
	GIVEN_DIAG,		/* sock_diag of the host */
	GIVEN_TOKENS,		/* the spawner's file */
	GIVEN_ACCT_STARTER,		/* starts acctproc */
	GIVEN_ACCT_STARTER_PROC,	/* pidfd of that */
	GIVEN_HOME_PROCS,	/* cgroup.procs of where setup was started */
	GIVEN_NOTIFY,		/* systemd's socket */
	GIVEN_READY,		/* pipe to the shell that waits */
	GIVEN_TERMINAL,		/* standard error, opened not to block */
	GIVEN_LOG_KEPT,		/* memory for lines that wait */
	GIVEN_ARCHIVER,		/* its binary */
	GIVEN_BINARY,		/* first of the roles' binaries, by enum role */
	GIVEN_END = GIVEN_BINARY + ROLE_END
};

/* Bits of PLAN_START. */
enum {
	PLAN_FOREGROUND = 1 << 0,
	PLAN_LOCAL	= 1 << 1,
	PLAN_OWN_TREE	= 1 << 2	/* of cgroups, removed at the end */
};

/* Where a configuration's audit lines go. */
enum plan_audit {
	AUDIT_NONE,
	AUDIT_KEPT,		/* the file that is open */
	AUDIT_NEW,		/* the one that PLAN_AUDIT brings */
	AUDIT_COUNT
};

/* Links to the logger: of each role, a launcher in reserve, a tlsproc's trial. */
#define LOG_LINKS	(ROLE_COUNT + 2)

/* Bits of LOG_PLACE. */
enum {
	LOG_TO_STDERR	= 1 << 0,	/* there is no host's log, or -d */
	LOG_FOREGROUND	= 1 << 1,	/* which stays ours after the start */
	LOG_STARTED	= 1 << 2	/* each error is logged, not the first alone */
};

/* Certificate, key and the authority of clients' certificates. */
#define TLS_FILES	3
#define TLS_FILE_CA	2

#endif
