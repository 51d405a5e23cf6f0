/* SPDX-License-Identifier: ISC */
/* Messages: fields, the table, and channels that check what they receive. */
#include <sys/mman.h>
#include <sys/socket.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/errors.h"
#include "base/loop.h"
#include "common/wire/msg_out.h"
#include "wire/fdkind.h"
#include "wire/msg.h"
#include "wire/run.h"
#include "wire/settings.h"
#include "wire/view.h"

/* -- this test is a role that takes some of the table's messages -- */

static unsigned int	 nhandled;
static int		 answer = 0;
static char		 text[64];
static int		 kept_fd = -1;

static int
take_any(struct msg *m)
{
	size_t len;

	nhandled++;
	(void)msg_get_rest(m, &len);
	return answer;
}

static int
take_text(struct msg *m)
{
	nhandled++;
	(void)msg_get_u32(m);
	msg_get_str(m, text, sizeof(text));
	return msg_end(m);
}

static int
take_fd(struct msg *m)
{
	nhandled++;
	(void)msg_get_u64(m);
	kept_fd = msg_take_fd(m);
	return msg_end(m);
}

/* Where its secret lay, which the handler has seen. */
static const uint8_t	*secret;
static size_t		 secret_len;

static int
take_secret(struct msg *m)
{
	nhandled++;
	secret = m->next;
	secret_len = m->left;
	assert_int_equal(secret[0], 'x');
	return answer;
}

static int	take_calmly(struct msg *);
static int	take_in_order(struct msg *);

const msg_handler msg_handlers[MSG_COUNT] = {
	[MSG_SEND_SIGNAL] = take_any,
	[MSG_PROBE] = take_calmly,
	[MSG_RUN] = take_any,
	[MSG_SWEEP] = take_fd,
	[MSG_USER_USE] = take_in_order,
	[MSG_RESULT] = take_text,
	[MSG_AUTH] = take_secret,
	[MSG_TOKEN] = take_secret,
	[MSG_KEY] = take_secret,
	[MSG_INST_LEFT] = take_any,
	[MSG_DBG_KILL] = take_any,
	[MSG_TRC_LET_GO] = take_any,
};

static struct channel	 chan;
static int		 peer_fd = -1;
static const char	*gone_why;
static unsigned int	 ngone;

static void
on_gone(struct channel *c, const char *why)
{
	(void)c;
	ngone++;
	gone_why = why;
}

static int
set_up(void **state)
{
	int pair[2];

	(void)state;
	nhandled = ngone = 0;
	gone_why = NULL;
	answer = 0;
	if (loop_init() == -1 || chan_pair(pair) == -1)
		return -1;
	chan_init(&chan, ROLE_LAUNCHER, ROLE_SPAWNER, on_gone, NULL);
	peer_fd = pair[0];
	return chan_open(&chan, pair[1], 7);
}

static int
tear_down(void **state)
{
	(void)state;
	chan_close(&chan);
	if (peer_fd != -1)
		close(peer_fd);
	peer_fd = -1;
	loop_end();
	return 0;
}

/* Sends any header with any length of payload and up to two fds. */
static void
raw_send(struct msg_hdr hdr, size_t len, const int *fds, size_t nfds)
{
	static uint8_t payload[MSG_PAYLOAD_MAX + 64];
	union {
		struct cmsghdr	hdr;
		char		buf[CMSG_SPACE(sizeof(int) * 2)];
	} ctl;
	struct iovec iov[2] = { { &hdr, sizeof(hdr) }, { payload, len } };
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = 2 };
	struct cmsghdr *cm;

	if (nfds > 0) {
		memset(&ctl, 0, sizeof(ctl));
		mh.msg_control = ctl.buf;
		mh.msg_controllen = CMSG_SPACE(sizeof(int) * nfds);
		cm = CMSG_FIRSTHDR(&mh);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(sizeof(int) * nfds);
		memcpy(CMSG_DATA(cm), fds, sizeof(int) * nfds);
	}
	assert_true(sendmsg(peer_fd, &mh, 0) > 0);
	chan_drain(&chan, 10);
}

