/* SPDX-License-Identifier: ISC */
/* Kinds of fd, found out without trusting the sender. */
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/again.h"
#include "fdkind.h"

static bool
is_mode(int fd, mode_t type)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type;
}

static bool
is_memfd(int fd)
{
	/* tmpfs files answer too, but those cannot be sealed any more */
	return is_mode(fd, S_IFREG) && fcntl(fd, F_GET_SEALS) != -1;
}

static bool
is_pidfd(int fd)
{
	siginfo_t si;

	/* a foreign process gives ECHILD; what is no pidfd gives EBADF */
	return waitid_again(P_PIDFD, (id_t)fd, &si,
	    WEXITED | WNOHANG | WNOWAIT) == 0 || errno == ECHILD;
}

static bool
is_namespace(int fd)
{
	return ioctl(fd, NS_GET_NSTYPE) > 0;
}

static bool
is_pty(int fd)
{
	struct stat st;

	/* a slave has another number, also where devpts is a private one */
	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) &&
	    st.st_rdev == makedev(5, 2);
}

static bool
is_stream(int fd)
{
	return is_mode(fd, S_IFIFO) || is_mode(fd, S_IFSOCK) ||
	    is_pidfd(fd) || is_namespace(fd) || is_mode(fd, S_IFREG) ||
	    is_pty(fd);
}

static bool
is_kind(enum msg_fd kind, int fd)
{
	switch (kind) {
	case FD_SOCKET:
		return is_mode(fd, S_IFSOCK);
	case FD_MEMFD:
		return is_memfd(fd);
	case FD_PIPE:
		return is_mode(fd, S_IFIFO);
	case FD_PIDFD:
		return is_pidfd(fd);
	case FD_FILE:
		return is_mode(fd, S_IFREG);
	case FD_IMAGE:
		return is_memfd(fd) || is_namespace(fd);
	case FD_WASTE:
		return is_mode(fd, S_IFREG) || is_namespace(fd);
	case FD_PTY:
		return is_pty(fd);
	case FD_STREAM:
		return is_stream(fd);
	case FD_NONE:
		break;
	}
	return false;
}

const char *
fdkind_check(enum msg_fd kind, int fd)
{
	int flags;

	if (kind == FD_NONE)
		return fd == -1 ? NULL : "an fd where none belongs";
	if (fd == -1)
		return kind == FD_IMAGE || kind == FD_WASTE ? NULL :
		    "no fd where one belongs";
	flags = fcntl(fd, F_GETFL);
	if (flags == -1 || (flags & O_PATH) != 0)
		return "an fd that only names a path";
	return is_kind(kind, fd) ? NULL : "an fd of the wrong kind";
}
