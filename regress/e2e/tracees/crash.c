/* SPDX-License-Identifier: ISC */
/* Ends in one way or another, some calls deep: crash.c HOW */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int *nowhere = (int *)0x1234;

__attribute__((noinline, noclone)) int
bottom(const char *how)
{
	if (strcmp(how, "segv") == 0)
		*nowhere = 1;
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "wild") == 0)
		((void (*)(void))0x10)();
	return (1);
}

__attribute__((noinline, noclone)) int
top(const char *how)
{
	return (bottom(how) + 1);
}

static void
handler(int signo)
{
	static const char word[] = "caught\n";

	(void)signo;
	(void)!write(1, word, sizeof(word) - 1);
	_exit(7);
}

int
main(int argc, char *argv[])
{
	if (argc > 2)
		(void)signal(SIGSEGV, handler);
	return (top(argc > 1 ? argv[1] : "segv"));
}
