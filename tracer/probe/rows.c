/* SPDX-License-Identifier: ISC */
/* Patterns: checked, added, taken back. */
#include <json-c/json.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "tracer/binary/address.h"

struct rows rows = TAILQ_HEAD_INITIALIZER(rows);

struct row *
row_find(const char *text)
{
	struct row *r;

	TAILQ_FOREACH(r, &rows, entry)
		if (strcmp(r->text, text) == 0)
			return r;
	return NULL;
}

static void
row_free(struct row *r)
{
	if (r->pattern != NULL)
		pattern_free(r->pattern);
	free(r->text);
	free(r);
}

void
row_remove(struct row *r)
{
	TAILQ_REMOVE(&rows, r, entry);
	row_free(r);
}

void
rows_reset(void)
{
	struct row *r;

	TAILQ_FOREACH(r, &rows, entry)
		r->now = r->most = (struct row_counts){ 0 };
}

void
rows_count(void)
{
	struct row *r;

	TAILQ_FOREACH(r, &rows, entry)
		r->now = (struct row_counts){ 0 };
}

static void
raise_to(uint32_t *most, uint32_t now)
{
	if (now > *most)
		*most = now;
}

void
rows_counted(void)
{
	struct row *r;

	TAILQ_FOREACH(r, &rows, entry) {
		raise_to(&r->most.matched, r->now.matched);
		raise_to(&r->most.untyped, r->now.untyped);
		raise_to(&r->most.inlined, r->now.inlined);
	}
}

bool
rows_any_raw(void)
{
	const struct row *r;

	TAILQ_FOREACH(r, &rows, entry)
		if (r->raw || r->pattern == NULL)
			return true;
	return false;
}

/* -- requests ------------------------------------------------------------- */

static size_t
count(struct json_object *list)
{
	return list == NULL ? 0 : json_object_array_length(list);
}

static const char *
word(struct json_object *list, size_t i)
{
	return json_object_get_string(json_object_array_get_idx(list, i));
}

static void
say_invalid(char why[PROBING_WHY], const char *text, const char *reason)
{
	struct text t = { .max = PROBING_WHY - 1 }, shown = { .max = 128 };

	text_plain(&shown, text, strnlen(text, 60));
	text_printf(&t, "Invalid trace pattern '%s': %s",
	    shown.p == NULL ? "" : shown.p, reason);
	(void)snprintf(why, PROBING_WHY, "%s", t.p == NULL ? "" : t.p);
	text_free(&t);
	text_free(&shown);
}

static int
check_pattern(const char *text, const char *root, char why[PROBING_WHY])
{
	char reason[256];
	struct pattern *p = pattern_new(text, root, reason, sizeof(reason));

	if (p == NULL) {
		say_invalid(why, text, reason);
		return -1;
	}
	pattern_free(p);
	return 0;
}

static int
check_remove(const struct trace_request *w, char why[PROBING_WHY])
{
	struct text shown = { .max = 128 };
	size_t i;

	for (i = 0; i < count(w->remove); i++) {
		if (row_find(word(w->remove, i)) != NULL)
			continue;
		text_plain(&shown, word(w->remove, i),
		    strnlen(word(w->remove, i), 60));
		(void)snprintf(why, PROBING_WHY, "there is no active pattern "
		    "'%s' that could be removed", shown.p == NULL ? "" :
		    shown.p);
		text_free(&shown);
		return -1;
	}
	return 0;
}

int
trace_request_check(const struct trace_request *w, const char **code,
    char why[PROBING_WHY])
{
	struct row *r;
	size_t i, n = 0;

	*code = "INVALID_PATTERN";
	for (i = 0; i < count(w->add); i++)
		if (check_pattern(word(w->add, i), w->root, why) == -1)
			return -1;
	for (i = 0; i < count(w->addresses); i++)
		if (!address_is_one(word(w->addresses, i))) {
			say_invalid(why, word(w->addresses, i), "an address is "
			    "0x and hexadecimal digits, or the name of a file "
			    "or function, + and a number");
			return -1;
		}
	*code = "INVALID_ARGUMENT";
	TAILQ_FOREACH(r, &rows, entry)
		n++;
	if (n + count(w->add) + count(w->addresses) > PATTERNS_MAX) {
		(void)snprintf(why, PROBING_WHY, "there can be %d patterns at "
		    "one time; remove some", PATTERNS_MAX);
		return -1;
	}
	return check_remove(w, why);
}

static void
add(const struct trace_request *w, const char *text, bool address)
{
	struct row *r = row_find(text);
	char why[8];

	if (r == NULL) {
		r = calloc(1, sizeof(*r));
		if (r == NULL || (r->text = strdup(text)) == NULL) {
			free(r);
			return;
		}
		r->is_new = true;
		TAILQ_INSERT_TAIL(&rows, r, entry);
	}
	if (!address) {
		/* the project's root may be another one now */
		if (r->pattern != NULL)
			pattern_free(r->pattern);
		r->pattern = pattern_new(text, w->root, why, sizeof(why));
		if (r->pattern == NULL) {
			row_remove(r);
			return;
		}
	}
	/* what is traced so already is traced on */
	r->raw = r->raw || w->raw || address;
	if (w->has_budget) {
		r->has_budget = true;
		r->budget = w->budget;
	}
}

/* Without patterns a budget is for all that there are. */
static void
set_budgets(const struct trace_request *w)
{
	struct row *r;

	if (!w->has_budget || w->add != NULL || w->addresses != NULL)
		return;
	TAILQ_FOREACH(r, &rows, entry) {
		r->has_budget = true;
		r->budget = w->budget;
	}
}

void
trace_request_apply(const struct trace_request *w)
{
	struct process *p;
	size_t i;

	for (i = 0; i < count(w->remove); i++)
		if (row_find(word(w->remove, i)) != NULL)
			row_remove(row_find(word(w->remove, i)));
	for (i = 0; i < count(w->add); i++)
		add(w, word(w->add, i), false);
	for (i = 0; i < count(w->addresses); i++)
		add(w, word(w->addresses, i), true);
	set_budgets(w);
	rows_reset();
	TAILQ_FOREACH(p, &processes, entry)
		p->unsettled = p->stale = true;
}

static bool
is_vain(const struct trace_request *w)
{
	const struct process *p = process_main();
	const struct row *r;
	size_t i;

	if (w->raw || count(w->add) == 0 || p == NULL || p->nmodules == 0 ||
	    !p->modules[0].exe || p->modules[0].binary->state !=
	    BINARY_READY || binary_has_dwarf(p->modules[0].binary))
		return false;
	for (i = 0; i < count(w->add); i++)
		if ((r = row_find(word(w->add, i))) != NULL && r->most.matched > 0)
			return false;
	return true;
}

/* Rows that others have made stay: they are of use with what else is loaded. */
bool
trace_request_was_vain(const struct trace_request *w)
{
	const bool vain = is_vain(w);
	struct row *r;
	size_t i;

	for (i = 0; i < count(w->add); i++) {
		if ((r = row_find(word(w->add, i))) == NULL || !r->is_new)
			continue;
		r->is_new = false;
		if (vain)
			row_remove(r);
	}
	return vain;
}
