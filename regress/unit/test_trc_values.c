/* SPDX-License-Identifier: ISC */
/* links: timeline/store/ common/base/json.c common/base/text.c timeline/query/ */
/*
 * Queries by return value and all that can stand beside it, against looking
 * at each event: with and without knowing what a value was captured as, of
 * timelines that were opened again and of which most has been evicted.
 */
#include "test_trc_rig.h"

#include <inttypes.h>

#define FNS	24U
#define ROUND	24000U
#define ROUNDS	3U
#define THREADS	4U
#define QUERIES	120

/* How a function's result is captured and shown. */
enum type {
	T_INT,			/* four of the eight bytes that are captured */
	T_POINTER,
	T_STRING,		/* a pointer and what it leads to */
	T_PAIR,			/* two registers */
	T_NOTHING,
	T_LONG,
	TYPES
};

static struct one {
	uint64_t id, ts;
	uint32_t fn, tid;
	uint8_t	 kind;
	char	*value;			/* as JSON; NULL = none */
} all[ROUND * ROUNDS];
static uint32_t	nall, seed;
static uint64_t	clocks[THREADS];

static uint32_t
chance(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* -- values --------------------------------------------------------------- */
/* Writes a capture; returns the place behind it. */
static uint8_t *
capture(uint8_t *p, uint16_t status, const void *bytes, uint16_t len)
{
	memcpy(p, &status, 2);
	memcpy(p + 2, &len, 2);
	memset(p + 4, 0, (len + 3U) & ~3U);
	memcpy(p + 4, bytes, len);
	return p + 4 + ((len + 3U) & ~3U);
}

/* Few, some, or each another one. */
static uint64_t
some_value(void)
{
	switch (chance(4)) {
	case 0:
		return chance(3);
	case 1:
		return chance(300);
	case 2:
		return UINT64_MAX - chance(40);
	default:
		return (uint64_t)nall << (chance(2) * 30);
	}
}

static size_t
capture_string(uint8_t *raw, uint64_t v)
{
	uint64_t ptr = v == 0 ? 0 : 4096 + nall;
	char text[100];
	uint8_t *p = capture(raw, 0, &ptr, 8);
	int n = snprintf(text, sizeof(text), chance(2) ? "%" PRIu64 :
	    "a longer text with %" PRIu64 " in it", v);

	if (v == 1)
		n = 0;
	/* unreadable, cut, whole */
	return (size_t)((v == 0 ? capture(p, 1, "", 0) :
	    capture(p, chance(50) == 0 ? 2 : 0, text, (uint16_t)n)) - raw);
}

static size_t
capture_value(uint32_t fn, uint8_t raw[200])
{
	uint64_t v = some_value(), two;

	switch (fn % TYPES) {
	case T_STRING:
		return capture_string(raw, v);
	case T_PAIR:
		two = chance(3);
		return (size_t)(capture(capture(raw, 0, &v, 8), 0, &two, 8) -
		    raw);
	case T_NOTHING:
		return 0;
	default:
		/* sometimes it could not be captured */
		if (chance(200) == 0)
			return (size_t)(capture(raw, 3, "", 0) - raw);
		return (size_t)(capture(raw, 0, &v, 8) - raw);
	}
}

static size_t
show(void *arg, uint32_t fn, const void *captures, size_t len, char *buf,
    size_t size)
{
	const uint8_t *p = captures;
	uint16_t n = 0, status = 0;
	uint64_t v = 0, two = 0;

	(void)arg;
	if (len < 12)
		return (size_t)snprintf(buf, size, "\"<unreadable>\"");
	memcpy(&v, p + 4, 8);
	if (len >= 16) {
		memcpy(&status, p + 12, 2);
		memcpy(&n, p + 14, 2);
	}
	switch (fn % TYPES) {
	case T_INT:
		return (size_t)snprintf(buf, size, "%" PRId32, (int32_t)v);
	case T_POINTER:
		return (size_t)snprintf(buf, size, "\"0x%" PRIx64 "\"", v);
	case T_STRING:
		if (v == 0)
			return (size_t)snprintf(buf, size, "null");
		return (size_t)snprintf(buf, size, "\"%.*s\"", n, p + 16);
	case T_PAIR:
		memcpy(&two, p + 16, 8);
		return (size_t)snprintf(buf, size, "{\"a\":%" PRIu64
		    ",\"b\":%" PRIu64 "}", v, two);
	default:
		return (size_t)snprintf(buf, size, "%" PRIu64, v);
	}
}

static void
inverse(void *arg, uint32_t fn, const struct store_value *v,
    struct store_inverse *inv)
{
	char hex[64] = "";

	(void)arg;
	inv->found = FOUND_NEVER;
	inv->exact = true;
	inv->mask = UINT64_MAX;
	switch (fn % TYPES) {
	case T_INT:
		if (v->type == STORE_INTEGER && (uint64_t)(int32_t)v->integer ==
		    v->integer && v->negative == ((int32_t)v->integer < 0)) {
			inv->found = FOUND_WORD;
			inv->mask = UINT32_MAX;
			inv->wanted = v->integer & UINT32_MAX;
		}
		break;
	case T_POINTER:
		if (v->type == STORE_STRING && v->len < sizeof(hex) &&
		    strncmp(v->s, "0x", 2) == 0) {
			inv->found = FOUND_WORD;
			inv->exact = false;
			inv->wanted = strtoull(v->s, NULL, 16);
		}
		break;
	case T_STRING:
		if (v->type == STORE_STRING) {
			inv->found = FOUND_BYTES;
			inv->len = v->len;
			memcpy(inv->bytes, v->s, v->len);
		}
		break;
	case T_PAIR:
		if (v->type == STORE_COMPOUND)
			inv->found = FOUND_PERHAPS;
		break;
	case T_LONG:
		if (v->type == STORE_INTEGER && !v->negative) {
			inv->found = FOUND_WORD;
			inv->wanted = v->integer;
		}
		break;
	default:
		break;
	}
}

/* -- the timeline --------------------------------------------------------- */
static void
function(uint32_t fn)
{
	char name[32];

	snprintf(name, sizeof(name), "mod%u::f%u", fn % 3, fn);
	rig_function(fn, name, fn % 2 == 0 ? "/src/even.c" : "/lib/odd.c");
}

static void
append(void)
{
	static uint8_t raw[200];
	static char text[400];
	uint32_t t = chance(50) == 0 ? 3 : chance(3);
	struct one *o = &all[nall];
	struct event ev = { .captures = raw };

	clocks[t] += chance(4);
	*o = (struct one){ .ts = clocks[t], .tid = 100 + t,
		.fn = chance(30) == 0 ? FNS - 1 : chance(FNS - 1),
		.kind = chance(4) == 0 ? EVENT_ENTER : EVENT_EXIT };
	ev.ts_ns = o->ts;
	ev.tid = o->tid;
	ev.fn = o->fn;
	ev.kind = o->kind;
	ev.len = (uint16_t)capture_value(o->fn, raw);
	if (o->kind == EVENT_EXIT && ev.len > 0) {
		text[show(NULL, o->fn, raw, ev.len, text, sizeof(text))] =
		    '\0';
		o->value = strdup(text);
	}
	assert_int_equal(store_append(st, &ev, 1, UINT64_MAX), 1);
	o->id = ev.id;
	nall++;
}

static int
by_time(const void *va, const void *vb)
{
	const struct one *a = va, *b = vb;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* Drops those that are in the timeline no more. */
static void
keep_present(void)
{
	uint32_t kept = 0, i = 0;
	char q[100] = "{\"limit\":500}", *s;
	uint64_t id;

	qsort(all, nall, sizeof(all[0]), by_time);
	do {
		s = (char *)(uintptr_t)rig_query(q);
		while ((s = strstr(s, "{\"id\":\"")) != NULL) {
			id = strtoul(s + 7, &s, 10) << 40;
			id |= strtoul(s + 1, &s, 10);
			for (; i < nall && all[i].id != id; i++)
				free(all[i].value);
			assert_true(i < nall);
			all[kept++] = all[i++];
		}
		snprintf(q, sizeof(q), "{\"limit\":500,\"afterEventId\":"
		    "\"%" PRIu64 ".%" PRIu64 "\"}", all[kept - 1].id >> 40,
		    all[kept - 1].id & SEQ_MAX);
	} while (strstr(answer.p, "\"hasMore\":true") != NULL);
	for (; i < nall; i++)
		free(all[i].value);
	nall = kept;
}

/* -- queries -------------------------------------------------------------- */
struct want {
	char	 q[600];
	int	 fn, mod, last, odd, tid, kind, null;	/* -1 = any */
	char	*value;					/* NULL = any */
	uint32_t limit, offset;
	int64_t	 after;					/* index */
};

static bool
is_null(const char *value)
{
	return strcmp(value, "null") == 0 || strcmp(value, "\"0x0\"") == 0;
}

static bool
wanted(const struct want *w, const struct one *o)
{
	if ((w->fn != -1 && o->fn != (uint32_t)w->fn) ||
	    (w->mod != -1 && o->fn % 3 != (uint32_t)w->mod) ||
	    (w->last != -1 && o->fn % 10 != (uint32_t)w->last) ||
	    (w->odd != -1 && o->fn % 2 != (uint32_t)w->odd) ||
	    (w->tid != -1 && o->tid != (uint32_t)w->tid) ||
	    (w->kind != -1 && o->kind != w->kind))
		return false;
	if (w->value == NULL && w->null == -1)
		return true;
	if (o->value == NULL || (w->null != -1 &&
	    is_null(o->value) != (w->null == 1)))
		return false;
	return w->value == NULL || strcmp(w->value, o->value) == 0;
}

static void	add(struct want *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));

static void
add(struct want *w, const char *fmt, ...)
{
	size_t n = strlen(w->q);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->q + n, sizeof(w->q) - n, fmt, ap);
	va_end(ap);
}

