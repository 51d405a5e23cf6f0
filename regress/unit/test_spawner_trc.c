/* SPDX-License-Identifier: ISC */
/* The spawner and a session's tracer: orders, runs, symbols, ends. */
/* links: spawner/ spawner/dispatch.o !spawner/main.c */
#include "test_spawner_rig.h"

#include "wire/insthello.h"

/* An instrument, as the launcher has started it. */
struct inst {
	uint64_t	 serial;
	uint32_t	 role;
	pid_t		 pid;
};

static void
ask_trace(const struct sid *sid, uint32_t conn, const char *label)
{
	struct msg_out *o = msg_new(MSG_INST_START, sid, conn, 7);

	msg_put_u32(o, INST_TRACER);
	msg_put_u32(o, SANDBOX_DEFAULT);
	msg_put_u32(o, NETWORK_DEFAULT);
	msg_put_str(o, label);
	msg_put_bytes(o, "{\"a\":1}", 7);
	rig_send(ROLE_NETPROC, o, -1);
}

static struct inst
expect_order(uint32_t role)
{
	struct run_owner w;
	struct inst i = { 0 };

	expect(ROLE_LAUNCHER, MSG_INSTRUMENT);
	owner_get(&got.m, &w);
	assert_int_equal(w.uid, ALICE);
	i.role = msg_get_u32(&got.m);
	assert_int_equal(i.role, role);
	(void)msg_get_u64(&got.m);
	(void)msg_get_u64(&got.m);
	assert_int_equal(msg_end(&got.m), 0);
	i.serial = got.m.hdr.request;
	return i;
}

static void
send_inst_fd(const struct inst *i, uint32_t kind, int fd)
{
	struct msg_out *o = msg_new(MSG_INSTRUMENT_FD, NULL, 0, i->serial);

	msg_put_u32(o, kind);
	rig_give(ROLE_LAUNCHER, o, fd);
}

/* It is there: its end of the channel is rig_fds[its role]. */
static void
come(struct inst *i)
{
	struct msg_out *o;
	int pair[2], pidfd;

	assert_int_equal(chan_pair(pair), 0);
	rig_fds[i->role] = pair[0];
	send_inst_fd(i, INSTRUMENT_FD_CHANNEL, pair[1]);
	i->pid = idle_process(&pidfd);
	send_inst_fd(i, INSTRUMENT_FD_PIDFD, pidfd);
	o = msg_new(MSG_INSTRUMENT_RAN, NULL, 0, i->serial);
	msg_put_u32(o, (uint32_t)i->pid);
	rig_send(ROLE_LAUNCHER, o, -1);
}

static void
leave(struct inst *i)
{
	close(rig_fds[i->role]);
	rig_fds[i->role] = -1;
	end_process(i->pid);
}

/* Sent to the tracer with the message's number, and answered. */
static void
answer_request(uint32_t flags)
{
	struct msg_out *o;

	expect(ROLE_TRACER, MSG_INST_REQUEST);
	assert_int_equal(msg_get_u32(&got.m), ACCESS_OWN);
	assert_int_equal(msg_get_u32(&got.m), ALICE);
	o = msg_new(MSG_INST_REPLY, NULL, got.m.hdr.conn, got.m.hdr.request);
	msg_put_u32(o, flags);
	msg_put_bytes(o, "{}", 2);
	rig_send(ROLE_TRACER, o, -1);
}

/* Skips the messages that come before the one of this type. */
static void
skip_to(enum role from, enum msg_type type)
{
	do {
		if (!rig_recv(from, WAIT_MS))
			fail_msg("no %s came", msg_name(type));
		if (got.m.fd != -1 && got.m.hdr.type != (uint32_t)type)
			close(got.m.fd);
	} while (got.m.hdr.type != (uint32_t)type);
}

