/* SPDX-License-Identifier: ISC */
/* The archiver as its owner, in a sandbox of its own. */
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "archive_start.h"
#include "base/sanitize.h"
#include "mounts.h"
#include "steps.h"
#include "wire/role.h"

#define JOB_NAMESPACES	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID |	\
			 CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET)
#define JOB_CPU		300
/* the last page of every file, and the directories that paths imply */
#define PAGE		4096
#define EXTRA_INODES	1024
/* beyond this a sum could wrap; no host has as much memory */
#define SANE		(UINT64_MAX / 4 / PAGE)

struct job_kind {
	/* in the namespaces, before the archiver's own mounts; in_fd or -1 */
	void		(*inside)(const struct job_spec *);
	/* fills argv from index 1; text has room for each number */
	void		(*args)(const struct job_spec *, char **argv,
			    char text[3][24]);
};

static char *
decimal(char text[24], uint64_t v)
{
	(void)snprintf(text, 24, "%" PRIu64, v);
	return text;
}

static void
unpack_args(const struct job_spec *j, char **argv, char text[3][24])
{
	argv[1] = (char *)(uintptr_t)"unpack";
	argv[2] = decimal(text[0], j->max_bytes);
	argv[3] = decimal(text[1], j->max_members);
	argv[4] = decimal(text[2], j->max_path);
	argv[5] = (char *)(uintptr_t)j->exec_path;
	argv[6] = (char *)(uintptr_t)(settings.allow_32bit ? "yes" : "no");
}

static void
pack_args(const struct job_spec *j, char **argv, char text[3][24])
{
	argv[1] = (char *)(uintptr_t)"pack";
	argv[2] = decimal(text[0], j->max_bytes);
}

/*
 * The tmpfs that will be the bundle.  The archiver counts for itself; these
 * limits hold when it has been taken over.
 */
static void
unpack_inside(const struct job_spec *j)
{
	uint64_t members = j->max_members < SANE ? j->max_members : SANE;
	uint64_t bytes = j->max_bytes < SANE * PAGE ? j->max_bytes :
	    SANE * PAGE;
	char options[96];
	int ns_fd, space_fd;

	(void)snprintf(options, sizeof(options), "mode=0755,size=%" PRIu64
	    ",nr_inodes=%" PRIu64, bytes + (members + EXTRA_INODES) * PAGE,
	    members + EXTRA_INODES);
	if (mount("none", settings.state_dir, "tmpfs", MS_NOSUID | MS_NODEV,
	    options) == -1 || chdir(settings.state_dir) == -1 ||
	    mkdir(BUNDLE_NAME, 0755) == -1 || chdir(BUNDLE_NAME) == -1)
		child_die(STEP_MOUNT);
	ns_fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	/* what is mounted from here on is not the bundle's */
	if (ns_fd == -1 || unshare(CLONE_NEWNS) == -1)
		child_die(STEP_NAMESPACES);
	child_up_fd(JOB_FD_RESULT, ns_fd);
	/* by this the spawner sees what the archiver says that it has used */
	space_fd = open("..", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (space_fd == -1)
		child_die(STEP_MOUNT);
	child_up_fd(JOB_FD_SPACE, space_fd);
}

static void
pack_inside(const struct job_spec *j)
{
	(void)j;
	(void)mounts_mask(settings.state_dir);
	if (chdir("/") == -1)
		child_die(STEP_MOUNT);
}

static void __attribute__((noreturn))
archiver(const struct job_kind *k, const struct job_spec *j, int in_fd,
    int out_fd)
{
	const struct rlimit cpu = { JOB_CPU, JOB_CPU };
	char *argv[8] = { (char *)(uintptr_t)"archiver" };
	char *envp[] = { NULL };
	char text[3][24];
	int null_fd;

	child_map_ids();
	umask(0);
	mounts_private();
	k->inside(j);
	(void)mounts_mask(settings.run_dir);
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd == -1)
		child_die(STEP_PIPES);
	(void)mounts_mask("/proc");
	k->args(j, argv, text);
	child_lock(true);
	child_last(in_fd, out_fd, SANITIZED ? STDERR_FILENO : null_fd);
	if (setrlimit(RLIMIT_CPU, &cpu) == -1)
		child_die(STEP_LIMITS);
	child_up_pid(0, -1);
	(void)execveat(KEPT_FD2, "", argv, envp, AT_EMPTY_PATH);
	child_die(STEP_ARCHIVER);
}

static void __attribute__((noreturn))
job_first(const struct job_kind *k, const struct job_spec *j, int in_fd)
{
	int p[2], pidfd = -1;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC) == -1)
		child_die(STEP_PIPES);
	child_up_fd(JOB_FD_REPORT, p[0]);
	pid = child_clone(JOB_NAMESPACES | CLONE_PARENT, -1, &pidfd);
	if (pid == -1)
		child_die(STEP_USERNS);
	if (pid == 0)
		archiver(k, j, in_fd, p[1]);
	child_up_fd(JOB_FD_PIDFD, pidfd);
	_exit(0);
}

void
archiver_unpack(const void *arg)
{
	static const struct job_kind kind = { unpack_inside, unpack_args };
	const struct job_spec *j = arg;

	child_count(j->processes);
	job_first(&kind, j, KEPT_FD);
}

/*
 * A file without a name.  Not every file system makes one at once: overlayfs
 * of Linux 6.1 does not, nor does NFS.
 */
static int
nameless_file(const char *dir)
{
	char path[sizeof(settings.state_dir) + 24];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd != -1 || errno != EOPNOTSUPP)
		return fd;
	(void)snprintf(path, sizeof(path), "%s/sysroot-XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd != -1 && unlink(path) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

void
archiver_pack(const void *arg)
{
	static const struct job_kind kind = { pack_inside, pack_args };
	const struct job_spec *j = arg;
	char dir[sizeof(settings.state_dir) + 8];
	int fd, in_fd;

	/* the owner's own file: the owner may be over quota */
	(void)snprintf(dir, sizeof(dir), "%s/tmp", settings.state_dir);
	fd = nameless_file(dir);
	if (fd == -1 ||
	    (in_fd = fcntl(fd, F_DUPFD_CLOEXEC, KEPT_FD2 + 1)) == -1)
		child_die(STEP_TMPFILE);
	/* closes the number that it sends */
	child_up_fd(JOB_FD_RESULT, fd);
	job_first(&kind, j, in_fd);
}
