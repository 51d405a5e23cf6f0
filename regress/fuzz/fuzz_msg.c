/* SPDX-License-Identifier: ISC */
/* links: spawner/ !spawner/main.c common/ !common/wire/dispatch.c */
/* covers: common/wire/msg.c common/wire/chan.c common/wire/view.c spawner/client/audit.c spawner/image/archive_job.c spawner/run/exit.c */
/*
 * The spawner's messages, with state: the input is a list of records, each a
 * message of netproc, idproc or the launcher, bytes of a session's process,
 * or time that passes.  Every message goes through a real channel.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define FUZZ_CLOCK
#define FUZZ_LOOP
#include "regress/fuzz/fuzz.h"
#include "spawner/hooks.h"

#include "base/errors.h"
#include "common/wire/msg_out.h"
#include "spawner/image/archive_job.h"
#include "spawner/inst/debugger.h"
#include "spawner/keys/guest.h"
#include "spawner/link/peers.h"
#include "spawner/session/session.h"
#include "wire/ring.h"
#include "wire/role.h"
#include "wire/view.h"

#define USERS		3
#define PIPES		8
#define ASKED		8
#define KEYS		4	/* power of two */
#define RECORD		8	/* bytes before a record's payload */

#define SELF_ROLE SPAWNER
#include "common/wire/dispatch.c"

/* -- the other ends -- */

static int	 ends[ROLE_END];	/* the last instruments' among them */
static enum role ordered = ROLE_DEBUGGER;	/* the next of them */
static uint32_t	 gens[ROLE_END];
/* our ends of the pipes that the launcher gave */
static int	 pipes[PIPES];
static size_t	 npipes;
/* the keys that were made last */
static char	 keys[KEYS][KEY_TEXT + 1];
static size_t	 nkeys;
/* what the launcher was asked, so that it can answer */
static struct msg_hdr asked[ASKED];
static size_t	 nasked;

static void
connect_role(enum role role)
{
	int pair[2];

	must(chan_pair(pair) == 0);
	if (ends[role] != -1)
		close(ends[role]);
	ends[role] = pair[0];
	peer_replace(role, pair[1], ++gens[role]);
}

static void
keep_key(struct msg *m)
{
	char *key = keys[nkeys++ % KEYS];

	msg_get_str(m, key, sizeof(keys[0]));
	must(strlen(key) == KEY_TEXT);
}

/* Messages of the spawner must be well formed, whatever it was told. */
static void
check_said(struct msg *m)
{
	struct session_view v;
	struct ring ring;
	Elf64_Ehdr eh;

	must(m->hdr.type > MSG_NONE && m->hdr.type < MSG_COUNT);
	must(msg_rows[m->hdr.type].from == ROLE_SPAWNER);
	must(m->hdr.length >= msg_rows[m->hdr.type].min);
	must(m->hdr.length <= msg_rows[m->hdr.type].max);
	if (m->hdr.type == MSG_SESSION) {
		view_get(m, &v);
		must(msg_end(m) == 0);
		must(v.state == STATE_LOADED || v.state == STATE_RUNNING ||
		    v.state == STATE_DEBUGGING || v.state == STATE_STOPPED);
	} else if (m->hdr.type == MSG_RESULT)
		must(msg_get_u32(m) < ERR_COUNT);
	else if (m->hdr.type == MSG_KEY)
		keep_key(m);
	else if (m->hdr.type == MSG_RING) {
		must(ring_map(&ring, msg_take_fd(m)) == 0);
		ring_close(&ring);
	} else if (m->hdr.type == MSG_ROOM && (m->hdr.conn & 1)) {
		/* every other user uploads programs */
		memset(&eh, 0, sizeof(eh));
		memcpy(eh.e_ident, "\177ELF\2\1\1", 7);
		eh.e_type = ET_EXEC;
		eh.e_machine = EM_X86_64;
		eh.e_phoff = sizeof(eh);
		eh.e_phnum = 1;
		eh.e_phentsize = sizeof(Elf64_Phdr);
		(void)!write(m->fd, &eh, sizeof(eh));
	}
}

