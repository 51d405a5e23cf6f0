/* SPDX-License-Identifier: ISC */
/* Which debug adapters this host has, and what installs those it lacks. */
#include <sys/wait.h>

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/args.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/table.h"
#include "client/lib/term.h"
#include "dbg.h"
#include "debugger/dap/profile.h"
#include "setup.h"
#include "view.h"

#define VERSION_MS	10000	/* for a program to say its own */

/* -- versions -------------------------------------------------------------- */

/* The bytes of a number with a dot in it at p, 0 when there is none. */
static size_t
version_length(const char *start, const char *p)
{
	size_t n = strspn(p, "0123456789.");

	/* what follows a letter is part of a word */
	if (p > start && (((p[-1] | 0x20) >= 'a' && (p[-1] | 0x20) <= 'z') ||
	    strchr("0123456789.", p[-1]) != NULL))
		return 0;
	return memchr(p, '.', n) != NULL && *p != '.' ? n : 0;
}

void
setup_version(const char *text, char *buf, size_t size)
{
	const char *p;
	size_t n;

	*buf = '\0';
	for (p = text; *p != '\0'; p++) {
		if (*p == '\n' && *buf != '\0')
			return;
		if ((n = version_length(text, p)) > 0 && n < size)
			strlcpy(buf, p, n + 1);
	}
}

/* Its stderr is nobody's: what fails there is no version. */
static pid_t
ask_program(const char *path, const char *const *question, int out_fd)
{
	const char *argv[6] = { path };
	pid_t pid = fork();
	int null_fd;
	size_t i;

	if (pid != 0)
		return pid;
	for (i = 0; question[i] != NULL; i++)
		argv[i + 1] = question[i];
	null_fd = open("/dev/null", O_RDWR);
	if (null_fd == -1 || dup2(null_fd, STDIN_FILENO) == -1 ||
	    dup2(out_fd, STDOUT_FILENO) == -1 ||
	    dup2(null_fd, STDERR_FILENO) == -1)
		_exit(127);
	execv(path, (char *const *)(void *)argv);
	_exit(127);
}

