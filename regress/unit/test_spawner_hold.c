/* SPDX-License-Identifier: ISC */
/* The spawner: programs that wait for those who are to have their output. */
/* links: spawner/ spawner/dispatch.o !spawner/main.c */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "test_spawner_people.h"

/* The rig's rings, of which half is read ahead, and a pipe is a quarter. */
#define RING		(64 * 1024)
#define WINDOW		(RING / 2)
#define PIPE		(RING / 4)
#define CAROL_CONN	9

static struct ring	 ring;
static uint8_t		 bytes[4 * RING];

static void
hold(const struct sid *sid, uint32_t conn, uint32_t run, uint64_t offset)
{
	struct msg_out *o = msg_new(MSG_HOLD, sid, conn, 0);

	msg_put_u32(o, run);
	msg_put_u64(o, offset);
	rig_send(ROLE_NETPROC, o, -1);
}

/* All that the other side takes. */
static size_t
fill(int fd)
{
	size_t sum = 0;
	ssize_t n;
	int i;

	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	/* the spawner needs a moment to read, and to see that it may not */
	for (i = 0; i < 100; i++) {
		while ((n = write(fd, bytes, 4096)) > 0) {
			sum += (size_t)n;
			assert_true(sum < sizeof(bytes));
			i = 0;
		}
		usleep(1000);
	}
	return sum;
}

static bool
grows_to(uint64_t total)
{
	int i;

	for (i = 0; i < WAIT_MS && ring_total(&ring) < total; i++)
		usleep(1000);
	return ring_total(&ring) == total;
}

/* The first that the spawner does for who holds. */
static bool
is_made_to_fit(int fd)
{
	int i;

	for (i = 0; i < WAIT_MS && fcntl(fd, F_GETPIPE_SZ) != PIPE; i++)
		usleep(1000);
	return fcntl(fd, F_GETPIPE_SZ) == PIPE;
}

static struct run
held_run(uint32_t flags)
{
	struct sid sid;

	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	hold(&sid, ALICE_CONN, 0, 0);
	return start(&sid, ALICE_CONN, flags, &ring);
}

static void
expect_stopped(void)
{
	struct session_view v;

	do {
		expect(ROLE_NETPROC, MSG_SESSION);
		view_get(&got.m, &v);
	} while (v.state != STATE_STOPPED);
}

static void
end(const struct run *r)
{
	finish(r, STUB_EXITED, 0);
	expect_stopped();
	ring_close(&ring);
}

/* Nothing that a holder has not got has been overwritten. */
static void
assert_whole(uint64_t from)
{
	uint64_t at = from, total = ring_total(&ring);

	assert_int_equal(ring_read(&ring, &at, bytes, sizeof(bytes)),
	    total - from);
	assert_int_equal(at, from);
}

static void
waits(void **state)
{
	struct run r = held_run(0);

	(void)state;
	assert_int_equal(fcntl(r.out, F_GETPIPE_SZ), PIPE);
	assert_int_equal(fill(r.out), WINDOW + PIPE);
	assert_int_equal(ring_total(&ring), WINDOW);
	hold(&r.sid, ALICE_CONN, 1, 1000);
	assert_true(grows_to(WINDOW + 1000));
	/* what is of another run, or has been said before, lets nobody go */
	hold(&r.sid, ALICE_CONN, 2, 5000);
	hold(&r.sid, ALICE_CONN, 1, 0);
	usleep(50 * 1000);
	assert_int_equal(ring_total(&ring), WINDOW + 1000);
	hold(&r.sid, ALICE_CONN, 1, FLOW_UNLIMITED);
	assert_true(grows_to(WINDOW + PIPE));
	end(&r);
}

static void
slowest_counts(void **state)
{
	struct run r = held_run(0);

	(void)state;
	send_principal(CAROL_CONN, ALICE, "alice");
	expect(ROLE_NETPROC, MSG_SYNCED);
	hold(&r.sid, CAROL_CONN, 1, 4096);
	(void)fill(r.out);
	assert_int_equal(ring_total(&ring), WINDOW);
	hold(&r.sid, ALICE_CONN, 1, 8192);
	assert_true(grows_to(WINDOW + 4096));
	/* who goes is not waited for */
	rig_send(ROLE_NETPROC, msg_new(MSG_CONN_CLOSED, NULL, CAROL_CONN, 0),
	    -1);
	assert_true(grows_to(WINDOW + 8192));
	rig_send(ROLE_NETPROC, msg_new(MSG_CONN_CLOSED, NULL, ALICE_CONN, 0),
	    -1);
	assert_true(grows_to(WINDOW + PIPE));
	finish(&r, STUB_EXITED, 0);
	ring_close(&ring);
}

