/* SPDX-License-Identifier: ISC */
/* flags: -ljson-c */
/*
 * A debug adapter that says what a file tells it to: a recorded conversation,
 * or what an adapter of ill will would say.  mock_adapter FILE [WORD ...];
 * the words tell a configuration what kind of adapter it is.
 *
 *	< COMMAND [ARGUMENTS]	waits for that request; ARGUMENTS, an object,
 *				must be among its own
 *	ok COMMAND [BODY]	answers the latest such request
 *	no COMMAND MESSAGE|BODY	refuses it
 *	ev NAME [BODY]		an event
 *	auto COMMAND [BODY]	from now on answers such requests by itself,
 *				the latest such line counts
 *	ask COMMAND		a request of its own; waits for the answer
 *	raw TEXT		bytes as they are; \r \n \0 \\ are known
 *	huge COMMAND BYTES	an answer with a body of that length
 *	flood N NAME [BODY]	that event N times
 *	out TEXT | err TEXT	what the program would write
 *	stderr N		N lines on its own stderr
 *	include FILE		the lines of FILE, which is beside this one
 *	zero			from now on seq is always 0
 *	deaf			reads no more, but lives
 *	shut			closes its stdin, and lives
 *	hang			answers no more, but reads
 *	exit N | kill N		its end
 *
 * A request that is neither waited for nor answered by "auto" ends it by
 * abort(), as real ones do.
 */
#include <json-c/json.h>

#include <ctype.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AUTO_MAX	32
#define SEEN_MAX	64

static struct {
	char command[64];
	char *body;
} automatic[AUTO_MAX];
static size_t	nautomatic;

/* the latest request of each command */
static struct {
	char command[64];
	long long seq;
} seen[SEEN_MAX];
static size_t	nseen;

static long long seq;
static bool	zero;
static const char *file;
static int	line_number;

static void
die(const char *what, const char *more)
{
	(void)fprintf(stderr, "%s:%d: %s %s\n", file, line_number, what, more);
	abort();
}

static void
put(const char *p, size_t len)
{
	ssize_t n;

	for (; len > 0; p += n, len -= (size_t)n)
		if ((n = write(1, p, len)) <= 0)
			_exit(3);
}

static void
say(const char *text, size_t len)
{
	char head[64];

	put(head, (size_t)snprintf(head, sizeof(head),
	    "Content-Length: %zu\r\n\r\n", len));
	put(text, len);
}

static void
sayf(const char *head, const char *body, const char *tail)
{
	size_t len = strlen(head) + strlen(body) + strlen(tail);
	char *text = malloc(len + 1);

	(void)snprintf(text, len + 1, "%s%s%s", head, body, tail);
	say(text, len);
	free(text);
}

static long long
next_seq(void)
{
	return zero ? 0 : ++seq;
}

static void
remember(const char *command, long long number)
{
	size_t i;

	for (i = 0; i < nseen && strcmp(seen[i].command, command) != 0; i++)
		;
	if (i == SEEN_MAX)
		die("too many commands", command);
	nseen = i == nseen ? nseen + 1 : nseen;
	(void)snprintf(seen[i].command, sizeof(seen[i].command), "%s", command);
	seen[i].seq = number;
}

static void
respond(const char *command, const char *more)
{
	char head[256];
	size_t i;

	for (i = 0; i < nseen && strcmp(seen[i].command, command) != 0; i++)
		;
	if (i == nseen)
		die("never asked:", command);
	(void)snprintf(head, sizeof(head), "{\"type\":\"response\",\"seq\":%lld,"
	    "\"command\":\"%s\",\"request_seq\":%lld,", next_seq(), command,
	    seen[i].seq);
	sayf(head, more, "}");
}

static void
ok(const char *command, const char *body)
{
	size_t len = strlen(body) + 64;
	char *more = malloc(len);

	(void)snprintf(more, len, *body == '\0' ? "\"success\":true%s" :
	    "\"success\":true,\"body\":%s", body);
	respond(command, more);
	free(more);
}

