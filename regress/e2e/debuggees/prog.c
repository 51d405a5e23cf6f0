/* SPDX-License-Identifier: ISC */
/* Something to debug: calls, structures, input, output, a loop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct point { int x, y; };

static int counter;

static int
calculate(int i)
{
	int doubled = i * 2;

	counter++;
	return doubled;
}

static int
sum_up(int n)
{
	int total = 0;

	for (int i = 0; i < n; i++)
		total += calculate(i);
	return total;
}

int
main(int argc, char **argv)
{
	struct point p = { 3, 4 };
	char line[80] = "", dir[512];
	int total = sum_up(10);

	printf("total %d %d\n", total, p.x);
	fflush(stdout);
	fprintf(stderr, "to stderr\n");
	if (argc > 1 && strcmp(argv[1], "--where") == 0)
		printf("at %s %s\n", getcwd(dir, sizeof(dir)),
		    getenv("DL_ROW"));
	if (fgets(line, sizeof(line), stdin) != NULL)
		printf("read %s", line);
	fflush(stdout);
	while (strcmp(line, "spin\n") == 0)
		usleep(10000);
	return 3;
}
