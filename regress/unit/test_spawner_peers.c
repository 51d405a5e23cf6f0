/* SPDX-License-Identifier: ISC */
/* The spawner among its peers: hostile ones, new ones, debuggers, jobs. */
/* links: spawner/ spawner/dispatch.o !spawner/main.c */
#include "test_spawner_rig.h"

#include <dirent.h>

#include "wire/jobreport.h"

static void
expect_violation(enum role role)
{
	uint32_t who, gen;

	do {
		if (!rig_recv(ROLE_PARENT, WAIT_MS))
			fail_msg("no VIOLATION of %s", role_name(role));
	} while (got.m.hdr.type == MSG_LOG ||
	    got.m.hdr.type == MSG_SESSIONS_ALIVE);
	assert_int_equal(got.m.hdr.type, MSG_VIOLATION);
	who = msg_get_u32(&got.m);
	gen = msg_get_u32(&got.m);
	assert_int_equal(who, role);
	assert_int_equal(gen, rig_gens[role]);
}

static size_t
spawner_fds(void)
{
	char path[64];
	struct dirent *e;
	size_t n = 0;
	DIR *d;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", rig_pid);
	d = opendir(path);
	if (d == NULL)
		return 0;
	while ((e = readdir(d)) != NULL)
		n++;
	closedir(d);
	return n;
}

/* The spawner may answer before it has closed the rest: wait for it. */
static void
expect_fds(size_t n)
{
	int tries;

	for (tries = 0; tries < 100 && spawner_fds() != n; tries++)
		usleep(10000);
	assert_int_equal(spawner_fds(), n);
}

/* A raw message with any length, also one that the table forbids. */
static struct msg_out *
raw(uint32_t type, size_t len)
{
	static const uint8_t zeros[4096];
	struct msg_out *o = msg_new((enum msg_type)type, NULL, ALICE_CONN, 1);

	while (len > sizeof(zeros)) {
		msg_put_bytes(o, zeros, sizeof(zeros));
		len -= sizeof(zeros);
	}
	msg_put_bytes(o, zeros, len);
	return o;
}

static void
must_cut_netproc(struct msg_out *o, int fd)
{
	rig_send(ROLE_NETPROC, o, fd);
	expect_violation(ROLE_NETPROC);
	rig_peer(ROLE_NETPROC);
	send_principal(ALICE_CONN, ALICE, "alice");
	expect(ROLE_NETPROC, MSG_SYNCED);
}

static void
every_message_of_a_hostile_netproc(void **state)
{
	const struct msg_row *row;
	struct msg_out *o;
	size_t before;
	uint32_t type;
	int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	before = spawner_fds();
	for (type = 1; type < MSG_COUNT; type++) {
		row = &msg_rows[type];
		if (row->from != ROLE_NETPROC || row->to != ROLE_SPAWNER) {
			/* not its message to send */
			must_cut_netproc(raw(type, row->min), -1);
			continue;
		}
		if (row->min > 0)
			must_cut_netproc(raw(type, row->min - 1), -1);
		if (row->max < MSG_PAYLOAD_MAX)
			must_cut_netproc(raw(type, row->max + 1), -1);
		must_cut_netproc(raw(type, row->min), null_fd);
	}
	must_cut_netproc(raw(0, 0), -1);
	must_cut_netproc(raw(MSG_COUNT, 0), -1);
	must_cut_netproc(raw(UINT32_MAX, 0), -1);
	/* a connection that idproc never spoke of */
	o = raw(MSG_ACTIVITY, 0);
	o->hdr.conn = 4711;
	must_cut_netproc(o, -1);
	o = raw(MSG_UPLOAD, 16);
	o->hdr.conn = 0;
	must_cut_netproc(o, -1);
	close(null_fd);
	expect_fds(before);
}

static void
wrong_generation(void **state)
{
	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	rig_gens[ROLE_NETPROC]++;
	ask(MSG_ACTIVITY, NULL, ALICE_CONN);
	rig_gens[ROLE_NETPROC]--;
	expect_violation(ROLE_NETPROC);
}

static void
writable_mapping(void **state)
{
	struct sid sid;
	void *map;
	int fd;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	fd = get_room(ALICE_CONN, 4096, "", &sid);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	ask(MSG_UPLOADED, &sid, ALICE_CONN);
	expect_result(ERR_UPLOAD_WRITE, NULL);
	expect_violation(ROLE_NETPROC);
	munmap(map, 4096);
	close(fd);
}

