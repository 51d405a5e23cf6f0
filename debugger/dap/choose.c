/* SPDX-License-Identifier: ISC */
/* The adapter for a program: the configured one, or what this host has. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "choose.h"
#include "confine/xstate.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "injector.h"

#define BRIDGE	"dapdial"

static char bridge[PATH_MAX];

static bool
find_bridge(const char *below)
{
	char self[PATH_MAX / 2];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return false;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	(void)snprintf(bridge, sizeof(bridge), "%s/%s" BRIDGE, self, below);
	return access(bridge, X_OK) == 0;
}

void
choose_init(void)
{
	/* beside this program, or in the tree that tests were built in */
	if (!find_bridge("") &&
	    !find_bridge("../../libexec/debuglantern/") &&
	    !find_bridge("../libexec/debuglantern/"))
		bridge[0] = '\0';
}

void
choice_free(struct choice *c)
{
	size_t i;

	for (i = 0; i < CHOICE_ARGS; i++)
		free(c->argv[i]);
	memset(c, 0, sizeof(*c));
}

static void
add(struct choice *c, const char *word, size_t len)
{
	size_t i;

	for (i = 0; i < CHOICE_ARGS - 1 && c->argv[i] != NULL; i++)
		;
	if (i < CHOICE_ARGS - 1 &&
	    (c->argv[i] = strndup(word, len)) == NULL)
		fatal("adapter");
}

/* "lldb-dap-19", "/usr/bin/lldb-dap-19": the profile of lldb-dap. */
static const struct profile *
profile_of_binary(const char *file, size_t len)
{
	const struct profile *p;
	const char *base = memrchr(file, '/', len);
	size_t n;

	base = base == NULL ? file : base + 1;
	len -= (size_t)(base - file);
	for (p = profiles; p->name != NULL; p++) {
		n = strlen(p->binary);
		if (len >= n && memcmp(base, p->binary, n) == 0 &&
		    strspn(base + n, "-.0123456789") >= len - n)
			return p;
	}
	return NULL;
}

static void
own_args(struct choice *c)
{
	const char *const *a;

	for (a = c->profile->args; *a != NULL; a++)
		add(c, *a, strlen(*a));
}

/* "lldb-dap, delve, debugpy": all kinds, or all kinds' binaries. */
static const char *
all_known(bool binaries)
{
	static char list[256];
	const struct profile *p;
	size_t n = 0;

	for (p = profiles; p->name != NULL && n < sizeof(list); p++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s",
		    p == profiles ? "" : ", ", binaries ? p->binary : p->name);
	return list;
}

/* The command of the configuration: its words are all there is. */
static bool
configured(struct op *op, const struct dbg_adapter *a, struct choice *c)
{
	const char *s = a->command;
	size_t len;

	c->profile = profile_find(a->name);
	c->name = a->name;
	for (; *(s += strspn(s, " \t")) != '\0'; s += len) {
		len = strcspn(s, " \t");
		add(c, s, len);
		if (c->profile == NULL && strchr("=-", *s) == NULL)
			c->profile = profile_of_binary(s, len);
		if (c->path[0] == '\0' && profile_of_binary(s, len) != NULL)
			(void)snprintf(c->path, sizeof(c->path), "%.*s",
			    (int)len, s);
	}
	if (c->profile != NULL && c->argv[0] != NULL) {
		/* a bare binary gets what makes an adapter of it */
		if (c->argv[1] == NULL)
			own_args(c);
		return true;
	}
	op_fail(op, "adapter_missing", "the configuration's command of adapter "
	    "%s, \"%s\", names no adapter that is known: one word of it must "
	    "be one of %s", a->name, a->command, all_known(true));
	return false;
}

static bool
located(const struct profile *p, const char *path, struct choice *c)
{
	struct adapter_found found;

	if (!profile_locate(p, path, dbg_said.inst.home, &found))
		return false;
	c->profile = p;
	(void)snprintf(c->path, sizeof(c->path), "%s", found.path);
	add(c, c->path, strlen(c->path));
	own_args(c);
	return true;
}

static const struct dbg_adapter *
configured_for(const char *name)
{
	size_t i;

	for (i = 0; i < dbg_said.nadapters; i++)
		if (strcmp(dbg_said.adapters[i].name, name) == 0)
			return &dbg_said.adapters[i];
	return NULL;
}

