/* SPDX-License-Identifier: ISC */
/* links: debugger/text/memtext.c debugger/view/cxx_exception.c debugger/dap/repl.c debugger/bps/split.c debugger/view/misread.c debugger/bps/watch.c debugger/text/pairs.c debugger/text/copy.c debugger/dap/profile.c debugger/dap/profile_table.c debugger/dap/dialect.c debugger/base/format.c debugger/text/json_get.c debugger/text/json_make.c debugger/text/json_size.c inst/op.c debugger/base/op.c debugger/text/redact.c common/base/log.c debugger/text/clean.c common/base/base64.c common/base/elffile.c common/base/utf8.c */
/* covers: debugger/text/memtext.c debugger/view/cxx_exception.c debugger/bps/split.c debugger/view/misread.c debugger/bps/watch.c debugger/dap/profile.c */
/*
 * Fuzz target of what a debugger reads of others but in messages: what lldb
 * prints about memory and about functions of two parts, what a C++ program
 * throws, answers about watchpoints and stops at them, what a program's file
 * is, and where an adapter is.  The first byte says which.  The adapter is
 * played here.  Whole lines must read the same as line by line; every request
 * has one answer.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <json-c/json.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "regress/fuzz/fuzz.h"

#include "common/base/utf8.h"
#include "debugger/base/command.h"
#include "debugger/base/op.h"
#include "debugger/bps/bps.h"
#include "debugger/bps/bpsend.h"
#include "debugger/bps/split.h"
#include "debugger/bps/watch.h"
#include "debugger/dap/profile.h"
#include "debugger/stop/wait.h"
#include "debugger/text/memtext.h"
#include "debugger/view/cxx_exception.h"
#include "debugger/view/misread.h"
#include "debugger/view/view.h"

struct dbg	 dbg;
struct dbg_hello dbg_said;

/* Adapters that have a profile. */
static size_t
kinds(void)
{
	size_t n = 0;

	while (profiles[n].name != NULL)
		n++;
	return n;
}

/* -- what lldb prints ------------------------------------------------------ */

/* Results of reading a text; the two parts of a split text add up to them. */
struct lines {
	size_t		 bytes, names, instructions;
	uint8_t		*dump;
};

static void
read_lines(const char *text, struct lines *l)
{
	const size_t room = strlen(text) + 1;
	struct json_object *names = memtext_names(text);
	uint64_t start;
	int64_t at;
	size_t i;

	l->dump = malloc(room);
	must(l->dump != NULL);
	l->bytes = memtext_dump(text, l->dump, room);
	must(l->bytes < room);
	l->names = json_object_array_length(names);
	for (i = 0; i < l->names; i++)
		must(json_object_get_string_len(
		    json_object_array_get_idx(names, i)) > 0);
	json_object_put(names);
	l->instructions = memtext_function(text, &start, &at);
	must(at >= -1 && at < (int64_t)l->instructions);
}

static void
in_pieces(char *text, size_t at)
{
	char *nl = strchr(text + at, '\n'), *end;
	struct lines all, a, b;

	read_lines(text, &all);
	if (nl != NULL) {
		end = copy_of(nl + 1, strlen(nl + 1), true);
		nl[1] = '\0';
		read_lines(text, &a);
		read_lines(end, &b);
		must(all.names == a.names + b.names && all.instructions ==
		    a.instructions + b.instructions);
		must(all.bytes == a.bytes + b.bytes);
		must(memcmp(all.dump, a.dump, a.bytes) == 0 &&
		    memcmp(all.dump + a.bytes, b.dump, b.bytes) == 0);
		free(a.dump);
		free(b.dump);
		free(end);
	}
	free(all.dump);
}

static void
try_memory(struct input in)
{
	const size_t room = take_u8(&in), at = take_u16(&in);
	char *text = copy_of(in.p, in.left, true);
	char *few = malloc(room + 1);
	const char *error = memtext_error(text);
	int64_t n;

	must(few != NULL);
	must(error >= text && error <= text + strlen(text));
	must(memtext_dump(text, (uint8_t *)few, room) <= room);
	n = memtext_unhex(text, (uint8_t *)few, room);
	must(n >= -1 && n <= (int64_t)room);
	free(few);
	in_pieces(text, at < strlen(text) ? at : 0);
	free(text);
}

