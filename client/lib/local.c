/* SPDX-License-Identifier: ISC */
/*
 * Local sockets. The owner of a socket gets everything that is sent to it, so
 * the owner is checked first: the path is opened component by component, and
 * the connection goes to the very socket that was checked.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "local.h"
#include "report.h"
#include "target.h"

#define SOCKET_NAME	"debuglantern.sock"
#define SYSTEM_SOCKET	"/run/debuglantern/" SOCKET_NAME
#define SERVICE_USER	"_dlparent"

/* Root, the user and the daemon's own service user. */
static bool
trusted(uid_t uid)
{
	struct passwd *pw;

	if (uid == 0 || uid == geteuid())
		return true;
	return (pw = getpwnam(SERVICE_USER)) != NULL && pw->pw_uid == uid;
}

/* An O_PATH descriptor with no symbolic link on its way; -1 and errno. */
static int
open_plain(const char *path, unsigned int flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = RESOLVE_NO_SYMLINKS,
	};

	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

/* Nothing there, nobody there, or nothing for this user. */
static bool
absent(int error)
{
	return error == ENOENT || error == ECONNREFUSED || error == EACCES ||
	    error == ENOTDIR;
}

static int
report_open(const char *path, bool perhaps)
{
	if (perhaps && absent(errno))
		return CTL_OK;
	if (errno == ELOOP)
		report("%s is or has a symbolic link in it; give the path "
		    "that \"realpath %s\" shows", path, path);
	else
		report("cannot reach %s: %s%s", path, strerror(errno),
		    errno == ENOENT || errno == ECONNREFUSED ?
		    "; is debuglanternd running here?" : "");
	return CTL_UNREACHABLE;
}

/* Somebody who may write in the directory may replace the socket. */
static int
check_directory(const char *path)
{
	char dir[sizeof(((struct target *)NULL)->path)], *slash;
	struct stat st = { 0 };
	int dir_fd;

	strlcpy(dir, path, sizeof(dir));
	if ((slash = strrchr(dir, '/')) == NULL)
		strlcpy(dir, ".", sizeof(dir));
	else
		slash[slash == dir] = '\0';
	if ((dir_fd = open_plain(dir, O_DIRECTORY)) == -1)
		return report_open(path, false);
	if (fstat(dir_fd, &st) == -1)
		report("%s: %s", dir, strerror(errno));
	else if (!trusted(st.st_uid))
		report("the directory %s belongs to uid %u; it should be "
		    "root's, %s's or yours: the socket in it is not used",
		    dir, st.st_uid, SERVICE_USER);
	else if (st.st_mode & 022)
		report("the directory %s can be written by others (mode "
		    "%04o; 0755 would be right): the socket in it is not "
		    "used", dir, st.st_mode & 07777);
	else {
		close(dir_fd);
		return 0;
	}
	close(dir_fd);
	return CTL_UNREACHABLE;
}

static int
check_socket(const char *path, int path_fd)
{
	struct stat st;

	if (fstat(path_fd, &st) == -1)
		report("%s: %s", path, strerror(errno));
	else if (!S_ISSOCK(st.st_mode))
		report("%s is not a socket", path);
	else if (!trusted(st.st_uid))
		report("the socket %s belongs to uid %u; it should be "
		    "root's, %s's or yours: it is not used", path, st.st_uid,
		    SERVICE_USER);
	else
		return 0;
	return -1;
}

/* The kernel knows who listens, whatever the file looks like. */
static int
check_listener(const char *path, int sock_fd)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t len = sizeof(peer);

	if (getsockopt(sock_fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	    trusted(peer.uid))
		return 0;
	report("uid %u listens on %s; it should be root, %s or you: it is "
	    "not used", peer.uid, path, SERVICE_USER);
	return -1;
}

/* A socket connected to what path_fd stands for; -1 and errno. */
static int
connect_to(int path_fd)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int saved, sock_fd;

	snprintf(sun.sun_path, sizeof(sun.sun_path), "/proc/self/fd/%d",
	    path_fd);
	sock_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sock_fd == -1)
		return -1;
	if (connect(sock_fd, (struct sockaddr *)&sun, sizeof(sun)) == 0 &&
	    fcntl(sock_fd, F_SETFL, O_NONBLOCK) == 0)
		return sock_fd;
	saved = errno;
	close(sock_fd);
	errno = saved;
	return -1;
}

int
local_connect(const char *path, bool perhaps, int *code)
{
	int path_fd, sock_fd = -1;

	path_fd = open_plain(path, 0);
	if (path_fd == -1) {
		*code = report_open(path, perhaps);
		return -1;
	}
	*code = check_directory(path);
	if (*code != CTL_OK)
		goto done;
	*code = CTL_UNREACHABLE;
	if (check_socket(path, path_fd) == -1)
		goto done;
	if ((sock_fd = connect_to(path_fd)) == -1)
		*code = report_open(path, perhaps);
	else if (check_listener(path, sock_fd) == -1) {
		close(sock_fd);
		sock_fd = -1;
	}
done:
	close(path_fd);
	return sock_fd;
}

/* Where debuglanternd puts it in user mode. */
static void
own_path(char *path, size_t size)
{
	const char *base = getenv("XDG_RUNTIME_DIR");
	int n;

	if (base != NULL && *base == '/')
		n = snprintf(path, size, "%s/debuglantern/" SOCKET_NAME,
		    base);
	else
		n = snprintf(path, size, "/tmp/debuglantern-%u/" SOCKET_NAME,
		    getuid());
	/* No daemon can have one with so long a name. */
	if ((size_t)n >= size)
		*path = '\0';
}

void
local_own(struct target *t)
{
	t->kind = TARGET_UNIX;
	own_path(t->path, sizeof(t->path));
}

void
local_system(struct target *t)
{
	t->kind = TARGET_UNIX;
	strlcpy(t->path, SYSTEM_SOCKET, sizeof(t->path));
}

int
local_default(struct target *t, int *code)
{
	int sock_fd;

	local_system(t);
	sock_fd = local_connect(t->path, true, code);
	if (sock_fd == -1 && *code == CTL_OK) {
		local_own(t);
		sock_fd = local_connect(t->path, true, code);
	}
	return sock_fd;
}
