/* SPDX-License-Identifier: ISC */
/*
 * A configuration as texts, each ended by a NUL, for the process that did not
 * read the file: what has been set and in which line.  Each value is checked
 * again there, by what checks those of the command line; only the grammar is
 * not needed twice.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "conf_table.h"

#define WEB	0x1
#define TLS	0x2
#define PLAIN	0x4

struct unpacker {
	struct conf	*c;
	const char	*p;
	size_t		 left;
	bool		 bad;
	char		 err[400];
};

static void
pack_number(int n, FILE *f)
{
	fprintf(f, "%d", n);
	putc('\0', f);
}

static void
pack_listen(const struct conf_listen *l, FILE *f)
{
	conf_pack_text("listen", f);
	pack_number(l->line, f);
	conf_pack_text(l->addr, f);
	pack_number(l->port, f);
	pack_number((l->web ? WEB : 0) | (l->tls ? TLS : 0) |
	    (l->plain ? PLAIN : 0), f);
	conf_pack_text(l->user != NULL ? l->user : "", f);
}

static void
pack_adapter(const struct conf_adapter *a, FILE *f)
{
	conf_pack_text("adapter", f);
	pack_number(a->line, f);
	conf_pack_text(a->name, f);
	conf_pack_text(a->command, f);
}

static void
pack_quota(const struct conf_quota *q, FILE *f)
{
	conf_pack_text("quota", f);
	pack_number(q->line, f);
	pack_number((int)q->kind, f);
	conf_pack_text(q->name != NULL ? q->name : "", f);
	conf_quota_pack(q, f);
}

static void
pack_key(const struct conf *c, const struct conf_key *k, FILE *f)
{
	const struct conf_names	*names = conf_value(c, k);
	size_t			 i, n;

	n = k->type == CONF_NAMES ? names->n : conf_has_value(c, k);
	for (i = 0; i < n; i++) {
		conf_pack_text("key", f);
		pack_number(c->lines[k - conf_keys], f);
		conf_pack_text(k->name, f);
		if (k->type == CONF_NAMES)
			fputs(names->v[i], f);
		else
			conf_print_value(c, k, f);
		putc('\0', f);
	}
}

void
conf_pack(const struct conf *c, FILE *f)
{
	size_t	i;

	if (c->name != NULL) {
		conf_pack_text("file", f);
		conf_pack_text(c->name, f);
	}
	for (i = 0; i < c->nlistens; i++)
		pack_listen(&c->listens[i], f);
	for (i = 0; i < c->nquotas; i++)
		pack_quota(&c->quotas[i], f);
	for (i = 0; i < c->nadapters; i++)
		pack_adapter(&c->adapters[i], f);
	for (i = 0; i < conf_nkeys; i++)
		pack_key(c, &conf_keys[i], f);
	conf_pack_text("end", f);
}

static const char *
next(struct unpacker *u)
{
	const char	*text = u->p, *end;

	end = u->left > 0 ? memchr(u->p, '\0', u->left) : NULL;
	if (end == NULL) {
		u->bad = true;
		return "";
	}
	u->left -= (size_t)(end - u->p) + 1;
	u->p = end + 1;
	return text;
}

static int
next_number(struct unpacker *u, int min, int max)
{
	const char	*text = next(u);
	char		*end;
	long		 n = strtol(text, &end, 10);

	if (end == text || *end != '\0' || n < min || n > max) {
		u->bad = true;
		return 0;
	}
	return (int)n;
}

static int
next_line(struct unpacker *u)
{
	return next_number(u, CONF_LINE_COMMAND, INT_MAX);
}

/* A new string; NULL for an empty one, which is none. */
static char *
next_copy(struct unpacker *u)
{
	const char	*text = next(u);
	char		*copy;

	if (text[0] == '\0')
		return NULL;
	if ((copy = strdup(text)) == NULL)
		u->bad = true;
	return copy;
}

