/* SPDX-License-Identifier: ISC */
/* Facts about the host, from /proc/sys. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "facts_read.h"
#include "launcher/base/facts.h"
#include "launcher/owner/user_limits.h"
#include "wire/role.h"

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
facts_read(void)
{
	uint64_t max = host_has("/proc/sys/kernel/pty/max", 4096);
	uint64_t reserve = host_has("/proc/sys/kernel/pty/reserve", 1024);
	char path[64];
	size_t i;

	facts.terminals = max > reserve ? max - reserve : 0;
	/* in system mode those of the fence, which hold for each user in it */
	for (i = 0; i < USER_RESOURCES; i++) {
		(void)snprintf(path, sizeof(path), "/proc/sys/user/%s",
		    user_resources[i].name);
		facts.user[i] = host_has(path, FACT_UNKNOWN);
	}
}

bool
facts_users_part(char *form, size_t size)
{
	uint64_t users = settings.sum_users, host;
	bool good = true;
	size_t i, len;

	facts_read();
	form[0] = '\0';
	for (i = 0; i < USER_RESOURCES; i++) {
		host = user_resources[i].host == NULL ? FACT_UNKNOWN :
		    host_has(user_resources[i].host, FACT_UNKNOWN);
		/* in user mode the user's own other programs share it */
		good &= facts.user[i] >= user_resources[i].least &&
		    (role_mode == MODE_USER ||
		    (facts.user[i] < FACT_NO_LIMIT &&
		    facts.user[i] <= host / users));
		if (user_resources[i].least == 1 || facts.user[i] >= FACT_NO_LIMIT)
			continue;
		len = strlen(form);
		(void)snprintf(form + len, size - len, "%s%" PRIu64 " %s",
		    len > 0 ? ", " : "each user: ", facts.user[i],
		    user_resources[i].what);
	}
	return good;
}