/* Bytes as lldb has them, eight in a line; the caller frees. */
static char *
dump(uint64_t address, const uint8_t *p, size_t len)
{
	char *text = NULL;
	size_t size = 0, i;
	FILE *out = open_memstream(&text, &size);

	must(out != NULL);
	for (i = 0; i < len; i++) {
		if (i % 8 == 0)
			fprintf(out, "%s0x%012" PRIx64 ":", i == 0 ? "" : "\n",
			    address + i);
		fprintf(out, " 0x%02x", p[i]);
	}
	must(fclose(out) == 0);
	return text;
}

/* Bytes that are printed are read again. */
static void
try_bytes(struct input in)
{
	const size_t gap = take_u8(&in) % 4;
	char *text = dump(0x7ff0, in.p, in.left), *hex;
	uint8_t *out = malloc(in.left + 1);
	size_t i, n = 0;

	hex = malloc(in.left * (2 + gap) + 1);
	must(out != NULL && hex != NULL);
	must(memtext_dump(text, out, in.left + 1) == in.left);
	must(in.left == 0 || memcmp(out, in.p, in.left) == 0);
	for (i = 0; i < in.left; i++)
		n += (size_t)sprintf(hex + n, i & 1 ? "%02X%.*s" : "%02x%.*s",
		    in.p[i], (int)gap, "    ");
	hex[n] = '\0';
	must(memtext_unhex(hex, out, in.left) == (int64_t)in.left);
	must(in.left == 0 || (memcmp(out, in.p, in.left) == 0 &&
	    memtext_unhex(hex, out, in.left - 1) == -1));
	free(hex);
	free(text);
	free(out);
}

/* -- the adapter ----------------------------------------------------------- */

#define ASKS	64

static struct {
	struct op	*op;
	dap_fn		 fn;
	void		*arg;
	uint64_t	 address;	/* of memory that is asked for */
	size_t		 count;
} asks[ASKS];
static size_t	nasks, asked;
static bool	throwing;	/* else expressions are the clients' */

static void
note_read(const char *expression)
{
	const char *p = strstr(expression, "--count ");

	asks[nasks].count = 0;
	if (throwing && p != NULL)
		must(sscanf(p, "--count %zu 0x%" SCNx64, &asks[nasks].count,
		    &asks[nasks].address) == 2);
}

/* As it is answered, once, and not before this returns. */
void
adapter_ask(const char *request, struct json_object *args, struct op *op,
    dap_fn fn, void *arg)
{
	struct json_object *v;

	must(nasks < ASKS && json_object_is_type(args, json_type_object));
	asked++;
	if (strcmp(request, "evaluate") == 0) {
		must(json_object_object_get_ex(args, "expression", &v));
		note_read(json_object_get_string(v));
	} else if (strcmp(request, "setDataBreakpoints") == 0) {
		must(json_object_object_get_ex(args, "breakpoints", &v));
		must(json_object_array_length(v) <= 16);
	} else
		must(strcmp(request, "dataBreakpointInfo") == 0 &&
		    json_object_object_get_ex(args, "name", &v));
	json_object_put(args);
	if (op != NULL)
		op_ref(op);
	asks[nasks].op = op;
	asks[nasks].fn = fn;
	asks[nasks++].arg = arg;
}

static void
answer(size_t i, const struct dap_answer *a)
{
	struct op *op = asks[i].op;
	dap_fn fn = asks[i].fn;
	void *arg = asks[i].arg;

	nasks--;
	memmove(&asks[i], &asks[i + 1], (nasks - i) * sizeof(asks[0]));
	fn(op, a, arg);
	if (op != NULL)
		op_unref(op);
}

static void
answer_text(size_t i, const char *text)
{
	struct json_object *body = json_object_new_object();
	const struct dap_answer a = { .ok = true, .body = body };

	json_object_object_add(body, "result", json_object_new_string(text));
	answer(i, &a);
	json_object_put(body);
}

static void
refuse(size_t i, const char *why)
{
	const struct dap_answer a = { .code = "adapter_error", .message = why };

	answer(i, &a);
}

/* -- what a C++ program throws --------------------------------------------- */

#define MEMORY	0x1000U		/* where the input is */

static struct cxx_exception	thrown;
static unsigned int	nthrown;

static void
on_thrown(const struct cxx_exception *c)
{
	thrown = *c;
	nthrown++;
}