/* netproc shrinks the upload's memfd itself: the upload is refused. */
static void
room_made_smaller(void **state)
{
	struct msg_out *o;
	struct sid sid;
	int fd;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	o = msg_new(MSG_UPLOAD_OPEN, NULL, ALICE_CONN, 1);
	msg_put_u64(o, 4096);
	msg_put_str(o, "");
	msg_put_str(o, "");
	rig_send(ROLE_NETPROC, o, -1);
	expect(ROLE_NETPROC, MSG_ROOM);
	sid = got.m.hdr.session;
	fd = got.m.fd;
	assert_int_equal(ftruncate(fd, 100), 0);
	o = msg_new(MSG_UPLOAD_END, &sid, ALICE_CONN, 1);
	msg_put_u64(o, 4096);
	rig_send(ROLE_NETPROC, o, -1);
	expect_result(ERR_UPLOAD_WRITE, NULL);
	expect_violation(ROLE_NETPROC);
	close(fd);
}

/* UPLOAD_END is for uploads of unknown size, UPLOADED for the others. */
static void
end_of_another_upload(void **state)
{
	struct msg_out *o;
	struct sid sid;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	close(get_room(ALICE_CONN, 4096, "", &sid));
	o = msg_new(MSG_UPLOAD_END, &sid, ALICE_CONN, 1);
	msg_put_u64(o, 100);
	rig_send(ROLE_NETPROC, o, -1);
	expect_violation(ROLE_NETPROC);
}

static void
netproc_that_is_replaced(void **state)
{
	struct session_view v;
	struct ring ring;
	struct sid sid, half;
	struct run r;
	size_t before;
	uint64_t offset = 0;
	char buf[16];

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	r = start(&sid, ALICE_CONN, 0, &ring);
	ring_close(&ring);
	assert_int_equal(write(r.out, "kept", 4), 4);
	/* by now it has closed the fd that it sent last */
	ask_start(&sid, ALICE_CONN, 0);
	expect_result(ERR_ALREADY_RUNNING, NULL);
	before = spawner_fds();
	close(get_room(ALICE_CONN, 1000, "", &half));
	ask(MSG_KILL, &sid, ALICE_CONN);
	expect(ROLE_LAUNCHER, MSG_SEND_SIGNAL);
	close(got.m.fd);
	rig_peer(ROLE_NETPROC);
	/* the half upload has gone */
	expect(ROLE_LAUNCHER, MSG_SWEEP);
	close(got.m.fd);
	send_principal(BOB_CONN, ALICE, "alice");
	v = expect_session(STATE_RUNNING);
	assert_int_equal(v.pid, r.target);
	expect(ROLE_NETPROC, MSG_RING);
	assert_int_equal(ring_map(&ring, got.m.fd), 0);
	assert_int_equal(ring_read(&ring, &offset, buf, sizeof(buf)), 4);
	ring_close(&ring);
	expect(ROLE_NETPROC, MSG_SYNCED);
	expect_fds(before);
	finish(&r, STUB_EXITED, 0);
	/* nobody is told of a KILL that another netproc asked for */
	do
		expect(ROLE_NETPROC, MSG_SESSION);
	while (view_get(&got.m, &v), v.state != STATE_STOPPED);
	expect_quiet(ROLE_NETPROC);
}

static void
launcher_that_is_replaced(void **state)
{
	struct ring ring;
	struct sid one, two;
	struct run r, lost;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	one = upload(ALICE_CONN);
	two = upload(ALICE_CONN);
	r = start(&one, ALICE_CONN, 0, &ring);
	ask_start(&two, ALICE_CONN, 0);
	lost = expect_run(NULL);
	give_run_fds(&lost, false);
	close(rig_fds[ROLE_LAUNCHER]);
	rig_fds[ROLE_LAUNCHER] = -1;
	expect_result(ERR_TRY_AGAIN, NULL);
	/* what runs goes on, and is heard */
	assert_int_equal(write(r.out, "x", 1), 1);
	ask_start(&two, ALICE_CONN, 0);
	expect_result(ERR_TRY_AGAIN, NULL);
	/* its stub must see that nobody wants it */
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(write(lost.status, "x", 1), -1);
	ask(MSG_STOP, &one, ALICE_CONN);
	rig_peer(ROLE_LAUNCHER);
	expect(ROLE_LAUNCHER, MSG_SEND_SIGNAL);
	close(got.m.fd);
	assert_int_equal(ring_total(&ring), 1);
	ring_close(&ring);
	finish(&r, STUB_SIGNALED, SIGTERM);
	end_process(lost.stub);
	end_process(lost.target);
	close_run_ends(&lost);
	(void)expect_session(STATE_RUNNING);
	(void)expect_session(STATE_STOPPED);
	expect_result(ERR_OK, NULL);
}

