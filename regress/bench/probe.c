/* SPDX-License-Identifier: ISC */
/*
 * The other client: asks again and again and notes how long it waits.
 * usage: probe PORT INTERVAL_MS REQUEST; "ready", then until the end of stdin.
 */
#include <err.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loopback.h"
#include "sample.h"

static struct lines lines;
static char request[256];

static uint64_t
wait_once(void)
{
	uint64_t start = clock_ns();

	send_all(lines.fd, request, strlen(request));
	if (lines_next(&lines) == NULL)
		errx(1, "the server closed the connection");
	return clock_ns() - start;
}

int
main(int argc, char **argv)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	struct sample waits = { .n = 0 };
	int interval;

	if (argc != 4)
		errx(2, "usage: probe PORT INTERVAL_MS REQUEST");
	interval = atoi(argv[2]);
	(void)snprintf(request, sizeof(request), "%s\n", argv[3]);
	lines.fd = loopback_dial(loopback_port(argv[1]));
	(void)wait_once();
	puts("ready");
	fflush(stdout);
	do {
		sample_add(&waits, wait_once());
	} while (poll(&in, 1, interval) == 0);
	printf("{");
	sample_print(&waits, "wait");
	printf("}\n");
	return 0;
}
