/* SPDX-License-Identifier: ISC */
/* ARGS, ENV, ENVDEL, LABEL and LIMITS. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "runspec.h"
#include "spawner/link/peers.h"
#include "spawner/policy/quota.h"
#include "spawner/session/push.h"
#include "vars.h"
#include "wire/handlers.h"
#include "wire/label.h"
#include "wire/role.h"

#define DIGITS	"0123456789"
#define LETTERS	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define KEY_MAX	256

/*
 * All arguments and variables of one user: the first connection of a user
 * sends them all to netproc at once, and the channel's queue is bounded.
 */
#define USER_MAX_BYTES	(1024 * 1024)

bool
vars_have_room(const struct owner *o, size_t more)
{
	struct session *s;
	size_t sum = more;

	SESSION_FOREACH(s)
		if (s->owner == o)
			sum += s->view.args_len + s->view.env_len +
			    s->view.cmd_len;
	return sum <= USER_MAX_BYTES;
}

/* -- arguments -- */

/* A copy of len bytes and a NUL; NULL when there are none, or no memory. */
static char *
copy(const void *p, size_t len)
{
	char *c = len == 0 ? NULL : malloc(len + 1);

	if (c != NULL) {
		memcpy(c, p, len);
		c[len] = '\0';
	}
	return c;
}

static void
set_args(struct session *s, struct asker *a, const char *typed,
    size_t typed_len, const char *vec, size_t vec_len)
{
	char *args = copy(typed, typed_len), *argv = copy(vec, vec_len);

	if ((args == NULL && typed_len > 0) || (argv == NULL && vec_len > 0)) {
		free(args);
		free(argv);
		answer(a, &s->id, ERR_INTERNAL, "out of memory");
		return;
	}
	free(s->args);
	free(s->argv);
	s->args = args;
	s->argv = argv;
	s->argv_len = vec_len;
	s->view.args = args == NULL ? "" : args;
	s->view.args_len = typed_len;
	if (s->view.command)
		command_show(s);
	push_session(s);
	answer(a, &s->id, ERR_OK, NULL);
}

int
spawn_on_args(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	size_t typed_len, vec_len;
	const char *typed = msg_get_blob(m, &typed_len);
	const char *vec = msg_get_blob(m, &vec_len);
	struct asker a;

	if (msg_end(m) == -1 || !asker_init(&a, m, "ARGS") ||
	    memchr(typed, '\0', typed_len) != NULL ||
	    (vec_len > 0 && vec[vec_len - 1] != '\0'))
		return -1;
	if (typed_len > ARGS_MAX_BYTES || vec_len > ARGS_MAX_BYTES)
		answer(&a, &s->id, ERR_INVALID_ARGS,
		    "the arguments are longer than %d bytes", ARGS_MAX_BYTES);
	else if (typed_len > s->view.args_len &&
	    !vars_have_room(s->owner, typed_len - s->view.args_len))
		answer(&a, &s->id, ERR_INVALID_ARGS, "arguments and variables "
		    "of all your sessions are at most %d bytes",
		    USER_MAX_BYTES);
	else
		set_args(s, &a, typed, typed_len, vec, vec_len);
	return 0;
}

/* -- variables -- */

static bool
good_key(const char *key)
{
	return key[0] != '\0' && strchr(DIGITS, key[0]) == NULL &&
	    key[strspn(key, LETTERS DIGITS "_")] == '\0';
}

static const char *
next_var(const char *var)
{
	return var + strlen(var) + 1;
}

/* < 0, 0, > 0 as the key of "KEY=VALUE" sorts before, at or after key. */
static int
compare_key(const char *var, const char *key)
{
	size_t len = strcspn(var, "=");
	int r = strncmp(var, key, len);

	/* var's key may be only the beginning of key */
	return r != 0 ? r : key[len] == '\0' ? 0 : -1;
}

/*
 * Where key is or belongs in the sorted list; *len is the length of the
 * variable that is there, 0 = none; *count of all variables.
 */
static size_t
find_var(const struct session *s, const char *key, size_t *len, size_t *count)
{
	const char *env = s->env == NULL ? "" : s->env, *p = env;
	const char *end = env + s->view.env_len;
	size_t at = s->view.env_len;
	int r;

	*len = *count = 0;
	for (; p < end; p = next_var(p)) {
		(*count)++;
		r = compare_key(p, key);
		if (r < 0 || at != s->view.env_len)
			continue;
		at = (size_t)(p - env);
		if (r == 0)
			*len = strlen(p) + 1;
	}
	return at;
}

