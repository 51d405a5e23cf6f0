/* SPDX-License-Identifier: ISC */
/*
 * Drives a timeline without a tracer: commands are lines of JSON on stdin,
 * each is answered by one line, {"ok":..} or {"error":".."}.
 *
 *	{"do":"open","dir":"d","name":"n","new":true,"calls":N,"output":N,
 *	 "forward":true}	without the inverse of what shows values
 *	{"do":"function","fn":1,"name":"f","file":"a.c","line":3,"ret":"i32"}
 *	{"do":"append","events":[["enter",tid,fn,ts,parent,duration,"hex"]]}
 *	{"do":"generate","n":N,"threads":4,"fns":1000,"values":4}
 *	output, crash, thread, gone, lost, settled, status, limit, flush,
 *	query, sql, export, stats, bench, forever, close
 *
 * Values are shown by the function's "ret": i32, bool, ptr, str.
 */
#include <json-c/json.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "timeline/export/export.h"
#include "timeline/query/query.h"
#include "timeline/query/vtab.h"
#include "timeline/store/store.h"

#define BATCH	1000

static struct store	*st;
static struct text	 answer = { .max = TEXT_MAX };
static char		*types[1 << 20];	/* of return values, by fn */
static char		 why[STORE_WHY];

/* -- JSON --------------------------------------------------------------- */
static struct json_object *
get(struct json_object *o, const char *name)
{
	struct json_object *v;

	return json_object_object_get_ex(o, name, &v) ? v : NULL;
}

static uint64_t
num(struct json_object *o, const char *name, uint64_t otherwise)
{
	struct json_object *v = get(o, name);

	return v == NULL ? otherwise : json_object_get_uint64(v);
}

static const char *
str(struct json_object *o, const char *name)
{
	struct json_object *v = get(o, name);

	return v == NULL ? "" : json_object_get_string(v);
}

static bool
flag(struct json_object *o, const char *name)
{
	return json_object_get_boolean(get(o, name));
}

static size_t
unhex(const char *s, uint8_t *to, size_t size)
{
	char two[3] = "";
	size_t n = 0;

	for (; s[0] != '\0' && s[1] != '\0' && n < size; s += 2) {
		memcpy(two, s, 2);
		to[n++] = (uint8_t)strtoul(two, NULL, 16);
	}
	return n;
}

/* -- values ------------------------------------------------------------- */
static size_t
render_one(const char *type, const uint8_t *p, size_t len, char *buf,
    size_t size)
{
	struct text t = { .max = size - 1 };
	uint64_t word = 0;
	size_t n;

	memcpy(&word, p, len < 8 ? len : 8);
	if (strcmp(type, "str") == 0)
		json_quoted(&t, (const char *)p, len);
	else if (strcmp(type, "bool") == 0)
		text_puts(&t, word != 0 ? "true" : "false");
	else if (strcmp(type, "ptr") == 0)
		text_printf(&t, "\"0x%" PRIx64 "\"", word);
	else
		text_printf(&t, "%" PRId32, (int32_t)word);
	n = t.len;
	memcpy(buf, t.p, n);
	text_free(&t);
	return n;
}

static size_t
capture(const uint8_t *p, size_t len)
{
	uint16_t n;

	if (len < 4)
		return 0;
	memcpy(&n, p + 2, 2);
	return n < len - 4 ? n : len - 4;
}

static size_t
result(void *arg, uint32_t fn, const void *p, size_t len, char *buf,
    size_t size)
{
	(void)arg;
	return render_one(types[fn] != NULL ? types[fn] : "i32",
	    (const uint8_t *)p + 4, capture(p, len), buf, size);
}

static size_t
arguments(void *arg, uint32_t fn, const void *captures, size_t len,
    char *buf, size_t size)
{
	const uint8_t *p = captures;
	size_t at = 0, n, room;

	(void)arg;
	(void)fn;
	buf[at++] = '[';
	while (len >= 4) {
		n = capture(p, len);
		if (at > 1)
			buf[at++] = ',';
		at += render_one(n > 8 ? "str" : "i32", p + 4, n, buf + at,
		    size - at - 1);
		room = 4 + ((n + 3) & ~(size_t)3);
		p += room < len ? room : len;
		len -= room < len ? room : len;
	}
	buf[at++] = ']';
	return at;
}

