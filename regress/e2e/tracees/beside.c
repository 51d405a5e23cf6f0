/* SPDX-License-Identifier: ISC */
/*
 * Leaves two places for stubs in reach of its code, one directly above the
 * other; the upper one is free from the first SIGUSR1 on.  The functions
 * low0... and high0... are the test's (see trace_engine.t).
 *
 *	beside PLACE	bytes of a place
 */
#include <sys/mman.h>

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char __executable_start;
extern long (*const tests[])(long);

static void
take(char *at, size_t len)
{
	if (mmap(at, len, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
		    MAP_FIXED_NOREPLACE,
		-1, 0) != at) {
		perror("mmap");
		exit(1);
	}
}

int
main(int argc, char *argv[])
{
	const size_t place = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	char *text = (char *)((uintptr_t)&__executable_start & ~4095UL);
	sigset_t set;
	long sum = 0;
	int i, signo;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR1);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	take(text - place, place);
	take(text - 2 * place - 4096, 4096);
	(void)!write(1, "ready\n", 6);
	(void)sigwait(&set, &signo);
	(void)munmap(text - place, place);
	(void)!write(1, "free\n", 5);
	(void)sigwait(&set, &signo);
	for (i = 0; tests[i] != NULL; i++)
		sum += tests[i](i);
	printf("%ld\n", sum);
	return (0);
}
