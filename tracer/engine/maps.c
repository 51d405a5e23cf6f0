/* SPDX-License-Identifier: ISC */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "maps.h"

#define LOWEST		0x100000UL
#define HIGHEST		0x7ffffffff000UL
#define PAGE		4096UL
#define DISTANCE	0x100000UL	/* kept from others: they may grow */
#define HEAP		0x40000000UL	/* kept free above the program */

static bool
parse(const char *line, struct map *m)
{
	char perms[5], path[32];
	unsigned long lo, hi, off, inode;
	unsigned int major, minor;
	int n;

	memset(m, 0, sizeof(*m));
	path[0] = '\0';
	n = sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %31s", &lo, &hi, perms,
	    &off, &major, &minor, &inode, path);
	if (n < 7 || hi <= lo)
		return (false);
	m->lo = lo;
	m->hi = hi;
	m->off = off;
	m->inode = inode;
	m->major = major;
	m->minor = minor;
	m->read = perms[0] == 'r';
	m->write = perms[1] == 'w';
	m->exec = perms[2] == 'x';
	m->shared = perms[3] == 's';
	m->agent = strcmp(path, "/memfd:dl-agent") == 0;
	m->special = path[0] == '[';
	return (true);
}

static bool
has_program(pid_t tid)
{
	char path[64], c;

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)tid);
	return (readlink(path, &c, 1) > 0 || errno != ENOENT);
}

pid_t
maps_task(pid_t pid)
{
	struct dirent *d;
	pid_t task = pid;
	char path[64];
	DIR *dir;

	if (has_program(pid))
		return (pid);
	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir != NULL && task == pid && (d = readdir(dir)) != NULL)
		if (d->d_name[0] != '.' &&
		    has_program((pid_t)strtol(d->d_name, NULL, 10)))
			task = (pid_t)strtol(d->d_name, NULL, 10);
	if (dir != NULL)
		(void)closedir(dir);
	return (task);
}

bool
maps_read(pid_t pid, struct maps *ms)
{
	struct map m, *more;
	char path[64], *line = NULL;
	size_t len = 0, room = 0;
	FILE *f;

	memset(ms, 0, sizeof(*ms));
	(void)snprintf(path, sizeof(path), "/proc/%d/maps",
	    (int)maps_task(pid));
	f = fopen(path, "re");
	if (f == NULL)
		return (false);
	while (getline(&line, &len, f) > 0) {
		if (!parse(line, &m))
			continue;
		if (ms->n == room) {
			room = room == 0 ? 64 : 2 * room;
			more = reallocarray(ms->v, room, sizeof(*more));
			if (more == NULL)
				break;
			ms->v = more;
		}
		ms->v[ms->n++] = m;
	}
	free(line);
	(void)fclose(f);
	return (ms->n > 0);
}

void
maps_free(struct maps *ms)
{
	free(ms->v);
	ms->v = NULL;
	ms->n = 0;
}

const struct map *
maps_at(const struct maps *ms, uint64_t addr)
{
	size_t i;

	for (i = 0; i < ms->n; i++)
		if (addr >= ms->v[i].lo && addr < ms->v[i].hi)
			return (&ms->v[i]);
	return (NULL);
}

bool
maps_begins(uint64_t off, uint64_t seen)
{
	return (off == 0 && seen > PAGE);
}

const struct map *
maps_base(const struct maps *ms, const struct map *of)
{
	const struct map *m = of, *base;
	uint64_t seen = 0;

	if (of->inode == 0)
		return (of);
	while (m > ms->v && m[-1].inode == of->inode &&
	    m[-1].major == of->major && m[-1].minor == of->minor)
		m--;
	for (base = m; m <= of; m++) {
		if (maps_begins(m->off, seen)) {
			base = m;
			seen = 0;
		}
		/* what keeps room between segments is of no byte of it */
		if ((m->read || m->write || m->exec) &&
		    m->off + (m->hi - m->lo) > seen)
			seen = m->off + (m->hi - m->lo);
	}
	return (base);
}

/* The highest place in the gap [from, to) that will do, 0: none. */
static uint64_t
fit(uint64_t from, uint64_t to, uint64_t len, bool low)
{
	if (to <= from || to - from < len)
		return (0);
	/* not right beside others where there is room */
	if (to - from >= len + 2 * DISTANCE) {
		from += DISTANCE;
		to -= DISTANCE;
	}
	return (low ? from : to - len);
}

uint64_t
maps_gap(const struct maps *ms, uint64_t lo, uint64_t hi, uint64_t len,
    uint64_t reach)
{
	uint64_t from = LOWEST, best = 0, at, to, bottom, top;
	size_t i;

	if (hi - lo > reach)
		return (0);
	bottom = hi > reach + LOWEST ? hi - reach : LOWEST;
	top = lo + reach < HIGHEST ? lo + reach : HIGHEST;
	bottom = (bottom + PAGE - 1) & ~(PAGE - 1);
	for (i = 0; i <= ms->n && from < HIGHEST; i++) {
		to = i < ms->n ? ms->v[i].lo : HIGHEST;
		if (from < bottom)
			from = bottom;
		if (to > top)
			to = top & ~(PAGE - 1);
		at = to > lo ? fit(from + HEAP, to, len, true) :
		    fit(from, to, len, false);
		if (at != 0 && (at < lo || best == 0))
			best = at;
		if (i < ms->n)
			from = ms->v[i].hi;
	}
	if (best != 0)
		return (best);
	/* anywhere at all */
	for (i = 0; i + 1 < ms->n; i++) {
		from = ms->v[i].hi > bottom ? ms->v[i].hi : bottom;
		to = ms->v[i + 1].lo < top ? ms->v[i + 1].lo : top;
		at = fit(from, to, len, false);
		if (at != 0)
			return (at);
	}
	return (0);
}
