/* SPDX-License-Identifier: ISC */
/*
 * Starts one session again and again: to the answer of START, and to the
 * answer of a WAIT sent after it.  usage: starts PORT ID COUNT
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loopback.h"
#include "sample.h"

static struct lines lines;

static void
ask(const char *request)
{
	char *answer;

	send_all(lines.fd, request, strlen(request));
	if ((answer = lines_next(&lines)) == NULL)
		errx(1, "the server closed the connection");
	if (strstr(answer, "\"error_code\"") != NULL)
		errx(1, "%.*s: %s", (int)strcspn(request, "\n"), request,
		    answer);
}

int
main(int argc, char **argv)
{
	struct sample exec = { .n = 0 }, gone = { .n = 0 };
	char start[128], wait[128];
	uint64_t t;
	int i, count;

	if (argc != 4)
		errx(2, "usage: starts PORT ID COUNT");
	count = atoi(argv[3]);
	(void)snprintf(start, sizeof(start), "START %s\n", argv[2]);
	(void)snprintf(wait, sizeof(wait), "WAIT %s 10\n", argv[2]);
	lines.fd = loopback_dial(loopback_port(argv[1]));
	lines_hello(&lines);
	/* the first round is not counted: caches, identity of the client */
	for (i = 0; i <= count; i++) {
		t = clock_ns();
		ask(start);
		if (i > 0)
			sample_add(&exec, clock_ns() - t);
		ask(wait);
		if (i > 0)
			sample_add(&gone, clock_ns() - t);
	}
	printf("{");
	sample_print(&exec, "exec");
	printf(",");
	sample_print(&gone, "exit");
	printf("}\n");
	return 0;
}