/* A session of a tracer's making, whose first request has succeeded. */
static struct inst
trace_something(struct sid *sid, struct trc_hello *h)
{
	struct inst i;

	login(ALICE_CONN, ALICE, "alice");
	ask_trace(NULL, ALICE_CONN, "prog");
	i = expect_order(ROLE_TRACER);
	come(&i);
	expect(ROLE_TRACER, MSG_TRC_HELLO);
	trc_hello_get(&got.m, h);
	assert_int_equal(msg_end(&got.m), 0);
	answer_request(0);
	skip_to(ROLE_NETPROC, MSG_INST_ANSWER);
	*sid = got.m.hdr.session;
	return i;
}

static void
greeted_and_asked(void **state)
{
	struct trc_hello h;
	struct sid sid;
	struct inst i;

	(void)state;
	i = trace_something(&sid, &h);
	assert_true(h.made && !h.resumed);
	assert_int_equal(h.nfiles, 0);
	assert_int_equal(h.inst.target_pid, 0);
	assert_string_equal(h.inst.session, "prog");
	assert_string_equal(h.inst.home, "/home/name");
	assert_int_equal(h.budget, LIMIT_UNLIMITED);
	ask(MSG_DELETE, &sid, ALICE_CONN);
	skip_to(ROLE_NETPROC, MSG_RESULT);
	assert_int_equal(msg_get_u32(&got.m), ERR_OK);
	/* it may leave by itself first */
	assert_false(rig_recv(ROLE_TRACER, WAIT_MS));
	leave(&i);
	skip_to(ROLE_LAUNCHER, MSG_SEND_SIGNAL);
	assert_int_equal(msg_get_u32(&got.m), SIGKILL);
	close(got.m.fd);
	expect(ROLE_LAUNCHER, MSG_SWEEP);
	assert_int_equal(msg_get_u32(&got.m), ALICE);
	assert_int_equal(msg_get_u32(&got.m), LEAF_TRACER);
}

static void
does_not_start(void **state)
{
	struct msg_out *o;
	struct inst i;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	ask_trace(NULL, ALICE_CONN, "prog");
	i = expect_order(ROLE_TRACER);
	o = msg_new(MSG_INSTRUMENT_FAILED, NULL, 0, i.serial);
	msg_put_u32(o, STEP_INSTRUMENT);
	msg_put_u32(o, ENOENT);
	rig_send(ROLE_LAUNCHER, o, -1);
	skip_to(ROLE_NETPROC, MSG_RESULT);
	assert_int_equal(msg_get_u32(&got.m), ERR_TRACER_LOST);
	skip_to(ROLE_NETPROC, MSG_SESSION_GONE);
	/* and so is one whose launcher has gone */
	ask_trace(NULL, ALICE_CONN, "prog");
	skip_to(ROLE_LAUNCHER, MSG_INSTRUMENT);
	rig_peer(ROLE_LAUNCHER);
	skip_to(ROLE_NETPROC, MSG_RESULT);
	assert_int_equal(msg_get_u32(&got.m), ERR_TRY_AGAIN);
	skip_to(ROLE_NETPROC, MSG_SESSION_GONE);
	expect_quiet(ROLE_NETPROC);
}

static void
send_order(const char *argv, size_t len)
{
	struct msg_out *o = msg_new(MSG_TRC_RUN, NULL, 0, 0);

	msg_put_str(o, "/tmp");
	msg_put_blob(o, argv, len);
	msg_put_blob(o, "A=b", 4);
	msg_put_u32(o, 0);
	rig_send(ROLE_TRACER, o, -1);
}

/* Among strings one after the other. */
static bool
has_string(const char *p, size_t len, const char *s)
{
	const char *end = p + len;

	for (; p < end; p += strlen(p) + 1)
		if (strcmp(p, s) == 0)
			return true;
	return false;
}

