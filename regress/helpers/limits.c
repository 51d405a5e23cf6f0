/* SPDX-License-Identifier: ISC */
/* flags: -static */
/*
 * Runs into one of its limits: cpu, as BYTES, nofile, nproc, core; or holds
 * BYTES of memory.
 */
#include <sys/mman.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
forks(void)
{
	int n = 0;

	while (n < 100000) {
		pid_t pid = fork();

		if (pid == -1)
			break;
		if (pid == 0)
			for (;;)
				pause();
		n++;
	}
	dprintf(STDOUT_FILENO, "forked %d %s\n", n, strerrorname_np(errno));
	return 0;
}

static int
opens(void)
{
	int n = 0;

	while (open("/dev/null", O_RDONLY) != -1)
		n++;
	dprintf(STDOUT_FILENO, "opened %d %s\n", n, strerrorname_np(errno));
	return 0;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	volatile unsigned long spin = 0;
	unsigned long long n;
	void *p;

	if (strcmp(what, "cpu") == 0)
		for (;;)
			spin++;
	if (strcmp(what, "nofile") == 0)
		return opens();
	if (strcmp(what, "nproc") == 0)
		return forks();
	if (strcmp(what, "hold") == 0 && argc > 2) {
		n = strtoull(argv[2], NULL, 10);
		p = malloc(n);
		if (p == NULL)
			return 1;
		explicit_bzero(p, n);
		for (;;)
			pause();
	}
	if (strcmp(what, "as") == 0 && argc > 2) {
		p = mmap(NULL, strtoull(argv[2], NULL, 10), PROT_READ |
		    PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		    -1, 0);
		dprintf(STDOUT_FILENO, "mapped %s\n", p == MAP_FAILED ?
		    strerrorname_np(errno) : "0");
		return 0;
	}
	return 2;
}
