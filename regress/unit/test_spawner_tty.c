/* SPDX-License-Identifier: ISC */
/* The spawner: commands, and runs on terminals. */
/* links: spawner/ spawner/dispatch.o !spawner/main.c */
/* uploads play no part here, but the rig has them */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "test_spawner_rig.h"

#include <sys/ioctl.h>

#include <termios.h>

#define CAROL_CONN	9
/* Input that is not answered for so long is not taken. */
#define FULL_MS		1500

/* The terminal of a run: the session's side of it, raw. */
struct terminal {
	struct run	 r;
	int		 slave;
};

static void
make_raw(int fd)
{
	struct termios t;

	assert_int_equal(tcgetattr(fd, &t), 0);
	cfmakeraw(&t);
	assert_int_equal(tcsetattr(fd, TCSANOW, &t), 0);
}

/* -> a session that is loaded */
static struct sid
new_session(uint32_t conn, uint32_t flags, const char *argv, size_t len)
{
	struct msg_out *o = msg_new(MSG_NEW, NULL, conn, 3);
	struct session_view v;

	msg_put_u32(o, flags);
	msg_put_u32(o, 100);
	msg_put_u32(o, 0);
	msg_put_str(o, "");
	msg_put_str(o, "/tmp");
	msg_put_blob(o, argv, len);
	msg_put_blob(o, "B=2\0A=1", 8);
	rig_send(ROLE_NETPROC, o, -1);
	v = expect_session(STATE_LOADED);
	assert_true(v.command);
	expect_result(ERR_OK, NULL);
	return got.m.hdr.session;
}

static void
give_tty_fds(struct terminal *t, struct run *r)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), p[2], fd;

	assert_true(master != -1 && grantpt(master) == 0 &&
	    unlockpt(master) == 0);
	t->slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(t->slave != -1);
	make_raw(t->slave);
	send_run_fd(r, RUN_FD_STDOUT, master);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	r->status = p[1];
	send_run_fd(r, RUN_FD_STATUS, p[0]);
	r->stub = idle_process(&fd);
	send_run_fd(r, RUN_FD_STUB, fd);
	r->target = idle_process(&fd);
	send_run_fd(r, RUN_FD_TARGET, fd);
	r->in = r->out = r->err = -1;
	t->r = *r;
}

static struct terminal
begin(const struct sid *sid, uint32_t conn, struct ring *ring)
{
	struct terminal t;
	struct run r;

	ask_start(sid, conn, 0);
	r = expect_run(NULL);
	give_tty_fds(&t, &r);
	send_ran(&r);
	(void)expect_session(STATE_RUNNING);
	expect_result(ERR_OK, NULL);
	expect(ROLE_NETPROC, MSG_RING);
	assert_int_equal(ring_map(ring, got.m.fd), 0);
	return t;
}

static struct terminal
cat_on_tty(struct ring *ring)
{
	struct sid sid;

	login(ALICE_CONN, ALICE, "alice");
	sid = new_session(ALICE_CONN, NEW_TTY, "cat", 4);
	return begin(&sid, ALICE_CONN, ring);
}

static void
end(struct terminal *t, struct ring *ring)
{
	struct stub_report report = { STUB_EXITED, 0 };
	struct session_view v;

	close(t->slave);
	assert_int_equal(write(t->r.status, &report, sizeof(report)),
	    sizeof(report));
	end_process(t->r.target);
	end_process(t->r.stub);
	close(t->r.status);
	do {
		expect(ROLE_NETPROC, MSG_SESSION);
		view_get(&got.m, &v);
	} while (v.state != STATE_STOPPED);
	ring_close(ring);
}

/* Another connection of hers; her account is known. */
static void
login_again(uint32_t conn)
{
	send_principal(conn, ALICE, "alice");
	expect(ROLE_NETPROC, MSG_SYNCED);
}

static bool
grows_to(const struct ring *ring, uint64_t total)
{
	int i;

	for (i = 0; i < WAIT_MS && ring_total(ring) < total; i++)
		usleep(1000);
	return ring_total(ring) == total;
}

static void
flow(const struct terminal *t, uint32_t conn, uint64_t limit)
{
	struct msg_out *o = msg_new(MSG_FLOW, &t->r.sid, conn, 0);

	msg_put_u64(o, limit);
	rig_send(ROLE_NETPROC, o, -1);
}

