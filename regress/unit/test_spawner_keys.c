/* SPDX-License-Identifier: ISC */
/* The spawner's side of keys: who may make one, whom it lets in, its end. */
/* links: spawner/ spawner/dispatch.o !spawner/main.c */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "test_spawner_people.h"

#include <time.h>

#include "spawner/keys/keys.h"

#define ROOT_CONN	20
#define CAROL_CONN	21
#define CAROL		1003
/* Web connections that are nobody's yet. */
#define WEB_CONN	50
#define NOBODY		((uint32_t)-1)

/* Seconds that the spawner, a child that shares them, is ahead of the host. */
static volatile time_t	*ahead;

int
clock_gettime(clockid_t id, struct timespec *ts)
{
	int r = (int)syscall(SYS_clock_gettime, id, ts);

	if (ahead != NULL)
		ts->tv_sec += *ahead;
	return r;
}

/* The content of a KEY message. */
struct made {
	char		 key[KEY_TEXT + 2], see[KEY_TEXT + 2];
	uint64_t	 expires;
};

static void
ask_key(uint32_t conn, enum key_kind kind, const struct sid *sid,
    uint32_t access, uint32_t rotate)
{
	struct msg_out *o = msg_new(MSG_KEY_MAKE, sid, conn, 41);

	msg_put_u32(o, kind);
	msg_put_u32(o, access);
	msg_put_u32(o, rotate);
	rig_send(ROLE_NETPROC, o, -1);
}

static struct made
expect_key(const char *prefix)
{
	struct made k;

	expect(ROLE_NETPROC, MSG_KEY);
	assert_int_equal(got.m.hdr.request, 41);
	msg_get_str(&got.m, k.key, sizeof(k.key));
	msg_get_str(&got.m, k.see, sizeof(k.see));
	k.expires = msg_get_u64(&got.m);
	assert_int_equal(msg_end(&got.m), 0);
	assert_int_equal(strlen(k.key), KEY_TEXT);
	assert_memory_equal(k.key, prefix, 4);
	return k;
}

static struct made
make(uint32_t conn, enum key_kind kind, const char *prefix)
{
	ask_key(conn, kind, NULL, ACCESS_USE, 0);
	return expect_key(prefix);
}

static void
stranger(enum door door, uint32_t conn)
{
	enter_by(door, conn, NOBODY, "", PRINCIPAL_UNAUTHENTICATED);
}

static void
expect_authed(uint32_t conn, uint32_t uid, uint32_t flags)
{
	expect(ROLE_NETPROC, MSG_AUTHED);
	assert_int_equal(got.m.hdr.conn, conn);
	assert_int_equal(msg_get_u32(&got.m), uid);
	assert_int_equal(msg_get_u32(&got.m), flags);
}

/* Somebody new on the web shows that. */
static void
show(uint32_t conn, const char *secret)
{
	stranger(DOOR_WEB, conn);
	ask_auth(conn, secret);
}

static void
expect_end(uint32_t conn)
{
	expect(ROLE_NETPROC, MSG_CONN_END);
	assert_int_equal(got.m.hdr.conn, conn);
}

static void
alice_is_there(void)
{
	enter(ALICE_CONN, ALICE, "alice", 0);
	tell_account(0, ALICE, ACCOUNT_FOUND, "alice");
}

/* -- browsers ------------------------------------------------------------- */

static void
cookie_of_a_token(void **state)
{
	uint32_t flags = PRINCIPAL_BY_TOKEN | PRINCIPAL_READ_ONLY;
	struct made k;
	struct row t;

	(void)state;
	alice_is_there();
	ask_create(ALICE_CONN, TOKEN_READ_ONLY, 3600, "", "");
	t = expect_token(ALICE_CONN);
	show(WEB_CONN, t.secret);
	expect_authed(WEB_CONN, ALICE, flags);
	k = make(WEB_CONN, KEY_COOKIE, "dlc_");
	assert_string_equal(k.see, "");
	assert_in_range(k.expires, t.expires - 1, t.expires + 1);
	ask_key(WEB_CONN, KEY_COOKIE, NULL, ACCESS_USE, 0);
	expect_result(ERR_NOT_PERMITTED, "each time anew");
	show(WEB_CONN + 1, k.key);
	expect_authed(WEB_CONN + 1, ALICE, flags | PRINCIPAL_BY_KEY);
	/* a cookie makes no other, nor what lasts longer */
	ask_key(WEB_CONN + 1, KEY_COOKIE, NULL, ACCESS_USE, 0);
	expect_result(ERR_NOT_PERMITTED, NULL);
	ask_key(WEB_CONN + 1, KEY_LOGIN, NULL, ACCESS_USE, 0);
	expect_result(ERR_NOT_PERMITTED, "on the daemon's own host");
	ask_create(WEB_CONN + 1, 0, 0, "", "");
	expect_result(ERR_NOT_PERMITTED, NULL);
	stranger(DOOR_TCP, WEB_CONN + 2);
	ask_auth(WEB_CONN + 2, k.key);
	expect_result(ERR_AUTH_FAILED, "over HTTP only");
	ask_revoke(ALICE_CONN, t.id);
	expect_end(WEB_CONN);
	expect_end(WEB_CONN + 1);
	expect_result(ERR_OK, NULL);
	show(WEB_CONN + 3, k.key);
	expect_result(ERR_AUTH_FAILED, "log in again");
}

