/* SPDX-License-Identifier: ISC */
/*
 * The first request of each of many connections, one after the other, that
 * are made beforehand (early), or each just before it (late).
 * usage: firsts ADDRESS PORT COUNT early|late, the request on stdin, and an
 * empty line when to begin
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loopback.h"
#include "sample.h"

/* a request names a token, which is no argument for all to see */
static char		 request[512];
static struct lines	 lines;
static struct sockaddr_in to = { .sin_family = AF_INET };

static int
dial(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd == -1 ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) == -1 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == -1)
		err(1, "connect");
	return fd;
}

static void
ask(int fd)
{
	char *answer;

	lines = (struct lines){ .fd = fd };
	send_all(fd, request, strlen(request));
	if ((answer = lines_next(&lines)) == NULL)
		errx(1, "the server closed the connection");
	if (strstr(answer, "\"error_code\"") != NULL)
		errx(1, "%s", answer);
}

static void
read_line(char *buf, size_t size)
{
	if (fgets(buf, (int)size, stdin) == NULL)
		errx(1, "nothing on stdin");
}

int
main(int argc, char **argv)
{
	struct sample took = { .n = 0 };
	char go[16];
	uint64_t t;
	bool early;
	int i, count, *fds;

	if (argc != 5 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		errx(2, "usage: firsts ADDRESS PORT COUNT early|late");
	to.sin_port = htons(loopback_port(argv[2]));
	count = atoi(argv[3]);
	early = strcmp(argv[4], "early") == 0;
	read_line(request, sizeof(request));
	fds = calloc((size_t)count, sizeof(*fds));
	if (fds == NULL)
		err(1, NULL);
	for (i = 0; i < count && early; i++)
		fds[i] = dial();
	printf("ready\n");
	fflush(stdout);
	read_line(go, sizeof(go));
	for (i = 0; i < count; i++) {
		t = clock_ns();
		if (!early)
			fds[i] = dial();
		ask(fds[i]);
		sample_add(&took, clock_ns() - t);
	}
	printf("{");
	sample_print(&took, "first");
	printf("}\n");
	fflush(stdout);
	/* what closing them costs is nothing of this */
	read_line(go, sizeof(go));
	return 0;
}
