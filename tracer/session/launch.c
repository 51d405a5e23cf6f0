/* SPDX-License-Identifier: ISC */
/*
 * A program that is started to be traced: found, started, held where its own
 * code begins until the first patterns are in, let go.
 */
#include <sys/stat.h>

#include <json-c/json.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/elfhdr.h"
#include "base/json.h"
#include "base/log.h"
#include "launch.h"
#include "session.h"
#include "trace_request.h"
#include "tracer/base/vec.h"
#include "tracer/engine/arch.h"
#include "tracer/engine/clock.h"
#include "tracer/probe/plan.h"
#include "tracer/record/timeline.h"
#include "tracer/record/user_limit.h"

#define DEFAULT_PATH	"/usr/local/bin:/usr/bin:/bin"

struct launch_args {
	const char	*command, *cwd, *root;
	struct json_object *args, *env, *client, *trace;
	bool		 follow, hold;
};

static const struct param launch_params[] = {
	{ "command", PARAM_STRING, offsetof(struct launch_args, command),
	    false, 0, PATH_MAX - 1 },
	{ "args", PARAM_STRINGS, offsetof(struct launch_args, args), false, 0,
	    0 },
	{ "cwd", PARAM_STRING, offsetof(struct launch_args, cwd), false, 0,
	    PATH_MAX - 1 },
	{ "projectRoot", PARAM_STRING, offsetof(struct launch_args, root),
	    false, 0, PATH_MAX - 1 },
	{ "env", PARAM_PAIRS, offsetof(struct launch_args, env), false, 0,
	    0 },
	{ "client", PARAM_OBJECT, offsetof(struct launch_args, client), false,
	    0, 0 },
	{ "followForks", PARAM_BOOL, offsetof(struct launch_args, follow),
	    false, 0, 0 },
	{ "hold", PARAM_BOOL, offsetof(struct launch_args, hold), false, 0,
	    0 },
	{ "trace", PARAM_OBJECT, offsetof(struct launch_args, trace), false,
	    0, 0 },
	{ NULL, PARAM_BOOL, 0, false, 0, 0 }
};

struct client_args {
	const char	*cwd;
	struct json_object *env;
};

static const struct param client_params[] = {
	{ "cwd", PARAM_STRING, offsetof(struct client_args, cwd), false, 0,
	    PATH_MAX - 1 },
	{ "env", PARAM_PAIRS, offsetof(struct client_args, env), false, 0, 0 },
	{ NULL, PARAM_BOOL, 0, false, 0, 0 }
};

static struct {
	struct op	*op;		/* held; NULL = nobody waits */
	struct launch_args args;	/* borrowed of op */
	struct client_args client;
	struct trace_request	 traced;
	char		 path[PATH_MAX], cwd[PATH_MAX];
	bool		 called;	/* the spawner has been asked */
	bool		 stands;	/* by SIGSTOP, at its first instruction */
	pid_t		 pid;
} l;

bool
launch_pending(void)
{
	return l.op != NULL || l.called;
}

/* -- where things are ----------------------------------------------------- */

/*
 * Drops the path component that ends at `end`.  False if it is a link: from
 * there, ".." may not lead to the path before it.
 */
static bool
go_up(char *path, char **end)
{
	char was = **end, link[1], *slash;
	bool is_link;

	**end = '\0';
	slash = strrchr(path, '/');
	is_link = slash == NULL || strcmp(slash, "/..") == 0 ||
	    readlink(path, link, sizeof(link)) != -1 || errno != EINVAL;
	**end = was;
	if (!is_link)
		*end = slash;
	return !is_link;
}

/*
 * Without what says nothing, so that a program has one path: it is by this
 * that one is found to be traced already.
 */