bool
vars_has(const struct session *s, const char *key)
{
	size_t len, count;

	(void)find_var(s, key, &len, &count);
	return len > 0;
}

/* Puts var (add bytes with its NUL, may be 0) in place of del bytes at at. */
static int
splice(struct session *s, size_t at, size_t del, const char *key,
    const char *value, size_t add)
{
	size_t len = s->view.env_len, new_len = len - del + add;
	char *env = malloc(new_len + 1);

	if (env == NULL)
		return -1;
	if (at > 0)
		memcpy(env, s->env, at);
	if (add > 0) {
		memcpy(env + at, key, strlen(key));
		env[at + strlen(key)] = '=';
		memcpy(env + at + strlen(key) + 1, value, strlen(value) + 1);
	}
	if (len > at + del)
		memcpy(env + at + add, s->env + at + del, len - at - del);
	free(s->env);
	s->env = env;
	s->view.env = env;
	s->view.env_len = new_len;
	return 0;
}

enum err
vars_put(struct session *s, const char *key, const char *value, char *why,
    size_t size)
{
	size_t add = strlen(key) + strlen(value) + 2, del, count;
	size_t at = find_var(s, key, &del, &count);

	why[0] = '\0';
	if (!good_key(key))
		return ERR_INVALID_ENV;
	if (s->view.env_len - del + add > ENV_MAX_BYTES)
		(void)snprintf(why, size, "the variables of a session are at "
		    "most %d bytes together", ENV_MAX_BYTES);
	else if (del == 0 && count >= ENV_MAX_COUNT)
		(void)snprintf(why, size, "a session has at most %d variables",
		    ENV_MAX_COUNT);
	else if (add > del && !vars_have_room(s->owner, add - del))
		(void)snprintf(why, size, "arguments and variables of all "
		    "your sessions are at most %d bytes", USER_MAX_BYTES);
	else if (splice(s, at, del, key, value, add) == 0)
		return ERR_OK;
	else {
		(void)snprintf(why, size, "out of memory");
		return ERR_INTERNAL;
	}
	return ERR_INVALID_ENV;
}

static void
set_var(struct session *s, struct asker *a, const char *key, const char *value)
{
	char why[160];
	enum err err = vars_put(s, key, value, why, sizeof(why));

	if (err == ERR_OK) {
		/* LD_LIBRARY_PATH and its like */
		s->proven = 0;
		push_session(s);
	}
	answer(a, &s->id, err, "%s", why);
}

int
spawn_on_env(struct msg *m)
{
	static char value[ENV_MAX_BYTES * 2 + 1];
	struct session *s = session_find(&m->hdr.session);
	size_t key_len, value_len;
	const void *key_p = msg_get_blob(m, &key_len);
	const void *value_p = msg_get_blob(m, &value_len);
	char key[KEY_MAX + 1];
	struct asker a;

	if (msg_end(m) == -1 || !asker_init(&a, m, "ENV") ||
	    memchr(key_p, '\0', key_len) != NULL ||
	    memchr(value_p, '\0', value_len) != NULL)
		return -1;
	if (key_len > KEY_MAX || value_len >= sizeof(value)) {
		answer(&a, &s->id, ERR_INVALID_ENV, "a KEY is at most %d bytes "
		    "and all variables of a session %d", KEY_MAX,
		    ENV_MAX_BYTES);
		return 0;
	}
	memcpy(key, key_p, key_len);
	key[key_len] = '\0';
	memcpy(value, value_p, value_len);
	value[value_len] = '\0';
	set_var(s, &a, key, value);
	return 0;
}

int
spawn_on_envdel(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	char key[LINE_MAX_BYTES + 1];
	size_t at, del, count;
	struct asker a;

	msg_get_str(m, key, sizeof(key));
	if (msg_end(m) == -1 || !asker_init(&a, m, "ENVDEL"))
		return -1;
	at = find_var(s, key, &del, &count);
	if (del > 0 && splice(s, at, del, NULL, NULL, 0) == -1) {
		answer(&a, &s->id, ERR_INTERNAL, "out of memory");
		return 0;
	}
	if (del > 0) {
		s->proven = 0;
		push_session(s);
	}
	/* one that is not set is deleted already */
	answer(&a, &s->id, ERR_OK, NULL);
	return 0;
}

/* -- label -- */