static void
one_time_login(void **state)
{
	struct made once, k;

	(void)state;
	alice_is_there();
	once = make(ALICE_CONN, KEY_LOGIN, "dlo_");
	ask_key(ALICE_CONN, KEY_COOKIE, NULL, ACCESS_USE, 0);
	expect_result(ERR_NOT_PERMITTED, NULL);
	show(WEB_CONN, once.key);
	expect_authed(WEB_CONN, ALICE, PRINCIPAL_BY_KEY);
	show(WEB_CONN + 1, once.key);
	expect_result(ERR_AUTH_FAILED, NULL);
	k = make(WEB_CONN, KEY_COOKIE, "dlc_");
	show(WEB_CONN + 2, k.key);
	expect_authed(WEB_CONN + 2, ALICE, PRINCIPAL_BY_KEY);
	/* the user, or the sender of the key, has just been on this host */
	ask_create(WEB_CONN + 2, 0, 0, "", "");
	(void)expect_token(WEB_CONN + 2);
	ask(MSG_KEY_END, NULL, ALICE_CONN);
	expect_result(ERR_INVALID_ARGUMENT, "no browser");
	/* the answer comes first, then they all end */
	ask(MSG_KEY_END, NULL, WEB_CONN + 2);
	expect_result(ERR_OK, NULL);
	expect_end(WEB_CONN);
	expect_end(WEB_CONN + 2);
	show(WEB_CONN + 3, k.key);
	expect_result(ERR_AUTH_FAILED, NULL);
}

/* A stolen cookie comes too late to make a token, which would outlast it. */
static void
old_logins_make_no_tokens(void **state)
{
	struct made k;

	(void)state;
	alice_is_there();
	k = make(ALICE_CONN, KEY_LOGIN, "dlo_");
	show(WEB_CONN, k.key);
	expect_authed(WEB_CONN, ALICE, PRINCIPAL_BY_KEY);
	k = make(WEB_CONN, KEY_COOKIE, "dlc_");
	ask_create(WEB_CONN, 0, 0, "", "");
	(void)expect_token(WEB_CONN);
	*ahead += KEY_LOGIN_S;
	show(WEB_CONN + 1, k.key);
	expect(ROLE_IDPROC, MSG_LOOKUP);
	tell_account(0, ALICE, ACCOUNT_FOUND, "alice");
	expect_authed(WEB_CONN + 1, ALICE, PRINCIPAL_BY_KEY);
	ask_create(WEB_CONN + 1, 0, 0, "", "");
	expect_result(ERR_NOT_PERMITTED, "within ten minutes");
	/* nor does the connection by which the browser logged in */
	ask_create(WEB_CONN, 0, 0, "", "");
	expect_result(ERR_NOT_PERMITTED, "within ten minutes");
	*ahead = 0;
}

/* A browser sends its cookie to every port of the host. */
static void
of_no_use_to_others(void **state)
{
	struct made k;

	(void)state;
	alice_is_there();
	k = make(ALICE_CONN, KEY_LOGIN, "dlo_");
	enter_by(DOOR_WEB, WEB_CONN, ALICE, "", PRINCIPAL_UNAUTHENTICATED);
	ask_auth(WEB_CONN, k.key);
	expect_authed(WEB_CONN, ALICE, PRINCIPAL_BY_KEY);
	k = make(WEB_CONN, KEY_COOKIE, "dlc_");
	enter_by(DOOR_WEB, WEB_CONN + 1, BOB, "", PRINCIPAL_UNAUTHENTICATED);
	ask_auth(WEB_CONN + 1, k.key);
	expect_result(ERR_AUTH_FAILED, "another user's");
	show(WEB_CONN + 2, k.key);
	expect_result(ERR_AUTH_FAILED, "another host");
	enter_by(DOOR_WEB, WEB_CONN + 3, ALICE, "", PRINCIPAL_UNAUTHENTICATED);
	ask_auth(WEB_CONN + 3, k.key);
	expect_authed(WEB_CONN + 3, ALICE, PRINCIPAL_BY_KEY);
}