static void
no(const char *command, const char *words)
{
	size_t len = strlen(words) + 64;
	char *more = malloc(len);

	(void)snprintf(more, len, *words == '{' ? "\"success\":false,"
	    "\"body\":%s" : "\"success\":false,\"message\":\"%s\"", words);
	respond(command, more);
	free(more);
}

static void
event(const char *name, const char *body)
{
	char head[128];

	(void)snprintf(head, sizeof(head), "{\"type\":\"event\",\"seq\":%lld,"
	    "\"event\":\"%s\"%s", next_seq(), name,
	    *body != '\0' ? ",\"body\":" : "");
	sayf(head, body, "}");
}

/* -- reading -- */
static struct json_object *
read_message(void)
{
	struct json_object *m;
	char line[256], *text;
	size_t len = 0;

	for (;;) {
		if (fgets(line, sizeof(line), stdin) == NULL)
			_exit(0);
		if (strcmp(line, "\r\n") == 0)
			break;
		(void)sscanf(line, "Content-Length: %zu", &len);
	}
	text = calloc(1, len + 1);
	if (fread(text, 1, len, stdin) != len)
		_exit(0);
	m = json_tokener_parse(text);
	if (getenv("MOCK_LOG") != NULL)
		(void)fprintf(stderr, "mock< %s\n", text);
	free(text);
	return m;
}

static const char *
word_of(struct json_object *m, const char *name)
{
	struct json_object *v;
	const char *s = json_object_object_get_ex(m, name, &v) ?
	    json_object_get_string(v) : NULL;

	return s == NULL ? "" : s;
}

/* Everything that want has is in have, likewise. */
static bool
has(struct json_object *have, struct json_object *want)
{
	struct json_object *v;

	if (!json_object_is_type(want, json_type_object))
		return json_object_equal(have, want);
	json_object_object_foreach(want, key, value)
		if (!json_object_object_get_ex(have, key, &v) || !has(v, value))
			return false;
	return true;
}

static bool
answered(const char *command)
{
	size_t i;

	for (i = 0; i < nautomatic; i++)
		if (strcmp(automatic[i].command, command) == 0) {
			ok(command, automatic[i].body);
			return true;
		}
	return false;
}

static void
expect(const char *command, const char *arguments)
{
	struct json_object *m, *v, *want = *arguments == '\0' ? NULL :
	    json_tokener_parse(arguments);
	bool mine;

	do {
		m = read_message();
		if (strcmp(word_of(m, "type"), "request") != 0)
			die("not a request", json_object_to_json_string(m));
		(void)json_object_object_get_ex(m, "seq", &v);
		remember(word_of(m, "command"), json_object_get_int64(v));
		mine = strcmp(word_of(m, "command"), command) == 0;
		if (mine && want != NULL && (!json_object_object_get_ex(m,
		    "arguments", &v) || !has(v, want)))
			mine = false;
		if (!mine && !answered(word_of(m, "command")))
			die("did not expect", json_object_to_json_string(m));
		json_object_put(m);
	} while (!mine);
	json_object_put(want);
}

static void
ask(const char *command)
{
	struct json_object *m;
	char head[160];
	bool mine;

	(void)snprintf(head, sizeof(head), "{\"type\":\"request\",\"seq\":%lld,"
	    "\"command\":\"%s\"", next_seq(), command);
	sayf(head, ",\"arguments\":{}", "}");
	do {
		m = read_message();
		mine = strcmp(word_of(m, "type"), "response") == 0 &&
		    strcmp(word_of(m, "command"), command) == 0;
		json_object_put(m);
	} while (!mine);
}

/* -- what is odd -- */
static void
raw(const char *s)
{
	char c;

	for (; *s != '\0'; s++) {
		c = *s;
		if (c == '\\' && s[1] != '\0') {
			s++;
			c = *s == 'r' ? '\r' : *s == 'n' ? '\n' :
			    *s == '0' ? '\0' : *s;
		}
		put(&c, 1);
	}
}

