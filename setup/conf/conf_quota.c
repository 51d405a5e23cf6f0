/* SPDX-License-Identifier: ISC */
/*
 * The quota statements of the configuration: what one user, or each user of
 * a group, or everybody else may use.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf_table.h"

#define M		(1ULL << 20)
#define G		(1ULL << 30)
#define TEN_YEARS	315360000
#define PID_LIMIT	4194304

/*
 * No session may be wished for somebody; the least of the others is what a
 * session needs to begin at all.
 */
static const struct conf_key resources[] = {
	{ .name = "sessions", .offset = offsetof(struct conf_quota, sessions),
	  .type = CONF_NUMBER, .max = 4096, .flags = CONF_F_UNLIMITED },
	{ .name = "bytes", .offset = offsetof(struct conf_quota, bytes),
	  .type = CONF_SIZE, .max = 8192 * G, .flags = CONF_F_UNLIMITED },
	{ .name = "cpu", .offset = offsetof(struct conf_quota, cpu),
	  .type = CONF_NUMBER, .min = 1, .max = TEN_YEARS,
	  .flags = CONF_F_UNLIMITED | CONF_F_SECONDS },
	{ .name = "memory", .offset = offsetof(struct conf_quota, memory),
	  .type = CONF_SIZE, .min = 1 * M, .max = 8192 * G,
	  .flags = CONF_F_UNLIMITED },
	{ .name = "processes",
	  .offset = offsetof(struct conf_quota, processes),
	  .type = CONF_NUMBER, .min = 4, .max = PID_LIMIT,
	  .flags = CONF_F_UNLIMITED },
};
#define NRESOURCES	(sizeof(resources) / sizeof(resources[0]))

static const char *const kinds[] = { "default", "user", "group" };

static uint64_t *
field(struct conf_quota *q, const struct conf_key *r)
{
	return (uint64_t *)(void *)((char *)q + r->offset);
}

static uint64_t
value_of(const struct conf_quota *q, const struct conf_key *r)
{
	uint64_t	v;

	memcpy(&v, (const char *)q + r->offset, sizeof(v));
	return v;
}

void
conf_quota_clear(struct conf_quota *q)
{
	size_t	i;

	free(q->name);
	memset(q, 0, sizeof(*q));
	for (i = 0; i < NRESOURCES; i++)
		*field(q, &resources[i]) = CONF_UNLIMITED;
}

static int
parse_value(const struct conf_key *r, const char *value, uint64_t *out)
{
	if (strcmp(value, "unlimited") == 0) {
		*out = CONF_UNLIMITED;
		return 0;
	}
	if (r->type == CONF_NUMBER)
		return conf_parse_number(value, r->min, r->max, out);
	if (conf_parse_size(value, out) == -1)
		return -1;
	return *out < r->min || *out > r->max ? -1 : 0;
}

int
conf_quota_set(struct conf_quota *q, const char *resource, const char *value,
    char *err, size_t errsize)
{
	const struct conf_key	*r;
	uint64_t		 v;
	char			 want[200], quoted[80];

	for (r = resources; r < resources + NRESOURCES; r++) {
		if (strcmp(r->name, resource) == 0)
			break;
	}
	if (r == resources + NRESOURCES) {
		conf_quote(resource, quoted);
		snprintf(err, errsize, "quota knows sessions, bytes, cpu, "
		    "memory and processes, not %s", quoted);
		return -1;
	}
	if (q->set & 1U << (r - resources)) {
		snprintf(err, errsize, "quota has more than one %s", r->name);
		return -1;
	}
	if (parse_value(r, value, &v) == -1) {
		conf_type_describe(r, want, sizeof(want));
		conf_quote(value, quoted);
		snprintf(err, errsize, "quota %s must be %s, not %s", r->name,
		    want, quoted);
		return -1;
	}
	*field(q, r) = v;
	q->set |= 1U << (r - resources);
	return 0;
}

static bool
same_subject(const struct conf_quota *a, const struct conf_quota *b)
{
	return a->kind == b->kind &&
	    (a->name == NULL ||
	    (b->name != NULL && strcmp(a->name, b->name) == 0));
}

static int
quota_valid(const struct conf *c, const struct conf_quota *q, char *err,
    size_t errsize)
{
	char	title[300], quoted[80];
	size_t	i;

	if (q->name != NULL && !conf_name_valid(q->name)) {
		conf_quote(q->name, quoted);
		snprintf(err, errsize, "quota %s must be followed by the name "
		    "of a %s, not %s", kinds[q->kind], kinds[q->kind],
		    quoted);
		return -1;
	}
	for (i = 0; i < c->nquotas; i++) {
		if (!same_subject(&c->quotas[i], q))
			continue;
		conf_quota_title(q, title, sizeof(title));
		snprintf(err, errsize, "%s is already set in line %d", title,
		    c->quotas[i].line);
		return -1;
	}
	if (c->nquotas == CONF_MAX_QUOTAS) {
		snprintf(err, errsize, "more than %d quota statements",
		    CONF_MAX_QUOTAS);
		return -1;
	}
	return 0;
}

int
conf_quota_add(struct conf *c, struct conf_quota *q, char *err,
    size_t errsize)
{
	struct conf_quota	*quotas;

	if (quota_valid(c, q, err, errsize) == -1)
		goto fail;
	quotas = reallocarray(c->quotas, c->nquotas + 1, sizeof(*quotas));
	if (quotas == NULL) {
		snprintf(err, errsize, "out of memory");
		goto fail;
	}
	c->quotas = quotas;
	c->quotas[c->nquotas++] = *q;
	q->name = NULL;
	conf_quota_clear(q);
	return 0;
 fail:
	conf_quota_clear(q);
	return -1;
}

void
conf_quota_title(const struct conf_quota *q, char *out, size_t size)
{
	snprintf(out, size, "quota %s%s%s", kinds[q->kind],
	    q->name != NULL ? " " : "", q->name != NULL ? q->name : "");
}

static void
print_resource(const struct conf_quota *q, const struct conf_key *r, FILE *f)
{
	uint64_t	v = value_of(q, r);
	char		size[24];

	if (v == CONF_UNLIMITED)
		fputs("unlimited", f);
	else if (r->type == CONF_NUMBER)
		fprintf(f, "%" PRIu64, v);
	else {
		conf_format_size(v, size);
		fputs(size, f);
	}
}

void
conf_quota_print(const struct conf_quota *q, FILE *f)
{
	size_t	i;

	fprintf(f, "quota %s", kinds[q->kind]);
	if (q->name != NULL) {
		putc(' ', f);
		conf_print_quoted(q->name, f);
	}
	for (i = 0; i < NRESOURCES; i++) {
		fprintf(f, " %s ", resources[i].name);
		print_resource(q, &resources[i], f);
	}
	putc('\n', f);
}

void
conf_quota_pack(const struct conf_quota *q, FILE *f)
{
	size_t	i;

	for (i = 0; i < NRESOURCES; i++) {
		conf_pack_text(resources[i].name, f);
		print_resource(q, &resources[i], f);
		putc('\0', f);
	}
	conf_pack_text("", f);
}

bool
conf_quota_equal(const struct conf_quota *a, const struct conf_quota *b)
{
	size_t	i;

	if (!same_subject(a, b))
		return false;
	for (i = 0; i < NRESOURCES; i++) {
		if (value_of(a, &resources[i]) != value_of(b, &resources[i]))
			return false;
	}
	return true;
}