static void
simplify(char *path)
{
	char *from = path, *to = path;
	size_t len;

	for (;; from += len) {
		from += strspn(from, "/");
		len = strcspn(from, "/");
		if (len == 0)
			break;
		if (len == 1 && *from == '.')
			continue;
		if (len == 2 && strncmp(from, "..", 2) == 0 &&
		    (to == path || go_up(path, &to)))
			continue;
		*to++ = '/';
		memmove(to, from, len);
		to += len;
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
}

/* path, as one that begins with / ; base is one. */
static void
absolute(const char *path, const char *base, char to[PATH_MAX])
{
	if (*path == '/')
		(void)snprintf(to, PATH_MAX, "%s", path);
	else
		(void)snprintf(to, PATH_MAX, "%s/%s", base, path);
	simplify(to);
}

static const char *
search_path(struct json_object *env)
{
	struct json_object *v;

	if (env != NULL && json_object_object_get_ex(env, "PATH", &v) &&
	    v != NULL)
		return json_object_get_string(v);
	return DEFAULT_PATH;
}

/* A word without a slash is a file where the client is, or in its PATH. */
static void
find_program(const char *word, const char *base, const char *dirs,
    char to[PATH_MAX])
{
	size_t len;

	absolute(word, base, to);
	if (strchr(word, '/') != NULL || access(to, F_OK) == 0)
		return;
	for (; *dirs != '\0'; dirs += len + (dirs[len] == ':')) {
		len = strcspn(dirs, ":");
		(void)snprintf(to, PATH_MAX, "%.*s/%s", (int)len, dirs, word);
		simplify(to);
		if (*dirs == '/' && access(to, X_OK) == 0)
			return;
	}
	absolute(word, base, to);
}

static void
directory_of(const char *path, char to[PATH_MAX])
{
	const char *slash = strrchr(path, '/');

	(void)snprintf(to, PATH_MAX, "%.*s", (int)(slash == NULL ||
	    slash == path ? 1 : slash - path), slash == NULL ? "/" : path);
}

/* False: errno says why not. */
static bool
may_run(const char *path)
{
	struct stat st;

	if (access(path, X_OK) == -1 || stat(path, &st) == -1)
		return false;
	errno = S_ISDIR(st.st_mode) ? EISDIR : EACCES;
	return S_ISREG(st.st_mode);
}

static bool
find_places(struct op *op)
{
	const char *base = l.client.cwd == NULL ? "/" : l.client.cwd;
	char root[PATH_MAX];

	if (*base != '/') {
		trace_fail(op, "INVALID_ARGUMENT", "give an absolute path",
		    "\"cwd\" of client must be an absolute path");
		return false;
	}
	l.path[0] = l.cwd[0] = '\0';
	if (l.args.command != NULL) {
		find_program(l.args.command, base, search_path(l.client.env),
		    l.path);
		directory_of(l.path, l.cwd);
	}
	if (l.args.cwd != NULL)
		absolute(l.args.cwd, base, l.cwd);
	absolute(l.args.root != NULL ? l.args.root :
	    l.cwd[0] != '\0' ? l.cwd : "/", base, root);
	session_set_root(root);
	if (l.path[0] == '\0' || may_run(l.path))
		return true;
	trace_fail(op, "INVALID_ARGUMENT", "name a program that you may run",
	    "cannot launch %s: %s", l.path, strerror(errno));
	return false;
}

/* -- the request ---------------------------------------------------------- */

static bool
check_command(struct op *op)
{
	if (session_hello.made && (l.args.command == NULL ||
	    l.args.command[0] == '\0'))
		trace_fail(op, "INVALID_ARGUMENT", "name the program",
		    "launch needs \"command\", a string");
	else if (!session_hello.made && (l.args.command != NULL ||
	    l.args.args != NULL))
		trace_fail(op, "INVALID_ARGUMENT",
		    "leave \"command\" and \"args\" "
		    "out, or launch it in a session of its own",
		    "this session has a program of its own");
	else
		return true;
	return false;
}

static bool
read_request(struct op *op)
{
	const char *code;
	char why[PROBING_WHY];

	memset(&l.args, 0, sizeof(l.args));
	memset(&l.client, 0, sizeof(l.client));
	memset(&l.traced, 0, sizeof(l.traced));
	if (!op_params(op, launch_params, &l.args) || !check_command(op))
		return false;
	if (params_read(l.args.client, "client", client_params, &l.client,
	    why) == -1) {
		trace_fail(op, "INVALID_ARGUMENT", NULL, "%s", why);
		return false;
	}
	if (!find_places(op) || !trace_request_read(op, l.args.trace, "trace",
	    &l.traced))
		return false;
	if (l.traced.root != NULL)
		session_set_root(l.traced.root);
	l.traced.root = session_root();
	if (l.traced.remove != NULL)
		trace_fail(op, "INVALID_ARGUMENT", "leave \"remove\" out",
		    "there is nothing yet that could be removed");
	else if (trace_request_check(&l.traced, &code, why) == -1)
		trace_fail(op, code, "correct the pattern", "%s", why);
	else
		return true;
	return false;
}

/* -- starting ------------------------------------------------------------- */

static void
end_op(void)
{
	struct op *op = l.op;

	l.op = NULL;
	if (op != NULL)
		op_unref(op);
}

/* The session goes as well if it was made for this. */
static void
launch_has_failed(const char *code, const char *next, const char *words)
{
	l.called = l.stands = false;
	timeline_close(false);
	if (session_hello.made)
		link_reply_last();
	if (l.op != NULL)
		trace_fail(l.op, code, next, "%s", words);
	end_op();
	if (session_hello.made)
		link_bye();
}

static void
put_args(struct vec *v)
{
	size_t i, n = l.args.args == NULL ? 0 :
	    json_object_array_length(l.args.args);

	if (l.path[0] != '\0')
		vec_add(v, l.path);
	for (i = 0; i < n; i++)
		vec_add(v, json_object_get_string(json_object_array_get_idx(
		    l.args.args, i)));
}

static void
put_env(struct vec *v)
{
	if (l.client.env != NULL) {
		json_object_object_foreach(l.client.env, name, value) {
			/* what was asked for stands instead */
			if (l.args.env == NULL ||
			    !json_object_object_get_ex(l.args.env, name, NULL))
				vec_pair(v, name,
				    json_object_get_string(value));
		}
	}
	if (l.args.env == NULL)
		return;
	json_object_object_foreach(l.args.env, name, value) {
		vec_pair(v, name, json_object_get_string(value));
	}
}

static void
on_made(const char *why)
{
	struct vec argv = { .bytes = 0 }, envp = { .bytes = 0 };
	struct trc_run run;

	if (why != NULL) {
		launch_has_failed("TIMELINE_FULL", USER_LIMIT_NEXT, why);
		return;
	}
	put_args(&argv);
	put_env(&envp);
	if (argv.bytes > LINK_VEC_MAX || envp.bytes > LINK_VEC_MAX) {
		launch_has_failed("INVALID_ARGUMENT", "pass less", argv.bytes >
		    LINK_VEC_MAX ? "the arguments have more than 40 KiB" :
		    "the environment has more than 40 KiB");
	} else {
		run = (struct trc_run){ .argv = argv.n == 0 ? NULL : argv.v,
		    .envp = envp.v, .cwd = l.cwd };
		l.called = true;
		output_drain();
		trace_link_run(&run);
		/* it takes its time as well */
		if (l.traced.add != NULL || l.traced.addresses != NULL)
			binary_prepare();
	}
	vec_free(&argv);
	vec_free(&envp);
}

void
launch_run(struct op *op)
{
	struct store_meta m = { .id = session_hello.inst.session,
		.status = "running", .started_at = time(NULL),
		.start_ns = clock_ns() };

	if (launch_pending() || process_main() != NULL ||
	    timeline_store() != NULL || session_pid() != 0) {
		trace_fail(op, "SESSION_EXISTS",
		    "call stop first, or launch in a "
		    "session of its own",
		    "Session already active for this "
		    "binary. Call debug_stop first before relaunching.");
		return;
	}
	if (!read_request(op))
		return;
	l.op = op_ref(op);
	m.binary_path = l.path[0] != '\0' ? l.path :
	    session_hello.inst.program[0] != '\0' ? session_hello.inst.program :
	    session_hello.inst.session;
	m.project_root = session_root();
	/* what a run before this one has written is not of this timeline */
	output_from_now();
	/* the session is there before its process */
	timeline_make(&session_hello, &m, on_made);
}

/* -- it runs -------------------------------------------------------------- */

static void
launch_answer(void)
{
	struct text t = { .max = TEXT_MAX };
	const char *vain = l.args.trace == NULL ?
	    l.args.root == NULL ? NULL : session_root_missing() :
	    trace_request_was_vain(&l.traced) ?
	    "NO_DEBUG_SYMBOLS: " NO_SYMBOLS_WORDS :
	    NULL;

	text_puts(&t, "{\"sessionId\":");
	json_quoted(&t, session_hello.inst.session,
	    strlen(session_hello.inst.session));
	text_printf(&t, ",\"pid\":%d", (int)l.pid);
	probing_warnings(&t, vain, true);
	text_puts(&t, "}");
	/* who is answered must not be shown an older state then */
	session_tell();
	trace_reply(l.op, &t);
	end_op();
}

/* Begins to read the binaries to be traced while the loader does its work. */
static void
look_ahead(struct process *p)
{
	if (l.traced.add == NULL && l.traced.addresses == NULL)
		return;
	process_look(p);
	(void)plan_read(p);
	p->stale = true;
}

bool
launch_has_run(pid_t pid)
{
	const struct target_options o = { .starting = true,
	    .follow_fork = l.args.follow };
	char why[TARGET_WHY], words[TARGET_WHY + 80];
	struct process *p;
	bool can;

	if (!l.called)
		return false;
	l.called = false;
	l.stands = true;
	l.pid = pid;
	p = process_open(pid, &o, why);
	if (p == NULL) {
		can = target_supported(pid, why);
		(void)snprintf(words, sizeof(words),
		    can ? "Failed to attach: "
			  "%s. Check process permissions."
			: "%s",
		    why);
		/* it goes on untraced, unless it goes with its session */
		if (!session_hello.made)
			link_let_go();
		launch_has_failed(can ? "FRIDA_ATTACH_FAILED" : "NOT_SUPPORTED",
		    ARCH_REMEDY(), words);
		return true;
	}
	p->main = true;
	store_set_pid(timeline_store(), (uint32_t)pid);
	probing_hold(l.op != NULL && l.args.hold);
	if (l.op != NULL && l.args.trace != NULL) {
		trace_request_apply(&l.traced);
		probing_kick();
	}
	look_ahead(p);
	l.stands = false;
	link_let_go();
	if (l.op != NULL && l.args.trace == NULL && !l.args.hold)
		launch_answer();
	session_tell();
	return true;
}

void
launch_settled(void)
{
	const struct process *p = process_main();

	if (l.op == NULL || l.called)
		return;
	/* it may have been too quick to be seen at its beginning */
	if (p == NULL && strcmp(session_state(), "ended") == 0)
		launch_answer();
	else if (p != NULL && p->arrived)
		launch_answer();
}

/* Tells the kind of a file that the kernel has refused, if it is no program. */
static void
put_kind(char *words, size_t room)
{
	int fd = l.path[0] == '\0' ? -1 : open(l.path, O_RDONLY | O_CLOEXEC |
	    O_NONBLOCK);
	char why[160];

	words[0] = '\0';
	if (fd == -1)
		return;
	if (elf_check_fd(fd, ELF_32BIT_WRONG, why, sizeof(why)) == -1)
		(void)snprintf(words, room, " (%s)", why);
	close(fd);
}

void
session_run_failed(const char *code, const char *why)
{
	char upper[64], kind[200], words[PATH_MAX + 1024];
	bool exists;
	size_t i;

	/* given up, or never ordered: what is traced is not its matter */
	if (!l.called)
		return;
	for (i = 0; i < sizeof(upper) - 1 && code[i] != '\0'; i++)
		upper[i] = (char)toupper((unsigned char)code[i]);
	upper[i] = '\0';
	exists = strcmp(upper, "SESSION_EXISTS") == 0;
	if (!exists && l.path[0] != '\0') {
		put_kind(kind, sizeof(kind));
		(void)snprintf(words, sizeof(words), "cannot launch %s%s: %s",
		    l.path, kind, why);
		why = words;
	}
	launch_has_failed(upper, exists ?
	    "stop that session (debug_stop, debuglanternctl trace stop), "
	    "then launch again" :
	    "correct what the message names", why);
}

void
launch_resume(struct op *op)
{
	static const struct param none[] = { { NULL, PARAM_BOOL, 0, false, 0,
	    0 } };
	struct process *p = process_main();
	struct text t = { .max = TEXT_MAX };
	char nothing;

	if (!op_params(op, none, &nothing))
		return;
	if (p == NULL || !p->main) {
		trace_fail(op, "INVALID_ARGUMENT", "launch with hold first",
		    "there is no program that is held");
		return;
	}
	probing_hold(false);
	text_puts(&t, "{\"success\":true}");
	trace_reply(op, &t);
}

void
launch_stopped(void)
{
	probing_hold(false);
	if (l.op != NULL)
		trace_fail(l.op, "SESSION_NOT_FOUND", NULL,
		    "tracing has been stopped meanwhile");
	end_op();
	if (l.stands)
		link_let_go();
	l.stands = l.called = false;
}
