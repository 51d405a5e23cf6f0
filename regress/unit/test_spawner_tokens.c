/* SPDX-License-Identifier: ISC */
/* The spawner's side of TOKEN and AUTH: who may, and what is told to whom. */
/* links: spawner/ spawner/dispatch.o !spawner/main.c */
/* sessions play no part here, but the rig has them */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "test_spawner_people.h"

#define ADMIN_CONN	20
#define CAROL		1003

static uint32_t
count_rows(uint32_t conn)
{
	struct row r;
	uint32_t n, i;

	ask(MSG_TOKEN_LIST, NULL, conn);
	expect(ROLE_NETPROC, MSG_TOKEN_ROWS);
	n = msg_get_u32(&got.m);
	for (i = 0; i < n; i++)
		get_row(&r);
	assert_int_equal(msg_get_u32(&got.m), 0);
	assert_int_equal(msg_end(&got.m), 0);
	return n;
}

/* The spawner asks who that is; returns the number of its question. */
static uint64_t
expect_question(const char *want)
{
	char name[64];

	expect(ROLE_IDPROC, MSG_LOOKUP);
	(void)msg_get_u32(&got.m);
	msg_get_str(&got.m, name, sizeof(name));
	assert_int_equal(msg_end(&got.m), 0);
	assert_string_equal(name, want);
	assert_int_not_equal(got.m.hdr.request, 0);
	return got.m.hdr.request;
}

/* -- tests -- */

static void
made_listed_revoked(void **state)
{
	struct row r, s;

	(void)state;
	enter(ALICE_CONN, ALICE, "alice", 0);
	enter(BOB_CONN, BOB, "bob", 0);
	ask_create(ALICE_CONN, TOKEN_READ_ONLY, 100, "", "label");
	r = expect_token(ALICE_CONN);
	assert_string_equal(r.user, "alice");
	assert_string_equal(r.label, "label");
	assert_int_equal(r.read_only, 1);
	assert_int_equal(r.expires, r.created + 100);
	ask_create(ALICE_CONN, 0, 0, "alice", "");
	s = expect_token(ALICE_CONN);
	assert_string_not_equal(r.secret, s.secret);
	assert_int_equal(s.expires, 0);
	assert_int_equal(count_rows(ALICE_CONN), 2);
	assert_int_equal(count_rows(BOB_CONN), 0);
	ask_revoke(BOB_CONN, r.id);
	expect_result(ERR_NOT_FOUND, "TOKEN list");
	ask_revoke(ALICE_CONN, r.id);
	expect_result(ERR_OK, NULL);
	ask_revoke(ALICE_CONN, r.id);
	expect_result(ERR_NOT_FOUND, NULL);
	assert_int_equal(count_rows(ALICE_CONN), 1);
}

static void
who_may_not(void **state)
{
	static const uint32_t flags[] = { PRINCIPAL_BY_RULE,
	    PRINCIPAL_BY_RULE | PRINCIPAL_ADMIN, PRINCIPAL_BY_TOKEN,
	    PRINCIPAL_READ_ONLY };
	uint32_t conn = 40;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++, conn++) {
		enter(conn, 2000 + conn, "somebody", flags[i]);
		ask_create(conn, 0, 0, "", "");
		expect_result(ERR_NOT_PERMITTED, "connect on the daemon's");
		ask(MSG_TOKEN_LIST, NULL, conn);
		expect_result(ERR_NOT_PERMITTED, NULL);
		ask_revoke(conn, "00000000");
		expect_result(ERR_NOT_PERMITTED, NULL);
	}
	enter(ALICE_CONN, ALICE, "alice", 0);
	ask_create(ALICE_CONN, 0, 0, "bob", "");
	expect_result(ERR_NOT_PERMITTED, "administrators");
	ask_create(ALICE_CONN, 0, 0, "", "a b");
	expect_result(ERR_INVALID_ARGUMENT, "a label is");
	assert_int_equal(count_rows(ALICE_CONN), 0);
}

