/* SPDX-License-Identifier: ISC */
/*
 * Baseline for UPLOAD: a socket copied to a memfd, one connection after the
 * other.  usage: sink; prints its port.
 */
#include <sys/mman.h>
#include <sys/socket.h>

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "loopback.h"

static struct lines lines;

static void
keep(int memfd, const char *p, size_t len)
{
	ssize_t n;

	while (len > 0) {
		if ((n = write(memfd, p, len)) == -1)
			err(1, "write to a memfd");
		p += n;
		len -= (size_t)n;
	}
}

static void
fill(int fd, int memfd, size_t left)
{
	static char buf[256 * 1024];
	ssize_t n;

	while (left > 0) {
		n = recv(fd, buf, left < sizeof(buf) ? left : sizeof(buf), 0);
		if (n <= 0)
			errx(1, "closed with %zu bytes to come", left);
		keep(memfd, buf, (size_t)n);
		left -= (size_t)n;
	}
}

static void
serve(int fd)
{
	static const char answer[] = "{\"id\":null}\n";
	size_t size, early;
	char *line;
	int memfd;

	lines.fd = fd;
	lines.len = lines.used = 0;
	line = lines_next(&lines);
	if (line == NULL || sscanf(line, "UPLOAD %zu", &size) != 1)
		return;
	memfd = memfd_create("sink", MFD_CLOEXEC);
	if (memfd == -1 || ftruncate(memfd, (off_t)size) == -1)
		err(1, "memfd of %zu bytes", size);
	early = lines.len - lines.used;
	keep(memfd, lines.buf + lines.used, early);
	fill(fd, memfd, size - early);
	send_all(fd, answer, strlen(answer));
	close(memfd);
}

int
main(void)
{
	int fd, listen_fd = loopback_listen();

	for (;;) {
		fd = loopback_accept(listen_fd);
		serve(fd);
		close(fd);
	}
}
