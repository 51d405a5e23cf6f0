/* SPDX-License-Identifier: ISC */
/* The spawner: life of a session, and who may do what in which state. */
/* links: spawner/ spawner/dispatch.o !spawner/main.c -Wl,--wrap=loop_add */
#include "test_spawner_rig.h"

/* The pipe size by which the tests mark an fd that cannot be watched. */
#define UNWATCHED	8192

int	__real_loop_add(struct loop_io *, int, uint32_t, loop_io_fn, void *);

/* Refuses an UNWATCHED pipe; the linker puts it in place of loop_add(). */
int
__wrap_loop_add(struct loop_io *io, int fd, uint32_t events, loop_io_fn fn,
    void *arg)
{
	errno = ENOSPC;
	return fcntl(fd, F_GETPIPE_SZ) == UNWATCHED ? -1 :
	    __real_loop_add(io, fd, events, fn, arg);
}

/* Whether a pipe has no reader left, by its write end. */
static bool
has_hung_up(int fd)
{
	struct pollfd p = { fd, 0, 0 };

	return poll(&p, 1, WAIT_MS) == 1 && (p.revents & POLLERR) != 0;
}

/* A program whose end could not be noticed is not started. */
static void
not_watched(void **state)
{
	struct session_view v;
	struct ring ring;
	struct sid sid;
	struct run r;
	int i;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	for (i = 0; i < 3; i++) {
		ask_start(&sid, ALICE_CONN, START_SPLIT);
		r = expect_run(NULL);
		give_run_fds(&r, true);
		assert_int_equal(fcntl(i == 0 ? r.out : i == 1 ? r.err :
		    r.status, F_SETPIPE_SZ, UNWATCHED), UNWATCHED);
		send_ran(&r);
		expect_result(ERR_FORK_FAILED, "cannot watch");
		assert_true(has_hung_up(r.out));
		assert_true(has_hung_up(r.err));
		assert_true(has_hung_up(r.status));
		close_run_ends(&r);
		end_process(r.target);
		end_process(r.stub);
	}
	r = start(&sid, ALICE_CONN, 0, &ring);
	finish(&r, STUB_EXITED, 0);
	v = expect_session(STATE_RUNNING);
	if (v.exited_ns != 0)
		(void)expect_session(STATE_STOPPED);
}

static void
life_of_a_session(void **state)
{
	struct session_view v;
	struct ring ring;
	struct sid sid;
	struct run r;
	char buf[64];
	uint64_t offset = 0;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	r = start(&sid, ALICE_CONN, 0, &ring);
	assert_int_equal(write(r.out, "all of it", 9), 9);
	finish(&r, STUB_EXITED, 3);
	v = expect_session(STATE_RUNNING);
	if (v.exited_ns != 0) {
		assert_int_equal(v.pid, 0);
		v = expect_session(STATE_STOPPED);
	}
	assert_true(v.has_exit_code);
	assert_int_equal(v.exit_code, 3);
	assert_int_equal(v.signal, 0);
	assert_true(v.exited_ns >= v.started_ns);
	assert_int_equal(ring_read(&ring, &offset, buf, sizeof(buf)), 9);
	assert_memory_equal(buf, "all of it", 9);
	ring_close(&ring);
	/* the last run's output goes when the next begins */
	r = start(&sid, ALICE_CONN, 0, &ring);
	assert_int_equal(ring_total(&ring), 0);
	ring_close(&ring);
	finish(&r, STUB_SIGNALED, 11);
	v = expect_session(STATE_RUNNING);
	assert_int_equal(v.signal, 11);
	assert_false(v.has_exit_code);
	(void)expect_session(STATE_STOPPED);
	ask(MSG_DELETE, &sid, ALICE_CONN);
	expect(ROLE_NETPROC, MSG_SESSION_GONE);
	expect_result(ERR_OK, NULL);
	expect(ROLE_LAUNCHER, MSG_SWEEP);
	assert_true(got.m.fd != -1);
	close(got.m.fd);
}

static void
output_is_whole_when_stopped(void **state)
{
	static char big[48 * 1024], back[sizeof(big)];
	struct session_view v;
	struct ring ring;
	struct sid sid;
	struct run r;
	uint64_t offset;
	int i;

	(void)state;
	memset(big, 'x', sizeof(big));
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	for (i = 0; i < 50; i++) {
		r = start(&sid, ALICE_CONN, 0, &ring);
		assert_int_equal(write(r.out, big, sizeof(big)), sizeof(big));
		finish(&r, STUB_EXITED, 0);
		do {
			expect(ROLE_NETPROC, MSG_SESSION);
			view_get(&got.m, &v);
		} while (v.state != STATE_STOPPED);
		offset = 0;
		assert_int_equal(ring_read(&ring, &offset, back, sizeof(back)),
		    sizeof(back));
		assert_memory_equal(back, big, sizeof(big));
		ring_close(&ring);
	}
}

static void
order_to_run(void **state)
{
	static struct run_spec spec;
	struct session_view v;
	struct msg_out *o;
	struct sid sid;
	struct run r;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	o = msg_new(MSG_ARGS, &sid, ALICE_CONN, 3);
	msg_put_str(o, "-v 'a b'");
	msg_put_blob(o, "-v\0a b", 7);
	rig_send(ROLE_NETPROC, o, -1);
	v = expect_session(STATE_LOADED);
	assert_int_equal(v.args_len, 8);
	assert_memory_equal(v.args, "-v 'a b'", 8);
	expect_result(ERR_OK, NULL);
	o = msg_new(MSG_ENV, &sid, ALICE_CONN, 3);
	msg_put_str(o, "PATH");
	msg_put_str(o, "/mine");
	rig_send(ROLE_NETPROC, o, -1);
	(void)expect_session(STATE_LOADED);
	expect_result(ERR_OK, NULL);
	ask_start(&sid, ALICE_CONN, START_SPLIT);
	r = expect_run(&spec);
	(void)r;
	assert_int_equal(spec.owner.uid, ALICE);
	assert_int_equal(spec.owner.ngroups, 2);
	assert_int_equal(spec.owner.groups[0], 27);
	assert_int_equal(spec.owner.groups[1], 1500);
	assert_true(spec.split);
	assert_false(spec.bundle);
	assert_int_equal(spec.sandbox, SANDBOX_NAMESPACES);
	assert_int_equal(spec.limits[LIMIT_NOFILE], 1024);
	assert_int_equal(spec.argv_len, 6 + 7);
	assert_memory_equal(spec.argv, "image\0-v\0a b", 13);
	assert_non_null(memmem(spec.envp, spec.envp_len, "PATH=/mine", 11));
	assert_null(memmem(spec.envp, spec.envp_len, "PATH=/usr", 9));
	assert_non_null(memmem(spec.envp, spec.envp_len, "USER=alice", 11));
}