static struct msg_hdr
header(uint32_t type, uint32_t length)
{
	struct msg_hdr h;

	memset(&h, 0, sizeof(h));
	h.type = type;
	h.length = length;
	h.generation = 7;
	return h;
}

static void
expect_cut(const char *why)
{
	assert_int_equal(nhandled, 0);
	assert_int_equal(ngone, 1);
	assert_false(chan_is_open(&chan));
	assert_non_null(gone_why);
	if (strstr(gone_why, why) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", gone_why, why);
}

static int
some_memfd(void)
{
	int fd = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd != -1);
	return fd;
}

/* -- what a channel refuses -- */

static void
good_message(void **state)
{
	(void)state;
	raw_send(header(MSG_RESULT, 8), 8, NULL, 0);
	assert_int_equal(nhandled, 1);
	assert_int_equal(ngone, 0);
}

static void
bad_types(void **state)
{
	const uint32_t types[] = { MSG_NONE, MSG_COUNT, UINT32_MAX,
	    MSG_SESSION /* is in the table, but not for this role */ };
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		raw_send(header(types[i], 0), 0, NULL, 0);
		expect_cut("does not take");
		tear_down(state);
		assert_int_equal(set_up(state), 0);
	}
}

static void
not_its_to_send(void **state)
{
	(void)state;
	chan.peer = ROLE_IDPROC;
	raw_send(header(MSG_RESULT, 8), 8, NULL, 0);
	expect_cut("may not send");
}

/* Only a debugger or a tracer may send the messages that both have. */
static void
instruments_words(void **state)
{
	static const struct {
		enum msg_type	 type;
		enum role	 one, other;
	} rows[] = {
		{ MSG_INST_LEFT, ROLE_DEBUGGER, ROLE_TRACER },
		{ MSG_DBG_KILL, ROLE_DEBUGGER, ROLE_DEBUGGER },
		{ MSG_TRC_LET_GO, ROLE_TRACER, ROLE_TRACER },
	};
	unsigned int role;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (role = 0; role < ROLE_END; role++) {
			chan.peer = (enum role)role;
			raw_send(header(rows[i].type, 0), 0, NULL, 0);
			if (chan.peer == rows[i].one ||
			    chan.peer == rows[i].other)
				assert_int_equal(nhandled, 1);
			else
				expect_cut("may not send");
			tear_down(state);
			assert_int_equal(set_up(state), 0);
		}
}

static void
wrong_lengths(void **state)
{
	const uint32_t lens[] = { 0, 7, 1025 };
	size_t i;

	for (i = 0; i < 3; i++) {
		raw_send(header(MSG_RESULT, lens[i]), lens[i], NULL, 0);
		expect_cut("outside the table's bounds");
		tear_down(state);
		assert_int_equal(set_up(state), 0);
	}
	raw_send(header(MSG_RESULT, 9), 8, NULL, 0);
	expect_cut("does not match");
	tear_down(state);
	assert_int_equal(set_up(state), 0);
	raw_send(header(MSG_RUN, MSG_PAYLOAD_MAX + 1), MSG_PAYLOAD_MAX + 1,
	    NULL, 0);
	expect_cut("bounds");
	tear_down(state);
	assert_int_equal(set_up(state), 0);
	raw_send(header(MSG_RUN, MSG_PAYLOAD_MAX + 9), MSG_PAYLOAD_MAX + 9,
	    NULL, 0);
	expect_cut("too long");
}

static void
short_header(void **state)
{
	(void)state;
	assert_int_equal(send(peer_fd, "abc", 3, 0), 3);
	chan_drain(&chan, 1);
	expect_cut("does not match");
}