static void
check_thrown(void)
{
	const char *name, *p;
	size_t i;

	throwing = false;
	must(nthrown == 1 && nasks == 0 && asked <= 3 + 2 * CXX_TYPES);
	must(memchr(thrown.message, '\0', sizeof(thrown.message)) != NULL);
	for (i = 0; i < CXX_TYPES; i++) {
		name = thrown.names[i];
		must(memchr(name, '\0', sizeof(thrown.names[0])) != NULL);
		for (p = name; *p != '\0'; p++)
			must(isalnum((unsigned char)*p) || *p == '_');
		/* a base is that of a type that is known */
		must(i == 0 || *name == '\0' || *thrown.names[i - 1] != '\0');
	}
	must(*thrown.message == '\0' || *thrown.names[0] != '\0');
}

static void
throw(void)
{
	dbg.profile = &profiles[0];
	nthrown = 0;
	asked = 0;
	throwing = true;
	cxx_exception_read(1, on_thrown);
	must(nthrown == 0);
}

/* Answers that need not be true, each up to a NUL; none is as good as that. */
static void
try_thrown_words(struct input in)
{
	struct input one;
	const uint8_t *nul;
	uint8_t how = take_u8(&in);
	char *text;

	throw();
	for (; nasks > 0; how = (uint8_t)(how >> 1 | how << 7)) {
		nul = in.left == 0 ? NULL : memchr(in.p, '\0', in.left);
		one = take_part(&in, nul == NULL ? in.left :
		    (size_t)(nul - in.p));
		if (nul != NULL)
			(void)take_u8(&in);
		text = copy_of(one.p, one.left, true);
		if (*text == '!')
			refuse(how & 1 ? nasks - 1 : 0, text);
		else
			answer_text(how & 1 ? nasks - 1 : 0, text);
		free(text);
	}
	check_thrown();
}

/* The answer to one that asks for memory, of which there is little. */
static void
answer_memory(size_t i, const struct input *memory)
{
	const uint64_t from = asks[i].address - MEMORY;
	size_t n = asks[i].count;
	char *text;

	if (from >= memory->left) {
		refuse(i, "error: memory read failed");
		return;
	}
	if (n > memory->left - from)
		n = memory->left - (size_t)from;
	text = dump(asks[i].address, memory->p + from, n);
	answer_text(i, text);
	free(text);
}

/* Strings found for a thrown object must be in the program's memory. */
static void
try_thrown(struct input in)
{
	const unsigned int object = take_u8(&in), type = take_u8(&in);
	uint8_t how = take_u8(&in);
	char text[128];
	size_t i;

	throw();
	(void)snprintf(text, sizeof(text), "     rdi = 0x%016x\n"
	    "     rsi = 0x%016x  it`typeinfo", MEMORY + object * 8,
	    MEMORY + type * 8);
	answer_text(0, text);
	for (; nasks > 0; how = (uint8_t)(how >> 1 | how << 7))
		answer_memory(how & 1 ? nasks - 1 : 0, &in);
	check_thrown();
	for (i = 0; i < CXX_TYPES && thrown.names[i][0] != '\0'; i++)
		must(memmem(in.p, in.left, thrown.names[i],
		    strlen(thrown.names[i]) + 1) != NULL);
	must(thrown.message[0] == '\0' || memmem(in.p, in.left,
	    thrown.message, strlen(thrown.message)) != NULL);
}

/* -- watchpoints ----------------------------------------------------------- */

#define VIEWS	16

static struct {
	struct op	*op;
	view_fn		 fn;
} views[VIEWS];
static size_t		nviews;
static unsigned int	requests, replies;
static int64_t		last_id;
static uint8_t		mood;
static unsigned int	gathering;	/* 1 = begun, 2 = done */

int64_t
bps_new_id(void)
{
	return ++last_id;
}

void
bps_set(char **field, const char *value)
{
	free(*field);
	*field = value == NULL ? NULL : strdup(value);
}

void
bpsend_answer(struct op *op, const char *why, const char *member,
    struct json_object *list)
{
	must(why != NULL && strcmp(member, "removed") == 0);
	json_object_put(list);
	op_fail(op, "refused", "%s", why);
}

bool
bpsend_live(void)
{
	return (mood & 1) == 0;
}

bool
adapter_can(const char *what)
{
	must(strcmp(what, "supportsDataBreakpoints") == 0);
	return (mood & 2) == 0;
}

