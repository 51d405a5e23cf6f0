/* SPDX-License-Identifier: ISC */
/* Tokens: who gets in, and what a damaged file means: nobody gets in by it. */
/* links: spawner/keys/tokens.c spawner/sysfilter.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/base/log.h"
#include "spawner/keys/state.h"
#include "spawner/sysfilter.h"
#include "spawner/keys/tokens.h"

#define ALICE	1001
#define BOB	1002

static int	 file = -1;
static time_t	 today = 1700000000;
static char	 said[4096];

/* Time is the test's. */
int
clock_gettime(clockid_t id, struct timespec *ts)
{
	if (id != CLOCK_REALTIME)
		return (int)syscall(SYS_clock_gettime, id, ts);
	ts->tv_sec = today;
	ts->tv_nsec = 0;
	return 0;
}

static void
to_said(enum log_level level, const char *line)
{
	(void)level;
	(void)snprintf(said + strlen(said), sizeof(said) - strlen(said),
	    "%s\n", line);
}

static int
begin(void **state)
{
	(void)state;
	said[0] = '\0';
	log_init("test", LOG_L_INFO, to_said);
	file = memfd_create("tokens", MFD_CLOEXEC);
	return tokens_open(file);
}

static int
end(void **state)
{
	(void)state;
	return close(file);
}

/* Reads the file again, as after a restart. */
static void
again(void)
{
	assert_int_equal(tokens_open(file), 0);
}

static struct token
wanted(uint32_t uid, const char *user)
{
	struct token t;

	memset(&t, 0, sizeof(t));
	t.uid = uid;
	(void)snprintf(t.user, sizeof(t.user), "%s", user);
	return t;
}

static struct token
make(uint32_t uid, char text[TOKEN_TEXT + 1])
{
	struct token t = wanted(uid, uid == ALICE ? "alice" : "bob");

	assert_int_equal(tokens_create(&t, text), ERR_OK);
	return t;
}

static off_t
size_of_file(void)
{
	struct stat st;

	assert_int_equal(fstat(file, &st), 0);
	return st.st_size;
}

static void
overwrite(off_t at, const char *bytes, size_t len)
{
	assert_int_equal(pwrite(file, bytes, len, at), len);
}

static bool
is_good(const char *text)
{
	return tokens_check(text, strlen(text)) != NULL;
}

static size_t
count(void)
{
	const struct token *t;
	size_t n = 0;

	for (t = tokens_next(NULL); t != NULL; t = tokens_next(t))
		n++;
	return n;
}

static void
made_and_checked(void **state)
{
	struct token t = wanted(ALICE, "alice");
	const struct token *got;
	char text[TOKEN_TEXT + 1], other[TOKEN_TEXT + 1];

	(void)state;
	t.read_only = true;
	t.expires = today + 10;
	(void)strcpy(t.label, "build-host.1_a");
	assert_int_equal(tokens_create(&t, text), ERR_OK);
	assert_int_equal(strlen(text), TOKEN_TEXT);
	assert_memory_equal(text, "dlt_", 4);
	assert_int_equal(strspn(text + 4, "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"), TOKEN_TEXT - 4);
	assert_int_equal(strlen(t.id), TOKEN_ID);
	assert_int_equal(t.created, today);
	(void)make(BOB, other);
	assert_string_not_equal(text, other);
	again();
	got = tokens_check(text, TOKEN_TEXT);
	assert_non_null(got);
	assert_string_equal(got->id, t.id);
	assert_int_equal(got->uid, ALICE);
	assert_true(got->read_only);
	assert_int_equal(got->created, today);
	assert_int_equal(got->expires, today + 10);
	assert_string_equal(got->user, "alice");
	assert_string_equal(got->label, "build-host.1_a");
	got = tokens_check(other, TOKEN_TEXT);
	assert_non_null(got);
	assert_int_equal(got->uid, BOB);
	assert_false(got->read_only);
	assert_int_equal(got->expires, 0);
	assert_string_equal(got->label, "");
	assert_ptr_equal(tokens_find(t.id), tokens_check(text, TOKEN_TEXT));
	assert_int_equal(count(), 2);
	assert_string_equal(said, "");
}

