/* SPDX-License-Identifier: ISC */
/* flags: -static */
/*
 * Takes as much as it gets of what the kernel counts for users and not for
 * processes: inotify instances, timers (as pending signals), message queues,
 * user namespaces; only so many with a number.  Says how many and waits.
 */
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <errno.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int
take_inotify(int n)
{
	(void)n;
	return inotify_init1(0) == -1 ? -1 : 0;
}

static int
take_timer(int n)
{
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL,
	    .sigev_signo = SIGRTMIN };
	timer_t t;

	(void)n;
	return timer_create(CLOCK_MONOTONIC, &ev, &t);
}

static int
take_queue(int n)
{
	struct mq_attr a = { .mq_maxmsg = 10, .mq_msgsize = 8192 };
	char name[32];
	mqd_t q;

	(void)snprintf(name, sizeof(name), "/takes-%d-%d", (int)getpid(), n);
	q = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &a);
	if (q == (mqd_t)-1)
		return -1;
	/* it lives, and counts, as long as it is open */
	(void)mq_unlink(name);
	return 0;
}

static int
take_userns(int n)
{
	int up[2], error = 0;
	pid_t pid;

	(void)n;
	if (pipe(up) == -1 || (pid = fork()) == -1)
		return -1;
	if (pid == 0) {
		if (unshare(CLONE_NEWUSER) == -1)
			error = errno;
		(void)!write(up[1], &error, sizeof(error));
		close(up[0]);
		close(up[1]);
		while (error == 0)
			pause();
		_exit(0);
	}
	close(up[1]);
	(void)!read(up[0], &error, sizeof(error));
	close(up[0]);
	errno = error;
	return error == 0 ? 0 : -1;
}

static const struct {
	const char	*name;
	int		(*take)(int);
} kinds[] = {
	{ "inotify", take_inotify }, { "timer", take_timer },
	{ "queue", take_queue }, { "userns", take_userns },
};

int
main(int argc, char **argv)
{
	int most = argc > 2 ? atoi(argv[2]) : 1000000, n = 0;
	struct rlimit rl;
	size_t i;

	if (getrlimit(RLIMIT_NOFILE, &rl) == 0) {
		rl.rlim_cur = rl.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &rl);
	}
	errno = 0;
	for (i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(argv[1], kinds[i].name) == 0)
			while (n < most && kinds[i].take(n) == 0)
				n++;
	printf("took %d %s\n", n, n == most ? "0" : strerrorname_np(errno));
	(void)fflush(stdout);
	for (;;)
		pause();
}
