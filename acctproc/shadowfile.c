/* SPDX-License-Identifier: ISC */
/*
 * The file alone, by libc's own parser: no NSS module, as those are other
 * people's code, would run in the process that may read every hash.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "shadowfile.h"

/*
 * passwd -l and usermod -L put a '!' before what there is, by hand it is often
 * a '*' before the hash.  A mark alone says that there never was a password:
 * such accounts log in by key, and useradd, adduser and cloud images make
 * them.  A '!' before the '*' of one is a lock; to a '!' nothing is added.
 */
static bool
is_locked(const char *password)
{
	size_t marks = strspn(password, "!*");

	/* another system's word for no password */
	if (strcmp(password, "*NP*") == 0)
		return false;
	return marks > 0 &&
	       (password[marks] != '\0' || strncmp(password, "!*", 2) == 0);
}

enum acct_state
shadow_judge(const struct spwd *sp, long today)
{
	long age = today - sp->sp_lstchg;

	if (sp->sp_pwdp != NULL && is_locked(sp->sp_pwdp))
		return ACCT_LOCKED;
	/* the day itself is over, as for pam_unix; an empty field is -1 */
	if (sp->sp_expire != -1 && today >= sp->sp_expire)
		return ACCT_EXPIRED;
	/*
	 * A password that must be changed shuts nobody out before its time
	 * to be changed is over, too; 0 means at the next login.
	 */
	if (sp->sp_lstchg == 0 || sp->sp_max == -1 || sp->sp_inact == -1)
		return ACCT_GOOD;
	return age > sp->sp_max && age > sp->sp_inact &&
	    age - sp->sp_inact > sp->sp_max ? ACCT_INACTIVE : ACCT_GOOD;
}

/* The last of these is said, and not again before something else happens. */
static enum acct_state
unread(const char *file, int why)
{
	static int last;

	if (why == last || why == 0)
		;
	else if (why == EBADMSG)
		log_warnx("a line of %s is damaged, and its account is not let "
		    "in; repair it (pwck)", file);
	else
		log_warnx("cannot read %s: %s; nobody but root is let in "
		    "until its group, the same as when debuglanternd was "
		    "started, may read it (chgrp, chmod g+r)", file,
		    strerrordesc_np(why));
	last = why;
	return why == 0 ? ACCT_UNKNOWN : ACCT_UNREAD;
}

/* The line of that name is the only one that is taken apart. */
static bool
is_of(const char *line, const char *name)
{
	size_t len = strlen(name);

	return strncmp(line, name, len) == 0 && line[len] == ':';
}

enum acct_state
shadow_look(const char *file, const char *name, long today)
{
	const struct spwd *sp = NULL;
	enum acct_state state;
	char *line = NULL;
	size_t size = 0;
	bool found = false;
	FILE *f;

	/* no part of a line but its name can be asked for */
	if (name[0] == '\0' || strchr(name, ':') != NULL)
		return ACCT_UNKNOWN;
	if ((f = fopen(file, "re")) == NULL)
		return unread(file, errno);
	errno = 0;
	while (!found && getline(&line, &size, f) != -1)
		found = is_of(line, name);
	if (found && (sp = sgetspent(line)) == NULL)
		errno = EBADMSG;
	state = unread(file, sp != NULL || (!found && feof(f)) ? 0 : errno);
	free(line);
	fclose(f);
	return sp != NULL ? shadow_judge(sp, today) : state;
}