/* A start may not ask for more than the configuration allows. */
static void
more_than_is_allowed(void **state)
{
	static struct run_spec spec;
	struct sid sid;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	ask_start_in(&sid, ALICE_CONN, 0, SANDBOX_DEFAULT, NETWORK_SHARED);
	expect_result(ERR_NOT_PERMITTED, "network none");
	ask_start_in(&sid, ALICE_CONN, 0, SANDBOX_TMPFS, NETWORK_SHARED);
	expect_result(ERR_NOT_PERMITTED, "network none");
	ask_start_in(&sid, ALICE_CONN, 0, SANDBOX_NONE, NETWORK_NONE);
	expect_result(ERR_NOT_PERMITTED, "allow-sandbox");
	ask_start(&sid, ALICE_CONN, 0);
	(void)expect_run(&spec);
	assert_int_equal(spec.sandbox, SANDBOX_NAMESPACES);
	assert_int_equal(spec.network, NETWORK_NONE);
}

/* Its own group is in no list that could leave it out. */
static void
account_of_roots_group(void **state)
{
	struct msg_out *o;
	struct sid sid;

	(void)state;
	send_principal(ALICE_CONN, ALICE, "alice");
	expect(ROLE_IDPROC, MSG_LOOKUP);
	expect(ROLE_NETPROC, MSG_SYNCED);
	sid = upload(ALICE_CONN);
	ask_start(&sid, ALICE_CONN, 0);
	expect(ROLE_IDPROC, MSG_LOOKUP);
	o = msg_new(MSG_ACCOUNT, NULL, 0, 0);
	msg_put_u32(o, ALICE);
	msg_put_u32(o, ACCOUNT_FOUND);
	msg_put_u32(o, 0);
	msg_put_u32(o, 0);
	msg_put_str(o, "alice");
	msg_put_str(o, "/");
	msg_put_str(o, "/bin/sh");
	msg_put_str(o, "root");
	rig_send(ROLE_IDPROC, o, -1);
	expect_result(ERR_FORK_FAILED, "alice");
}

/* The launcher would read beyond them, and blame the spawner. */
static void
arguments_without_an_end(void **state)
{
	static const struct {
		const char	*typed, *vec;
		size_t		 typed_len, vec_len;
	} bad[] = { { "a b", "a\0b", 3, 3 }, { "a\0b", "a\0b", 3, 4 } };
	struct msg_out *o;
	struct sid sid;
	size_t i;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		o = msg_new(MSG_ARGS, &sid, ALICE_CONN, 3);
		msg_put_blob(o, bad[i].typed, bad[i].typed_len);
		msg_put_blob(o, bad[i].vec, bad[i].vec_len);
		rig_send(ROLE_NETPROC, o, -1);
		assert_false(rig_recv(ROLE_NETPROC, WAIT_MS));
		rig_peer(ROLE_NETPROC);
		send_principal(ALICE_CONN, ALICE, "alice");
		(void)expect_session(STATE_LOADED);
		expect(ROLE_NETPROC, MSG_SYNCED);
	}
}

static void
quotas_before_any_byte(void **state)
{
	struct sid sids[4];
	int i, fd;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	ask_upload(ALICE_CONN, 0, "");
	expect_result(ERR_INVALID_SIZE, NULL);
	ask_upload(ALICE_CONN, UINT64_MAX, "");
	expect_result(ERR_MAX_BYTES, "18446744073709551615");
	ask_upload(ALICE_CONN, 1024 * 1024 + 1, "");
	expect_result(ERR_MAX_BYTES, "1048576");
	ask_upload(ALICE_CONN, 10, "/abs");
	expect_result(ERR_INVALID_EXEC_PATH, NULL);
	ask_upload(ALICE_CONN, 10, "a/../b");
	expect_result(ERR_INVALID_EXEC_PATH, NULL);
	/* half an upload counts as much as a whole one */
	fd = get_room(ALICE_CONN, 1024 * 1024, "", &sids[0]);
	ask_upload(ALICE_CONN, 1, "");
	expect_result(ERR_UPLOAD_IN_PROGRESS, NULL);
	login(BOB_CONN, BOB, "bob");
	ask_upload(BOB_CONN, 1, "");
	expect_result(ERR_MAX_BYTES, " 0 of ");
	close(fd);
	ask(MSG_UPLOAD_ABORT, &sids[0], ALICE_CONN);
	for (i = 0; i < 4; i++)
		sids[i] = upload(ALICE_CONN);
	ask_upload(BOB_CONN, 1, "");
	expect_result(ERR_MAX_SESSIONS, "max-sessions");
}

/* Sessions and bytes; nothing of the rest is limited. */
static void
send_quota(uint32_t kind, uint32_t id, uint64_t n, uint64_t bytes,
    const char *name)
{
	struct msg_out *o = msg_new(MSG_QUOTA_RULE, NULL, 0, 0);
	int i;

	msg_put_u32(o, kind);
	msg_put_u32(o, id);
	msg_put_u64(o, n);
	msg_put_u64(o, bytes);
	for (i = QUOTA_BYTES + 1; i < QUOTA_COUNT; i++)
		msg_put_u64(o, LIMIT_UNLIMITED);
	msg_put_str(o, name);
	rig_send(ROLE_PARENT, o, -1);
}

static void
send_quotas_end(void)
{
	rig_send(ROLE_PARENT, msg_new(MSG_QUOTA_RULES_END, NULL, 0, 0), -1);
}

static void
upload_refused(uint32_t conn, uint64_t size, enum err code, const char *text)
{
	ask_upload(conn, size, "");
	expect_result(code, text);
}

