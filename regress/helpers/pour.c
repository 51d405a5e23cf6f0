/* SPDX-License-Identifier: ISC */
/* flags: -static */
/*
 * usage: pour bytes [pipe-size]
 * Numbered lines of 16 bytes to stdout and to stderr, in pieces of several
 * sizes in turn; exit code 7.  With a size it makes its pipes as large first.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PIECE_MAX	8192

struct stream {
	int			 fd;
	unsigned long long	 done;
};

static int
put(struct stream *s, size_t n)
{
	char buf[PIECE_MAX + 8];
	ssize_t w;
	size_t i;

	for (i = 0; i < n; i += 16)
		(void)snprintf(buf + i, 24, "%c%014llu\n",
		    s->fd == STDOUT_FILENO ? 'o' : 'e',
		    (s->done + i) / 16 % 100000000000000ULL);
	s->done += n;
	for (i = 0; i < n; i += (size_t)w)
		if ((w = write(s->fd, buf + i, n - i)) == -1)
			return -1;
	return 0;
}

int
main(int argc, char **argv)
{
	unsigned long long total = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	struct stream out = { STDOUT_FILENO, 0 }, err = { STDERR_FILENO, 0 };
	size_t n, round;

	if (argc > 2 && (fcntl(out.fd, F_SETPIPE_SZ, atoi(argv[2])) == -1 ||
	    fcntl(err.fd, F_SETPIPE_SZ, atoi(argv[2])) == -1))
		return 1;
	for (round = 1; out.done < total; round++) {
		n = round % 64 == 0 ? PIECE_MAX : round % 7 * 512 + 16;
		if (n > total - out.done)
			n = (size_t)(total - out.done);
		if (put(&out, n) == -1 || put(&err, n) == -1)
			return 1;
	}
	return 7;
}