static void
strangers_hold_nothing(void **state)
{
	struct run r;
	struct sid sid;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	login(BOB_CONN, BOB, "bob");
	hold(&sid, BOB_CONN, 0, 0);
	r = start(&sid, ALICE_CONN, 0, &ring);
	hold(&sid, BOB_CONN, 1, 0);
	(void)fcntl(r.out, F_SETFL, O_NONBLOCK);
	while (ring_total(&ring) < 2 * RING)
		if (write(r.out, bytes, 4096) == -1)
			usleep(1000);
	end(&r);
}

/* A new netproc's connection goes on behind what the old one's had. */
static void
netproc_comes_back(void **state)
{
	struct run r = held_run(0);

	(void)state;
	(void)fill(r.out);
	hold(&r.sid, ALICE_CONN, 1, 1000);
	assert_true(grows_to(WINDOW + 1000));
	rig_peer(ROLE_NETPROC);
	usleep(100 * 1000);
	assert_int_equal(ring_total(&ring), WINDOW + 1000);
	send_principal(CAROL_CONN, ALICE, "alice");
	expect(ROLE_NETPROC, MSG_SESSION);
	expect(ROLE_NETPROC, MSG_RING);
	close(got.m.fd);
	expect(ROLE_NETPROC, MSG_SYNCED);
	hold(&r.sid, CAROL_CONN, 1, 3000);
	assert_true(grows_to(WINDOW + 3000));
	hold(&r.sid, CAROL_CONN, 1, FLOW_UNLIMITED);
	assert_true(grows_to(WINDOW + PIPE));
	end(&r);
}

static void
end_leaves_all_in_the_ring(void **state)
{
	struct run r = held_run(START_SPLIT);

	(void)state;
	assert_int_equal(fill(r.out), WINDOW + PIPE);
	assert_int_equal(fill(r.err), PIPE);
	finish(&r, STUB_EXITED, 0);
	expect_stopped();
	assert_int_equal(ring_total(&ring), RING);
	assert_whole(0);
	ring_close(&ring);
}

static struct run
too_much_left(void)
{
	struct run r = held_run(0);
	struct stub_report report = { STUB_EXITED, 0 };

	(void)fill(r.out);
	assert_true(fcntl(r.out, F_SETPIPE_SZ, 2 * RING) > 0);
	(void)fill(r.out);
	assert_int_equal(ring_total(&ring), WINDOW);
	assert_int_equal(write(r.status, &report, sizeof(report)),
	    sizeof(report));
	assert_int_equal(expect_session(STATE_RUNNING).pid, 0);
	end_process(r.target);
	end_process(r.stub);
	close_run_ends(&r);
	expect_quiet(ROLE_NETPROC);
	return r;
}

static void
end_waits(void **state)
{
	struct run r = too_much_left();
	uint64_t at;

	(void)state;
	/* a client has got no more than there is */
	for (at = 0; at <= WINDOW + RING; at += 8192) {
		assert_true(grows_to(at + WINDOW - (at == 0 ? 0 : 8192)));
		hold(&r.sid, ALICE_CONN, 1, at);
	}
	expect_stopped();
	assert_int_equal(ring_total(&ring), WINDOW + 2 * RING);
	assert_whole(WINDOW + RING);
	ring_close(&ring);
}

/* The end waits also if the program is over before any output was read. */
static void
end_at_once(void **state)
{
	struct stub_report report = { STUB_EXITED, 0 };
	struct run r = held_run(0);
	uint64_t at;

	(void)state;
	assert_true(fcntl(r.out, F_SETPIPE_SZ, 2 * RING) > 0);
	/* which the spawner hears of first */
	assert_int_equal(kill(rig_pid, SIGSTOP), 0);
	assert_int_equal(write(r.status, &report, sizeof(report)),
	    sizeof(report));
	end_process(r.target);
	end_process(r.stub);
	assert_int_equal(fill(r.out), 2 * RING);
	close_run_ends(&r);
	assert_int_equal(kill(rig_pid, SIGCONT), 0);
	for (at = 0; at <= RING; at += 8192) {
		assert_true(grows_to(at + WINDOW - (at == 0 ? 0 : 8192)));
		hold(&r.sid, ALICE_CONN, 1, at);
	}
	expect_stopped();
	assert_int_equal(ring_total(&ring), 2 * RING);
	assert_whole(RING);
	ring_close(&ring);
}