static void
quotas_are_each_users_own(void **state)
{
	struct sid sid;

	(void)state;
	send_quota(QUOTA_DEFAULT, 0, 1, 5000, NULL);
	send_quota(QUOTA_GROUP, 28, 2, LIMIT_UNLIMITED, "second");
	send_quota(QUOTA_USER, BOB, LIMIT_UNLIMITED, 300, "bob");
	send_quota(QUOTA_GROUP, 1500, 0, 0, "third");
	send_quotas_end();
	login(ALICE_CONN, ALICE, "alice");
	login(BOB_CONN, BOB, "bob");
	/* 28 is no group that her programs may have, and hers all the same */
	close(get_room(ALICE_CONN, 100, "", &sid));
	send_principal(ALICE_CONN + 10, ALICE, "alice");
	expect(ROLE_NETPROC, MSG_SYNCED);
	(void)upload(ALICE_CONN + 10);
	upload_refused(ALICE_CONN + 10, 100, ERR_MAX_SESSIONS,
	    "you have 2 sessions, which is your limit (quota group second "
	    "sessions 2)");
	upload_refused(BOB_CONN, 301, ERR_MAX_BYTES, "301 bytes are too many: "
	    "300 of your 300 are free (quota user bob bytes)");
	close(get_room(BOB_CONN, 300, "", &sid));
	send_principal(BOB_CONN + 10, BOB, "bob");
	expect(ROLE_NETPROC, MSG_SYNCED);
	upload_refused(BOB_CONN + 10, 1, ERR_MAX_BYTES, "0 of your 300");
	ask(MSG_UPLOAD_ABORT, &sid, BOB_CONN);
	close(get_room(BOB_CONN + 10, 300, "", &sid));
}

static void
quota_of_a_group_waits_for_the_account(void **state)
{
	struct sid sid;

	(void)state;
	send_quota(QUOTA_GROUP, 27, 1, 200, "lab");
	send_quotas_end();
	send_principal(ALICE_CONN, ALICE, "alice");
	expect(ROLE_IDPROC, MSG_LOOKUP);
	expect(ROLE_NETPROC, MSG_SYNCED);
	ask_upload(ALICE_CONN, 201, "");
	expect(ROLE_IDPROC, MSG_LOOKUP);
	expect_quiet(ROLE_NETPROC);
	/* it is one at a time all the same */
	ask_upload(ALICE_CONN, 1, "");
	expect_result(ERR_UPLOAD_IN_PROGRESS, NULL);
	send_account(ALICE, true);
	expect_result(ERR_MAX_BYTES, "quota group lab bytes");
	close(get_room(ALICE_CONN, 200, "", &sid));

	/* who has gone meanwhile gets no room */
	send_principal(BOB_CONN, BOB, "bob");
	expect(ROLE_IDPROC, MSG_LOOKUP);
	expect(ROLE_NETPROC, MSG_SYNCED);
	ask_upload(BOB_CONN, 100, "");
	expect(ROLE_IDPROC, MSG_LOOKUP);
	ask(MSG_CONN_CLOSED, NULL, BOB_CONN);
	expect_quiet(ROLE_NETPROC);
	send_account(BOB, true);
	expect_quiet(ROLE_NETPROC);

	/* and who cannot be looked up is told so */
	send_principal(BOB_CONN + 1, BOB + 1, "carol");
	expect(ROLE_IDPROC, MSG_LOOKUP);
	expect(ROLE_NETPROC, MSG_SYNCED);
	ask_upload(BOB_CONN + 1, 100, "");
	expect(ROLE_IDPROC, MSG_LOOKUP);
	send_account(BOB + 1, false);
	expect_result(ERR_TRY_AGAIN, "your account could not be read");
}

static void
exec_path_with_dots_is_fine(void **state)
{
	struct sid sid;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	close(get_room(ALICE_CONN, 10, "a..b/..c/d", &sid));
}

static void
image_is_sealed(void **state)
{
	Elf64_Ehdr eh = good_elf();
	struct sid sid;
	int fd;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	fd = get_room(ALICE_CONN, IMAGE_SIZE, "", &sid);
	assert_int_equal(ftruncate(fd, IMAGE_SIZE + 1), -1);
	assert_int_equal(ftruncate(fd, 1), -1);
	assert_int_equal(write(fd, &eh, sizeof(eh)), sizeof(eh));
	ask(MSG_UPLOADED, &sid, ALICE_CONN);
	(void)expect_session(STATE_LOADED);
	expect_result(ERR_OK, NULL);
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	assert_int_equal(errno, EPERM);
	close(fd);
}

static void
ask_open(uint32_t conn, uint64_t most)
{
	struct msg_out *o = msg_new(MSG_UPLOAD_OPEN, NULL, conn, 1);

	msg_put_u64(o, most);
	msg_put_str(o, "");
	msg_put_str(o, "");
	rig_send(ROLE_NETPROC, o, -1);
}

static void
ask_end(const struct sid *sid, uint32_t conn, uint64_t size)
{
	struct msg_out *o = msg_new(MSG_UPLOAD_END, sid, conn, 1);

	msg_put_u64(o, size);
	rig_send(ROLE_NETPROC, o, -1);
}

static void
open_upload_is_cut(void **state)
{
	Elf64_Ehdr eh = good_elf();
	struct stat st;
	struct sid sid;
	int fd;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	login(BOB_CONN, BOB, "bob");
	ask_open(ALICE_CONN, UPLOAD_UNKNOWN);
	expect(ROLE_NETPROC, MSG_ROOM);
	sid = got.m.hdr.session;
	fd = got.m.fd;
	/* until its end the upload takes half of the rig's bytes */
	assert_int_equal(msg_get_u64(&got.m), 512 * 1024);
	ask_upload(BOB_CONN, 512 * 1024 + 1, "");
	expect_result(ERR_MAX_BYTES, " 524288 of ");
	assert_int_equal(ftruncate(fd, 512 * 1024 + 1), -1);
	assert_int_equal(write(fd, &eh, sizeof(eh)), sizeof(eh));
	ask_end(&sid, ALICE_CONN, IMAGE_SIZE);
	assert_int_equal(expect_session(STATE_LOADED).size, IMAGE_SIZE);
	expect_result(ERR_OK, NULL);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, IMAGE_SIZE);
	assert_int_equal(ftruncate(fd, 1), -1);
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	close(fd);
	close(get_room(BOB_CONN, 1024 * 1024 - IMAGE_SIZE, "", &sid));
	/* of a form all but the file is known */
	ask_open(ALICE_CONN, 1);
	expect_result(ERR_MAX_BYTES, " 0 of ");
}