static void
the_file_has_no_secret(void **state)
{
	char text[TOKEN_TEXT + 1], raw[TOKEN_SLOT + 1];

	(void)state;
	(void)make(ALICE, text);
	assert_int_equal(size_of_file(), TOKEN_SLOT);
	assert_int_equal(pread(file, raw, TOKEN_SLOT, 0), TOKEN_SLOT);
	raw[TOKEN_SLOT] = '\0';
	assert_null(strstr(raw, text + 4));
	assert_non_null(strstr(raw, " alice\n"));
	assert_int_equal(raw[TOKEN_SLOT - 1], '\n');
}

static void
wrong_ones(void **state)
{
	char text[TOKEN_TEXT + 1], t[TOKEN_TEXT + 2];
	size_t i;

	(void)state;
	(void)make(ALICE, text);
	for (i = 0; i < TOKEN_TEXT; i++) {
		(void)strcpy(t, text);
		t[i] ^= 1;
		assert_false(is_good(t));
	}
	assert_null(tokens_check(text, TOKEN_TEXT - 1));
	assert_null(tokens_check(text, 0));
	assert_null(tokens_check("", 0));
	(void)snprintf(t, sizeof(t), "%sA", text);
	assert_null(tokens_check(t, TOKEN_TEXT + 1));
	/* what the file tells is of no use */
	assert_int_equal(pread(file, t + 4, TOKEN_TEXT - 4, 14),
	    TOKEN_TEXT - 4);
	memcpy(t, "dlt_", 4);
	assert_null(tokens_check(t, TOKEN_TEXT));
	assert_true(is_good(text));
}

static void
expired(void **state)
{
	struct token t = wanted(ALICE, "alice");
	char text[TOKEN_TEXT + 1];

	(void)state;
	t.expires = today + 100;
	assert_int_equal(tokens_create(&t, text), ERR_OK);
	today += 99;
	assert_true(is_good(text));
	today++;
	assert_false(is_good(text));
	again();
	assert_false(is_good(text));
	/* it is shown until its place is needed */
	assert_non_null(tokens_find(t.id));
}

static void
revoked(void **state)
{
	char text[TOKEN_TEXT + 1], other[TOKEN_TEXT + 1];
	struct token t;

	(void)state;
	t = make(ALICE, text);
	(void)make(ALICE, other);
	assert_int_equal(tokens_revoke(t.id), 0);
	assert_false(is_good(text));
	assert_true(is_good(other));
	again();
	assert_false(is_good(text));
	assert_true(is_good(other));
	assert_int_equal(tokens_revoke(t.id), -1);
	assert_int_equal(errno, ENOENT);
	assert_string_equal(said, "");
	/* its place is used again */
	(void)make(BOB, text);
	assert_int_equal(size_of_file(), 2 * TOKEN_SLOT);
	again();
	assert_true(is_good(text));
	assert_string_equal(said, "");
}

/* Every byte of a slot counts. */
static void
any_byte_changed(void **state)
{
	char text[TOKEN_TEXT + 1], raw[TOKEN_SLOT], c;
	int i;

	(void)state;
	(void)make(ALICE, text);
	assert_int_equal(pread(file, raw, TOKEN_SLOT, 0), TOKEN_SLOT);
	for (i = 0; i < TOKEN_SLOT; i++) {
		c = raw[i] ^ 1;
		overwrite(i, &c, 1);
		again();
		assert_int_equal(count(), 0);
		assert_false(is_good(text));
		overwrite(i, raw + i, 1);
	}
	again();
	assert_true(is_good(text));
	assert_non_null(strstr(said, "1 of 1 slots of the tokens' file are "
	    "damaged, the first is number 1"));
}