static void
half_upload_goes_with_its_connection(void **state)
{
	struct sid sid;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	close(get_room(ALICE_CONN, 1024 * 1024, "", &sid));
	ask(MSG_CONN_CLOSED, NULL, ALICE_CONN);
	send_principal(BOB_CONN, ALICE, "alice");
	expect(ROLE_NETPROC, MSG_SYNCED);
	close(get_room(BOB_CONN, 1024 * 1024, "", &sid));
}

static void
closed_before_it_was_known(void **state)
{
	(void)state;
	ask(MSG_CONN_CLOSED, NULL, ALICE_CONN);
	expect_quiet(ROLE_NETPROC);
	send_principal(ALICE_CONN, ALICE, "alice");
	expect_quiet(ROLE_NETPROC);
	/* such a number means nothing any more */
	ask(MSG_ACTIVITY, NULL, ALICE_CONN);
	expect_violation(ROLE_NETPROC);
}

static void
account_that_is_gone(void **state)
{
	struct sid sid;

	(void)state;
	send_principal(ALICE_CONN, ALICE, "alice");
	expect(ROLE_IDPROC, MSG_LOOKUP);
	expect(ROLE_NETPROC, MSG_SYNCED);
	sid = upload(ALICE_CONN);
	ask_start(&sid, ALICE_CONN, 0);
	expect(ROLE_IDPROC, MSG_LOOKUP);
	send_account(ALICE, false);
	expect_result(ERR_FORK_FAILED, "alice");
	/* and one that nobody can be asked about */
	ask_start(&sid, ALICE_CONN, 0);
	expect_result(ERR_FORK_FAILED, "alice");
}

static void
root_is_no_principal(void **state)
{
	(void)state;
	send_principal(ALICE_CONN, 0, "root");
	expect_violation(ROLE_IDPROC);
}

/* A second fd of a kind would stay open, and soon there were no more. */
static void
fds_that_come_twice(void **state)
{
	struct sid sid;
	struct run r;
	int p[2];

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	ask_start(&sid, ALICE_CONN, 0);
	r = expect_run(NULL);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	send_run_fd(&r, RUN_FD_STATUS, dup(p[0]));
	send_run_fd(&r, RUN_FD_STATUS, p[0]);
	expect_violation(ROLE_LAUNCHER);
	close(p[1]);
}

/* -- debuggers -- */

struct dbg {
	uint64_t	 serial;
	pid_t		 pid;
	int		 wire, errors;
};

static struct dbg
expect_attach(const struct sid *sid)
{
	struct run_owner w;
	struct msg_out *o;
	struct dbg d;
	/* as test_spawner_rig.h has them */
	static const uint64_t most[LIMIT_COUNT] = {
		[LIMIT_CPU] = LIMIT_UNLIMITED, [LIMIT_AS] = LIMIT_UNLIMITED,
		[LIMIT_NOFILE] = 1024, [LIMIT_NPROC] = 512,
	};
	int p[2], pidfd, i;
	const char *argv;
	uint32_t pid;
	size_t len;

	expect(ROLE_LAUNCHER, MSG_ATTACH);
	owner_get(&got.m, &w);
	pid = msg_get_u32(&got.m);
	assert_int_equal(msg_get_u32(&got.m), 0);
	argv = msg_get_strings(&got.m, &len);
	assert_int_equal(strlen(argv) + strlen("--once" "--attach" "-" "2") +
	    5, len);
	assert_string_equal(argv + len - 4, "-");
	assert_string_equal(argv + len - 2, "2");
	assert_string_equal(msg_get_strings(&got.m, &len),
	    "PATH=/usr/bin:/bin");
	assert_int_equal(msg_get_u64(&got.m), LIMIT_UNLIMITED);
	for (i = 0; i < LIMIT_COUNT; i++)
		assert_int_equal(msg_get_u64(&got.m), most[i]);
	assert_int_equal(msg_end(&got.m), 0);
	assert_int_equal(w.uid, ALICE);
	assert_int_equal(pid, 2);
	close(got.m.fd);
	d.serial = got.m.hdr.request;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, p), 0);
	d.wire = p[0];
	o = msg_new(MSG_ATTACH_FD, sid, 0, d.serial);
	msg_put_u32(o, ATTACH_FD_WIRE);
	rig_give(ROLE_LAUNCHER, o, p[1]);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	d.errors = p[1];
	o = msg_new(MSG_ATTACH_FD, sid, 0, d.serial);
	msg_put_u32(o, ATTACH_FD_ERRORS);
	rig_give(ROLE_LAUNCHER, o, p[0]);
	d.pid = idle_process(&pidfd);
	o = msg_new(MSG_ATTACH_FD, sid, 0, d.serial);
	msg_put_u32(o, ATTACH_FD_PIDFD);
	rig_give(ROLE_LAUNCHER, o, pidfd);
	o = msg_new(MSG_ATTACHED, sid, 0, d.serial);
	msg_put_u32(o, (uint32_t)d.pid);
	msg_put_u32(o, 3);
	rig_send(ROLE_LAUNCHER, o, -1);
	return d;
}

