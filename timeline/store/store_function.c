/* SPDX-License-Identifier: ISC */
/* Functions by the number under which their calls are stored. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "store_int.h"

#define NAMES_MOST	((size_t)256 << 20)	/* bytes of all of them */

const struct function *
function_of(const struct store *st, uint32_t fn)
{
	return fn < st->functions_cap && st->functions[fn].name != NULL ?
	    &st->functions[fn] : NULL;
}

const char *
store_name(const struct store *st, uint32_t fn)
{
	const struct function *f = function_of(st, fn);

	return f == NULL ? "" : f->name;
}

static int
reserve(struct store *st, uint32_t fn)
{
	uint32_t cap = st->functions_cap == 0 ? 64 : st->functions_cap;
	struct function *all;

	if (fn < st->functions_cap)
		return 0;
	while (cap <= fn)
		cap *= 2;
	if ((all = reallocarray(st->functions, cap, sizeof(*all))) == NULL)
		return -1;
	memset(all + st->functions_cap, 0,
	    (cap - st->functions_cap) * sizeof(*all));
	st->functions = all;
	st->functions_cap = cap;
	return 0;
}

static size_t
bytes_of(const struct function *f)
{
	return f->name == NULL ? 0 : strlen(f->name) + strlen(f->raw) +
	    strlen(f->file) + strlen(f->ret_type);
}

static void
release(struct function *f)
{
	free(f->name);
	free(f->raw);
	free(f->file);
	free(f->ret_type);
	memset(f, 0, sizeof(*f));
}

/* A copy that is not too long and splits no character. */
static char *
copy(const char *s)
{
	size_t n = strnlen(s, STORE_NAME_MAX);

	return strndup(s, n - utf8_unfinished(s, n));
}

int
function_set(struct store *st, const struct store_function *sf)
{
	struct function f = { .line = sf->line };

	if (sf->fn >= FN_MAX || sf->name == NULL || reserve(st, sf->fn) == -1 ||
	    counters_reserve(&st->counters, sf->fn) == -1)
		return -1;
	f.name = copy(sf->name);
	f.raw = copy(sf->raw != NULL ? sf->raw : sf->name);
	f.file = copy(sf->file != NULL ? sf->file : "");
	f.ret_type = copy(sf->ret_type != NULL ? sf->ret_type : "");
	if (f.name == NULL || f.raw == NULL || f.file == NULL ||
	    f.ret_type == NULL || st->functions_bytes + bytes_of(&f) >
	    NAMES_MOST) {
		release(&f);
		return -1;
	}
	st->functions_bytes += bytes_of(&f) - bytes_of(&st->functions[sf->fn]);
	if (st->functions[sf->fn].name == NULL)
		st->nfunctions++;
	release(&st->functions[sf->fn]);
	st->functions[sf->fn] = f;
	return 0;
}

uint32_t
store_functions_end(const struct store *st)
{
	uint32_t n = st->functions_cap, called = counters_end(&st->counters);

	while (n > 0 && st->functions[n - 1].name == NULL)
		n--;
	return n > called ? n : called;
}

int
store_function(struct store *st, const struct store_function *sf)
{
	struct pending *row;

	size_t len = sf->shape == NULL || sf->shape_len > STORE_SHAPE_MAX ?
	    0 : sf->shape_len;

	if (function_set(st, sf) == -1 ||
	    (row = calloc(1, sizeof(*row) + len)) == NULL)
		return -1;
	row->tid = sf->fn;
	row->len = len;
	if (len > 0)
		memcpy(row->body, sf->shape, len);
	db_queue(st, row);
	return 0;
}

void
functions_free(struct store *st)
{
	uint32_t i;

	for (i = 0; i < st->functions_cap; i++)
		release(&st->functions[i]);
	free(st->functions);
}