/* A copy: what is said is checked from its beginning as well. */
static enum role
role_ordered(struct msg m)
{
	struct run_owner owner;

	owner_get(&m, &owner);
	return (enum role)msg_get_u32(&m);
}

static bool
hear_one(enum role role)
{
	static uint8_t payload[MSG_PAYLOAD_MAX];
	union {
		struct cmsghdr	hdr;
		char		buf[CMSG_SPACE(sizeof(int))];
	} ctl;
	struct msg m = { .next = payload, .fd = -1 };
	struct iovec iov[2] = { { &m.hdr, sizeof(m.hdr) },
	    { payload, sizeof(payload) } };
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = 2,
	    .msg_control = ctl.buf, .msg_controllen = sizeof(ctl.buf) };

	if (recvmsg(ends[role], &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
		return false;
	m.left = m.hdr.length;
	if (CMSG_FIRSTHDR(&mh) != NULL)
		memcpy(&m.fd, CMSG_DATA(CMSG_FIRSTHDR(&mh)), sizeof(int));
	if (role == ROLE_LAUNCHER && m.hdr.request != 0)
		asked[nasked++ % ASKED] = m.hdr;
	if (m.hdr.type == MSG_INSTRUMENT)
		ordered = role_ordered(m);
	if (role != ROLE_PARENT)
		check_said(&m);
	if (m.fd != -1)
		close(m.fd);
	return true;
}

static void
hear(void)
{
	static const enum role roles[] = { ROLE_PARENT, ROLE_NETPROC,
	    ROLE_IDPROC, ROLE_LAUNCHER, ROLE_DEBUGGER, ROLE_TRACER };
	size_t i;

	for (i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		while (hear_one(roles[i]))
			continue;
}

/* -- what comes with a message -- */

static int
keep_pipe(bool we_write)
{
	int p[2];

	if (npipes == PIPES || pipe2(p, O_CLOEXEC | O_NONBLOCK) == -1)
		return -1;
	pipes[npipes++] = p[we_write ? 1 : 0];
	return p[we_write ? 0 : 1];
}

static int
some_socket(void)
{
	int p[2];

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p) == 0);
	close(p[1]);
	return p[0];
}

/* The process that all pidfds name; an event ends it. */
static pid_t	 victim = -1;

static void
new_victim(void)
{
	if (victim != -1) {
		kill(victim, SIGKILL);
		/* the fuzzer's own alarm comes once a second */
		must(TEMP_FAILURE_RETRY(waitpid(victim, NULL, 0)) == victim);
	}
	victim = fork();
	if (victim == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close_range(0, ~0U, 0);
		for (;;)
			pause();
	}
}

/* The master; what a program would have of it is kept as a pipe's end is. */
static int
keep_terminal(void)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;

	if (fd == -1 || npipes == PIPES)
		return fd;
	must(grantpt(fd) == 0 && unlockpt(fd) == 0);
	slave = open(ptsname(fd), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	must(slave != -1);
	pipes[npipes++] = slave;
	return fd;
}

/* The channel of the one that is started next; there is one of a kind. */
static int
new_instrument(void)
{
	int pair[2];

	must(chan_pair(pair) == 0);
	if (ends[ordered] != -1)
		close(ends[ordered]);
	ends[ordered] = pair[0];
	return pair[1];
}

/* The kernel's text about a cgroup, or an archiver's archive. */
static int	 text_fd = -1;

static int
make_fd(unsigned int kind)
{
	switch (kind % 11) {
	case 1:
		return memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	case 2:
		return keep_pipe(true);
	case 3:
		return keep_pipe(false);
	case 4:
		return (int)syscall(SYS_pidfd_open, victim, 0);
	case 5:
		return some_socket();
	case 6:
		return open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	case 7:
		return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	case 8:
		return keep_terminal();
	case 9:
		return new_instrument();
	case 10:
		return fcntl(text_fd, F_DUPFD_CLOEXEC, 0);
	default:
		return -1;
	}
}