static void
gdbserver_says(const struct dbg *d, const char *text)
{
	assert_int_equal(write(d->errors, text, strlen(text)), strlen(text));
}

static void
gdbserver_ends(const struct dbg *d)
{
	end_process(d->pid);
	close(d->wire);
	close(d->errors);
}

static void
ask_debug(const struct sid *sid, uint32_t type, uint32_t value)
{
	struct msg_out *o = msg_new((enum msg_type)type, sid, ALICE_CONN, 6);

	msg_put_u32(o, value);
	rig_send(ROLE_NETPROC, o, -1);
}

static void
debug_and_detach(void **state)
{
	struct session_view v;
	struct sid sid;
	struct run r;
	struct dbg d;
	int i;

	(void)state;
	r = start_alice(&sid);
	for (i = 0; i < 2; i++) {
		ask_debug(&sid, MSG_DEBUG, DEBUG_BY_PORT);
		d = expect_attach(&sid);
		gdbserver_says(&d, "Attach");
		expect_quiet(ROLE_NETPROC);
		gdbserver_says(&d, "ed; pid = 2\n");
		expect(ROLE_NETPROC, MSG_DEBUG_FD);
		close(got.m.fd);
		ask_debug(&sid, MSG_DEBUG, DEBUG_BY_PORT);
		expect_result(ERR_ALREADY_DEBUGGING, NULL);
		ask_debug(&sid, MSG_DEBUG_PORT, 4711);
		v = expect_session(STATE_DEBUGGING);
		assert_int_equal(v.debug_port, 4711);
		assert_int_equal(v.pid, r.target);
		expect_result(ERR_OK, NULL);
		gdbserver_ends(&d);
		expect(ROLE_NETPROC, MSG_DEBUG_OVER);
		v = expect_session(STATE_RUNNING);
		assert_int_equal(v.debug_port, 0);
	}
	/* what comes late is for nobody */
	ask(MSG_DEBUG_END, &sid, ALICE_CONN);
	ask_debug(&sid, MSG_DEBUG_PORT, 4711);
	expect_result(ERR_DEBUG_FAILED, NULL);
	finish(&r, STUB_EXITED, 0);
}

static void
debugger_that_cannot_attach(void **state)
{
	struct msg_out *o;
	struct sid sid;
	struct run r;
	struct dbg d;

	(void)state;
	r = start_alice(&sid);
	ask_debug(&sid, MSG_DEBUG, DEBUG_BY_PORT);
	d = expect_attach(&sid);
	gdbserver_says(&d, "Cannot attach to process 2: \033[31mno\nExiting\n");
	gdbserver_ends(&d);
	expect_result(ERR_DEBUG_FAILED,
	    "Cannot attach to process 2: \\x1b[31mno Exiting");
	ask_debug(&sid, MSG_DEBUG, DEBUG_BY_PORT);
	expect(ROLE_LAUNCHER, MSG_ATTACH);
	close(got.m.fd);
	o = msg_new(MSG_ATTACH_FAILED, &sid, 0, got.m.hdr.request);
	msg_put_u32(o, STEP_GDBSERVER);
	msg_put_u32(o, ENOENT);
	rig_send(ROLE_LAUNCHER, o, -1);
	expect_result(ERR_DEBUG_FAILED, "/usr/bin/gdbserver");
	/* netproc finds no port */
	ask_debug(&sid, MSG_DEBUG, DEBUG_BY_PORT);
	d = expect_attach(&sid);
	gdbserver_says(&d, "Attached; pid = 2\n");
	expect(ROLE_NETPROC, MSG_DEBUG_FD);
	close(got.m.fd);
	ask_debug(&sid, MSG_DEBUG_PORT, 0);
	expect_result(ERR_DEBUG_FAILED, "no port");
	gdbserver_ends(&d);
	expect(ROLE_NETPROC, MSG_DEBUG_OVER);
	finish(&r, STUB_EXITED, 0);
}

