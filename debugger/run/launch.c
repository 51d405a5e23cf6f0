/* SPDX-License-Identifier: ISC */
/*
 * From a request to start or attach to a program that is being debugged.  All
 * adapters are driven the same way: launch is sent and not waited for, what
 * comes first of "initialized" and a failure decides, and only then is
 * anything configured.
 */
#include <sys/stat.h>

#include <json-c/json.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach_check.h"
#include "base/elfhdr.h"
#include "base/log.h"
#include "base/loop.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/base/process_watch.h"
#include "debugger/base/program_state.h"
#include "debugger/bps/bpcmd.h"
#include "debugger/bps/configure.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/choose.h"
#include "debugger/dap/profile.h"
#include "debugger/stop/summary.h"
#include "debugger/stop/wait.h"
#include "debugger/text/json_make.h"
#include "engine.h"
#include "exec.h"
#include "launch.h"

#define DEFAULT_PATH	"/usr/local/bin:/usr/bin:/bin"
#define SHOWN_MAX	64	/* words of the program's command in lists */
#define MORE_WORDS_MS	1000	/* for a better reason of a failure */

enum entry { ENTRY_DEFAULT, ENTRY_YES, ENTRY_NO };

static struct json_object *saved_args;	/* of the session */
static char unconfigured[1024];
static const char *unconfigured_code;
static struct launch {
	struct choice	 choice;
	struct json_object *args, *env;	/* owned; of the program; or NULL */
	enum entry	 entry;
	bool		 tty, attach, beside;
	pid_t		 pid;		/* attach */
	pid_t		 adapter_pid;	/* as its own namespace numbers it */
	bool		 known;		/* all of this was filled in */
	bool		 let_go;	/* a program of ours runs on by itself */
	/* -- how far it is -- */
	struct op	*op;		/* that asked for it; held */
	bool		 wait;
	bool		 owed;		/* op is answered once it is started */
	uint64_t	 limit_ms;
	bool		 tree, go;	/* processes are left; start when not */
	bool		 launched, configured;	/* answered */
	bool		 loaded;	/* the program, before its launch */
	struct loop_timer timer;
} l;

void
launch_init(void)
{
	const char *s = dbg_said.inst.args, *end = s + dbg_said.inst.args_len;

	/* borrowed: they are kept as a request would give them */
	saved_args = jarray();
	for (; s < end; s += strlen(s) + 1)
		jadd(saved_args, jtext(s));
	choose_init();
}

bool
launch_tree_up(void)
{
	return l.tree;
}

bool
launch_injects(void)
{
	return l.tree && l.attach && !l.launched &&
	    l.choice.profile->inject != NULL &&
	    (dbg.phase == PHASE_INITIALIZING || dbg.phase == PHASE_CONFIGURING);
}

bool
launch_is_beside(void)
{
	return l.attach && l.beside;
}

bool
launch_again_possible(void)
{
	return l.known && !l.attach;
}

const char *
launch_adapter_path(void)
{
	return l.choice.path;
}

const char *
launch_adapter_name(void)
{
	return l.choice.name;
}

void
launch_let_go(void)
{
	l.let_go = true;
}

bool
launch_is_let_go(void)
{
	return l.let_go || launch_is_beside();
}

/* -- the request -- */
static bool
all_strings(struct json_object *v)
{
	size_t i, n;

	if (!json_object_is_type(v, json_type_array))
		return false;
	n = json_object_array_length(v);
	for (i = 0; i < n; i++)
		if (!json_object_is_type(json_object_array_get_idx(v, i),
		    json_type_string))
			return false;
	return true;
}

static bool
strings(struct op *op, const char *name, struct json_object **v)
{
	*v = NULL;
	(void)json_object_object_get_ex(op->args, name, v);
	if (*v == NULL || all_strings(*v))
		return true;
	op_fail(op, "invalid_argument", "\"%s\" must be a list of strings",
	    name);
	return false;
}

