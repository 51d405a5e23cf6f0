/* SPDX-License-Identifier: ISC */
/* links: acctproc/shadowfile.c */
/* acctproc: what lines of /etc/shadow make of accounts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acctproc/shadowfile.h"
#include "base/log.h"

#define TODAY	20000L
#define HASH	"$y$j9T$F5Jx5fExrKuPp53xLKQ..1$tnSYvahCwPBHKZUspmcxMf"

static char	path[] = "/tmp/dl-shadow-XXXXXX";
static int	nlogged;

static void
count(enum log_level level, const char *line)
{
	(void)level;
	assert_true(strstr(line, "cannot read") != NULL ||
	    strstr(line, "repair it (pwck)") != NULL);
	nlogged++;
}

static void
put(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fputs(text, f) == EOF, 0);
	assert_int_equal(fclose(f), 0);
}

/* Asks for the account ann in a file between others. */
static void
is(const char *fields, enum acct_state want)
{
	static const char root[] = "root:" HASH ":19000:0:99999:7:::\n",
	    last[] = "anna:!" HASH ":19000:0:99999:7:::\n";
	char text[1024];
	enum acct_state got;

	(void)snprintf(text, sizeof(text), "%sann:%s\n%s", root, fields, last);
	put(text);
	got = shadow_look(path, "ann", TODAY);
	if (got != want)
		fail_msg("ann:%s is %d, not %d", fields, got, want);
}

/* Passwords that are locked, and those that never were. */
static void
passwords(void **state)
{
	static const struct {
		const char	*password;
		enum acct_state	 want;
	} table[] = {
	    {HASH, ACCT_GOOD},
	    {"", ACCT_GOOD},
	    {"x", ACCT_GOOD},
	    {"$6$salt$hash", ACCT_GOOD},
	    {"ab1234567890.", ACCT_GOOD},
	    /* useradd, adduser, cloud images, and what usermod -L adds */
	    {"!", ACCT_GOOD},
	    {"*", ACCT_GOOD},
	    {"!!", ACCT_GOOD},
	    {"!*", ACCT_LOCKED},
	    {"*!", ACCT_GOOD},
	    {"**", ACCT_GOOD},
	    {"*NP*", ACCT_GOOD},
	    /* passwd -l, usermod -L, twice, by hand */
	    {"!" HASH, ACCT_LOCKED},
	    {"!!" HASH, ACCT_LOCKED},
	    {"*" HASH, ACCT_LOCKED},
	    {"!ab1234567890.", ACCT_LOCKED},
	    {"!x", ACCT_LOCKED},
	    {"!locked", ACCT_LOCKED},
	    {"*LK*", ACCT_LOCKED},
	    {"*LOCKED*" HASH, ACCT_LOCKED},
	};
	char fields[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		(void)snprintf(fields, sizeof(fields), "%s:19000:0:99999:7:::",
		    table[i].password);
		is(fields, table[i].want);
		/* a lock is a lock, whatever the dates are */
		(void)snprintf(fields, sizeof(fields), "%s:::::::",
		    table[i].password);
		is(fields, table[i].want);
	}
}

/* From the day on that stands there, and not for want of one. */
static void
expiry(void **state)
{
	(void)state;
	is(HASH ":19000:0:99999:7::20001:", ACCT_GOOD);
	is(HASH ":19000:0:99999:7::20000:", ACCT_EXPIRED);
	is(HASH ":19000:0:99999:7::19999:", ACCT_EXPIRED);
	is(HASH ":19000:0:99999:7::1:", ACCT_EXPIRED);
	is(HASH ":19000:0:99999:7::0:", ACCT_EXPIRED);
	is(HASH ":19000:0:99999:7:::", ACCT_GOOD);
	is("!:19000:0:99999:7::1:", ACCT_EXPIRED);
	is("*:::::::", ACCT_GOOD);
	is("*::::::19999:", ACCT_EXPIRED);
}

/* A password that must be changed is none that can not be any more. */
static void
inactivity(void **state)
{
	(void)state;
	/* last changed, least, most, warning, inactive */
	is(HASH ":19990:0:5:7:::", ACCT_GOOD);
	is(HASH ":19990:0:5:7:6::", ACCT_GOOD);
	is(HASH ":19990:0:5:7:5::", ACCT_GOOD);
	is(HASH ":19990:0:5:7:4::", ACCT_INACTIVE);
	is(HASH ":19990:0:5:7:0::", ACCT_INACTIVE);
	is(HASH ":19995:0:5:7:0::", ACCT_GOOD);
	is(HASH ":19990:0:99999:7:0::", ACCT_GOOD);
	is(HASH ":19990:0::7:0::", ACCT_GOOD);
	/* at the next login; no date; tomorrow, by a clock that was wrong */
	is(HASH ":0:0:5:7:0::", ACCT_GOOD);
	is(HASH "::0:5:7:0::", ACCT_INACTIVE);
	is(HASH ":20001:0:5:7:0::", ACCT_GOOD);
}