static void
other_generation(void **state)
{
	struct msg_hdr h = header(MSG_RESULT, 8);

	(void)state;
	h.generation = 6;
	raw_send(h, 8, NULL, 0);
	expect_cut("generation");
}

static void
wrong_fds(void **state)
{
	int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int fds[2] = { null_fd, null_fd };

	/* none, another kind, only a path, one too many */
	raw_send(header(MSG_SEND_SIGNAL, 12), 12, NULL, 0);
	expect_cut("no fd where one belongs");
	tear_down(state);
	assert_int_equal(set_up(state), 0);
	raw_send(header(MSG_SEND_SIGNAL, 12), 12, fds, 1);
	expect_cut("wrong kind");
	tear_down(state);
	assert_int_equal(set_up(state), 0);
	/* where there are two kinds or none, it is no third */
	raw_send(header(MSG_SWEEP, 8), 8, fds, 1);
	expect_cut("wrong kind");
	tear_down(state);
	assert_int_equal(set_up(state), 0);
	raw_send(header(MSG_RESULT, 8), 8, fds, 1);
	expect_cut("an fd where none belongs");
	tear_down(state);
	assert_int_equal(set_up(state), 0);
	fds[0] = open("/", O_PATH | O_CLOEXEC);
	raw_send(header(MSG_SWEEP, 8), 8, fds, 1);
	expect_cut("only names a path");
	close(fds[0]);
	tear_down(state);
	assert_int_equal(set_up(state), 0);
	fds[0] = fds[1] = some_memfd();
	raw_send(header(MSG_SWEEP, 8), 8, fds, 2);
	expect_cut("fd");
	close(fds[0]);
	close(null_fd);
}

static bool
is_zero(const uint8_t *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != 0)
			return false;
	return true;
}

/* Its buffers are read from again and again: tokens and keys do not stay. */
static void
secrets_that_come(void **state)
{
	static const struct {
		enum msg_type type;
		enum role from;
	} secrets[] = { { MSG_AUTH, ROLE_NETPROC }, { MSG_TOKEN, ROLE_SPAWNER },
	    { MSG_KEY, ROLE_SPAWNER } };
	struct {
		struct msg_hdr	hdr;
		char		text[64];
	} m;
	size_t i;

	for (i = 0; i < 2 * sizeof(secrets) / sizeof(secrets[0]); i++) {
		m.hdr = header(secrets[i / 2].type, sizeof(m.text));
		memset(m.text, 'x', sizeof(m.text));
		chan.peer = secrets[i / 2].from;
		/* whether or not the handler finds it good */
		answer = i % 2 == 0 ? 0 : -1;
		assert_true(send(peer_fd, &m, sizeof(m), 0) > 0);
		chan_drain(&chan, 1);
		assert_int_equal(nhandled, 1);
		assert_int_equal(secret_len, sizeof(m.text));
		assert_true(is_zero(secret, secret_len));
		tear_down(state);
		assert_int_equal(set_up(state), 0);
	}
}

/* ... nor where they were written, whether or not anybody gets them. */
static void
secrets_that_go(void **state)
{
	static const enum msg_type secrets[] = { MSG_AUTH, MSG_TOKEN, MSG_KEY };
	struct msg_out *o;
	size_t i, len;

	(void)state;
	for (i = 0; i < 2 * sizeof(secrets) / sizeof(secrets[0]); i++) {
		if (i == sizeof(secrets) / sizeof(secrets[0]))
			chan_close(&chan);
		o = msg_new(secrets[i % 3], NULL, 1, 1);
		msg_put_str(o, "the secret");
		len = msg_out_len(o);
		assert_false(is_zero(o->payload, len));
		assert_int_equal(chan_send(&chan, o, -1),
		    chan_is_open(&chan) ? 0 : -1);
		assert_true(is_zero(o->payload, len));
	}
}

