/* SPDX-License-Identifier: ISC */
/*
 * NEW.  A command is a name that its owner's sandbox gives a meaning to when
 * it starts: nothing is opened or looked for here.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "command.h"
#include "expiry.h"
#include "spawner/client/activity.h"
#include "spawner/image/upload.h"
#include "spawner/link/peers.h"
#include "spawner/policy/quota.h"
#include "spawner/session/push.h"
#include "tty.h"
#include "vars.h"
#include "wire/handlers.h"
#include "wire/role.h"

#define FLAGS_ALL	(NEW_TTY | NEW_EPHEMERAL)
#define KEY_MAX		256

/* A request whose owner's account is being looked up. */
struct pending {
	LIST_ENTRY(pending) next;
	struct asker	 asker;
	uint64_t	 serial;
	uint32_t	 flags, cols, rows;
	char		 label[LABEL_MAX + 1];
	char		 cwd[EXEC_PATH_MAX];
	char		*argv, *env;	/* NUL-terminated strings, malloc'ed */
	size_t		 argv_len, env_len;
};

static LIST_HEAD(, pending) pending = LIST_HEAD_INITIALIZER(pending);

static void
pending_free(struct pending *p)
{
	LIST_REMOVE(p, next);
	free(p->argv);
	free(p->env);
	free(p);
}

/* -1 without memory, which is no error when there is nothing to copy. */
static int
copy(char **to, size_t *to_len, const char *from, size_t len)
{
	*to = len == 0 ? NULL : malloc(len);
	*to_len = len;
	if (*to != NULL)
		memcpy(*to, from, len);
	return *to == NULL && len > 0 ? -1 : 0;
}

void
command_show(struct session *s)
{
	size_t len = strlen(s->program) + 1;
	char *cmd = malloc(len + s->argv_len);

	if (cmd == NULL)
		return;
	memcpy(cmd, s->program, len);
	if (s->argv_len > 0)
		memcpy(cmd + len, s->argv, s->argv_len);
	free(s->cmd);
	s->cmd = cmd;
	s->view.cmd = cmd;
	s->view.cmd_len = len + s->argv_len;
	/* they are told once: a message has room for one of the two */
	s->view.args_len = 0;
}

int
command_set(struct session *s, const char *argv, size_t len)
{
	size_t name = strlen(argv) + 1, args_len;
	char *program = strdup(argv), *args;

	if (program == NULL ||
	    copy(&args, &args_len, argv + name, len - name) == -1) {
		free(program);
		return -1;
	}
	free(s->program);
	free(s->argv);
	s->program = program;
	s->argv = args;
	s->argv_len = args_len;
	command_show(s);
	return 0;
}

/* Users who may not log in have such a shell, and may start programs anyway. */
static bool
lets_nobody_in(const char *shell)
{
	const char *name = strrchr(shell, '/');

	return name == NULL || strcmp(name, "/nologin") == 0 ||
	    strcmp(name, "/false") == 0;
}

const char *
command_shell(const struct account *acc)
{
	return acc->shell[0] != '/' || lets_nobody_in(acc->shell) ?
	    "/bin/sh" : acc->shell;
}

static const char *
default_shell(const struct account *acc)
{
	return settings.pty_default_shell[0] != '\0' ?
	    settings.pty_default_shell : command_shell(acc);
}

/* Program and arguments of s; -1 without memory. */
static int
take_argv(struct session *s, const struct pending *p,
    const struct account *acc)
{
	const char *name = p->argv_len > 0 ? p->argv : default_shell(acc);
	size_t skip = p->argv_len > 0 ? strlen(name) + 1 : 0;

	s->program = strdup(name);
	if (s->program == NULL || (skip > 0 && copy(&s->argv, &s->argv_len,
	    p->argv + skip, p->argv_len - skip) == -1))
		return -1;
	command_show(s);
	return s->cmd == NULL ? -1 : 0;
}

static enum err
take_env(struct session *s, const struct pending *p, char *why, size_t size)
{
	const char *var = p->env_len == 0 ? "" : p->env;
	const char *end = var + p->env_len, *eq;
	enum err err = ERR_OK;
	char key[KEY_MAX + 1];

	for (; err == ERR_OK && var < end; var += strlen(var) + 1) {
		eq = strchr(var, '=');
		if (eq == NULL || eq - var > KEY_MAX) {
			why[0] = '\0';
			return ERR_INVALID_ENV;
		}
		memcpy(key, var, (size_t)(eq - var));
		key[eq - var] = '\0';
		err = vars_put(s, key, eq + 1, why, size);
	}
	return err;
}

static enum err
fill(struct session *s, const struct pending *p, const struct account *acc,
    char *why, size_t size)
{
	enum err err;

	why[0] = '\0';
	s->view.command = true;
	s->view.tty = s->on_tty = (p->flags & NEW_TTY) != 0;
	s->view.ephemeral = (p->flags & NEW_EPHEMERAL) != 0;
	s->by_rule = (p->asker.flags & PRINCIPAL_BY_RULE) != 0;
	if (s->on_tty) {
		s->view.cols = tty_clamp(p->cols, TTY_COLS);
		s->view.rows = tty_clamp(p->rows, TTY_ROWS);
	}
	memcpy(s->cwd, p->cwd, sizeof(s->cwd));
	if (take_argv(s, p, acc) == -1)
		return ERR_INTERNAL;
	err = take_env(s, p, why, size);
	return err != ERR_OK || p->label[0] == '\0' ? err :
	    vars_label(s, p->label, why, size);
}