/* The client's PATH: of its environment, if it passed one. */
static const char *
client_path(struct json_object *env)
{
	size_t i, n = env == NULL ? 0 : json_object_array_length(env);
	const char *pair, *own = getenv("PATH");

	for (i = 0; i < n; i++) {
		pair = json_object_get_string(json_object_array_get_idx(env, i));
		if (strncmp(pair, "PATH=", 5) == 0)
			return pair + 5;
	}
	return own == NULL ? DEFAULT_PATH : own;
}

/* As the owner sees it, whose rights are ours.  False: errno says why not. */
static bool
is_file(const char *path)
{
	struct stat sb;

	if (stat(path, &sb) == -1)
		return false;
	errno = EISDIR;
	return !S_ISDIR(sb.st_mode);
}

/* A word without a slash is a file here, else a program in PATH. */
static void
resolve(const char *word, const char *cwd, const char *dirs, char *to,
    size_t size)
{
	size_t len;

	while (strncmp(word, "./", 2) == 0)
		word += 2;
	if (*word == '/') {
		(void)snprintf(to, size, "%s", word);
		return;
	}
	(void)snprintf(to, size, "%s/%s", cwd, word);
	if (strchr(word, '/') != NULL || is_file(to))
		return;
	for (; *dirs != '\0'; dirs += len + (dirs[len] == ':')) {
		len = strcspn(dirs, ":");
		(void)snprintf(to, size, "%.*s/%s", (int)len, dirs, word);
		if (*dirs == '/' && access(to, X_OK) == 0)
			return;
	}
	(void)snprintf(to, size, "%s/%s", cwd, word);
}

/* Options of one start; used once nothing can be refused any more. */
struct options {
	enum entry	 entry;
	bool		 tty, wait;
	uint64_t	 limit_ms;
};

static bool
read_options(struct op *op, struct options *o)
{
	struct json_object *v;
	bool entry = false, had = json_object_object_get_ex(op->args,
	    "stop_on_entry", &v);

	*o = (struct options) { .wait = true };
	if (!op_bool(op, "stop_on_entry", &entry) ||
	    !op_bool(op, "wait", &o->wait) || !op_bool(op, "tty", &o->tty) ||
	    !wait_limit(op, false, &o->limit_ms))
		return false;
	o->entry = entry ? ENTRY_YES : had ? ENTRY_NO : ENTRY_DEFAULT;
	return true;
}

static void
use_options(const struct options *o)
{
	l.entry = o->entry;
	l.tty = o->tty;
	l.wait = o->wait;
	l.limit_ms = o->limit_ms;
}

static void
keep(struct json_object **slot, struct json_object *v)
{
	json_object_put(*slot);
	*slot = json_object_get(v);
}

/* lldb finds out the architecture by the path of the process's file. */
static bool
suits_image(struct op *op, const struct profile *p)
{
	if (!dbg_said.narrow || (p->quirks & Q_LLDB_COMMANDS) == 0)
		return true;
	op_fail(op, "refused", "%s cannot debug a 32-bit program that has no "
	    "file in its session (its warnings say why): upload it as a bundle "
	    "(debuglanternctl upload --bundle), or use gdb (debuglanternctl "
	    "gdb)", p->name);
	return false;
}

/* A bundle's program has its path in the session alone. */
static bool
is_hidden(const char *program)
{
	return dbg_said.image || (dbg_said.inst.program[0] != '\0' &&
	    access(program, F_OK) == -1);
}

static bool
read_program(struct op *op, const char *cwd, struct json_object *env,
    char *path, size_t size)
{
	const char *program = NULL;

	if (dbg_said.image) {
		*path = '\0';	/* known once the adapter runs */
		return true;
	}
	if (dbg_said.inst.program[0] != '\0')
		program = dbg_said.inst.program;
	else if (!op_string(op, "program", true, &program))
		return false;
	if (*program == '\0') {
		op_fail(op, "invalid_argument", "program is empty: it must be "
		    "the path of a program");
		return false;
	}
	resolve(program, cwd, client_path(env), path, size);
	/* what a bundle brings along is not where we can see it */
	if (dbg_said.inst.program[0] != '\0' || is_file(path))
		return true;
	op_fail(op, "invalid_argument", "cannot debug %s: %s", path,
	    strerror(errno));
	return false;
}

