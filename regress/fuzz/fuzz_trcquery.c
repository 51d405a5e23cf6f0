/* SPDX-License-Identifier: ISC */
/* links: common/log.c tracer/store/text.c tracer/store/tally.c tracer/store/segment.c tracer/store/store*.c tracer/store/query*.c tracer/store/vtab*.c common/utf8.c */
/* covers: tracer/store/query.c tracer/store/query_count.c tracer/store/query_filter.c tracer/store/query_json.c tracer/store/query_parse.c tracer/store/query_regex.c tracer/store/query_value.c tracer/store/vtab.c tracer/store/vtab_func.c tracer/store/vtab_sql.c */
/*
 * Fuzz target of what a timeline is asked: parameters of debug_query, regular
 * expressions and SQL.  An answer is JSON, a refusal is words.
 */
#include <sys/mman.h>

#include <json-c/json.h>

#include <unistd.h>

#include "regress/fuzz/fuzz.h"

#include "tracer/store/query.h"
#include "tracer/store/query_regex.h"
#include "tracer/store/vtab.h"

static struct store *st;

static void
fill(void)
{
	static const uint8_t value[12] = { 0, 0, 8, 0, 5 };
	struct store_function f = { .fn = 1, .name = "auth::user::validate",
		.file = "/src/auth.cc", .line = 7, .ret_type = "bool" };
	struct event ev = { .tid = 10, .captures = value, .len = 12 };

	store_function(st, &f);
	f.fn = 2;
	f.name = "main";
	store_function(st, &f);
	for (ev.ts_ns = 1; ev.ts_ns < 40; ev.ts_ns++) {
		ev.kind = ev.ts_ns % 2 ? EVENT_ENTER : EVENT_EXIT;
		ev.fn = 1 + (uint32_t)ev.ts_ns / 2 % 2;
		ev.tid = 10 + (uint32_t)ev.ts_ns / 10;
		store_append(st, &ev, 1, UINT64_MAX);
	}
	store_output(st, 20, EVENT_STDOUT, NULL, "out \xff\n", 6);
	store_crash(st, 50, 10, "{\"signal\":11}", 13);
	store_flush(st);
}

static void
set_up(void)
{
	const struct store_meta meta = { .id = "fuzz", .status = "running" };
	const struct store_limits limits = STORE_LIMITS_DEFAULT;
	const struct store_files files = { memfd_create("c", MFD_CLOEXEC),
		memfd_create("d", MFD_CLOEXEC), memfd_create("w", MFD_CLOEXEC) };
	char why[STORE_WHY];

	quiet();
	if ((st = store_open(&files, &meta, &limits, why)) == NULL)
		abort();
	fill();
}

static void
check(int ret, const struct text *t, const char *why)
{
	struct json_object *o;

	if (ret == -1) {
		if (why[0] == '\0' || t->len != 0)
			abort();
		return;
	}
	if ((o = json_tokener_parse(t->s)) == NULL)
		abort();
	json_object_put(o);
}

static void
ask(const char *s, size_t len)
{
	struct text t = { .max = 0 };
	char why[STORE_WHY];
	struct query q;

	why[0] = '\0';
	if (query_parse_text(s, len, &q, why) == -1) {
		if (why[0] == '\0')
			abort();
		return;
	}
	check(query_run(st, &q, &t, why), &t, why);
	query_free(&q);
	text_free(&t);
}

static void
match(const char *s, size_t len)
{
	char why[REGEX_WHY];
	struct regex *re = regex_new(s, len, why);

	if (re == NULL) {
		if (why[0] == '\0')
			abort();
		return;
	}
	regex_match(re, s, len);
	regex_match(re, "auth::user::validate", 20);
	regex_free(re);
}

static void
sql(const char *s, size_t len)
{
	static const struct sql_limits limits = { .ms = 50, .rows = 100 };
	struct text t = { .max = 0 };
	char why[STORE_WHY];

	why[0] = '\0';
	check(store_sql(st, s, len, &limits, &t, why), &t, why);
	text_free(&t);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *s = (const char *)data + 1;

	if (st == NULL)
		set_up();
	if (len == 0)
		return 0;
	if (data[0] == 'q')
		ask(s, len - 1);
	else if (data[0] == 'r')
		match(s, len - 1);
	else if (data[0] == 's')
		sql(s, len - 1);
	return 0;
}
