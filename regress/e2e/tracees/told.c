/* SPDX-License-Identifier: ISC */
/* Lines by ways that are seen, and (DIRECT: only) by ways that are not. */
#include <sys/syscall.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void
say(int fd, const char *line)
{
#ifdef DIRECT
	(void)syscall(SYS_write, fd, line, strlen(line));
#else
	(void)!write(fd, line, strlen(line));
#endif
}

int
main(void)
{
	int other = dup(STDOUT_FILENO), i;
	char line[64];

	for (i = 0; i < 20; i++) {
		(void)snprintf(
		    line, sizeof(line), "line %d by its number\n", i);
		say(STDOUT_FILENO, line);
		(void)snprintf(line, sizeof(line),
		    "line %d by another "
		    "number\n",
		    i);
		say(other, line);
	}
	say(STDERR_FILENO, "at the end\n");
	return (0);
}
