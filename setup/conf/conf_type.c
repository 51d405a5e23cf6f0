/* SPDX-License-Identifier: ISC */
/*
 * The types of configuration values: how the text of each is read, and what
 * is said of a text that cannot be.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "conf_table.h"

#define NAME_MAX_BYTES	255

static void	 append(char *, size_t, const char *, ...)
		    __attribute__((format(printf, 3, 4)));

void *
conf_field(struct conf *c, const struct conf_key *k)
{
	return (char *)c + k->offset;
}

const void *
conf_value(const struct conf *c, const struct conf_key *k)
{
	return (const char *)c + k->offset;
}

/*
 * Fields have the width that their users want; the table's size says which,
 * so that a row cannot disagree with its field. The range was checked.
 */
static void
store(struct conf *c, const struct conf_key *k, uint64_t v)
{
	uint16_t	v16 = (uint16_t)v;
	uint32_t	v32 = (uint32_t)v;
	void		*field = conf_field(c, k);

	if (k->size == sizeof(v16))
		memcpy(field, &v16, sizeof(v16));
	else if (k->size == sizeof(v32))
		memcpy(field, &v32, sizeof(v32));
	else
		memcpy(field, &v, sizeof(v));
}

uint64_t
conf_load(const struct conf *c, const struct conf_key *k)
{
	uint16_t	 v16;
	uint32_t	 v32;
	uint64_t	 v;
	const void	*field = conf_value(c, k);

	if (k->size == sizeof(v16)) {
		memcpy(&v16, field, sizeof(v16));
		return v16;
	}
	if (k->size == sizeof(v32)) {
		memcpy(&v32, field, sizeof(v32));
		return v32;
	}
	memcpy(&v, field, sizeof(v));
	return v;
}

static void
append(char *out, size_t size, const char *fmt, ...)
{
	size_t	len = strlen(out);
	va_list	ap;

	va_start(ap, fmt);
	vsnprintf(out + len, size - len, fmt, ap);
	va_end(ap);
}

/* A command line may hold anything; a message is one line of a log. */
void
conf_quote(const char *value, char out[80])
{
	const size_t	max = 64;
	size_t		n = 0;

	out[n++] = '"';
	for (; *value != '\0' && n < max; value++) {
		if ((unsigned char)*value < ' ' || *value == 0x7f)
			out[n++] = '?';
		else
			out[n++] = *value;
	}
	/* no part of a character: it is no text */
	if (*value != '\0')
		n -= utf8_unfinished(out + 1, n - 1);
	memcpy(out + n, *value == '\0' ? "\"" : "...\"",
	    *value == '\0' ? 2 : 5);
}

static bool
has_control(const char *s)
{
	for (; *s != '\0'; s++) {
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return true;
	}
	return false;
}

bool
conf_name_valid(const char *s)
{
	size_t	len = strlen(s);

	/* Refuse what passwd(5) cannot hold, and the comma of our lists. */
	if (len == 0 || len > NAME_MAX_BYTES || s[0] == '-')
		return false;
	return !has_control(s) && strpbrk(s, " :/,") == NULL;
}

static int
replace_string(struct conf *c, const struct conf_key *k, const char *value)
{
	char	**field = conf_field(c, k), *copy;

	if ((copy = strdup(value)) == NULL)
		return -1;
	free(*field);
	*field = copy;
	return 0;
}

static int
word_index(const struct conf_key *k, const char *s, size_t len)
{
	int	i;

	for (i = 0; k->words[i] != NULL; i++) {
		if (strlen(k->words[i]) == len &&
		    memcmp(k->words[i], s, len) == 0)
			return i;
	}
	return -1;
}

/*
 * The parsers. They return -1 with an empty err when the value is not what
 * conf_type_describe() says, else with the reason in err.
 */
static int
parse_bool(struct conf *c, const struct conf_key *k, const char *value,
    char *err, size_t errsize)
{
	bool	*field = conf_field(c, k);

	(void)err;
	(void)errsize;
	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return -1;
	*field = value[0] == 'y';
	return 0;
}

static int
parse_number(struct conf *c, const struct conf_key *k, const char *value,
    char *err, size_t errsize)
{
	uint64_t	v;

	(void)err;
	(void)errsize;
	if ((k->flags & CONF_F_UNLIMITED) && strcmp(value, "unlimited") == 0)
		v = CONF_UNLIMITED;
	else if (conf_parse_number(value, k->min, k->max, &v) == -1)
		return -1;
	store(c, k, v);
	return 0;
}

