/* SPDX-License-Identifier: ISC */
/*
 * The files that a process has mapped to run them.  The process says where
 * they are, and may lie: what is opened has to be what the kernel has mapped.
 */
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracer/engine/maps.h"
#include "tracer/record/process.h"

#define MODULES_MOST	512
#define AGENT		"/memfd:dl-agent"

/* A line of /proc/PID/maps, and the first of its file. */
struct line {
	uint64_t lo, hi, off, inode;
	unsigned int major, minor;
	bool	 exec, used;
	char	 path[PATH_MAX];
};

/* The kernel writes a newline in a path as \012. */
static void
unescape(char *s)
{
	char *to = s;

	for (; *s != '\0'; s++) {
		if (strncmp(s, "\\012", 4) == 0) {
			*to++ = '\n';
			s += 3;
		} else
			*to++ = *s;
	}
	*to = '\0';
}

static bool
parse(char *text, struct line *l)
{
	unsigned long lo, hi, off, inode;
	char perms[5];
	int at = 0;

	text[strcspn(text, "\n")] = '\0';
	if (sscanf(text, "%lx-%lx %4s %lx %x:%x %lu %n", &lo, &hi, perms,
	    &off, &l->major, &l->minor, &inode, &at) < 7 || at == 0)
		return false;
	l->lo = lo;
	l->hi = hi;
	l->off = off;
	l->inode = inode;
	l->exec = perms[2] == 'x';
	l->used = strncmp(perms, "---", 3) != 0;
	(void)snprintf(l->path, sizeof(l->path), "%s", text + at);
	unescape(l->path);
	return inode != 0 && l->path[0] == '/' &&
	    strncmp(l->path, AGENT, strlen(AGENT)) != 0;
}

/*
 * Whether that is the file which is mapped.  Some file systems have another
 * device number in stat(2) than in maps: there the inode has to do.
 */
static bool
is_mapped(const struct stat *st, const struct line *l)
{
	return S_ISREG(st->st_mode) && st->st_ino == l->inode &&
	    (st->st_dev == makedev(l->major, l->minor) ||
	    major(st->st_dev) == 0);
}

/* Nothing else than that file is opened, whatever the path leads to now. */
static int
open_mapped(const char *path, const struct line *l)
{
	int path_fd = open(path, O_PATH | O_CLOEXEC), fd = -1;
	char own[64];
	struct stat st;

	if (path_fd == -1)
		return -1;
	if (fstat(path_fd, &st) == 0 && is_mapped(&st, l)) {
		(void)snprintf(own, sizeof(own), "/proc/self/fd/%d", path_fd);
		fd = open(own, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	}
	close(path_fd);
	return fd;
}

static bool
is_exe(pid_t task, const struct line *l)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)task);
	return stat(path, &st) == 0 && is_mapped(&st, l);
}

static struct binary *
binary_at(pid_t task, const struct line *l, bool exe)
{
	char path[PATH_MAX + 64];
	int fd;

	if (exe)
		(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)task);
	else
		(void)snprintf(path, sizeof(path), "/proc/%d/root%s",
		    (int)task, l->path);
	fd = open_mapped(path, l);
	return fd == -1 ? NULL : binary_of(fd, l->path);
}

static void
add(struct process *p, const struct module *m)
{
	struct module *all;

	if (p->nmodules == MODULES_MOST)
		return;
	all = reallocarray(p->modules, p->nmodules + 1, sizeof(*all));
	if (all == NULL)
		return;
	p->modules = all;
	/* the program's own functions are looked at first */
	if (m->exe) {
		memmove(all + 1, all, p->nmodules * sizeof(*all));
		all[0] = *m;
	} else
		all[p->nmodules] = *m;
	p->nmodules++;
}

/* Finds the module that had this base address at the last look. */
static const struct module *
known(const struct module *old, size_t n, uint64_t base)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (old[i].base == base)
			return &old[i];
	return NULL;
}

struct look {
	struct process	*p;
	pid_t		 task;		/* in /proc */
	const struct module *old;
	size_t		 nold;
	bool		 had_exe;
};

/* The mappings of one file: the first of them, and where the last ends. */
static void
take_file(struct look *k, const struct line *l, uint64_t end)
{
	const struct module *was = known(k->old, k->nold, l->lo);
	struct module m = { .base = l->lo };
	struct stat st;

	if (was != NULL && fstat(was->binary->fd, &st) == 0 &&
	    is_mapped(&st, l))
		m = *was;
	else {
		m.exe = !k->had_exe && is_exe(k->task, l);
		m.binary = binary_at(k->task, l, m.exe);
	}
	m.end = end;
	k->had_exe = k->had_exe || m.exe;
	if (m.binary == NULL)
		return;
	m.binary->exe = m.binary->exe || m.exe;
	add(k->p, &m);
}

static bool
same_file(const struct line *a, const struct line *b)
{
	return a->inode == b->inode && a->major == b->major &&
	    a->minor == b->minor;
}

static void
read_maps(struct look *k, FILE *f)
{
	static struct line l, first;
	char *text = NULL;
	uint64_t end = 0, seen = 0;
	size_t size = 0;
	bool exec = false;

	memset(&first, 0, sizeof(first));
	while (getline(&text, &size, f) > 0) {
		if (!parse(text, &l))
			continue;
		if (!same_file(&l, &first) || maps_begins(l.off, seen)) {
			if (exec)
				take_file(k, &first, end);
			first = l;
			exec = false;
			seen = 0;
		}
		exec = exec || l.exec;
		end = l.hi;
		if (l.used && l.off + (l.hi - l.lo) > seen)
			seen = l.off + (l.hi - l.lo);
	}
	if (exec)
		take_file(k, &first, end);
	free(text);
}

/* False if the process is ending: its list is empty, or was cut off. */
static bool
has_memory(FILE *f)
{
	rewind(f);
	return fgetc(f) != EOF;
}

void
process_look(struct process *p)
{
	struct look k = { .p = p, .task = maps_task(p->pid),
		.old = p->modules, .nold = p->nmodules };
	char path[64];
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)k.task);
	f = fopen(path, "re");
	if (f == NULL)
		return;
	p->modules = NULL;
	p->nmodules = 0;
	read_maps(&k, f);
	if (has_memory(f))
		free((void *)(uintptr_t)k.old);
	else {
		/* what it had is what is told of it when it has ended */
		free(p->modules);
		p->modules = (struct module *)(uintptr_t)k.old;
		p->nmodules = k.nold;
	}
	(void)fclose(f);
	p->stale = false;
}

uint64_t
module_bias(const struct module *m)
{
	return m->base - (m->binary->ix.header->load_addr & ~0xfffULL);
}
