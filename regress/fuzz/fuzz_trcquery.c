/* SPDX-License-Identifier: ISC */
/* links: common/base/log.c timeline/store/ common/base/json.c common/base/text.c timeline/query/ common/base/utf8.c */
/* covers: timeline/query/query.c timeline/query/query_count.c timeline/query/query_filter.c timeline/query/query_json.c timeline/query/query_parse.c timeline/query/query_regex.c timeline/query/query_value.c timeline/query/vtab.c timeline/query/vtab_func.c timeline/query/vtab_sql.c */
/*
 * Fuzz target of what a timeline is asked: parameters of debug_query, regular
 * expressions and SQL.  An answer is JSON, a refusal is words; and it is the
 * same whether or not values are looked for by what they were captured as.
 */
#include <sys/mman.h>

#include <json-c/json.h>

#include <stdio.h>
#include <unistd.h>

#include "regress/fuzz/fuzz.h"

#include "timeline/query/query.h"
#include "timeline/query/query_regex.h"
#include "timeline/query/vtab.h"

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

/* -- many calls, of functions whose results are shown in several ways ------ */
enum { WORD, POINTER, TEXT, PAIR, WAYS, FIRST_OF_MANY = 8 };

static size_t
show(void *arg, uint32_t fn, const void *captures, size_t len, char *buf,
    size_t size)
{
	const char *p = captures;
	uint64_t u = 0;
	uint16_t n;

	(void)arg;
	if (fn < FIRST_OF_MANY)
		return 0;
	if (len < 12)
		return (size_t)snprintf(buf, size, "null");
	memcpy(&n, p + 2, sizeof(n));
	memcpy(&u, p + 4, sizeof(u));
	switch (fn % WAYS) {
	case POINTER:
		return (size_t)snprintf(buf, size, "\"0x%llx\"",
		    (unsigned long long)u);
	case TEXT:
		return (size_t)snprintf(buf, size, "\"%.*s\"", n <= len - 4 ?
		    (int)n : (int)len - 4, p + 4);
	case PAIR:
		return (size_t)snprintf(buf, size, "{\"a\": %llu}",
		    (unsigned long long)u);
	default:
		return (size_t)snprintf(buf, size, "%d", (int)u);
	}
}

static size_t
show_arguments(void *arg, uint32_t fn, const void *captures, size_t len,
    char *buf, size_t size)
{
	(void)arg;
	(void)captures;
	(void)len;
	return fn % 2 == 0 ? 0 : (size_t)snprintf(buf, size, "[%u]", fn);
}

static void
inverse(void *arg, uint32_t fn, const struct store_value *v,
    struct store_inverse *inv)
{
	char s[32] = "";

	(void)arg;
	inv->found = FOUND_PERHAPS;
	if (fn < FIRST_OF_MANY)
		return;
	if (fn % WAYS == WORD) {
		inv->found = FOUND_NEVER;
		if (v->type != STORE_INTEGER)
			return;
		inv->found = FOUND_WORD;
		inv->exact = true;
		inv->mask = UINT32_MAX;
		inv->wanted = v->integer & UINT32_MAX;
		/* one that is not shown so */
		if ((uint64_t)(int64_t)(int32_t)v->integer != v->integer ||
		    v->negative != ((int32_t)v->integer < 0))
			inv->found = FOUND_NEVER;
	} else if (fn % WAYS == POINTER && v->type != STORE_STRING) {
		inv->found = FOUND_NEVER;
	} else if (fn % WAYS == POINTER) {
		memcpy(s, v->s, v->len < 20 ? v->len : 20);
		inv->found = FOUND_WORD;
		inv->mask = UINT64_MAX;
		inv->wanted = strtoull(s, NULL, 16);
	} else if (fn % WAYS == TEXT && v->type == STORE_STRING &&
	    v->len <= STORE_BYTES_MAX) {
		inv->found = FOUND_BYTES;
		inv->len = v->len;
		memcpy(inv->bytes, v->s, v->len);
	} else if (fn % WAYS != PAIR && v->type == STORE_COMPOUND)
		inv->found = FOUND_NEVER;
}