static void
end_waits_for_nobody(void **state)
{
	struct run r = too_much_left();

	(void)state;
	hold(&r.sid, ALICE_CONN, 1, FLOW_UNLIMITED);
	expect_stopped();
	assert_int_equal(ring_total(&ring), WINDOW + 2 * RING);
	ring_close(&ring);
}

static void
end_that_is_wanted(void **state)
{
	struct run r = too_much_left();

	(void)state;
	ask(MSG_KILL, &r.sid, ALICE_CONN);
	expect_stopped();
	expect_result(ERR_OK, NULL);
	assert_int_equal(ring_total(&ring), WINDOW + 2 * RING);
	ring_close(&ring);
}

/* A pipe that nobody waits at the end of is large, until somebody does. */
static void
pipes_are_wide(void **state)
{
	struct sid sid;
	struct run r;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	r = start(&sid, ALICE_CONN, START_SPLIT, &ring);
	assert_int_equal(fcntl(r.out, F_GETPIPE_SZ), 1024 * 1024);
	assert_int_equal(fcntl(r.err, F_GETPIPE_SZ), 1024 * 1024);
	hold(&sid, ALICE_CONN, 1, 0);
	assert_true(is_made_to_fit(r.err));
	assert_int_equal(fill(r.out), WINDOW + PIPE);
	end(&r);
}

/* More changes of stream than are remembered are not made. */
static void
changes_of_stream(void **state)
{
	struct run r = held_run(START_SPLIT);
	int i;

	(void)state;
	/* the first stretch is no change */
	for (i = 0; i < RING_MARKS / 2 + 2; i++) {
		assert_int_equal(write(i % 2 == 0 ? r.out : r.err, "x", 1), 1);
		if (i < RING_MARKS / 2 + 1)
			assert_true(grows_to((uint64_t)i + 1));
	}
	usleep(50 * 1000);
	assert_int_equal(ring_total(&ring), RING_MARKS / 2 + 1);
	hold(&r.sid, ALICE_CONN, 1, 10);
	assert_true(grows_to(RING_MARKS / 2 + 2));
	end(&r);
}

/* As much as that, however long it takes. */
static void
feed(int fd, size_t len)
{
	ssize_t n;
	int i;

	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	for (i = 0; len > 0 && i < WAIT_MS; i++) {
		n = write(fd, bytes, len < 4096 ? len : 4096);
		if (n > 0)
			len -= (size_t)n;
		else
			usleep(1000);
	}
	assert_int_equal(len, 0);
}

/* Read-only clients cannot hold a program, whatever netproc says. */
static void
who_may_only_look(void **state)
{
	struct msg_out *o;
	struct sid sid;
	struct run r;
	size_t len;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	r = start(&sid, ALICE_CONN, 0, &ring);
	login(BOB_CONN, BOB, "bob");
	share_with_bob(&sid, ACCESS_SEE);
	expect_shared();
	hold(&sid, BOB_CONN, 1, 0);
	o = msg_new(MSG_PRINCIPAL, NULL, CAROL_CONN, 0);
	msg_put_u32(o, ALICE);
	msg_put_u32(o, PRINCIPAL_READ_ONLY);
	msg_put_u32(o, DOOR_TCP);
	msg_put_str(o, "alice");
	msg_put_str(o, "127.0.0.1:2");
	msg_put_str(o, NULL);
	rig_send(ROLE_IDPROC, o, -1);
	expect(ROLE_NETPROC, MSG_SYNCED);
	hold(&sid, CAROL_CONN, 1, 0);
	feed(r.out, RING);
	assert_true(grows_to(RING));
	/* Bob can hold it with use access, but not after losing that */
	share_with_bob(&sid, ACCESS_USE);
	expect_shared();
	hold(&sid, BOB_CONN, 1, RING);
	assert_true(is_made_to_fit(r.out));
	len = fill(r.out);
	assert_int_equal(ring_total(&ring), RING + WINDOW);
	assert_true(len > WINDOW);
	share_with_bob(&sid, ACCESS_SEE);
	expect_shared();
	assert_true(grows_to(RING + len));
	end(&r);
}

#define T(f)	cmocka_unit_test_setup_teardown(f, rig_start, rig_stop)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(waits),
		T(who_may_only_look),
		T(slowest_counts),
		T(strangers_hold_nothing),
		T(netproc_comes_back),
		T(end_leaves_all_in_the_ring),
		T(end_waits),
		T(end_at_once),
		T(end_waits_for_nobody),
		T(end_that_is_wanted),
		T(pipes_are_wide),
		T(changes_of_stream),
	};

	return cmocka_run_group_tests_name("spawner: holding", tests, NULL,
	    NULL);
}