/* The same, and what is written next comes after it. */
static void
flow_first(const struct terminal *t, uint32_t conn, uint64_t limit)
{
	const struct sid nobodys = { 0 };

	flow(t, conn, limit);
	ask(MSG_STOP, &nobodys, ALICE_CONN);
	expect_result(ERR_NOT_FOUND, NULL);
}

static void
type(const struct terminal *t, uint32_t conn, const void *p, size_t len)
{
	struct msg_out *o = msg_new(MSG_TTY_INPUT, &t->r.sid, conn, 4);

	msg_put_bytes(o, p, len);
	rig_send(ROLE_NETPROC, o, -1);
}

static void
resize(const struct sid *sid, uint32_t cols, uint32_t rows)
{
	struct msg_out *o = msg_new(MSG_RESIZE, sid, ALICE_CONN, 5);

	msg_put_u32(o, cols);
	msg_put_u32(o, rows);
	rig_send(ROLE_NETPROC, o, -1);
}

/* -- commands -- */

static void
order_to_run_a_command(void **state)
{
	static struct run_spec spec;
	struct sid sid;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = new_session(ALICE_CONN, NEW_TTY | NEW_EPHEMERAL, "cat\0-v\0", 8);
	ask_start(&sid, ALICE_CONN, 0);
	expect(ROLE_LAUNCHER, MSG_RUN);
	assert_int_equal(got.m.fd, -1);
	run_get(&got.m, &spec);
	assert_int_equal(msg_end(&got.m), 0);
	assert_true(spec.command && spec.tty && !spec.watch_loader);
	assert_int_equal(spec.cols, 100);
	assert_int_equal(spec.rows, TTY_ROWS);
	assert_string_equal(spec.cwd, "/tmp");
	assert_int_equal(spec.argv_len, 8);
	assert_memory_equal(spec.argv, "cat\0-v\0", 8);
	assert_non_null(memmem(spec.envp, spec.envp_len, "A=1\0B=2", 8));
	assert_non_null(memmem(spec.envp, spec.envp_len,
	    "TERM=xterm-256color", 20));
}

static void
shell_of_the_account(void **state)
{
	struct session_view v;
	struct msg_out *o;
	int i;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	o = msg_new(MSG_NEW, NULL, ALICE_CONN, 3);
	for (i = 0; i < 3; i++)
		msg_put_u32(o, 0);
	for (i = 0; i < 4; i++)
		msg_put_str(o, "");
	rig_send(ROLE_NETPROC, o, -1);
	v = expect_session(STATE_LOADED);
	assert_string_equal(v.cmd, "/bin/bash");
	assert_false(v.tty);
	expect_result(ERR_OK, NULL);
}

/* -- output -- */

static void
paced(void **state)
{
	static char big[32 * 1024];
	struct terminal t;
	struct ring ring;

	(void)state;
	t = cat_on_tty(&ring);
	flow_first(&t, ALICE_CONN, 10);
	assert_int_equal(write(t.slave, "0123456789abcdef", 16), 16);
	assert_true(grows_to(&ring, 10));
	usleep(50 * 1000);
	assert_int_equal(ring_total(&ring), 10);
	flow(&t, ALICE_CONN, 13);
	assert_true(grows_to(&ring, 13));
	/* what is not its own, or nobody's, changes nothing */
	flow(&t, ALICE_CONN, 5);
	usleep(50 * 1000);
	assert_int_equal(ring_total(&ring), 13);
	flow(&t, ALICE_CONN, FLOW_UNLIMITED);
	assert_true(grows_to(&ring, 16));
	memset(big, 'x', sizeof(big));
	assert_int_equal(write(t.slave, big, 3000), 3000);
	assert_true(grows_to(&ring, 3016));
	end(&t, &ring);
}

/* A pacing client that goes or falls silent holds up nobody. */
static void
freed(void **state)
{
	struct terminal t;
	struct ring ring;

	(void)state;
	t = cat_on_tty(&ring);
	login_again(CAROL_CONN);
	flow_first(&t, CAROL_CONN, 1);
	assert_int_equal(write(t.slave, "abc", 3), 3);
	assert_true(grows_to(&ring, 1));
	rig_send(ROLE_NETPROC, msg_new(MSG_CONN_CLOSED, NULL, CAROL_CONN, 0),
	    -1);
	assert_true(grows_to(&ring, 3));
	flow_first(&t, ALICE_CONN, 4);
	assert_int_equal(write(t.slave, "def", 3), 3);
	assert_true(grows_to(&ring, 4));
	/* after two seconds without a word */
	assert_true(grows_to(&ring, 6));
	/* users who may not use the session set no limit */
	login(BOB_CONN, BOB, "bob");
	flow_first(&t, BOB_CONN, 6);
	assert_int_equal(write(t.slave, "ghi", 3), 3);
	assert_true(grows_to(&ring, 9));
	end(&t, &ring);
}