/* Root is known by the local socket; others are looked up each time. */
static void
administrators(void **state)
{
	struct made k;

	(void)state;
	enter_by(DOOR_LOCAL, ROOT_CONN, 990, "_dlrun", PRINCIPAL_ADMIN);
	tell_account(0, 990, ACCOUNT_FOUND, "_dlrun");
	k = make(ROOT_CONN, KEY_LOGIN, "dlo_");
	show(WEB_CONN, k.key);
	expect_authed(WEB_CONN, 990, PRINCIPAL_BY_KEY | PRINCIPAL_ADMIN);
	k = make(WEB_CONN, KEY_COOKIE, "dlc_");
	show(WEB_CONN + 1, k.key);
	expect_authed(WEB_CONN + 1, 990, PRINCIPAL_BY_KEY | PRINCIPAL_ADMIN);
	enter_by(DOOR_LOCAL, ALICE_CONN, ALICE, "alice", PRINCIPAL_ADMIN);
	tell_account(0, ALICE, ACCOUNT_FOUND | ACCOUNT_ADMIN, "alice");
	k = make(ALICE_CONN, KEY_LOGIN, "dlo_");
	/* a former administrator must reconnect; the keys made as one fail */
	tell_account(0, ALICE, ACCOUNT_FOUND, "alice");
	expect(ROLE_NETPROC, MSG_CONN_END);
	assert_int_equal(got.m.hdr.conn, ALICE_CONN);
	show(WEB_CONN + 3, k.key);
	expect_result(ERR_AUTH_FAILED, NULL);
	/* root's account is no administrator's, and root is one all the same */
	tell_account(0, 990, ACCOUNT_FOUND, "_dlrun");
	expect_quiet(ROLE_NETPROC);
}

/* By TCP root is an ordinary user: the client may be root's proxy. */
static void
root_by_tcp(void **state)
{
	struct made k;

	(void)state;
	enter_by(DOOR_TCP, ROOT_CONN, 990, "_dlrun", 0);
	tell_account(0, 990, ACCOUNT_FOUND, "_dlrun");
	k = make(ROOT_CONN, KEY_LOGIN, "dlo_");
	show(WEB_CONN, k.key);
	expect_authed(WEB_CONN, 990, PRINCIPAL_BY_KEY);
}

/* Administrators that the configuration drops must reconnect as users. */
static void
no_administrator_any_more(void **state)
{
	struct msg_out *o;
	struct made k, unused;

	(void)state;
	enter_by(DOOR_LOCAL, ALICE_CONN, ALICE, "alice", PRINCIPAL_ADMIN);
	tell_account(0, ALICE, ACCOUNT_FOUND | ACCOUNT_ADMIN, "alice");
	unused = make(ALICE_CONN, KEY_LOGIN, "dlo_");
	k = make(ALICE_CONN, KEY_LOGIN, "dlo_");
	show(WEB_CONN, k.key);
	expect_authed(WEB_CONN, ALICE, PRINCIPAL_BY_KEY | PRINCIPAL_ADMIN);
	k = make(WEB_CONN, KEY_COOKIE, "dlc_");
	strcpy(rig_settings.admin_users, "1002");
	o = msg_new(MSG_SETTINGS, NULL, 0, 0);
	settings_put(o, &rig_settings);
	rig_send(ROLE_PARENT, o, -1);
	expect(ROLE_NETPROC, MSG_CONN_END);
	expect(ROLE_NETPROC, MSG_CONN_END);
	show(WEB_CONN + 1, k.key);
	expect_result(ERR_AUTH_FAILED, NULL);
	show(WEB_CONN + 2, unused.key);
	expect_result(ERR_AUTH_FAILED, NULL);
}

/* A login that ends while its user is looked up lets nobody in. */
static void
ended_meanwhile(void **state)
{
	struct msg_out *o;
	struct made k;

	(void)state;
	alice_is_there();
	k = make(ALICE_CONN, KEY_LOGIN, "dlo_");
	show(WEB_CONN, k.key);
	expect_authed(WEB_CONN, ALICE, PRINCIPAL_BY_KEY);
	k = make(WEB_CONN, KEY_COOKIE, "dlc_");
	/* after these everybody is looked up anew */
	o = msg_new(MSG_SETTINGS, NULL, 0, 0);
	settings_put(o, &rig_settings);
	rig_send(ROLE_PARENT, o, -1);
	expect(ROLE_IDPROC, MSG_LOOKUP);
	stranger(DOOR_WEB, WEB_CONN + 1);
	ask_auth(WEB_CONN + 1, k.key);
	ask(MSG_KEY_END, NULL, WEB_CONN);
	expect_result(ERR_OK, NULL);
	expect_end(WEB_CONN);
	tell_account(0, ALICE, ACCOUNT_FOUND, "alice");
	expect_result(ERR_AUTH_FAILED, NULL);
	assert_int_equal(got.m.hdr.conn, WEB_CONN + 1);
}

/* Logins that may not make one-time keys, by their flags. */
static void
who_may_make_logins(void **state)
{
	static const uint32_t flags[] = { PRINCIPAL_BY_RULE,
	    PRINCIPAL_BY_TOKEN, PRINCIPAL_READ_ONLY, PRINCIPAL_BY_KEY };
	uint32_t conn = 60;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++, conn++) {
		enter_by(DOOR_LOCAL, conn, 2000 + conn, "somebody", flags[i]);
		ask_key(conn, KEY_LOGIN, NULL, ACCESS_USE, 0);
		expect_result(ERR_NOT_PERMITTED, "log in with");
	}
	enter_by(DOOR_WEB, conn, ALICE, "alice", PRINCIPAL_BY_RULE);
	ask_key(conn, KEY_COOKIE, NULL, ACCESS_USE, 0);
	expect_result(ERR_NOT_PERMITTED, NULL);
}

