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

static void
print_bool(const struct conf *c, const struct conf_key *k, FILE *f)
{
	const bool	*field = conf_value(c, k);

	fprintf(f, "%s %s\n", k->name, *field ? "yes" : "no");
}

static void
print_number(const struct conf *c, const struct conf_key *k, FILE *f)
{
	uint64_t	v = conf_load(c, k);

	if ((k->flags & CONF_F_UNLIMITED) && v == CONF_UNLIMITED)
		fprintf(f, "%s unlimited\n", k->name);
	else
		fprintf(f, "%s %" PRIu64 "\n", k->name, v);
}

static void
print_size(const struct conf *c, const struct conf_key *k, FILE *f)
{
	uint64_t	v = conf_load(c, k);
	char		text[24];

	conf_format_size(v, text);
	if ((k->flags & CONF_F_UNLIMITED) && v == CONF_UNLIMITED)
		fprintf(f, "%s unlimited\n", k->name);
	else
		fprintf(f, "%s %s\n", k->name, text);
}

static void
print_word(const struct conf *c, const struct conf_key *k, FILE *f)
{
	fprintf(f, "%s %s\n", k->name, k->words[conf_load(c, k)]);
}

static void
print_set(const struct conf *c, const struct conf_key *k, FILE *f)
{
	uint64_t	 mask = conf_load(c, k);
	const char	*separator = " ";
	size_t		 i;

	if (mask == 0)		/* not filled yet, so there is nothing to say */
		return;
	fprintf(f, "%s", k->name);
	for (i = 0; k->words[i] != NULL; i++) {
		if (!(mask & ((uint64_t)1 << i)))
			continue;
		fprintf(f, "%s%s", separator, k->words[i]);
		separator = ", ";
	}
	putc('\n', f);
}

static void
print_string(const struct conf *c, const struct conf_key *k, FILE *f)
{
	char *const	*field = conf_value(c, k);

	fprintf(f, "%s ", k->name);
	conf_print_quoted(*field, f);
	putc('\n', f);
}

static void
print_names(const struct conf *c, const struct conf_key *k, FILE *f)
{
	const struct conf_names	*names = conf_value(c, k);
	size_t			 i;

	for (i = 0; i < names->n; i++) {
		fprintf(f, "%s ", k->name);
		conf_print_quoted(names->v[i], f);
		putc('\n', f);
	}
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

static void (*const printers[CONF_NTYPES])(const struct conf *,
    const struct conf_key *, FILE *) = {
	[CONF_BOOL] =		print_bool,
	[CONF_NUMBER] =		print_number,
	[CONF_SIZE] =		print_size,
	[CONF_WORD] =		print_word,
	[CONF_SET] =		print_set,
	[CONF_PATH] =		print_string,
	[CONF_SERVICE] =	print_string,
	[CONF_NAMES] =		print_names,
};

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
		printers[conf_keys[i].type](c, &conf_keys[i], f);
}