static void
for_another(void **state)
{
	struct row r;
	uint64_t q;

	(void)state;
	enter(ADMIN_CONN, CAROL, "carol", PRINCIPAL_ADMIN);
	enter(BOB_CONN, BOB, "bob", 0);
	ask_create(ADMIN_CONN, 0, 0, "Bob", "");
	q = expect_question("Bob");
	/* an answer to another question changes nothing */
	tell_account(q + 1000, ALICE, true, "alice");
	expect_quiet(ROLE_NETPROC);
	tell_account(q, BOB, true, "bob");
	r = expect_token(ADMIN_CONN);
	assert_string_equal(r.user, "bob");
	assert_int_equal(count_rows(BOB_CONN), 1);
	assert_int_equal(count_rows(ADMIN_CONN), 1);
	/* an answer that comes twice makes no second one */
	tell_account(q, BOB, true, "bob");
	expect_quiet(ROLE_NETPROC);
	ask_create(ADMIN_CONN, 0, 0, "eve", "");
	tell_account(expect_question("eve"), (uint32_t)-1, false, "");
	expect_result(ERR_INVALID_ARGUMENT, "no user eve");
	assert_int_equal(count_rows(ADMIN_CONN), 1);
	ask_revoke(ADMIN_CONN, r.id);
	expect_result(ERR_OK, NULL);
	assert_int_equal(count_rows(BOB_CONN), 0);
}

/* Whether something that was done is in the list of that connection's user. */
static bool
has_done(uint32_t conn, const char *what)
{
	char when[32], text[512];
	bool found = false;
	uint32_t n;

	ask(MSG_ACTIVITY, NULL, conn);
	expect(ROLE_NETPROC, MSG_ACTIVITY_LINES);
	for (n = msg_get_u32(&got.m); n > 0; n--) {
		msg_get_str(&got.m, when, sizeof(when));
		msg_get_str(&got.m, text, sizeof(text));
		found = found || strstr(text, what) != NULL;
	}
	assert_int_equal(msg_get_u32(&got.m), 0);
	return found;
}

/* An administrator has everybody's sessions, but not what is not one yet. */
static void
sessions_of_others(void **state)
{
	struct sid sid, half;
	int fd;

	(void)state;
	enter(ALICE_CONN, ALICE, "alice", 0);
	enter(BOB_CONN, BOB, "bob", 0);
	sid = upload(BOB_CONN);
	fd = get_room(ALICE_CONN, IMAGE_SIZE, "", &half);
	enter(ADMIN_CONN, CAROL, "carol", PRINCIPAL_ADMIN);
	ask(MSG_UPLOADED, &half, ADMIN_CONN);
	expect_result(ERR_NOT_FOUND, NULL);
	close(fd);
	ask(MSG_STOP, &sid, ADMIN_CONN);
	expect_result(ERR_NOT_RUNNING, NULL);
	assert_true(has_done(BOB_CONN, "carol STOP "));
	/* who comes as none reads nothing of what she did as one */
	enter(ADMIN_CONN + 1, CAROL, "carol", 0);
	assert_false(has_done(ADMIN_CONN + 1, "STOP"));
}

/* Where nobody would be told the token, none is made. */
static void
nobody_to_tell(void **state)
{
	uint64_t q;

	(void)state;
	enter(ADMIN_CONN, CAROL, "carol", PRINCIPAL_ADMIN);
	enter(ADMIN_CONN + 1, CAROL, "carol", PRINCIPAL_ADMIN);
	ask_create(ADMIN_CONN, 0, 0, "bob", "");
	q = expect_question("bob");
	ask(MSG_CONN_CLOSED, NULL, ADMIN_CONN);
	tell_account(q, BOB, true, "bob");
	expect_quiet(ROLE_NETPROC);
	assert_int_equal(count_rows(ADMIN_CONN + 1), 0);
	/* a netproc that has been replaced since */
	ask_create(ADMIN_CONN + 1, 0, 0, "bob", "");
	q = expect_question("bob");
	rig_peer(ROLE_NETPROC);
	tell_account(q, BOB, true, "bob");
	expect_quiet(ROLE_NETPROC);
	enter(ADMIN_CONN, CAROL, "carol", PRINCIPAL_ADMIN);
	assert_int_equal(count_rows(ADMIN_CONN), 0);
	/* and nobody to be asked */
	ask_create(ADMIN_CONN, 0, 0, "bob", "");
	(void)expect_question("bob");
	rig_peer(ROLE_IDPROC);
	expect_result(ERR_TRY_AGAIN, NULL);
	assert_int_equal(count_rows(ADMIN_CONN), 0);
}