static char *
some_wanted(void)
{
	static char text[32];
	static char *const fixed[] = { text, "null", "\"0x0\"", "true",
		"0", "1", "\"\"", "\"0x2\"", "[1]", "\"<unreadable>\"" };
	uint32_t i;

	snprintf(text, sizeof(text), "%" PRId64, (int64_t)some_value());
	if (chance(3) == 0)
		return fixed[chance(sizeof(fixed) / sizeof(fixed[0]))];
	for (i = chance(nall); i < nall; i++)
		if (all[i].value != NULL)
			return all[i].value;
	return fixed[0];
}

static void
want_names(struct want *w)
{
	switch (chance(6)) {
	case 0:
		w->fn = (int)chance(FNS);
		add(w, ",\"function\":{\"equals\":\"mod%d::f%d\"}", w->fn % 3,
		    w->fn);
		break;
	case 1:
		w->mod = (int)chance(3);
		add(w, ",\"function\":{\"contains\":\"od%d::\"}", w->mod);
		break;
	case 2:
		w->last = (int)chance(11);	/* of 10 there is none */
		add(w, ",\"function\":{\"matches\":\"^mod.*%s$\"}",
		    w->last == 10 ? "x" : (char[]){ (char)('0' + w->last),
		    '\0' });
		break;
	default:
		break;
	}
	if (chance(4) == 0) {
		w->odd = (int)chance(2);
		if (chance(2))
			add(w, ",\"sourceFile\":{\"equals\":\"%s\"}",
			    w->odd ? "/lib/odd.c" : "/src/even.c");
		else
			add(w, ",\"sourceFile\":{\"contains\":\"%s\"}",
			    w->odd ? "lib" : "ven");
	}
}