/* Reads the arguments of a start.  false = refused, with all as it was. */
static bool
read_start(struct op *op)
{
	const char *cwd = "/", *name = NULL;
	struct json_object *args, *env, *breaks = NULL;
	char program[sizeof(dbg.program)];
	struct options options;
	struct choice choice;

	if (!op_string(op, "cwd", false, &cwd) ||
	    !op_string(op, "adapter", false, &name) ||
	    !strings(op, "args", &args) || !strings(op, "env", &env) ||
	    !read_options(op, &options))
		return false;
	if (*cwd != '/') {
		op_fail(op, "invalid_argument", "cwd is \"%s\": it must be an "
		    "absolute path", cwd);
		return false;
	}
	if (!read_program(op, cwd, env, program, sizeof(program)) ||
	    !choose_adapter(op, name, is_hidden(program) ? NULL : program,
	    client_path(env), &choice))
		return false;
	if (dbg_said.image && !suits_image(op, choice.profile)) {
		choice_free(&choice);
		return false;
	}
	if (json_object_object_get_ex(op->args, "breaks", &breaks) &&
	    breaks != NULL && !bps_preset(op, breaks)) {
		choice_free(&choice);
		return false;
	}
	choice_free(&l.choice);
	l.choice = choice;
	keep(&l.args, args == NULL ? saved_args : args);
	keep(&l.env, env);
	use_options(&options);
	(void)snprintf(dbg.program, sizeof(dbg.program), "%s", program);
	(void)snprintf(dbg.cwd, sizeof(dbg.cwd), "%s", cwd);
	l.attach = l.beside = false;
	l.known = true;
	return true;
}

/* -- the adapter's process -- */
static size_t
shown(char *list[SHOWN_MAX])
{
	size_t i, n = l.args == NULL ? 0 : json_object_array_length(l.args);

	list[0] = dbg.program;
	for (i = 0; i < n && i < SHOWN_MAX - 2; i++)
		list[i + 1] = (char *)(uintptr_t)json_object_get_string(
		    json_object_array_get_idx(l.args, i));
	list[i + 1] = NULL;
	return i + 1;
}

static void
run_adapter(void)
{
	char *list[SHOWN_MAX];
	char path[4096 + 8], home[sizeof(dbg_said.inst.home) + 8];
	char *env[] = { path, home, NULL };
	const struct dbg_run run = {
		.argv = l.choice.argv,
		.envp = env,
		.cwd = l.attach ? "/" : dbg.cwd,
		.adapter = l.choice.name,
		.shown = dbg.program[0] != '\0' && shown(list) > 0 ? list :
		    NULL,
		.flags = (l.tty ? RUN_TTY : 0) | (launch_is_beside() ? RUN_BESIDE :
		    l.attach ? RUN_HOST : 0),
	};

	(void)snprintf(path, sizeof(path), "PATH=%s", client_path(l.env));
	(void)snprintf(home, sizeof(home), "HOME=%s", dbg_said.inst.home);
	l.tree = true;
	link_run(&run);
}

/* Drops our reference; an op that waits for a stop has one of its own. */
static void
drop_op(void)
{
	struct op *op = l.op;

	l.op = NULL;
	if (op != NULL)
		op_unref(op);
}

/* op asked for what l says: begins, after what is left of the last one. */
static void
begin(struct op *op)
{
	if (l.op != NULL && l.owed)
		op_fail(l.op, "refused", "it was started anew meanwhile");
	drop_op();
	/* it is about what was begun before */
	loop_timer_unset(&l.timer);
	dbg.profile = l.choice.profile;
	dbg.attached = l.attach;
	state_begin(&dbg);
	engine_resuming();
	dbg.out_from = dbg.out_to = 0;
	l.launched = l.configured = l.loaded = false;
	l.op = op_ref(op);
	l.owed = !l.wait || l.attach;
	if (!l.owed)
		wait_add(op, dbg.epoch, l.limit_ms);
	engine_tell();
	if (l.tree) {
		l.go = true;
		/* its last events are not the new program's */
		adapter_shut();
		link_kill();
	} else
		run_adapter();
}

void
launch_go(void)
{
	bps_forget();
	run_adapter();
}

bool
launch_tree_gone(void)
{
	const bool go = l.go;

	l.tree = l.go = false;
	loop_timer_unset(&l.timer);
	return go;
}