/* A write that stopped anywhere, over a free slot and over another token. */
static void
torn(void **state)
{
	char a[TOKEN_TEXT + 1], b[TOKEN_TEXT + 1], blank[TOKEN_SLOT];
	char first[TOKEN_SLOT], second[TOKEN_SLOT], mix[TOKEN_SLOT];
	bool whole = true;
	size_t i;

	(void)state;
	(void)make(ALICE, a);
	(void)make(BOB, b);
	assert_int_equal(pread(file, first, TOKEN_SLOT, 0), TOKEN_SLOT);
	assert_int_equal(pread(file, second, TOKEN_SLOT, TOKEN_SLOT),
	    TOKEN_SLOT);
	memset(blank, ' ', sizeof(blank));
	blank[TOKEN_SLOT - 1] = '\n';
	/* the last byte is the same in all: without it nothing is missing */
	for (i = 1; i < TOKEN_SLOT - 1; i++) {
		memcpy(mix, first, TOKEN_SLOT);
		memcpy(mix, blank, i);
		overwrite(0, mix, TOKEN_SLOT);
		again();
		assert_false(is_good(a));
		assert_true(is_good(b));
		assert_int_equal(count(), 1);
		memcpy(mix, second, i);
		overwrite(0, mix, TOKEN_SLOT);
		again();
		/* the first bytes of both are the same */
		whole = memcmp(mix, first, TOKEN_SLOT) == 0;
		assert_int_equal(is_good(a), whole);
		assert_int_equal(count(), 1 + whole);
	}
	assert_false(whole);
	assert_non_null(strstr(said, "1 of 2 slots"));
	/* what is damaged gives way to the next token */
	(void)make(ALICE, a);
	assert_int_equal(size_of_file(), 2 * TOKEN_SLOT);
	said[0] = '\0';
	again();
	assert_true(is_good(a) && is_good(b));
	assert_string_equal(said, "");
}

static void
truncated(void **state)
{
	char text[3][TOKEN_TEXT + 1];
	off_t len;

	(void)state;
	(void)make(ALICE, text[0]);
	(void)make(BOB, text[1]);
	(void)make(ALICE, text[2]);
	for (len = 3 * TOKEN_SLOT - 1; len >= 0; len -= 51) {
		assert_int_equal(ftruncate(file, len), 0);
		again();
		assert_int_equal(is_good(text[0]), len >= TOKEN_SLOT);
		assert_int_equal(is_good(text[1]), len >= 2 * TOKEN_SLOT);
		assert_false(is_good(text[2]));
	}
	/* the file goes on where its last whole slot was */
	assert_int_equal(ftruncate(file, TOKEN_SLOT / 2), 0);
	again();
	(void)make(BOB, text[1]);
	assert_int_equal(size_of_file(), TOKEN_SLOT);
	again();
	assert_true(is_good(text[1]));
}

static void
garbage(void **state)
{
	static char noise[8 * TOKEN_SLOT];
	char text[TOKEN_TEXT + 1], raw[TOKEN_SLOT];
	size_t i;

	(void)state;
	srandom(1);
	for (i = 0; i < sizeof(noise); i++)
		noise[i] = (char)random();
	memset(noise + TOKEN_SLOT, 0, TOKEN_SLOT);
	overwrite(0, noise, sizeof(noise));
	again();
	assert_int_equal(count(), 0);
	assert_non_null(strstr(said, "8 of 8"));
	(void)make(ALICE, text);
	/* a copy would stay when the other is revoked: it never counts */
	assert_int_equal(pread(file, raw, TOKEN_SLOT, 0), TOKEN_SLOT);
	overwrite(3 * TOKEN_SLOT, raw, TOKEN_SLOT);
	again();
	assert_int_equal(count(), 1);
	assert_int_equal(tokens_revoke(tokens_next(NULL)->id), 0);
	assert_false(is_good(text));
	/* ... nor does it after a restart */
	again();
	assert_int_equal(count(), 0);
	assert_false(is_good(text));
}