static void
fields_that_do_not_fit(void **state)
{
	(void)state;
	answer = -1;
	/* the handler says so */
	raw_send(header(MSG_RUN, 64), 64, NULL, 0);
	assert_int_equal(nhandled, 1);
	assert_int_equal(ngone, 1);
	assert_non_null(strstr(gone_why, "fields"));
}

static void
fd_goes_to_its_taker(void **state)
{
	int fd = some_memfd(), next;

	(void)state;
	raw_send(header(MSG_SWEEP, 8), 8, &fd, 1);
	assert_true(kept_fd != -1 && kept_fd != fd);
	assert_int_equal(fcntl(kept_fd, F_GETFD), FD_CLOEXEC);
	close(kept_fd);
	/* the lowest free number: nothing was left open */
	next = dup(fd);
	assert_int_equal(next, kept_fd);
	close(next);
	close(fd);
}

static void
empty_packet(void **state)
{
	(void)state;
	/* an empty packet is not EOF: its sender is ended, not waited for */
	assert_int_equal(send(peer_fd, "", 0, 0), 0);
	chan_drain(&chan, 1);
	expect_cut("does not match");
}

static void
end_of_the_peer(void **state)
{
	(void)state;
	close(peer_fd);
	peer_fd = -1;
	chan_drain(&chan, 1);
	assert_int_equal(ngone, 1);
	assert_null(gone_why);
}

static void
peer_that_does_not_read(void **state)
{
	struct msg_out *o;
	int i, sent = 0;

	(void)state;
	for (i = 0; i < 1000 && chan_is_open(&chan); i++) {
		o = msg_new(MSG_RUN, NULL, 0, 0);
		while (msg_out_len(o) < 100 * 1024)
			msg_put_u64(o, 1);
		sent += chan_send(&chan, o, -1) == 0;
	}
	assert_true(sent > 50 && sent < 200);
	assert_non_null(strstr(gone_why, "does not read"));
}

static void
queue_keeps_order(void **state)
{
	struct msg_hdr h;
	struct msg_out *o;
	uint64_t i;

	(void)state;
	for (i = 1; i <= 1000; i++) {
		o = msg_new(MSG_RUN, NULL, 0, i);
		while (msg_out_len(o) < 2000)
			msg_put_u64(o, i);
		assert_int_equal(chan_send(&chan, o, -1), 0);
	}
	for (i = 1; i <= 1000; i++) {
		while (recv(peer_fd, &h, sizeof(h), MSG_DONTWAIT) == -1)
			/* the loop would: the socket has room again */
			chan.io.fn(4 /* EPOLLOUT */, chan.io.arg);
		assert_int_equal(h.request, i);
	}
}

static void
too_large_to_send(void **state)
{
	struct msg_out *o = msg_new(MSG_RESULT, NULL, 0, 0);
	static const char big[MSG_PAYLOAD_MAX];

	(void)state;
	msg_put_blob(o, big, sizeof(big));
	assert_int_equal(chan_send(&chan, o, -1), -1);
	assert_true(chan_is_open(&chan));
	assert_int_equal(chan_send(&chan, msg_new(MSG_RESULT, NULL, 0, 0), -1),
	    0);
}

/* -- fields -- */

static struct msg
reader(const struct msg_out *o)
{
	struct msg m = { .next = o->payload, .left = o->hdr.length, .fd = -1 };

	return m;
}

static void
fields_round_trip(void **state)
{
	struct msg_out *o = msg_new(MSG_RESULT, NULL, 0, 0);
	struct msg m;
	char s[8];
	size_t len;

	(void)state;
	msg_put_u32(o, 0xfffffffe);
	msg_put_u64(o, 0x123456789abcdef0);
	msg_put_str(o, "seven77");
	msg_put_str(o, NULL);
	msg_put_blob(o, "a\0b", 3);
	m = reader(o);
	assert_int_equal(msg_get_u32(&m), 0xfffffffe);
	assert_int_equal(msg_get_u64(&m), 0x123456789abcdef0);
	msg_get_str(&m, s, sizeof(s));
	assert_string_equal(s, "seven77");
	msg_get_str(&m, s, sizeof(s));
	assert_string_equal(s, "");
	assert_int_equal(msg_end(&m), -1);
	assert_memory_equal(msg_get_blob(&m, &len), "a\0b", 3);
	assert_int_equal(len, 3);
	assert_int_equal(msg_end(&m), 0);
	/* past the end nothing but zeros comes, and it shows */
	assert_int_equal(msg_get_u32(&m), 0);
	assert_int_equal(msg_end(&m), -1);
}