/* The inverse of render_one(), for a lone capture. */
static void
inverse(void *arg, uint32_t fn, const struct store_value *v,
    struct store_inverse *inv)
{
	const char *type = types[fn] != NULL ? types[fn] : "i32";
	char hex[32] = "", again[32];

	(void)arg;
	inv->found = FOUND_NEVER;
	inv->exact = true;
	if (strcmp(type, "bool") == 0) {
		inv->found = v->type == STORE_BOOL ? FOUND_PERHAPS :
		    FOUND_NEVER;
	} else if (strcmp(type, "ptr") == 0 && v->type == STORE_STRING &&
	    v->len < sizeof(hex)) {
		memcpy(hex, v->s, v->len);
		inv->wanted = strtoull(hex, NULL, 16);
		inv->mask = UINT64_MAX;
		snprintf(again, sizeof(again), "0x%" PRIx64, inv->wanted);
		if (strcmp(hex, again) == 0)
			inv->found = FOUND_WORD;
	} else if (strcmp(type, "str") == 0 && v->type == STORE_STRING) {
		inv->found = v->len > STORE_BYTES_MAX || memmem(v->s, v->len,
		    "\xef\xbf\xbd", 3) != NULL ? FOUND_PERHAPS : FOUND_BYTES;
		inv->len = v->len;
		memcpy(inv->bytes, v->s, v->len < STORE_BYTES_MAX ? v->len :
		    STORE_BYTES_MAX);
	} else if (strcmp(type, "i32") == 0 && v->type == STORE_INTEGER &&
	    (uint64_t)(int32_t)v->integer == v->integer &&
	    v->negative == ((int32_t)v->integer < 0)) {
		inv->found = FOUND_WORD;
		inv->wanted = v->integer & UINT32_MAX;
		inv->mask = UINT32_MAX;
	}
}

static const struct store_render render = { arguments, result, NULL };