static void
kill_while_debugging(void **state)
{
	struct ring ring;
	struct sid sid;
	struct run r;
	struct dbg d;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload(ALICE_CONN);
	r = start(&sid, ALICE_CONN, START_DEBUG | START_DEBUG_PIPE, &ring);
	ring_close(&ring);
	d = expect_attach(&sid);
	gdbserver_says(&d, "Attached; pid = 2\n");
	expect(ROLE_NETPROC, MSG_DEBUG_FD);
	close(got.m.fd);
	ask_debug(&sid, MSG_DEBUG_PORT, 0);
	(void)expect_session(STATE_DEBUGGING);
	expect_result(ERR_OK, NULL);
	ask(MSG_KILL, &sid, ALICE_CONN);
	expect(ROLE_LAUNCHER, MSG_SEND_SIGNAL);
	close(got.m.fd);
	expect(ROLE_LAUNCHER, MSG_SEND_SIGNAL);
	close(got.m.fd);
	end_process(r.target);
	end_process(r.stub);
	expect(ROLE_NETPROC, MSG_DEBUG_OVER);
	(void)expect_session(STATE_RUNNING);
	(void)expect_session(STATE_STOPPED);
	expect_result(ERR_OK, NULL);
	gdbserver_ends(&d);
	close_run_ends(&r);
}

static void
netproc_goes_while_debugging(void **state)
{
	struct sid sid;
	struct run r;
	struct dbg d;

	(void)state;
	r = start_alice(&sid);
	ask_debug(&sid, MSG_DEBUG, DEBUG_BY_PORT);
	d = expect_attach(&sid);
	gdbserver_says(&d, "Attached; pid = 2\n");
	expect(ROLE_NETPROC, MSG_DEBUG_FD);
	close(got.m.fd);
	ask_debug(&sid, MSG_DEBUG_PORT, 4711);
	(void)expect_session(STATE_DEBUGGING);
	expect_result(ERR_OK, NULL);
	rig_peer(ROLE_NETPROC);
	gdbserver_ends(&d);
	send_principal(ALICE_CONN, ALICE, "alice");
	expect(ROLE_NETPROC, MSG_SESSION);
	while (got.m.hdr.type != MSG_SYNCED) {
		assert_true(rig_recv(ROLE_NETPROC, WAIT_MS));
		if (got.m.fd != -1)
			close(got.m.fd);
	}
	ask_debug(&sid, MSG_DEBUG, DEBUG_BY_PORT);
	d = expect_attach(&sid);
	gdbserver_ends(&d);
	finish(&r, STUB_EXITED, 0);
}

/* -- jobs -- */

struct fake_job {
	struct job_spec	 spec;
	uint64_t	 serial;
	struct sid	 sid;
	pid_t		 pid;
	int		 report;
};

static void
send_job_fd(const struct fake_job *j, uint32_t kind, int fd)
{
	struct msg_out *o = msg_new(MSG_JOB_FD, &j->sid, 0, j->serial);

	msg_put_u32(o, kind);
	rig_give(ROLE_LAUNCHER, o, fd);
}

/* space_fd is a file where the bundle is, -1 = in a place of its own. */
static struct fake_job
expect_job_in(enum msg_type type, int result_fd, int space_fd)
{
	struct fake_job j;
	struct msg_out *o;
	int p[2], pidfd;

	expect(ROLE_LAUNCHER, type);
	job_get(&got.m, &j.spec);
	assert_int_equal(msg_end(&got.m), 0);
	if (got.m.fd != -1)
		close(got.m.fd);
	j.serial = got.m.hdr.request;
	j.sid = got.m.hdr.session;
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	j.report = p[1];
	send_job_fd(&j, JOB_FD_REPORT, p[0]);
	send_job_fd(&j, JOB_FD_RESULT, result_fd);
	if (type == MSG_UNPACK)
		send_job_fd(&j, JOB_FD_SPACE, space_fd != -1 ? space_fd :
		    memfd_create("space", MFD_CLOEXEC));
	j.pid = idle_process(&pidfd);
	send_job_fd(&j, JOB_FD_PIDFD, pidfd);
	o = msg_new(MSG_JOB, &j.sid, 0, j.serial);
	msg_put_u32(o, (uint32_t)j.pid);
	rig_send(ROLE_LAUNCHER, o, -1);
	return j;
}

