/* SPDX-License-Identifier: ISC */
/*
 * The table of keys, made of settings.def, and what is done by walking it:
 * defaults, setting by name, comparing, freeing.
 */
#include <stdlib.h>
#include <string.h>

#include "conf_table.h"
#include "wire/settings.h"

#define K		(1ULL << 10)
#define M		(1ULL << 20)
#define G		(1ULL << 30)

/* Bytes that sun_path and PATH_MAX hold beside the terminating NUL. */
#define SOCKET_PATH_MAX	107
#define FILE_PATH_MAX	4095
/* Directories with room for their files. */
#define DIR_PATH_MAX	191
/* The fence maps ids up to this one. */
#define UID_MAX_MAPPED	60000
#define WEEK		604800
#define TEN_YEARS	315360000
#define PID_LIMIT	4194304

/* In the order of the enums in conf.h. */
static const char *const sandbox_words[] = {
	"none", "namespaces", "tmpfs", NULL
};
static const char *const network_words[] = { "shared", "none", NULL };
static const char *const log_words[] = {
	"error", "warn", "info", "debug", NULL
};

#define KEY(field, key, t, ...)						\
	{ .name = (key), .type = (t), .offset = offsetof(struct conf, field), \
	  .size = sizeof(((struct conf *)NULL)->field), __VA_ARGS__ },
