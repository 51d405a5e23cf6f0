/* SPDX-License-Identifier: ISC */
/* flags: -O0 -g -fno-inline */
/* A debuggee for gdb: known names, and a loop that a debugger can end. */
#include <stdio.h>
#include <unistd.h>

volatile int	go_on = 1;
volatile int	ticks;

int
tick(int step)
{
	ticks += step;
	return ticks;
}

int
main(int argc, char **argv)
{
	printf("target %s\n", argc > 1 ? argv[1] : "alone");
	fflush(stdout);
	while (go_on) {
		tick(2);
		usleep(20000);
	}
	printf("released\n");
	return 42;
}