static void
in_by_a_token(void **state)
{
	struct sid sid;
	struct row r;
	uint32_t conn;

	(void)state;
	enter(ALICE_CONN, ALICE, "alice", 0);
	tell_account(0, ALICE, true, "alice");
	sid = upload(ALICE_CONN);
	ask_create(ALICE_CONN, TOKEN_READ_ONLY, 0, "", "");
	r = expect_token(ALICE_CONN);
	for (conn = 50; conn < 52; conn++)
		enter(conn, (uint32_t)-1, "", PRINCIPAL_UNAUTHENTICATED);
	ask_auth(50, r.secret);
	expect(ROLE_NETPROC, MSG_AUTHED);
	assert_int_equal(msg_get_u32(&got.m), ALICE);
	assert_int_equal(msg_get_u32(&got.m), PRINCIPAL_BY_TOKEN |
	    PRINCIPAL_READ_ONLY);
	/* not even a netproc that was taken over makes it more than that */
	ask_create(50, 0, 0, "", "");
	expect_result(ERR_NOT_PERMITTED, NULL);
	ask(MSG_SYSROOT, NULL, 50);
	expect_result(ERR_READ_ONLY, NULL);
	ask_upload(50, 1, "");
	expect_result(ERR_READ_ONLY, NULL);
	ask_start(&sid, 50, 0);
	expect_result(ERR_READ_ONLY, NULL);
	ask(MSG_DELETE, &sid, 50);
	expect_result(ERR_READ_ONLY, NULL);
	ask_instrument(INST_DEBUGGER, NULL, 50);
	expect_result(ERR_READ_ONLY, NULL);
	ask_instrument(INST_TRACER, NULL, 50);
	expect_result(ERR_READ_ONLY, NULL);
	r.secret[20] ^= 1;
	ask_auth(51, r.secret);
	expect_result(ERR_AUTH_FAILED, NULL);
}

/*
 * Netproc has asked who that is several times, and idproc was slow: what it
 * says late must not make a stranger again of who has said AUTH since.
 */
static void
told_again_who_it_is(void **state)
{
	struct row r;

	(void)state;
	enter(ALICE_CONN, ALICE, "alice", 0);
	tell_account(0, ALICE, true, "alice");
	ask_create(ALICE_CONN, TOKEN_READ_ONLY, 0, "", "");
	r = expect_token(ALICE_CONN);
	enter(50, (uint32_t)-1, "", PRINCIPAL_UNAUTHENTICATED);
	ask_auth(50, r.secret);
	expect(ROLE_NETPROC, MSG_AUTHED);
	enter(50, (uint32_t)-1, "", PRINCIPAL_UNAUTHENTICATED);
	ask_create(50, 0, 0, "", "");
	expect_result(ERR_NOT_PERMITTED, NULL);
	/* nor does it bring back what has ended */
	ask_revoke(ALICE_CONN, r.id);
	expect(ROLE_NETPROC, MSG_CONN_END);
	expect_result(ERR_OK, NULL);
	enter(50, (uint32_t)-1, "", PRINCIPAL_UNAUTHENTICATED);
	ask(MSG_WHOAMI, NULL, 50);
	expect(ROLE_NETPROC, MSG_IDENTITY);
	/* another word is another connection */
	send_principal(50, BOB, "bob");
	expect(ROLE_IDPROC, MSG_LOOKUP);
	expect(ROLE_NETPROC, MSG_SYNCED);
	ask(MSG_WHOAMI, NULL, 50);
	expect(ROLE_NETPROC, MSG_IDENTITY);
}