void
wait_drop(struct op *op)
{
	(void)op;
}

bool
view_frame_id(const struct view *v, int64_t *id)
{
	*id = v->frame;
	return (mood & 4) == 0;
}

int64_t
view_scope(const struct view *v, const char *hint)
{
	must(v != NULL && strcmp(hint, "locals") == 0);
	return 1;
}

static void
answer_view(struct op *op, view_fn fn)
{
	static const struct view v = { .frame = 3 };

	if (mood & 8)
		fn(op, &v, "timeout", "the adapter is slow", NULL);
	else
		fn(op, &v, NULL, NULL, NULL);
}

/* Now, or later. */
void
view_ask(struct op *op, unsigned int want, view_fn fn, void *arg)
{
	must(arg == NULL && want <= VIEW_SCOPES);
	if ((mood & 16) == 0 || nviews == VIEWS) {
		answer_view(op, fn);
		return;
	}
	views[nviews].op = op_ref(op);
	views[nviews++].fn = fn;
}

static void
view_one(void)
{
	struct op *op;

	if (nviews == 0)
		return;
	op = views[--nviews].op;
	answer_view(op, views[nviews].fn);
	op_unref(op);
}

void
link_reply(const struct ask *a, bool failed, const char *json, size_t len)
{
	char *text = copy_of(json, len, true);
	struct json_object *o = json_tokener_parse(text), *v;

	must(a->conn == 1 && utf8_valid(json, len));
	must(json_object_is_type(o, json_type_object));
	must(failed == json_object_object_get_ex(o, "code", &v));
	/* which is what is said of one that was forgotten */
	must(!failed || strcmp(json_object_get_string(v), "internal_error"));
	if (json_object_object_get_ex(o, "watchpoints", &v))
		must(json_object_array_length(v) <= 16);
	json_object_put(o);
	free(text);
	replies++;
}

void
link_does(const struct ask *a, uint32_t action)
{
	(void)a;
	must(action == 0);
}

static struct json_object *
parse(struct input in)
{
	char *text = copy_of(in.p, in.left, true);
	struct json_object *o = json_tokener_parse(text);

	free(text);
	return o;
}

/* The nth command of watchpoints; takes args. */
static void
request(size_t n, struct json_object *args)
{
	const struct ask ask = { .conn = 1, .id = ++requests, .rw = true };
	struct op *op;

	if (!json_object_is_type(args, json_type_object)) {
		json_object_put(args);
		args = NULL;
	}
	op = op_new(&ask, &watch_commands[n], args);
	watch_commands[n].run(op);
	op_unref(op);
}

static void
on_gathered(void)
{
	must(gathering == 1);
	gathering = 2;
}

static void
check_hits(void)
{
	struct json_object *ids = json_object_new_array(),
	    *changed = json_object_new_array(), *v;
	size_t i, n;

	watch_hits(ids, changed);
	n = json_object_array_length(ids);
	must(n <= 16 && json_object_array_length(changed) <= n);
	for (i = 0; i < n; i++)
		must(json_object_get_int64(json_object_array_get_idx(ids,
		    i)) <= last_id);
	for (i = 0; i < json_object_array_length(changed); i++)
		must(json_object_object_get_ex(json_object_array_get_idx(
		    changed, i), "new", &v));
	json_object_put(ids);
	json_object_put(changed);
	gathering = 0;
}

/* How many numbers the stop has, those, and its description. */
static void
stop(struct input in)
{
	size_t n = take_u8(&in), i;

	/* nothing resumes before it is gathered */
	if (gathering != 0)
		return;
	dbg.stop.reason = n & 16 ? "step" : "watchpoint";
	dbg.stop.nhits = n % 4;
	for (i = 0; i < dbg.stop.nhits; i++)
		dbg.stop.hits[i] = take_u8(&in) - 3;
	(void)snprintf(dbg.stop.description, sizeof(dbg.stop.description),
	    "%.*s", (int)in.left, in.p);
	gathering = 1;
	watch_gather(2, on_gathered);
}