/* The program of such a session, which runs and has been let go. */
static struct run
run_something(void)
{
	static struct run_spec spec;
	struct run r;

	send_order("/bin/prog\0x", 12);
	skip_to(ROLE_LAUNCHER, MSG_RUN);
	run_get(&got.m, &spec);
	assert_true(spec.debug && spec.command && !spec.adapter && spec.split);
	assert_int_equal(spec.sandbox, SANDBOX_NAMESPACES);
	assert_string_equal(spec.cwd, "/tmp");
	assert_string_equal(spec.argv, "/bin/prog");
	assert_int_equal(spec.argv_len, 12);
	assert_true(has_string(spec.envp, spec.envp_len, "A=b"));
	assert_true(has_string(spec.envp, spec.envp_len, "HOME=/home/name"));
	r = (struct run){ .err = -1, .sid = got.m.hdr.session,
	    .serial = got.m.hdr.request };
	give_run_fds(&r, true);
	send_ran(&r);
	expect(ROLE_TRACER, MSG_INST_RING);
	close(got.m.fd);
	expect(ROLE_TRACER, MSG_TRC_RAN);
	assert_int_equal(msg_get_u32(&got.m), r.target);
	assert_int_equal(msg_get_u32(&got.m), 2);
	rig_send(ROLE_TRACER, msg_new(MSG_TRC_LET_GO, NULL, 0, 0), -1);
	expect(ROLE_LAUNCHER, MSG_SEND_SIGNAL);
	assert_int_equal(msg_get_u32(&got.m), SIGCONT);
	close(got.m.fd);
	/* once */
	rig_send(ROLE_TRACER, msg_new(MSG_TRC_LET_GO, NULL, 0, 0), -1);
	expect_quiet(ROLE_LAUNCHER);
	return r;
}

static void
runs_and_is_let_go(void **state)
{
	struct trc_hello h;
	struct sid sid;
	struct inst i;
	struct run r;

	(void)state;
	i = trace_something(&sid, &h);
	r = run_something();
	finish(&r, STUB_EXITED, 3);
	expect(ROLE_TRACER, MSG_TRC_ENDED);
	assert_int_equal(msg_get_u32(&got.m), 3);
	assert_int_equal(msg_get_u32(&got.m), 0);
	leave(&i);
}

/*
 * The session goes if its tracer leaves before the spawner hears that the
 * program has ended.
 */
static void
ends_as_it_is_stopped(void **state)
{
	struct trc_hello h;
	struct msg_out *o;
	struct sid sid;
	struct inst i;
	struct run r;

	(void)state;
	/* nor is it the grace that others have which makes it go */
	rig_settings.pty_grace = 3600;
	o = msg_new(MSG_SETTINGS, NULL, 0, 0);
	settings_put(o, &rig_settings);
	rig_send(ROLE_PARENT, o, -1);
	i = trace_something(&sid, &h);
	r = run_something();
	o = msg_new(MSG_TRC_STATE, NULL, 0, 0);
	msg_put_u32(o, TRC_OVER);
	msg_put_u32(o, 0);
	msg_put_u32(o, 0);
	rig_send(ROLE_TRACER, o, -1);
	rig_send(ROLE_TRACER, msg_new(MSG_INST_BYE, NULL, 0, 0), -1);
	leave(&i);
	skip_to(ROLE_LAUNCHER, MSG_SWEEP);
	finish(&r, STUB_EXITED, 3);
	skip_to(ROLE_NETPROC, MSG_SESSION_GONE);
	assert_memory_equal(&got.m.hdr.session, &sid, sizeof(sid));
}

static void
reads_symbols(void **state)
{
	struct inst i, y[TRC_SYMBOLS_MAX];
	struct trc_hello h;
	struct sid sid;
	size_t n;

	(void)state;
	i = trace_something(&sid, &h);
	for (n = 0; n < TRC_SYMBOLS_MAX; n++) {
		rig_send(ROLE_TRACER, msg_new(MSG_TRC_WANT_SYMBOLS, NULL, 0, 0),
		    -1);
		y[n] = expect_order(ROLE_SYMBOLS);
		come(&y[n]);
		close(rig_fds[ROLE_SYMBOLS]);
		rig_fds[ROLE_SYMBOLS] = -1;
		expect(ROLE_TRACER, MSG_TRC_SYMBOLS);
		assert_int_not_equal(got.m.fd, -1);
		close(got.m.fd);
	}
	rig_send(ROLE_TRACER, msg_new(MSG_TRC_WANT_SYMBOLS, NULL, 0, 0), -1);
	expect(ROLE_TRACER, MSG_TRC_SYMBOLS_FAILED);
	leave(&i);
	/* they are ended with it */
	for (n = 0; n < TRC_SYMBOLS_MAX; n++) {
		skip_to(ROLE_LAUNCHER, MSG_SEND_SIGNAL);
		assert_int_equal(msg_get_u32(&got.m), SIGKILL);
		close(got.m.fd);
		end_process(y[n].pid);
	}
}

