/* SPDX-License-Identifier: ISC */
/* Keys: their forms, their ends, and who gives way when there are many. */
/* links: spawner/keys/keys.c spawner/keys/tokens.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/base/loop.h"
#include "spawner/keys/keys.h"

#define ALICE	1001
#define BOB	1002
#define TIMERS	256

static uint64_t		 now = 1000000;
static struct loop_timer *timers[TIMERS];
static size_t		 nended;
static struct key	 last;

/* Time is the test's, and so are the timers. */
uint64_t
loop_now_ms(void)
{
	return now;
}

void
loop_timer_set(struct loop_timer *t, uint64_t ms, loop_timer_fn fn, void *arg)
{
	size_t i = 0;

	while (timers[i] != NULL)
		assert_true(++i < TIMERS);
	timers[i] = t;
	t->slot = i + 1;
	t->due_ms = now + ms;
	t->fn = fn;
	t->arg = arg;
}

void
loop_timer_unset(struct loop_timer *t)
{
	if (t->slot != 0)
		timers[t->slot - 1] = NULL;
	t->slot = 0;
}

/* Timers come late when late is set: the clock alone has to do. */
static void
pass(uint64_t ms, bool late)
{
	struct loop_timer *t;
	size_t i;

	now += ms;
	for (i = 0; i < TIMERS && !late; i++) {
		t = timers[i];
		if (t == NULL || t->due_ms > now)
			continue;
		loop_timer_unset(t);
		t->fn(t->arg);
	}
}

static void
note_end(const struct key *k)
{
	nended++;
	last = *k;
}

static int
setup(void **state)
{
	(void)state;
	tokens_init();
	keys_init(note_end);
	keys_end_all();
	nended = 0;
	return 0;
}

static struct key
like(enum key_kind kind, uint32_t uid)
{
	return (struct key){ .kind = kind, .uid = uid, .access = ACCESS_USE };
}

/* Makes one; its text is in text, of which there is no other. */
static struct key
make(const struct key *k, char text[KEY_TEXT + 1])
{
	const struct key *made = keys_make(k, 0, text);

	assert_non_null(made);
	assert_int_equal(strlen(text), KEY_TEXT);
	assert_int_equal(strlen(made->id), KEY_ID);
	return *made;
}

static const struct key *
check(const char *text)
{
	return keys_check(text, strlen(text));
}

/* -- tests -- */

static void
forms(void **state)
{
	static const char *const prefixes[KEY_KINDS] = { "dlc_", "dlo_",
	    "dlk_", "dls_" };
	char text[KEY_TEXT + 1], other[KEY_TEXT + 1];
	struct key k;
	size_t i;

	(void)state;
	for (i = 0; i < KEY_KINDS; i++) {
		k = like((enum key_kind)i, ALICE);
		(void)make(&k, text);
		(void)make(&k, other);
		assert_memory_equal(text, prefixes[i], 4);
		assert_string_not_equal(text, other);
		assert_true(keys_is_kind(text, KEY_TEXT, (enum key_kind)i));
		assert_false(keys_is_kind(text, KEY_TEXT - 1,
		    (enum key_kind)i));
	}
	k = like(KEY_SESSION, ALICE);
	k.access = ACCESS_SEE;
	(void)make(&k, text);
	assert_memory_equal(text, "dlv_", 4);
	assert_int_equal(check(text)->access, ACCESS_SEE);
}

static void
only_the_whole_text(void **state)
{
	char text[KEY_TEXT + 2] = { 0 };
	struct key k = like(KEY_COOKIE, ALICE);
	size_t i;

	(void)state;
	(void)make(&k, text);
	for (i = 0; i < KEY_TEXT; i++) {
		text[i] ^= 1;
		assert_null(check(text));
		text[i] ^= 1;
		assert_null(keys_check(text, i));
	}
	assert_null(keys_check(text, KEY_TEXT + 1));
	/* what it may be used for stands in what is hashed */
	memcpy(text, "dls_", 4);
	assert_null(check(text));
	memcpy(text, "dlc_", 4);
	assert_int_equal(check(text)->uid, ALICE);
}

static void
good_once(void **state)
{
	static const enum key_kind once[] = { KEY_LOGIN, KEY_TICKET };
	char text[KEY_TEXT + 1];
	struct key k;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		k = like(once[i], ALICE);
		k = make(&k, text);
		assert_string_equal(check(text)->id, k.id);
		assert_null(check(text));
		assert_null(keys_find(k.id));
	}
	/* being used is no end that anybody has to hear of */
	assert_int_equal(nended, 0);
	k = like(KEY_COOKIE, ALICE);
	(void)make(&k, text);
	assert_non_null(check(text));
	assert_non_null(check(text));
}

static void
they_end_in_time(void **state)
{
	static const struct {
		enum key_kind	 kind;
		uint64_t	 life_s;
	} lives[] = { { KEY_TICKET, KEY_TICKET_S }, { KEY_LOGIN, KEY_LOGIN_S },
	    { KEY_COOKIE, KEY_COOKIE_S } };
	char text[KEY_TEXT + 1], late[KEY_TEXT + 1];
	struct key k;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		k = like(lives[i].kind, ALICE);
		(void)make(&k, text);
		k = make(&k, late);
		assert_in_range(k.expires, (uint64_t)time(NULL) +
		    lives[i].life_s - 2, (uint64_t)time(NULL) +
		    lives[i].life_s + 2);
		pass(lives[i].life_s * 1000 - 1, false);
		assert_int_equal(nended, i * 2);
		assert_non_null(keys_find(k.id));
		pass(1, true);
		assert_null(check(late));
		pass(0, false);
		assert_int_equal(nended, (i + 1) * 2);
		assert_null(check(text));
		assert_null(keys_find(k.id));
	}
}