static void
act(uint8_t what, struct input line)
{
	struct dap_answer a = { .ok = true };
	char *text;

	switch (what) {
	case '+':
		request(0, parse(line));
		break;
	case 'l':
		request(1, NULL);
		break;
	case '-':
		request(2, parse(line));
		break;
	case 'a':
	case 'A':
		a.body = parse(line);
		if (nasks > 0)
			answer(what == 'a' ? 0 : nasks - 1, &a);
		json_object_put(a.body);
		break;
	case 'x':
		text = copy_of(line.p, line.left, true);
		if (nasks > 0)
			refuse(0, text);
		free(text);
		break;
	case 's':
		stop(line);
		break;
	case 'f':
		watch_forget();
		break;
	case 'm':
		mood = take_u8(&line);
		break;
	case 'p':
		dbg.profile = &profiles[take_u8(&line) % kinds()];
		break;
	case 'v':
		view_one();
		break;
	default:
		break;
	}
	if (gathering == 2)
		check_hits();
}

static void
try_watch(struct input in)
{
	struct json_object *all = json_object_new_object();
	const uint8_t *nl;
	struct input line;
	unsigned int n;

	last_id = requests = replies = 0;
	for (n = 0; in.left > 0 && n < 100 && nasks < ASKS - 20; n++) {
		nl = memchr(in.p, '\n', in.left);
		line = take_part(&in, nl == NULL ? in.left :
		    (size_t)(nl - in.p));
		if (nl != NULL)
			(void)take_u8(&in);
		act(take_u8(&line), line);
	}
	while (nviews > 0)
		view_one();
	while (nasks > 0)
		refuse(0, "it has gone");
	must(gathering != 1);
	mood = 1;
	json_object_object_add(all, "all", json_object_new_boolean(true));
	request(2, all);
	watch_forget();
	must(replies == requests);
	gathering = mood = 0;
	dbg.profile = NULL;
}

/* -- what a program is ----------------------------------------------------- */

static char	top[256];	/* of the files of this target */

static void
try_language(struct input in)
{
	const uint8_t how = take_u8(&in) % 4;
	int fd = memfd_create("program", MFD_CLOEXEC);
	enum language lang = LANG_COUNT;
	const char *why = "";
	char path[64], named[300];

	must(fd != -1 && write(fd, in.p, in.left) == (ssize_t)in.left);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)snprintf(named, sizeof(named), "%s/link.py", top);
	must(how != 1 || symlink(path, named) == 0);
	if (profile_language(how == 1 ? named : how == 2 ? top : how == 3 ?
	    "/nonexistent" : path, &lang, &why) == 0) {
		must(lang < LANG_COUNT && how < 2);
		must(how != 1 || lang != LANG_NATIVE || in.p[0] == 0x7f);
		must(lang != LANG_GO || memmem(in.p, in.left, ".go.build", 9) ||
		    memmem(in.p, in.left, ".note.go.build", 14));
	} else
		must(how == 3 ? why == NULL : *why != '\0');
	(void)unlink(named);
	close(fd);
}

/* -- where an adapter is --------------------------------------------------- */

/* Files that could be an adapter; a link is as good as its target. */
static const char *const places[] = { "a/dap", "a/dap-9", "a/dap-14",
	"a/dap-x", "b/dap-11.2", "b/dap", "p/bin/py", "p/bin/py-3", "v/py",
	"w/py", "h/opt/one-9/dap", "h/opt/one-12/dap" };
#define PLACES	(sizeof(places) / sizeof(places[0]))

static const char *const elsewhere[] = { "/nonexistent/*", "~/opt/one-*/dap",
	NULL };
static const struct profile wanted[] = {
	{ .name = "one", .aka = "1", .binary = "dap", .elsewhere = elsewhere },
	{ .name = "two", .binary = "py", .witness = "lib/p*/{x,y}/it",
	    .quirks = Q_NEEDS_INTERPRETER },
};

