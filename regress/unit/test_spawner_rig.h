/* SPDX-License-Identifier: ISC */
/*
 * The real spawner in a child process, filter and all; the test plays the
 * parent, netproc, idproc and launcher at the other ends of its channels.
 */
#ifndef TEST_SPAWNER_RIG_H
#define TEST_SPAWNER_RIG_H

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* compiled here: the rig changes a copy of its static role_desc */
#define main spawner_main
#include "spawner/main.c"
#undef main

#include "base/errors.h"
#include "base/log.h"
#include "common/wire/msg_out.h"
#include "wire/ring.h"
#include "wire/run.h"
#include "wire/view.h"

#include "test_tmp.h"

#define WAIT_MS		60000
#define ALICE		1001
#define BOB		1002
#define ALICE_CONN	7
#define BOB_CONN	8

static int		 rig_fds[ROLE_END];	/* our ends, by role */
static uint32_t		 rig_gens[ROLE_END];
static pid_t		 rig_pid = -1;
static struct settings	 rig_settings;
static uint32_t		 rig_mode;

/* -- a message received: its fields are read with msg_get_*() -- */
struct got {
	struct msg	 m;
	uint8_t		 payload[MSG_PAYLOAD_MAX];
};
static struct got	 got;

static void
rig_send(enum role to, struct msg_out *o, int fd)
{
	union {
		struct cmsghdr	hdr;
		char		buf[CMSG_SPACE(sizeof(int))];
	} ctl;
	struct iovec iov = { &o->hdr, sizeof(o->hdr) + o->hdr.length };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cm;

	assert_false(o->bad);
	o->hdr.generation = rig_gens[to];
	if (fd != -1) {
		memset(&ctl, 0, sizeof(ctl));
		mh.msg_control = ctl.buf;
		mh.msg_controllen = sizeof(ctl.buf);
		cm = CMSG_FIRSTHDR(&mh);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cm), &fd, sizeof(fd));
	}
	assert_true(sendmsg(rig_fds[to], &mh, MSG_NOSIGNAL) > 0);
}

/* The same, and the fd is not needed here any more. */
static void
rig_give(enum role to, struct msg_out *o, int fd)
{
	rig_send(to, o, fd);
	close(fd);
}

/* The next message from that channel, false at its end or after ms. */
static bool
rig_recv(enum role from, int ms)
{
	union {
		struct cmsghdr	hdr;
		char		buf[CMSG_SPACE(sizeof(int))];
	} ctl;
	struct iovec iov[2] = { { &got.m.hdr, sizeof(got.m.hdr) },
	    { got.payload, sizeof(got.payload) } };
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = 2,
	    .msg_control = ctl.buf, .msg_controllen = sizeof(ctl.buf) };
	struct pollfd pfd = { rig_fds[from], POLLIN, 0 };
	struct cmsghdr *cm;

	if (poll(&pfd, 1, ms) <= 0)
		return false;
	if (recvmsg(rig_fds[from], &mh, MSG_CMSG_CLOEXEC) <= 0)
		return false;
	got.m.next = got.payload;
	got.m.left = got.m.hdr.length;
	got.m.bad = false;
	got.m.fd = -1;
	cm = CMSG_FIRSTHDR(&mh);
	if (cm != NULL)
		memcpy(&got.m.fd, CMSG_DATA(cm), sizeof(int));
	return true;
}

/* Messages that may come in between, unless the test waits for their type. */
static bool
in_between(enum msg_type type)
{
	return got.m.hdr.type == MSG_LOG || (got.m.hdr.type == MSG_SEES &&
	    type != MSG_SEES);
}

/* The next message must be this one. */
static void
expect(enum role from, enum msg_type type)
{
	do {
		if (!rig_recv(from, WAIT_MS))
			fail_msg("no %s came from the spawner",
			    msg_name(type));
	} while (in_between(type));
	if (got.m.hdr.type != (uint32_t)type)
		fail_msg("%s instead of %s", msg_name(got.m.hdr.type),
		    msg_name(type));
	assert_int_equal(got.m.hdr.generation, rig_gens[from]);
}

static void
expect_quiet(enum role from)
{
	if (rig_recv(from, 100))
		fail_msg("an unexpected %s", msg_name(got.m.hdr.type));
}

