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

/* As the observer has them before it lowers its own. */
static rlim_t	host_rlimits[USER_RLIMITS];

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

void
facts_read_rlimits(void)
{
	struct rlimit rl;
	size_t i;

	for (i = 0; i < USER_RLIMITS; i++)
		host_rlimits[i] = getrlimit(user_rlimits[i].which, &rl) == -1 ?
		    RLIM_INFINITY : rl.rlim_max;
}

static void
add_part(char *form, size_t size, uint64_t n, const char *what)
{
	size_t len = strlen(form);

	(void)snprintf(form + len, size - len, "%s%" PRIu64 " %s",
	    len > 0 ? ", " : "each user: ", n, what);
}

/* Parts of what all users together have in a fence that setup could not lift. */
static bool
rlimits_part(char *form, size_t size)
{
	bool good = true;
	uint64_t part;
	size_t i;

	for (i = 0; i < USER_RLIMITS; i++) {
		if (host_rlimits[i] == RLIM_INFINITY)
			continue;
		part = user_limits_part(host_rlimits[i],
		    settings.rlimit_users);
		good &= part >= user_rlimits[i].least;
		add_part(form, size, part, user_rlimits[i].what);
	}
	return good;
}

bool
facts_users_part(char *form, size_t size)
{
	uint64_t users = settings.sum_users, host;
	bool good = true;
	size_t i;

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
		if (user_resources[i].least > 1 &&
		    facts.user[i] < FACT_NO_LIMIT)
			add_part(form, size, facts.user[i],
			    user_resources[i].what);
	}
	if (role_mode == MODE_SYSTEM && settings.rlimit_users > 1)
		good &= rlimits_part(form, size);
	return good;
}