/* The uid of a token is somebody else's by now. */
static void
not_his_uid_any_more(void **state)
{
	struct row r;
	uint64_t q;

	(void)state;
	enter(ADMIN_CONN, CAROL, "carol", PRINCIPAL_ADMIN);
	ask_create(ADMIN_CONN, 0, 0, "bob", "");
	q = expect_question("bob");
	tell_account(q, BOB, true, "bob");
	r = expect_token(ADMIN_CONN);
	enter(50, (uint32_t)-1, "", PRINCIPAL_UNAUTHENTICATED);
	ask_auth(50, r.secret);
	expect(ROLE_IDPROC, MSG_LOOKUP);
	tell_account(0, BOB, true, "robert");
	expect_result(ERR_AUTH_FAILED, "no account here any more");
	enter(51, (uint32_t)-1, "", PRINCIPAL_UNAUTHENTICATED);
	ask_auth(51, r.secret);
	expect_result(ERR_AUTH_FAILED, "no account here any more");
}

/* A token that ends while its user is looked up lets nobody in. */
static void
ended_meanwhile(void **state)
{
	struct row r;

	(void)state;
	enter(ADMIN_CONN, CAROL, "carol", PRINCIPAL_ADMIN);
	ask_create(ADMIN_CONN, 0, 0, "bob", "");
	tell_account(expect_question("bob"), BOB, true, "bob");
	r = expect_token(ADMIN_CONN);
	enter(50, (uint32_t)-1, "", PRINCIPAL_UNAUTHENTICATED);
	ask_auth(50, r.secret);
	expect(ROLE_IDPROC, MSG_LOOKUP);
	ask_revoke(ADMIN_CONN, r.id);
	expect_result(ERR_OK, NULL);
	tell_account(0, BOB, true, "bob");
	expect_result(ERR_AUTH_FAILED, NULL);
	assert_int_equal(got.m.hdr.conn, 50);
}

/* Nothing lasts that was asked for by who is no administrator any more. */
static void
no_administrator_meanwhile(void **state)
{
	uint64_t token, share;
	struct sid sid;

	(void)state;
	enter(ALICE_CONN, ALICE, "alice", 0);
	enter(BOB_CONN, BOB, "bob", 0);
	sid = upload(ALICE_CONN);
	enter(ADMIN_CONN, CAROL, "carol", PRINCIPAL_ADMIN);
	ask_create(ADMIN_CONN, 0, 0, "bob", "");
	token = expect_question("bob");
	ask_share(ADMIN_CONN, &sid, ACCESS_USE);
	share = expect_question("bob");
	tell_admins("2000");
	expect(ROLE_NETPROC, MSG_CONN_END);
	assert_int_equal(got.m.hdr.conn, ADMIN_CONN);
	tell_account(token, BOB, ACCOUNT_FOUND, "bob");
	tell_account(share, BOB, ACCOUNT_FOUND, "bob");
	expect_result(ERR_NOT_FOUND, NULL);
	expect_quiet(ROLE_NETPROC);
	assert_int_equal(count_rows(BOB_CONN), 0);
}

/* ... nor what was asked for by a token that has ended since. */
static void
no_token_meanwhile(void **state)
{
	struct sid sid;
	struct row r;
	uint64_t share;

	(void)state;
	enter(ALICE_CONN, ALICE, "alice", 0);
	tell_account(0, ALICE, ACCOUNT_FOUND, "alice");
	enter(BOB_CONN, BOB, "bob", 0);
	sid = upload(ALICE_CONN);
	ask_create(ALICE_CONN, 0, 0, "", "");
	r = expect_token(ALICE_CONN);
	enter(50, (uint32_t)-1, "", PRINCIPAL_UNAUTHENTICATED);
	ask_auth(50, r.secret);
	expect(ROLE_NETPROC, MSG_AUTHED);
	ask_share(50, &sid, ACCESS_USE);
	share = expect_question("bob");
	ask_revoke(ALICE_CONN, r.id);
	expect(ROLE_NETPROC, MSG_CONN_END);
	expect_result(ERR_OK, NULL);
	tell_account(share, BOB, ACCOUNT_FOUND, "bob");
	expect_result(ERR_NOT_FOUND, NULL);
	expect_quiet(ROLE_NETPROC);
}