static void
open_upload_of_nothing(void **state)
{
	struct sid sid;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	ask_open(ALICE_CONN, 100);
	expect(ROLE_NETPROC, MSG_ROOM);
	sid = got.m.hdr.session;
	assert_int_equal(msg_get_u64(&got.m), 100);
	close(got.m.fd);
	ask_end(&sid, ALICE_CONN, 0);
	expect_result(ERR_INVALID_SIZE, NULL);
	close(get_room(ALICE_CONN, 1024 * 1024, "", &sid));
}

static void
wrong_images(void **state)
{
	Elf64_Ehdr eh = good_elf();
	struct sid sid;
	int fd;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	fd = get_room(ALICE_CONN, 4, "", &sid);
	assert_int_equal(write(fd, "#!/b", 4), 4);
	close(fd);
	ask(MSG_UPLOADED, &sid, ALICE_CONN);
	expect_result(ERR_INVALID_ELF, "script");
	eh.e_machine = EM_SPARC;
	fd = get_room(ALICE_CONN, IMAGE_SIZE, "", &sid);
	assert_int_equal(write(fd, &eh, sizeof(eh)), sizeof(eh));
	close(fd);
	ask(MSG_UPLOADED, &sid, ALICE_CONN);
	expect_result(ERR_INVALID_ELF, "this host runs");
	/* nothing is left of either */
	ask(MSG_DELETE, &sid, ALICE_CONN);
	expect_result(ERR_NOT_FOUND, NULL);
}

static void
others_sessions_do_not_exist(void **state)
{
	static const enum msg_type types[] = { MSG_UPLOADED, MSG_START,
	    MSG_ARGS, MSG_ENV, MSG_ENVDEL, MSG_LABEL, MSG_LIMITS, MSG_STOP,
	    MSG_KILL, MSG_SIGNAL, MSG_DELETE, MSG_DEBUG, MSG_INPUT,
	    MSG_INPUT_EOF };
	struct msg_out *o;
	struct sid sid;
	size_t i, j;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	login(BOB_CONN, BOB, "bob");
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		for (j = 0; j < 2; j++) {
			o = msg_new(types[i], j == 0 ? &sid : &no_sid,
			    BOB_CONN, 5);
			while (msg_out_len(o) < msg_rows[types[i]].min)
				msg_put_u32(o, 0);
			rig_send(ROLE_NETPROC, o, -1);
			expect_result(ERR_NOT_FOUND, NULL);
		}
	/* these have no answer, and no effect either */
	ask(MSG_UPLOAD_ABORT, &sid, BOB_CONN);
	ask(MSG_DEBUG_END, &sid, BOB_CONN);
	ask(MSG_STOP, &sid, ALICE_CONN);
	expect_result(ERR_NOT_RUNNING, NULL);
}

static void
wrong_states(void **state)
{
	struct ring ring;
	struct sid sid;
	struct run r;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	ask(MSG_KILL, &sid, ALICE_CONN);
	expect_result(ERR_NOT_RUNNING, NULL);
	ask(MSG_INPUT, &sid, ALICE_CONN);
	expect_result(ERR_NOT_RUNNING, NULL);
	ask_start(&sid, ALICE_CONN, 0);
	r = expect_run(NULL);
	/* while it starts */
	ask_start(&sid, ALICE_CONN, 0);
	expect_result(ERR_ALREADY_RUNNING, NULL);
	ask(MSG_STOP, &sid, ALICE_CONN);
	expect_result(ERR_BUSY, NULL);
	ask(MSG_DELETE, &sid, ALICE_CONN);
	expect_result(ERR_SESSION_RUNNING, NULL);
	give_run_fds(&r, false);
	send_ran(&r);
	(void)expect_session(STATE_RUNNING);
	expect_result(ERR_OK, NULL);
	expect(ROLE_NETPROC, MSG_RING);
	assert_int_equal(ring_map(&ring, got.m.fd), 0);
	ring_close(&ring);
	ask_start(&sid, ALICE_CONN, 0);
	expect_result(ERR_ALREADY_RUNNING, NULL);
	ask(MSG_DELETE, &sid, ALICE_CONN);
	expect_result(ERR_SESSION_RUNNING, NULL);
	finish(&r, STUB_EXITED, 0);
}

static void
start_that_fails(void **state)
{
	static const struct {
		uint32_t step, errnum;
		enum err code;
		const char *text;
	} cases[] = {
		{ STEP_EXEC, ENOEXEC, ERR_EXEC_FAILED, "architecture" },
		{ STEP_EXEC, ENOENT, ERR_EXEC_FAILED, "PT_INTERP" },
		{ STEP_EXEC, EACCES, ERR_EXEC_FAILED, "not executable" },
		{ STEP_USERNS, EPERM, ERR_FORK_FAILED, "user namespace" },
		{ STEP_USERNS, EAGAIN, ERR_FORK_FAILED, "kernel.pid_max" },
		{ STEP_NAMESPACES, EAGAIN, ERR_FORK_FAILED, "kernel.pid_max" },
		{ STEP_NAMESPACES, EPERM, ERR_FORK_FAILED, "restricts" },
		{ STEP_FORK, EAGAIN, ERR_FORK_FAILED, "limit" },
		{ STEP_PROC, EPERM, ERR_FORK_FAILED, "container" },
		{ STEP_MOUNT, EACCES, ERR_FORK_FAILED, "AppArmor" },
		{ STEP_MOUNT, 12345, ERR_FORK_FAILED, "unknown error" },
	};
	struct msg_out *o;
	struct sid sid;
	struct run r;
	size_t i;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ask_start(&sid, ALICE_CONN, 0);
		r = expect_run(NULL);
		o = msg_new(MSG_RUN_FAILED, &sid, 0, r.serial);
		msg_put_u32(o, cases[i].step);
		msg_put_u32(o, cases[i].errnum);
		rig_send(ROLE_LAUNCHER, o, -1);
		expect_result(cases[i].code, cases[i].text);
	}
	/* an answer to a start that is over changes nothing */
	send_ran(&r);
	ask(MSG_STOP, &sid, ALICE_CONN);
	expect_result(ERR_NOT_RUNNING, NULL);
}

