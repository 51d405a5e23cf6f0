/* SPDX-License-Identifier: ISC */
/* Command line options. A program's own arguments pass through here too, so
 * the parser is told from which word on nothing is an option any more. */
#include <bsd/stdlib.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "report.h"

static const struct opt_table *known;

void
options_use(const struct opt_table *t)
{
	known = t;
}

const char *
opt_name(unsigned int opt)
{
	return known->specs[opt].name;
}

const char *
opt_value(const struct options *o, unsigned int opt)
{
	const char *value = o->value[opt];

	if (value == NULL && known->specs[opt].env != NULL)
		value = getenv(known->specs[opt].env);
	else if (value != NULL)
		return value;
	return value != NULL && *value != '\0' ? value : NULL;
}

int
options_export(const struct options *o, unsigned int but)
{
	unsigned int opt;

	for (opt = 0; opt < known->count; opt++) {
		if (known->specs[opt].env == NULL || opt == but ||
		    o->value[opt] == NULL)
			continue;
		if (setenv(known->specs[opt].env, *o->value[opt] != '\0' ?
		    o->value[opt] : "1", 1) == -1)
			return -1;
	}
	return 0;
}

void
options_clear(struct options *o)
{
	size_t i;

	for (i = 0; i < OPT_LISTS; i++)
		free(o->list[i].value);
	memset(o, 0, sizeof(*o));
}

bool
opt_given(const struct options *o, unsigned int opt)
{
	return o->value[opt] != NULL;
}

int
opt_number(const struct options *o, unsigned int opt, long long min,
    long long max, long long *np)
{
	const char *s = o->value[opt], *bad = NULL;
	const char *digits = s + (min < 0 && *s == '-');

	if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0')
		bad = "not a whole number";
	else
		*np = strtonum(s, min, max, &bad);
	if (bad == NULL)
		return 0;
	report("--%s %s: %s; give %lld to %lld", known->specs[opt].name, s, bad,
	    min, max);
	return -1;
}

/* Finds an option by its long name (len bytes of it) or its letter. */
static unsigned int
find(uint64_t allowed, const char *name, size_t len, char letter)
{
	const struct opt_spec *s;
	unsigned int opt;

	for (opt = 0; opt < known->count; opt++) {
		s = &known->specs[opt];
		if (!(allowed >> opt & 1))
			continue;
		if (name != NULL ? strncmp(s->name, name, len) == 0 &&
		    s->name[len] == '\0' : letter == s->letter)
			break;
	}
	return opt;
}

static void
store(struct options *o, unsigned int opt, const char *value)
{
	struct opt_list *list;
	size_t i;

	o->value[opt] = value;
	for (i = 0; i < OPT_LISTS && known->lists[i] != opt; i++)
		;
	if (i == OPT_LISTS)
		return;
	list = &o->list[i];
	list->value = reallocarray(list->value, list->n + 1,
	    sizeof(*list->value));
	if (list->value == NULL)
		err(CTL_USAGE, NULL);
	list->value[list->n++] = value;
}

/* "--name", "--name=value" or "--name value"; next is NULL at the end. */
static int
parse_long(struct options *o, uint64_t allowed, const char *arg,
    const char *next)
{
	size_t len = strcspn(arg + 2, "=");
	unsigned int opt = find(allowed, arg + 2, len, 0);
	const char *value = arg[2 + len] == '=' ? arg + 3 + len : NULL;

	if (opt == known->count) {
		report("unknown option %s", arg);
		return -1;
	}
	if (known->specs[opt].arg == NULL) {
		if (value != NULL) {
			report("--%s takes no value", known->specs[opt].name);
			return -1;
		}
		store(o, opt, "");
		return 0;
	}
	if (value == NULL && next == NULL) {
		report("%s needs a value: %s", arg, known->specs[opt].arg);
		return -1;
	}
	store(o, opt, value != NULL ? value : next);
	return value == NULL;
}

/* "-f", "-fx", "-n5", "-n 5". As parse_long: 1 when next was used up. */
static int
parse_short(struct options *o, uint64_t allowed, const char *arg,
    const char *next)
{
	unsigned int opt;

	for (arg++; *arg != '\0'; arg++) {
		if ((opt = find(allowed, NULL, 0, *arg)) == known->count) {
			report("unknown option -%c", *arg);
			return -1;
		}
		if (known->specs[opt].arg == NULL) {
			store(o, opt, "");
			continue;
		}
		if (arg[1] == '\0' && next == NULL) {
			report("-%c needs a value: %s", *arg,
			    known->specs[opt].arg);
			return -1;
		}
		store(o, opt, arg[1] != '\0' ? arg + 1 : next);
		return arg[1] == '\0';
	}
	return 0;
}

int
options_parse(struct options *o, uint64_t allowed, size_t literal_after,
    int argc, char **argv, char **words)
{
	int i, used, nwords = 0;
	bool literal = false;
	const char *next;

	for (i = 0; i < argc; i++) {
		if (literal_after > 0 && (size_t)nwords >= literal_after)
			literal = true;
		/* no option is a digit: that is a negative number */
		if (literal || argv[i][0] != '-' || argv[i][1] == '\0' ||
		    (argv[i][1] >= '0' && argv[i][1] <= '9')) {
			words[nwords++] = argv[i];
			continue;
		}
		if (strcmp(argv[i], "--") == 0) {
			literal = true;
			continue;
		}
		next = i + 1 < argc ? argv[i + 1] : NULL;
		used = (argv[i][1] == '-' ? parse_long : parse_short)(o,
		    allowed, argv[i], next);
		if (used == -1)
			return -1;
		i += used;
	}
	return nwords;
}

void
options_print(uint64_t options, FILE *out)
{
	const struct opt_spec *s;
	unsigned int opt;
	char left[64];

	for (opt = 0; opt < known->count; opt++) {
		s = &known->specs[opt];
		if (!(options >> opt & 1) || s->summary == NULL)
			continue;
		snprintf(left, sizeof(left), "%c%c%s --%s%s%s",
		    s->letter ? '-' : ' ', s->letter ? s->letter : ' ',
		    s->letter ? "," : " ", s->name, s->arg ? " " : "",
		    s->arg ? s->arg : "");
		fprintf(out, "  %-28s  %s\n", left, s->summary);
	}
}

void
options_complete(uint64_t options, FILE *out)
{
	const struct opt_spec *s;
	unsigned int opt;

	for (opt = 0; opt < known->count; opt++) {
		s = &known->specs[opt];
		if (options >> opt & 1 && s->summary != NULL)
			fprintf(out, "--%s%s:%s\n", s->name,
			    s->arg ? "=" : "", s->summary);
	}
}