static void
strings_that_are_none(void **state)
{
	struct msg_out *o = msg_new(MSG_RESULT, NULL, 0, 0);
	struct msg m;
	char s[8];

	(void)state;
	msg_put_str(o, "eight888");
	m = reader(o);
	msg_get_str(&m, s, sizeof(s));
	assert_string_equal(s, "");
	assert_true(m.bad);
	o = msg_new(MSG_RESULT, NULL, 0, 0);
	msg_put_blob(o, "a\0b", 3);
	m = reader(o);
	msg_get_str(&m, s, sizeof(s));
	assert_true(m.bad);
	o = msg_new(MSG_RESULT, NULL, 0, 0);
	msg_put_u32(o, UINT32_MAX);
	m = reader(o);
	msg_get_str(&m, s, sizeof(s));
	assert_true(m.bad);
}

static void
view_round_trip(void **state)
{
	struct msg_out *o = msg_new(MSG_SESSION, NULL, 0, 0);
	struct session_view v, w;
	struct msg m;

	(void)state;
	memset(&v, 0, sizeof(v));
	v.owner = 1000;
	v.state = STATE_RUNNING;
	v.pid = 4711;
	v.exit_code = 3;
	v.has_exit_code = true;
	v.size = UINT64_MAX;
	v.exited_ns = -1;
	strcpy(v.name, "label");
	v.args = "a b";
	v.args_len = 3;
	v.env = "A=1\0B=2";
	v.env_len = 8;
	v.command = v.tty = v.ephemeral = true;
	v.cols = 132;
	v.rows = 43;
	v.network = NETWORK_NONE;
	v.limits[LIMIT_CORE] = LIMIT_UNLIMITED;
	v.created_ns = 5;
	v.cmd = "cat\0-v";
	v.cmd_len = 7;
	view_put(o, &v);
	m = reader(o);
	view_get(&m, &w);
	assert_int_equal(msg_end(&m), 0);
	assert_int_equal(w.pid, 4711);
	assert_true(w.has_exit_code);
	assert_int_equal(w.size, UINT64_MAX);
	assert_int_equal(w.exited_ns, -1);
	assert_string_equal(w.name, "label");
	assert_memory_equal(w.env, "A=1\0B=2", 8);
	assert_true(w.command && w.tty && w.ephemeral);
	assert_int_equal(w.cols, 132);
	assert_int_equal(w.rows, 43);
	assert_int_equal(w.network, NETWORK_NONE);
	assert_int_equal(w.limits[LIMIT_CORE], LIMIT_UNLIMITED);
	assert_int_equal(w.created_ns, 5);
	assert_int_equal(w.cmd_len, 7);
	assert_memory_equal(w.cmd, "cat\0-v", 7);
	/* variables whose last lacks its NUL would run on */
	o = msg_new(MSG_SESSION, NULL, 0, 0);
	v.env_len = 7;
	view_put(o, &v);
	m = reader(o);
	view_get(&m, &w);
	assert_int_equal(msg_end(&m), -1);
}