/* The launcher is at work by then: what it made goes with its pipes. */
static void
start_without_a_ring(void **state)
{
	struct pollfd p = { .fd = -1 };
	struct sid sid;
	struct run r;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	ask_start(&sid, ALICE_CONN, 0);
	r = expect_run(NULL);
	expect_result(ERR_FORK_FAILED, "no memory");
	give_run_fds(&r, false);
	send_ran(&r);
	p.fd = r.status;
	assert_int_equal(poll(&p, 1, WAIT_MS), 1);
	assert_int_equal(p.revents, POLLERR);
	ask(MSG_STOP, &sid, ALICE_CONN);
	expect_result(ERR_NOT_RUNNING, NULL);
	end_process(r.target);
	end_process(r.stub);
	close_run_ends(&r);
}

static void
sandbox_policy(void **state)
{
	struct msg_out *o;
	struct sid sid;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	o = msg_new(MSG_START, &sid, ALICE_CONN, 2);
	msg_put_u32(o, 0);
	msg_put_u32(o, SANDBOX_NONE);
	msg_put_u32(o, NETWORK_DEFAULT);
	msg_put_u32(o, 0);
	msg_put_u32(o, 0);
	rig_send(ROLE_NETPROC, o, -1);
	expect_result(ERR_NOT_PERMITTED, "allow-sandbox");
}

static void
expect_signal(uint32_t sig, uint32_t whom, uint32_t errnum)
{
	struct msg_out *o;
	uint32_t n, w;

	expect(ROLE_LAUNCHER, MSG_SEND_SIGNAL);
	n = msg_get_u32(&got.m);
	w = msg_get_u32(&got.m);
	assert_int_equal(n, sig);
	assert_int_equal(w, whom);
	assert_true(got.m.fd != -1);
	close(got.m.fd);
	o = msg_new(MSG_SIGNAL_SENT, &got.m.hdr.session, 0, got.m.hdr.request);
	msg_put_u32(o, errnum);
	rig_send(ROLE_LAUNCHER, o, -1);
}

static void
stop_escalates(void **state)
{
	struct session_view v;
	struct sid sid;
	struct run r;

	(void)state;
	r = start_alice(&sid);
	ask(MSG_STOP, &sid, ALICE_CONN);
	expect_signal(SIGTERM, SIGNAL_TREE_TERM, 0);
	/* a second one waits along */
	ask(MSG_STOP, &sid, ALICE_CONN);
	expect_quiet(ROLE_NETPROC);
	expect_signal(SIGKILL, SIGNAL_TREE_KILL, 0);
	expect_signal(SIGKILL, SIGNAL_ONE, 0);
	end_process(r.target);
	end_process(r.stub);
	v = expect_session(STATE_STOPPED);
	assert_int_equal(v.signal, SIGKILL);
	expect_result(ERR_OK, NULL);
	expect_result(ERR_OK, NULL);
	close_run_ends(&r);
}

static void
signals(void **state)
{
	struct msg_out *o;
	struct sid sid;
	struct run r;
	int i;

	(void)state;
	r = start_alice(&sid);
	for (i = 0; i < 2; i++) {
		o = msg_new(MSG_SIGNAL, &sid, ALICE_CONN, 5);
		msg_put_u32(o, SIGUSR1);
		rig_send(ROLE_NETPROC, o, -1);
		expect_signal(SIGUSR1, SIGNAL_ONE, i == 0 ? 0 : EPERM);
		expect_result(i == 0 ? ERR_OK : ERR_KILL_FAILED, NULL);
	}
	finish(&r, STUB_EXITED, 0);
}

static void
output_rings_when_armed(void **state)
{
	struct msg_out *o;
	struct ring ring;
	struct sid sid;
	struct run r;
	int i;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	r = start(&sid, ALICE_CONN, START_SPLIT, &ring);
	assert_int_equal(write(r.out, "quiet", 5), 5);
	expect_quiet(ROLE_NETPROC);
	o = msg_new(MSG_ARM, &sid, 0, 0);
	msg_put_u64(o, 5);
	rig_send(ROLE_NETPROC, o, -1);
	expect_quiet(ROLE_NETPROC);
	for (i = 0; i < 3; i++)
		assert_int_equal(write(r.err, "loud", 4), 4);
	expect(ROLE_NETPROC, MSG_OUTPUT_NOTICE);
	assert_true(msg_get_u64(&got.m) >= 9);
	/* once only */
	expect_quiet(ROLE_NETPROC);
	assert_int_equal(ring_total(&ring), 17);
	ring_close(&ring);
	finish(&r, STUB_EXITED, 0);
}

static void
input(void **state)
{
	struct sid sid;
	struct run r;
	char c;

	(void)state;
	r = start_alice(&sid);
	ask(MSG_INPUT, &sid, ALICE_CONN);
	expect(ROLE_NETPROC, MSG_INPUT_FD);
	assert_int_equal(write(got.m.fd, "i", 1), 1);
	close(got.m.fd);
	assert_int_equal(read(r.in, &c, 1), 1);
	ask(MSG_INPUT_EOF, &sid, ALICE_CONN);
	expect_result(ERR_OK, NULL);
	assert_int_equal(read(r.in, &c, 1), 0);
	ask(MSG_INPUT, &sid, ALICE_CONN);
	expect_result(ERR_INVALID_ARGUMENT, "already closed");
	finish(&r, STUB_EXITED, 0);
}

