/* SPDX-License-Identifier: ISC */
/* The traced session: attached to, ended, stopped. */
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "commands.h"
#include "exports.h"
#include "launch.h"
#include "session.h"
#include "tracer/binary/fn.h"
#include "tracer/engine/arch.h"
#include "tracer/engine/clock.h"
#include "tracer/engine/maps.h"
#include "tracer/record/timefiles.h"
#include "tracer/record/timeline.h"
#include "tracer/record/user_limit.h"

#define CODE_OF_SIGNAL	128	/* as shells count */
#define AGAIN_MS	20	/* until what waits is looked at again */

struct trc_hello session_hello;

static char		 root[PATH_MAX];
static pid_t		 pid;
static bool		 ended, stopped, making;
static bool		 made_now;	/* the timeline, for who attaches */
static int		 code, sig;
static struct loop_io	 children = LOOP_IO_INIT;
static struct loop_timer again;
static struct waiters	 attaching = TAILQ_HEAD_INITIALIZER(attaching);
static struct {
	enum trc_phase	 phase;
	uint32_t	 functions;
	pid_t		 pid;
} told = { .phase = TRC_PHASES };

const char *
session_root(void)
{
	return root;
}

const char *
session_root_missing(void)
{
	static char words[640];
	struct stat st;

	if (root[0] == '\0' || (stat(root, &st) == 0 ? S_ISDIR(st.st_mode) :
	    errno != ENOENT && errno != ENOTDIR))
		return NULL;
	(void)snprintf(words, sizeof(words), "projectRoot %.300s is no "
	    "directory of this host: @usercode is what was compiled below a "
	    "directory of that name; if that was not elsewhere, give the one "
	    "that has the sources", root);
	return words;
}

/* Without . and .. in it, as the paths are that it is compared with. */
void
session_set_root(const char *path)
{
	char copy[PATH_MAX], *part, *save = NULL, *end = root;

	(void)snprintf(copy, sizeof(copy), "%s", path);
	for (part = strtok_r(copy, "/", &save); part != NULL;
	    part = strtok_r(NULL, "/", &save)) {
		if (strcmp(part, "..") == 0) {
			while (end > root && *--end != '/')
				;
		} else if (strcmp(part, ".") != 0)
			end += snprintf(end, sizeof(root) - (size_t)(end -
			    root), "/%s", part);
	}
	if (end == root)
		*end++ = '/';
	*end = '\0';
}

pid_t
session_pid(void)
{
	return pid;
}

const char *
session_state(void)
{
	if (!TAILQ_EMPTY(&processes))
		return "tracing";
	return ended ? "ended" : "idle";
}

void
session_tell(void)
{
	uint32_t functions = probing_hooked();
	enum trc_phase phase = !TAILQ_EMPTY(&processes) ? TRC_TRACING :
	    ended ? TRC_OVER : TRC_IDLE;

	if (stopped || (told.phase == phase && told.functions == functions &&
	    told.pid == pid))
		return;
	told.phase = phase;
	told.functions = functions;
	told.pid = pid;
	trace_link_state(phase, functions, pid);
}

void
session_refuse_ended(struct op *op)
{
	const char *name = sig == 0 ? NULL : sigabbrev_np(sig);

	trace_fail(op, "PROCESS_EXITED",
	    "ask what has happened with query; launch "
	    "it again after stop",
	    "Target process has exited (code: %d%s%s). "
	    "Session still queryable but cannot add traces.",
	    sig == 0 ? code : CODE_OF_SIGNAL + sig, name == NULL ? "" : ", SIG",
	    name == NULL ? "" : name);
}

bool
session_asked(struct op *op)
{
	if (timeline_store() != NULL)
		return true;
	trace_fail(op, "SESSION_NOT_FOUND",
	    "launch a program, or attach to one "
	    "that runs",
	    "nothing has been traced in this session yet");
	return false;
}

/* -- the end of processes ------------------------------------------------- */

static void
note_end(int c, int s)
{
	if (ended)
		return;
	ended = true;
	code = c;
	sig = s;
	pid = 0;
	if (timeline_store() != NULL)
		store_set_status(timeline_store(), "exited", time(NULL));
	timeline_told();
}