/* -- wrong tries ---------------------------------------------------------- */

static uint32_t	 next_conn = 100;

static uint32_t
try(uint32_t uid, const char *secret)
{
	enter_by(DOOR_WEB, ++next_conn, uid, "", PRINCIPAL_UNAUTHENTICATED);
	ask_auth(next_conn, secret);
	expect(ROLE_NETPROC, MSG_RESULT);
	return msg_get_u32(&got.m);
}

#define SECRET	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void
stale_cookies_are_no_tries(void **state)
{
	struct made once, k;
	int i;

	(void)state;
	alice_is_there();
	once = make(ALICE_CONN, KEY_LOGIN, "dlo_");
	show(WEB_CONN, once.key);
	expect_authed(WEB_CONN, ALICE, PRINCIPAL_BY_KEY);
	k = make(WEB_CONN, KEY_COOKIE, "dlc_");
	for (i = 0; i < 40; i++)
		assert_int_equal(try(NOBODY, "dlc_" SECRET), ERR_AUTH_FAILED);
	assert_int_equal(try(NOBODY, "dlt_" SECRET), ERR_AUTH_FAILED);
	for (i = 0; i < 20; i++)
		(void)try(NOBODY, "dlo_" SECRET);
	assert_int_equal(try(NOBODY, "dlt_" SECRET), ERR_TOO_MANY_TRIES);
	assert_int_equal(try(NOBODY, "dls_" SECRET), ERR_TOO_MANY_TRIES);
	/* a logged-in user goes on despite others' tries at the address */
	show(WEB_CONN + 1, k.key);
	expect_authed(WEB_CONN + 1, ALICE, PRINCIPAL_BY_KEY);
}

/* All of one host share its address. */
static void
local_users_are_told_apart(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 20; i++)
		(void)try(ALICE, "dlt_" SECRET);
	assert_int_equal(try(ALICE, "dlt_" SECRET), ERR_TOO_MANY_TRIES);
	assert_int_equal(try(BOB, "dlt_" SECRET), ERR_AUTH_FAILED);
	assert_int_equal(try(NOBODY, "dlt_" SECRET), ERR_AUTH_FAILED);
}

/* A user by a rule may be anybody: wrong tries slow down only the address. */
static void
who_is_anybody_slows_nobody(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 20; i++) {
		enter_by(DOOR_WEB, ++next_conn, ALICE, "alice",
		    PRINCIPAL_BY_RULE);
		ask_auth(next_conn, "dlt_" SECRET);
		expect(ROLE_NETPROC, MSG_RESULT);
	}
	assert_int_equal(msg_get_u32(&got.m), ERR_TOO_MANY_TRIES);
	assert_int_equal(try(NOBODY, "dlt_" SECRET), ERR_TOO_MANY_TRIES);
	assert_int_equal(try(ALICE, "dlt_" SECRET), ERR_AUTH_FAILED);
}

/* -- guests --------------------------------------------------------------- */

/* Returns the number of a new guest, to whom nothing else is shown. */
static uint32_t
expect_guest(uint32_t conn, const struct sid *sid, uint32_t flags,
    uint32_t access)
{
	uint32_t number, sees = 0, eyes = EYES_OWN, may = 0;

	while (rig_recv(ROLE_NETPROC, WAIT_MS) &&
	    got.m.hdr.type == MSG_SEES) {
		assert_memory_equal(&got.m.hdr.session, sid, sizeof(*sid));
		sees = msg_get_u32(&got.m);
		eyes = msg_get_u32(&got.m);
		may = msg_get_u32(&got.m);
	}
	assert_int_equal(got.m.hdr.type, MSG_AUTHED);
	assert_int_equal(got.m.hdr.conn, conn);
	assert_memory_equal(&got.m.hdr.session, sid, sizeof(*sid));
	number = msg_get_u32(&got.m);
	assert_int_equal(msg_get_u32(&got.m), flags);
	assert_int_equal(sees, number);
	assert_int_equal(eyes, EYES_GUEST);
	assert_int_equal(may, access);
	return number;
}

