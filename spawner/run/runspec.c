/* SPDX-License-Identifier: ISC */
/* The order to run a program: rights, limits, arguments, environment. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "runspec.h"
#include "vars.h"
#include "wire/role.h"

/* The longest default variable is HOME or SHELL. */
#define DEFAULTS_MAX	2048

/* Strings one after the other, each with its NUL. */
struct strings {
	char	*buf;
	size_t	 len, size;
};

static void
add_bytes(struct strings *b, const char *p, size_t len)
{
	/* the sizes of what goes in are checked when it is saved */
	if (len == 0 || len > b->size - b->len)
		return;
	memcpy(b->buf + b->len, p, len);
	b->len += len;
}

static void
add_default(struct strings *b, const struct session *s, const char *key,
    const char *value)
{
	char text[320];
	int n;

	if (vars_has(s, key))
		return;
	n = snprintf(text, sizeof(text), "%s=%s", key, value);
	if (n > 0 && (size_t)n < sizeof(text))
		add_bytes(b, text, (size_t)n + 1);
}

static void
fill_env(struct run_spec *spec, const struct session *s,
    const struct account *acc)
{
	static char buf[ENV_MAX_BYTES + DEFAULTS_MAX];
	struct strings b = { buf, 0, sizeof(buf) };
	const char *home = acc->home[0] == '/' ? acc->home : "/";

	add_default(&b, s, "PATH", "/usr/local/bin:/usr/bin:/bin");
	add_default(&b, s, "HOME", home);
	add_default(&b, s, "USER", s->owner->name);
	add_default(&b, s, "LOGNAME", s->owner->name);
	add_default(&b, s, "SHELL", command_shell(acc));
	add_default(&b, s, "LANG", "C.UTF-8");
	if (s->start.tty != NULL)
		add_default(&b, s, "TERM", "xterm-256color");
	add_default(&b, s, "DEBUGLANTERN_SESSION", s->text);
	add_bytes(&b, s->view.env, s->view.env_len);
	spec->envp = buf;
	spec->envp_len = b.len;
}

/* argv[0], as a shell would have it for what has a path. */
static const char *
program_name(const struct session *s)
{
	const char *slash;

	if (s->view.command)
		return s->program;
	if (s->view.bundle)
		return s->view.exec_path;
	if (s->file[0] != '\0') {
		slash = strrchr(s->file, '/');
		return slash == NULL ? s->file : slash + 1;
	}
	return s->view.name[0] != '\0' ? s->view.name : "image";
}

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * The copy counts for what the program may use of the memory: where that is
 * little, the memory is worth more than a file.
 */
bool
runspec_has_file(const struct session *s, enum sandbox sandbox)
{
	struct quota q;

	if (s->view.command || s->view.bundle || sandbox == SANDBOX_NONE)
		return false;
	quota_of(s->owner, &q);
	return !(settings.controllers & CONTROLLER_MEMORY) || s->view.size <=
	    least(settings.limit_memory, q.most[QUOTA_MEMORY]) / 2;
}

void
runspec_put_path(struct msg_out *o, const struct session *s)
{
	char path[sizeof(settings.state_dir) + sizeof(IMAGE_NAME) +
	    FILE_NAME_LEN + 3] = "";

	if (runspec_has_file(s, s->sandbox))
		(void)snprintf(path, sizeof(path), "%s/" IMAGE_NAME "/%.*s",
		    settings.state_dir, FILE_NAME_LEN, program_name(s));
	msg_put_str(o, path);
}

static void
fill_argv(struct run_spec *spec, const struct session *s)
{
	static char buf[ARGS_MAX_BYTES + EXEC_PATH_MAX];
	struct strings b = { buf, 0, sizeof(buf) };
	const char *name = program_name(s);

	add_bytes(&b, name, strlen(name) + 1);
	add_bytes(&b, s->argv, s->argv_len);
	spec->argv = buf;
	spec->argv_len = b.len;
}

void
runspec_most(const struct quota *q, uint64_t most[LIMIT_COUNT])
{
	most[LIMIT_CPU] = least(settings.limit_cpu, q->most[QUOTA_CPU]);
	most[LIMIT_AS] = settings.limit_as;
	most[LIMIT_NOFILE] = settings.limit_nofile;
	most[LIMIT_NPROC] = settings.limit_nproc;
	/* limit each process where the owner's cgroup cannot count the sum */
	if (!(settings.controllers & CONTROLLER_MEMORY))
		most[LIMIT_AS] = least(most[LIMIT_AS], q->most[QUOTA_MEMORY]);
	if (!(settings.controllers & CONTROLLER_PIDS))
		most[LIMIT_NPROC] = least(most[LIMIT_NPROC],
		    q->most[QUOTA_PROCESSES]);
	most[LIMIT_CORE] = settings.limit_core;
}

