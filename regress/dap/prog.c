/* SPDX-License-Identifier: ISC */
/* A program to be debugged; its first argument says how it goes on. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int stop_me;

static int
square(int x)
{
	int y = x * x;

	return y;
}

static void *
worker(void *arg)
{
	while (!stop_me)
		usleep(1000);
	return arg;
}

/* 100 MB. */
static void
flood(void)
{
	static char piece[1 << 16];
	int i;

	memset(piece, 'x', sizeof(piece));
	for (i = 0; i < 1600; i++)
		fwrite(piece, 1, sizeof(piece), stdout);
	printf("after it\n");
}

static void
run(const char *what)
{
	char line[80];
	pthread_t t;

	if (strcmp(what, "read") == 0 && fgets(line, sizeof(line), stdin))
		printf("got %s", line);
	else if (strcmp(what, "halves") == 0) {
		fwrite("half \303", 1, 6, stdout);
		fflush(stdout);
		(void)!fgets(line, sizeof(line), stdin);
		fwrite("\244\n", 1, 2, stdout);
		fflush(stdout);
		(void)!fgets(line, sizeof(line), stdin);
	} else if (strcmp(what, "flood") == 0)
		flood();
	else if (strcmp(what, "segv") == 0)
		*(volatile int *)0 = 1;
	else if (strcmp(what, "abort") == 0)
		abort();
	else if (strcmp(what, "raise") == 0)
		raise(SIGUSR1);
	else if (strcmp(what, "harmless") == 0) {
		raise(SIGURG);
		raise(SIGWINCH);
		raise(SIGCHLD);
	} else if (strcmp(what, "env") == 0)
		printf("A=%s\n", getenv("A"));
	else if (strcmp(what, "tty") == 0)
		printf("tty %d%d%d\n", isatty(0), isatty(1), isatty(2));
	else if (strcmp(what, "bytes") == 0)
		fwrite("\0\377\200\r\n", 1, 5, stdout);
	else if (strcmp(what, "loop") == 0 &&
	    pthread_create(&t, NULL, worker, NULL) == 0)
		pthread_join(t, NULL);
}

int
main(int argc, char *argv[])
{
	int i, sum = 0;

	for (i = 0; i < 3; i++) {
		sum += square(i);
		printf("i=%d sum=%d\n", i, sum);
	}
	fflush(stdout);
	fprintf(stderr, "to stderr\n");
	if (argc > 1)
		run(argv[1]);
	fflush(stdout);
	return 3;
}
