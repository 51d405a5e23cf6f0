/* SPDX-License-Identifier: ISC */
/*
 * The steps by which a role gives up what it does not need.  Each returns -1
 * with errno; confine_step() tells which one failed and what would help.
 */
#ifndef DL_CONFINE_H
#define DL_CONFINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* System mode: chroot to dir, which must be empty and root's. */
int	confine_chroot(const char *dir);
/* User mode: namespaces of its own with an empty, read-only root. */
int	confine_userns(void);
/* Sets all uids and gids and proves that they cannot come back. */
int	confine_ids(uid_t, gid_t);

enum landlock_level {
	LANDLOCK_NOTHING,	/* no file, no TCP connect, own domain only */
	LANDLOCK_READONLY,	/* files only to read and execute, no TCP connect */
	LANDLOCK_ETC		/* as nothing, but files below /etc to read */
};
/* 0 also where the kernel has no Landlock (landlock_abi() is 0 there). */
int	confine_landlock(enum landlock_level);
int	landlock_abi(void);
#define LANDLOCK_TCP	4	/* the first ABI that knows connect(2) */
/*
 * Needs ABI LANDLOCK_SCOPES and no_new_privs.  From now on abstract sockets
 * and signals reach only the caller and what it starts, nobody else; others
 * reach it as before.
 */
#define LANDLOCK_SCOPES	6
int	confine_scope(void);

/*
 * RLIMIT_FSIZE and RLIMIT_NPROC as given (-1 = leave), RLIMIT_CORE 0 unless
 * core: sessions may be allowed to dump, and a hard limit is for good.
 */
int	confine_rlimits(int64_t fsize, int64_t nproc, bool core);

#endif