/* Adds a call whose exit returns i in the function's way. */
static void
add_call(uint32_t fn, uint64_t ts, uint32_t i)
{
	static const char *const texts[] = { "text%u",
		"long long long long long long text %u" };
	struct {
		uint16_t status, len;
		char	 bytes[64];
	} got = { .len = 8 };
	const uint64_t value = i % 211;
	static const uint8_t two[24] = { 0, 0, 8, 0, 5, [14] = 8, [16] = 6 };
	struct event ev = { .kind = EVENT_CALL, .fn = fn, .tid = 20 + i % 3,
		.ts_ns = ts, .duration = i % 5, .captures = &got, .len = 12,
		.exit_captures = &got };

	memcpy(got.bytes, &value, sizeof(value));
	if (fn % WAYS == TEXT)
		got.len = (uint16_t)snprintf(got.bytes, sizeof(got.bytes),
		    texts[i % 2], i % 211);
	ev.len = i % 3 == 0 ? 0 : 12;
	if (i % 3 == 1) {
		ev.captures = two;
		ev.len = sizeof(two);
	}
	/* one that has no key */
	got.status = i % 7 == 6 ? 2 : 0;
	ev.exit_len = i % 50 == 0 ? 0 : (uint16_t)(4 + (got.len + 3) / 4 * 4);
	if (i % 41 == 0) {
		ev.kind = EVENT_EXIT;
		ev.flags = EVENT_UNWOUND;
		ev.captures = &got;
		ev.len = ev.exit_len;
	} else if (i % 43 == 0) {
		ev.kind = EVENT_ENTER;
		ev.flags = EVENT_SAMPLED;
	}
	store_append(st, &ev, 1, UINT64_MAX);
}

/* In several segments, as a long while lies between them. */
static void
fill_more(void)
{
	static const char *const names[] = { "many::word", "many::pointer",
		"many::text", "many::pair", "many::more" };
	const struct store_writer who = { .tid = 20, .name = "worker" };
	struct store_function f = { .fn = FIRST_OF_MANY,
		.file = "/src/many.c" };
	uint64_t ts = 1000;
	uint32_t i;

	for (i = 0; i < 5; i++, f.fn++) {
		f.name = names[i];
		store_function(st, &f);
	}
	store_append(st, &(struct event){ .kind = EVENT_ENTER, .tid = 20,
	    .fn = FIRST_OF_MANY, .ts_ns = ts, .captures = "" }, 1, UINT64_MAX);
	store_thread(st, 20, "worker");
	store_lost(st, 20, 3);
	store_lost(st, 21, 4);
	store_append(st, &(struct event){ .kind = EVENT_EXIT, .tid = 20,
	    .fn = 2, .ts_ns = ++ts, .captures = "" }, 1, UINT64_MAX);
	store_crash(st, ++ts, 20, "no object", 9);
	for (i = 0; i < 1800; i++) {
		add_call(FIRST_OF_MANY + i % 5, ts += 10, i);
		if (i % 450 == 449) {
			ts += UINT64_C(1) << 48;
			store_output(st, ts, EVENT_STDERR, &who, "err\n", 4);
		}
	}
	store_flush(st);
}

static void
set_up(void)
{
	const struct store_meta meta = { .id = "fuzz", .status = "running" };
	const struct store_limits limits = STORE_LIMITS_DEFAULT;
	const struct store_files files = { memfd_create("c", MFD_CLOEXEC),
		memfd_create("d", MFD_CLOEXEC), memfd_create("w", MFD_CLOEXEC) };
	static const struct store_render render = { .arguments = show_arguments,
		.result = show };
	char why[STORE_WHY];

	quiet();
	if ((st = store_open(&files, &meta, &limits, why)) == NULL)
		abort();
	store_set_render(st, &render);
	fill();
	fill_more();
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
	if ((o = json_tokener_parse(t->p)) == NULL)
		abort();
	json_object_put(o);
}

static void
ask(const char *s, size_t len)
{
	struct text t = { .max = TEXT_MAX }, again = { .max = TEXT_MAX };
	char why[STORE_WHY];
	struct query q;

	why[0] = '\0';
	if (query_parse_text(s, len, &q, why) == -1) {
		if (why[0] == '\0')
			abort();
		return;
	}
	store_set_inverse(st, NULL, NULL);
	check(query_run(st, &q, &t, why), &t, why);
	store_set_inverse(st, inverse, NULL);
	check(query_run(st, &q, &again, why), &again, why);
	must(t.len == again.len && (t.len == 0 ||
	    memcmp(t.p, again.p, t.len) == 0));
	text_reset(&t, SIZE_MAX);
	query_losses(st, &t);
	check(0, &t, why);
	query_free(&q);
	text_free(&t);
	text_free(&again);
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
	struct text t = { .max = TEXT_MAX };
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
