/* SPDX-License-Identifier: ISC */
/* links: common/base/log.c common/base/utf8.c */
/* covers: tracer/engine/maps.c tracer/binary/modules.c */
/*
 * Fuzz target of /proc/PID/maps, as the two parts of a tracer read it: the
 * kernel writes it, but names, numbers of mappings and where they are come
 * from the process.  Answers about free space between mappings must be true.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "regress/fuzz/fuzz.h"

static FILE	*fuzz_maps(void);
static int	 fuzz_stat(const char *, struct stat *);
static int	 fuzz_path(const char *);
static int	 fuzz_fstat(int, struct stat *);

#define fopen(path, mode)	fuzz_maps()
#define parse			maps_parse
#include "tracer/engine/maps.c"
#undef parse
#define parse			modules_parse
#define open(path, flags)	fuzz_path(path)
#define fstat(fd, st)		fuzz_fstat(fd, st)
#define stat(path, st)		fuzz_stat(path, st)
#include "tracer/binary/modules.c"
#undef open
#undef fopen
#undef fstat
#undef stat

#define FILES		16	/* that there are at most */
#define PAGES(n)	((uint64_t)(n) * 4096)

static char	*text;
static size_t	 text_len;
static struct binary	 files[FILES];
static size_t	 nfiles;
static ino_t	 last;		/* of the path that was opened */

static FILE *
fuzz_maps(void)
{
	/* a file of no bytes is none for fmemopen */
	FILE *f = text_len == 0 ? fopen("/dev/null", "re") :
	    fmemopen(text, text_len, "r");

	must(f != NULL);
	return f;
}

/* Opens a file; the path's length gives its inode number, 0 = no file. */
static int
fuzz_path(const char *path)
{
	if (strncmp(path, "/proc/self/", 11) != 0)
		last = strlen(path) % 5;
	return last == 0 ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int
fuzz_fstat(int fd, struct stat *st)
{
	size_t i;

	memset(st, 0, sizeof(*st));
	st->st_mode = S_IFREG;
	/* where devices' numbers are others than in maps */
	st->st_dev = makedev(0, 1);
	st->st_ino = last;
	for (i = 0; i < nfiles; i++)
		if (files[i].fd == fd)
			st->st_ino = files[i].ino;
	return 0;
}

static int
fuzz_stat(const char *path, struct stat *st)
{
	must(strncmp(path, "/proc/", 6) == 0);
	return fuzz_fstat(-1, st);
}

struct binary *
binary_of(int fd, const char *path)
{
	struct binary *b = &files[nfiles];

	must(path[0] == '/' && strlen(path) < PATH_MAX);
	if (nfiles == FILES) {
		close(fd);
		return NULL;
	}
	nfiles++;
	*b = (struct binary){ .fd = fd, .ino = last };
	return b;
}

static void
look(struct process *p)
{
	size_t i;

	process_look(p);
	must(p->nmodules <= MODULES_MOST && !p->stale);
	for (i = 0; i < p->nmodules; i++) {
		must(p->modules[i].binary >= files &&
		    p->modules[i].binary < files + nfiles);
		/* the program's own come first: it may map itself again */
		must(i == 0 || !p->modules[i].exe || p->modules[i - 1].exe);
	}
}

/* As the kernel lists them. */
static bool
in_order(const struct maps *ms)
{
	size_t i;

	for (i = 0; i < ms->n; i++)
		if ((ms->v[i].lo | ms->v[i].hi) % PAGES(1) != 0 ||
		    (i > 0 && ms->v[i].lo < ms->v[i - 1].hi))
			return false;
	return true;
}

static void
room(const struct maps *ms, const struct map *of, uint64_t len,
    uint64_t reach)
{
	uint64_t at = maps_gap(ms, of->lo, of->hi, len, reach);
	size_t i;

	if (at == 0)
		return;
	must(at % PAGES(1) == 0 && at + len <= HIGHEST);
	must(at + len <= of->lo + reach && (of->hi <= reach ||
	    at >= of->hi - reach));
	for (i = 0; i < ms->n; i++)
		must(at + len <= ms->v[i].lo || at >= ms->v[i].hi);
}

static void
engine(struct input *in)
{
	uint64_t len = PAGES(1 + take_u8(in)), reach;
	const struct map *m, *base;
	struct maps ms;
	bool ordered;
	size_t i;

	reach = PAGES(take_u32(in) & 0xfffff);
	must(maps_read(1, &ms) == (ms.n > 0));
	ordered = in_order(&ms);
	for (i = 0; i < ms.n; i++) {
		m = maps_at(&ms, ms.v[i].lo);
		must(m != NULL && m <= &ms.v[i]);
		base = maps_base(&ms, m);
		must(base >= ms.v && base <= m && base->inode == m->inode);
		if (i < 8 && ordered)
			room(&ms, m, len, reach);
	}
	must(maps_at(&ms, 0) == NULL || ms.v[0].lo == 0 || ms.n > 1);
	maps_free(&ms);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len }, numbers = take_part(&in, 5);
	struct process p = { .pid = 1, .stale = true };
	int fds = count_fds();

	nfiles = 0;
	text = copy_of(in.p, in.left, false);
	text_len = in.left;
	engine(&numbers);
	look(&p);
	/* the same again: what is known is not opened anew */
	p.stale = true;
	look(&p);
	/* ... and with less, and at its end with nothing */
	text_len /= 2;
	look(&p);
	text_len = 0;
	len = p.nmodules;
	look(&p);
	must(p.nmodules == len);
	free(p.modules);
	free(text);
	while (nfiles > 0)
		close(files[--nfiles].fd);
	must(count_fds() == fds);
	return 0;
}
