/* SPDX-License-Identifier: ISC */
/*
 * Clients of a terminal, over the control protocol.
 * usage: term PORT flood ID CLIENTS [STALLED WARM]	types a newline; all that
 *		read, read to the end: bytes of each, and nanoseconds.  With
 *		WARM another newline goes before, and so many bytes.
 *	  term PORT echo ID N			types N bytes one by one
 *	  term PORT stop ID RATE		reads RATE bytes a second; after
 *		a second types ^C: nanoseconds until the end
 */
#include <sys/socket.h>

#include <err.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "loopback.h"
#include "sample.h"

#define CLIENTS_MAX	64
#define OUTPUT		0x80
#define EXIT		0x82
#define LIVE		0x87

struct client {
	int	 fd;
	uint8_t	 head[13];	/* length, type, offset */
	size_t	 have;		/* of that */
	size_t	 left;		/* of the message's rest */
	uint64_t bytes;		/* of output */
	bool	 live, ended;
};

static char	buf[256 * 1024];

static void
say(int fd, const void *p, size_t n)
{
	uint8_t head[5] = { 0, 0, 0, (uint8_t)(n + 1), 0 };

	send_all(fd, head, sizeof(head));
	send_all(fd, p, n);
}

static void
message(struct client *c, size_t len)
{
	c->live |= c->head[4] == LIVE;
	c->ended |= c->head[4] == EXIT;
	if (c->head[4] == OUTPUT)
		c->bytes += len - 9;
}

/* Heads are read, the rest is skipped. */
static void
take(struct client *c, const char *p, size_t n)
{
	size_t len, k;

	while (n > 0) {
		if (c->left > 0) {
			k = n < c->left ? n : c->left;
			c->left -= k;
		} else {
			k = 5 - c->have < n ? 5 - c->have : n;
			memcpy(c->head + c->have, p, k);
			c->have += k;
			if (c->have == 5) {
				len = (size_t)c->head[0] << 24 |
				    (size_t)c->head[1] << 16 |
				    (size_t)c->head[2] << 8 | c->head[3];
				message(c, len);
				c->left = len - 1;
				c->have = 0;
			}
		}
		p += k;
		n -= k;
	}
}

static bool
hear(struct client *c, size_t most)
{
	ssize_t n = recv(c->fd, buf, most < sizeof(buf) ? most : sizeof(buf),
	    0);

	if (n <= 0)
		errx(1, "closed before the end");
	take(c, buf, (size_t)n);
	return !c->ended;
}

/* Reads the answer byte by byte, as messages follow it. */
static void
attach(struct client *c, uint16_t port, const char *id, const char *how)
{
	static struct lines lines;
	char line[128];
	char b = 0;

	memset(c, 0, sizeof(*c));
	c->fd = loopback_dial(port);
	lines.fd = c->fd;
	lines.len = lines.used = 0;
	lines_hello(&lines);
	(void)snprintf(line, sizeof(line), "ATTACH %s %s\n", id, how);
	send_all(c->fd, line, strlen(line));
	while (b != '\n')
		if (recv(c->fd, &b, 1, 0) != 1)
			errx(1, "not attached");
	while (!c->live)
		(void)hear(c, sizeof(buf));
}

/* By now who does not read has been found out. */
static void
warm_up(struct client *c, uint64_t bytes)
{
	say(c->fd, "\n", 1);
	while (c->bytes < bytes)
		(void)hear(c, sizeof(buf));
	c->bytes = 0;
}

static void
flood(uint16_t port, const char *id, size_t n, size_t stalled, uint64_t warm)
{
	static struct client c[CLIENTS_MAX], lazy[CLIENTS_MAX];
	struct pollfd p[CLIENTS_MAX];
	size_t i, left = n;
	uint64_t start;

	for (i = 0; i < n; i++)
		attach(&c[i], port, id, i == 0 ? "" : "ro");
	for (i = 0; i < stalled; i++)
		attach(&lazy[i], port, id, "ro");
	if (warm > 0)
		warm_up(&c[0], warm);
	start = clock_ns();
	say(c[0].fd, "\n", 1);
	while (left > 0) {
		for (i = 0; i < n; i++)
			p[i] = (struct pollfd){ c[i].ended ? -1 : c[i].fd,
			    POLLIN, 0 };
		if (poll(p, n, -1) == -1)
			err(1, "poll");
		for (i = 0; i < n; i++)
			if (p[i].revents != 0 && !hear(&c[i], sizeof(buf)))
				left--;
	}
	printf("{\"ns\":%" PRIu64 ",\"bytes\":[", clock_ns() - start);
	for (i = 0; i < n; i++)
		printf("%s%" PRIu64, i == 0 ? "" : ",", c[i].bytes);
	printf("]}\n");
}

static void
echo(uint16_t port, const char *id, size_t n)
{
	static const struct timespec pause = { 0, 2000000 };
	struct sample s = { 0 };
	struct client c;
	uint64_t start, bytes;
	size_t i;

	attach(&c, port, id, "");
	for (i = 0; i < n; i++) {
		nanosleep(&pause, NULL);
		bytes = c.bytes;
		start = clock_ns();
		say(c.fd, "x", 1);
		while (c.bytes == bytes)
			(void)hear(&c, sizeof(buf));
		sample_add(&s, clock_ns() - start);
	}
	printf("{");
	sample_print(&s, "echo");
	printf("}\n");
}

/* Takes what a slow reader would have taken by now. */
static bool
hear_slowly(struct client *c, uint64_t begun, uint64_t *got, uint64_t rate)
{
	static const struct timespec pause = { 0, 1000000 };
	uint64_t due = (clock_ns() - begun) / 1000 * rate / 1000000;
	bool more = true;

	if (due <= *got) {
		nanosleep(&pause, NULL);
		return true;
	}
	while (more && *got < due) {
		more = hear(c, 16384);
		*got += 16384;
	}
	return more;
}

static void
stop(uint16_t port, const char *id, uint64_t rate)
{
	uint64_t begun, got = 0, asked = 0;
	struct client c;

	attach(&c, port, id, "");
	say(c.fd, "\n", 1);
	begun = clock_ns();
	while (hear_slowly(&c, begun, &got, rate))
		if (asked == 0 && clock_ns() - begun > 1000000000) {
			asked = clock_ns();
			say(c.fd, "\003", 1);
		}
	printf("{\"ns\":%" PRIu64 "}\n", clock_ns() - asked);
}

int
main(int argc, char **argv)
{
	uint16_t port;

	if (argc < 5)
		errx(2, "usage: term PORT flood|echo|stop ID N [STALLED WARM]");
	port = loopback_port(argv[1]);
	if (strcmp(argv[2], "flood") == 0)
		flood(port, argv[3], strtoul(argv[4], NULL, 10),
		    argc > 5 ? strtoul(argv[5], NULL, 10) : 0,
		    argc > 6 ? strtoull(argv[6], NULL, 10) : 0);
	else if (strcmp(argv[2], "echo") == 0)
		echo(port, argv[3], strtoul(argv[4], NULL, 10));
	else
		stop(port, argv[3], strtoull(argv[4], NULL, 10));
	return 0;
}