/* idproc ends instead of answering: the client is told to try again. */
static void
expect_unasked(void)
{
	static uint32_t conn = 60;

	expect(ROLE_IDPROC, MSG_LOOKUP);
	rig_peer(ROLE_IDPROC);
	expect_result(ERR_TRY_AGAIN, NULL);
	/* by now the next one is there */
	enter(conn++, ALICE, "alice", 0);
}

static void
nobody_is_asked(void **state)
{
	struct msg_out *o;
	struct sid sid;
	struct row r;

	(void)state;
	enter(ADMIN_CONN, CAROL, "carol", PRINCIPAL_ADMIN);
	sid = upload(ADMIN_CONN);
	o = msg_new(MSG_SHARE, &sid, ADMIN_CONN, 34);
	msg_put_u32(o, ACCESS_SEE);
	msg_put_str(o, "bob");
	rig_send(ROLE_NETPROC, o, -1);
	expect_unasked();
	o = msg_new(MSG_QUOTA, NULL, ADMIN_CONN, 35);
	msg_put_str(o, "bob");
	rig_send(ROLE_NETPROC, o, -1);
	expect_unasked();
	ask(MSG_SYSROOT, NULL, ADMIN_CONN);
	expect_unasked();
	ask_start(&sid, ADMIN_CONN, 0);
	expect_unasked();
	ask_create(ADMIN_CONN, 0, 0, "bob", "");
	tell_account(expect_question("bob"), BOB, true, "bob");
	r = expect_token(ADMIN_CONN);
	enter(50, (uint32_t)-1, "", PRINCIPAL_UNAUTHENTICATED);
	ask_auth(50, r.secret);
	expect_unasked();
	/* the next AUTH, on another connection, looks the user up */
	enter(51, (uint32_t)-1, "", PRINCIPAL_UNAUTHENTICATED);
	ask_auth(51, r.secret);
	expect(ROLE_IDPROC, MSG_LOOKUP);
	tell_account(0, BOB, true, "bob");
	expect(ROLE_NETPROC, MSG_AUTHED);
}

/* A user's sessions are sent before AUTHED: the next line may be LIST. */
static void
sees_before_he_is_in(void **state)
{
	struct row r;

	(void)state;
	enter(ADMIN_CONN, CAROL, "carol", PRINCIPAL_ADMIN);
	tell_account(0, CAROL, ACCOUNT_FOUND | ACCOUNT_ADMIN, "carol");
	(void)upload(ADMIN_CONN);
	ask_create(ADMIN_CONN, 0, 0, "", "");
	r = expect_token(ADMIN_CONN);
	tell_account(0, CAROL, ACCOUNT_FOUND, "carol");
	expect(ROLE_NETPROC, MSG_CONN_END);
	enter(50, (uint32_t)-1, "", PRINCIPAL_UNAUTHENTICATED);
	ask_auth(50, r.secret);
	expect(ROLE_NETPROC, MSG_SEES);
	assert_int_equal(msg_get_u32(&got.m), CAROL);
	assert_int_equal(msg_get_u32(&got.m), false);
	expect(ROLE_NETPROC, MSG_AUTHED);
	expect_quiet(ROLE_NETPROC);
}