/* Everything that speaks against it has been looked at but the quotas. */
static void
begin(struct pending *p, const struct account *acc)
{
	struct asker *a = &p->asker;
	struct session *s;
	char why[200];
	enum err err;

	if (upload_is_full(a, 0))
		return;
	s = session_new(a->owner);
	if (s == NULL) {
		answer(a, NULL, ERR_INTERNAL, "out of memory");
		return;
	}
	err = fill(s, p, acc, why, sizeof(why));
	if (err != ERR_OK) {
		answer(a, NULL, err, "%s", why);
		session_free(s);
		return;
	}
	session_set_state(s, STATE_LOADED);
	expiry_begin(s);
	push_session(s);
	/* for the logs: netproc has no use for it */
	answer(a, &s->id, ERR_OK, "command %.200s", s->program);
}

static void
on_account(const struct account *acc, uint64_t serial)
{
	struct pending *p;

	/* by number: its connection may have gone meanwhile */
	LIST_FOREACH(p, &pending, next)
		if (p->serial == serial)
			break;
	if (p == NULL)
		return;
	if (acc == NULL)
		answer(&p->asker, NULL, ERR_TRY_AGAIN, "%s",
		    account_fault(p->asker.owner, "your account could not be "
		    "read, so your shell and quota are not known"));
	else
		begin(p, acc);
	pending_free(p);
}

static bool
asks_already(uint32_t conn)
{
	struct pending *p;

	LIST_FOREACH(p, &pending, next)
		if (p->asker.conn == conn)
			return true;
	return false;
}

/* True when it is answered: what has nothing to do with quotas. */
static bool
refused(struct asker *a, size_t argv_len, size_t env_len, const char *cwd)
{
	if (a->flags & PRINCIPAL_READ_ONLY)
		answer(a, NULL, ERR_READ_ONLY, NULL);
	else if (shutting_down)
		answer(a, NULL, ERR_TRY_AGAIN, "the daemon is being stopped");
	else if (asks_already(a->conn))
		answer(a, NULL, ERR_BUSY, NULL);
	else if (argv_len > ARGS_MAX_BYTES)
		answer(a, NULL, ERR_INVALID_ARGS, "the command and its "
		    "arguments are longer than %d bytes", ARGS_MAX_BYTES);
	else if (env_len > ENV_MAX_BYTES)
		answer(a, NULL, ERR_INVALID_ENV, "the variables of a session "
		    "are at most %d bytes together", ENV_MAX_BYTES);
	else if (cwd[0] != '\0' && cwd[0] != '/')
		answer(a, NULL, ERR_INVALID_ARGUMENT, "the working directory "
		    "must be an absolute path");
	else if (!vars_have_room(a->owner, argv_len + env_len))
		answer(a, NULL, ERR_INVALID_ARGS, "arguments and variables of "
		    "your sessions take too many bytes; delete one first");
	else
		return false;
	return true;
}

static void
begin_later(struct asker *a, const struct pending *asked, const char *argv,
    const char *env)
{
	struct pending *p = malloc(sizeof(*p));

	if (p == NULL) {
		answer(a, NULL, ERR_INTERNAL, "out of memory");
		return;
	}
	*p = *asked;
	p->asker = *a;
	p->serial = next_serial();
	LIST_INSERT_HEAD(&pending, p, next);
	if (copy(&p->argv, &p->argv_len, argv, asked->argv_len) == -1 ||
	    copy(&p->env, &p->env_len, env, asked->env_len) == -1) {
		answer(a, NULL, ERR_INTERNAL, "out of memory");
		pending_free(p);
	} else if (account_want(a->owner, on_account, p->serial) == -1) {
		answer(a, NULL, ERR_TRY_AGAIN, NULL);
		pending_free(p);
	}
}

int
spawn_on_new(struct msg *m)
{
	struct pending p = { .flags = msg_get_u32(m) };
	const char *argv, *env;
	struct asker a;

	p.cols = msg_get_u32(m);
	p.rows = msg_get_u32(m);
	msg_get_str(m, p.label, sizeof(p.label));
	msg_get_str(m, p.cwd, sizeof(p.cwd));
	argv = msg_get_strings(m, &p.argv_len);
	env = msg_get_strings(m, &p.env_len);
	if (msg_end(m) == -1 || p.flags & ~(uint32_t)FLAGS_ALL ||
	    !asker_init(&a, m, "NEW"))
		return -1;
	/* what a program is called cannot be nothing */
	if (p.argv_len > 0 && (argv[0] == '\0' ||
	    strlen(argv) >= EXEC_PATH_MAX))
		answer(&a, NULL, ERR_INVALID_ARGS, "a command has 1 to %d "
		    "bytes", EXEC_PATH_MAX - 1);
	else if (!refused(&a, p.argv_len, p.env_len, p.cwd))
		begin_later(&a, &p, argv, env);
	return 0;
}

/* conn 0 = of all connections */
static void
drop(uint32_t conn)
{
	struct pending *p, *next;

	for (p = LIST_FIRST(&pending); p != NULL; p = next) {
		next = LIST_NEXT(p, next);
		if (conn == 0 || p->asker.conn == conn)
			pending_free(p);
	}
}

void
command_drop_conn(uint32_t conn)
{
	drop(conn);
}

void
command_drop_all(void)
{
	drop(0);
}