static int
parse_size(struct conf *c, const struct conf_key *k, const char *value,
    char *err, size_t errsize)
{
	uint64_t	v;

	(void)err;
	(void)errsize;
	if ((k->flags & CONF_F_UNLIMITED) && strcmp(value, "unlimited") == 0)
		v = CONF_UNLIMITED;
	else if (conf_parse_size(value, &v) == -1 || v < k->min || v > k->max)
		return -1;
	else if ((k->flags & CONF_F_POW2) && (v & (v - 1)) != 0)
		return -1;
	store(c, k, v);
	return 0;
}

static int
parse_word(struct conf *c, const struct conf_key *k, const char *value,
    char *err, size_t errsize)
{
	int	i;

	(void)err;
	(void)errsize;
	if ((i = word_index(k, value, strlen(value))) == -1)
		return -1;
	store(c, k, (uint64_t)i);
	return 0;
}

static int
parse_set(struct conf *c, const struct conf_key *k, const char *value,
    char *err, size_t errsize)
{
	uint64_t	mask = 0, bit;
	size_t		len;
	int		i;

	for (;; value += len + 1) {
		value += strspn(value, " ");
		len = strcspn(value, ",");
		if ((i = word_index(k, value, len)) == -1)
			return -1;
		bit = (uint64_t)1 << i;
		if (mask & bit) {
			snprintf(err, errsize, "%s names %s twice", k->name,
			    k->words[i]);
			return -1;
		}
		mask |= bit;
		if (value[len] == '\0')
			break;
	}
	store(c, k, mask);
	return 0;
}

static int
parse_path(struct conf *c, const struct conf_key *k, const char *value,
    char *err, size_t errsize)
{
	if (value[0] == '\0' && !(k->flags & CONF_F_EMPTY))
		return -1;
	if (value[0] != '\0' && value[0] != '/')
		return -1;
	if (strlen(value) > k->max || has_control(value))
		return -1;
	if (replace_string(c, k, value) == -1) {
		snprintf(err, errsize, "out of memory");
		return -1;
	}
	return 0;
}

static int
parse_service(struct conf *c, const struct conf_key *k, const char *value,
    char *err, size_t errsize)
{
	const char	*p;

	if (value[0] == '\0' || strlen(value) > k->max)
		return -1;
	if (has_control(value) || !utf8_valid(value, strlen(value)))
		return -1;
	for (p = strchr(value, '%'); p != NULL; p = strchr(p + 2, '%')) {
		if (p[1] != 'h' && p[1] != '%')
			return -1;
	}
	if (replace_string(c, k, value) == -1) {
		snprintf(err, errsize, "out of memory");
		return -1;
	}
	return 0;
}

/* Takes name. */
static int
add_name(struct conf_names *names, const struct conf_key *k, char *name,
    char *err, size_t errsize)
{
	char	**v;
	size_t	  i;

	for (i = 0; i < names->n; i++) {
		if (strcmp(names->v[i], name) == 0) {
			snprintf(err, errsize, "%s names %s twice", k->name,
			    name);
			goto fail;
		}
	}
	if (names->n == CONF_MAX_NAMES) {
		snprintf(err, errsize, "%s has more than %d names", k->name,
		    CONF_MAX_NAMES);
		goto fail;
	}
	v = reallocarray(names->v, names->n + 1, sizeof(*v));
	if (v == NULL) {
		snprintf(err, errsize, "out of memory");
		goto fail;
	}
	names->v = v;
	names->v[names->n++] = name;
	return 0;
 fail:
	free(name);
	return -1;
}

/* Labels of letters, digits and "-", with dots between them. */
static bool
conf_host_valid(const char *name)
{
	const unsigned char	*p = (const unsigned char *)name;
	size_t			 label = 0;

	for (; *p != '\0'; p++) {
		if (*p == '.' && label > 0)
			label = 0;
		else if ((*p < 0x80 && isalnum(*p)) || *p == '-')
			label++;
		else
			return false;
		if (label > 63)
			return false;
	}
	return label > 0 && strlen(name) <= 253;
}

static int
parse_names(struct conf *c, const struct conf_key *k, const char *value,
    char *err, size_t errsize)
{
	struct conf_names	*names = conf_field(c, k);
	char			*name;
	size_t			 len;

	for (;; value += len + 1) {
		len = strcspn(value, ",");
		if ((name = strndup(value, len)) == NULL) {
			snprintf(err, errsize, "out of memory");
			return -1;
		}
		if (!(k->flags & CONF_F_HOST ? conf_host_valid(name) :
		    conf_name_valid(name))) {
			free(name);
			return -1;
		}
		if (add_name(names, k, name, err, errsize) == -1)
			return -1;
		if (value[len] == '\0')
			return 0;
	}
}

