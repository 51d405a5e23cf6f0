/* SPDX-License-Identifier: ISC */
/* links: client/lib/dial.c client/ctl/known.c client/ctl/viewers.c client/lib/quote.c client/lib/reply.c client/lib/report.c client/lib/safe.c client/ctl/session.c client/ctl/store.c client/lib/stream.c client/lib/table.c client/lib/target.c client/lib/term.c client/ctl/tl_lines.c client/ctl/trc_show.c client/debugger/lists.c client/debugger/show.c client/debugger/view.c common/base/log.c -lbsd common/base/base64.c common/base/utf8.c */
/* covers: common/base/base64.c client/lib/quote.c client/lib/reply.c client/lib/safe.c client/ctl/session.c client/ctl/store.c client/lib/table.c client/lib/target.c client/ctl/tl_lines.c client/ctl/trc_show.c client/debugger/lists.c client/debugger/show.c client/debugger/view.c client/ctl/viewers.c */
/*
 * Fuzz target of what the clients show: answers of daemons, which are JSON or
 * nearly, and may lack any member or have one of another type; targets, words
 * of the protocol, and the file of known hosts, also where it is not as it
 * should be.  The first byte says which.  Nothing that steers a terminal comes
 * out, and a change of the file is made or is not.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <unistd.h>

#define FUZZ_FAULT
#include "regress/fuzz/fuzz.h"

#include "base/base64.h"
#include "client/ctl/known.h"
#include "client/ctl/session.h"
#include "client/ctl/store.h"
#include "client/ctl/tl_lines.h"
#include "client/ctl/trc_show.h"
#include "client/ctl/viewers.h"
#include "client/debugger/show.h"
#include "client/debugger/view.h"
#include "client/lib/quote.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/safe.h"
#include "client/lib/target.h"

static char	home[1024];

/* -- what is shown --------------------------------------------------------- */

/* Colours are ours; all other controls but line ends are none. */
static void
check_shown(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == 033) {
			must(text[i + 1] == '[');
			for (i += 2; text[i] != 'm'; i++)
				must((text[i] >= '0' && text[i] <= '9') ||
				    text[i] == ';' || text[i] == ':');
			continue;
		}
		must(c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f));
		must(c != 0xc2 || ((unsigned char)text[i + 1] & 0xe0) !=
		    0x80);
	}
}

/* The same of a program's output, which may go back in its line. */
static void
check_bytes(char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (text[i] == '\r' || text[i] == '\b' || text[i] == '\a')
			text[i] = ' ';
	check_shown(text, len);
}

typedef void	(*dbg_fn)(struct json_object *, const struct view *);
static const dbg_fn dbg_fns[] = {
	show_summary, show_value, show_locals, show_source, show_backtrace,
	show_threads, show_points, show_memory, show_registers,
	show_disassembly, show_raw, show_sessions, show_words,
};

typedef void	(*trc_fn)(struct json_object *, FILE *);
static const trc_fn trc_fns[] = {
	trc_show_trace, trc_show_status, trc_show_functions, trc_show_stop,
	session_print, session_print_line,
};

/* As one of those that show answers. */
static void
show(struct json_object *json, uint8_t which, uint8_t how, FILE *out)
{
	const struct view v = { .out = out, .width = how & 1 ? 60 : 0,
	    .utf8 = (how & 2) != 0, .colours = (how & 4) != 0,
	    .types = (how & 8) != 0, .cwd = "/home/me" };
	const size_t ndbg = sizeof(dbg_fns) / sizeof(dbg_fns[0]);
	const size_t ntrc = sizeof(trc_fns) / sizeof(trc_fns[0]);

	if (which < ndbg)
		dbg_fns[which](json, &v);
	else if (which < ndbg + ntrc)
		trc_fns[which - ndbg](json, out);
	else if (!json_object_is_type(json, json_type_array))
		return;
	/* callers that show a list check that it is an array */
	else if (which == ndbg + ntrc)
		trc_show_sessions(json, out);
	else
		session_print_table(json, out, v.width, how >> 4, v.colours);
}

static void
try_answer(struct input in)
{
	uint8_t which = take_u8(&in) % 21, how = take_u8(&in);
	char *copy = copy_of(in.p, in.left, false), *text = NULL, *again;
	struct json_object *json = reply_parse(copy, in.left), *same;
	size_t len, size = 0;
	FILE *out;

	free(copy);
	if (json == NULL)
		return;
	out = open_memstream(&text, &size);
	must(out != NULL);
	report_hold();
	show(json, which, how, out);
	if (reply_error(json) != NULL)
		reply_report(json, false);
	trc_note_losses(json);
	free(report_release());
	must(fclose(out) == 0);
	check_shown(text, size);
	free(text);
	/* what is printed of it as JSON is the same JSON */
	again = reply_text(json, &len);
	must(again != NULL);
	check_shown(again, len);
	same = reply_parse(again, len);
	must(same != NULL || len > 100);
	json_object_put(same);
	free(again);
	json_object_put(json);
}