static void
guests_see_one_session(void **state)
{
	struct sid sid, other;
	struct made k;
	uint32_t a, b;

	(void)state;
	alice_is_there();
	sid = upload(ALICE_CONN);
	other = upload(ALICE_CONN);
	ask_key(ALICE_CONN, KEY_SESSION, &sid, ACCESS_USE, 0);
	k = expect_key("dls_");
	assert_memory_equal(k.see, "dlv_", 4);
	assert_int_equal(k.expires, 0);
	stranger(DOOR_TCP, WEB_CONN);
	ask_auth(WEB_CONN, k.key);
	a = expect_guest(WEB_CONN, &sid, PRINCIPAL_GUEST, ACCESS_USE);
	stranger(DOOR_WEB_TLS, WEB_CONN + 1);
	ask_auth(WEB_CONN + 1, k.see);
	b = expect_guest(WEB_CONN + 1, &sid, PRINCIPAL_GUEST |
	    PRINCIPAL_READ_ONLY, ACCESS_SEE);
	assert_int_not_equal(a, b);
	assert_true(a >= 0xc0000000U && b >= 0xc0000000U);
	/* what has no field is asked with none; it is refused before */
	ask(MSG_DELETE, &sid, WEB_CONN);
	expect_result(ERR_NOT_PERMITTED, "type and watch");
	ask(MSG_DELETE, &other, WEB_CONN);
	expect_result(ERR_NOT_PERMITTED, NULL);
	ask(MSG_WHOAMI, NULL, WEB_CONN);
	expect_result(ERR_NOT_PERMITTED, NULL);
	ask_upload(WEB_CONN, 100, "");
	expect_result(ERR_NOT_PERMITTED, NULL);
	ask_key(WEB_CONN, KEY_SESSION, &sid, ACCESS_USE, 1);
	expect_result(ERR_NOT_PERMITTED, NULL);
	ask_auth(WEB_CONN, k.key);
	expect_result(ERR_NOT_PERMITTED, NULL);
	/* the session goes, and they with it */
	ask(MSG_DELETE, &sid, ALICE_CONN);
	expect(ROLE_NETPROC, MSG_SESSION_GONE);
	expect(ROLE_NETPROC, MSG_CONN_END);
	expect(ROLE_NETPROC, MSG_CONN_END);
	expect_result(ERR_OK, NULL);
	ask(MSG_DELETE, &other, WEB_CONN);
	expect_result(ERR_NOT_FOUND, NULL);
	show(WEB_CONN + 2, k.key);
	expect_result(ERR_AUTH_FAILED, NULL);
}

static void
rotation_puts_guests_out(void **state)
{
	struct made k, t;
	struct sid sid;

	(void)state;
	alice_is_there();
	sid = upload(ALICE_CONN);
	ask_key(ALICE_CONN, KEY_SESSION, &sid, ACCESS_USE, 1);
	k = expect_key("dls_");
	ask_key(ALICE_CONN, KEY_TICKET, &sid, ACCESS_SEE, 0);
	t = expect_key("dlk_");
	show(WEB_CONN, k.key);
	(void)expect_guest(WEB_CONN, &sid, PRINCIPAL_GUEST, ACCESS_USE);
	show(WEB_CONN + 1, t.key);
	(void)expect_guest(WEB_CONN + 1, &sid, PRINCIPAL_GUEST |
	    PRINCIPAL_READ_ONLY, ACCESS_SEE);
	ask_key(ALICE_CONN, KEY_SESSION, &sid, ACCESS_USE, 0);
	expect_result(ERR_KEYS_EXIST, NULL);
	ask_key(ALICE_CONN, KEY_SESSION, &sid, ACCESS_USE, 1);
	expect_end(WEB_CONN);
	(void)expect_key("dls_");
	show(WEB_CONN + 2, k.see);
	expect_result(ERR_AUTH_FAILED, NULL);
	show(WEB_CONN + 3, t.key);
	expect_result(ERR_AUTH_FAILED, NULL);
	/* the ticket was somebody's who may come in anyway */
	ask(MSG_WHOAMI, NULL, WEB_CONN + 1);
	expect_result(ERR_NOT_PERMITTED, NULL);
}

static void
who_logs_out_takes_his_tickets(void **state)
{
	struct made k, used, left;
	struct sid sid;

	(void)state;
	alice_is_there();
	sid = upload(ALICE_CONN);
	k = make(ALICE_CONN, KEY_LOGIN, "dlo_");
	show(WEB_CONN, k.key);
	expect_authed(WEB_CONN, ALICE, PRINCIPAL_BY_KEY);
	(void)make(WEB_CONN, KEY_COOKIE, "dlc_");
	ask_key(WEB_CONN, KEY_TICKET, &sid, ACCESS_USE, 0);
	used = expect_key("dlk_");
	ask_key(WEB_CONN, KEY_TICKET, &sid, ACCESS_USE, 0);
	left = expect_key("dlk_");
	ask_key(WEB_CONN, KEY_SESSION, &sid, ACCESS_USE, 0);
	k = expect_key("dls_");
	show(WEB_CONN + 1, used.key);
	(void)expect_guest(WEB_CONN + 1, &sid, PRINCIPAL_GUEST, ACCESS_USE);
	ask(MSG_KEY_END, NULL, WEB_CONN);
	expect_result(ERR_OK, NULL);
	expect_end(WEB_CONN);
	expect_end(WEB_CONN + 1);
	show(WEB_CONN + 2, left.key);
	expect_result(ERR_AUTH_FAILED, NULL);
	/* the session's key still lets in the guests who have it */
	show(WEB_CONN + 3, k.key);
	(void)expect_guest(WEB_CONN + 3, &sid, PRINCIPAL_GUEST, ACCESS_USE);
}