static void
expect_result(enum err code, const char *text)
{
	char message[1024];
	uint32_t n;

	expect(ROLE_NETPROC, MSG_RESULT);
	n = msg_get_u32(&got.m);
	msg_get_str(&got.m, message, sizeof(message));
	assert_int_equal(msg_end(&got.m), 0);
	if (n != code)
		fail_msg("%s (%s) instead of %s", err_code(n), message,
		    err_code(code));
	if (text != NULL && strstr(message, text) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", message, text);
}

/* Good until the next message. */
static struct session_view
expect_session(uint32_t state)
{
	struct session_view v;

	expect(ROLE_NETPROC, MSG_SESSION);
	view_get(&got.m, &v);
	assert_int_equal(msg_end(&got.m), 0);
	assert_int_equal(v.state, state);
	return v;
}

/* -- start and end -- */

static void
rig_peer(enum role role)
{
	struct msg_out *o = msg_new(MSG_PEER, NULL, 0, 0);
	int pair[2];

	assert_int_equal(chan_pair(pair), 0);
	if (rig_fds[role] != -1)
		close(rig_fds[role]);
	rig_fds[role] = pair[0];
	msg_put_u32(o, role);
	msg_put_u32(o, ++rig_gens[role]);
	rig_give(ROLE_PARENT, o, pair[1]);
}

static void
rig_default_settings(void)
{
	struct settings *s = &rig_settings;

	memset(s, 0, sizeof(*s));
	rig_mode = MODE_SYSTEM;
	s->log_level = LOG_L_INFO;
	s->max_sessions = s->max_sessions_per_user = 4;
	s->unstarted_timeout = 3600;
	s->max_total_bytes = 1024 * 1024;
	s->max_connections = 100;
	s->output_buffer = 64 * 1024;
	s->pty_scrollback = 64 * 1024;
	s->pty_grace = 1;
	s->pty_idle_ttl = 1;
	s->debugger_output_bytes = 64 * 1024;
	s->stop_timeout = 1;
	s->sandbox = SANDBOX_NAMESPACES;
	s->allow_sandbox = 1 << SANDBOX_NAMESPACES | 1 << SANDBOX_TMPFS;
	s->limit_cpu = s->limit_as = s->limit_memory = LIMIT_UNLIMITED;
	s->limit_nofile = 1024;
	s->limit_nproc = s->limit_pids = 512;
	s->bundle_max_bytes = 512 * 1024;
	s->bundle_max_members = 1000;
	s->bundle_max_path = 512;
	s->sysroot_max_bytes = 1024 * 1024;
	s->min_uid = 1000;
	s->run_uid = s->run_gid = 990;
	strcpy(s->allow_groups, "27,44");
	strcpy(s->gdbserver, "/usr/bin/gdbserver");
	strcpy(s->state_dir, "/var/lib/debuglantern");
}

/* Confinement needs rights that a test may not have; the filter does not. */
static void
no_confinement(void)
{
}

static void __attribute__((noreturn))
rig_child(int chan_fd)
{
	static struct role_desc d;

	if (dup2(chan_fd, 3) == -1)
		_exit(9);
	d = desc;
	d.confine = no_confinement;
	d.nproc = -1;
#ifdef __SANITIZE_ADDRESS__
	d.filter = NULL;
#endif
	/* valgrind does not have the call */
	if (getenv("DL_MEMCHECK") != NULL)
		d.filter = NULL;
	role_main(&d);
}

/* No name, and none but this test has it. */
static int
rig_tokens_file(void)
{
	char path[128];
	int fd;

	assert_int_equal(tmp_path(path, sizeof(path),
	    "dl-test-tokens-XXXXXX"), 0);
	fd = mkostemp(path, O_CLOEXEC);
	assert_int_not_equal(fd, -1);
	assert_int_equal(unlink(path), 0);
	return fd;
}

static int
rig_start(void **state)
{
	struct msg_out *o;
	size_t i;
	int pair[2];

	(void)state;
	for (i = 0; i < ROLE_END; i++) {
		rig_fds[i] = -1;
		rig_gens[i] = 0;
	}
	if (rig_settings.max_sessions == 0)
		rig_default_settings();
	assert_int_equal(chan_pair(pair), 0);
	rig_pid = fork();
	if (rig_pid == 0)
		rig_child(pair[1]);
	close(pair[1]);
	rig_fds[ROLE_PARENT] = pair[0];
	o = msg_new(MSG_SETUP, NULL, 0, 0);
	msg_put_u32(o, rig_mode);
	msg_put_u32(o, getuid());
	msg_put_u32(o, getgid());
	settings_put(o, &rig_settings);
	assert_int_equal(chan_pair(pair), 0);
	rig_fds[ROLE_LOGGER] = pair[0];
	rig_give(ROLE_PARENT, o, pair[1]);
	o = msg_new(MSG_STATE_FILE, NULL, 0, 0);
	msg_put_u32(o, STATE_TOKENS);
	rig_give(ROLE_PARENT, o, rig_tokens_file());
	expect(ROLE_PARENT, MSG_READY);
	rig_peer(ROLE_NETPROC);
	rig_peer(ROLE_IDPROC);
	rig_peer(ROLE_LAUNCHER);
	return 0;
}

/* The spawner must be there still, and go when its parent does. */
static int
rig_stop(void **state)
{
	int status, i;

	(void)state;
	for (i = ROLE_END - 1; i >= 0; i--)
		if (rig_fds[i] != -1)
			close(rig_fds[i]);
	if (waitpid(rig_pid, &status, 0) != rig_pid)
		return -1;
	rig_settings.max_sessions = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	fprintf(stderr, "the spawner ended with status %#x\n", status);
	return -1;
}

/* -- who is it -- */

static void
send_principal(uint32_t conn, uint32_t uid, const char *name)
{
	struct msg_out *o = msg_new(MSG_PRINCIPAL, NULL, conn, 0);

	msg_put_u32(o, uid);
	msg_put_u32(o, 0);
	msg_put_u32(o, DOOR_TCP);
	msg_put_str(o, name);
	msg_put_str(o, "127.0.0.1:1");
	msg_put_str(o, NULL);
	rig_send(ROLE_IDPROC, o, -1);
}

static void
send_account(uint32_t uid, bool found)
{
	struct msg_out *o = msg_new(MSG_ACCOUNT, NULL, 0, 0);

	msg_put_u32(o, uid);
	msg_put_u32(o, found);
	msg_put_u32(o, uid);
	msg_put_u32(o, 4);
	msg_put_u32(o, 0);		/* root's group must not get through */
	msg_put_u32(o, 27);
	msg_put_u32(o, 28);
	msg_put_u32(o, 1500);
	msg_put_str(o, "name");
	msg_put_str(o, "/home/name");
	msg_put_str(o, "/bin/bash");
	msg_put_str(o, "");
	rig_send(ROLE_IDPROC, o, -1);
}

static void
login(uint32_t conn, uint32_t uid, const char *name)
{
	send_principal(conn, uid, name);
	expect(ROLE_IDPROC, MSG_LOOKUP);
	expect(ROLE_NETPROC, MSG_SYNCED);
	assert_int_equal(got.m.hdr.conn, conn);
	send_account(uid, true);
}

/* -- requests -- */

static const struct sid	 no_sid __attribute__((unused));

static void
ask(enum msg_type type, const struct sid *sid, uint32_t conn)
{
	rig_send(ROLE_NETPROC, msg_new(type, sid, conn, 99), -1);
}

static void
ask_upload(uint32_t conn, uint64_t size, const char *path)
{
	struct msg_out *o = msg_new(MSG_UPLOAD, NULL, conn, 1);

	msg_put_u64(o, size);
	msg_put_str(o, path);
	msg_put_str(o, "");
	rig_send(ROLE_NETPROC, o, -1);
}

static void
ask_start_in(const struct sid *sid, uint32_t conn, uint32_t flags,
    uint32_t sandbox, uint32_t network)
{
	struct msg_out *o = msg_new(MSG_START, sid, conn, 2);

	msg_put_u32(o, flags);
	msg_put_u32(o, sandbox);
	msg_put_u32(o, network);
	msg_put_u32(o, 0);
	msg_put_u32(o, 0);
	rig_send(ROLE_NETPROC, o, -1);
}

static void
ask_start(const struct sid *sid, uint32_t conn, uint32_t flags)
{
	ask_start_in(sid, conn, flags, SANDBOX_DEFAULT, NETWORK_DEFAULT);
}

/* An image that passes the check of its header. */
static Elf64_Ehdr
good_elf(void)
{
	Elf64_Ehdr eh;

	memset(&eh, 0, sizeof(eh));
	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_ident[EI_VERSION] = EV_CURRENT;
	eh.e_type = ET_EXEC;
#ifdef __x86_64__
	eh.e_machine = EM_X86_64;
#else
	eh.e_machine = EM_AARCH64;
#endif
	eh.e_phoff = sizeof(eh);
	eh.e_phnum = 1;
	eh.e_phentsize = sizeof(Elf64_Phdr);
	return eh;
}

#define IMAGE_SIZE	(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr))

/* Room for an upload; returns the fd. */
static int
get_room(uint32_t conn, uint64_t size, const char *path, struct sid *sid)
{
	ask_upload(conn, size, path);
	expect(ROLE_NETPROC, MSG_ROOM);
	*sid = got.m.hdr.session;
	assert_int_equal(msg_get_u64(&got.m), size);
	assert_true(got.m.fd != -1);
	return got.m.fd;
}

static struct sid
upload(uint32_t conn)
{
	Elf64_Ehdr eh = good_elf();
	struct session_view v;
	struct sid sid;
	int fd = get_room(conn, IMAGE_SIZE, "", &sid);

	assert_int_equal(write(fd, &eh, sizeof(eh)), sizeof(eh));
	close(fd);
	ask(MSG_UPLOADED, &sid, conn);
	v = expect_session(STATE_LOADED);
	assert_int_equal(v.size, IMAGE_SIZE);
	expect_result(ERR_OK, NULL);
	return sid;
}

/* -- a run: processes of the test's own stand for the session's -- */

struct run {
	struct sid	 sid;
	uint64_t	 serial;
	pid_t		 stub, target;
	int		 in, out, err, status;	/* the session's ends */
};

/* A process that does nothing until it is killed. */
static pid_t
idle_process(int *pidfd)
{
	pid_t pid = fork();

	if (pid == 0) {
		/* a copy of a channel would keep it open */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close_range(3, ~0U, 0);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	*pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	assert_true(*pidfd != -1);
	return pid;
}

static void
end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void
send_run_fd(const struct run *r, uint32_t kind, int fd)
{
	struct msg_out *o = msg_new(MSG_RUN_FD, &r->sid, 0, r->serial);

	msg_put_u32(o, kind);
	rig_give(ROLE_LAUNCHER, o, fd);
}

static struct run
expect_run(struct run_spec *spec)
{
	struct run r = { .err = -1 };
	static struct run_spec unused;

	expect(ROLE_LAUNCHER, MSG_RUN);
	if (spec == NULL)
		spec = &unused;
	run_get(&got.m, spec);
	assert_int_equal(msg_end(&got.m), 0);
	assert_true((got.m.fd == -1) == spec->command);
	if (got.m.fd != -1)
		close(got.m.fd);
	r.sid = got.m.hdr.session;
	r.serial = got.m.hdr.request;
	return r;
}

static void
give_run_fds(struct run *r, bool split)
{
	int p[2], pidfd;

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	r->in = p[0];
	send_run_fd(r, RUN_FD_STDIN, p[1]);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	r->out = p[1];
	send_run_fd(r, RUN_FD_STDOUT, p[0]);
	if (split) {
		assert_int_equal(pipe2(p, O_CLOEXEC), 0);
		r->err = p[1];
		send_run_fd(r, RUN_FD_STDERR, p[0]);
	}
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	r->status = p[1];
	send_run_fd(r, RUN_FD_STATUS, p[0]);
	r->stub = idle_process(&pidfd);
	send_run_fd(r, RUN_FD_STUB, pidfd);
	r->target = idle_process(&pidfd);
	send_run_fd(r, RUN_FD_TARGET, pidfd);
}

static void
send_ran(const struct run *r)
{
	struct msg_out *o = msg_new(MSG_RAN, &r->sid, 0, r->serial);

	msg_put_u32(o, (uint32_t)r->target);
	msg_put_u32(o, 2);
	rig_send(ROLE_LAUNCHER, o, -1);
}

/* From START to its answer; *ring is mapped as netproc does it. */
static struct run
start(const struct sid *sid, uint32_t conn, uint32_t flags, struct ring *ring)
{
	struct session_view v;
	struct run r;

	ask_start(sid, conn, flags);
	r = expect_run(NULL);
	give_run_fds(&r, (flags & START_SPLIT) != 0);
	send_ran(&r);
	v = expect_session(STATE_RUNNING);
	assert_int_equal(v.pid, r.target);
	if (!(flags & START_DEBUG))
		expect_result(ERR_OK, NULL);
	expect(ROLE_NETPROC, MSG_RING);
	assert_int_equal(ring_map(ring, got.m.fd), 0);
	return r;
}

/* A session of alice's that runs, where its output does not matter. */
static inline struct run
start_alice(struct sid *sid)
{
	struct ring ring;
	struct run r;

	login(ALICE_CONN, ALICE, "alice");
	*sid = upload(ALICE_CONN);
	r = start(sid, ALICE_CONN, 0, &ring);
	ring_close(&ring);
	return r;
}

static void
close_run_ends(const struct run *r)
{
	close(r->in);
	close(r->out);
	close(r->status);
	if (r->err != -1)
		close(r->err);
}

/* The program exits, then its tree is gone. */
static void
finish(const struct run *r, uint32_t what, uint32_t value)
{
	struct stub_report report = { what, value };

	assert_int_equal(write(r->status, &report, sizeof(report)),
	    sizeof(report));
	end_process(r->target);
	end_process(r->stub);
	close_run_ends(r);
}

#endif