/* The kind that would be right, for the launcher's streams. */
static unsigned int
right_kind(const struct msg_hdr *h, const uint8_t *payload, size_t len)
{
	static const uint8_t tty[] = { 0, 8, 0, 2, 4, 4, 10, 3, 2, 2 };
	static const uint8_t run[] = { 3, 2, 2, 2, 4, 4, 10, 3, 2, 2 };
	static const uint8_t attach[] = { 5, 2, 4 };
	static const uint8_t beside[] = { 3, 2, 4, 2 };
	static const uint8_t instrument[] = { 9, 4 };
	static const uint8_t unpack[] = { 2, 6, 4, 1 };
	static const uint8_t pack[] = { 2, 10, 4, 0 };
	const struct session *s = session_find(&h->session);
	uint32_t kind = 0;

	_Static_assert(sizeof(run) == RUN_FD_COUNT && sizeof(tty) ==
	    RUN_FD_COUNT && sizeof(attach) + 1 == ATTACH_FD_COUNT &&
	    sizeof(beside) == ATTACH_FD_COUNT && sizeof(unpack) ==
	    JOB_FD_COUNT && sizeof(pack) == JOB_FD_COUNT, "one for each");
	if (len >= sizeof(kind))
		memcpy(&kind, payload, sizeof(kind));
	if (h->type == MSG_RUN_FD)
		return s != NULL && s->start.tty != NULL ?
		    tty[kind % sizeof(tty)] : run[kind % sizeof(run)];
	if (h->type == MSG_JOB_FD)
		return s != NULL ? unpack[kind % sizeof(unpack)] :
		    pack[kind % sizeof(pack)];
	if (h->type == MSG_INSTRUMENT_FD)
		return instrument[kind % sizeof(instrument)];
	if (h->type == MSG_ATTACH_FD && s != NULL && s->dbg != NULL)
		return beside[kind % sizeof(beside)];
	if (h->type == MSG_ATTACH_FD)
		return attach[kind % sizeof(attach)];
	return h->type == MSG_FOUND ? 4 : 0;
}

/* -- records -- */

static bool
is_from(const struct msg_row *row, enum role from)
{
	return row->from == from || (row->from == ROLE_INST &&
	    (from == ROLE_DEBUGGER || from == ROLE_TRACER));
}

/* The nth message that this role may send to the spawner. */
static uint32_t
nth_type(enum role from, unsigned int n)
{
	uint32_t types[MSG_COUNT];
	unsigned int count = 0;
	uint32_t i;

	for (i = 1; i < MSG_COUNT; i++)
		if (is_from(&msg_rows[i], from) &&
		    msg_rows[i].to == ROLE_SPAWNER)
			types[count++] = i;
	return types[n % count];
}

static struct sid
nth_session(unsigned int n)
{
	struct session *s;
	struct sid none;

	n %= (unsigned int)session_count() + 1;
	SESSION_FOREACH(s)
		if (n-- == 0)
			return s->id;
	memset(&none, 0, sizeof(none));
	return none;
}

/* Inputs cannot guess keys, so a short text stands for an existing key. */
static size_t
put_key(uint8_t *payload, size_t len)
{
	uint32_t n = KEY_TEXT;
	const char *key = keys[len == 0 ? 0 : payload[0] % KEYS];

	if (len > 4)
		return len;
	memcpy(payload, &n, sizeof(n));
	memcpy(payload + sizeof(n), key, n);
	return sizeof(n) + n;
}