/* Events, one a line, and the text of an export. */
static void
try_events(struct input in)
{
	uint8_t how = take_u8(&in);
	struct json_object *json;
	struct tl_lines lines;
	struct input one;
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	const uint8_t *nl;

	must(out != NULL);
	tl_lines_begin(&lines, out, (how & 1) != 0);
	lines.colours = (how & 2) != 0;
	while (in.left > 0) {
		nl = memchr(in.p, '\n', in.left);
		one = take_part(&in, nl == NULL ? in.left :
		    (size_t)(nl - in.p) + 1);
		json = reply_parse((const char *)one.p, one.left -
		    (nl != NULL));
		if (json != NULL && json_object_is_type(json,
		    json_type_object))
			tl_lines_event(&lines, json);
		else
			tl_lines_put(&lines, (const char *)one.p, one.left);
		json_object_put(json);
	}
	tl_lines_end(&lines);
	must(fclose(out) == 0);
	check_shown(text, size);
	free(text);
}

/* A program's output on a terminal: colours may pass, nothing else. */
static void
try_filter(struct input in)
{
	struct safe_filter f = { 0 };
	uint8_t piece = (uint8_t)(take_u8(&in) + 1);
	struct input part;
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	must(out != NULL);
	while (in.left > 0) {
		part = take_part(&in, piece == 0 ? 1 : piece);
		safe_filter_put(&f, part.p, part.left, out);
		must(f.npending <= sizeof(f.pending));
	}
	safe_filter_end(&f, out);
	must(fclose(out) == 0);
	check_bytes(text, size);
	free(text);
}

/* -- what is read ---------------------------------------------------------- */

static void
try_text(struct input in)
{
	char text[TARGET_TEXT], *s = copy_of(in.p, in.left, true), *safe;
	struct target t, again;
	unsigned char *raw;
	struct line l = { 0 };
	size_t len;

	if (target_parse(&t, s) == 0) {
		must(target_parse(&again, target_text(&t, text)) == 0);
		/* a host may be called as a scheme is */
		must(strcmp(t.host, "unix") == 0 ||
		    (strcmp(t.host, again.host) == 0 &&
		    strcmp(t.port, again.port) == 0 &&
		    strcmp(t.path, again.path) == 0));
		(void)target_key(&t, text);
		(void)target_is_loopback(&t);
	}
	report_hold();
	(void)line_word(&l, s);
	line_any(&l, s);
	(void)line_quoted(&l, s);
	(void)line_value(&l, "key", s);
	(void)line_number(&l, "n", 5);
	(void)line_as_it_is(&l, s);
	(void)line_end(&l);
	free(report_release());
	free(l.text);
	safe = safe_string(s);
	check_shown(safe, strlen(safe));
	(void)safe_width(safe);
	free(safe);
	raw = malloc(BASE64_ROOM(in.left) + 1);
	if (base64_get((const char *)in.p, in.left, raw, &len))
		must(len <= BASE64_ROOM(in.left));
	free(raw);
	free(s);
}

/* Sets the people at a terminal again and again. */
static void
try_people(struct input in)
{
	uint8_t how = take_u8(&in);
	struct viewers p;
	struct input one;
	const uint8_t *nl;
	char *text;

	viewers_init(&p);
	while (in.left > 0) {
		nl = memchr(in.p, '\n', in.left);
		one = take_part(&in, nl == NULL ? in.left :
		    (size_t)(nl - in.p) + 1);
		viewers_set(&p, one.p, one.left - (nl != NULL));
		text = viewers_text(&p, "id", how & 1 ? '~' : -1,
		    (how & 2) != 0);
		must(text != NULL);
		check_bytes(text, strlen(text));
		free(text);
	}
	viewers_clear(&p);
}

static void
put_file(const uint8_t *p, size_t len)
{
	char path[STORE_PATH];
	int fd = open(store_path("known_hosts", path), O_WRONLY | O_CREAT |
	    O_TRUNC | O_CLOEXEC, 0600);

	must(fd != -1 && write(fd, p, len) == (ssize_t)len);
	close(fd);
}

static void
try_store(struct input in)
{
	static const char print[] = "SHA256:"
	    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
	struct target t = { .kind = TARGET_TLS, .host = "rig", .port = "4444",
	    .port_given = true }, any = t;
	const char *key, *value;
	struct store s;
	bool known;

	any.port_given = (take_u8(&in) & 1) != 0;
	put_file(in.p, in.left);
	report_hold();
	if (store_load(&s, "known_hosts", 1) == CTL_OK) {
		while (store_next(&s, &key, &value))
			must(strchr(key, ' ') == NULL &&
			    strchr(key, '\n') == NULL &&
			    strchr(value, '\n') == NULL);
		store_free(&s);
	}
	(void)known_port(&any, &known);
	must(fingerprint_valid(print));
	if (store_set("known_hosts", "[rig]:4444", print) == CTL_OK) {
		must(known_check(&t, print, NULL, &known) == CTL_OK);
		must(store_set("known_hosts", "[rig]:4444", NULL) == CTL_OK);
		must(store_set("known_hosts", "[rig]:4444", NULL) ==
		    CTL_REFUSED);
	}
	must(known_check(&t, "x", print, &known) == CTL_UNREACHABLE);
	free(report_release());
}