/* A command on a terminal that has not been started. */
static struct sid
new_terminal(void)
{
	struct msg_out *o = msg_new(MSG_NEW, NULL, ALICE_CONN, 3);

	msg_put_u32(o, NEW_TTY);
	msg_put_u32(o, 80);
	msg_put_u32(o, 24);
	msg_put_str(o, "");
	msg_put_str(o, "");
	msg_put_blob(o, "cat", 4);
	msg_put_blob(o, NULL, 0);
	rig_send(ROLE_NETPROC, o, -1);
	(void)expect_session(STATE_LOADED);
	expect_result(ERR_OK, NULL);
	return got.m.hdr.session;
}

/* Users cannot pass on access that they no longer have. */
static void
tickets_of_who_may_less(void **state)
{
	struct made used, left, see;
	struct sid sid;

	(void)state;
	alice_is_there();
	sid = upload(ALICE_CONN);
	enter(BOB_CONN, BOB, "bob", 0);
	tell_account(0, BOB, ACCOUNT_FOUND, "bob");
	share_with_bob(&sid, ACCESS_USE);
	expect_shared();
	ask_key(BOB_CONN, KEY_TICKET, &sid, ACCESS_USE, 0);
	used = expect_key("dlk_");
	ask_key(BOB_CONN, KEY_TICKET, &sid, ACCESS_USE, 0);
	left = expect_key("dlk_");
	ask_key(BOB_CONN, KEY_TICKET, &sid, ACCESS_SEE, 0);
	see = expect_key("dlk_");
	/* Bob cannot make a session's keys: the session is Alice's */
	ask_key(BOB_CONN, KEY_SESSION, &sid, ACCESS_USE, 0);
	expect_result(ERR_NOT_PERMITTED, "only its owner");
	show(WEB_CONN, used.key);
	(void)expect_guest(WEB_CONN, &sid, PRINCIPAL_GUEST, ACCESS_USE);
	share_with_bob(&sid, ACCESS_SEE);
	(void)expect_session(STATE_LOADED);
	expect_end(WEB_CONN);
	expect_result(ERR_OK, NULL);
	show(WEB_CONN + 1, left.key);
	expect_result(ERR_AUTH_FAILED, "no longer has access");
	show(WEB_CONN + 2, see.key);
	(void)expect_guest(WEB_CONN + 2, &sid, PRINCIPAL_GUEST |
	    PRINCIPAL_READ_ONLY, ACCESS_SEE);
	ask_key(BOB_CONN, KEY_TICKET, &sid, ACCESS_USE, 0);
	expect_result(ERR_READ_ONLY, NULL);
	/* nor can Bob start to debug or trace with see access only */
	ask_instrument(INST_DEBUGGER, &sid, BOB_CONN);
	expect_result(ERR_READ_ONLY, NULL);
	ask_instrument(INST_TRACER, &sid, BOB_CONN);
	expect_result(ERR_READ_ONLY, NULL);
}

/* A user who is not let in any more loses connections and guests. */
static void
guests_of_who_is_barred(void **state)
{
	struct made k, left;
	struct sid sid;

	(void)state;
	alice_is_there();
	sid = upload(ALICE_CONN);
	ask_key(ALICE_CONN, KEY_SESSION, &sid, ACCESS_USE, 0);
	k = expect_key("dls_");
	ask_key(ALICE_CONN, KEY_TICKET, &sid, ACCESS_USE, 0);
	left = expect_key("dlk_");
	show(WEB_CONN, k.key);
	(void)expect_guest(WEB_CONN, &sid, PRINCIPAL_GUEST, ACCESS_USE);
	tell_account(0, ALICE, ACCOUNT_BARRED, "alice");
	expect(ROLE_NETPROC, MSG_CONN_END);
	expect(ROLE_NETPROC, MSG_CONN_END);
	show(WEB_CONN + 1, k.key);
	expect_result(ERR_AUTH_FAILED, "may not have sessions here");
	show(WEB_CONN + 2, left.key);
	expect_result(ERR_AUTH_FAILED, "may not have sessions here");
}

/* Carol, who has no session of her own, lets somebody in to Alice's. */
static void
guest_of_carol(const struct sid *sid, uint32_t conn, enum access access)
{
	struct made k;

	enter(CAROL_CONN, CAROL, "carol", PRINCIPAL_ADMIN);
	tell_account(0, CAROL, ACCOUNT_FOUND | ACCOUNT_ADMIN, "carol");
	ask_key(CAROL_CONN, KEY_TICKET, sid, access, 0);
	k = expect_key("dlk_");
	show(conn, k.key);
	(void)expect_guest(conn, sid, PRINCIPAL_GUEST |
	    (access == ACCESS_USE ? 0 : PRINCIPAL_READ_ONLY), access);
}