static void
send_record(enum role from, const uint8_t *r, const uint8_t *payload,
    size_t len)
{
	static struct msg_out o;
	union {
		struct cmsghdr	hdr;
		char		buf[CMSG_SPACE(sizeof(int))];
	} ctl;
	struct iovec iov = { &o.hdr, 0 };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
	const struct msg_hdr *q = &asked[r[4] % ASKED];
	int fd;

	memset(&o.hdr, 0, sizeof(o.hdr));
	o.hdr.type = r[0] & 0x80 ? r[1] : nth_type(from, r[1]);
	memcpy(o.payload, payload, len);
	if (o.hdr.type == MSG_AUTH)
		len = put_key(o.payload, len);
	if (!(r[0] & 0x40) && o.hdr.type < MSG_COUNT &&
	    len < msg_rows[o.hdr.type].min) {
		memset(o.payload + len, 0, msg_rows[o.hdr.type].min - len);
		len = msg_rows[o.hdr.type].min;
	}
	o.hdr.length = (uint32_t)len;
	o.hdr.conn = r[3] % (USERS * 2 + 1);
	o.hdr.generation = gens[from];
	o.hdr.request = r[4];
	o.hdr.session = nth_session(r[2]);
	if (from == ROLE_LAUNCHER) {
		o.hdr.request = q->request;
		o.hdr.session = q->session;
	}
	/* the numbers of requests begin at 1 in each */
	if (from == ROLE_DEBUGGER || from == ROLE_TRACER)
		o.hdr.request = r[4] % 8;
	fd = make_fd(r[5] == 0 ? right_kind(&o.hdr, o.payload, len) :
	    r[5]);
	if (fd != -1) {
		memset(&ctl, 0, sizeof(ctl));
		mh.msg_control = ctl.buf;
		mh.msg_controllen = sizeof(ctl.buf);
		ctl.hdr.cmsg_level = SOL_SOCKET;
		ctl.hdr.cmsg_type = SCM_RIGHTS;
		ctl.hdr.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&ctl.hdr), &fd, sizeof(fd));
	}
	iov.iov_len = sizeof(o.hdr) + len;
	(void)sendmsg(ends[from], &mh, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (fd != -1)
		close(fd);
}

/* Events besides messages: time, new peers, processes that write or close. */
static void
event(const uint8_t *r, const uint8_t *payload, size_t len)
{
	size_t i = npipes == 0 ? 0 : r[2] % npipes;

	switch (r[1] % 8) {
	case 0:
		turn((uint64_t)r[2] * 100);
		break;
	case 1:
		connect_role(ROLE_NETPROC);
		break;
	case 2:
		connect_role(ROLE_LAUNCHER);
		break;
	case 3:
		connect_role(ROLE_IDPROC);
		break;
	case 4:
		if (npipes > 0)
			(void)!write(pipes[i], payload, len);
		break;
	case 5:
		if (npipes > 0) {
			close(pipes[i]);
			pipes[i] = pipes[--npipes];
		}
		break;
	case 6:
		new_victim();
		break;
	case 7:
		must(ftruncate(text_fd, 0) == 0 &&
		    pwrite(text_fd, payload, len, 0) == (ssize_t)len);
		break;
	}
}

static void
clean_up(void)
{
	static const enum role roles[] = { ROLE_LAUNCHER, ROLE_IDPROC,
	    ROLE_NETPROC };
	struct session *s, *next;
	size_t i;

	SESSION_FOREACH_SAFE(s, next)
		session_free(s);
	for (i = ROLE_INSTRUMENT; i < ROLE_INSTRUMENT_END; i++) {
		if (ends[i] != -1)
			close(ends[i]);
		ends[i] = -1;
	}
	for (i = 0; i < 3; i++)
		connect_role(roles[i]);
	for (i = 0; i < 10 && archive_job_count() > 0; i++)
		turn(3000);
	must(session_count() == 0 && archive_job_count() == 0);
	turn(1);
	/* those that could not be ended while there was no launcher */
	for (i = 0; i < 10 && !LIST_EMPTY(&insts); i++)
		turn(3000);
	must(LIST_EMPTY(&insts));
	must(session_alive_count() == 0);
	while (npipes > 0)
		close(pipes[--npipes]);
	/* lingering replicas and what is in the sockets */
	turn(100000);
	hear();
	must(ftruncate(text_fd, 0) == 0);
	keys_end_all();
	memset(keys, 'x', sizeof(keys));
	nkeys = 0;
	memset(asked, 0, sizeof(asked));
	nasked = 0;
}