static void
too_many_of_a_user(void **state)
{
	char text[TOKEN_TEXT + 1], first[TOKEN_TEXT + 1];
	struct token t = wanted(ALICE, "alice");
	int i;

	(void)state;
	t.expires = today + 10;
	assert_int_equal(tokens_create(&t, first), ERR_OK);
	for (i = 1; i < TOKENS_PER_USER; i++)
		(void)make(ALICE, text);
	t = wanted(ALICE, "alice");
	assert_int_equal(tokens_create(&t, text), ERR_MAX_TOKENS);
	/* nobody else is affected */
	(void)make(BOB, text);
	assert_true(is_good(first));
	/* an expired one gives way */
	today += 10;
	(void)make(ALICE, text);
	assert_false(is_good(first));
	assert_int_equal(tokens_create(&t, text), ERR_MAX_TOKENS);
	assert_int_equal(count(), TOKENS_PER_USER + 1);
}

static void
all_that_can_be(void **state)
{
	static char text[TOKENS_MAX][TOKEN_TEXT + 1];
	char more[TOKEN_TEXT + 1], raw[TOKEN_SLOT];
	struct token t = wanted(0, "user");
	uint32_t i;

	(void)state;
	for (i = 0; i < TOKENS_MAX; i++) {
		t.uid = 2000 + i / TOKENS_PER_USER;
		t.expires = i == 77 ? today + 5 : 0;
		assert_int_equal(tokens_create(&t, text[i]), ERR_OK);
	}
	t.uid = 5000;
	t.expires = 0;
	assert_int_equal(tokens_create(&t, more), ERR_MAX_TOKENS);
	assert_int_equal(size_of_file(), TOKENS_MAX * TOKEN_SLOT);
	again();
	assert_int_equal(count(), TOKENS_MAX);
	for (i = 0; i < TOKENS_MAX; i++) {
		assert_true(is_good(text[i]));
		assert_int_equal(tokens_check(text[i], TOKEN_TEXT)->uid,
		    2000 + i / TOKENS_PER_USER);
	}
	/* one slot more than can be is no token */
	assert_int_equal(pread(file, raw, TOKEN_SLOT, 0), TOKEN_SLOT);
	overwrite(TOKENS_MAX * TOKEN_SLOT, raw, TOKEN_SLOT);
	memset(raw, ' ', TOKEN_SLOT - 1);
	overwrite(0, raw, TOKEN_SLOT);
	again();
	assert_false(is_good(text[0]));
	assert_int_equal(count(), TOKENS_MAX - 1);
	assert_non_null(strstr(said, "1 of 4097"));
	assert_int_equal(ftruncate(file, TOKENS_MAX * TOKEN_SLOT), 0);
	again();
	assert_int_equal(tokens_create(&t, more), ERR_OK);
	assert_int_equal(tokens_create(&t, more), ERR_MAX_TOKENS);
	today += 5;
	assert_int_equal(tokens_create(&t, more), ERR_OK);
	assert_false(is_good(text[77]));
	for (i = 0; i < TOKENS_MAX; i++)
		assert_int_equal(is_good(text[i]), i != 0 && i != 77);
}

static void
names_and_labels(void **state)
{
	static const char *const bad[] = { "two words", "=", "new\nline",
	    "a/b", "caf\xc3\xa9", "\x1b[1m" };
	char text[TOKEN_TEXT + 1];
	struct token t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		t = wanted(ALICE, "alice");
		(void)strcpy(t.label, bad[i]);
		assert_int_equal(tokens_create(&t, text),
		    ERR_INVALID_ARGUMENT);
	}
	/* the longest of everything */
	t = wanted(UINT32_MAX, "");
	memset(t.user, 'u', USER_NAME_MAX - 1);
	memset(t.label, 'l', TOKEN_LABEL_MAX);
	t.expires = 253402300799;
	assert_int_equal(tokens_create(&t, text), ERR_OK);
	again();
	assert_true(is_good(text));
	assert_string_equal(tokens_find(t.id)->label, t.label);
	assert_string_equal(tokens_find(t.id)->user, t.user);
	t = wanted(ALICE, "DOMAIN\\alice of sales");
	assert_int_equal(tokens_create(&t, text), ERR_OK);
	again();
	assert_string_equal(tokens_find(t.id)->user, "DOMAIN\\alice of sales");
	/* a name that could not be read back is not written */
	t = wanted(ALICE, " alice");
	assert_int_equal(tokens_create(&t, text), ERR_INTERNAL);
	t = wanted(ALICE, "al\nice");
	assert_int_equal(tokens_create(&t, text), ERR_INTERNAL);
	assert_int_equal(count(), 2);
}

