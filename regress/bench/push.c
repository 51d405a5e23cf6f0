/* SPDX-License-Identifier: ISC */
/*
 * The uploader: the same for the daemon and for the baseline.
 * usage: push PORT FILE [EXEC_PATH]; prints nanoseconds and the answer.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "loopback.h"
#include "sample.h"

static struct lines lines;

int
main(int argc, char **argv)
{
	char head[512], *answer;
	struct stat st;
	uint64_t start;
	void *data;
	size_t len;
	int fd;

	if (argc != 3 && argc != 4)
		errx(2, "usage: push PORT FILE [EXEC_PATH]");
	fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (fd == -1 || fstat(fd, &st) == -1)
		err(1, "%s", argv[2]);
	len = (size_t)st.st_size;
	/* pages in place before the clock starts: no disk is measured */
	data = mmap(NULL, len, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (data == MAP_FAILED)
		err(1, "mmap %s", argv[2]);
	(void)snprintf(head, sizeof(head), "UPLOAD %zu%s%s\n", len,
	    argc == 4 ? " " : "", argc == 4 ? argv[3] : "");
	lines.fd = loopback_dial(loopback_port(argv[1]));

	start = clock_ns();
	send_all(lines.fd, head, strlen(head));
	send_all(lines.fd, data, len);
	if ((answer = lines_next(&lines)) == NULL)
		errx(1, "closed without an answer");
	printf("%" PRIu64 "\n%s\n", clock_ns() - start, answer);
	close(fd);
	return 0;
}