/* So that an fd that was forgotten is noticed. */
static void
parent_gone(struct channel *c, const char *why)
{
	(void)c;
	(void)why;
	abort();
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct settings *s = &settings;
	int pair[2], i;

	(void)argc;
	(void)argv;
	signal(SIGPIPE, SIG_IGN);
	quiet();
	for (i = 0; i < ROLE_END; i++)
		ends[i] = -1;
	role_mode = MODE_SYSTEM;
	s->max_sessions = s->max_sessions_per_user = 8;
	s->unstarted_timeout = 3600;
	s->max_total_bytes = s->bundle_max_bytes = 1 << 20;
	s->max_connections = 16;
	s->output_buffer = 4096;
	s->pty_scrollback = 4096;
	s->pty_grace = s->pty_idle_ttl = 5;
	s->debugger_output_bytes = 64 * 1024;
	s->debugger_idle = 5;
	s->stop_timeout = 5;
	s->sandbox = SANDBOX_NAMESPACES;
	s->allow_sandbox = 7;
	s->limit_nofile = 1024;
	s->sysroot_max_bytes = 1 << 20;
	s->min_uid = 1000;
	must(loop_init() == 0 && chan_pair(pair) == 0);
	chan_init(&parent_chan, ROLE_SPAWNER, ROLE_PARENT, parent_gone, NULL);
	must(chan_open(&parent_chan, pair[1], 0) == 0);
	ends[ROLE_PARENT] = pair[0];
	hooks_init();
	keys_init(key_ended);
	new_victim();
	text_fd = memfd_create("text", MFD_CLOEXEC);
	must(text_fd != -1);
	clean_up();
	return 0;
}

static void
send_as_idproc(struct msg_out *o)
{
	o->hdr.generation = gens[ROLE_IDPROC];
	must(send(ends[ROLE_IDPROC], &o->hdr, sizeof(o->hdr) + o->hdr.length,
	    0) > 0);
}

static void
send_principal(uint32_t conn, uint32_t uid, uint32_t flags, uint32_t door)
{
	struct msg_out *o = msg_new(MSG_PRINCIPAL, NULL, conn, 0);

	msg_put_u32(o, uid);
	msg_put_u32(o, flags);
	msg_put_u32(o, door);
	msg_put_str(o, "user");
	msg_put_str(o, "127.0.0.1:1");
	msg_put_str(o, NULL);
	send_as_idproc(o);
}

static void
send_account(uint32_t uid)
{
	struct msg_out *o = msg_new(MSG_ACCOUNT, NULL, 0, 0);

	msg_put_u32(o, uid);
	msg_put_u32(o, ACCOUNT_FOUND);
	msg_put_u32(o, uid);
	msg_put_u32(o, 0);
	msg_put_str(o, "user");
	msg_put_str(o, "/home/user");
	msg_put_str(o, "");
	msg_put_str(o, "adm, staff");
	send_as_idproc(o);
}

/* Connections 1 to 3, each of a user of its own, and as many of strangers. */
static void
log_in(void)
{
	uint32_t i;

	for (i = 1; i <= USERS; i++) {
		send_principal(i, 1000 + i, 0, DOOR_TCP);
		send_account(1000 + i);
		send_principal(USERS + i, UINT32_MAX, PRINCIPAL_UNAUTHENTICATED,
		    DOOR_WEB);
	}
	turn(0);
	hear();
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t size)
{
	static const enum role roles[] = { ROLE_NETPROC, ROLE_LAUNCHER,
	    ROLE_IDPROC };
	int before = count_fds();
	size_t len;

	log_in();
	while (size >= RECORD) {
		len = (size_t)p[6] | (size_t)p[7] << 8;
		if (len > size - RECORD)
			len = size - RECORD;
		if ((p[0] & 3) == 3)
			event(p, p + RECORD, len);
		else if ((p[0] & 7) == 4)
			send_record(ROLE_DEBUGGER, p, p + RECORD, len);
		else if ((p[0] & 7) == 5)
			send_record(ROLE_TRACER, p, p + RECORD, len);
		else
			send_record(roles[p[0] & 3], p, p + RECORD, len);
		turn(1);
		hear();
		p += RECORD + len;
		size -= RECORD + len;
	}
	clean_up();
	must(count_fds() == before);
	return 0;
}