/* -- the file, and what it may be instead ---------------------------------- */

static void
remove_file(void)
{
	char path[STORE_PATH];

	(void)unlink(store_path("known_hosts", path));
	(void)rmdir(path);
}

static void
remove_directory(void)
{
	char path[STORE_PATH];

	remove_file();
	(void)unlink(store_path("", path));
	(void)rmdir(path);
}

/* Puts something odd in place of a file of ours or its directory. */
static void
make_odd(uint8_t how, struct input in)
{
	static const mode_t modes[] = { 0600, 0644, 0666, 0400 };
	char path[STORE_PATH];
	int fd;

	remove_directory();
	store_path("", path);
	if (how % 8 == 0)
		return;
	if (how % 8 == 1) {
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		must(fd != -1);
		close(fd);
		return;
	}
	must(mkdir(path, 0700) == 0);
	must(how % 8 != 2 || chmod(path, 0777) == 0);
	/* only root can make it somebody else's */
	if (how % 8 == 3 && geteuid() == 0)
		must(chown(path, 1, 1) == 0);
	store_path("known_hosts", path);
	if (how % 8 == 4)
		must(mkdir(path, 0700) == 0);
	else if (how % 8 == 5)
		must(symlink("/dev/null", path) == 0);
	else {
		put_file(in.p, in.left);
		must(chmod(path, modes[how / 8 % 4]) == 0);
	}
	if (how % 8 == 6)
		must(truncate(path, 17 << 20) == 0);
}

/* The value of a key in the file; the caller frees it. */
static char *
value_of(const char *wanted)
{
	const char *key, *value;
	char *found = NULL;
	struct store s;

	if (store_load(&s, "known_hosts", 0) != CTL_OK)
		return NULL;
	while (found == NULL && store_next(&s, &key, &value))
		if (strcmp(key, wanted) == 0)
			found = copy_of(value, strlen(value), true);
	store_free(&s);
	return found;
}

static void
try_paths(void)
{
	char path[STORE_PATH], wanted[STORE_PATH];

	must(setenv("XDG_CONFIG_HOME", "not/from/the/root", 1) == 0);
	must(setenv("HOME", home, 1) == 0);
	(void)snprintf(wanted, sizeof(wanted), "%s/.config/debuglantern/x",
	    home);
	must(strcmp(store_path("x", path), wanted) == 0);
	must(unsetenv("HOME") == 0);
	(void)store_path("", path);
	must(setenv("XDG_CONFIG_HOME", home, 1) == 0);
}

static void
try_odd_store(struct input in)
{
	uint8_t how = take_u8(&in);
	char path[STORE_PATH], *before, *after;
	struct store s;
	int code;

	try_paths();
	make_odd(how, in);
	report_hold();
	before = value_of("key");
	fault_begin();
	if (store_load(&s, "known_hosts", how >> 7) == CTL_OK)
		store_free(&s);
	code = store_set("known_hosts", "key", how & 0x40 ? NULL : "new");
	fault_end();
	after = value_of("key");
	if (code != CTL_OK)
		must((before == NULL) == (after == NULL) &&
		    (before == NULL || strcmp(before, after) == 0));
	else if (how & 0x40)
		must(after == NULL);
	else
		must(after != NULL && strcmp(after, "new") == 0);
	free(before);
	free(after);
	free(report_release());
	remove_directory();
	must(mkdir(store_path("", path), 0700) == 0);
}

static void
leave(void)
{
	remove_directory();
	(void)rmdir(home);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char path[STORE_PATH];

	(void)argc;
	(void)argv;
	fuzz_room(home, sizeof(home));
	/* who shows something ends without memory */
	fault_never = 1U << FAULT_MALLOC | 1U << FAULT_REALLOC;
	must(setlocale(LC_CTYPE, "C.UTF-8") != NULL);
	must(setenv("XDG_CONFIG_HOME", home, 1) == 0);
	must(mkdir(store_path("", path), 0700) == 0);
	atexit(leave);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static void (*const targets[])(struct input) = {
		try_answer, try_answer, try_answer, try_events, try_filter,
		try_text, try_store, try_people,
	};
	struct input in;

	/* with it, it is the file that is odd, or what is done with it */
	if (len >= 2 && memcmp(data, "\xff!", 2) == 0) {
		(void)fault_plan(&data, &len);
		try_odd_store((struct input){ data, len });
		return 0;
	}
	in = (struct input){ data, len };
	targets[take_u8(&in) % (sizeof(targets) / sizeof(targets[0]))](in);
	return 0;
}