static void
unpack_file(struct unpacker *u)
{
	if (u->c->name != NULL)
		u->bad = true;
	else
		u->c->name = next_copy(u);
}

static void
unpack_listen(struct unpacker *u)
{
	struct conf_listen	l = { .line = next_line(u) };
	int			flags;

	l.addr = next_copy(u);
	l.port = (uint16_t)next_number(u, 0, UINT16_MAX);
	flags = next_number(u, 0, WEB | TLS | PLAIN);
	l.web = flags & WEB;
	l.tls = flags & TLS;
	l.plain = flags & PLAIN;
	l.user = next_copy(u);
	if (u->bad || l.addr == NULL) {
		conf_listen_clear(&l);
		u->bad = true;
	} else if (conf_listen_add(u->c, &l, u->err, sizeof(u->err)) == -1)
		u->bad = true;
}

static void
unpack_adapter(struct unpacker *u)
{
	struct conf_adapter	a = { .line = next_line(u) };

	a.name = next_copy(u);
	a.command = next_copy(u);
	if (u->bad || a.name == NULL || a.command == NULL) {
		conf_adapter_clear(&a);
		u->bad = true;
	} else if (conf_adapter_add(u->c, &a, u->err, sizeof(u->err)) == -1)
		u->bad = true;
}

static void
unpack_quota(struct unpacker *u)
{
	struct conf_quota	 q = { .name = NULL };
	const char		*resource;

	conf_quota_clear(&q);
	q.line = next_line(u);
	q.kind = (enum conf_quota_kind)next_number(u, CONF_QUOTA_DEFAULT,
	    CONF_QUOTA_GROUP);
	q.name = next_copy(u);
	while (!u->bad && (resource = next(u))[0] != '\0') {
		if (conf_quota_set(&q, resource, next(u), u->err,
		    sizeof(u->err)) == -1)
			u->bad = true;
	}
	if (u->bad || (q.name == NULL) != (q.kind == CONF_QUOTA_DEFAULT)) {
		conf_quota_clear(&q);
		u->bad = true;
	} else if (conf_quota_add(u->c, &q, u->err, sizeof(u->err)) == -1)
		u->bad = true;
}

static void
unpack_key(struct unpacker *u)
{
	int			 line = next_line(u);
	const struct conf_key	*k = conf_key_find(next(u));
	const char		*value = next(u);

	if (u->bad || k == NULL || conf_key_set(u->c, k, value, line, u->err,
	    sizeof(u->err)) == -1)
		u->bad = true;
}

static const struct {
	const char	*what;
	void		(*unpack)(struct unpacker *);
} records[] = {
	{ "file",	unpack_file },
	{ "listen",	unpack_listen },
	{ "quota",	unpack_quota },
	{ "adapter",	unpack_adapter },
	{ "key",	unpack_key },
};
#define NRECORDS	(sizeof(records) / sizeof(records[0]))

/* False at the end, and when nothing of that name is known. */
static bool
unpack_one(struct unpacker *u)
{
	const char	*what = next(u);
	size_t		 i;

	for (i = 0; i < NRECORDS; i++) {
		if (strcmp(records[i].what, what) != 0)
			continue;
		records[i].unpack(u);
		return !u->bad;
	}
	if (strcmp(what, "end") != 0 || u->left > 0)
		u->bad = true;
	return false;
}

struct conf *
conf_unpack(const char *packed, size_t len, bool system_mode, uid_t invoking)
{
	struct unpacker	u = { .p = packed, .left = len };

	if ((u.c = conf_default(system_mode, invoking)) == NULL)
		return NULL;
	/* the default one is among those that come */
	while (u.c->nlistens > 0)
		conf_listen_clear(&u.c->listens[--u.c->nlistens]);
	while (unpack_one(&u))
		;
	if (!u.bad)
		return u.c;
	conf_free(u.c);
	return NULL;
}