/* Administrators' guests are let in by what these may: by their being such. */
static void
guests_of_administrators(void **state)
{
	struct sid sid;

	(void)state;
	alice_is_there();
	sid = upload(ALICE_CONN);
	/* the configuration names others */
	guest_of_carol(&sid, WEB_CONN, ACCESS_USE);
	tell_admins("2000");
	expect_end(CAROL_CONN);
	expect_end(WEB_CONN);
	ask(MSG_CONN_CLOSED, NULL, CAROL_CONN);
	/* her groups are others */
	guest_of_carol(&sid, WEB_CONN + 1, ACCESS_SEE);
	tell_account(0, CAROL, ACCOUNT_FOUND, "carol");
	expect_end(CAROL_CONN);
	expect_end(WEB_CONN + 1);
}

/* A ticket that was made by who is no browser has no login to hang on. */
static void
tickets_end_with_their_token(void **state)
{
	struct made used, left;
	struct sid sid;
	struct row t;

	(void)state;
	alice_is_there();
	sid = upload(ALICE_CONN);
	ask_create(ALICE_CONN, 0, 0, "", "");
	t = expect_token(ALICE_CONN);
	stranger(DOOR_TLS, WEB_CONN);
	ask_auth(WEB_CONN, t.secret);
	expect_authed(WEB_CONN, ALICE, PRINCIPAL_BY_TOKEN);
	ask_key(WEB_CONN, KEY_TICKET, &sid, ACCESS_USE, 0);
	used = expect_key("dlk_");
	ask_key(WEB_CONN, KEY_TICKET, &sid, ACCESS_USE, 0);
	left = expect_key("dlk_");
	show(WEB_CONN + 1, used.key);
	(void)expect_guest(WEB_CONN + 1, &sid, PRINCIPAL_GUEST, ACCESS_USE);
	ask_revoke(ALICE_CONN, t.id);
	expect_end(WEB_CONN);
	expect_end(WEB_CONN + 1);
	expect_result(ERR_OK, NULL);
	show(WEB_CONN + 2, left.key);
	expect_result(ERR_AUTH_FAILED, NULL);
}

/* A guest may start a session only as its owner has made it. */
static void
guests_first_start(void **state)
{
	static const struct {
		uint32_t flags, sandbox, network;
	} wrong[] = {
		{ 0, SANDBOX_DEFAULT, NETWORK_DEFAULT },
		{ START_TTY | START_DEBUG, SANDBOX_DEFAULT, NETWORK_DEFAULT },
		{ START_TTY, SANDBOX_NAMESPACES, NETWORK_DEFAULT },
		{ START_TTY, SANDBOX_NONE, NETWORK_DEFAULT },
		{ START_TTY, SANDBOX_DEFAULT, NETWORK_SHARED },
	};
	struct sid sid, other;
	struct made k;
	size_t i;

	(void)state;
	alice_is_there();
	sid = new_terminal();
	other = new_terminal();
	ask_key(ALICE_CONN, KEY_SESSION, &sid, ACCESS_USE, 0);
	k = expect_key("dls_");
	show(WEB_CONN, k.key);
	(void)expect_guest(WEB_CONN, &sid, PRINCIPAL_GUEST, ACCESS_USE);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ask_start_in(&sid, WEB_CONN, wrong[i].flags, wrong[i].sandbox,
		    wrong[i].network);
		expect_result(ERR_NOT_PERMITTED, "type and watch");
	}
	ask_start(&other, WEB_CONN, START_TTY);
	expect_result(ERR_NOT_PERMITTED, "type and watch");
	ask_start(&sid, WEB_CONN, START_TTY);
	expect(ROLE_LAUNCHER, MSG_RUN);
}

/* A read-only client makes no key that would let it do more. */
static void
read_only_makes_no_more(void **state)
{
	struct made k;
	struct sid sid;
	struct row t;

	(void)state;
	alice_is_there();
	sid = upload(ALICE_CONN);
	ask_create(ALICE_CONN, TOKEN_READ_ONLY, 0, "", "");
	t = expect_token(ALICE_CONN);
	show(WEB_CONN, t.secret);
	expect_authed(WEB_CONN, ALICE, PRINCIPAL_BY_TOKEN |
	    PRINCIPAL_READ_ONLY);
	ask_key(WEB_CONN, KEY_TICKET, &sid, ACCESS_USE, 0);
	expect_result(ERR_READ_ONLY, NULL);
	ask_key(WEB_CONN, KEY_SESSION, &sid, ACCESS_USE, 0);
	expect_result(ERR_READ_ONLY, NULL);
	ask_key(WEB_CONN, KEY_TICKET, &sid, ACCESS_SEE, 0);
	k = expect_key("dlk_");
	show(WEB_CONN + 1, k.key);
	(void)expect_guest(WEB_CONN + 1, &sid, PRINCIPAL_GUEST |
	    PRINCIPAL_READ_ONLY, ACCESS_SEE);
}