static void
huge(const char *command, size_t bytes)
{
	char *text = malloc(bytes + 1);
	size_t i;

	for (i = 0; i < bytes; i++)
		text[i] = 'x';
	text[bytes] = '\0';
	if (bytes < 32)
		die("too short:", command);
	memcpy(text, "{\"x\":\"", 6);
	memcpy(text + bytes - 2, "\"}", 2);
	ok(command, text);
	free(text);
}

static void
program(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) == -1 || write(fd, "\n", 1) == -1)
		die("the program's file is closed", text);
}

static void
odd(const char *what, const char *first, const char *rest)
{
	long i, n = atol(first);

	if (strcmp(what, "huge") == 0)
		huge(first, (size_t)atol(rest));
	else if (strcmp(what, "stderr") == 0)
		for (i = 0; i < n; i++)
			(void)fprintf(stderr, "complaint %ld\n", i);
	else if (strcmp(what, "zero") == 0)
		zero = true;
	else if (strcmp(what, "deaf") == 0 || strcmp(what, "shut") == 0) {
		if (*what == 's')
			(void)close(0);
		for (;;)
			(void)pause();
	}
	else if (strcmp(what, "hang") == 0)
		for (;;)
			json_object_put(read_message());
	else if (strcmp(what, "exit") == 0)
		_exit((int)n);
	else if (strcmp(what, "kill") == 0)
		(void)kill(getpid(), (int)n);
	else
		die("what is", what);
}

static char *
cut(char *s)
{
	s += strcspn(s, " ");
	if (*s != '\0')
		*s++ = '\0';
	return s;
}

static void
flood(long n, char *rest)
{
	char *body = cut(rest);

	while (n-- > 0)
		event(rest, body);
}

static void	play(const char *);

static void
include(const char *name)
{
	const char *slash = strrchr(file, '/'), *outer = file;
	char path[4096];
	int number = line_number;

	(void)snprintf(path, sizeof(path), "%.*s/%s",
	    slash == NULL ? 1 : (int)(slash - file),
	    slash == NULL ? "." : file, name);
	play(path);
	file = outer;
	line_number = number;
}

static void
by_itself(const char *command, const char *body)
{
	size_t i;

	for (i = 0; i < nautomatic &&
	    strcmp(automatic[i].command, command) != 0; i++)
		;
	if (i == AUTO_MAX)
		die("too many", command);
	nautomatic = i == nautomatic ? nautomatic + 1 : nautomatic;
	(void)snprintf(automatic[i].command, sizeof(automatic[i].command),
	    "%s", command);
	free(automatic[i].body);
	automatic[i].body = strdup(body);
}

static void
obey(char *line)
{
	char *first = cut(line), *whole = strdup(first), *rest;

	rest = cut(first);
	if (strcmp(line, "<") == 0) {
		expect(first, rest);
	} else if (strcmp(line, "ok") == 0) {
		ok(first, rest);
	} else if (strcmp(line, "no") == 0) {
		no(first, rest);
	} else if (strcmp(line, "ev") == 0) {
		event(first, rest);
	} else if (strcmp(line, "auto") == 0) {
		by_itself(first, rest);
	} else if (strcmp(line, "ask") == 0) {
		ask(first);
	} else if (strcmp(line, "include") == 0) {
		include(first);
	} else if (strcmp(line, "raw") == 0) {
		raw(whole);
	} else if (strcmp(line, "flood") == 0) {
		flood(atol(first), rest);
	} else if (strcmp(line, "out") == 0 || strcmp(line, "err") == 0) {
		program(*line == 'o' ? 4 : 5, whole);
	} else {
		odd(line, first, rest);
	}
	free(whole);
}

static void
play(const char *path)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;

	file = path;
	line_number = 0;
	if (f == NULL)
		die("cannot be read:", path);
	while (getline(&line, &size, f) != -1) {
		line_number++;
		line[strcspn(line, "\n")] = '\0';
		if (line[0] != '\0' && line[0] != '#')
			obey(line);
	}
	free(line);
	fclose(f);
}

int
main(int argc, char *argv[])
{
	if (argc < 2)
		return 2;
	play(argv[1]);
	/* what is not waited for any more must be answered by itself */
	expect("", "");
	return 0;
}