static void
put(const char *name)
{
	char path[512], *slash;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", top, name);
	for (slash = path + strlen(top) + 1; (slash = strchr(slash, '/')) !=
	    NULL; *slash++ = '/') {
		*slash = '\0';
		must(mkdir(path, 0755) == 0 || errno == EEXIST);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	must(fd != -1);
	close(fd);
}

/* The same as the search finds, if a directory is none that it has to skip. */
static const char *
best_of(const char *dir, bool versioned, const struct profile *p,
    unsigned int runs)
{
	const char *best = NULL, *rest;
	const size_t ndir = strlen(dir), n = strlen(p->binary);
	size_t i;

	for (i = 0; i < PLACES; i++) {
		if (strncmp(places[i], dir, ndir) != 0 ||
		    places[i][ndir] != '/' || (runs >> i & 1) == 0 ||
		    strncmp(places[i] + ndir + 1, p->binary, n) != 0)
			continue;
		rest = places[i] + ndir + 1 + n;
		if (versioned ? rest[0] != '-' || !isdigit((unsigned char)
		    rest[1]) : rest[0] != '\0')
			continue;
		/* w has no such thing beside it, and links to none */
		if (p->witness != NULL && *dir == 'w')
			continue;
		if (best == NULL || strverscmp(places[i], best) > 0)
			best = places[i];
	}
	return best;
}

static const char *const dirs[] = { "a", "b", "p/bin", "v", "w", "none",
	"[ab]", "?", "{a,b}", "a\\" };
#define DIRS	(sizeof(dirs) / sizeof(dirs[0]))

static const char *
expected(const struct profile *p, const uint8_t *order, size_t n,
    unsigned int runs)
{
	const bool both = (p->quirks & Q_NEEDS_INTERPRETER) == 0;
	const char *found = NULL;
	size_t i, pass;

	for (pass = 0; found == NULL && pass < 1U + both; pass++)
		for (i = 0; found == NULL && i < n; i++)
			if (order[i] < DIRS)
				found = best_of(dirs[order[i]], pass == 1, p,
				    runs);
	if (found == NULL && p->elsewhere != NULL)
		found = runs >> (PLACES - 1) & 1 ? places[PLACES - 1] :
		    runs >> (PLACES - 2) & 1 ? places[PLACES - 2] : NULL;
	return found;
}

/* Which of the places run, and a PATH of some directories. */
static void
try_locate(struct input in)
{
	static struct adapter_found found;
	static char path[20000];
	const struct profile *p = &wanted[take_u8(&in) % 2U];
	unsigned int runs = take_u16(&in);
	char file[512], home[300];
	const char *best;
	uint8_t order[4];
	size_t i, n = take_u8(&in) % 5U, len = 0;

	/* what a link leads to runs or does not */
	runs = (runs & ~(1U << 8)) | (runs >> 6 & 1) << 8;
	for (i = 0; i < PLACES; i++) {
		(void)snprintf(file, sizeof(file), "%s/%s", top, places[i]);
		must(i == 8 || chmod(file, runs >> i & 1 ? 0755 : 0644) == 0);
	}
	for (i = 0; i < n; i++) {
		order[i] = take_u8(&in) % (DIRS + 3U);
		if (order[i] < DIRS)
			len += (size_t)snprintf(path + len, sizeof(path) - len,
			    "%s/%s:", top, dirs[order[i]]);
		else if (order[i] == DIRS)
			len += (size_t)snprintf(path + len, sizeof(path) - len,
			    "/%04095d:", 0);
		else
			len += (size_t)snprintf(path + len, sizeof(path) - len,
			    order[i] == DIRS + 1 ? ":" : "a:");
	}
	path[len] = '\0';
	(void)snprintf(home, sizeof(home), "%s/h", top);
	best = expected(p, order, n, runs);
	must(profile_locate(p, path, home, &found) == (best != NULL));
	must(found.profile == p);
	(void)snprintf(file, sizeof(file), "%s/%s", top, best == NULL ? "" :
	    best);
	must(best == NULL || strcmp(file, found.path) == 0);
}

/* -- what an adapter is told ----------------------------------------------- */

/* The variables, the last of each name, as the adapter's own form has them. */
static void
check_env(struct json_object *list, struct json_object *map)
{
	struct json_object *v;
	size_t i, n = json_object_array_length(list), good = 0;
	const char *pair, *eq;

	for (i = 0; i < n; i++) {
		pair = json_object_get_string(json_object_array_get_idx(list,
		    i));
		good += pair != NULL && strchr(pair, '=') != NULL;
	}
	must((size_t)json_object_object_length(map) <= good);
	json_object_object_foreach(map, name, value)
	{
		v = NULL;
		for (i = 0; i < n; i++) {
			pair = json_object_get_string(
			    json_object_array_get_idx(list, i));
			eq = pair == NULL ? NULL : strchr(pair, '=');
			if (eq != NULL && strlen(name) ==
			    (size_t)(eq - pair) &&
			    strncmp(pair, name, strlen(name)) == 0)
				v = strcmp(eq + 1,
				    json_object_get_string(value)) == 0 ?
				    value : NULL;
		}
		must(v == value);
	}
}

static void
check_profile(const struct profile *p)
{
	const struct profile *q;
	unsigned int lang;
	size_t n;

	must(profile_find(p->name) == p);
	must(p->aka == NULL || profile_find(p->aka) == p);
	must(!profile_never(p, "initialize"));
	for (lang = 0; lang < LANG_COUNT; lang++)
		for (n = 0; (q = profile_for((enum language)lang, n)) != NULL;
		    n++)
			must((q->languages & 1U << lang) != 0 &&
			    q != profile_for((enum language)lang, n + 1));
}

static void
try_arguments(struct input in)
{
	static const char *const never[] = { "it", "that", NULL };
	const uint8_t how = take_u8(&in);
	const struct profile *p = &profiles[how % kinds()];
	const struct profile odd = { .name = "odd", .never = never };
	struct json_object *list = parse(in), *args, *v;
	const struct launch_facts facts = {
		.program = how & 8 ? "/bin/it" : "", .cwd = how & 16 ? "/" :
		    NULL, .adapter_path = "/bin/dap", .stop_on_entry =
		    (how & 32) != 0, .pid = 7, .adapter_pid = 8,
		.file = how & 16 ? "/bin/\"that\\`" : "",
		.args = how & 64 ? NULL : list, .env = list,
	};

	check_profile(p);
	must(profile_find("") == NULL && profile_never(&odd, "that"));
	if (list != NULL && !json_object_is_type(list, json_type_array)) {
		json_object_put(list);
		return;
	}
	args = profile_arguments(how & 128 ? p->attach : p->launch, &facts);
	if (json_object_object_get_ex(args, "env", &v) && list != NULL &&
	    json_object_is_type(v, json_type_object))
		check_env(list, v);
	must(json_object_object_get_ex(args, "program", &v) <=
	    ((how & 8) != 0));
	json_object_put(args);
	json_object_put(list);
}

/* -- functions of two parts ------------------------------------------------ */
static void
ignored(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)op;
	(void)a;
	(void)arg;
}

