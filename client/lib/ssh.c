/* SPDX-License-Identifier: ISC */
/*
 * A daemon's local socket through a program: the user's own ssh, with its keys,
 * its configuration and its questions. Standard error of ssh passes through a
 * process of ours, since the other host may write there, too.
 */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report.h"
#include "safe.h"
#include "ssh.h"
#include "target.h"

#define LINGER_MS	300	/* for an end that we brought about */
#define PATIENCE_MS	5000	/* ... and for one that we saw */
#define STEP_MS		10

/* argv of ssh: nothing of a target can become an option. */
static void __attribute__((noreturn))
exec_ssh(const struct target *t)
{
	const char *argv[12], **next = argv, *ssh;

	ssh = getenv("DEBUGLANTERN_SSH");
	if (ssh == NULL || *ssh == '\0')
		ssh = "ssh";
	*next++ = ssh;
	*next++ = "-T";
	if (*t->port != '\0') {
		*next++ = "-p";
		*next++ = t->port;
	}
	if (*t->user != '\0') {
		*next++ = "-l";
		*next++ = t->user;
	}
	*next++ = "--";
	*next++ = t->host;
	*next++ = CTL_NAME;
	*next++ = "proxy";
	*next = NULL;
	/* ssh may be told to pass variables on */
	unsetenv("DEBUGLANTERN_TOKEN");
	unsetenv("DEBUGLANTERN_TOKEN_FILE");
	unsetenv("DEBUGLANTERN_TARGET");
	execvp(ssh, (char *const *)(void *)argv);
	report("cannot start %s: %s; $DEBUGLANTERN_SSH names another", ssh,
	    strerror(errno));
	_exit(CTL_UNREACHABLE);
}

/* Ends with its parent, which may be killed while ssh asks for a password. */
static pid_t
fork_bound(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(CTL_UNREACHABLE);
	}
	return pid;
}

static pid_t
start_program(const struct target *t, const char *const *argv, int sock_fd,
    int errors_fd)
{
	sigset_t none;
	pid_t pid = fork_bound();

	if (pid != 0)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Ctrl-C is for us to pass on; ssh leaves what is ignored ignored. */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(sock_fd, STDIN_FILENO) == -1 ||
	    dup2(sock_fd, STDOUT_FILENO) == -1 ||
	    dup2(errors_fd, STDERR_FILENO) == -1)
		_exit(CTL_UNREACHABLE);
	if (argv == NULL)
		exec_ssh(t);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	report("cannot start %s: %s", argv[0], strerror(errno));
	_exit(CTL_UNREACHABLE);
}

/* Passes on what ssh says, harmless for a terminal. */
static pid_t
start_errors(int errors_fd)
{
	struct safe_filter filter = { .npending = 0 };
	char buf[4096];
	ssize_t n;
	pid_t pid = fork_bound();

	if (pid != 0)
		return pid;
	signal(SIGINT, SIG_IGN);
	/* A copy of a connection would keep its end from being seen. */
	if (dup2(errors_fd, STDIN_FILENO) == -1)
		_exit(CTL_UNREACHABLE);
	closefrom(STDERR_FILENO + 1);
	while ((n = read(STDIN_FILENO, buf, sizeof(buf))) > 0) {
		if (isatty(STDERR_FILENO))
			safe_filter_put(&filter, buf, (size_t)n, stderr);
		else
			fwrite(buf, 1, (size_t)n, stderr);
		fflush(stderr);
	}
	safe_filter_end(&filter, stderr);
	fflush(stderr);
	_exit(0);
}

static int
start(struct ssh *ssh, const struct target *t, const char *const *argv)
{
	int errors[2] = { -1, -1 }, pair[2] = { -1, -1 }, sock_fd = -1;

	ssh->pid = ssh->errors_pid = 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1 ||
	    pipe2(errors, O_CLOEXEC) == -1 ||
	    fcntl(pair[0], F_SETFL, O_NONBLOCK) == -1)
		goto fail;
	if ((ssh->pid = start_program(t, argv, pair[1],
	    errors[1])) == -1)
		goto fail;
	close(errors[1]);
	errors[1] = -1;
	if ((ssh->errors_pid = start_errors(errors[0])) == -1)
		goto fail;
	sock_fd = pair[0];
	pair[0] = -1;
fail:
	if (sock_fd == -1)
		report("cannot start %s: %s", argv != NULL ? argv[0] : "ssh",
		    strerror(errno));
	if (pair[0] != -1)
		close(pair[0]);
	if (pair[1] != -1)
		close(pair[1]);
	if (errors[0] != -1)
		close(errors[0]);
	if (errors[1] != -1)
		close(errors[1]);
	return sock_fd;
}

int
ssh_start(struct ssh *ssh, const struct target *t)
{
	ssh->ours = false;
	return start(ssh, t, NULL);
}

int
ssh_start_ours(struct ssh *ssh, const char *const *argv)
{
	ssh->ours = true;
	return start(ssh, NULL, argv);
}

/* Waits a while for a child, then ends it. Its status, -1 when ended. */
static int
reap(pid_t *pid, int patience_ms)
{
	struct timespec step = { .tv_nsec = STEP_MS * 1000000L };
	int ms, status = -1;

	if (*pid <= 0)
		return -1;
	for (ms = 0; ms < patience_ms; ms += STEP_MS) {
		if (waitpid(*pid, &status, WNOHANG) != 0) {
			*pid = 0;
			return status;
		}
		nanosleep(&step, NULL);
	}
	kill(*pid, SIGTERM);
	waitpid(*pid, NULL, 0);
	*pid = 0;
	return -1;
}

int
ssh_end(struct ssh *ssh, const struct target *t, int unexpected)
{
	int status;

	if (ssh->pid == 0)
		return CTL_OK;
	status = reap(&ssh->pid, unexpected ? PATIENCE_MS : LINGER_MS);
	/* A master connection in the background keeps standard error. */
	reap(&ssh->errors_pid, LINGER_MS);
	if (!unexpected || status == -1 || status == 0)
		return CTL_OK;
	/* one of ours has said why */
	if (ssh->ours)
		return CTL_UNREACHABLE;
	if (WIFSIGNALED(status))
		report("ssh was ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) == 255)
		report("ssh could not connect to %s (exit code 255)",
		    t->host);
	else if (WEXITSTATUS(status) == 127)
		report("%s has no " CTL_NAME " on its PATH (exit code 127); "
		    "install it there", t->host);
	else
		report("\"" CTL_NAME " proxy\" on %s ended with exit code %d",
		    t->host, WEXITSTATUS(status));
	return CTL_UNREACHABLE;
}