/* The tracer writes for its successor to files that the spawner has made. */
static void
has_a_successor(void **state)
{
	int fds[TRC_FILES], seen;
	struct trc_hello h;
	struct msg_out *o;
	struct sid sid;
	struct inst i;
	char text[5] = "";

	(void)state;
	i = trace_something(&sid, &h);
	rig_send(ROLE_TRACER, msg_new(MSG_TRC_WANT_FILES, NULL, 0, 0), -1);
	for (seen = 0; seen < TRC_FILES; seen++) {
		expect(ROLE_TRACER, MSG_TRC_FILE);
		assert_int_equal(msg_get_u32(&got.m), seen);
		fds[seen] = got.m.fd;
	}
	assert_int_equal(write(fds[TRC_FILE_DB], "kept", 4), 4);
	for (seen = 0; seen < TRC_FILES; seen++)
		close(fds[seen]);
	leave(&i);
	skip_to(ROLE_LAUNCHER, MSG_SWEEP);
	o = msg_new(MSG_INST_ASK, &sid, ALICE_CONN, 8);
	msg_put_u32(o, INST_TRACER);
	msg_put_u32(o, 0);
	msg_put_bytes(o, "{}", 2);
	rig_send(ROLE_NETPROC, o, -1);
	i = expect_order(ROLE_TRACER);
	come(&i);
	expect(ROLE_TRACER, MSG_TRC_HELLO);
	trc_hello_get(&got.m, &h);
	assert_true(h.made && h.resumed);
	assert_int_equal(h.nfiles, TRC_FILES);
	for (seen = 0; seen < TRC_FILES; seen++) {
		expect(ROLE_TRACER, MSG_TRC_FILE);
		if (seen == TRC_FILE_DB)
			assert_int_equal(pread(got.m.fd, text, 4, 0), 4);
		close(got.m.fd);
	}
	assert_string_equal(text, "kept");
	answer_request(INST_FAILED);
	skip_to(ROLE_NETPROC, MSG_INST_ANSWER);
	/* a question that fails is no end of it */
	expect_quiet(ROLE_TRACER);
	leave(&i);
}

/* The launcher may be sent other messages, but no order for a process. */
static void
expect_no_order(void)
{
	while (rig_recv(ROLE_LAUNCHER, 100)) {
		assert_int_not_equal(got.m.hdr.type, MSG_INSTRUMENT);
		if (got.m.fd != -1)
			close(got.m.fd);
	}
}

/* The files of a deleted session are removed as its owner, by name. */
static void
is_forgotten(void **state)
{
	struct trc_hello h;
	struct msg_out *o;
	struct sid sid;
	struct inst i, last;

	(void)state;
	i = trace_something(&sid, &h);
	o = msg_new(MSG_TRC_NAMED, NULL, 0, 0);
	msg_put_str(o, "prog");
	rig_send(ROLE_TRACER, o, -1);
	leave(&i);
	skip_to(ROLE_LAUNCHER, MSG_SWEEP);
	ask(MSG_DELETE, &sid, ALICE_CONN);
	skip_to(ROLE_NETPROC, MSG_RESULT);
	assert_int_equal(msg_get_u32(&got.m), ERR_OK);
	/* what was the session's own */
	expect(ROLE_LAUNCHER, MSG_SWEEP);
	last = expect_order(ROLE_TRACER);
	come(&last);
	expect(ROLE_TRACER, MSG_TRC_HELLO);
	trc_hello_get(&got.m, &h);
	assert_true(h.forget && !h.resumed && !h.made);
	assert_string_equal(h.timeline, "prog");
	assert_memory_not_equal(&got.m.hdr.session, &sid, sizeof(sid));
	rig_send(ROLE_TRACER, msg_new(MSG_INST_BYE, NULL, 0, 0), -1);
	leave(&last);
	skip_to(ROLE_LAUNCHER, MSG_SWEEP);
	expect_no_order();
}