/* A binary's name or path instead of a kind's. */
static bool
by_binary(const char *name, const char *path, struct choice *c)
{
	const struct profile *p = profile_of_binary(name, strlen(name));
	struct profile exact;

	if (p == NULL)
		return false;
	if (strchr(name, '/') != NULL) {
		if (access(name, X_OK) == -1)
			return false;
		c->profile = p;
		(void)snprintf(c->path, sizeof(c->path), "%s", name);
		add(c, name, strlen(name));
		own_args(c);
		return true;
	}
	exact = *p;
	exact.binary = name;
	if (!located(&exact, path, c))
		return false;
	c->profile = p;
	return true;
}

static bool
by_name(struct op *op, const char *name, const char *path, struct choice *c)
{
	const struct dbg_adapter *conf = configured_for(name);
	const struct profile *p = profile_find(name);

	if (conf != NULL)
		return configured(op, conf, c);
	if (p != NULL ? located(p, path, c) : by_binary(name, path, c))
		return true;
	if (p != NULL)
		op_fail(op, "adapter_missing", "adapter %s is not there; to "
		    "have it: %s", p->name, p->install);
	else
		op_fail(op, "adapter_missing", "adapter %s is not there; known "
		    "are %s, binaries of theirs and what the configuration "
		    "names", name, all_known(false));
	return false;
}

static bool
by_language(struct op *op, enum language lang, const char *path,
    struct choice *c)
{
	static const char *const called[] = { "native programs",
	    "Go programs", "Python programs" };
	const struct profile *p;
	const struct dbg_adapter *conf;
	size_t n;

	for (n = 0; (p = profile_for(lang, n)) != NULL; n++) {
		if ((conf = configured_for(p->name)) != NULL)
			return configured(op, conf, c);
		if (located(p, path, c))
			return true;
	}
	p = profile_for(lang, 0);
	op_fail(op, "adapter_missing", "no debug adapter for %s is "
	    "installed; install one: %s (`debugger setup` looks for all)",
	    called[lang], p->install);
	return false;
}

/* Some speak on a socket that they dial: somebody has to listen. */
static bool
add_bridge(struct op *op, struct choice *c)
{
	size_t i;

	if ((c->profile->quirks & Q_DIALS) == 0)
		return true;
	if (bridge[0] == '\0') {
		op_fail(op, "adapter_missing", "the program %s, which %s "
		    "needs, is not installed", BRIDGE, c->profile->name);
		return false;
	}
	free(c->argv[CHOICE_ARGS - 2]);
	for (i = CHOICE_ARGS - 2; i > 0; i--)
		c->argv[i] = c->argv[i - 1];
	if ((c->argv[0] = strdup(bridge)) == NULL)
		fatal("adapter");
	return true;
}

bool
choose_adapter(struct op *op, const char *name, const char *program,
    const char *path, struct choice *c)
{
	enum language lang = LANG_NATIVE;
	const char *why;
	bool good;

	memset(c, 0, sizeof(*c));
	if (name == NULL && program != NULL &&
	    profile_language(program, &lang, &why) == -1) {
		op_fail(op, "invalid_argument", "cannot debug %s: %s", program,
		    why != NULL ? why : strerror(errno));
		return false;
	}
	good = name != NULL ? by_name(op, name, path, c) :
	    by_language(op, lang, path, c);
	good = good && add_bridge(op, c);
	if (good && c->name == NULL)
		c->name = c->profile->name;
	if (!good)
		choice_free(c);
	return good;
}

/* A configured command of more than a binary attaches in its own way. */
static bool
has_own_args(const struct choice *c)
{
	size_t i;

	for (i = 0; c->profile->args[i] != NULL; i++)
		if (c->argv[i + 1] == NULL ||
		    strcmp(c->argv[i + 1], c->profile->args[i]) != 0)
			return false;
	return c->argv[i + 1] == NULL;
}

bool
choose_to_attach(struct op *op, const char *name, const char *program,
    const char *path, struct choice *c)
{
	struct adapter_found injector;
	const char *why;

	if (!choose_adapter(op, name, program, path, c))
		return false;
	if (c->profile->inject == NULL || !has_own_args(c))
		return true;
	if (!injector_find(path, xstate_size(), &injector, &why)) {
		op_fail(op, "adapter_missing", "attaching to a Python program "
		    "%s", why);
		choice_free(c);
		return false;
	}
	add(c, c->profile->inject, strlen(c->profile->inject));
	add(c, injector.path, strlen(injector.path));
	return true;
}