/* Also long after the start: an adapter that dies is a state to start from. */
void
launch_failed(const char *code, const char *why)
{
	loop_timer_unset(&l.timer);
	bps_preset_drop();
	if (dbg.phase == PHASE_INITIALIZING || dbg.phase == PHASE_CONFIGURING ||
	    dbg.phase == PHASE_RUNNING || dbg.phase == PHASE_STOPPED) {
		dbg.ending.never = dbg.phase == PHASE_INITIALIZING ||
		    dbg.phase == PHASE_CONFIGURING;
		dbg.ending.lives = dbg.attached;
		(void)snprintf(dbg.ending.words, sizeof(dbg.ending.words),
		    "%s", why);
		state_over(&dbg, PHASE_TERMINATED);
		engine_change(CHANGE_ENDED);
	}
	if (l.op != NULL) {
		/* who is answered must not be shown an older state then */
		engine_tell_link();
		op_fail(l.op, code, "%s", why);
	}
	drop_op();
	if (l.tree)
		link_kill();
}

/* -- the conversation -- */
/* Both answers have come, whichever was first: it was really started. */
static void
both_answered(void)
{
	if (!l.launched || !l.configured || l.op == NULL)
		return;
	if (l.owed)
		op_reply(l.op, summary_make(l.op));
	drop_op();
}

void
launch_over(void)
{
	if (l.op != NULL && l.owed && dbg.phase == PHASE_IDLE)
		op_fail(l.op, "refused", "it was detached before the adapter "
		    "had said that it is started");
	else if (l.op != NULL && l.owed && l.attach && dbg.ending.never)
		op_fail(l.op, "adapter_failed", "%s ended before it had "
		    "attached to the process", dbg.profile->name);
	else if (l.op != NULL && l.owed)
		op_reply(l.op, summary_make(l.op));
	drop_op();
}

/* Tracing a process that is not a child needs Yama's leave. */
static const char *
yama(void)
{
	static const char file[] = "/proc/sys/kernel/yama/ptrace_scope";
	char c = '0';
	int fd = l.attach ? open(file, O_RDONLY | O_CLOEXEC) : -1;

	if (fd != -1) {
		if (read(fd, &c, 1) != 1)
			c = '0';
		close(fd);
	}
	return c == '0' ? "" : "; this host forbids tracing processes that are "
	    "not one's children (kernel.yama.ptrace_scope)";
}

static bool
is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	    memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* Adapters do not say that a program is of another machine. */
static void
not_for_here(char *words, size_t room)
{
	int fd = l.attach || dbg_said.image ? -1 :
	    open(dbg.program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char why[160];

	words[0] = '\0';
	if (fd == -1)
		return;
	if (is_elf(fd) && elf_check_fd(fd, ELF_32BIT_GOOD, why,
	    sizeof(why)) == -1)
		(void)snprintf(words, room, " (%s)", why);
	close(fd);
}

/* That it is late is another kind of failure than its own words. */
static const char *
code_of(const struct dap_answer *a)
{
	return strcmp(a->code, "timeout") == 0 ? "timeout" : "adapter_failed";
}

static void
on_launched(struct op *op, const struct dap_answer *a, void *arg)
{
	char words[sizeof(dbg.program) + 1536], why[200];

	(void)op;
	(void)arg;
	/* it runs; some never answer this */
	if (a->ok || (strcmp(a->code, "timeout") == 0 && l.configured)) {
		l.launched = true;
		both_answered();
	} else if (strcmp(a->code, "adapter_exited") != 0) {
		not_for_here(why, sizeof(why));
		(void)snprintf(words, sizeof(words), "%s could not %s %s%s: "
		    "%s%s", dbg.profile->name, l.attach ? "attach to" :
		    "start", dbg.program[0] != '\0' ? dbg.program :
		    "the process", why, a->message, yama());
		launch_failed(code_of(a), words);
	}
}

static void
on_unconfigured(void *arg)
{
	(void)arg;
	launch_failed(unconfigured_code, unconfigured);
}

static void
on_configured(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)op;
	(void)arg;
	if (!a->ok) {
		/* the answer to launch says more, if there is one */
		(void)snprintf(unconfigured, sizeof(unconfigured), "%s",
		    a->message);
		unconfigured_code = code_of(a);
		if (strcmp(a->code, "adapter_exited") != 0)
			loop_timer_set(&l.timer, MORE_WORDS_MS,
			    on_unconfigured, NULL);
		return;
	}
	l.configured = true;
	engine_change(state_settled(&dbg));
	both_answered();
}