bool
runspec_is_root(void)
{
	return role_mode == MODE_USER && settings.daemon_uid == 0;
}

/* The kernel does not count processes of root; a cgroup does. */
static uint64_t
most_pids(uint64_t nproc)
{
	return runspec_is_root() ? least(settings.limit_pids, nproc) :
	    settings.limit_pids;
}

static void
fill_limits(struct run_spec *spec, const struct session *s)
{
	uint64_t most[LIMIT_COUNT];
	struct quota q;
	size_t i;

	quota_of(s->owner, &q);
	runspec_most(&q, most);
	/* the ceiling may have come down since the session's was set */
	for (i = 0; i < LIMIT_COUNT; i++)
		spec->limits[i] = least(s->limits[i], most[i]);
	spec->memory = settings.limit_memory;
	spec->pids = most_pids(spec->limits[LIMIT_NPROC]);
	spec->user_memory = q.most[QUOTA_MEMORY];
	spec->user_processes = q.most[QUOTA_PROCESSES];
}

void
runspec_put_limits(struct msg_out *o, const struct session *s)
{
	struct run_spec spec;
	size_t i;

	fill_limits(&spec, s);
	msg_put_u64(o, spec.user_processes);
	for (i = 0; i < LIMIT_COUNT; i++)
		msg_put_u64(o, spec.limits[i]);
}

/* The order's variables on top of the session's. */
static void
fill_env_of(struct run_spec *spec, const struct session *s,
    const struct adapter_order *a, const struct account *acc)
{
	static char env[2 * ENV_MAX_BYTES + DEFAULTS_MAX];
	struct strings b = { env, 0, sizeof(env) };

	fill_env(spec, s, acc);
	/* what comes later wins */
	add_bytes(&b, spec->envp, spec->envp_len);
	add_bytes(&b, a->envp, a->envp_len);
	spec->envp = env;
	spec->envp_len = b.len;
}

void
runspec_adapter(struct run_spec *spec, const struct session *s,
    const struct adapter_order *a, const struct account *acc)
{
	spec->argv = a->argv;
	spec->argv_len = a->argv_len;
	fill_env_of(spec, s, a, acc);
}

static void
fill_order(struct run_spec *spec, const struct session *s,
    const struct account *acc)
{
	const struct adapter_order *a = s->start.order;

	spec->adapter = !a->traced;
	spec->debug = a->traced;
	spec->watch_loader = false;
	if (a->cwd[0] != '\0')
		memcpy(spec->cwd, a->cwd, sizeof(spec->cwd));
	if (spec->adapter)
		runspec_adapter(spec, s, a, acc);
	else {
		fill_argv(spec, s);
		fill_env_of(spec, s, a, acc);
	}
}

void
runspec_fill(struct run_spec *spec, const struct session *s,
    const struct account *acc)
{
	memset(spec, 0, sizeof(*spec));
	spec->owner = acc->rights;
	spec->sandbox = s->start.sandbox;
	spec->network = s->start.network;
	spec->debug = (s->start.flags & START_DEBUG) != 0;
	spec->split = (s->start.flags & START_SPLIT) != 0;
	spec->bundle = s->view.bundle;
	spec->control = settings.control != 0;
	/* it costs as much as a start: once, until something changes */
	spec->watch_loader = !spec->debug && !s->view.command &&
	    (s->proven & 1U << s->start.sandbox) == 0;
	spec->command = s->view.command;
	spec->file = runspec_has_file(s, s->start.sandbox);
	if (!spec->command)
		(void)snprintf(spec->exec_path, sizeof(spec->exec_path), "%s",
		    !spec->bundle && s->file[0] != '\0' ? s->file :
		    program_name(s));
	spec->tty = s->start.tty != NULL;
	spec->cols = s->start.cols;
	spec->rows = s->start.rows;
	memcpy(spec->home, acc->home, sizeof(spec->home));
	memcpy(spec->cwd, s->cwd, sizeof(spec->cwd));
	fill_limits(spec, s);
	if (s->start.order != NULL) {
		fill_order(spec, s, acc);
		return;
	}
	fill_argv(spec, s);
	fill_env(spec, s, acc);
}