static void
want_values(struct want *w)
{
	bool equals = chance(3) != 0;

	if (chance(4) == 0)
		return;
	if (equals)
		w->value = some_wanted();
	if (!equals || chance(5) == 0)
		w->null = (int)chance(2);
	add(w, ",\"returnValue\":{");
	if (w->value != NULL)
		add(w, "\"equals\":%s%s", w->value, w->null != -1 ? "," : "");
	if (w->null != -1)
		add(w, "\"isNull\":%s", w->null ? "true" : "false");
	add(w, "}");
}

static void
some_query(struct want *w)
{
	static const uint32_t offsets[] = { 1, 30, 3000, ROUND * 2 };

	*w = (struct want){ .fn = -1, .mod = -1, .last = -1, .odd = -1,
		.tid = -1, .kind = -1, .null = -1, .after = -1,
		.limit = 1 + chance(60) };
	add(w, "{\"limit\":%u", w->limit);
	want_names(w);
	want_values(w);
	if (chance(4) == 0) {
		w->tid = 100 + (int)chance(THREADS + 1);
		add(w, ",\"threadId\":%d", w->tid);
	}
	if (chance(4) == 0) {
		w->kind = chance(2) ? EVENT_EXIT : EVENT_ENTER;
		add(w, ",\"eventType\":\"function_%s\"",
		    w->kind == EVENT_EXIT ? "exit" : "enter");
	}
	if (chance(4) == 0) {
		w->after = chance(nall);
		add(w, ",\"afterEventId\":\"%" PRIu64 ".%" PRIu64 "\"",
		    all[w->after].id >> 40, all[w->after].id & SEQ_MAX);
	}
	if (chance(3) == 0) {
		w->offset = chance(offsets[chance(4)]);
		add(w, ",\"offset\":%u", w->offset);
	}
	add(w, "}");
}