/*
 * Finds the file that the process executes, which may be another one than the
 * program that was named.
 */
static void
find_file(char *file, size_t size)
{
	pid_t pid = l.beside ? link_pid(l.pid) : l.pid;
	char path[32];
	ssize_t n;

	*file = '\0';
	if (!l.attach || pid == 0 || strncmp(dbg.program, "/proc/", 6) == 0)
		return;
	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, file, size - 1);
	file[n == -1 ? 0 : n] = '\0';
}

static void
send_launch(void)
{
	char file[PATH_MAX];
	const struct launch_facts facts = {
		.program = dbg.program,
		.cwd = dbg.cwd,
		.adapter_path = l.choice.path,
		.args = l.args,
		.env = l.env,
		.stop_on_entry = l.entry == ENTRY_YES,
		.pid = l.pid,
		.file = file,
		.adapter_pid = l.adapter_pid,
	};
	const struct profile *p = dbg.profile;

	find_file(file, sizeof(file));
	adapter_ask(l.attach ? "attach" : "launch", profile_arguments(
	    l.attach ? p->attach : p->launch, &facts), NULL, on_launched, NULL);
}

/* Without the program, what it says of breakpoints before has no meaning. */
static bool
launches_last(void)
{
	return (dbg.profile->quirks & Q_LAUNCH_LAST) != 0;
}

static void
configuration_done(struct op *op, const char *why)
{
	const struct dap_answer good = { .ok = true };
	char words[4096 + 256];
	const char *bad;

	(void)op;
	(void)why;
	if (dbg.phase != PHASE_CONFIGURING)
		return;		/* it has failed meanwhile */
	if ((!launches_last() || l.loaded) &&
	    (bad = bps_preset_bad()) != NULL) {
		(void)snprintf(words, sizeof(words), "%s; nothing was "
		    "started (commands go to the session before, if there "
		    "is one): correct the place, or start without it and "
		    "give it to `debugger break` once the program has "
		    "stopped", bad);
		launch_failed("not_verified", words);
		return;
	}
	state_configured(&dbg, l.entry == ENTRY_YES);
	exec_watch(l.op);
	engine_tell();
	if (launches_last())
		send_launch();
	if (adapter_takes("configurationDone"))
		adapter_ask("configurationDone", NULL, NULL, on_configured,
		    NULL);
	else
		on_configured(NULL, &good, NULL);
}

/* gdb says that such a program ended with code 0. */
static bool
fails_here(void)
{
	char words[sizeof(dbg.program) + 512], why[200];

	not_for_here(why, sizeof(why));
	if (why[0] == '\0')
		return false;
	(void)snprintf(words, sizeof(words), "%s could not start %s%s",
	    dbg.profile->name, dbg.program, why);
	launch_failed("adapter_failed", words);
	return true;
}

static void
on_loaded(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)op;
	(void)arg;
	if (dbg.phase != PHASE_CONFIGURING)
		return;
	l.loaded = a->ok;
	bps_configure(l.op, configuration_done);
}

/* With its program, the adapter can say whether there is such a place. */
static void
load_program(void)
{
	char expression[2 * sizeof(dbg.program) + 8] = "file ";
	struct json_object *args;
	size_t n = strlen(expression);
	const char *p;

	for (p = dbg.program; *p != '\0'; p++) {
		if (strchr(" \t\n\r\f\v\\'\"", *p) != NULL)
			expression[n++] = '\\';
		expression[n++] = *p;
	}
	expression[n] = '\0';
	args = jone_str("expression", expression);
	jput_str(args, "context", "repl");
	adapter_ask("evaluate", args, NULL, on_loaded, NULL);
}

