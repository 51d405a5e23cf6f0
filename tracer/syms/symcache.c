/* SPDX-License-Identifier: ISC */
/* Indexes by build id. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../symbols/index.h"
#include "symcache.h"

struct entry {
	char		 id[SYM_BUILD_ID * 2 + 1];
	uint64_t	 size;
	int		 fd;
};

/* The one used last comes first. */
static struct entry	 entries[SYMCACHE_MAX];
static size_t		 n;

static void
to_front(size_t i)
{
	struct entry e = entries[i];

	memmove(&entries[1], &entries[0], i * sizeof(e));
	entries[0] = e;
}

int
symcache_get(const char *build_id, uint64_t size)
{
	size_t i;

	for (i = 0; i < n && build_id[0] != '\0'; i++) {
		if (entries[i].size != size ||
		    strcmp(entries[i].id, build_id) != 0)
			continue;
		to_front(i);
		return entries[0].fd;
	}
	return -1;
}

void
symcache_put(const char *build_id, uint64_t size, int fd)
{
	struct entry *e;

	if (build_id[0] == '\0' ||
	    strlen(build_id) >= sizeof(entries[0].id) ||
	    symcache_get(build_id, size) != -1) {
		close(fd);
		return;
	}
	if (n == SYMCACHE_MAX)
		close(entries[--n].fd);
	e = &entries[n++];
	(void)snprintf(e->id, sizeof(e->id), "%s", build_id);
	e->size = size;
	e->fd = fd;
	to_front(n - 1);
}

void
symcache_clear(void)
{
	while (n > 0)
		close(entries[--n].fd);
}
