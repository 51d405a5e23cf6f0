/* SPDX-License-Identifier: ISC */
/* Sockets on 127.0.0.1, and lines read from them. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loopback.h"

static struct sockaddr_in
address(uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };

	sin.sin_port = htons(port);
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return sin;
}

/* Clients and servers alike: a delayed segment is no cost of either. */
static void
no_delay(int fd)
{
	int on = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == -1)
		err(1, "TCP_NODELAY");
}

uint16_t
loopback_port(const char *text)
{
	long v = strtol(text, NULL, 10);

	if (v < 1 || v > UINT16_MAX)
		errx(2, "%s is no port", text);
	return (uint16_t)v;
}

int
loopback_dial(uint16_t port)
{
	struct sockaddr_in sin = address(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd == -1)
		err(1, "socket");
	if (connect(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1)
		err(1, "connect to 127.0.0.1:%u", port);
	no_delay(fd);
	return fd;
}

int
loopback_listen(void)
{
	struct sockaddr_in sin = address(0);
	socklen_t len = sizeof(sin);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd == -1 || bind(fd, (struct sockaddr *)&sin, len) == -1 ||
	    listen(fd, 1024) == -1 ||
	    getsockname(fd, (struct sockaddr *)&sin, &len) == -1)
		err(1, "listen on 127.0.0.1");
	printf("%u\n", ntohs(sin.sin_port));
	fflush(stdout);
	return fd;
}

int
loopback_accept(int listen_fd)
{
	int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd == -1)
		err(1, "accept");
	no_delay(fd);
	return fd;
}

void
send_all(int fd, const void *data, size_t len)
{
	const char *p = data;
	ssize_t n;

	while (len > 0) {
		n = send(fd, p, len, MSG_NOSIGNAL);
		if (n == -1)
			err(1, "send");
		p += n;
		len -= (size_t)n;
	}
}

char *
lines_next(struct lines *l)
{
	char *line, *nl;
	ssize_t n;

	while ((nl = memchr(l->buf + l->used, '\n', l->len - l->used)) ==
	    NULL) {
		memmove(l->buf, l->buf + l->used, l->len - l->used);
		l->len -= l->used;
		l->used = 0;
		if (l->len == sizeof(l->buf))
			errx(1, "a line of more than %zu bytes", l->len);
		n = recv(l->fd, l->buf + l->len, sizeof(l->buf) - l->len, 0);
		if (n == -1)
			err(1, "recv");
		if (n == 0)
			return NULL;
		l->len += (size_t)n;
	}
	*nl = '\0';
	line = l->buf + l->used;
	l->used = (size_t)(nl - l->buf) + 1;
	return line;
}

static const char *
said(struct lines *l, const char *line)
{
	const char *answer;

	send_all(l->fd, line, strlen(line));
	if ((answer = lines_next(l)) == NULL)
		errx(1, "closed without an answer");
	return answer;
}

void
lines_hello(struct lines *l)
{
	static const char before[] = "{\"nonce\":\"";
	const char *answer = said(l, "HELLO\n");
	char line[128];

	if (strncmp(answer, before, strlen(before)) != 0)
		errx(1, "no nonce: %s", answer);
	answer += strlen(before);
	(void)snprintf(line, sizeof(line), "HELLO %.*s\n",
	    (int)strspn(answer, "0123456789abcdef"), answer);
	answer = said(l, line);
	if (strcmp(answer, "{\"ok\":true}") != 0)
		errx(1, "HELLO: %s", answer);
}