/* Writes as much as the terminal takes of it; it is read meanwhile. */
static size_t
pour(int fd, size_t len)
{
	static const char some[4096];
	struct pollfd p = { fd, POLLOUT, 0 };
	size_t done = 0;
	ssize_t n;

	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	while (done < len && poll(&p, 1, FULL_MS / 3) == 1) {
		n = write(fd, some,
		    len - done < sizeof(some) ? len - done : sizeof(some));
		if (n > 0)
			done += (size_t)n;
	}
	return done;
}

/* Its client starts it first and attaches then: nothing is written over. */
static void
a_program_waits_for_the_client_of_its_shell(void **state)
{
	struct terminal t;
	struct ring ring;
	struct sid sid;
	uint64_t half;
	size_t n;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = new_session(ALICE_CONN, NEW_TTY | NEW_EPHEMERAL, "cat", 4);
	t = begin(&sid, ALICE_CONN, &ring);
	half = ring.size / 2;
	n = pour(t.slave, ring.size * 2);
	assert_true(n > half && n < ring.size);
	assert_int_equal(ring_total(&ring), half);
	flow(&t, ALICE_CONN, FLOW_UNLIMITED);
	assert_true(grows_to(&ring, n));
	end(&t, &ring);
}

static void
all_of_it_comes_at_the_end(void **state)
{
	static char big[2000];
	struct session_view v;
	struct terminal t;
	struct ring ring;

	(void)state;
	t = cat_on_tty(&ring);
	flow_first(&t, ALICE_CONN, 1);
	memset(big, 'y', sizeof(big));
	assert_int_equal(write(t.slave, big, sizeof(big)), sizeof(big));
	assert_true(grows_to(&ring, 1));
	close(t.slave);
	end_process(t.r.target);
	end_process(t.r.stub);
	do {
		expect(ROLE_NETPROC, MSG_SESSION);
		view_get(&got.m, &v);
	} while (v.state != STATE_STOPPED);
	/* before the state is told, whatever the limit was */
	assert_int_equal(ring_total(&ring), sizeof(big));
	assert_int_equal(v.signal, SIGKILL);
	close(t.r.status);
	ring_close(&ring);
}

static long
cpu_ticks(pid_t pid)
{
	char path[64], text[512];
	unsigned long user = 0, sys = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_int_equal(sscanf(strrchr(text, ')') + 2, "%*c %*d %*d %*d %*d "
	    "%*d %*u %*u %*u %*u %*u %lu %lu", &user, &sys), 2);
	return (long)(user + sys);
}

/* A terminal that nobody has open says so for ever: that costs nothing. */
static void
closed_and_opened_again(void **state)
{
	struct terminal t;
	struct ring ring;
	char name[64];
	long before;

	(void)state;
	t = cat_on_tty(&ring);
	assert_int_equal(ttyname_r(t.slave, name, sizeof(name)), 0);
	close(t.slave);
	usleep(100 * 1000);
	before = cpu_ticks(rig_pid);
	usleep(500 * 1000);
	assert_true(cpu_ticks(rig_pid) - before < 10);
	t.slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(t.slave != -1);
	make_raw(t.slave);
	assert_int_equal(write(t.slave, "again", 5), 5);
	assert_true(grows_to(&ring, 5));
	/* the same where it is not read just now */
	flow(&t, ALICE_CONN, 5);
	assert_int_equal(write(t.slave, "more", 4), 4);
	close(t.slave);
	usleep(100 * 1000);
	before = cpu_ticks(rig_pid);
	usleep(500 * 1000);
	assert_true(cpu_ticks(rig_pid) - before < 10);
	flow(&t, ALICE_CONN, FLOW_UNLIMITED);
	assert_true(grows_to(&ring, 9));
	t.slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	end(&t, &ring);
}

/* -- input and sizes -- */

static void
read_all(int fd, char *buf, size_t len)
{
	ssize_t n;

	for (; len > 0; buf += n, len -= (size_t)n) {
		n = read(fd, buf, len);
		assert_true(n > 0);
	}
}