static struct fake_job
expect_job(enum msg_type type, int result_fd)
{
	return expect_job_in(type, result_fd, -1);
}

static void
report(const struct fake_job *j, uint32_t kind, uint32_t code, uint64_t bytes,
    const char *text)
{
	struct jobreport r;

	memset(&r, 0, sizeof(r));
	r.kind = kind;
	r.code = code;
	r.bytes = bytes;
	r.members = 2;
	(void)snprintf(r.text, sizeof(r.text), "%s", text);
	assert_int_equal(write(j->report, &r, sizeof(r)), sizeof(r));
}

static void
job_ends(const struct fake_job *j)
{
	end_process(j->pid);
	close(j->report);
}

static struct sid
upload_bundle(void)
{
	struct sid sid;

	close(get_room(ALICE_CONN, 5000, "bin/prog", &sid));
	ask(MSG_UPLOADED, &sid, ALICE_CONN);
	return sid;
}

static int
mount_ns(void)
{
	return open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
}

static void
bundle(void **state)
{
	struct session_view v;
	struct run_spec spec;
	struct fake_job j;
	struct sid sid;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	sid = upload_bundle();
	j = expect_job(MSG_UNPACK, mount_ns());
	assert_int_equal(j.spec.owner.uid, ALICE);
	assert_string_equal(j.spec.exec_path, "bin/prog");
	assert_int_equal(j.spec.max_bytes, 512 * 1024);
	report(&j, JOBREPORT_PROGRESS, ERR_OK, 100, "");
	report(&j, JOBREPORT_DONE, ERR_OK, 9000, "");
	expect_quiet(ROLE_NETPROC);
	job_ends(&j);
	v = expect_session(STATE_LOADED);
	assert_true(v.bundle);
	assert_int_equal(v.size, 5000);
	assert_string_equal(v.bundle_dir, "/var/lib/debuglantern/bundle");
	expect_result(ERR_OK, NULL);
	expect(ROLE_LAUNCHER, MSG_SWEEP);
	close(got.m.fd);
	ask_upload(ALICE_CONN, 1024 * 1024 - 8999, "");
	expect_result(ERR_MAX_BYTES, NULL);
	ask_start(&sid, ALICE_CONN, 0);
	(void)expect_run(&spec);
	assert_true(spec.bundle);
	assert_string_equal(spec.argv, "bin/prog");
	assert_string_equal(spec.exec_path, "bin/prog");
}

/* An archiver that has been taken over says less than is there. */
static void
bundle_that_lies(void **state)
{
	static const char data[1024 * 1024];
	int fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct fake_job j;

	(void)state;
	assert_true(fd != -1 && copy != -1);
	assert_int_equal(write(fd, data, sizeof(data)), sizeof(data));
	assert_int_equal(write(fd, data, sizeof(data)), sizeof(data));
	login(ALICE_CONN, ALICE, "alice");
	(void)upload_bundle();
	j = expect_job_in(MSG_UNPACK, mount_ns(), copy);
	report(&j, JOBREPORT_DONE, ERR_OK, 100, "");
	job_ends(&j);
	expect_result(ERR_MAX_BYTES, "larger than what is free");
	close(fd);
}

/* A file that is not on a tmpfs tells nothing about the bundle. */
static void
bundle_without_space(void **state)
{
	struct fake_job j;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	(void)upload_bundle();
	j = expect_job_in(MSG_UNPACK, mount_ns(),
	    open("/proc/self/status", O_RDONLY | O_CLOEXEC));
	report(&j, JOBREPORT_DONE, ERR_OK, 100, "");
	job_ends(&j);
	expect_result(ERR_EXTRACT_FAILED, "no file of the bundle's memory");
}