/* -- commands ----------------------------------------------------------- */
static int
do_open(struct json_object *o)
{
	struct store_limits limits = STORE_LIMITS_DEFAULT;
	struct store_files files;
	struct store_meta meta = { .id = str(o, "name"),
		.binary_path = "/bin/prog", .project_root = "/src",
		.pid = 4711, .started_at = 1700000000, .status = "running",
		.start_ns = num(o, "start", 0) };
	int dir;

	limits.calls = num(o, "calls", limits.calls);
	limits.output = num(o, "output", limits.output);
	dir = open(str(o, "dir"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir == -1 || store_files_at(dir, str(o, "name"), &files) == -1) {
		snprintf(why, sizeof(why), "%s", strerror(errno));
		return -1;
	}
	close(dir);
	st = store_open(&files, flag(o, "new") ? &meta : NULL, &limits, why);
	if (st == NULL)
		return -1;
	store_set_render(st, &render);
	if (!flag(o, "forward"))
		store_set_inverse(st, inverse, NULL);
	return 0;
}

static int
do_function(struct json_object *o)
{
	uint32_t fn = (uint32_t)num(o, "fn", 0);
	struct store_function f = { .fn = fn, .name = str(o, "name"),
		.raw = str(o, "raw"), .file = str(o, "file"),
		.line = (uint32_t)num(o, "line", 0), .ret_type = str(o, "ret") };

	if (store_function(st, &f) == -1) {
		snprintf(why, sizeof(why), "refused");
		return -1;
	}
	free(types[fn]);
	types[fn] = strdup(f.ret_type);
	return 0;
}

static void
read_event(struct json_object *v, struct event *ev, uint8_t *captures)
{
#define AT(i) json_object_array_get_idx(v, i)
	const char *kind = json_object_get_string(AT(0));

	*ev = (struct event){
		.kind = strcmp(kind, "enter") == 0 ? EVENT_ENTER :
		    strcmp(kind, "exit") == 0 ? EVENT_EXIT : 77,
		.tid = (uint32_t)json_object_get_uint64(AT(1)),
		.fn = (uint32_t)json_object_get_uint64(AT(2)),
		.ts_ns = json_object_get_uint64(AT(3)),
		.parent = json_object_get_uint64(AT(4)),
		.duration = json_object_get_uint64(AT(5)),
		.captures = captures };
	if (json_object_array_length(v) > 6)
		ev->len = (uint16_t)unhex(json_object_get_string(AT(6)),
		    captures, UINT16_MAX);
}

static int
do_append(struct json_object *o)
{
	static uint8_t captures[UINT16_MAX];
	struct json_object *all = get(o, "events");
	struct event ev;
	size_t i;

	text_puts(&answer, "[");
	for (i = 0; i < json_object_array_length(all); i++) {
		read_event(json_object_array_get_idx(all, i), &ev, captures);
		store_append(st, &ev, 1, num(o, "now", UINT64_MAX));
		text_printf(&answer, "%s%" PRIu64, i > 0 ? "," : "", ev.id);
	}
	text_puts(&answer, "]");
	return 0;
}

static uint64_t
now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Calls within calls, of several threads in turn. */
struct generator {
	uint64_t ts, stack[8];
	uint32_t depth, fn, fns, values;
};

static void
generate_one(struct generator *g, uint32_t tid, uint64_t id,
    struct event *ev, uint8_t captures[24])
{
	uint32_t word = g->fn * 2654435761u;
	bool enter = g->depth == 0 || (g->depth < 8 && (word >> 30) != 0);

	g->ts += 50 + (word >> 26);
	*ev = (struct event){ .kind = enter ? EVENT_ENTER : EVENT_EXIT,
		.tid = tid, .ts_ns = g->ts, .captures = captures };
	memset(captures, 0, 24);
	captures[2] = captures[14] = 8;
	word = (word >> 8) % g->values;
	memcpy(captures + 4, &word, 4);
	if (enter) {
		ev->fn = g->fn++ % g->fns;
		ev->parent = g->depth > 0 ? g->stack[g->depth - 1] : 0;
		g->stack[g->depth++] = id;
		ev->len = 24;
	} else {
		ev->parent = g->stack[--g->depth];
		ev->fn = g->fn++ % g->fns;
		ev->duration = 100;
		ev->len = 12;
	}
}

static int
do_generate(struct json_object *o)
{
	static uint8_t captures[BATCH][24];
	static struct generator gens[4096];
	static struct event events[BATCH];
	uint64_t n = num(o, "n", 0), done = 0, id, begun, ns = 0, cpu = 0, c;
	uint32_t threads = (uint32_t)num(o, "threads", 1), t = 0, i;
	bool forever = strcmp(str(o, "do"), "forever") == 0;
	uint64_t w;

	for (i = 0; i < threads; i++) {
		gens[i].fns = (uint32_t)num(o, "fns", 1000);
		gens[i].values = (uint32_t)num(o, "values", 4);
		gens[i].ts = num(o, "start", 1000);
	}
	for (; done < n || forever; t = (t + 1) % threads) {
		begun = done;
		id = store_next_id(st, 100 + t);
		for (i = 0; i < BATCH && (done < n || forever); i++, done++)
			generate_one(&gens[t], 100 + t, id + i, &events[i],
			    captures[i]);
		w = now(CLOCK_MONOTONIC);
		c = now(CLOCK_PROCESS_CPUTIME_ID);
		store_append(st, events, i, UINT64_MAX);
		if (begun / 100000 != done / 100000)
			store_flush(st);
		cpu += now(CLOCK_PROCESS_CPUTIME_ID) - c;
		ns += now(CLOCK_MONOTONIC) - w;
		if (forever)
			store_output(st, gens[t].ts, EVENT_STDOUT,
			    &(struct store_writer){100, 0, ""}, "some output\n",
			    12);
	}
	text_printf(&answer, "{\"ns\":%" PRIu64 ",\"cpu\":%" PRIu64 "}", ns,
	    cpu);
	return 0;
}

static int
do_output(struct json_object *o)
{
	static uint8_t bytes[1 << 20];
	const char *hex = str(o, "hex"), *text = str(o, "text");
	size_t n = unhex(hex, bytes, sizeof(bytes));
	uint64_t times = num(o, "times", 1);

	for (; times > 0; times--)
		store_output(st, num(o, "ts", 0),
		    strcmp(str(o, "kind"), "stderr") == 0 ? EVENT_STDERR
							  : EVENT_STDOUT,
		    &(struct store_writer){
			(uint32_t)num(o, "tid", 0), num(o, "parent", 0), ""},
		    n > 0 ? (const void *)bytes : text,
		    n > 0 ? n : strlen(text));
	return 0;
}

static int
do_crash(struct json_object *o)
{
	store_crash(st, num(o, "ts", 0), (uint32_t)num(o, "tid", 0),
	    str(o, "json"), strlen(str(o, "json")));
	return 0;
}

static int
do_thread(struct json_object *o)
{
	store_thread(st, (uint32_t)num(o, "tid", 0), str(o, "name"));
	return 0;
}

static int
do_gone(struct json_object *o)
{
	store_thread_gone(st, (uint32_t)num(o, "tid", 0));
	return 0;
}

static int
do_lost(struct json_object *o)
{
	store_lost(st, (uint32_t)num(o, "tid", 0), num(o, "n", 1));
	return 0;
}

static int
do_settled(struct json_object *o)
{
	store_settled(st, num(o, "ts", UINT64_MAX));
	return 0;
}

static int
do_status(struct json_object *o)
{
	store_set_status(st, str(o, "status"), (int64_t)num(o, "ended", 0));
	return 0;
}

static int
do_limit(struct json_object *o)
{
	store_limit(st, num(o, "calls", 0));
	return 0;
}

static int
do_flush(struct json_object *o)
{
	(void)o;
	if (store_flush(st) == 0)
		return 0;
	snprintf(why, sizeof(why), "%s", store_trouble(st));
	return -1;
}

static int
do_query(struct json_object *o)
{
	const char *text = get(o, "query") != NULL ?
	    json_object_to_json_string(get(o, "query")) : str(o, "text");
	struct query q;
	int ret;

	if (query_parse_text(text, strlen(text), &q, why) == -1)
		return -1;
	ret = query_run(st, &q, &answer, why);
	query_free(&q);
	return ret;
}

/*
 * The quickest and the middle of some runs, and the middle of what they took
 * of the processor, in microseconds.
 */
static int
by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int	do_sql(struct json_object *);

static int
do_bench(struct json_object *o)
{
	uint64_t us[100], cpu[100], times = num(o, "times", 5), i;
	uint64_t begun, cpu_begun;

	for (i = 0; i < times && i < 100; i++) {
		text_reset(&answer, SIZE_MAX);
		begun = now(CLOCK_MONOTONIC);
		cpu_begun = now(CLOCK_PROCESS_CPUTIME_ID);
		if ((get(o, "sql") != NULL ? do_sql(o) : do_query(o)) == -1)
			return -1;
		us[i] = (now(CLOCK_MONOTONIC) - begun) / 1000;
		cpu[i] = (now(CLOCK_PROCESS_CPUTIME_ID) - cpu_begun) / 1000;
	}
	qsort(us, i, sizeof(*us), by_value);
	qsort(cpu, i, sizeof(*cpu), by_value);
	text_reset(&answer, SIZE_MAX);
	text_printf(&answer, "{\"best\":%" PRIu64 ",\"median\":%" PRIu64
	    ",\"cpu\":%" PRIu64 "}", us[0], us[i / 2], cpu[i / 2]);
	return 0;
}

static uint64_t	ticks;

/* A tracer would drain its rings here. */
static void
tick(void *arg)
{
	struct event ev = { .kind = EVENT_ENTER, .tid = 100, .fn = 0,
		.ts_ns = UINT64_MAX, .captures = "" };

	(void)arg;
	store_append(st, &ev, 1, UINT64_MAX);
	store_flush(st);
	ticks++;
}

static int
do_sql(struct json_object *o)
{
	struct sql_limits limits = { .rows = (uint32_t)num(o, "rows", 0),
		.ms = (uint32_t)num(o, "ms", 0) };

	store_set_tick(st, flag(o, "tick") ? tick : NULL, NULL);
	return store_sql(st, str(o, "sql"),
	    (size_t)json_object_get_string_len(get(o, "sql")), &limits,
	    &answer, why);
}

static int
to_file(void *arg, const void *data, size_t len)
{
	return fwrite(data, 1, len, arg) == len ? 0 : -1;
}

static int
do_export(struct json_object *o)
{
	FILE *f = fopen(str(o, "path"), "we");
	struct export_to to = { to_file, f };
	const char *format = str(o, "format");
	int ret;

	if (f == NULL) {
		snprintf(why, sizeof(why), "%s", strerror(errno));
		return -1;
	}
	if (strcmp(format, "chrome") == 0)
		ret = export_chrome(st, NULL, &to, why);
	else if (strcmp(format, "folded") == 0)
		ret = export_folded(st, NULL, &to, why);
	else
		ret = export_text(st, NULL, strcmp(format, "tree") == 0, &to,
		    why);
	fclose(f);
	return ret;
}

static int
do_stats(struct json_object *o)
{
	const char *trouble = store_trouble(st);
	struct store_stats s;

	(void)o;
	store_stats(st, &s);
	text_printf(&answer, "{\"calls\":%" PRIu64 ",\"texts\":%" PRIu64
	    ",\"collected\":%" PRIu64 ",\"evicted\":%" PRIu64 ",\"lost\":%"
	    PRIu64 ",\"lostBytes\":%" PRIu64 ",\"bytes\":%" PRIu64
	    ",\"threads\":%u,\"functions\":%u,\"ticks\":%" PRIu64
	    ",\"trouble\":", s.calls, s.texts, s.collected, s.evicted, s.lost,
	    s.lost_bytes, s.bytes, s.threads, s.functions, ticks);
	json_quoted(&answer, trouble == NULL ? "" : trouble,
	    trouble == NULL ? 0 : strlen(trouble));
	text_puts(&answer, "}");
	return 0;
}

static int
do_close(struct json_object *o)
{
	store_close(st, flag(o, "keep"));
	st = NULL;
	return 0;
}

static const struct {
	const char *name;
	int	(*fn)(struct json_object *);
} commands[] = {
	{ "open", do_open }, { "function", do_function },
	{ "append", do_append }, { "generate", do_generate },
	{ "forever", do_generate }, { "output", do_output },
	{ "crash", do_crash }, { "thread", do_thread }, { "gone", do_gone },
	{ "lost", do_lost }, { "settled", do_settled },
	{ "status", do_status }, { "limit", do_limit }, { "flush", do_flush },
	{ "query", do_query }, { "sql", do_sql }, { "export", do_export },
	{ "stats", do_stats }, { "bench", do_bench }, { "close", do_close },
};

static int
run(struct json_object *o)
{
	size_t i;

	why[0] = '\0';
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, str(o, "do")) == 0 &&
		    (st != NULL) == (commands[i].fn != do_open))
			return commands[i].fn(o);
	snprintf(why, sizeof(why), "no such command now");
	return -1;
}

int
main(void)
{
	struct json_object *o;
	struct text out = { .max = TEXT_MAX };
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	log_init("trc_store", LOG_L_WARN, NULL);
	while ((n = getline(&line, &cap, stdin)) > 0) {
		o = json_tokener_parse(line);
		text_reset(&answer, SIZE_MAX);
		text_reset(&out, SIZE_MAX);
		if (run(o) == 0) {
			text_puts(&out, "{\"ok\":");
			text_puts(&out, answer.len > 0 ? answer.p : "null");
		} else {
			text_puts(&out, "{\"error\":");
			json_quoted(&out, why, strlen(why));
		}
		text_puts(&out, "}\n");
		json_object_put(o);
		fwrite(out.p, 1, out.len, stdout);
		fflush(stdout);
	}
	if (st != NULL)
		store_close(st, true);
	for (n = 0; n < (1 << 20); n++)
		free(types[n]);
	text_free(&answer);
	text_free(&out);
	free(line);
	return 0;
}