static void
in_the_order_in_which_it_came(void **state)
{
	static char big[TTY_INPUT_MAX], back[16 * TTY_INPUT_MAX];
	struct session_view v;
	struct terminal t;
	struct winsize ws;
	struct ring ring;
	uint32_t conn;
	size_t i, sent;

	(void)state;
	t = cat_on_tty(&ring);
	type(&t, ALICE_CONN, "", 0);
	expect_result(ERR_OK, NULL);
	memset(big, 'a', sizeof(big));
	/* as much as the kernel takes: it tells how much that is */
	for (sent = 0; ; sent += sizeof(big)) {
		type(&t, ALICE_CONN, big, sizeof(big));
		if (!rig_recv(ROLE_NETPROC, FULL_MS))
			break;
		assert_int_equal(got.m.hdr.type, MSG_RESULT);
	}
	/* one at a time for each, and not more than may be held */
	type(&t, ALICE_CONN, "x", 1);
	expect_result(ERR_BUSY, NULL);
	for (conn = 20; conn < 23; conn++) {
		login_again(conn);
		memset(big, 'b' + (int)(conn - 20), sizeof(big));
		type(&t, conn, big, sizeof(big));
	}
	login_again(conn);
	resize(&t.r.sid, 132, 43);
	expect_result(ERR_BUSY, NULL);
	read_all(t.slave, back, sent + 4 * sizeof(big));
	for (i = 0; i < 4; i++)
		expect_result(ERR_OK, NULL);
	for (i = 0; i < sent + 4 * sizeof(big); i++)
		if (back[i] != 'a' + (i < sent ? 0 :
		    (int)((i - sent) / sizeof(big))))
			fail_msg("byte %zu is %c", i, back[i]);
	resize(&t.r.sid, 132, 0);
	v = expect_session(STATE_RUNNING);
	assert_int_equal(v.cols, 132);
	assert_int_equal(v.rows, TTY_ROWS);
	expect_result(ERR_OK, NULL);
	assert_int_equal(ioctl(t.slave, TIOCGWINSZ, &ws), 0);
	assert_int_equal(ws.ws_col, 132);
	/* one that changes nothing is not told to anybody */
	resize(&t.r.sid, 132, TTY_ROWS);
	expect_result(ERR_OK, NULL);
	end(&t, &ring);
	/* of the next run */
	resize(&t.r.sid, 5000, 1);
	v = expect_session(STATE_STOPPED);
	assert_int_equal(v.cols, TTY_SIZE_MAX);
	expect_result(ERR_OK, NULL);
}

/* The launcher is at work with the size that it was given. */
static void
sizes_that_come_early(void **state)
{
	struct session_view v;
	struct terminal t;
	struct winsize ws;
	struct ring ring;
	struct sid sid;
	struct run r;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = new_session(ALICE_CONN, NEW_TTY, "cat", 4);
	ask_start(&sid, ALICE_CONN, 0);
	r = expect_run(NULL);
	resize(&sid, 60, 0);
	expect_result(ERR_OK, NULL);
	give_tty_fds(&t, &r);
	send_ran(&r);
	v = expect_session(STATE_RUNNING);
	assert_int_equal(v.cols, 100);
	v = expect_session(STATE_RUNNING);
	assert_int_equal(v.cols, 60);
	assert_int_equal(v.rows, TTY_ROWS);
	expect_result(ERR_OK, NULL);
	expect(ROLE_NETPROC, MSG_RING);
	assert_int_equal(ring_map(&ring, got.m.fd), 0);
	assert_int_equal(ioctl(t.slave, TIOCGWINSZ, &ws), 0);
	assert_int_equal(ws.ws_col, 60);
	end(&t, &ring);
}

static void
who_types_is_told_of_the_end(void **state)
{
	static char big[TTY_INPUT_MAX];
	struct terminal t;
	struct ring ring;

	(void)state;
	t = cat_on_tty(&ring);
	while (type(&t, ALICE_CONN, big, sizeof(big)),
	    rig_recv(ROLE_NETPROC, FULL_MS))
		assert_int_equal(got.m.hdr.type, MSG_RESULT);
	close(t.slave);
	end_process(t.r.target);
	end_process(t.r.stub);
	expect_result(ERR_NOT_RUNNING, NULL);
	(void)expect_session(STATE_STOPPED);
	close(t.r.status);
	ring_close(&ring);
	type(&t, ALICE_CONN, "x", 1);
	expect_result(ERR_NOT_RUNNING, NULL);
}