/* Lines that are none do not hide those after them; the first one counts. */
static void
files(void **state)
{
	char *long_line = malloc(200000);

	(void)state;
	assert_non_null(long_line);
	put("");
	assert_int_equal(shadow_look(path, "ann", TODAY), ACCT_UNKNOWN);
	put("# ann:!" HASH ":19000:0:99999:7:::\n\n:::::\nann\n"
	    "bob:" HASH ":19000:0:99999:7:::\n");
	assert_int_equal(shadow_look(path, "ann", TODAY), ACCT_UNKNOWN);
	assert_int_equal(shadow_look(path, "", TODAY), ACCT_UNKNOWN);
	assert_int_equal(shadow_look(path, "bob", TODAY), ACCT_GOOD);
	assert_int_equal(shadow_look(path, "bo", TODAY), ACCT_UNKNOWN);
	/* nothing but a name is compared */
	assert_int_equal(shadow_look(path, "bob:" HASH, TODAY), ACCT_UNKNOWN);
	put("ann:!" HASH ":19000:0:99999:7:::\n"
	    "ann:" HASH ":19000:0:99999:7:::\n");
	assert_int_equal(shadow_look(path, "ann", TODAY), ACCT_LOCKED);
	/* no newline at the end */
	put("ann:!" HASH ":19000:0:99999:7:::");
	assert_int_equal(shadow_look(path, "ann", TODAY), ACCT_LOCKED);
	memset(long_line, 'x', 150000);
	strcpy(long_line + 150000, ":x:1:::::\nann:!" HASH
	    ":19000:0:99999:7:::\n");
	put(long_line);
	assert_int_equal(shadow_look(path, "ann", TODAY), ACCT_LOCKED);
	free(long_line);
}

/* Damage shuts one account out, as pam_unix does, and no other one. */
static void
damaged(void **state)
{
	static const char *const fields[] = { "ann:" HASH ":no:0:99999:7:::",
		"ann:" HASH ":19000:0:99999:7::-1:", "ann:",
		"ann:" HASH, "ann:" HASH ":19990:0:99999999999:7:0::",
		"ann:" HASH ":19000:0:99999:7:::x" };
	char text[512];
	size_t i;

	(void)state;
	nlogged = 0;
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		(void)snprintf(text, sizeof(text), "%s\nbob:" HASH
		    ":19000:0:99999:7:::\n", fields[i]);
		put(text);
		if (shadow_look(path, "ann", TODAY) != ACCT_UNREAD)
			fail_msg("%s is taken for good", fields[i]);
		assert_int_equal(nlogged, i + 1);
		assert_int_equal(shadow_look(path, "ann", TODAY), ACCT_UNREAD);
		assert_int_equal(nlogged, i + 1);
		assert_int_equal(shadow_look(path, "bob", TODAY), ACCT_GOOD);
	}
}

/* Said once for each reason, and never taken for an account without entry. */
static void
unreadable(void **state)
{
	(void)state;
	nlogged = 0;
	assert_int_equal(shadow_look("/nonexistent/shadow", "ann", TODAY),
	    ACCT_UNREAD);
	assert_int_equal(shadow_look("/nonexistent/shadow", "bob", TODAY),
	    ACCT_UNREAD);
	assert_int_equal(nlogged, 1);
	assert_int_equal(shadow_look("/etc", "ann", TODAY), ACCT_UNREAD);
	assert_int_equal(nlogged, 2);
	put("ann:!" HASH ":19000:0:99999:7:::\n");
	assert_int_equal(shadow_look(path, "ann", TODAY), ACCT_LOCKED);
	assert_int_equal(shadow_look("/etc", "ann", TODAY), ACCT_UNREAD);
	assert_int_equal(nlogged, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passwords),
		cmocka_unit_test(expiry),
		cmocka_unit_test(inactivity),
		cmocka_unit_test(files),
		cmocka_unit_test(damaged),
		cmocka_unit_test(unreadable),
	};
	int fd = mkstemp(path), r;

	if (fd == -1)
		return 1;
	close(fd);
	log_init("test", LOG_L_INFO, count);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return r;
}
