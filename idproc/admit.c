/* SPDX-License-Identifier: ISC */
/*
 * Access check by the configuration.  An account may exist without being meant
 * to run programs: it may be for mail, for files alone, or closed.  Even if the
 * account's shell is none, or sshd(8) replaces that shell by a command, the
 * account still gets connections to this host's loopback through sshd's port
 * forwarding.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "admit.h"
#include "rules.h"
#include "wire/role.h"

static bool
in_groups(const struct account *a, const char *list)
{
	uint32_t i;

	for (i = 0; i < a->ngroups; i++)
		if (id_listed(list, a->groups[i]))
			return true;
	return false;
}

static bool
is_denied(const struct account *a)
{
	return id_listed(settings.denied_users, a->uid) ||
	    in_groups(a, settings.denied_groups);
}

/* By itself, not as one of a group: its shell does not matter then. */
static bool
is_named(const struct account *a)
{
	return id_listed(settings.allowed_users, a->uid) ||
	    rules_name(a->uid);
}

static bool
is_left_out(const struct account *a)
{
	return (settings.allowed_users[0] != '\0' ||
	    settings.allowed_groups[0] != '\0') &&
	    !in_groups(a, settings.allowed_groups);
}

/* shells(5); some hosts list the ones that let nobody in as well. */
static bool
is_login_shell(const char *shell)
{
	const char *name, *base;
	bool found = false;

	/* as login(1) reads an empty field */
	if (*shell == '\0')
		return true;
	base = strrchr(shell, '/');
	base = base == NULL ? shell : base + 1;
	if (strcmp(base, "nologin") == 0 || strcmp(base, "false") == 0)
		return false;
	setusershell();
	while (!found && (name = getusershell()) != NULL)
		found = strcmp(name, shell) == 0;
	endusershell();
	return found;
}

/* With how that is undone; 1 = it cannot be told now. */
static int
judge_state(const struct account *a, char *why, size_t size)
{
	if (a->state == ACCT_UNREAD)
		(void)snprintf(why, size, "whether %s (uid %u) is locked or "
		    "has expired cannot be told now", a->name, a->uid);
	else if (acct_is_shut(a->state))
		(void)snprintf(why, size, "%s (uid %u) %s; to let it in: %s "
		    "%s", a->name, a->uid, acct_what(a->state),
		    acct_remedy(a->state), a->name);
	else
		return 0;
	return a->state == ACCT_UNREAD ? 1 : -1;
}

int
admit(const struct account *a, char *why, size_t size)
{
	int r;

	/* root, and in user mode the one user, need nobody's leave */
	if (role_mode == MODE_USER || a->uid == (uid_t)settings.run_uid)
		return 0;
	/* the one that is denied may be among the others */
	if (a->has_more && settings.denied_groups[0] != '\0') {
		(void)snprintf(why, size, "%s (uid %u) is in more than %d "
		    "groups, and deny group may name one that does not fit; "
		    "take it out of some", a->name, a->uid, GROUPS_MAX);
		return -1;
	}
	if (is_denied(a)) {
		(void)snprintf(why, size, "%s (uid %u) is denied: deny user "
		    "or deny group of debuglantern.conf", a->name, a->uid);
		return -1;
	}
	if ((r = judge_state(a, why, size)) != 0)
		return r;
	if (is_named(a))
		return 0;
	if (is_left_out(a)) {
		(void)snprintf(why, size, "%s (uid %u) is not among those of "
		    "allow user and allow group of debuglantern.conf",
		    a->name, a->uid);
		return -1;
	}
	if (!is_login_shell(a->shell)) {
		(void)snprintf(why, size, "%s (uid %u) has no login shell of "
		    "/etc/shells; to let it in, give it one (chsh) or write "
		    "\"allow user %s\" into debuglantern.conf", a->name,
		    a->uid, a->name);
		return -1;
	}
	return 0;
}
