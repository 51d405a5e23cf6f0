/* SPDX-License-Identifier: ISC */
/*
 * Processes that wait for the daemon: systemd (sd_notify(3), without its
 * library), or the shell, for which one process stays until the parent has
 * started.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "setup.h"

void
notify_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	const char *usec = getenv("WATCHDOG_USEC");
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	socklen_t len;
	int fd;

	if (path == NULL || (path[0] != '/' && path[0] != '@') ||
	    strlen(path) >= sizeof(sun.sun_path))
		return;
	memcpy(sun.sun_path, path, strlen(path));
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
	    strlen(path));
	if (path[0] == '@')
		sun.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1 || connect(fd, (struct sockaddr *)&sun, len) == -1)
		fatal("cannot reach NOTIFY_SOCKET %s", path);
	if (usec != NULL)
		d.watchdog_ms = strtoull(usec, NULL, 10) / 2000;
	give(GIVEN_NOTIFY, fd);
}

/*
 * Nothing is kept busy by us; what is read again at SIGHUP is found again.  It
 * may be a link, which leads elsewhere by then.
 */
static void
leave_directory(void)
{
	const char *name = d.opt.file;
	char *dir, *file;

	if (name != NULL && name[0] != '/') {
		dir = getcwd(NULL, 0);
		if (dir == NULL || asprintf(&file, "%s/%s", dir, name) == -1)
			fatal("cannot tell where %s is (name it by its whole "
			    "path)", name);
		free(dir);
		d.opt.file = file;
	}
	if (chdir("/") == -1)
		fatal("/");
}

void
daemon_fork(void)
{
	int fds[2], null_fd;
	char ok;
	pid_t pid;

	if (d.opt.foreground || given(GIVEN_NOTIFY) != -1)
		return;
	if (pipe2(fds, O_CLOEXEC) == -1 || (pid = fork()) == -1)
		fatal("cannot go into the background");
	if (pid > 0) {
		close(fds[1]);
		_exit(read(fds[0], &ok, 1) == 1 ? 0 : 1);
	}
	close(fds[0]);
	give(GIVEN_READY, fds[1]);
	leave_directory();
	if (setsid() == -1)
		fatal("setsid");
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd == -1 || dup2(null_fd, STDIN_FILENO) == -1)
		fatal("/dev/null");
	close(null_fd);
}

/*
 * poll(2) reports a terminal as writable when there is any room, and a write of
 * a longer line blocks.  So the terminal is opened once more with O_NONBLOCK:
 * flags set on the inherited descriptor would hold for the shell too.  If the
 * terminal cannot be opened, the inherited descriptor has to do.
 */
void
terminal_find(void)
{
	if (d.opt.foreground && isatty(STDERR_FILENO))
		give(GIVEN_TERMINAL, open("/proc/self/fd/2", O_WRONLY |
		    O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}
