/* SPDX-License-Identifier: ISC */
/*
 * For debug adapters that dial their client instead of speaking on their own
 * stdin and stdout: listens on a loopback port, starts the adapter with the
 * port's address as its last argument, and passes bytes between the one
 * connection and stdin and stdout.  The adapter itself gets 3, 4 and 5 as 0, 1
 * and 2: they are for the program that it debugs.
 */
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARGS_MAX	64
#define BUFFER		(64U << 10)

static int
listen_here(char *address, size_t size)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(sin);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd == -1 || bind(fd, (struct sockaddr *)&sin, len) == -1 ||
	    listen(fd, 4) == -1 ||
	    getsockname(fd, (struct sockaddr *)&sin, &len) == -1)
		err(1, "cannot listen on 127.0.0.1; the session needs its "
		    "loopback interface for this adapter");
	(void)snprintf(address, size, "127.0.0.1:%u", ntohs(sin.sin_port));
	return fd;
}

/*
 * An adapter that finds a terminal starts its program in the foreground of
 * it, which only the session of a terminal's own can do.
 */
static void
take_terminal(void)
{
	if (isatty(0) && (setsid() == -1 || ioctl(0, TIOCSCTTY, 0) == -1))
		err(126, "the program's terminal");
}

/* `before` is the signal mask that the adapter gets. */
static pid_t
start(char *argv[], int argc, char *address, const sigset_t *before)
{
	char *args[ARGS_MAX];
	pid_t pid;
	int i;

	if (argc + 2 > ARGS_MAX)
		errx(2, "too many arguments");
	for (i = 0; i < argc; i++)
		args[i] = argv[i];
	args[argc] = address;
	args[argc + 1] = NULL;
	if ((pid = fork()) == -1)
		err(1, "fork");
	if (pid > 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)sigprocmask(SIG_SETMASK, before, NULL);
	for (i = 0; i < 3; i++)
		if (dup2(3 + i, i) == -1)
			err(126, "file %d, which is for the program", 3 + i);
	for (i = 3; i < 6; i++)
		close(i);
	take_terminal();
	execvp(args[0], args);
	err(127, "%s", args[0]);
}

/*
 * The kernel's number of the socket between the two, 0 = none.  Others may have
 * one between the same ports: the host has many loopback addresses.
 */
static unsigned long
inode_of(const struct sockaddr_in *local, const struct sockaddr_in *remote)
{
	unsigned int l, lport, r, rport;
	unsigned long inode = 0, found = 0;
	char line[512];
	FILE *f = fopen("/proc/net/tcp", "re");

	if (f == NULL)
		return 0;
	while (found == 0 && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "%*u: %x:%x %x:%x %*x %*x:%*x %*x:%*x %*x "
		    "%*u %*u %lu", &l, &lport, &r, &rport, &inode) == 5 &&
		    l == local->sin_addr.s_addr && r == remote->sin_addr.s_addr &&
		    lport == ntohs(local->sin_port) &&
		    rport == ntohs(remote->sin_port))
			found = inode;
	fclose(f);
	return found;
}

static bool
has_socket(pid_t pid, unsigned long inode)
{
	char dir[64], want[64], link[64];
	struct dirent *e;
	ssize_t n;
	DIR *d;
	bool has = false;

	(void)snprintf(dir, sizeof(dir), "/proc/%d/fd", (int)pid);
	(void)snprintf(want, sizeof(want), "socket:[%lu]", inode);
	if ((d = opendir(dir)) == NULL)
		return false;
	while (!has && (e = readdir(d)) != NULL) {
		n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = '\0';
		has = strcmp(link, want) == 0;
	}
	closedir(d);
	return has;
}

/* Everybody of this host can dial a loopback port: only the adapter may. */
static int
accept_child(int listening, pid_t pid, const sigset_t *before)
{
	struct sockaddr_in here = { 0 }, there = { 0 };
	struct pollfd p = { .fd = listening, .events = POLLIN };
	socklen_t len;
	int fd;

	/*
	 * SIGCHLD interrupts: an adapter that ends does not dial any more.  It
	 * is blocked but for here, as one may end before this is waiting.
	 */
	while (ppoll(&p, 1, NULL, before) == 1) {
		fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
		if (fd == -1)
			continue;
		len = sizeof(here);
		if (getsockname(fd, (struct sockaddr *)&here, &len) == 0 &&
		    (len = sizeof(there)) != 0 &&
		    getpeername(fd, (struct sockaddr *)&there, &len) == 0 &&
		    has_socket(pid, inode_of(&there, &here)))
			return fd;
		close(fd);
	}
	return -1;
}

/* Passes on what is there; 0 = the end, or nobody reads. */
static ssize_t
pass(int from, int to)
{
	static char buf[BUFFER];
	ssize_t n = read(from, buf, sizeof(buf)), w, done;

	if (n == -1 && errno == EINTR)
		return 1;
	for (done = 0; done < n; done += w)
		if ((w = write(to, buf + done, (size_t)(n - done))) == -1) {
			if (errno != EINTR)
				return 0;
			w = 0;
		}
	return n < 0 ? 0 : n;
}

static void
relay_both(int fd)
{
	struct pollfd p[2] = { { .fd = 0, .events = POLLIN },
		{ .fd = fd, .events = POLLIN } };

	for (;;) {
		if (poll(p, 2, -1) == -1) {
			if (errno == EINTR)
				continue;
			return;
		}
		if (p[0].revents != 0 && pass(0, fd) == 0) {
			(void)shutdown(fd, SHUT_WR);
			p[0].fd = -1;
			p[0].revents = 0;
		}
		if (p[1].revents != 0 && pass(fd, 1) == 0)
			return;
	}
}

static void
on_child(int sig)
{
	(void)sig;
}

int
main(int argc, char *argv[])
{
	struct sigaction sa = { .sa_handler = on_child,
		.sa_flags = SA_NOCLDSTOP };
	sigset_t child, before;
	char address[32];
	int listening, fd, status = 0;
	pid_t pid;

	if (argc < 2)
		errx(2, "usage: dapdial adapter [argument ...]");
	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigaction(SIGCHLD, &sa, NULL);
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, &before);
	listening = listen_here(address, sizeof(address));
	pid = start(argv + 1, argc - 1, address, &before);
	fd = accept_child(listening, pid, &before);
	close(listening);
	if (fd != -1)
		relay_both(fd);
	close(fd);
	close(1);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 +
	    WTERMSIG(status);
}