static void
reap_one(struct process *p)
{
	const int status = p->status;
	const bool is_main = p->main;

	timeline_read_one(p);
	if (p->unwanted && !p->over)
		probing_warn("there are too many processes to follow: some of "
		    "those that were forked are not traced");
	if (is_main)
		probing_remember();
	process_close(p);
	if (!is_main)
		return;
	note_end(WIFEXITED(status) ? WEXITSTATUS(status) : 0,
	    WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* Not from within the engine's callbacks, which still look at them. */
static void
reap(void)
{
	struct process *p, *next;
	bool any = false;

	if (timeline_is_busy())
		return;
	for (p = TAILQ_FIRST(&processes); p != NULL; p = next) {
		next = TAILQ_NEXT(p, entry);
		if (!p->unwanted && (!p->over || target_expects(p->target)))
			continue;
		reap_one(p);
		any = true;
	}
	if (!any)
		return;
	session_tell();
	probing_kick();
}

static void	attend_again(void);

static void
attend(void *arg)
{
	(void)arg;
	target_events();
	attend_again();
	reap();
}

/* Polls while an event has no owner yet, as no signal tells of it again. */
static void
attend_again(void)
{
	if (target_waits())
		loop_timer_set(&again, AGAIN_MS, attend, NULL);
}

static void
on_children(uint32_t events, void *arg)
{
	(void)events;
	attend(arg);
}

void
session_goes_on(void)
{
	attend_again();
	reap();
	probing_kick();
}

void
trc_ended(int c, int s)
{
	output_drain();
	/* if it is traced its last event says more, and is here as well */
	target_events();
	reap();
	if (process_main() == NULL) {
		note_end(c, s);
		session_tell();
		probing_kick();
	}
}

/* -- the beginning -------------------------------------------------------- */

static void
on_resumed(const char *why)
{
	if (why != NULL) {
		log_warnx("the timeline of the last tracer is lost: %s", why);
		return;
	}
	/* what its functions took is not known any more, their names are */
	fn_begin(timeline_store(), store_functions_end(timeline_store()));
	session_set_root(store_meta(timeline_store())->project_root);
}

void
trc_hello(const struct trc_hello *h)
{
	session_hello = *h;
	output_resumed(h->resumed);
	pid = (pid_t)h->inst.target_pid;
	if (h->budget != 0)
		probing_budget(h->budget > UINT32_MAX ? 0 :
		    (uint32_t)h->budget);
	if (loop_add(&children, target_fd(), EPOLLIN, on_children, NULL) ==
	    -1)
		fatal("epoll");
	if (h->forget) {
		timefiles_forget(h);
		stopped = true;
		link_bye();
	}
	if (!h->resumed)
		return;
	ended = pid == 0;
	timeline_resume(h, on_resumed);
}

void
session_ran(pid_t p)
{
	pid = p;
	/* others may have started it: it can be attached to */
	if (launch_has_run(p))
		return;
	ended = false;
	session_tell();
}

void
trc_conn_gone(uint32_t conn)
{
	op_conn_gone(conn);
	exports_conn_gone(conn);
}

/* -- attaching ------------------------------------------------------------ */

struct attach_args {
	const char	*root;
	bool		 follow;
};

/* Parameters of attach. */
static const struct param attach_params[] = {
	{ "projectRoot", PARAM_STRING, offsetof(struct attach_args, root),
	    false, 0, PATH_MAX - 1 },
	{ "followForks", PARAM_BOOL, offsetof(struct attach_args, follow),
	    false, 0, 0 },
	{ NULL, PARAM_BOOL, 0, false, 0, 0 }
};
static bool		 follow_forks;

static void
attach_failed(struct op *op, bool full, const char *why)
{
	char words[TARGET_WHY];

	if (full)
		trace_fail(op, "TIMELINE_FULL", USER_LIMIT_NEXT, "%s", why);
	else if (!target_supported(pid, words))
		trace_fail(op, "NOT_SUPPORTED", ARCH_REMEDY(), "%s", words);
	else
		trace_fail(op, "FRIDA_ATTACH_FAILED",
		    "end whatever else traces "
		    "it, or launch the program anew",
		    "Failed to attach: %s. "
		    "Check process permissions.",
		    why);
}

/* The timeline is there: all that wait to attach go on. */
static void
attach_all(const char *why)
{
	const struct target_options o = { .follow_fork = follow_forks };
	char words[TARGET_WHY];
	const bool full = why != NULL;
	struct process *p = NULL;
	struct waiter *w;

	making = false;
	if (why == NULL && (p = process_open(pid, &o, words)) == NULL)
		why = words;
	/* nothing was ever in it */
	if (p == NULL && made_now)
		timeline_close(false);
	made_now = false;
	if (p != NULL) {
		p->main = true;
		store_set_pid(timeline_store(), (uint32_t)pid);
		store_set_status(timeline_store(), "running", 0);
		output_drain();
		timeline_pace(true);
	}
	session_tell();
	/* the next attach says again whether to */
	follow_forks = false;
	while ((w = TAILQ_FIRST(&attaching)) != NULL) {
		if (p == NULL)
			attach_failed(w->op, full, why);
		else
			w->op->command->run(w->op);
		waiter_drop(&attaching, w);
	}
}

static void
session_attach_begin(void)
{
	static char exe[PATH_MAX];
	char link[64];
	struct store_meta m = { .id = session_hello.inst.session,
		.binary_path = exe, .project_root = root,
		.pid = (uint32_t)pid, .started_at = time(NULL),
		.status = "running", .start_ns = clock_ns() };
	ssize_t n;

	if (timeline_store() != NULL) {
		attach_all(NULL);
		return;
	}
	(void)snprintf(link, sizeof(link), "/proc/%d/exe",
	    (int)maps_task(pid));
	n = readlink(link, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	output_from_now();
	made_now = true;
	timeline_make(&session_hello, &m, attach_all);
}

bool
session_ready(struct op *op)
{
	if (process_main() != NULL)
		return true;
	if (ended) {
		session_refuse_ended(op);
		return false;
	}
	if (launch_pending() || pid == 0) {
		trace_fail(op, "INVALID_ARGUMENT", "launch a program first",
		    "no program of this session runs that could be traced");
		return false;
	}
	(void)waiter_add(&attaching, op);
	if (!making) {
		making = true;
		session_attach_begin();
	}
	return false;
}

static void
do_attach(struct op *op)
{
	struct attach_args a = { .root = NULL };
	struct process *p;
	struct text t = { .max = TEXT_MAX };

	if (!op_params(op, attach_params, &a))
		return;
	if (a.root != NULL && a.root[0] != '/') {
		trace_fail(op, "INVALID_ARGUMENT", "give an absolute path",
		    "projectRoot must be an absolute path, not \"%.200s\"",
		    a.root);
		return;
	}
	p = process_main();
	if (p == NULL) {
		if (a.root != NULL)
			session_set_root(a.root);
		/* of several who wait for the same, one who wants it is enough */
		follow_forks = a.follow || (making && follow_forks);
	} else if (a.follow && !p->follows) {
		trace_fail(op, "INVALID_ARGUMENT",
		    "stop tracing it, and attach "
		    "with followForks",
		    "it is traced already, without the "
		    "processes that it starts: followForks is for when it is "
		    "attached to");
		return;
	}
	if (!session_ready(op)) {
		if (!making)
			follow_forks = false;
		return;
	}
	text_puts(&t, "{\"sessionId\":");
	json_quoted(&t, session_hello.inst.session,
	    strlen(session_hello.inst.session));
	text_printf(&t, ",\"pid\":%d}", (int)pid);
	trace_reply(op, &t);
}

/* -- stopping ------------------------------------------------------------- */

struct stop_args {
	bool	 keep;
};

static const struct param stop_params[] = {
	{ "keep", PARAM_BOOL, offsetof(struct stop_args, keep), false, 0, 0 },
	{ NULL, PARAM_BOOL, 0, false, 0, 0 }
};

/* The program goes on, with its code as it was. */
static void
let_all_go(void)
{
	struct process *p;

	launch_stopped();
	while ((p = TAILQ_FIRST(&processes)) != NULL) {
		timeline_read_one(p);
		process_close(p);
	}
}

static uint64_t
end_timeline(bool keep)
{
	struct store_stats s = { 0 };

	if (timeline_store() == NULL)
		return 0;
	output_drain();
	if (!ended)
		store_set_status(timeline_store(), "stopped", time(NULL));
	store_stats(timeline_store(), &s);
	timeline_close(keep);
	return s.collected;
}

static void
do_stop(struct op *op)
{
	struct stop_args a = { .keep = false };
	struct text t = { .max = TEXT_MAX };
	char path[PATH_MAX] = "";
	uint64_t n;

	if (!op_params(op, stop_params, &a))
		return;
	if (a.keep && timeline_store() != NULL && timeline_path() == NULL) {
		trace_fail(op, "NOT_SUPPORTED",
		    "export it, or stop without keep",
		    "this timeline is in memory, as there is no place for its "
		    "files in its owner's home directory; it cannot be kept");
		return;
	}
	if (a.keep && timeline_path() != NULL)
		(void)snprintf(path, sizeof(path), "%s", timeline_path());
	let_all_go();
	waiters_fail(&attaching, "SESSION_NOT_FOUND", NULL,
	    "tracing has been stopped meanwhile");
	session_stopping();
	exports_drop_all();
	n = end_timeline(a.keep);
	text_printf(&t, "{\"success\":true,\"eventsCollected\":%llu",
	    (unsigned long long)n);
	if (path[0] != '\0') {
		text_puts(&t, ",\"kept\":");
		json_quoted(&t, path, strlen(path));
	}
	text_puts(&t, "}");
	stopped = true;
	link_reply_last();
	trace_reply(op, &t);
	link_bye();
}

const struct command session_commands[] = {
	{ "launch", false, TRC_ACTION_LAUNCH, launch_run },
	{ "attach", false, TRC_ACTION_ATTACH, do_attach },
	{ "resume", false, TRC_ACTION_RESUME, launch_resume },
	{ "stop", false, TRC_ACTION_STOP, do_stop },
	{ NULL, false, TRC_ACTION_NONE, NULL }
};