static void
a_file_that_cannot_be_written(void **state)
{
	char text[TOKEN_TEXT + 1], more[TOKEN_TEXT + 1];
	struct token t;
	size_t i;

	(void)state;
	t = make(ALICE, text);
	/* read-only, the same fd stands for a disk that is full */
	close(file);
	file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_not_equal(file, -1);
	t = wanted(BOB, "bob");
	assert_int_equal(tokens_create(&t, more), ERR_INTERNAL);
	assert_int_equal(errno, EBADF);
	for (i = 0; i < sizeof(more); i++)
		assert_int_equal(more[i], 0);
	/* refused at once, whatever a restart will do */
	assert_int_equal(tokens_revoke(tokens_check(text, TOKEN_TEXT)->id),
	    -1);
	assert_int_equal(errno, EBADF);
	assert_false(is_good(text));
}

#ifndef __SANITIZE_ADDRESS__
/* -- the spawner's filter; a sanitizer needs more calls ------------------- */

static int
under_the_filter(int (*call)(int), int fd)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (filter_load(&spawner_filter) == -1)
			_exit(2);
		_exit(call(fd) == -1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static int
call_pwrite(int fd)
{
	return (int)pwrite(fd, "x", 1, 0);
}

static int
call_fsync(int fd)
{
	return fsync(fd);
}

static int
call_open(int fd)
{
	(void)fd;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int
call_dup3(int fd)
{
	return dup3(fd, TOKENS_FD, O_CLOEXEC);
}

static void
the_filter_knows_the_file(void **state)
{
	int other = memfd_create("other", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(dup3(file, TOKENS_FD, O_CLOEXEC), TOKENS_FD);
	assert_int_not_equal(other, TOKENS_FD);
	assert_int_equal(under_the_filter(call_pwrite, TOKENS_FD), 0);
	assert_int_equal(under_the_filter(fdatasync, TOKENS_FD), 0);
	assert_int_equal(under_the_filter(call_pwrite, other), SIGSYS);
	assert_int_equal(under_the_filter(fdatasync, other), SIGSYS);
	assert_int_equal(under_the_filter(call_fsync, TOKENS_FD), SIGSYS);
	assert_int_equal(under_the_filter(call_open, -1), SIGSYS);
	assert_int_equal(under_the_filter(call_dup3, other), SIGSYS);
	assert_int_equal(close(TOKENS_FD), 0);
	assert_int_equal(close(other), 0);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(made_and_checked, begin, end),
		cmocka_unit_test_setup_teardown(the_file_has_no_secret, begin,
		    end),
		cmocka_unit_test_setup_teardown(wrong_ones, begin, end),
		cmocka_unit_test_setup_teardown(expired, begin, end),
		cmocka_unit_test_setup_teardown(revoked, begin, end),
		cmocka_unit_test_setup_teardown(any_byte_changed, begin, end),
		cmocka_unit_test_setup_teardown(torn, begin, end),
		cmocka_unit_test_setup_teardown(truncated, begin, end),
		cmocka_unit_test_setup_teardown(garbage, begin, end),
		cmocka_unit_test_setup_teardown(too_many_of_a_user, begin,
		    end),
		cmocka_unit_test_setup_teardown(all_that_can_be, begin, end),
		cmocka_unit_test_setup_teardown(names_and_labels, begin, end),
		cmocka_unit_test_setup_teardown(a_file_that_cannot_be_written,
		    begin, end),
#ifndef __SANITIZE_ADDRESS__
		cmocka_unit_test_setup_teardown(the_filter_knows_the_file,
		    begin, end),
#endif
	};

	tokens_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