/* A timeline that the tracer has kept is not removed. */
static void
is_not_forgotten(void **state)
{
	struct trc_hello h;
	struct msg_out *o;
	struct sid sid;
	struct inst i;

	(void)state;
	i = trace_something(&sid, &h);
	o = msg_new(MSG_TRC_NAMED, NULL, 0, 0);
	msg_put_str(o, "prog");
	rig_send(ROLE_TRACER, o, -1);
	o = msg_new(MSG_TRC_NAMED, NULL, 0, 0);
	msg_put_str(o, "");
	rig_send(ROLE_TRACER, o, -1);
	leave(&i);
	skip_to(ROLE_LAUNCHER, MSG_SWEEP);
	ask(MSG_DELETE, &sid, ALICE_CONN);
	skip_to(ROLE_NETPROC, MSG_RESULT);
	expect_no_order();
}

/* A file from the tracer is not even received, whatever its kind. */
static void
no_fd_is_taken(void **state)
{
	struct trc_hello h;
	struct sid sid;
	struct inst i;

	(void)state;
	i = trace_something(&sid, &h);
	rig_give(ROLE_TRACER, msg_new(MSG_TRC_LET_GO, NULL, 0, 0),
	    dup(STDERR_FILENO));
	assert_false(rig_recv(ROLE_TRACER, WAIT_MS));
	leave(&i);
}

/* A tracer beside a program that it has not started. */
static void
beside_a_program(void **state)
{
	struct trc_hello h;
	struct ring ring;
	struct sid sid;
	struct inst i;
	struct run r;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	r = start(&sid, ALICE_CONN, 0, &ring);
	ring_close(&ring);
	ask_trace(&sid, ALICE_CONN, "");
	i = expect_order(ROLE_TRACER);
	come(&i);
	expect(ROLE_TRACER, MSG_TRC_HELLO);
	trc_hello_get(&got.m, &h);
	assert_int_equal(h.inst.target_pid, r.target);
	assert_false(h.made);
	expect(ROLE_TRACER, MSG_INST_RING);
	close(got.m.fd);
	/* a first request that fails leaves nothing but the program */
	answer_request(INST_FAILED);
	skip_to(ROLE_NETPROC, MSG_INST_ANSWER);
	assert_int_equal(msg_get_u32(&got.m), INST_TRACER);
	assert_int_equal(msg_get_u32(&got.m), INST_FAILED);
	assert_false(rig_recv(ROLE_TRACER, WAIT_MS));
	leave(&i);
	rig_send(ROLE_NETPROC, msg_new(MSG_STOP, &sid, ALICE_CONN, 9), -1);
	finish(&r, STUB_SIGNALED, SIGTERM);
	skip_to(ROLE_NETPROC, MSG_RESULT);
	assert_int_equal(msg_get_u32(&got.m), ERR_OK);
}

#define T(f)	cmocka_unit_test_setup_teardown(f, rig_start, rig_stop)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(greeted_and_asked), T(does_not_start),
		T(runs_and_is_let_go), T(ends_as_it_is_stopped),
		T(reads_symbols), T(has_a_successor),
		T(is_forgotten), T(is_not_forgotten),
		T(no_fd_is_taken), T(beside_a_program),
	};

	return cmocka_run_group_tests_name("spawner and a tracer", tests,
	    NULL, NULL);
}