/* Nothing that goes to the parent has a token in it. */
static void
not_in_the_log(void **state)
{
	struct row r;
	bool told = false;
	char line[1024];

	(void)state;
	enter(ALICE_CONN, ALICE, "alice", 0);
	tell_account(0, ALICE, true, "alice");
	ask_create(ALICE_CONN, 0, 0, "", "");
	r = expect_token(ALICE_CONN);
	enter(50, (uint32_t)-1, "", PRINCIPAL_UNAUTHENTICATED);
	ask_auth(50, r.secret);
	expect(ROLE_NETPROC, MSG_AUTHED);
	ask_revoke(ALICE_CONN, r.id);
	/* whose connection ends with it */
	expect(ROLE_NETPROC, MSG_CONN_END);
	expect_result(ERR_OK, NULL);
	while (rig_recv(ROLE_LOGGER, 100)) {
		if (got.m.hdr.type != MSG_LOG)
			continue;
		(void)msg_get_u32(&got.m);
		msg_get_str(&got.m, line, sizeof(line));
		assert_null(strstr(line, r.secret + 4));
		told = told || strstr(line, r.id) != NULL;
	}
	assert_true(told);
}

static void
a_life_too_long(void **state)
{
	(void)state;
	enter(ALICE_CONN, ALICE, "alice", 0);
	ask_create(ALICE_CONN, 0, UINT64_MAX, "", "");
	/* netproc counts the seconds: it has been taken over */
	assert_false(rig_recv(ROLE_NETPROC, WAIT_MS));
}

/* So many changes that everybody would wait for the disk. */
static void
too_fast(void **state)
{
	struct row r;
	uint32_t code = ERR_OK;
	int i;

	(void)state;
	enter(ALICE_CONN, ALICE, "alice", 0);
	enter(BOB_CONN, BOB, "bob", 0);
	for (i = 0; i < 1000 && code == ERR_OK; i++) {
		ask_create(BOB_CONN, 0, 0, "", "");
		do
			assert_true(rig_recv(ROLE_NETPROC, WAIT_MS));
		while (got.m.hdr.type != MSG_TOKEN &&
		    got.m.hdr.type != MSG_RESULT);
		if (got.m.hdr.type == MSG_RESULT) {
			code = msg_get_u32(&got.m);
			break;
		}
		msg_get_str(&got.m, r.secret, sizeof(r.secret));
		get_row(&r);
		ask_revoke(BOB_CONN, r.id);
		expect(ROLE_NETPROC, MSG_RESULT);
		code = msg_get_u32(&got.m);
	}
	assert_int_equal(code, ERR_TRY_AGAIN);
	ask_create(ALICE_CONN, 0, 0, "", "");
	(void)expect_token(ALICE_CONN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(made_listed_revoked, rig_start,
		    rig_stop),
		cmocka_unit_test_setup_teardown(who_may_not, rig_start,
		    rig_stop),
		cmocka_unit_test_setup_teardown(for_another, rig_start,
		    rig_stop),
		cmocka_unit_test_setup_teardown(sessions_of_others, rig_start,
		    rig_stop),
		cmocka_unit_test_setup_teardown(nobody_to_tell, rig_start,
		    rig_stop),
		cmocka_unit_test_setup_teardown(nobody_is_asked, rig_start,
		    rig_stop),
		cmocka_unit_test_setup_teardown(in_by_a_token, rig_start,
		    rig_stop),
		cmocka_unit_test_setup_teardown(told_again_who_it_is,
		    rig_start, rig_stop),
		cmocka_unit_test_setup_teardown(not_his_uid_any_more,
		    rig_start, rig_stop),
		cmocka_unit_test_setup_teardown(ended_meanwhile,
		    rig_start, rig_stop),
		cmocka_unit_test_setup_teardown(no_administrator_meanwhile,
		    rig_start, rig_stop),
		cmocka_unit_test_setup_teardown(no_token_meanwhile,
		    rig_start, rig_stop),
		cmocka_unit_test_setup_teardown(sees_before_he_is_in,
		    rig_start, rig_stop),
		cmocka_unit_test_setup_teardown(not_in_the_log, rig_start,
		    rig_stop),
		cmocka_unit_test_setup_teardown(a_life_too_long, rig_start,
		    rig_stop),
		cmocka_unit_test_setup_teardown(too_fast, rig_start, rig_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