void
conf_names_free(struct conf_names *names)
{
	size_t	i;

	for (i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
	names->v = NULL;
	names->n = 0;
}

/* The descriptions, in the words of a person who has to mend the line. */
static void
describe_bool(const struct conf_key *k, char *out, size_t size)
{
	(void)k;
	append(out, size, "yes or no");
}

static void
describe_tail(const struct conf_key *k, char *out, size_t size)
{
	if (k->zero != NULL)
		append(out, size, " (0: %s)", k->zero);
	if (k->flags & CONF_F_UNLIMITED)
		append(out, size, " or unlimited");
}

static void
describe_number(const struct conf_key *k, char *out, size_t size)
{
	append(out, size, "a number %sfrom %" PRIu64 " to %" PRIu64,
	    k->flags & CONF_F_SECONDS ? "of seconds " : "", k->min, k->max);
	describe_tail(k, out, size);
}

static void
describe_size(const struct conf_key *k, char *out, size_t size)
{
	char	min[24], max[24];

	conf_format_size(k->min, min);
	conf_format_size(k->max, max);
	append(out, size, "a %s from %s to %s (digits, then K, M or G)",
	    k->flags & CONF_F_POW2 ? "power of two" : "size", min, max);
	describe_tail(k, out, size);
}

static void
describe_words(const struct conf_key *k, char *out, size_t size)
{
	size_t	i;

	for (i = 0; k->words[i] != NULL; i++) {
		if (i > 0)
			append(out, size, "%s", k->words[i + 1] != NULL ?
			    ", " : " or ");
		append(out, size, "%s", k->words[i]);
	}
}

static void
describe_set(const struct conf_key *k, char *out, size_t size)
{
	append(out, size, "a list of ");
	describe_words(k, out, size);
}

static void
describe_path(const struct conf_key *k, char *out, size_t size)
{
	append(out, size, "an absolute path of at most %" PRIu64 " bytes",
	    k->max);
	if (k->flags & CONF_F_EMPTY)
		append(out, size, " or \"\"");
}

static void
describe_service(const struct conf_key *k, char *out, size_t size)
{
	append(out, size, "1 to %" PRIu64 " bytes of UTF-8 text, in which %%h"
	    " is the host name and %%%% a percent sign", k->max);
}

static void
describe_names(const struct conf_key *k, char *out, size_t size)
{
	if (k->flags & CONF_F_HOST) {
		append(out, size, "a list of names of hosts, such as "
		    "lab.example.org");
		return;
	}
	append(out, size, "a list of names of 1 to %d bytes, without blank, "
	    "\":\" and \"/\" and not starting with \"-\"", NAME_MAX_BYTES);
}

static const struct {
	int	(*parse)(struct conf *, const struct conf_key *, const char *,
		    char *, size_t);
	void	(*describe)(const struct conf_key *, char *, size_t);
} types[CONF_NTYPES] = {
	[CONF_BOOL] =		{ parse_bool, describe_bool },
	[CONF_NUMBER] =		{ parse_number, describe_number },
	[CONF_SIZE] =		{ parse_size, describe_size },
	[CONF_WORD] =		{ parse_word, describe_words },
	[CONF_SET] =		{ parse_set, describe_set },
	[CONF_PATH] =		{ parse_path, describe_path },
	[CONF_SERVICE] =	{ parse_service, describe_service },
	[CONF_NAMES] =		{ parse_names, describe_names },
};

void
conf_type_describe(const struct conf_key *k, char *out, size_t size)
{
	out[0] = '\0';
	types[k->type].describe(k, out, size);
}

int
conf_type_parse(struct conf *c, const struct conf_key *k, const char *value,
    char *err, size_t errsize)
{
	char	want[200], quoted[80];

	err[0] = '\0';
	if (types[k->type].parse(c, k, value, err, errsize) == 0)
		return 0;
	if (err[0] != '\0')
		return -1;
	conf_type_describe(k, want, sizeof(want));
	conf_quote(value, quoted);
	snprintf(err, errsize, "%s must be %s, not %s", k->name, want,
	    quoted);
	return -1;
}

/* A label that is cut inside of a character is no UTF-8. */
void
conf_service_name(const struct conf *c, const char *host, char out[64])
{
	char		 text[512];
	const char	*p;
	size_t		 n, len;

	text[0] = '\0';
	for (p = c->service_name; *p != '\0'; p++) {
		if (*p == '%' && *++p == 'h')
			append(text, sizeof(text), "%.300s", host);
		else
			append(text, sizeof(text), "%c", *p);
	}
	for (n = 0; text[n] != '\0'; n += len) {
		len = utf8_sequence(text + n, strlen(text + n));
		if (len == 0 || n + len > 63)
			break;
	}
	memcpy(out, text, n);
	out[n] = '\0';
}
