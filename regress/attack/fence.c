/* SPDX-License-Identifier: ISC */
/* flags: -static */
/*
 * usage: fence pid uid gid test ...
 * As root: enters the user namespace of that process with all capabilities
 * in it, becomes uid and gid there, and then makes each test in a child:
 * "uid:N", "gid:N", "groups:N", "groups+:N" and so on, by raw system calls,
 * so that N may have more than 32 bits.  Prints "test=0" or "test=ERRNO".
 */
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long	own_uid, own_gid;
static int		init_user_fd;

static long
set_uids(unsigned long id)
{
	return syscall(SYS_setresuid, id, id, id);
}

static long
set_effective(unsigned long id)
{
	return syscall(SYS_setresuid, -1L, id, -1L);
}

static long
set_plain(unsigned long id)
{
	return syscall(SYS_setuid, id);
}

static long
set_real(unsigned long id)
{
	return syscall(SYS_setreuid, id, id);
}

static long
set_gids(unsigned long id)
{
	return syscall(SYS_setresgid, id, id, id);
}

static long
set_plain_gid(unsigned long id)
{
	return syscall(SYS_setgid, id);
}

/* These two say what was before: whether it worked the next call tells. */
static long
set_fs(unsigned long id)
{
	(void)syscall(SYS_setfsuid, id);
	errno = EPERM;
	return syscall(SYS_setfsuid, -1L) == (long)(unsigned int)id ? 0 : -1;
}

static long
set_fs_gid(unsigned long id)
{
	(void)syscall(SYS_setfsgid, id);
	errno = EPERM;
	return syscall(SYS_setfsgid, -1L) == (long)(unsigned int)id ? 0 : -1;
}

static long
set_groups(unsigned long id)
{
	gid_t g = (gid_t)id;

	return syscall(SYS_setgroups, 1, &g);
}

static long
add_group(unsigned long id)
{
	gid_t g[2] = { (gid_t)own_gid, (gid_t)id };

	return syscall(SYS_setgroups, 2, g);
}

static long
write_map(pid_t pid, const char *which, const char *map)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, which);
	fd = open(path, O_WRONLY);
	if (fd == -1)
		return -1;
	return write(fd, map, strlen(map)) == (ssize_t)strlen(map) ? 0 : -1;
}

/* A namespace below, in which 0 is to be the id of the fence. */
static long
map_in(const char *which, unsigned long id)
{
	int up[2], down[2], saved;
	char c = 0, map[64];
	pid_t pid;
	long r;

	if (pipe(up) == -1 || pipe(down) == -1 || (pid = fork()) == -1)
		return -1;
	if (pid == 0) {
		if (unshare(CLONE_NEWUSER) == -1 || write(up[1], &c, 1) != 1)
			_exit(1);
		_exit((int)read(down[0], &c, 1));
	}
	close(up[1]);
	if (read(up[0], &c, 1) != 1)
		return -1;
	(void)snprintf(map, sizeof(map), "0 %lu 1\n", id);
	r = write_map(pid, which, map);
	saved = errno;
	(void)!write(down[1], &c, 1);
	(void)waitpid(pid, NULL, 0);
	errno = saved;
	return r;
}

static long
map_uid(unsigned long id)
{
	return map_in("uid_map", id);
}

static long
map_gid(unsigned long id)
{
	return map_in("gid_map", id);
}

/* A namespace of its own, in which it is 0; and out of it as an id. */
static long
nested(unsigned long id)
{
	char map[64];

	(void)snprintf(map, sizeof(map), "0 %lu 1\n", own_uid);
	if (unshare(CLONE_NEWUSER) == -1 ||
	    write_map(getpid(), "uid_map", map) == -1) {
		puts("nested: no namespace");
		_exit(1);
	}
	return syscall(SYS_setresuid, id, id, id);
}

/* Back to the namespace of the host, by a descriptor of it. */
static long
leave(unsigned long id)
{
	(void)id;
	return setns(init_user_fd, CLONE_NEWUSER);
}

static const struct {
	const char	*name;
	long		(*fn)(unsigned long);
} tests[] = {
	{ "uid", set_uids }, { "euid", set_effective }, { "setuid", set_plain },
	{ "reuid", set_real }, { "fsuid", set_fs }, { "gid", set_gids },
	{ "setgid", set_plain_gid }, { "fsgid", set_fs_gid },
	{ "groups", set_groups }, { "groups+", add_group },
	{ "map", map_uid }, { "gmap", map_gid }, { "nested", nested },
	{ "leave", leave },
};

static void
run(const char *test)
{
	const char *colon = strchr(test, ':');
	unsigned long id = strtoul(colon + 1, NULL, 10);
	size_t i;
	long r;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (strlen(tests[i].name) != (size_t)(colon - test) ||
		    strncmp(tests[i].name, test, (size_t)(colon - test)) != 0)
			continue;
		fflush(stdout);
		if (fork() == 0) {
			r = tests[i].fn(id);
			printf("%s=%s\n", test, r == -1 ?
			    strerrorname_np(errno) : "0");
			fflush(stdout);
			_exit(0);
		}
		(void)wait(NULL);
	}
}

int
main(int argc, char **argv)
{
	char path[64];
	int fd, i;

	if (argc < 4)
		return 2;
	own_uid = strtoul(argv[2], NULL, 10);
	own_gid = strtoul(argv[3], NULL, 10);
	(void)snprintf(path, sizeof(path), "/proc/%s/ns/user", argv[1]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	init_user_fd = open("/proc/self/ns/user", O_RDONLY);
	if (fd == -1 || setns(fd, CLONE_NEWUSER) == -1 ||
	    set_gids(own_gid) == -1 || set_uids(own_uid) == -1 ||
	    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == -1) {
		perror("enter");
		return 1;
	}
	for (i = 4; i < argc; i++)
		run(argv[i]);
	return 0;
}
