/* SPDX-License-Identifier: ISC */
/* The user's own daemon, started when it is needed. Two who need it at the
 * same time start one: a lock on its directory is held until it is there. */
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon.h"
#include "local.h"
#include "report.h"
#include "target.h"

#define DAEMON		"debuglanternd"
#define SPAWN_MS	5000	/* until it serves */
#define CONNECT_MS	2000	/* until it answers the door */
#define STEP_MS		20

char *
daemon_beside(const char *name)
{
	char self[4096], *slash, *path;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	if ((slash = strrchr(self, '/')) == NULL)
		return NULL;
	*slash = '\0';
	if (asprintf(&path, "%s/%s", self, name) == -1)
		return NULL;
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

/* -- the lock -------------------------------------------------------------- */

/* The socket's directory, made if need be; whose it is local_connect() looks
 * at. Opened and locked, -1 after a report. */
static int
lock_directory(const struct target *t)
{
	char dir[sizeof(t->path)], *slash;
	struct stat st;
	int dir_fd;

	strlcpy(dir, t->path, sizeof(dir));
	if ((slash = strrchr(dir, '/')) != NULL)
		*slash = '\0';
	if (mkdir(dir, 0700) == -1 && errno != EEXIST) {
		report("cannot make %s: %s", dir, strerror(errno));
		return -1;
	}
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir_fd == -1 || fstat(dir_fd, &st) == -1)
		report("cannot open %s: %s", dir, strerror(errno));
	else if (st.st_uid != geteuid() || (st.st_mode & 022) != 0)
		report("%s must belong to you and must not be writable by "
		    "others; no daemon was started there", dir);
	else if (flock(dir_fd, LOCK_EX) == -1)
		report("cannot lock %s: %s", dir, strerror(errno));
	else
		return dir_fd;
	if (dir_fd != -1)
		close(dir_fd);
	return -1;
}

/* -- the process ----------------------------------------------------------- */

static void __attribute__((noreturn))
exec_daemon(const char *path, int errors_fd)
{
	const char *argv[] = { path, "--local", NULL, NULL };
	int null_fd = open("/dev/null", O_RDWR);
	sigset_t none;

	/* root gets a daemon of its own, too */
	if (geteuid() == 0)
		argv[2] = "--user";
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	if (null_fd == -1 || dup2(null_fd, STDIN_FILENO) == -1 ||
	    dup2(null_fd, STDOUT_FILENO) == -1 ||
	    dup2(errors_fd, STDERR_FILENO) == -1 || chdir("/") == -1)
		_exit(127);
	/* it is no service of the manager that has started us, nor ours */
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	/* a reader of our pipes must not wait for the daemon's exit */
	closefrom(STDERR_FILENO + 1);
	execv(path, (char *const *)(void *)argv);
	dprintf(STDERR_FILENO, "%s: %s\n", path, strerror(errno));
	_exit(127);
}

/* Reports the first line that the daemon wrote to stderr. */
static void
tell_failure(int errors_fd)
{
	char text[2048];
	ssize_t n = read(errors_fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	report("cannot start a daemon of your own: %s", *text != '\0' ? text :
	    DAEMON " ended without a message");
}

/* It returns once it serves. 0, or -1 with *code after a report. */
static int
wait_ready(pid_t pid, int errors_fd, int *code)
{
	int pid_fd = pidfd_open(pid, 0), n, status = -1;
	struct pollfd pfd = { .fd = pid_fd, .events = POLLIN };

	while ((n = poll(&pfd, 1, SPAWN_MS)) == -1 && errno == EINTR)
		;
	if (pid_fd != -1)
		close(pid_fd);
	if (n == 0) {
		report("timeout: " DAEMON " is not ready after %d s",
		    SPAWN_MS / 1000);
		*code = CTL_TIMEOUT;
		kill(pid, SIGTERM);
		return -1;
	}
	waitpid(pid, &status, 0);
	if (status == 0)
		return 0;
	tell_failure(errors_fd);
	*code = CTL_UNREACHABLE;
	return -1;
}

static int
spawn(const char *path, int *code)
{
	int errors[2], r = -1;
	pid_t pid;

	*code = CTL_UNREACHABLE;
	if (pipe2(errors, O_CLOEXEC | O_NONBLOCK) == -1) {
		report("cannot start " DAEMON ": %s", strerror(errno));
		return -1;
	}
	if ((pid = fork()) == 0)
		exec_daemon(path, errors[1]);
	close(errors[1]);
	if (pid == -1)
		report("cannot start " DAEMON ": %s", strerror(errno));
	else
		r = wait_ready(pid, errors[0], code);
	close(errors[0]);
	return r;
}

/* Its socket may take a moment more. */
static int
connect_soon(const struct target *t, int *code)
{
	struct timespec step = { .tv_nsec = STEP_MS * 1000000L };
	int ms, sock_fd;

	for (ms = 0; ms < CONNECT_MS; ms += STEP_MS) {
		sock_fd = local_connect(t->path, true, code);
		if (sock_fd != -1 || *code != CTL_OK)
			return sock_fd;
		nanosleep(&step, NULL);
	}
	return local_connect(t->path, false, code);
}

int
daemon_start(const struct target *t, int *code)
{
	char *path = daemon_beside(DAEMON);
	int dir_fd = -1, sock_fd = -1;

	*code = CTL_UNREACHABLE;
	if (path == NULL)
		report("there is no " DAEMON " beside this program; start one, "
		    "or name its socket in $DEBUGLANTERN_SOCKET");
	else if ((dir_fd = lock_directory(t)) != -1) {
		/* somebody else may have been quicker */
		sock_fd = local_connect(t->path, true, code);
		if (sock_fd == -1 && *code == CTL_OK &&
		    spawn(path, code) == 0)
			sock_fd = connect_soon(t, code);
	}
	if (dir_fd != -1)
		close(dir_fd);
	free(path);
	return sock_fd;
}