/* Before the reply to launch, or after it, and with some again later. */
void
launch_initialized(void)
{
	if (dbg.phase != PHASE_INITIALIZING)
		return;
	loop_timer_unset(&l.timer);
	dbg.phase = PHASE_CONFIGURING;
	dbg.epoch++;
	engine_tell();
	if (launches_last() && !l.attach && dbg.program[0] != '\0') {
		if (fails_here())
			return;
		/* a line break would end gdb's command */
		if (strchr(dbg.program, '\n') == NULL)
			load_program();
		else
			bps_configure(l.op, configuration_done);
	} else
		bps_configure(l.op, configuration_done);
}

/* From launch on: that may take its time, and the event comes after it. */
static uint64_t
initialized_ms(void)
{
	return 2 * adapter_limit_ms();
}

static void
on_no_initialized(void *arg)
{
	char words[160];

	(void)arg;
	(void)snprintf(words, sizeof(words), "%s took the program but did not "
	    "become ready for breakpoints within %llu s", dbg.profile->name,
	    (unsigned long long)(initialized_ms() / 1000));
	launch_failed("timeout", words);
}

static void
on_initialize(struct op *op, const struct dap_answer *a, void *arg)
{
	const struct profile *p = dbg.profile;
	char words[1280];

	(void)op;
	(void)arg;
	if (!a->ok) {
		(void)snprintf(words, sizeof(words), "%s cannot be talked to: "
		    "%s", p->name, a->message);
		if (strcmp(a->code, "adapter_exited") != 0)
			launch_failed(code_of(a), words);
		return;
	}
	loop_timer_set(&l.timer, initialized_ms(), on_no_initialized, NULL);
	if (!launches_last())
		send_launch();
}

static struct json_object *
initialize_arguments(void)
{
	static const char *const can[] = { "linesStartAt1", "columnsStartAt1",
	    "supportsVariableType", "supportsVariablePaging",
	    "supportsMemoryReferences", "supportsInvalidatedEvent",
	    "supportsANSIStyling" };
	struct json_object *args = jobject();
	size_t i;

	jput(args, "clientID", jtext("debuglantern"));
	jput(args, "clientName", jtext("debuglantern"));
	jput(args, "adapterID", jtext(dbg.profile->adapter_id));
	jput(args, "pathFormat", jtext("path"));
	/* all but the last: nobody wants colours in values */
	for (i = 0; i + 1 < sizeof(can) / sizeof(can[0]); i++)
		jput(args, can[i], jbool(true));
	jput(args, "supportsRunInTerminalRequest", jbool(false));
	return args;
}

void
launch_ran(pid_t inner, pid_t target, const char *image,
    const int adapter_fds[DBG_FD_COUNT])
{
	l.tree = true;
	/* the session may have begun another one since we were told */
	if (launch_is_beside())
		l.pid = target;
	l.let_go = l.let_go && l.attach;
	adapter_open(adapter_fds[DBG_FD_IN], adapter_fds[DBG_FD_OUT],
	    adapter_fds[DBG_FD_ERR]);
	/* another one is to take its place, and takes its answers */
	if (l.go)
		adapter_shut();
	if (dbg.phase != PHASE_INITIALIZING || l.go) {
		link_kill();	/* it was given up while it was started */
		return;
	}
	if (dbg_said.image && !l.attach && *image != '\0')
		(void)snprintf(dbg.program, sizeof(dbg.program), "%s", image);
	/* an image without a path is where the adapter has it open */
	else if (dbg_said.image && !l.attach)
		(void)snprintf(dbg.program, sizeof(dbg.program),
		    "/proc/%d/fd/6", (int)inner);
	else if (dbg_said.image && dbg.program[0] == '\0')
		(void)snprintf(dbg.program, sizeof(dbg.program),
		    "/proc/%d/exe", (int)l.pid);
	l.adapter_pid = inner;
	adapter_ask("initialize", initialize_arguments(), NULL, on_initialize,
	    NULL);
}

/* -- commands -- */
static void
on_main_noted(struct op *op, const char *why)
{
	(void)op;
	(void)why;
}