#define RANGE(f, key, t, lo, hi, d, ...)				\
	KEY(f, key, t, .min = (lo), .max = (hi), .def = (d), ##__VA_ARGS__)
#define TEXT(f, key, t, hi, d, ...)					\
	KEY(f, key, t, .max = (hi), .def = (d), ##__VA_ARGS__)

const struct conf_key conf_keys[] = {
#define NUMBER(to, f, key, ...)	RANGE(f, key, CONF_NUMBER, __VA_ARGS__)
#define PORT(to, f, key, ...)	RANGE(f, key, CONF_NUMBER, __VA_ARGS__)
#define SECONDS(to, f, key, ...)					\
	RANGE(f, key, CONF_NUMBER, __VA_ARGS__, .flags = CONF_F_SECONDS)
#define SIZE(to, f, key, ...)	RANGE(f, key, CONF_SIZE, __VA_ARGS__)
#define LIMIT(to, f, key, ...)	RANGE(f, key, CONF_NUMBER, __VA_ARGS__)
#define WORD(to, f, key, w, d)	KEY(f, key, CONF_WORD, .words = (w), .def = (d))
#define SET(to, f, key, w)	KEY(f, key, CONF_SET, .words = (w))
#define BOOL(to, f, key, d, ...)					\
	KEY(f, key, CONF_BOOL, .def = (d), ##__VA_ARGS__)
#define PATHNAME(to, f, key, ...)	TEXT(f, key, CONF_PATH, __VA_ARGS__)
#define SERVICE(to, f, key, ...)	TEXT(f, key, CONF_SERVICE, __VA_ARGS__)
#define NAMES(to, f, key, ...)	KEY(f, key, CONF_NAMES, ##__VA_ARGS__)
#include "wire/settings.def"
};
const size_t conf_nkeys = sizeof(conf_keys) / sizeof(conf_keys[0]);

/* Words that begin a line and are no rows. */
static const char *const statements[] = {
	"listen", "limit", "tls", "admin", "quota", "web", "timeout",
	"debugger", "adapter", "tracer", "allow", "deny"
};
#define NSTATEMENTS	(sizeof(statements) / sizeof(statements[0]))

const struct conf_key *
conf_key_find(const char *name)
{
	size_t	i;

	for (i = 0; i < conf_nkeys; i++) {
		if (strcmp(conf_keys[i].name, name) == 0)
			return &conf_keys[i];
	}
	return NULL;
}

#define WORD_MAX	40

static size_t
min3(size_t a, size_t b, size_t c)
{
	if (b < a)
		a = b;
	return c < a ? c : a;
}

/* Insertions, deletions and replacements, by the usual two rows. */
static size_t
edit_distance(const char *a, const char *b)
{
	size_t	row[WORD_MAX + 1], blen = strlen(b);
	size_t	i, j, diagonal, above;

	for (j = 0; j <= blen; j++)
		row[j] = j;
	for (i = 1; a[i - 1] != '\0'; i++) {
		diagonal = row[0];
		row[0] = i;
		for (j = 1; j <= blen; j++) {
			above = row[j];
			row[j] = min3(row[j - 1] + 1, above + 1,
			    diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[blen];
}

const char *
conf_key_nearest(const char *name)
{
	const char	*best = NULL, *candidate;
	size_t		 i, d, best_d = 3, len = strlen(name);

	if (len > WORD_MAX)
		return NULL;
	for (i = 0; i < conf_nkeys + NSTATEMENTS; i++) {
		candidate = i < conf_nkeys ? conf_keys[i].name :
		    statements[i - conf_nkeys];
		d = edit_distance(name, candidate);
		/* Two changes in a word of three letters prove nothing. */
		if (d < best_d && d * 2 <= len) {
			best = candidate;
			best_d = d;
		}
	}
	return best;
}

void
conf_key_unknown(const char *name, char *err, size_t errsize)
{
	const char	*nearest;
	char		 quoted[80];

	conf_quote(name, quoted);
	if ((nearest = conf_key_nearest(name)) != NULL)
		snprintf(err, errsize, "unknown key %s, perhaps \"%s\"?",
		    quoted, nearest);
	else
		snprintf(err, errsize, "unknown key %s, see "
		    "debuglantern.conf(5)", quoted);
}

int
conf_key_line(const struct conf *c, const char *name)
{
	const struct conf_key	*k = conf_key_find(name);

	return k == NULL ? CONF_LINE_DEFAULT : c->lines[k - conf_keys];
}

/*
 * Twice in one file is a mistake of the writer, and which one was meant is
 * not ours to guess. Over a default or by a flag is what setting is for.
 */
int
conf_key_set(struct conf *c, const struct conf_key *k, const char *value,
    int line, char *err, size_t errsize)
{
	int	*where = &c->lines[k - conf_keys];

	if (line > 0 && *where > 0 && k->type != CONF_NAMES) {
		snprintf(err, errsize, "%s is already set in line %d",
		    k->name, *where);
		return -1;
	}
	if (conf_type_parse(c, k, value, err, errsize) == -1)
		return -1;
	*where = line;
	return 0;
}

int
conf_set(struct conf *c, const char *key, const char *value, char *err,
    size_t errsize)
{
	const struct conf_key	*k;
	struct conf_listen	 l = { .line = CONF_LINE_COMMAND };

	if (strcmp(key, "listen") == 0) {
		if ((l.addr = strdup(value)) == NULL) {
			snprintf(err, errsize, "out of memory");
			return -1;
		}
		return conf_listen_add(c, &l, err, errsize);
	}
	if ((k = conf_key_find(key)) == NULL) {
		conf_key_unknown(key, err, errsize);
		return -1;
	}
	return conf_key_set(c, k, value, CONF_LINE_COMMAND, err, errsize);
}

/* By the same way as the file's values: a default out of range cannot be. */
static int
set_default(struct conf *c, const struct conf_key *k)
{
	const char	*value = k->def;
	char		 err[400];

	if (!c->system_mode && k->user_def != NULL)
		value = k->user_def;
	if (value == NULL)
		return 0;
	return conf_key_set(c, k, value, CONF_LINE_DEFAULT, err, sizeof(err));
}

static int
default_listen(struct conf *c)
{
	struct conf_listen	l = { .line = CONF_LINE_DEFAULT };
	char			err[400];

	if ((l.addr = strdup("localhost")) == NULL)
		return -1;
	return conf_listen_add(c, &l, err, sizeof(err));
}

struct conf *
conf_default(bool system_mode, uid_t invoking)
{
	struct conf	*c;
	size_t		 i;

	if ((c = calloc(1, sizeof(*c))) == NULL)
		return NULL;
	c->system_mode = system_mode;
	c->invoking = invoking;
	if ((c->lines = calloc(conf_nkeys, sizeof(*c->lines))) == NULL)
		goto fail;
	if (default_listen(c) == -1)
		goto fail;
	for (i = 0; i < conf_nkeys; i++) {
		if (set_default(c, &conf_keys[i]) == -1)
			goto fail;
	}
	return c;
 fail:
	conf_free(c);
	return NULL;
}

static bool
is_string(const struct conf_key *k)
{
	return k->type == CONF_PATH || k->type == CONF_SERVICE;
}

void
conf_free(struct conf *c)
{
	size_t	i;

	if (c == NULL)
		return;
	for (i = 0; i < c->nlistens; i++)
		conf_listen_clear(&c->listens[i]);
	free(c->listens);
	for (i = 0; i < c->nquotas; i++)
		conf_quota_clear(&c->quotas[i]);
	free(c->quotas);
	for (i = 0; i < c->nadapters; i++)
		conf_adapter_clear(&c->adapters[i]);
	free(c->adapters);
	for (i = 0; i < conf_nkeys; i++) {
		if (is_string(&conf_keys[i]))
			free(*(char **)conf_field(c, &conf_keys[i]));
		if (conf_keys[i].type == CONF_NAMES)
			conf_names_free(conf_field(c, &conf_keys[i]));
	}
	free(c->lines);
	free(c->name);
	free(c);
}

static bool
names_equal(const struct conf_names *a, const struct conf_names *b)
{
	size_t	i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++) {
		if (strcmp(a->v[i], b->v[i]) != 0)
			return false;
	}
	return true;
}

static bool
key_equal(const struct conf_key *k, const struct conf *a,
    const struct conf *b)
{
	const void	*fa = conf_value(a, k), *fb = conf_value(b, k);

	if (is_string(k))
		return strcmp(*(char *const *)fa, *(char *const *)fb) == 0;
	if (k->type == CONF_NAMES)
		return names_equal(fa, fb);
	return memcmp(fa, fb, k->size) == 0;
}

static bool
listen_equal(const struct conf_listen *a, const struct conf_listen *b)
{
	if ((a->user == NULL) != (b->user == NULL))
		return false;
	if (a->user != NULL && strcmp(a->user, b->user) != 0)
		return false;
	return strcmp(a->addr, b->addr) == 0 && a->port == b->port &&
	    a->tls == b->tls && a->plain == b->plain && a->web == b->web;
}

/* Compares the order as well: a user gets the first rule that fits. */
static bool
quotas_equal(const struct conf *a, const struct conf *b)
{
	size_t	i;

	if (a->nquotas != b->nquotas)
		return false;
	for (i = 0; i < a->nquotas; i++) {
		if (!conf_quota_equal(&a->quotas[i], &b->quotas[i]))
			return false;
	}
	return true;
}

bool
conf_equal(const struct conf *a, const struct conf *b)
{
	size_t	i;

	if (a->system_mode != b->system_mode || a->invoking != b->invoking ||
	    a->nlistens != b->nlistens || !quotas_equal(a, b) ||
	    !conf_adapters_equal(a, b))
		return false;
	for (i = 0; i < a->nlistens; i++) {
		if (!listen_equal(&a->listens[i], &b->listens[i]))
			return false;
	}
	for (i = 0; i < conf_nkeys; i++) {
		if (!key_equal(&conf_keys[i], a, b))
			return false;
	}
	return true;
}