static void
try_split(struct input in)
{
	const size_t n = take_u16(&in);
	struct input first = take_part(&in, n);
	char *parts = copy_of(first.p, first.left, true);
	char *places = copy_of(in.p, in.left, true);
	struct split_place at = { .file = NULL };
	struct split s;

	dbg.profile = &profiles[0];
	split_read(&s, parts);
	must(s.n <= SPLIT_MOST);
	if (split_take(NULL, &s, 1, places, &at))
		must(at.file == NULL || strlen(at.file) <= strlen(places));
	must(nasks <= SPLIT_MOST && (s.n > 0 || nasks == 0));
	free(at.file);
	while (nasks > 0)
		answer_text(0, "");
	if (first.left > 0)
		split_look(NULL, parts, ignored, NULL);
	while (nasks > 0)
		answer_text(0, "");
	dbg.profile = NULL;
	free(parts);
	free(places);
}

/* The part has the address, and the function has the part. */
static void
try_misread(struct input in)
{
	const uint64_t at = take_u16(&in);
	char *text = copy_of(in.p, in.left, true);
	struct misread_code c;

	misread_read(&c, text, at);
	must(c.from <= at && at < c.to && c.low <= at && at < c.high);
	must(!c.joined || c.low < c.high);
	free(text);
}

/* -- the input ------------------------------------------------------------- */

static void
leave(void)
{
	char command[300];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", top);
	(void)!system(command);
}

static const struct op_rules rules = { .refuse = op_refuse };

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char path[512];
	size_t i;

	(void)argc;
	(void)argv;
	quiet();
	commands_set(NULL, 0, &rules);
	fuzz_room(top, sizeof(top));
	atexit(leave);
	for (i = 0; i < PLACES; i++)
		if (i != 8)
			put(places[i]);
	put("p/lib/p3/y/it");
	put("v/there");
	(void)snprintf(path, sizeof(path), "%s/%s", top, places[8]);
	must(symlink("../p/bin/py", path) == 0);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static void (*const targets[])(struct input) = {
		try_memory, try_bytes, try_thrown_words, try_thrown, try_watch,
		try_watch, try_language, try_locate, try_arguments, try_split,
		try_misread,
	};

	fuzz_one_of(targets, sizeof(targets) / sizeof(targets[0]), data, len);
	return 0;
}