static void
labels_and_limits(void **state)
{
	static const char *const bad[] = { "beef", "a b", "12-34", "a/b",
	    "\303\244" };
	struct msg_out *o;
	struct sid one, two;
	size_t i;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	one = upload(ALICE_CONN);
	two = upload(ALICE_CONN);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		o = msg_new(MSG_LABEL, &one, ALICE_CONN, 5);
		msg_put_str(o, bad[i]);
		rig_send(ROLE_NETPROC, o, -1);
		expect_result(ERR_INVALID_NAME, NULL);
	}
	o = msg_new(MSG_LABEL, &one, ALICE_CONN, 5);
	msg_put_str(o, "web-1");
	rig_send(ROLE_NETPROC, o, -1);
	assert_string_equal(expect_session(STATE_LOADED).name, "web-1");
	expect_result(ERR_OK, NULL);
	o = msg_new(MSG_LABEL, &two, ALICE_CONN, 5);
	msg_put_str(o, "web-1");
	rig_send(ROLE_NETPROC, o, -1);
	expect_result(ERR_INVALID_NAME, "has that label already");
	for (i = 1023; i <= 1025; i++) {
		o = msg_new(MSG_LIMITS, &two, ALICE_CONN, 5);
		msg_put_u32(o, 1 << LIMIT_NOFILE);
		msg_put_u64(o, 0);
		msg_put_u64(o, 0);
		msg_put_u64(o, i);
		msg_put_u64(o, 0);
		msg_put_u64(o, 0);
		rig_send(ROLE_NETPROC, o, -1);
		if (i <= 1024)
			expect_result(ERR_OK, NULL);
		else
			expect_result(ERR_NOT_PERMITTED, "1024");
	}
}

static void
set_env(const struct sid *sid, const char *key, const char *value)
{
	struct msg_out *o = msg_new(value == NULL ? MSG_ENVDEL : MSG_ENV, sid,
	    ALICE_CONN, 5);

	msg_put_str(o, key);
	if (value != NULL)
		msg_put_str(o, value);
	rig_send(ROLE_NETPROC, o, -1);
}

static void
expect_env(const char *text, size_t len)
{
	struct session_view v = expect_session(STATE_LOADED);

	assert_int_equal(v.env_len, len);
	if (len > 0)
		assert_memory_equal(v.env, text, len);
	expect_result(ERR_OK, NULL);
}

static void
variables_are_sorted(void **state)
{
	static char big[ENV_MAX_BYTES];
	struct sid sid;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	set_env(&sid, "AB", "1");
	expect_env("AB=1", 5);
	set_env(&sid, "A", "2=x");
	expect_env("A=2=x\0AB=1", 11);
	set_env(&sid, "AA", "");
	expect_env("A=2=x\0AA=\0AB=1", 15);
	set_env(&sid, "A", "3");
	expect_env("A=3\0AA=\0AB=1", 13);
	set_env(&sid, "AA", NULL);
	expect_env("A=3\0AB=1", 9);
	set_env(&sid, "AA", NULL);
	expect_result(ERR_OK, NULL);
	set_env(&sid, "1A", "x");
	expect_result(ERR_INVALID_ENV, NULL);
	set_env(&sid, "", "x");
	expect_result(ERR_INVALID_ENV, NULL);
	set_env(&sid, "A=B", "x");
	expect_result(ERR_INVALID_ENV, NULL);
	memset(big, 'x', sizeof(big) - 1);
	set_env(&sid, "A", big);
	expect_result(ERR_INVALID_ENV, "32768");
	set_env(&sid, "A", NULL);
	expect_env("AB=1", 5);
	set_env(&sid, "AB", NULL);
	expect_env("", 0);
}

static void
activity_is_ones_own(void **state)
{
	char when[32], text[512];
	struct sid sid;
	uint32_t i, n;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	login(BOB_CONN, BOB, "bob");
	ask(MSG_STOP, &sid, BOB_CONN);
	expect_result(ERR_NOT_FOUND, NULL);
	ask(MSG_ACTIVITY, NULL, ALICE_CONN);
	expect(ROLE_NETPROC, MSG_ACTIVITY_LINES);
	n = msg_get_u32(&got.m);
	assert_int_equal(n, 1);
	for (i = 0; i < n; i++) {
		msg_get_str(&got.m, when, sizeof(when));
		msg_get_str(&got.m, text, sizeof(text));
		assert_int_equal(strlen(when), 20);
		assert_non_null(strstr(text, "alice UPLOAD "));
		assert_null(strstr(text, "bob"));
	}
	assert_int_equal(msg_get_u32(&got.m), 0);
	assert_int_equal(msg_end(&got.m), 0);
}

/* An event each, longer than most. */
static void
make_events(uint32_t conn, uint32_t n)
{
	while (n-- > 0) {
		ask_upload(conn, UINT64_MAX, "");
		expect_result(ERR_MAX_BYTES, NULL);
		/* the audit log */
		while (rig_recv(ROLE_LOGGER, 0))
			continue;
	}
}

/* How many lines ACTIVITY has; first gets the oldest. */
static uint32_t
count_activity(uint32_t conn, char first[512])
{
	uint32_t n, sum = 0, more;
	char when[32], text[512];

	ask(MSG_ACTIVITY, NULL, conn);
	do {
		expect(ROLE_NETPROC, MSG_ACTIVITY_LINES);
		n = msg_get_u32(&got.m);
		sum += n;
		while (n-- > 0) {
			msg_get_str(&got.m, when, sizeof(when));
			msg_get_str(&got.m, text, sizeof(text));
			if (*first == '\0')
				(void)strcpy(first, text);
		}
		more = msg_get_u32(&got.m);
		assert_int_equal(msg_end(&got.m), 0);
	} while (more);
	return sum;
}

static void
activity_comes_in_parts(void **state)
{
	char first[512] = "";

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	(void)upload(ALICE_CONN);
	make_events(ALICE_CONN, 700);
	assert_int_equal(count_activity(ALICE_CONN, first), 500);
	assert_non_null(strstr(first, "max_total_bytes_reached"));
}

