/* SPDX-License-Identifier: ISC */
/*
 * Line tables: their programs are long and are not run, their headers name
 * the files.
 */
#include <stdlib.h>
#include <string.h>

#include "dw.h"
#include "index.h"
#include "lines.h"
#include "mem.h"

/* Attributes of an entry in DWARF 5; and how often a header may be read. */
#define FORMATS		16
#define READ_TIMES	8

struct format {
	uint64_t type, form;
};

static void
add_dir(struct line_table *t, const char *p, size_t len)
{
	mem_room(&t->dirs, &t->dcap, t->ndirs, sizeof(*t->dirs));
	t->dirs[t->ndirs++] = (struct line_dir) { p, len };
}

static void
add_file(struct line_table *t, const char *p, size_t len, uint64_t dir)
{
	mem_room(&t->files, &t->fcap, t->nfiles, sizeof(*t->files));
	t->files[t->nfiles++] = (struct line_file) { p, len, dir, 0 };
}

/* DWARF 2 to 4: numbers begin with 1, directory 0 is the unit's own. */
static void
read_old(struct line_table *t, struct cursor *c)
{
	const char *p;
	uint64_t dir;
	size_t len;

	add_dir(t, NULL, 0);
	add_file(t, NULL, 0, 0);
	while ((p = cur_str(c, &len)) != NULL && len > 0)
		add_dir(t, p, len);
	while ((p = cur_str(c, &len)) != NULL && len > 0) {
		dir = cur_uleb(c);
		(void)cur_uleb(c);
		(void)cur_uleb(c);
		add_file(t, p, len, dir);
	}
}

static bool
read_entry(struct line_table *t, struct dwarf *d, const struct unit *u,
    struct cursor *c, const struct format *f, size_t nf, bool files)
{
	struct line_dir name = { NULL, 0 };
	struct attr_spec a;
	struct val v;
	uint64_t dir = 0;
	size_t i;

	for (i = 0; i < nf; i++) {
		a = (struct attr_spec) { .form = (uint16_t)f[i].form };
		form_read(d, u, c, &a, &v);
		if (f[i].type == DW_LNCT_path && v.cls == VAL_STR)
			name = (struct line_dir) { (const char *)v.p, v.len };
		if (f[i].type == DW_LNCT_directory_index)
			dir = v.u;
	}
	if (files)
		add_file(t, name.p, name.len, dir);
	else
		add_dir(t, name.p, name.len);
	return !c->bad;
}

static bool
read_entries(struct line_table *t, struct dwarf *d, const struct unit *u,
    struct cursor *c, bool files)
{
	struct format f[FORMATS];
	size_t nf = cur_u8(c), i;
	const uint8_t *before;
	uint64_t n;

	if (nf > FORMATS)
		return false;
	for (i = 0; i < nf; i++) {
		f[i].type = cur_uleb(c);
		f[i].form = cur_uleb(c);
		if (f[i].form > UINT16_MAX)
			return false;
	}
	for (n = cur_uleb(c); n > 0; n--) {
		before = c->p;
		/* entries of no bytes could be as many as they like */
		if (!read_entry(t, d, u, c, f, nf, files) || c->p == before)
			return false;
	}
	return true;
}

static void
read_header(struct line_table *t, struct dwarf *d, const struct unit *unit,
    const struct span *s, size_t *bytes)
{
	struct cursor c = cur_at(s, t->off);
	const uint8_t *start = c.p;
	struct unit u = *unit;
	uint64_t len = cur_u32(&c);
	uint8_t opcode_base;

	u.off_size = 4;
	if (len == 0xffffffff) {
		u.off_size = 8;
		len = cur_u64(&c);
	}
	if (!cur_has(&c, len))
		return;
	c.end = c.p + len;
	t->version = cur_u16(&c);
	if (t->version < 2 || t->version > 5)
		return;
	if (t->version >= 5)
		cur_skip(&c, 2);
	len = cur_uint(&c, u.off_size);
	if (!cur_has(&c, len))
		return;
	c.end = c.p + len;
	cur_skip(&c, t->version >= 4 ? 5 : 4);
	opcode_base = cur_u8(&c);
	cur_skip(&c, opcode_base == 0 ? 0 : opcode_base - 1U);
	if (t->version < 5)
		read_old(t, &c);
	else if (read_entries(t, d, &u, &c, false))
		(void)read_entries(t, d, &u, &c, true);
	*bytes += (size_t)(c.p - start);
}

static struct line_table *
table_of(struct lines *l, struct dwarf *d, struct unit *u)
{
	const struct span *s = elf_section(d->elf, SECT_LINE);
	struct line_table *t;

	if (u->lines != 0)
		return &l->tables[u->lines - 1];
	if (!u->has_lines || l->bytes / READ_TIMES > s->len)
		return NULL;
	mem_room(&l->tables, &l->cap, l->n, sizeof(*t));
	t = &l->tables[l->n++];
	*t = (struct line_table) { .off = u->stmt_list };
	u->lines = l->n;
	read_header(t, d, u, s, &l->bytes);
	return t;
}

/* Appends a path component; ".." removes the last one. */
static size_t
step(char *out, size_t at, const char *p, size_t len)
{
	if (len == 0 || (len == 1 && p[0] == '.'))
		return at;
	if (len == 2 && p[0] == '.' && p[1] == '.') {
		while (at > 0 && out[at - 1] != '/')
			at--;
		return at > 0 ? at - 1 : 0;
	}
	if (at + 1 + len > SYM_NAME_MAX)
		return at;
	out[at] = '/';
	memcpy(out + at + 1, p, len);
	return at + 1 + len;
}

size_t
lines_join(char *out, const struct line_dir *parts, size_t n)
{
	const char *p, *end, *slash;
	size_t i, at = 0;

	for (i = 0; i < n; i++) {
		if (parts[i].len == 0)
			continue;
		p = parts[i].p;
		end = p + parts[i].len;
		if (p[0] == '/')
			at = 0;
		for (; p < end; p = slash + 1) {
			slash = memchr(p, '/', (size_t)(end - p));
			if (slash == NULL)
				slash = end;
			at = step(out, at, p, (size_t)(slash - p));
		}
	}
	out[at] = '\0';
	return at;
}

uint32_t
lines_path(struct lines *l, struct dwarf *d, struct unit *u, uint64_t file,
    struct strs *strs)
{
	static char path[SYM_NAME_MAX + 1];
	struct line_table *t = table_of(l, d, u);
	struct line_dir parts[4];
	struct line_file *f;
	size_t n = 0, len;

	if (t == NULL || file >= t->nfiles || t->files[file].len == 0)
		return 0;
	f = &t->files[file];
	if (f->path != 0)
		return f->path;
	if (u->comp_dir != NULL)
		parts[n++] = (struct line_dir) { u->comp_dir, u->comp_dir_len };
	if (t->version >= 5 && t->ndirs > 0 && f->dir != 0)
		parts[n++] = t->dirs[0];
	if (f->dir < t->ndirs)
		parts[n++] = t->dirs[f->dir];
	parts[n++] = (struct line_dir) { f->p, f->len };
	len = lines_join(path, parts, n);
	f->path = strs_once(strs, path, len, NULL);
	return f->path;
}

void
lines_free(struct lines *l, struct dwarf *d)
{
	size_t i;

	for (i = 0; i < d->nunits; i++)
		d->units[i].lines = 0;
	for (i = 0; i < l->n; i++) {
		free(l->tables[i].dirs);
		free(l->tables[i].files);
	}
	free(l->tables);
	memset(l, 0, sizeof(*l));
}