/* -- a netproc that was taken over ----------------------------------------- */

/* No connection says who it is twice: each has one try. */
static void
says_who_it_is_twice(void **state)
{
	(void)state;
	stranger(DOOR_WEB, WEB_CONN);
	ask_auth(WEB_CONN, "dlt_" SECRET);
	expect_result(ERR_AUTH_FAILED, NULL);
	ask_auth(WEB_CONN, "dlt_" SECRET);
	assert_false(rig_recv(ROLE_NETPROC, WAIT_MS));
}

/* It has seen all that went through it; one that only died keeps nothing. */
static void
who_broke_the_rules_may_have_keys(void **state)
{
	struct made k;

	(void)state;
	alice_is_there();
	k = make(ALICE_CONN, KEY_LOGIN, "dlo_");
	show(WEB_CONN, k.key);
	expect_authed(WEB_CONN, ALICE, PRINCIPAL_BY_KEY);
	k = make(WEB_CONN, KEY_COOKIE, "dlc_");
	rig_peer(ROLE_NETPROC);
	show(WEB_CONN, k.key);
	expect_authed(WEB_CONN, ALICE, PRINCIPAL_BY_KEY);
	ask_auth(WEB_CONN, k.key);
	assert_false(rig_recv(ROLE_NETPROC, WAIT_MS));
	rig_peer(ROLE_NETPROC);
	show(WEB_CONN, k.key);
	expect_result(ERR_AUTH_FAILED, "log in again");
}

/* Not even the owner's ticket makes somebody else the owner. */
static void
ticket_of_an_owner(void **state)
{
	struct sid sid;

	(void)state;
	alice_is_there();
	sid = upload(ALICE_CONN);
	ask_key(ALICE_CONN, KEY_TICKET, &sid, ACCESS_OWN, 0);
	assert_false(rig_recv(ROLE_NETPROC, WAIT_MS));
}

/* -- the log -------------------------------------------------------------- */

static bool
log_has(const char *const *secrets, size_t n, const char *want)
{
	char line[2048];
	bool found = false;
	size_t i;

	while (rig_recv(ROLE_LOGGER, 100)) {
		if (got.m.hdr.type != MSG_LOG)
			continue;
		(void)msg_get_u32(&got.m);
		msg_get_str(&got.m, line, sizeof(line));
		for (i = 0; i < n; i++)
			assert_null(strstr(line, secrets[i] + 4));
		found = found || strstr(line, want) != NULL;
	}
	return found;
}

static void
not_in_the_log(void **state)
{
	struct made login, cookie, keys;
	const char *secrets[] = { login.key, cookie.key, keys.key, keys.see,
	    SECRET };
	struct sid sid;

	(void)state;
	alice_is_there();
	sid = upload(ALICE_CONN);
	login = make(ALICE_CONN, KEY_LOGIN, "dlo_");
	show(WEB_CONN, login.key);
	expect_authed(WEB_CONN, ALICE, PRINCIPAL_BY_KEY);
	cookie = make(WEB_CONN, KEY_COOKIE, "dlc_");
	ask_key(ALICE_CONN, KEY_SESSION, &sid, ACCESS_USE, 0);
	keys = expect_key("dls_");
	show(WEB_CONN + 1, keys.see);
	(void)expect_guest(WEB_CONN + 1, &sid, PRINCIPAL_GUEST |
	    PRINCIPAL_READ_ONLY, ACCESS_SEE);
	assert_int_equal(try(NOBODY, "dlc_" SECRET), ERR_AUTH_FAILED);
	assert_int_equal(try(NOBODY, "dls_" SECRET), ERR_AUTH_FAILED);
	ask(MSG_KEY_END, NULL, WEB_CONN);
	expect_result(ERR_OK, NULL);
	assert_true(log_has(secrets, 5, "web logout"));
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, rig_start, rig_stop)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(cookie_of_a_token),
		TEST(one_time_login),
		TEST(old_logins_make_no_tokens),
		TEST(of_no_use_to_others),
		TEST(administrators),
		TEST(root_by_tcp),
		TEST(no_administrator_any_more),
		TEST(ended_meanwhile),
		TEST(who_may_make_logins),
		TEST(stale_cookies_are_no_tries),
		TEST(local_users_are_told_apart),
		TEST(who_is_anybody_slows_nobody),
		TEST(guests_see_one_session),
		TEST(rotation_puts_guests_out),
		TEST(who_logs_out_takes_his_tickets),
		TEST(tickets_of_who_may_less),
		TEST(guests_of_who_is_barred),
		TEST(guests_of_administrators),
		TEST(tickets_end_with_their_token),
		TEST(guests_first_start),
		TEST(read_only_makes_no_more),
		TEST(says_who_it_is_twice),
		TEST(who_broke_the_rules_may_have_keys),
		TEST(ticket_of_an_owner),
		TEST(not_in_the_log),
	};

	ahead = mmap(NULL, sizeof(*ahead), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ahead == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
