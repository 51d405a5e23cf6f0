/* SPDX-License-Identifier: ISC */
/*
 * The names of users and groups in the configuration that give or limit
 * rights, turned into numbers.  A name that does not exist is refused: it may
 * be a slip, and a user or group that gets it later would get the rights with
 * it.
 */
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "setup.h"
#include "wire/proto.h"

/* Access lists and quota ids of a configuration. */
struct found {
	char		allowed_users[sizeof(d.settings.allowed_users)];
	char		allowed_groups[sizeof(d.settings.allowed_groups)];
	char		denied_users[sizeof(d.settings.denied_users)];
	char		denied_groups[sizeof(d.settings.denied_groups)];
	char		admin_users[sizeof(d.settings.admin_users)];
	char		admin_groups[sizeof(d.settings.admin_groups)];
	uint32_t	quota_ids[CONF_MAX_QUOTAS];
};

static struct found found;

static const uint32_t quota_kinds[] = {
	[CONF_QUOTA_DEFAULT] = QUOTA_DEFAULT,
	[CONF_QUOTA_USER] = QUOTA_USER,
	[CONF_QUOTA_GROUP] = QUOTA_GROUP,
};

_Static_assert(CONF_UNLIMITED == LIMIT_UNLIMITED, "the same on the wire");

static int
user_id(const char *what, const char *name, uint32_t *id)
{
	const struct passwd *pw;

	pw = getpwnam(name);
	if (pw == NULL) {
		log_error("%s %s: there is no such user", what, name);
		return -1;
	}
	*id = pw->pw_uid;
	return 0;
}

static int
group_id(const char *what, const char *name, uint32_t *id)
{
	const struct group *gr;

	gr = getgrnam(name);
	if (gr == NULL) {
		log_error("%s %s: there is no such group", what, name);
		return -1;
	}
	*id = gr->gr_gid;
	return 0;
}

static int
add_id(char *list, size_t size, const char *what, uint32_t id)
{
	size_t len = strlen(list);

	if (snprintf(list + len, size - len, "%s%u", len > 0 ? "," : "",
	    id) < (int)(size - len))
		return 0;
	log_error("too many %s", what);
	return -1;
}

/* Root, or the user that root's sessions run as. */
static bool
is_root(uint32_t uid)
{
	return d.mode == MODE_SYSTEM && (uid == 0 || uid == d.run_id.uid);
}

/* Root's clients over TCP are _dlrun's, which must not become more by it. */
static const char *
refuse_admin(uint32_t uid)
{
	return is_root(uid) ? "leave it out; root is an administrator at the "
	    "local socket already, and must not be one over TCP" : NULL;
}

/* The rights of root on its own host are not decided here. */
static const char *
refuse_root(uint32_t uid)
{
	return is_root(uid) ? "leave it out; root is always let in" : NULL;
}

/* Adds the uids of names to a list; refused says why one cannot be in it. */
static int
find_users(const char *what, const struct conf_names *names, char *list,
    size_t size, const char *(*refused)(uint32_t))
{
	const char *why;
	uint32_t id;
	size_t i;

	for (i = 0; i < names->n; i++) {
		if (user_id(what, names->v[i], &id) == -1)
			return -1;
		if ((why = refused(id)) != NULL) {
			log_error("%s %s: %s", what, names->v[i], why);
			return -1;
		}
		if (add_id(list, size, what, id) == -1)
			return -1;
	}
	return 0;
}

static int
find_groups(const char *what, const struct conf_names *names, char *list,
    size_t size)
{
	uint32_t id;
	size_t i;

	for (i = 0; i < names->n; i++)
		if (group_id(what, names->v[i], &id) == -1 ||
		    add_id(list, size, what, id) == -1)
			return -1;
	return 0;
}

static int
find_people(const struct conf *c, struct found *a)
{
	if (find_users("allow user", &c->allowed_users, a->allowed_users,
	    sizeof(a->allowed_users), refuse_root) == -1 ||
	    find_groups("allow group", &c->allowed_groups, a->allowed_groups,
	    sizeof(a->allowed_groups)) == -1 ||
	    find_users("deny user", &c->denied_users, a->denied_users,
	    sizeof(a->denied_users), refuse_root) == -1 ||
	    find_groups("deny group", &c->denied_groups, a->denied_groups,
	    sizeof(a->denied_groups)) == -1 ||
	    find_users("admin user", &c->admin_users, a->admin_users,
	    sizeof(a->admin_users), refuse_admin) == -1)
		return -1;
	return find_groups("admin group", &c->admin_groups, a->admin_groups,
	    sizeof(a->admin_groups));
}

static int
find_quotas(const struct conf *c, struct found *a)
{
	const struct conf_quota *q;
	char what[PATH_LEN];
	size_t i;
	int r = 0;

	for (i = 0; i < c->nquotas && r == 0; i++) {
		q = &c->quotas[i];
		(void)snprintf(what, sizeof(what), "%s:%d: quota %s", c->name,
		    q->line, q->kind == CONF_QUOTA_USER ? "user" : "group");
		if (q->kind == CONF_QUOTA_USER)
			r = user_id(what, q->name, &a->quota_ids[i]);
		else if (q->kind == CONF_QUOTA_GROUP)
			r = group_id(what, q->name, &a->quota_ids[i]);
	}
	return r;
}

int
access_find(const struct conf *c)
{
	memset(&found, 0, sizeof(found));
	if (find_people(c, &found) == -1 || find_quotas(c, &found) == -1)
		return -1;
	return 0;
}

uint32_t
access_quota_id(size_t i)
{
	return found.quota_ids[i];
}

uint32_t
access_quota_kind(const struct conf_quota *q)
{
	return quota_kinds[q->kind];
}

void
access_fill(struct settings *s)
{
#define FILL(list)	memcpy(s->list, found.list, sizeof(s->list))
	FILL(allowed_users);
	FILL(allowed_groups);
	FILL(denied_users);
	FILL(denied_groups);
	FILL(admin_users);
	FILL(admin_groups);
#undef FILL
}
