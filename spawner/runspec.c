/* SPDX-License-Identifier: ISC */
/* The order to run a program: rights, limits, arguments, environment. */
#include <stdio.h>
#include <string.h>

#include "role.h"
#include "runspec.h"
#include "vars.h"

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
	const char *shell = acc->shell[0] == '/' ? acc->shell : "/bin/sh";

	add_default(&b, s, "PATH", "/usr/local/bin:/usr/bin:/bin");
	add_default(&b, s, "HOME", home);
	add_default(&b, s, "USER", s->owner->name);
	add_default(&b, s, "LOGNAME", s->owner->name);
	add_default(&b, s, "SHELL", shell);
	add_default(&b, s, "LANG", "C.UTF-8");
	add_default(&b, s, "DEBUGLANTERN_SESSION", s->text);
	add_bytes(&b, s->view.env, s->view.env_len);
	spec->envp = buf;
	spec->envp_len = b.len;
}

static void
fill_argv(struct run_spec *spec, const struct session *s)
{
	static char buf[ARGS_MAX_BYTES + EXEC_PATH_MAX];
	struct strings b = { buf, 0, sizeof(buf) };
	const char *name = s->view.name[0] != '\0' ? s->view.name : "image";

	if (s->view.bundle)
		name = s->view.exec_path;
	add_bytes(&b, name, strlen(name) + 1);
	add_bytes(&b, s->argv, s->argv_len);
	spec->argv = buf;
	spec->argv_len = b.len;
}

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void
runspec_most(const struct quota *q, uint64_t most[LIMIT_COUNT])
{
	most[LIMIT_CPU] = least(settings.limit_cpu, q->most[QUOTA_CPU]);
	most[LIMIT_AS] = least(settings.limit_as, q->most[QUOTA_MEMORY]);
	most[LIMIT_NOFILE] = settings.limit_nofile;
	most[LIMIT_NPROC] = least(settings.limit_nproc,
	    q->most[QUOTA_PROCESSES]);
	most[LIMIT_CORE] = settings.limit_core;
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
	spec->pids = settings.limit_pids;
	spec->user_memory = q.most[QUOTA_MEMORY];
	spec->user_processes = q.most[QUOTA_PROCESSES];
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
	spec->watch_loader = !spec->debug &&
	    (s->proven & 1U << s->start.sandbox) == 0;
	memcpy(spec->exec_path, s->view.exec_path, sizeof(spec->exec_path));
	memcpy(spec->home, acc->home, sizeof(spec->home));
	fill_limits(spec, s);
	fill_argv(spec, s);
	fill_env(spec, s, acc);
}