/* Terminal input and output are not logged. */
static void
nothing_of_it_is_logged(void **state)
{
	struct terminal t;
	struct ring ring;
	uint32_t n, i;
	char text[512];

	(void)state;
	t = cat_on_tty(&ring);
	type(&t, ALICE_CONN, "secret", 6);
	expect_result(ERR_OK, NULL);
	ask(MSG_ACTIVITY, NULL, ALICE_CONN);
	expect(ROLE_NETPROC, MSG_ACTIVITY_LINES);
	n = msg_get_u32(&got.m);
	assert_int_equal(n, 2);
	for (i = 0; i < n; i++) {
		msg_get_str(&got.m, text, sizeof(text));
		msg_get_str(&got.m, text, sizeof(text));
		assert_null(strstr(text, "secret"));
	}
	end(&t, &ring);
}

/* -- the end -- */

static void
expect_hup(void)
{
	uint32_t sig, whom;

	expect(ROLE_LAUNCHER, MSG_SEND_SIGNAL);
	sig = msg_get_u32(&got.m);
	whom = msg_get_u32(&got.m);
	assert_int_equal(sig, SIGHUP);
	assert_int_equal(whom, SIGNAL_TREE_HUP);
	close(got.m.fd);
}

static void
those_who_stay_are_hung_up(void **state)
{
	struct stub_report report = { STUB_EXITED, 3 };
	struct session_view v;
	struct terminal t;
	struct ring ring;
	uint32_t whom;

	(void)state;
	t = cat_on_tty(&ring);
	assert_int_equal(write(t.r.status, &report, sizeof(report)),
	    sizeof(report));
	v = expect_session(STATE_RUNNING);
	assert_int_equal(v.exit_code, 3);
	expect_hup();
	/* who does not go by that is told again */
	expect(ROLE_LAUNCHER, MSG_SEND_SIGNAL);
	(void)msg_get_u32(&got.m);
	whom = msg_get_u32(&got.m);
	assert_int_equal(whom, SIGNAL_TREE_TERM);
	close(got.m.fd);
	end_process(t.r.stub);
	end_process(t.r.target);
	v = expect_session(STATE_STOPPED);
	close(t.slave);
	close(t.r.status);
	ring_close(&ring);
}

static void
stop_hangs_up(void **state)
{
	struct terminal t;
	struct ring ring;

	(void)state;
	t = cat_on_tty(&ring);
	ask(MSG_STOP, &t.r.sid, ALICE_CONN);
	expect_hup();
	end(&t, &ring);
	expect_result(ERR_OK, NULL);
}

/* -- hostile peers -- */

static void
expect_violation(void)
{
	do {
		if (!rig_recv(ROLE_PARENT, WAIT_MS))
			fail_msg("the launcher is not cut off");
	} while (got.m.hdr.type != MSG_VIOLATION);
}

/* The launcher is cut off for a pipe where a terminal belongs. */
static void
a_pipe_is_no_terminal(void **state)
{
	struct sid sid;
	struct run r;
	int p[2];

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = new_session(ALICE_CONN, NEW_TTY, "cat", 4);
	ask_start(&sid, ALICE_CONN, 0);
	r = expect_run(NULL);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	close(p[1]);
	send_run_fd(&r, RUN_FD_STDOUT, p[0]);
	expect_violation();
	expect_result(ERR_TRY_AGAIN, NULL);
}

static void
a_terminal_is_no_pipe(void **state)
{
	struct sid sid;
	struct run r;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = new_session(ALICE_CONN, 0, "cat", 4);
	ask_start(&sid, ALICE_CONN, 0);
	r = expect_run(NULL);
	send_run_fd(&r, RUN_FD_STDOUT, posix_openpt(O_RDWR | O_NOCTTY));
	expect_violation();
	expect_result(ERR_TRY_AGAIN, NULL);
}

#define T(test)	cmocka_unit_test_setup_teardown(test, rig_start, rig_stop)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(order_to_run_a_command),
		T(shell_of_the_account),
		T(paced),
		T(freed),
		T(a_program_waits_for_the_client_of_its_shell),
		T(all_of_it_comes_at_the_end),
		T(closed_and_opened_again),
		T(in_the_order_in_which_it_came),
		T(sizes_that_come_early),
		T(who_types_is_told_of_the_end),
		T(nothing_of_it_is_logged),
		T(those_who_stay_are_hung_up),
		T(stop_hangs_up),
		T(a_pipe_is_no_terminal),
		T(a_terminal_is_no_pipe),
	};

	return cmocka_run_group_tests_name("spawner terminals", tests, NULL,
	    NULL);
}
