/* SPDX-License-Identifier: ISC */
/* NSS look-ups by uid and their short-lived cache. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "account.h"
#include "acctask.h"
#include "base/log.h"
#include "base/loop.h"
#include "wire/role.h"

/* Long enough for a burst of connections, short enough for a new group. */
#define CACHE_MS	(10 * 1000)
#define CACHE_SLOTS	16

/* Ids that no account has: a look-up asks every NSS source before it fails. */
#define UNUSED_UID	((uid_t)-3)
#define UNUSED_GID	((gid_t)-3)

struct slot {
	struct account	 a;
	uint64_t	 until_ms;	/* 0 = empty */
};

static struct slot	*slots[CACHE_SLOTS];

void
accounts_preload(void)
{
	gid_t groups[GROUPS_MAX];
	int n = GROUPS_MAX;

	(void)getpwuid(UNUSED_UID);
	(void)getgrgid(UNUSED_GID);
	/* initgroups asks every source, whether or not it knows the name */
	(void)getgrouplist("root", 0, groups, &n);
}

/* Text that does not fit would name another file: the account is refused. */
static int
copy(char *dst, size_t size, const char *src, uid_t uid, const char *what)
{
	if (src == NULL)
		src = "";
	if (strlen(src) >= size) {
		log_warnx("uid %u: the %s in its account is longer than %zu "
		    "bytes; shorten it", uid, what, size - 1);
		return -1;
	}
	memcpy(dst, src, strlen(src) + 1);
	return 0;
}

static void
groups_of(struct account *a)
{
	int n = GROUPS_MAX;

	if (getgrouplist(a->name, a->gid, a->groups, &n) == -1) {
		log_warnx("%s is in %d groups; the first %d count", a->name,
		    n, GROUPS_MAX);
		n = GROUPS_MAX;
		a->has_more = true;
	}
	a->ngroups = n < 0 ? 0 : (uint32_t)n;
}

const char *
group_name(gid_t gid, char buf[16])
{
	const struct group *gr = getgrgid(gid);

	if (gr != NULL)
		return gr->gr_name;
	(void)snprintf(buf, 16, "%u", gid);
	return buf;
}

/* False when there is no room for it. */
static bool
add_name(char *list, size_t size, const char *name)
{
	size_t len = strlen(list);

	/* a part of the last name would be another group's */
	if (len + strlen(name) + 3 > size)
		return false;
	(void)snprintf(list + len, size - len, "%s%s", len > 0 ? ", " : "",
	    name);
	return true;
}

/* The groups of the account that its sessions do not have, by name. */
static void
lacks_of(struct account *a)
{
	/* room for the number of those that do not fit in */
	const size_t size = sizeof(a->lacks) - sizeof(" and 1000 more");
	char number[16];
	uint32_t i, more = 0;

	if (role_mode != MODE_SYSTEM)
		return;
	for (i = 0; i < a->ngroups; i++) {
		if (a->groups[i] == a->gid ||
		    settings_have_group(&settings, a->groups[i]))
			continue;
		if (more > 0 || !add_name(a->lacks, size,
		    group_name(a->groups[i], number)))
			more++;
	}
	if (more > 0)
		(void)snprintf(a->lacks + strlen(a->lacks),
		    sizeof(a->lacks) - strlen(a->lacks), " and %u more", more);
}

/*
 * Containers run with uids that have no account.  In user mode there is only
 * one uid and nothing to be gained from its groups; in system mode an account
 * that is missing may be one whose directory service is down: refused.
 */
static void
without_account(struct account *a, uid_t uid)
{
	if (role_mode != MODE_USER || uid != settings.daemon_uid)
		return;
	(void)snprintf(a->name, sizeof(a->name), "%u", uid);
	(void)snprintf(a->home, sizeof(a->home), "/");
	(void)snprintf(a->shell, sizeof(a->shell), "/bin/sh");
	a->gid = getegid();
	a->found = true;
}

static void
look_up(struct account *a, uid_t uid)
{
	struct passwd *pw;

	memset(a, 0, sizeof(*a));
	a->uid = uid;
	errno = 0;
	pw = getpwuid(uid);
	if (pw == NULL) {
		if (errno != 0 && errno != ENOENT)
			log_warn("uid %u", uid);
		without_account(a, uid);
		return;
	}
	if (copy(a->name, sizeof(a->name), pw->pw_name, uid, "name") == -1 ||
	    copy(a->home, sizeof(a->home), pw->pw_dir, uid, "home") == -1 ||
	    copy(a->shell, sizeof(a->shell), pw->pw_shell, uid, "shell") == -1 ||
	    a->name[0] == '\0')
		return;
	a->gid = pw->pw_gid;
	groups_of(a);
	lacks_of(a);
	a->state = acct_ask(a->name);
	a->found = true;
}

/* The slot of that uid, else an empty one, else the one that is oldest. */
static struct slot **
slot_for(uid_t uid)
{
	struct slot **best = &slots[0];
	size_t i;

	for (i = 0; i < CACHE_SLOTS; i++) {
		if (slots[i] == NULL)
			return &slots[i];
		if (slots[i]->a.uid == uid)
			return &slots[i];
		if (slots[i]->until_ms < (*best)->until_ms)
			best = &slots[i];
	}
	return best;
}

const struct account *
account_of(uid_t uid)
{
	struct slot **where = slot_for(uid);

	if (*where == NULL) {
		*where = calloc(1, sizeof(**where));
		if (*where == NULL)
			fatal("account cache");
	}
	if ((*where)->a.uid != uid || (*where)->until_ms <= loop_now_ms()) {
		look_up(&(*where)->a, uid);
		(*where)->until_ms = (*where)->a.state == ACCT_UNREAD ? 0 :
		    loop_now_ms() + CACHE_MS;
	}
	return &(*where)->a;
}

void
accounts_forget(void)
{
	size_t i;

	for (i = 0; i < CACHE_SLOTS; i++)
		if (slots[i] != NULL)
			slots[i]->until_ms = 0;
}

/* The daemon's user has its number for a name if it has no account. */
static bool
is_daemon_user(const char *name)
{
	return role_mode == MODE_USER &&
	    strcmp(name, account_of((uid_t)settings.daemon_uid)->name) == 0;
}

const struct account *
account_named(const char *name)
{
	static const struct account none = { .uid = (uid_t)-1 };
	struct passwd *pw;

	if (is_daemon_user(name))
		return account_of((uid_t)settings.daemon_uid);
	errno = 0;
	pw = getpwnam(name);
	if (pw != NULL)
		return account_of(pw->pw_uid);
	if (errno != 0 && errno != ENOENT)
		log_warn("the user %s", name);
	return &none;
}

bool
id_listed(const char *list, uint32_t id)
{
	char *end;

	while (*list != '\0') {
		if (strtoul(list, &end, 10) == id && end != list)
			return true;
		list = end + strcspn(end, ",");
		list += *list == ',';
	}
	return false;
}

bool
account_is_admin(const struct account *a)
{
	uint32_t i;

	if (!a->found)
		return false;
	/* who that is over TCP nobody knows: root, or root's proxy's client */
	if (role_mode == MODE_SYSTEM &&
	    (a->uid == 0 || a->uid == (uid_t)settings.run_uid))
		return false;
	if (id_listed(settings.admin_users, a->uid))
		return true;
	for (i = 0; i < a->ngroups; i++)
		if (id_listed(settings.admin_groups, a->groups[i]))
			return true;
	return false;
}