static void
bundles_that_fail(void **state)
{
	struct jobreport nonsense;
	struct msg_out *o;
	struct fake_job j;
	struct sid sid;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	(void)upload_bundle();
	j = expect_job(MSG_UNPACK, mount_ns());
	report(&j, JOBREPORT_FAILED, ERR_EXTRACT_FAILED, 0, "a device node");
	job_ends(&j);
	expect_result(ERR_EXTRACT_FAILED, "a device node");
	expect(ROLE_LAUNCHER, MSG_SWEEP);
	close(got.m.fd);
	expect(ROLE_LAUNCHER, MSG_SWEEP);
	close(got.m.fd);
	/* says nothing and goes */
	(void)upload_bundle();
	j = expect_job(MSG_UNPACK, mount_ns());
	job_ends(&j);
	expect_result(ERR_EXTRACT_FAILED, "before it was done");
	expect(ROLE_LAUNCHER, MSG_SWEEP);
	close(got.m.fd);
	expect(ROLE_LAUNCHER, MSG_SWEEP);
	close(got.m.fd);
	/* says what is no report, then that it is done */
	(void)upload_bundle();
	j = expect_job(MSG_UNPACK, mount_ns());
	memset(&nonsense, 0xff, sizeof(nonsense));
	assert_true(write(j.report, &nonsense, sizeof(nonsense)) > 0);
	job_ends(&j);
	expect_result(ERR_EXTRACT_FAILED, NULL);
	expect(ROLE_LAUNCHER, MSG_SWEEP);
	close(got.m.fd);
	expect(ROLE_LAUNCHER, MSG_SWEEP);
	close(got.m.fd);
	/* no job at all */
	sid = upload_bundle();
	expect(ROLE_LAUNCHER, MSG_UNPACK);
	close(got.m.fd);
	o = msg_new(MSG_JOB_FAILED, &sid, 0, got.m.hdr.request);
	msg_put_u32(o, STEP_ARCHIVER);
	msg_put_u32(o, ENOENT);
	rig_send(ROLE_LAUNCHER, o, -1);
	expect_result(ERR_EXTRACT_FAILED, "execute the archiver");
	ask(MSG_DELETE, &sid, ALICE_CONN);
	expect_result(ERR_NOT_FOUND, NULL);
}

static void
sysroot(void **state)
{
	int fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct fake_job j;
	size_t before;

	(void)state;
	assert_true(fd != -1);
	assert_int_equal(write(fd, "12345", 5), 5);
	login(ALICE_CONN, ALICE, "alice");
	before = spawner_fds();
	ask(MSG_SYSROOT, NULL, ALICE_CONN);
	j = expect_job(MSG_PACK, fd);
	assert_int_equal(j.spec.max_bytes, 1024 * 1024);
	ask(MSG_SYSROOT, NULL, ALICE_CONN);
	expect_result(ERR_BUSY, "earlier SYSROOT");
	report(&j, JOBREPORT_DONE, ERR_OK, 5, "");
	job_ends(&j);
	expect(ROLE_NETPROC, MSG_SYSROOT_FD);
	assert_int_equal(msg_get_u64(&got.m), 5);
	close(got.m.fd);
	ask(MSG_SYSROOT_DONE, NULL, ALICE_CONN);
	expect(ROLE_LAUNCHER, MSG_SWEEP);
	assert_true(got.m.fd != -1);
	close(got.m.fd);
	expect_fds(before);
	/* the client goes: so does its job */
	ask(MSG_SYSROOT, NULL, ALICE_CONN);
	j = expect_job(MSG_PACK, mount_ns());
	ask(MSG_CONN_CLOSED, NULL, ALICE_CONN);
	expect(ROLE_LAUNCHER, MSG_SEND_SIGNAL);
	close(got.m.fd);
	job_ends(&j);
}

static struct fake_job
expect_job_of(enum msg_type type, uint32_t uid)
{
	struct fake_job j = expect_job(type, mount_ns());

	assert_int_equal(j.spec.owner.uid, uid);
	return j;
}

/* Two users who pack again and again make a third wait, once. */
static void
sysroot_in_turn(void **state)
{
	struct fake_job first, second;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	login(BOB_CONN, BOB, "bob");
	login(BOB_CONN + 1, BOB + 1, "carol");
	login(BOB_CONN + 2, BOB + 2, "dave");
	ask(MSG_SYSROOT, NULL, ALICE_CONN);
	first = expect_job(MSG_PACK, mount_ns());
	ask(MSG_SYSROOT, NULL, BOB_CONN);
	second = expect_job(MSG_PACK, mount_ns());
	ask(MSG_SYSROOT, NULL, BOB_CONN + 1);
	ask(MSG_SYSROOT, NULL, BOB_CONN + 2);
	expect_quiet(ROLE_LAUNCHER);
	/* nor may one have more places in the queue than others */
	ask(MSG_SYSROOT, NULL, BOB_CONN + 1);
	expect_result(ERR_BUSY, "earlier SYSROOT");
	report(&first, JOBREPORT_FAILED, ERR_SYSROOT_FAILED, 0, "x");
	job_ends(&first);
	expect_result(ERR_SYSROOT_FAILED, "x");
	expect(ROLE_LAUNCHER, MSG_SWEEP);
	close(got.m.fd);
	ask(MSG_SYSROOT, NULL, ALICE_CONN);
	first = expect_job_of(MSG_PACK, BOB + 1);
	/* who waits and goes is forgotten */
	ask(MSG_CONN_CLOSED, NULL, BOB_CONN + 2);
	expect_quiet(ROLE_LAUNCHER);
	report(&second, JOBREPORT_FAILED, ERR_SYSROOT_FAILED, 0, "y");
	job_ends(&second);
	expect_result(ERR_SYSROOT_FAILED, "y");
	expect(ROLE_LAUNCHER, MSG_SWEEP);
	close(got.m.fd);
	second = expect_job_of(MSG_PACK, ALICE);
	job_ends(&first);
	job_ends(&second);
}

