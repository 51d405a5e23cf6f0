/* SPDX-License-Identifier: ISC */
/* Trials of what sessions need of the host, by processes that end at once. */
#include <sys/mount.h>
#include <sys/wait.h>

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "launcher/base/child.h"
#include "launcher/base/facts.h"
#include "launcher/owner/loader.h"
#include "trials.h"

static int
try_userns(void)
{
	int fd = -1;
	pid_t pid = child_clone(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID,
	    -1, &fd);

	if (pid == -1)
		return errno;
	if (pid == 0)
		_exit(0);
	while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
		continue;
	close(fd);
	return 0;
}

/* A user namespace gets no /proc if parts of its creator's are hidden. */
static int
try_proc(void)
{
	int fd = -1, status = 0;
	pid_t pid = child_clone(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID,
	    -1, &fd);

	if (pid == -1)
		return errno;
	if (pid == 0)
		_exit(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV |
		    MS_NOEXEC, NULL) == -1 ? errno : 0);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		continue;
	close(fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

void
trials_run(void)
{
	facts.userns_errno = try_userns();
	facts.proc_errno = try_proc();
	facts.registers_stop = loader_probe();
}