static void
compare(const struct want *w)
{
	static char ids[QUERY_LIMIT_MAX * 24 + 32];
	uint32_t i, total = 0, behind = 0, shown = 0;
	size_t n = 0;

	for (i = 0; i < nall; i++) {
		if (!wanted(w, &all[i]))
			continue;
		total++;
		if ((int64_t)i <= w->after || behind++ < w->offset ||
		    shown == w->limit)
			continue;
		shown++;
		n += (size_t)snprintf(ids + n, sizeof(ids) - n,
		    "%" PRIu64 ".%" PRIu64 " ", all[i].id >> 40,
		    all[i].id & SEQ_MAX);
	}
	snprintf(ids + n, sizeof(ids) - n, "/%u%s", total,
	    behind > w->offset + shown ? "+" : "");
	if (strcmp(rig_ids(w->q), ids) != 0)
		fail_msg("%s: %s, not %s", w->q, rig_ids(w->q), ids);
}

static void
ask(void)
{
	struct want w;
	int i;

	for (i = 0; i < QUERIES; i++) {
		some_query(&w);
		compare(&w);
	}
}

/* -- the tests ------------------------------------------------------------ */
static void
again(bool fresh, uint64_t limit, bool known)
{
	static const struct store_render render = { .result = show };

	if (st != NULL)
		store_close(st, true);
	st = rig_try(fresh, limit, 1 << 20);
	if (st == NULL)
		fail_msg("%s", why);
	store_set_render(st, &render);
	if (known)
		store_set_inverse(st, inverse, NULL);
}

static void
run(uint32_t first_seed, uint64_t limit, bool known)
{
	uint32_t round, fn, i;

	seed = first_seed;
	nall = 0;
	for (i = 0; i < THREADS; i++)
		clocks[i] = START;
	again(true, limit, known);
	for (fn = 0; fn < FNS; fn++)
		function(fn);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < ROUND; i++)
			append();
		store_flush(st);
		keep_present();
		ask();
		/* what was killed has no more than what was flushed */
		again(false, limit, known);
		keep_present();
		for (i = 0; i < THREADS; i++)
			clocks[i] = all[nall - 1].ts + 1;
		ask();
	}
	for (i = 0; i < nall; i++)
		free(all[i].value);
}

static void
all_of_it(void **state)
{
	(void)state;
	run(1, (uint64_t)1 << 30, true);
}

static void
evicted(void **state)
{
	(void)state;
	run(2, 3 << 20, true);
}

static void
without_the_inverse(void **state)
{
	(void)state;
	run(3, 3 << 20, false);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, rig_set_up, rig_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_of_it), TEST(evicted), TEST(without_the_inverse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
