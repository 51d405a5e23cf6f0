/* SPDX-License-Identifier: ISC */
/*
 * The names of users and groups in the configuration that give or limit
 * rights, turned into numbers.  A name that nobody has is refused: it may be
 * a slip, and whoever gets it later would get the rights with it.
 */
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "parent.h"
#include "proto.h"

/* What a configuration comes to; the next one becomes the present at once. */
struct found {
	char		admin_users[sizeof(d.settings.admin_users)];
	char		admin_groups[sizeof(d.settings.admin_groups)];
	uint32_t	quota_ids[CONF_MAX_QUOTAS];
};

static struct found present, next;

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

	notify_alive();
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

	notify_alive();
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

/* Root's clients over TCP are that user, and must not become more by it. */
static int
admin_allowed(const char *name, uint32_t uid)
{
	if (d.mode == MODE_USER || (uid != 0 && uid != d.run_id.uid))
		return 0;
	log_error("admin user %s: leave it out; root is an administrator at "
	    "the local socket already, and must not be one over TCP", name);
	return -1;
}

static int
find_admins(const struct conf *c, struct found *a)
{
	uint32_t id;
	size_t i;

	for (i = 0; i < c->admin_users.n; i++)
		if (user_id("admin user", c->admin_users.v[i], &id) == -1 ||
		    admin_allowed(c->admin_users.v[i], id) == -1 ||
		    add_id(a->admin_users, sizeof(a->admin_users),
		    "admin user", id) == -1)
			return -1;
	for (i = 0; i < c->admin_groups.n; i++)
		if (group_id("admin group", c->admin_groups.v[i],
		    &id) == -1 || add_id(a->admin_groups,
		    sizeof(a->admin_groups), "admin group", id) == -1)
			return -1;
	return 0;
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
	memset(&next, 0, sizeof(next));
	if (find_admins(c, &next) == -1 || find_quotas(c, &next) == -1)
		return -1;
	return 0;
}

/* The spawner decides by them; a new one has none yet. */
void
access_tell(void)
{
	const struct conf_quota *q;
	struct msg_out *o;
	size_t i;

	for (i = 0; i < d.conf->nquotas; i++) {
		q = &d.conf->quotas[i];
		o = msg_new(MSG_QUOTA_RULE, NULL, 0, 0);
		msg_put_u32(o, quota_kinds[q->kind]);
		msg_put_u32(o, present.quota_ids[i]);
		msg_put_u64(o, q->sessions);
		msg_put_u64(o, q->bytes);
		msg_put_u64(o, q->cpu);
		msg_put_u64(o, q->memory);
		msg_put_u64(o, q->processes);
		msg_put_str(o, q->name);
		(void)child_send(ROLE_SPAWNER, o, -1);
	}
	(void)child_send(ROLE_SPAWNER, msg_new(MSG_QUOTA_RULES_END, NULL, 0,
	    0), -1);
}

void
access_commit(void)
{
	present = next;
	memcpy(d.settings.admin_users, present.admin_users,
	    sizeof(d.settings.admin_users));
	memcpy(d.settings.admin_groups, present.admin_groups,
	    sizeof(d.settings.admin_groups));
}
