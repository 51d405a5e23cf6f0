/* SPDX-License-Identifier: ISC */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "again.h"
#include "role.h"
#include "sums.h"

/* a terminal multiplexer's windows; a test that types at programs */
#define TERMINALS_TTY	64
#define TERMINALS_PIPES	16

/* the defaults of the kernel: 4096, and 1024 of them for the host alone */
static uint64_t	terminals = 4096 - 1024;

/* The first number in the file, otherwise. */
static uint64_t
host_has(const char *path, uint64_t otherwise)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[24];
	ssize_t n;

	if (fd == -1)
		return otherwise;
	n = read_again(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return otherwise;
	text[n] = '\0';
	return strtoull(text, NULL, 10);
}

void
sums_read(void)
{
	uint64_t max = host_has("/proc/sys/kernel/pty/max", 4096);
	uint64_t reserve = host_has("/proc/sys/kernel/pty/reserve", 1024);

	terminals = max > reserve ? max - reserve : 0;
}

unsigned int
sums_terminals(bool tty)
{
	unsigned int most = tty ? TERMINALS_TTY : TERMINALS_PIPES;
	uint64_t part = terminals / settings.max_sessions;

	if (part == 0)
		return 1;
	return part < most ? (unsigned int)part : most;
}