static void
run_round_trip(void **state)
{
	static struct run_spec r, s;
	struct msg_out *o = msg_new(MSG_RUN, NULL, 0, 0);
	struct msg m;

	(void)state;
	r.owner.uid = 1000;
	r.owner.ngroups = GROUPS_MAX;
	r.owner.groups[GROUPS_MAX - 1] = 27;
	r.sandbox = SANDBOX_TMPFS;
	r.argv = "image";
	r.argv_len = 6;
	r.envp = "";
	r.command = r.tty = true;
	r.cols = TTY_SIZE_MAX;
	r.rows = 1;
	strcpy(r.cwd, "/tmp");
	run_put(o, &r);
	m = reader(o);
	run_get(&m, &s);
	assert_int_equal(msg_end(&m), 0);
	assert_int_equal(s.owner.groups[GROUPS_MAX - 1], 27);
	assert_int_equal(s.argv_len, 6);
	assert_true(s.command && s.tty);
	assert_int_equal(s.cols, TTY_SIZE_MAX);
	assert_int_equal(s.rows, 1);
	assert_string_equal(s.cwd, "/tmp");
	/* every number has its range */
	o = msg_new(MSG_RUN, NULL, 0, 0);
	r.rows = TTY_SIZE_MAX + 1;
	run_put(o, &r);
	m = reader(o);
	run_get(&m, &s);
	assert_int_equal(msg_end(&m), -1);
	r.rows = 1;
	o = msg_new(MSG_RUN, NULL, 0, 0);
	r.sandbox = SANDBOX_COUNT;
	run_put(o, &r);
	m = reader(o);
	run_get(&m, &s);
	assert_int_equal(msg_end(&m), -1);
	o = msg_new(MSG_RUN, NULL, 0, 0);
	r.sandbox = SANDBOX_NONE;
	r.owner.ngroups = GROUPS_MAX + 1;
	run_put(o, &r);
	m = reader(o);
	run_get(&m, &s);
	assert_int_equal(msg_end(&m), -1);
}

static void
settings_round_trip(void **state)
{
	static struct settings a, b;
	struct msg_out *o = msg_new(MSG_SETTINGS, NULL, 0, 0);
	struct msg m;

	(void)state;
	a.max_sessions = 32;
	a.port = 4444;
	strcpy(a.version, "1");
	strcpy(a.gdbserver, "/usr/bin/gdbserver");
	settings_put(o, &a);
	m = reader(o);
	settings_get(&m, &b);
	assert_int_equal(msg_end(&m), 0);
	assert_memory_equal(&a, &b, sizeof(a));
}

static void
table_is_sound(void **state)
{
	const struct msg_row *r;
	uint32_t i;

	(void)state;
	for (i = 1; i < MSG_COUNT; i++) {
		r = &msg_rows[i];
		assert_non_null(r->name);
		assert_true(r->min <= r->max);
		assert_true(r->max <= MSG_PAYLOAD_MAX);
		assert_true(r->from != r->to);
		assert_true(r->refusal < ERR_COUNT);
		/* a state that is checked has an answer when it is wrong */
		assert_true((r->states == STATE_ANY) == (r->refusal == ERR_OK));
	}
	assert_string_equal(msg_name(0), "unknown");
	assert_string_equal(msg_name(MSG_COUNT), "unknown");
}

static void
stop_loop(void *arg)
{
	(void)arg;
	loop_stop();
}

static void
run_loop(uint64_t ms)
{
	struct loop_timer end = { 0 };

	loop_timer_set(&end, ms, stop_loop, NULL);
	assert_int_equal(loop_run(), 0);
	loop_timer_unset(&end);
}

static int
take_calmly(struct msg *m)
{
	chan_calm(m->chan);
	if (nhandled == 0)
		loop_stop();
	return take_any(m);
}

static void
send_probe(void)
{
	struct msg_hdr h = header(MSG_PROBE, 0);

	assert_int_equal(send(peer_fd, &h, sizeof(h), 0), sizeof(h));
}

static void
run_until_calm_is_over(void)
{
	int i;

	for (i = 0; i < 100 && chan.calm.slot != 0; i++)
		run_loop(20);
	assert_true(chan.calm.slot == 0);
}

