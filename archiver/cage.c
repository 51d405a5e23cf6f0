/* SPDX-License-Identifier: ISC */
/*
 * The archiver's own confinement, inside the sandbox that it is started in:
 * limits, Landlock, and the job's own table of system calls.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sanitize.h"
#include "cage.h"
#include "confine/confine.h"
#include "sysfilter.h"

/* Shadow memory alone is terabytes of it. */
#define ADDRESS_SPACE	(SANITIZED ? RLIM_INFINITY : (rlim_t)512 << 20)

#define NELEM(a)	(sizeof(a) / sizeof((a)[0]))

struct limit {
	__rlimit_resource_t what;
	rlim_t value;
};

static int
lower(__rlimit_resource_t what, rlim_t value)
{
	struct rlimit rl;

	if (getrlimit(what, &rl) == -1)
		return -1;
	if (value > rl.rlim_max)
		value = rl.rlim_max;
	rl.rlim_cur = rl.rlim_max = value;
	return setrlimit(what, &rl);
}

static int
set_limits(uint64_t fsize)
{
	const struct limit limits[] = {
		{ RLIMIT_CORE, 0 },
		{ RLIMIT_NPROC, 0 },
		{ RLIMIT_NOFILE, 64 },
		{ RLIMIT_FSIZE, fsize },
		/* xz and zstd headers name the memory that they want */
		{ RLIMIT_AS, ADDRESS_SPACE },
	};
	size_t i;

	for (i = 0; i < NELEM(limits); i++) {
		if (lower(limits[i].what, limits[i].value) == -1)
			return -1;
	}
	return 0;
}

/* Longer than the base system's header knows it; older kernels get less. */
struct ruleset {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};

#define FS_KNOWN(abi)	((1ULL << ((abi) >= 5 ? 16 : (abi) >= 3 ? 15 :	\
			    (abi) >= 2 ? 14 : 13)) - 1)
#define FS_TRUNCATE	(1ULL << 14)
#define NET_ALL		3ULL
#define SCOPE_ALL	3ULL

#define FS_LIBS		(LANDLOCK_ACCESS_FS_READ_FILE |			\
			    LANDLOCK_ACCESS_FS_READ_DIR)
/* REFER is what a hard link into another directory needs */
#define FS_BUNDLE	(FS_LIBS | LANDLOCK_ACCESS_FS_WRITE_FILE |	\
			    LANDLOCK_ACCESS_FS_REMOVE_FILE |		\
			    LANDLOCK_ACCESS_FS_MAKE_DIR |		\
			    LANDLOCK_ACCESS_FS_MAKE_REG |		\
			    LANDLOCK_ACCESS_FS_MAKE_SYM |		\
			    LANDLOCK_ACCESS_FS_REFER | FS_TRUNCATE)

static int
new_ruleset(int abi)
{
	struct ruleset rs;
	size_t size = sizeof(rs);

	rs.fs = FS_KNOWN(abi);
	rs.net = NET_ALL;
	rs.scoped = SCOPE_ALL;
	if (abi < 6)
		size = offsetof(struct ruleset, scoped);
	if (abi < 4)
		size = offsetof(struct ruleset, net);
	return (int)syscall(SYS_landlock_create_ruleset, &rs, size, 0);
}

static int
landlock(const int *dir_fds, size_t n, uint64_t access)
{
	struct landlock_path_beneath_attr beneath;
	int abi = landlock_abi(), fd, saved;
	size_t i;

	if (abi == 0)
		return 0;
	fd = new_ruleset(abi);
	if (fd == -1)
		return -1;
	for (i = 0; i < n; i++) {
		memset(&beneath, 0, sizeof(beneath));
		beneath.allowed_access = access & FS_KNOWN(abi);
		beneath.parent_fd = dir_fds[i];
		if (syscall(SYS_landlock_add_rule, fd,
		    LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == -1)
			goto fail;
	}
	if (syscall(SYS_landlock_restrict_self, fd, 0) == -1)
		goto fail;
	close(fd);
	return 0;
fail:
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

static const char *
cage(const int *dir_fds, size_t n, uint64_t access, uint64_t fsize,
    const struct filter *filter)
{
	void *prog;
	size_t len;

	/* compiled first: it goes through a file, for which limits hold too */
	if (filter_compile(filter, &prog, &len) == -1)
		return "compile the system call filter";
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1)
		return "give up privileges";
	if (landlock(dir_fds, n, access) == -1)
		return "restrict files by Landlock";
	if (set_limits(fsize) == -1)
		return "set resource limits";
	if (filter_install(prog, len) == -1)
		return "load the system call filter";
	free(prog);
	return NULL;
}

const char *
cage_unpack(int root_fd, uint64_t fsize)
{
	return cage(&root_fd, 1, FS_BUNDLE, fsize, &unpack_filter);
}

const char *
cage_pack(const int *dir_fds, size_t n, uint64_t fsize)
{
	return cage(dir_fds, n, FS_LIBS, fsize, &pack_filter);
}