/* Nothing else would stop it: then it stops where it begins. */
static void
begin_stopping(struct op *op)
{
	const bool to_main = l.entry == ENTRY_DEFAULT && !bps_any();
	const char *first = l.choice.profile->main;

	if (to_main && first == NULL)
		l.entry = ENTRY_YES;
	begin(op);
	/* noted only: what runs until then is not asked for it */
	if (to_main && first != NULL)
		bps_until(op, NULL, 0, first, on_main_noted);
}

void
launch_start(struct op *op)
{
	if (read_start(op))
		begin_stopping(op);
}

/* *number stays as it is for the session's own program. */
static bool
read_pid(struct op *op, pid_t *number, bool *beside)
{
	char why[400];
	int64_t pid = 0;
	struct json_object *v;
	const bool named = json_object_object_get_ex(op->args, "pid", &v);

	/* the session's own program, which the link knows */
	*beside = dbg_said.inst.target_pid != 0 || (l.known && !named);
	if (*beside)
		return true;
	if (!named) {
		op_fail(op, "not_running", "no program runs in this session "
		    "that could be attached to: `debugger start --image` runs "
		    "what was uploaded, and a process is meant by its number");
		return false;
	}
	if (!op_int(op, "pid", true, &pid))
		return false;
	if (pid <= 0 || pid > INT_MAX) {
		op_fail(op, "invalid_argument", "pid is %lld: it must be the "
		    "number of a process", (long long)pid);
		return false;
	}
	if (!dbg_said.inst.user_mode) {
		op_fail(op, "refused", "the system's daemon attaches to its "
		    "own sessions only: use your own daemon (`debugger attach "
		    "%lld` without --system)", (long long)pid);
		return false;
	}
	if (attach_refusal((pid_t)pid, why, sizeof(why))) {
		op_fail(op, "refused", "%s", why);
		return false;
	}
	*number = (pid_t)pid;
	return true;
}

/* Sets the program: as the client gave it, or as it was started here. */
static void
set_program(const char *given)
{
	if (given != NULL)
		(void)snprintf(dbg.program, sizeof(dbg.program), "%s", given);
	else if (!l.let_go || dbg_said.image)
		dbg.program[0] = '\0';
}

void
launch_attach(struct op *op)
{
	const char *name = NULL, *program = NULL, *cwd = "/";
	struct options options;
	struct choice choice;
	pid_t pid = l.pid;
	bool beside;
	char exe[64];

	if (!read_pid(op, &pid, &beside) ||
	    !op_string(op, "adapter", false, &name) ||
	    !op_string(op, "program", false, &program) ||
	    !op_string(op, "cwd", false, &cwd) || !read_options(op, &options))
		return;
	(void)snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	if (!choose_to_attach(op, name, program != NULL ? program :
	    beside ? NULL : exe, client_path(NULL), &choice))
		return;
	if (beside && !suits_image(op, choice.profile)) {
		choice_free(&choice);
		return;
	}
	if (choice.profile->inject != NULL && !beside && attach_nested(pid)) {
		op_fail(op, "refused", "process %d is in a pid namespace of "
		    "its own, where %s does not find it: attach to a session "
		    "by its id, `debugger attach SESSION`", (int)pid,
		    choice.profile->name);
		choice_free(&choice);
		return;
	}
	use_options(&options);
	l.pid = pid;
	l.beside = beside;
	set_program(program);
	(void)snprintf(dbg.cwd, sizeof(dbg.cwd), "%s", *cwd == '/' ? cwd : "/");
	procwatch_begin(l.beside ? 0 : l.pid);
	choice_free(&l.choice);
	l.choice = choice;
	keep(&l.args, NULL);
	keep(&l.env, NULL);
	l.attach = l.known = true;
	begin(op);
}

void
launch_restart(struct op *op)
{
	const enum entry before = l.entry;
	struct options options;
	struct json_object *v;

	if (!launch_again_possible()) {
		op_fail(op, l.known ? "refused" : "no_session", l.known ?
		    "this process was attached to, not started: there is "
		    "nothing to start again" : "nothing was started yet");
		return;
	}
	if (!read_options(op, &options))
		return;
	use_options(&options);
	if (!json_object_object_get_ex(op->args, "stop_on_entry", &v))
		l.entry = before;
	begin_stopping(op);
}