/* Messages sent while a chatty peer is not read wait, and are not lost. */
static void
calm_after_a_message(void **state)
{
	(void)state;
	send_probe();
	assert_int_equal(loop_run(), 0);
	assert_int_equal(nhandled, 1);
	assert_true(chan.calm.slot != 0);
	send_probe();
	send_probe();
	run_until_calm_is_over();
	assert_int_equal(nhandled, 3);
	/* nor with a peer that goes meanwhile */
	chan_calm(&chan);
	send_probe();
	send_probe();
	close(peer_fd);
	peer_fd = -1;
	while (ngone == 0)
		run_loop(20);
	assert_int_equal(nhandled, 5);
	assert_true(chan.calm.slot == 0);
}

static uint32_t	 nsent;

/* Ends the loop with this turn. */
static int
take_in_order(struct msg *m)
{
	assert_int_equal(msg_get_u32(m), nhandled);
	nhandled++;
	loop_stop();
	return msg_end(m);
}

/* Sends so many and runs one turn; returns how many were taken in it. */
static unsigned int
one_turn(unsigned int n)
{
	struct msg_hdr h = header(MSG_USER_USE, sizeof(nsent));
	unsigned int before = nhandled;
	uint8_t raw[sizeof(h) + sizeof(nsent)];

	for (; n > 0; n--, nsent++) {
		memcpy(raw, &h, sizeof(h));
		memcpy(raw + sizeof(h), &nsent, sizeof(nsent));
		assert_int_equal(send(peer_fd, raw, sizeof(raw), 0),
		    sizeof(raw));
	}
	assert_int_equal(loop_run(), 0);
	return nhandled - before;
}

/* A peer with single messages is read once per turn, a busy one repeatedly. */
static void
turns_fit_the_peer(void **state)
{
	unsigned int i, turns;

	(void)state;
	nsent = 0;
	assert_int_equal(one_turn(1), 1);
	assert_int_equal(one_turn(2), 1);
	assert_int_equal(one_turn(0), 1);
	for (i = 0; i < 100; i++)
		assert_int_equal(one_turn(1), 1);
	/* all is taken in time, whatever has been expected */
	assert_int_equal(one_turn(100), 1);
	for (turns = 1; nhandled < nsent; turns++)
		assert_in_range(one_turn(0), 1, 32);
	assert_in_range(turns, 4, 20);
	/* and that is what is expected next */
	assert_int_equal(one_turn(100), 32);
	for (turns = 1; nhandled < nsent; turns++)
		assert_in_range(one_turn(0), 1, 32);
	assert_int_equal(turns, 4);
}

/* Its end is noticed though it is looked at once a turn. */
static void
end_after_single_messages(void **state)
{
	(void)state;
	nsent = 0;
	assert_int_equal(one_turn(1), 1);
	assert_int_equal(one_turn(3), 1);
	close(peer_fd);
	peer_fd = -1;
	while (ngone == 0)
		run_loop(20);
	assert_int_equal(nhandled, 4);
}

#define T(f)	cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(good_message),
		T(bad_types),
		T(not_its_to_send),
		T(instruments_words),
		T(wrong_lengths),
		T(short_header),
		T(empty_packet),
		T(other_generation),
		T(wrong_fds),
		T(secrets_that_come),
		T(secrets_that_go),
		T(fields_that_do_not_fit),
		T(fd_goes_to_its_taker),
		T(end_of_the_peer),
		T(peer_that_does_not_read),
		T(queue_keeps_order),
		T(too_large_to_send),
		T(calm_after_a_message),
		T(turns_fit_the_peer),
		T(end_after_single_messages),
		cmocka_unit_test(fields_round_trip),
		cmocka_unit_test(strings_that_are_none),
		cmocka_unit_test(view_round_trip),
		cmocka_unit_test(run_round_trip),
		cmocka_unit_test(settings_round_trip),
		cmocka_unit_test(table_is_sound),
	};

	return cmocka_run_group_tests_name("messages", tests, NULL, NULL);
}