static void
activity_of_others_pushes_none_out(void **state)
{
	char first[512] = "";
	uint32_t i, sum = 0, n;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	(void)upload(ALICE_CONN);
	/* more than all lists together hold */
	for (i = 0; i < 110; i++) {
		login(BOB_CONN + i, BOB + i, "a-user-with-a-long-name");
		make_events(BOB_CONN + i, 510);
	}
	make_events(ALICE_CONN, 2);
	assert_int_equal(count_activity(ALICE_CONN, first), 3);
	assert_non_null(strstr(first, "alice UPLOAD "));
	for (i = 0; i < 110; i++) {
		sum += n = count_activity(BOB_CONN + i, first);
		assert_in_range(n, 300, 500);
	}
	/* the total is bounded too */
	assert_in_range(sum, 110 * 300, 110 * 490);
}

static void
user_mode_has_one_user(void **state)
{
	(void)state;
	send_principal(ALICE_CONN, ALICE, "alice");
	expect(ROLE_IDPROC, MSG_LOOKUP);
	expect(ROLE_NETPROC, MSG_SYNCED);
	send_principal(BOB_CONN, BOB, "bob");
	expect(ROLE_PARENT, MSG_VIOLATION);
}

/* -- where cgroups count -- */

static int
with_controllers(void **state)
{
	rig_default_settings();
	rig_settings.controllers = CONTROLLER_MEMORY | CONTROLLER_PIDS;
	return rig_start(state);
}

static void
send_limits(uint64_t memory, uint64_t processes)
{
	struct msg_out *o = msg_new(MSG_QUOTA_RULE, NULL, 0, 0);

	msg_put_u32(o, QUOTA_USER);
	msg_put_u32(o, ALICE);
	msg_put_u64(o, LIMIT_UNLIMITED);
	msg_put_u64(o, LIMIT_UNLIMITED);
	msg_put_u64(o, LIMIT_UNLIMITED);
	msg_put_u64(o, memory);
	msg_put_u64(o, processes);
	msg_put_str(o, "alice");
	rig_send(ROLE_PARENT, o, -1);
	send_quotas_end();
}

static void
expect_limits(uint64_t memory, uint64_t processes)
{
	expect(ROLE_LAUNCHER, MSG_USER_LIMITS);
	assert_int_equal(msg_get_u32(&got.m), ALICE);
	assert_true(msg_get_u64(&got.m) == memory);
	assert_true(msg_get_u64(&got.m) == processes);
	assert_int_equal(msg_end(&got.m), 0);
}

/* Limits are sent at START, at a reload, and to a new launcher. */
static void
limits_of_all_sessions(void **state)
{
	static struct run_spec spec;
	struct sid sid;

	(void)state;
	send_limits(64 << 20, 30);
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	expect_quiet(ROLE_LAUNCHER);
	ask_start(&sid, ALICE_CONN, 0);
	expect_limits(64 << 20, 30);
	(void)expect_run(&spec);
	assert_int_equal(spec.owner.uid, ALICE);
	assert_int_equal(spec.user_memory, 64 << 20);
	assert_true(spec.file);
	assert_int_equal(spec.user_processes, 30);
	/* no single process is kept from what they have together */
	assert_true(spec.limits[LIMIT_AS] == LIMIT_UNLIMITED);
	assert_int_equal(spec.limits[LIMIT_NPROC], 512);
	send_limits(64 << 20, 30);
	expect_quiet(ROLE_LAUNCHER);
	send_limits(32 << 20, LIMIT_UNLIMITED);
	expect_limits(32 << 20, LIMIT_UNLIMITED);
	rig_peer(ROLE_LAUNCHER);
	expect_result(ERR_TRY_AGAIN, NULL);
	send_limits(32 << 20, LIMIT_UNLIMITED);
	expect_limits(32 << 20, LIMIT_UNLIMITED);
}

/* The image's copy counts for the program, which shall have most of it. */
/* Whether a start makes a file of the program; the warnings say if not. */
static bool
start_has_file(const struct sid *sid, uint64_t memory, uint64_t processes)
{
	static const char *const words[] = { "/proc/self/exe leads to no file",
	    "more than half of the memory that the session may use (limit "
	    "memory)", "need more of it; or upload the program as a bundle" };
	static struct run_spec spec;
	struct session_view v;
	struct run r;
	size_t i;

	ask_start(sid, ALICE_CONN, 0);
	expect_limits(memory, processes);
	r = expect_run(&spec);
	give_run_fds(&r, false);
	send_ran(&r);
	v = expect_session(STATE_RUNNING);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_true(spec.file == (v.warnings_len == 0 ||
		    memmem(v.warnings, v.warnings_len, words[i],
		    strlen(words[i])) == NULL));
	finish(&r, STUB_EXITED, 0);
	return spec.file;
}

static void
half_of_the_memory_has_room_for_a_file(void **state)
{
	struct sid sid;

	(void)state;
	send_limits(2 * IMAGE_SIZE, 30);
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	assert_true(start_has_file(&sid, 2 * IMAGE_SIZE, 30));
}

static void
copy_larger_than_half_of_the_memory_is_warned_of(void **state)
{
	struct sid sid;

	(void)state;
	send_limits(2 * IMAGE_SIZE - 1, 30);
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	assert_false(start_has_file(&sid, 2 * IMAGE_SIZE - 1, 30));
}

static int
with_little_memory(void **state)
{
	rig_default_settings();
	rig_settings.controllers = CONTROLLER_MEMORY;
	rig_settings.limit_memory = 2 * IMAGE_SIZE - 1;
	return rig_start(state);
}

/* The setting for each session, where its user has no quota. */
static void
copy_larger_than_half_of_limit_memory_is_warned_of(void **state)
{
	struct sid sid;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	assert_false(start_has_file(&sid, LIMIT_UNLIMITED, LIMIT_UNLIMITED));
}

static void
ask_quota(void)
{
	struct msg_out *o = msg_new(MSG_QUOTA, NULL, ALICE_CONN, 3);

	msg_put_str(o, "");
	rig_send(ROLE_NETPROC, o, -1);
}

static void
expect_use(uint64_t memory, uint64_t processes)
{
	char name[USER_NAME_MAX];

	expect(ROLE_NETPROC, MSG_QUOTA_ROWS);
	assert_int_equal(msg_get_u32(&got.m), 1);
	msg_get_str(&got.m, name, sizeof(name));
	assert_string_equal(name, "alice");
	assert_int_equal(msg_get_u64(&got.m), 0);
	assert_int_equal(msg_get_u64(&got.m), 0);
	assert_true(msg_get_u64(&got.m) == memory);
	assert_true(msg_get_u64(&got.m) == processes);
}