static void
new_for_ten_minutes(void **state)
{
	char text[KEY_TEXT + 1];
	struct key k = like(KEY_COOKIE, ALICE);

	(void)state;
	k = make(&k, text);
	assert_true(keys_is_new(k.id));
	pass(KEY_LOGIN_S * 1000 - 1, false);
	assert_true(keys_is_new(k.id));
	pass(1, false);
	assert_false(keys_is_new(k.id));
	assert_false(keys_is_new("00000000"));
	assert_non_null(check(text));
}

/* Nor does it outlive what it was made by. */
static void
bounded_lives(void **state)
{
	char text[KEY_TEXT + 1];
	struct key k = like(KEY_SESSION, ALICE);
	const struct key *made;

	(void)state;
	made = keys_make(&k, 0, text);
	assert_int_equal(made->expires, 0);
	pass(UINT64_C(400) * 86400 * 1000, false);
	assert_non_null(check(text));
	(void)keys_make(&k, 60, text);
	k.kind = KEY_COOKIE;
	made = keys_make(&k, 60, text);
	assert_int_equal(made->ends_ms, now + 60000);
	pass(60000, false);
	assert_int_equal(nended, 2);
	made = keys_make(&k, (int64_t)KEY_COOKIE_S * 2, text);
	assert_int_equal(made->ends_ms, now + UINT64_C(1000) * KEY_COOKIE_S);
}

static void
others_are_not_pushed_out(void **state)
{
	static const struct {
		enum key_kind	 kind;
		size_t		 most;
	} bounds[] = { { KEY_COOKIE, KEY_COOKIES_MAX },
	    { KEY_LOGIN, KEY_LOGINS_MAX }, { KEY_TICKET, KEY_TICKETS_MAX } };
	char text[KEY_TEXT + 1];
	struct key k, bob, first;
	size_t i, n;

	(void)state;
	for (i = 0; i < 3; i++) {
		nended = 0;
		k = like(bounds[i].kind, BOB);
		bob = make(&k, text);
		k = like(bounds[i].kind, ALICE);
		first = make(&k, text);
		for (n = 1; n < bounds[i].most; n++)
			(void)make(&k, text);
		assert_int_equal(nended, 0);
		(void)make(&k, text);
		assert_int_equal(nended, 1);
		assert_string_equal(last.id, first.id);
		for (n = 0; n < 500; n++)
			(void)make(&k, text);
		assert_non_null(keys_find(bob.id));
	}
}

/* Cookies made with a stolen token do not push out those of other tokens. */
static void
own_token_first(void **state)
{
	char text[KEY_TEXT + 1];
	struct key mine = like(KEY_COOKIE, ALICE), his = mine, first;
	size_t i;

	(void)state;
	memcpy(mine.token, "11111111", 8);
	memcpy(his.token, "22222222", 8);
	first = make(&mine, text);
	for (i = 0; i < 3 * KEY_COOKIES_MAX; i++)
		(void)make(&his, text);
	assert_non_null(keys_find(first.id));
	/* but who comes new finds room */
	memcpy(mine.token, "33333333", 8);
	first = make(&mine, text);
	assert_non_null(keys_find(first.id));
	assert_non_null(check(text));
}

static void
ended_by_what_they_hang_on(void **state)
{
	struct key cookie = like(KEY_COOKIE, ALICE);
	struct key ticket = like(KEY_TICKET, ALICE);
	struct key shared = like(KEY_SESSION, ALICE), admin = cookie;
	char text[KEY_TEXT + 1];

	(void)state;
	memset(&shared.session, 7, sizeof(shared.session));
	ticket.session = shared.session;
	cookie = make(&cookie, text);
	memcpy(ticket.parent, cookie.id, sizeof(ticket.parent));
	ticket = make(&ticket, text);
	shared = make(&shared, text);
	assert_int_equal(keys_of_session(&shared.session), 1);
	keys_end(cookie.id);
	assert_int_equal(nended, 2);
	assert_null(keys_find(ticket.id));
	assert_non_null(keys_find(shared.id));
	ticket.parent[0] = '\0';
	ticket = make(&ticket, text);
	keys_end_shared(&shared.session);
	assert_null(keys_find(shared.id));
	assert_non_null(keys_find(ticket.id));
	keys_end_session(&ticket.session);
	assert_null(keys_find(ticket.id));
	memcpy(shared.token, "1a2b3c4d", 8);
	shared = make(&shared, text);
	admin.flags = PRINCIPAL_ADMIN;
	admin = make(&admin, text);
	keys_end_token("1a2b3c4d");
	assert_null(keys_find(shared.id));
	assert_non_null(keys_find(admin.id));
	/* another's, and root's, are not this one's */
	keys_end_admins((const struct viewer *)(const void *)text);
	assert_non_null(keys_find(admin.id));
	keys_end_admins(NULL);
	assert_null(keys_find(admin.id));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(forms, setup),
		cmocka_unit_test_setup(only_the_whole_text, setup),
		cmocka_unit_test_setup(good_once, setup),
		cmocka_unit_test_setup(they_end_in_time, setup),
		cmocka_unit_test_setup(new_for_ten_minutes, setup),
		cmocka_unit_test_setup(bounded_lives, setup),
		cmocka_unit_test_setup(others_are_not_pushed_out, setup),
		cmocka_unit_test_setup(own_token_first, setup),
		cmocka_unit_test_setup(ended_by_what_they_hang_on, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