static void
deps(void **state)
{
	struct msg_out *o;

	(void)state;
	login(ALICE_CONN, ALICE, "alice");
	ask(MSG_DEPS, NULL, ALICE_CONN);
	ask(MSG_DEPS, NULL, ALICE_CONN);
	expect(ROLE_LAUNCHER, MSG_PROBE);
	expect_quiet(ROLE_LAUNCHER);
	o = msg_new(MSG_PROBED, NULL, 0, got.m.hdr.request);
	msg_put_u32(o, 1);
	msg_put_str(o, "gdbserver");
	msg_put_str(o, "debugging");
	msg_put_u32(o, 1);
	msg_put_u32(o, 1);
	msg_put_str(o, "");
	rig_send(ROLE_LAUNCHER, o, -1);
	expect(ROLE_NETPROC, MSG_DEPS_ROWS);
	assert_int_equal(msg_get_u32(&got.m), 1);
	expect(ROLE_NETPROC, MSG_DEPS_ROWS);
	/* rows that are none */
	ask(MSG_DEPS, NULL, ALICE_CONN);
	expect(ROLE_LAUNCHER, MSG_PROBE);
	o = msg_new(MSG_PROBED, NULL, 0, got.m.hdr.request);
	msg_put_u32(o, UINT32_MAX);
	rig_send(ROLE_LAUNCHER, o, -1);
	expect_violation(ROLE_LAUNCHER);
	expect_result(ERR_TRY_AGAIN, NULL);
}

static uint32_t
expect_alive(void)
{
	expect(ROLE_PARENT, MSG_SESSIONS_ALIVE);
	return msg_get_u32(&got.m);
}

static void
shutdown_stops_everything(void **state)
{
	struct sid sid;
	struct run r;

	(void)state;
	r = start_alice(&sid);
	assert_int_equal(expect_alive(), 1);
	rig_send(ROLE_PARENT, msg_new(MSG_SHUTDOWN, NULL, 0, 0), -1);
	expect(ROLE_LAUNCHER, MSG_SEND_SIGNAL);
	assert_int_equal(msg_get_u32(&got.m), SIGTERM);
	close(got.m.fd);
	ask_upload(ALICE_CONN, 10, "");
	expect_result(ERR_TRY_AGAIN, NULL);
	expect(ROLE_LAUNCHER, MSG_SEND_SIGNAL);
	assert_int_equal(msg_get_u32(&got.m), SIGKILL);
	close(got.m.fd);
	finish(&r, STUB_SIGNALED, SIGKILL);
	assert_int_equal(expect_alive(), 0);
	expect(ROLE_PARENT, MSG_STOPPED_ALL);
}

#define T(f)	cmocka_unit_test_setup_teardown(f, rig_start, rig_stop)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_message_of_a_hostile_netproc),
		T(wrong_generation),
		T(writable_mapping), T(room_made_smaller),
		T(end_of_another_upload),
		T(netproc_that_is_replaced),
		T(launcher_that_is_replaced),
		T(half_upload_goes_with_its_connection),
		T(closed_before_it_was_known),
		T(account_that_is_gone),
		T(root_is_no_principal),
		T(fds_that_come_twice),
		T(debug_and_detach),
		T(debugger_that_cannot_attach),
		T(kill_while_debugging),
		T(netproc_goes_while_debugging),
		T(bundle),
		T(bundle_that_lies),
		T(bundle_without_space),
		T(bundles_that_fail),
		T(sysroot),
		T(sysroot_in_turn),
		T(deps),
		T(shutdown_stops_everything),
	};

	return cmocka_run_group_tests_name("spawner and its peers", tests,
	    NULL, NULL);
}