static void
answer_use(uint32_t n, uint32_t uid)
{
	struct msg_out *o;

	expect(ROLE_LAUNCHER, MSG_USER_USE);
	assert_int_equal(msg_get_u32(&got.m), ALICE);
	o = msg_new(MSG_USER_USED, NULL, 0, got.m.hdr.request);
	msg_put_u32(o, n);
	for (; n > 0; n--) {
		msg_put_u32(o, uid);
		msg_put_u64(o, 1234);
		msg_put_u64(o, 5);
	}
	rig_send(ROLE_LAUNCHER, o, -1);
}

static void
use_of_all_sessions(void **state)
{
	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	ask_quota();
	answer_use(1, ALICE);
	expect_use(1234, 5);
	/* no entry for Alice is a known use of 0; Bob's entry is not hers */
	ask_quota();
	answer_use(0, 0);
	expect_use(0, 0);
	ask_quota();
	answer_use(1, BOB);
	expect_use(0, 0);
	/* the launcher does not answer, and then another does */
	ask_quota();
	ask_quota();
	expect_result(ERR_BUSY, NULL);
	rig_peer(ROLE_LAUNCHER);
	expect_use(USAGE_UNKNOWN, USAGE_UNKNOWN);
	ask_quota();
	answer_use(1, ALICE);
	expect_use(1234, 5);
}

static void
put_kills(int fd, const char *n)
{
	char text[128];
	int len = snprintf(text, sizeof(text), "low 0\nhigh 0\nmax 17\n"
	    "oom 9\noom_kill %s\noom_group_kill 8\n", n);

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, text, (size_t)len, 0), len);
}

/* By SIGKILL, when the kernel has counted one more than before. */
static void
out_of_memory(void **state)
{
	static const struct {
		const char	*before, *after;
		uint32_t	 what, value;
		bool		 want;
	} ends[] = {
		{ "0", "1", STUB_SIGNALED, SIGKILL, true },
		{ "1", "1", STUB_SIGNALED, SIGKILL, false },
		{ "1", "2", STUB_SIGNALED, SIGTERM, false },
		{ "2", "3", STUB_EXITED, 9, false },
		{ "3", "x", STUB_SIGNALED, SIGKILL, false },
	};
	struct session_view v;
	struct sid sid;
	struct run r;
	size_t i;
	int fd;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	fd = rig_tokens_file();
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		put_kills(fd, ends[i].before);
		ask_start(&sid, ALICE_CONN, 0);
		if (i == 0)
			expect_limits(LIMIT_UNLIMITED, LIMIT_UNLIMITED);
		r = expect_run(NULL);
		send_run_fd(&r, RUN_FD_EVENTS, dup(fd));
		give_run_fds(&r, false);
		send_ran(&r);
		(void)expect_session(STATE_RUNNING);
		expect_result(ERR_OK, NULL);
		expect(ROLE_NETPROC, MSG_RING);
		close(got.m.fd);
		put_kills(fd, ends[i].after);
		finish(&r, ends[i].what, ends[i].value);
		do {
			expect(ROLE_NETPROC, MSG_SESSION);
			view_get(&got.m, &v);
		} while (v.state != STATE_STOPPED);
		assert_int_equal(v.out_of_memory, ends[i].want);
	}
	close(fd);
}

static int
in_user_mode(void **state)
{
	rig_default_settings();
	rig_mode = MODE_USER;
	rig_settings.daemon_uid = ALICE;
	rig_settings.weakened = WEAKEN_USERNS;
	return rig_start(state);
}

static int
without_network(void **state)
{
	rig_default_settings();
	rig_settings.network = NETWORK_NONE;
	return rig_start(state);
}

/* No ring has such a size, so none can be made. */
static int
without_rings(void **state)
{
	rig_default_settings();
	rig_settings.output_buffer = 1;
	return rig_start(state);
}

#define T(f)	cmocka_unit_test_setup_teardown(f, rig_start, rig_stop)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(life_of_a_session),
		T(not_watched),
		T(output_is_whole_when_stopped),
		T(order_to_run),
		cmocka_unit_test_setup_teardown(more_than_is_allowed,
		    without_network, rig_stop),
		T(account_of_roots_group),
		T(arguments_without_an_end),
		T(quotas_before_any_byte),
		T(quotas_are_each_users_own),
		T(quota_of_a_group_waits_for_the_account),
		T(exec_path_with_dots_is_fine),
		T(image_is_sealed), T(open_upload_is_cut),
		T(open_upload_of_nothing),
		T(wrong_images),
		T(others_sessions_do_not_exist),
		T(wrong_states),
		T(start_that_fails),
		T(sandbox_policy),
		T(stop_escalates),
		T(signals),
		T(output_rings_when_armed),
		T(input),
		T(labels_and_limits),
		T(variables_are_sorted),
		T(activity_is_ones_own),
		T(activity_comes_in_parts),
		T(activity_of_others_pushes_none_out),
		cmocka_unit_test_setup_teardown(limits_of_all_sessions,
		    with_controllers, rig_stop),
		cmocka_unit_test_setup_teardown(
		    half_of_the_memory_has_room_for_a_file, with_controllers,
		    rig_stop),
		cmocka_unit_test_setup_teardown(
		    copy_larger_than_half_of_the_memory_is_warned_of,
		    with_controllers, rig_stop),
		cmocka_unit_test_setup_teardown(
		    copy_larger_than_half_of_limit_memory_is_warned_of,
		    with_little_memory, rig_stop),
		cmocka_unit_test_setup_teardown(use_of_all_sessions,
		    with_controllers, rig_stop),
		cmocka_unit_test_setup_teardown(out_of_memory,
		    with_controllers, rig_stop),
		cmocka_unit_test_setup_teardown(start_without_a_ring,
		    without_rings, rig_stop),
		cmocka_unit_test_setup_teardown(user_mode_has_one_user,
		    in_user_mode, rig_stop),
	};

	return cmocka_run_group_tests_name("spawner", tests, NULL, NULL);
}
