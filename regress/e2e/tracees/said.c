/* SPDX-License-Identifier: ISC */
/*
 * Two threads that write within calls, by every way of libc's, and name
 * themselves: said ROUNDS.
 */
#include <sys/prctl.h>
#include <sys/uio.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static int rounds;

APART void
by_write(const char *who, int n)
{
	char line[64];

	(void)snprintf(line, sizeof(line), "%s write %d\n", who, n);
	if (write(STDOUT_FILENO, line, strlen(line)) < 0)
		abort();
}

APART void
by_writev(const char *who, int n)
{
	char tail[32];
	struct iovec v[2] = {{(void *)(size_t)who, strlen(who)}, {tail, 0}};

	(void)snprintf(tail, sizeof(tail), " writev %d\n", n);
	v[1].iov_len = strlen(tail);
	if (writev(STDERR_FILENO, v, 2) < 0)
		abort();
}

APART void
by_stdio(FILE *f, const char *who, int n)
{
	fprintf(f, "%s stdio %d\n", who, n);
	fflush(f);
}

/* Both threads share a buffer of stdio, so each locks it. */
APART void
turn(const char *who, int n)
{
	by_write(who, n);
	by_writev(who, n);
	flockfile(stdout);
	by_stdio(stdout, who, n);
	funlockfile(stdout);
}

static void *
run(void *arg)
{
	const char *who = arg;
	int i;

	(void)pthread_setname_np(pthread_self(), who);
	for (i = 0; i < rounds; i++)
		turn(who, i);
	return (NULL);
}

int
main(int argc, char *argv[])
{
	pthread_t other;

	rounds = argc > 1 ? atoi(argv[1]) : 20;
	if (pthread_create(&other, NULL, run, (void *)(size_t) "other") != 0)
		return (1);
	(void)run((void *)(size_t) "first");
	(void)pthread_join(other, NULL);
	by_stdio(stderr, "first", -1);
	return (0);
}