/* Reads a program's version text; false if it fails or takes too long. */
static bool
read_answer(const char *path, const char *const *question, char *buf,
    size_t size)
{
	int fds[2], status = -1;
	struct pollfd pfd;
	size_t len = 0;
	ssize_t n = -1;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) == -1)
		return false;
	pid = ask_program(path, question, fds[1]);
	close(fds[1]);
	pfd = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	while (pid > 0 && len < size - 1 && poll(&pfd, 1, VERSION_MS) == 1 &&
	    (n = read(fds[0], buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	buf[len] = '\0';
	close(fds[0]);
	if (pid <= 0)
		return false;
	/* it did not end by itself, or says more than a version */
	if (n != 0)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return status == 0;
}

/* "lldb-dap-19" and "/usr/lib/llvm-19/bin/lldb-dap" tell it by their names. */
static void
version_of_path(const char *path, char *buf, size_t size)
{
	const char *p, *dash = NULL;

	for (p = path; *p != '\0'; p++)
		if (*p == '-' && p[1] >= '0' && p[1] <= '9')
			dash = p + 1;
	if (dash != NULL)
		snprintf(buf, size, "%.*s", (int)strspn(dash, "0123456789."),
		    dash);
}

/*
 * Takes the version from the program's answer, else from its path: wrappers
 * print none.
 */
static void
find_version(const struct profile *p, const char *path, char *buf,
    size_t size)
{
	static const char *const usual[] = { "--version", NULL };
	char text[4096], real[PATH_MAX];

	*buf = '\0';
	if (read_answer(path, p->version_args != NULL ? p->version_args :
	    usual, text, sizeof(text)))
		setup_version(text, buf, size);
	if (*buf == '\0' && realpath(path, real) != NULL)
		version_of_path(real, buf, size);
}

/* -- the list -------------------------------------------------------------- */

static struct json_object *
languages(const struct profile *p)
{
	static const char *const names[LANG_COUNT] = {
		[LANG_NATIVE] = "C, C++, Rust", [LANG_GO] = "Go",
		[LANG_PYTHON] = "Python",
	};
	struct json_object *list = json_object_new_array();
	int i;

	for (i = 0; i < LANG_COUNT; i++)
		if (p->languages >> i & 1)
			json_object_array_add(list,
			    json_object_new_string(names[i]));
	return list;
}

/* A program of that name that cannot do it is why it is not there. */
static void
add_install(struct json_object *o, const struct profile *p, const char *path,
    const char *home)
{
	struct profile any = *p;
	struct adapter_found found;
	char version[32], text[PATH_MAX + 256];

	any.witness = NULL;
	if ((p->quirks & Q_NEEDS_INTERPRETER) != 0 || p->witness == NULL ||
	    !profile_locate(&any, path, home, &found) ||
	    !args_is_text(found.path)) {
		args_text(o, "install", p->install);
		return;
	}
	find_version(p, found.path, version, sizeof(version));
	snprintf(text, sizeof(text), "%s (%s is %s, which speaks no DAP)",
	    p->install, found.path, *version != '\0' ? version : "one");
	args_text(o, "install", text);
}

/* Whether it is there. */
static bool
add_adapter(struct json_object *list, const struct profile *p)
{
	const char *path = getenv("PATH"), *home = getenv("HOME");
	struct json_object *o = json_object_new_object();
	struct adapter_found found;
	char version[32];
	bool there;

	there = profile_locate(p, path != NULL ? path : "",
	    home != NULL ? home : "", &found);
	args_text(o, "name", p->name);
	json_object_object_add(o, "languages", languages(p));
	json_object_object_add(o, "usable", json_object_new_boolean(there));
	if (there) {
		find_version(p, found.path, version, sizeof(version));
		args_text(o, "version", version);
		args_text(o, "path", args_is_text(found.path) ? found.path :
		    "?");
	} else
		add_install(o, p, path != NULL ? path : "",
		    home != NULL ? home : "");
	json_object_array_add(list, o);
	return there;
}

/* "C, C++, Rust, Go" */
static void
languages_cell(struct table *t, struct json_object *o)
{
	struct json_object *list = NULL;
	size_t i, n = view_list(o, "languages", &list);
	char text[64] = "";

	for (i = 0; i < n; i++) {
		strlcat(text, i > 0 ? ", " : "", sizeof(text));
		strlcat(text, json_object_get_string(
		    json_object_array_get_idx(list, i)), sizeof(text));
	}
	table_cell(t, text, PLAIN);
}

/* For people: what is missing, and what would bring it. */
static void
print_adapters(struct json_object *list)
{
	static const struct table_column columns[] = {
		{ .title = "Adapter", .keep = 1 }, { .title = "Languages" },
		{ .title = "Version" }, { .title = "Path", .optional = 1 },
		{ .title = "To install", .optional = 1 },
	};
	struct table *t = table_new(columns, 5);
	struct json_object *o;
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		view_cell(t, o, "name");
		languages_cell(t, o);
		if (reply_true(o, "usable"))
			table_cell(t, reply_str(o, "version", ""), GREEN);
		else
			table_cell(t, "missing", YELLOW);
		view_cell(t, o, "path");
		view_cell(t, o, "install");
	}
	table_box(t, stdout, term_width(STDOUT_FILENO), view_utf8(),
	    term_colours(STDOUT_FILENO));
	table_free(t);
}

/*
 * Looks at this host by itself, with the same table as a session's debugger:
 * no daemon need run for it.
 */
int
dbg_setup(struct dbg *d, int argc, char **argv)
{
	struct json_object *list = json_object_new_array(), *o;
	const struct profile *p;
	int usable = 0;

	for (p = profiles; p->name != NULL; p++)
		if (argc == 0 || p == profile_find(argv[0]))
			usable += add_adapter(list, p);
	if (json_object_array_length(list) == 0) {
		json_object_put(list);
		return usage_error("no adapter \"%s\" is known; \"" DBG_NAME
		    " setup\" lists those that are", argv[0]);
	}
	o = json_object_new_object();
	args_number(o, "schema", 1);
	json_object_object_add(o, "adapters", list);
	if (d->client.json_errors) {
		reply_print(o, stdout);
		d->printed = true;
	} else
		print_adapters(list);
	json_object_put(o);
	if (opt_given(&d->client.opts, DOPT_CHECK) && usable == 0)
		return DBG_ADAPTER;
	return report_flush();
}
