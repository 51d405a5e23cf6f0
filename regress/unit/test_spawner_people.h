/* SPDX-License-Identifier: ISC */
/* Logins of users through each door, and their tokens. */
#ifndef TEST_SPAWNER_PEOPLE_H
#define TEST_SPAWNER_PEOPLE_H

#include "test_spawner_rig.h"

/* A token, as TOKEN and TOKEN_ROWS have it. */
struct row {
	char		 secret[64], id[16], user[64], label[80];
	uint32_t	 read_only;
	uint64_t	 created, expires;
};

static void
enter_by(enum door door, uint32_t conn, uint32_t uid, const char *name,
    uint32_t flags)
{
	struct msg_out *o = msg_new(MSG_PRINCIPAL, NULL, conn, 0);

	msg_put_u32(o, uid);
	msg_put_u32(o, flags);
	msg_put_u32(o, door);
	msg_put_str(o, name);
	msg_put_str(o, "192.0.2.1:4000");
	msg_put_str(o, NULL);
	rig_send(ROLE_IDPROC, o, -1);
	if (!(flags & PRINCIPAL_UNAUTHENTICATED))
		expect(ROLE_IDPROC, MSG_LOOKUP);
	expect(ROLE_NETPROC, MSG_SYNCED);
}

static void
enter(uint32_t conn, uint32_t uid, const char *name, uint32_t flags)
{
	enter_by(DOOR_TCP, conn, uid, name, flags);
}

static void
ask_create(uint32_t conn, uint32_t flags, uint64_t life_s, const char *user,
    const char *label)
{
	struct msg_out *o = msg_new(MSG_TOKEN_CREATE, NULL, conn, 31);

	msg_put_u32(o, flags);
	msg_put_u64(o, life_s);
	msg_put_str(o, user);
	msg_put_str(o, label);
	rig_send(ROLE_NETPROC, o, -1);
}

static void
ask_revoke(uint32_t conn, const char *id)
{
	struct msg_out *o = msg_new(MSG_TOKEN_REVOKE, NULL, conn, 32);

	msg_put_str(o, id);
	rig_send(ROLE_NETPROC, o, -1);
}

/* With bob. */
static void
ask_share(uint32_t conn, const struct sid *sid, enum access access)
{
	struct msg_out *o = msg_new(MSG_SHARE, sid, conn, 34);

	msg_put_u32(o, access);
	msg_put_str(o, "bob");
	rig_send(ROLE_NETPROC, o, -1);
}

/* uids, as settings have them */
static void
tell_admins(const char *users)
{
	struct msg_out *o;

	strcpy(rig_settings.admin_users, users);
	o = msg_new(MSG_SETTINGS, NULL, 0, 0);
	settings_put(o, &rig_settings);
	rig_send(ROLE_PARENT, o, -1);
}

static void
ask_auth(uint32_t conn, const char *token)
{
	struct msg_out *o = msg_new(MSG_AUTH, NULL, conn, 33);

	msg_put_str(o, token);
	rig_send(ROLE_NETPROC, o, -1);
}

static void
get_row(struct row *r)
{
	msg_get_str(&got.m, r->id, sizeof(r->id));
	msg_get_str(&got.m, r->user, sizeof(r->user));
	r->read_only = msg_get_u32(&got.m);
	r->created = msg_get_u64(&got.m);
	r->expires = msg_get_u64(&got.m);
	msg_get_str(&got.m, r->label, sizeof(r->label));
}

static struct row
expect_token(uint32_t conn)
{
	struct row r;

	expect(ROLE_NETPROC, MSG_TOKEN);
	assert_int_equal(got.m.hdr.conn, conn);
	assert_int_equal(got.m.hdr.request, 31);
	msg_get_str(&got.m, r.secret, sizeof(r.secret));
	get_row(&r);
	assert_int_equal(msg_end(&got.m), 0);
	assert_int_equal(strlen(r.secret), 47);
	assert_int_equal(strlen(r.id), 8);
	return r;
}

/* sid NULL = with a session of its own. */
static void
ask_instrument(enum inst_type type, const struct sid *sid, uint32_t conn)
{
	static const char request[] = "{\"command\":\"attach\"}";
	struct msg_out *o = msg_new(MSG_INST_START, sid, conn, 35);

	msg_put_u32(o, type);
	msg_put_u32(o, SANDBOX_DEFAULT);
	msg_put_u32(o, NETWORK_DEFAULT);
	msg_put_str(o, "");
	msg_put_bytes(o, request, sizeof(request) - 1);
	rig_send(ROLE_NETPROC, o, -1);
}

/* ACCOUNT_* flags. */
static void
tell_account(uint64_t request, uint32_t uid, uint32_t flags,
    const char *name)
{
	struct msg_out *o = msg_new(MSG_ACCOUNT, NULL, 0, request);

	msg_put_u32(o, uid);
	msg_put_u32(o, flags);
	msg_put_u32(o, uid);
	msg_put_u32(o, 0);
	msg_put_str(o, name);
	msg_put_str(o, "/home");
	msg_put_str(o, "/bin/sh");
	msg_put_str(o, "");
	rig_send(ROLE_IDPROC, o, -1);
}

/* By alice; bob's account is looked up for it. */
static void
share_with_bob(const struct sid *sid, enum access access)
{
	ask_share(ALICE_CONN, sid, access);
	do
		expect(ROLE_IDPROC, MSG_LOOKUP);
	while (got.m.hdr.request == 0);
	tell_account(got.m.hdr.request, BOB, ACCOUNT_FOUND, "bob");
}

static void
expect_shared(void)
{
	do
		assert_true(rig_recv(ROLE_NETPROC, WAIT_MS));
	while (got.m.hdr.type != MSG_RESULT);
	assert_int_equal(msg_get_u32(&got.m), ERR_OK);
}

#endif