static struct session *
find_label(const struct owner *o, const char *label)
{
	struct session *s;

	SESSION_FOREACH(s)
		if (s->owner == o && session_is_shown(s) &&
		    strcmp(s->view.name, label) == 0)
			return s;
	return NULL;
}

enum err
vars_label(struct session *s, const char *label, char *why, size_t size)
{
	struct session *other = label[0] == '\0' ? NULL :
	    find_label(s->owner, label);

	why[0] = '\0';
	if (!label_is_good(label, strlen(label)))
		return ERR_INVALID_NAME;
	if (other != NULL && other != s) {
		(void)snprintf(why, size, "session %s has that label already",
		    other->text);
		return ERR_INVALID_NAME;
	}
	memset(s->view.name, 0, sizeof(s->view.name));
	memcpy(s->view.name, label, strlen(label));
	return ERR_OK;
}

int
spawn_on_label(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	char label[128], why[80];
	struct asker a;
	enum err err;

	msg_get_str(m, label, sizeof(label));
	if (msg_end(m) == -1 || !asker_init(&a, m, "NAME"))
		return -1;
	err = vars_label(s, label, why, sizeof(why));
	if (err == ERR_OK)
		push_session(s);
	answer(&a, &s->id, err, "%s", why);
	return 0;
}

/* -- limits -- */

static const char *const limit_names[LIMIT_COUNT] = {
	[LIMIT_CPU] = "cpu",
	[LIMIT_AS] = "as",
	[LIMIT_NOFILE] = "nofile",
	[LIMIT_NPROC] = "nproc",
	[LIMIT_CORE] = "core",
};

/* The smallest with which a program can be started at all. */
static const uint64_t limit_least[LIMIT_COUNT] = {
	[LIMIT_CPU] = 1,
	[LIMIT_AS] = 1024 * 1024,
	[LIMIT_NOFILE] = 4,
	[LIMIT_NPROC] = 1,
	[LIMIT_CORE] = 0,
};

/* The quotas that are ceilings of limits. */
static const char *
quota_name(const struct quota *q, size_t i, uint64_t most)
{
	static const struct {
		enum quota_what	 what;
		const char	*name;
	} names[LIMIT_COUNT] = {
		[LIMIT_CPU] = { QUOTA_CPU, "cpu" },
		[LIMIT_AS] = { QUOTA_MEMORY, "memory" },
		[LIMIT_NPROC] = { QUOTA_PROCESSES, "processes" },
	};

	return names[i].name != NULL && q->most[names[i].what] == most ?
	    names[i].name : NULL;
}

static bool
limit_allowed(struct asker *a, const struct session *s, size_t i,
    uint64_t value, const struct quota *q)
{
	uint64_t most[LIMIT_COUNT];
	const char *quota;

	runspec_most(q, most);
	quota = quota_name(q, i, most[i]);
	if (value > most[i] && quota != NULL)
		answer(a, &s->id, ERR_NOT_PERMITTED, "your quota allows %s at "
		    "most %" PRIu64 " (%s %s)", limit_names[i], most[i],
		    q->title, quota);
	else if (value > most[i])
		answer(a, &s->id, ERR_NOT_PERMITTED, "the configuration "
		    "allows %s at most %" PRIu64 " (limit %s)",
		    limit_names[i], most[i], limit_names[i]);
	else if (value < limit_least[i])
		answer(a, &s->id, ERR_INVALID_ARGUMENT, "%s must be at least "
		    "%" PRIu64, limit_names[i], limit_least[i]);
	else
		return true;
	return false;
}

int
spawn_on_limits(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	uint32_t mask = msg_get_u32(m);
	uint64_t value[LIMIT_COUNT];
	struct asker a;
	struct quota q;
	size_t i;

	for (i = 0; i < LIMIT_COUNT; i++)
		value[i] = msg_get_u64(m);
	if (msg_end(m) == -1 || mask >> LIMIT_COUNT != 0 ||
	    !asker_init(&a, m, "LIMITS"))
		return -1;
	quota_of(s->owner, &q);
	for (i = 0; i < LIMIT_COUNT; i++)
		if ((mask & (1U << i)) &&
		    !limit_allowed(&a, s, i, value[i], &q))
			return 0;
	for (i = 0; i < LIMIT_COUNT; i++)
		if (mask & (1U << i))
			s->limits[i] = value[i];
	answer(&a, &s->id, ERR_OK, NULL);
	return 0;
}
