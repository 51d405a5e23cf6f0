/* SPDX-License-Identifier: ISC */
/*
 * Prints a configuration in the language of the file. Every key is printed,
 * so that the print says the same when a default changes.
 */
#include <inttypes.h>

#include "conf_table.h"

void
conf_print_quoted(const char *s, FILE *f)
{
	putc('"', f);
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			putc('\\', f);
		putc(*s, f);
	}
	putc('"', f);
}

void
conf_pack_text(const char *text, FILE *f)
{
	fputs(text, f);
	putc('\0', f);
}

static void
print_bool(const struct conf *c, const struct conf_key *k, FILE *f)
{
	const bool	*field = conf_value(c, k);

	fputs(*field ? "yes" : "no", f);
}

static void
print_number(const struct conf *c, const struct conf_key *k, FILE *f)
{
	uint64_t	v = conf_load(c, k);

	if ((k->flags & CONF_F_UNLIMITED) && v == CONF_UNLIMITED)
		fputs("unlimited", f);
	else
		fprintf(f, "%" PRIu64, v);
}

static void
print_size(const struct conf *c, const struct conf_key *k, FILE *f)
{
	uint64_t	v = conf_load(c, k);
	char		text[24];

	conf_format_size(v, text);
	if ((k->flags & CONF_F_UNLIMITED) && v == CONF_UNLIMITED)
		fputs("unlimited", f);
	else
		fputs(text, f);
}

static void
print_word(const struct conf *c, const struct conf_key *k, FILE *f)
{
	fputs(k->words[conf_load(c, k)], f);
}

static void
print_set(const struct conf *c, const struct conf_key *k, FILE *f)
{
	uint64_t	 mask = conf_load(c, k);
	const char	*separator = "";
	size_t		 i;

	for (i = 0; k->words[i] != NULL; i++) {
		if (!(mask & ((uint64_t)1 << i)))
			continue;
		fprintf(f, "%s%s", separator, k->words[i]);
		separator = ", ";
	}
}

static void
print_string(const struct conf *c, const struct conf_key *k, FILE *f)
{
	char *const	*field = conf_value(c, k);

	fputs(*field, f);
}

static const struct {
	void	(*print)(const struct conf *, const struct conf_key *, FILE *);
	bool	 quoted;
} types[CONF_NTYPES] = {
	[CONF_BOOL] =		{ print_bool, false },
	[CONF_NUMBER] =		{ print_number, false },
	[CONF_SIZE] =		{ print_size, false },
	[CONF_WORD] =		{ print_word, false },
	[CONF_SET] =		{ print_set, false },
	[CONF_PATH] =		{ print_string, true },
	[CONF_SERVICE] =	{ print_string, true },
};

void
conf_print_value(const struct conf *c, const struct conf_key *k, FILE *f)
{
	types[k->type].print(c, k, f);
}

/* A set that conf_check() has not filled yet has nothing to say. */
bool
conf_has_value(const struct conf *c, const struct conf_key *k)
{
	return k->type != CONF_SET || conf_load(c, k) != 0;
}

static void
print_names(const struct conf_key *k, const struct conf_names *names, FILE *f)
{
	size_t	i;

	for (i = 0; i < names->n; i++) {
		fprintf(f, "%s ", k->name);
		conf_print_quoted(names->v[i], f);
		putc('\n', f);
	}
}

void
conf_print_key(const struct conf *c, const struct conf_key *k, FILE *f)
{
	if (k->type == CONF_NAMES) {
		print_names(k, conf_value(c, k), f);
		return;
	}
	if (!conf_has_value(c, k))
		return;
	fprintf(f, "%s ", k->name);
	if (types[k->type].quoted)
		conf_print_quoted(*(char *const *)conf_value(c, k), f);
	else
		conf_print_value(c, k, f);
	putc('\n', f);
}

static void
print_listen(const struct conf_listen *l, FILE *f)
{
	fprintf(f, "%slisten on ", l->web ? "web " : "");
	conf_print_quoted(l->addr, f);
	if (l->port != 0)
		fprintf(f, " port %u", l->port);
	if (l->user != NULL) {
		fprintf(f, " auth none as ");
		conf_print_quoted(l->user, f);
	}
	fprintf(f, "%s%s\n", l->tls ? " tls" : "", l->plain ? " plain" : "");
}

void
conf_print(const struct conf *c, FILE *f)
{
	size_t	i;

	for (i = 0; i < c->nlistens; i++)
		print_listen(&c->listens[i], f);
	for (i = 0; i < c->nquotas; i++)
		conf_quota_print(&c->quotas[i], f);
	for (i = 0; i < c->nadapters; i++)
		conf_adapter_print(&c->adapters[i], f);
	for (i = 0; i < conf_nkeys; i++)
		conf_print_key(c, &conf_keys[i], f);
}
