/* SPDX-License-Identifier: ISC */
/*
 * A netproc that has been taken over: confined like the real one, it does
 * what the test at the other end of a TCP connection orders.  An order is
 * u32 length, a letter and fields in host order; each is answered by u32
 * length and fields.  The letters are in the table at the end.
 */
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "netproc/sysfilter.h"
#include "send.h"
#include "wire/msg_out.h"
#include "wire/role.h"

#define ORDER_MAX	(4 * 1024 * 1024)
#define GOT_MAX		512
#define RECORDS_MAX	(8 * 1024 * 1024)
#define MAPS_MAX	16

/* Descriptors that an order may send along; made before the confinement. */
enum kind {
	KIND_NONE, KIND_SELF, KIND_GOT, KIND_DIR, KIND_SOCKET, KIND_FIFO,
	KIND_PATH, KIND_FILE, KIND_MEMFD, KIND_MAPPED, KIND_PIDFD, KIND_NULL,
	KIND_EPOLL, KIND_NAMESPACE, KIND_CLOSED_TCP, KIND_LISTENER, KIND_COUNT
};

struct order_conn {
	struct loop_io	 io;
	int		 fd;
	uint32_t	 number;
	uint8_t		*in;		/* length, letter and fields */
	size_t		 have;
};

/* The fields of an order, read from the front. */
struct fields {
	const uint8_t	*p;
	size_t		 left;
};

static struct channel	 spawner_chan, idproc_chan;
static int		 kind_fds[KIND_COUNT];
static int		 got_fds[GOT_MAX];
static uint32_t		 ngot;
static uint8_t		 records[RECORDS_MAX];
static size_t		 records_len;
static uint8_t		*maps[MAPS_MAX];
static struct channel	 log_chan;
static struct loop_io	 listener_io;
static uint32_t		 next_number;
static uint8_t		 reply[RECORDS_MAX + 16];
static size_t		 reply_len;

int	__real_logline_open(enum role, int);
int	__wrap_logline_open(enum role, int);

/* -- what the other roles send is kept as it came ------------------------- */

static int
record(struct msg *m)
{
	size_t len = sizeof(m->hdr) + m->left;
	uint32_t head[2] = { (uint32_t)len, UINT32_MAX };

	if (m->fd != -1 && ngot < GOT_MAX) {
		head[1] = ngot;
		got_fds[ngot++] = msg_take_fd(m);
	}
	if (records_len + sizeof(head) + len > sizeof(records))
		records_len = 0;
	memcpy(records + records_len, head, sizeof(head));
	memcpy(records + records_len + sizeof(head), &m->hdr, sizeof(m->hdr));
	memcpy(records + records_len + sizeof(head) + sizeof(m->hdr), m->next,
	    m->left);
	records_len += sizeof(head) + len;
	return 0;
}

#define RECORD(handler)							\
	int handler(struct msg *);					\
	int handler(struct msg *m) { return record(m); }
RECORD(net_on_listener_gone)
RECORD(net_on_tls_door)
RECORD(net_on_tls_fingerprint)
RECORD(net_on_tls_conn)
RECORD(net_on_backoff)
RECORD(net_on_mdns)
RECORD(net_on_peer_is)
RECORD(net_on_session)
RECORD(net_on_session_gone)
RECORD(net_on_usage)
RECORD(net_on_sees)
RECORD(net_on_authed)
RECORD(net_on_identity)
RECORD(net_on_conn_end)
RECORD(net_on_audit_lines)
RECORD(net_on_quota_rows)
RECORD(net_on_synced)
RECORD(net_on_ring)
RECORD(net_on_room)
RECORD(net_on_result)
RECORD(net_on_debug_fd)
RECORD(net_on_debug_over)
RECORD(net_on_input_fd)
RECORD(net_on_output_notice)
RECORD(net_on_sysroot_fd)
RECORD(net_on_activity_lines)
RECORD(net_on_token)
RECORD(net_on_token_rows)
RECORD(net_on_key)
RECORD(net_on_deps_rows)
RECORD(net_on_tty_marked)
RECORD(net_on_inst_answer)

int	net_on_listener(struct msg *);

/* -- orders --------------------------------------------------------------- */

static void
put(const void *p, size_t len)
{
	memcpy(reply + reply_len, p, len);
	reply_len += len;
}

static void
put_i64(int64_t v)
{
	put(&v, sizeof(v));
}

static void
get(struct fields *f, void *p, size_t len)
{
	memset(p, 0, len);
	if (len > f->left)
		fatalx("an order is too short");
	memcpy(p, f->p, len);
	f->p += len;
	f->left -= len;
}

static uint32_t
get_u32(struct fields *f)
{
	uint32_t v;

	get(f, &v, sizeof(v));
	return v;
}

static uint64_t
get_u64(struct fields *f)
{
	uint64_t v;

	get(f, &v, sizeof(v));
	return v;
}

static int
got_fd(struct fields *f)
{
	uint32_t i = get_u32(f);

	return i < ngot ? got_fds[i] : -1;
}

/* Keeps the number of the link, by which the role itself speaks as well. */
int
__wrap_logline_open(enum role self, int fd)
{
	log_chan.fd = fd;
	return __real_logline_open(self, fd);
}

static struct channel *
chan_to(uint32_t peer)
{
	return peer == ROLE_SPAWNER ? &spawner_chan :
	    peer == ROLE_IDPROC ? &idproc_chan :
	    peer == ROLE_LOGGER ? &log_chan : &parent_chan;
}

static void
do_about(struct order_conn *c, struct fields *f)
{
	uint32_t v[4] = { spawner_chan.generation, idproc_chan.generation,
	    c->number, (uint32_t)getpid() };

	(void)f;
	put(v, sizeof(v));
}

static void
do_send(struct order_conn *c, struct fields *f)
{
	struct channel *to = chan_to(get_u32(f));
	uint32_t kind = get_u32(f), n = get_u32(f), i = get_u32(f);
	int fd = kind == KIND_SELF ? c->fd :
	    kind == KIND_GOT ? (i < ngot ? got_fds[i] : -1) :
	    kind < KIND_COUNT ? kind_fds[kind] : -1;

	if (n > FDS_MOST)
		fatalx("more fds than a message can have");
	put_i64(send_fds(to->fd, f->p, f->left, fd, n, true));
}

/* Sends one message n times. */
static void
do_flood(struct order_conn *c, struct fields *f)
{
	struct channel *to = chan_to(get_u32(f));
	uint32_t n = get_u32(f), ms = get_u32(f);
	int fd = get_u32(f) == KIND_SELF ? c->fd : -1, error;

	put_i64(send_flood(to->fd, f->p, f->left, fd, n, ms, &error));
	put_i64(error);
}

static void
do_records(struct order_conn *c, struct fields *f)
{
	(void)c;
	(void)f;
	put(records, records_len);
	records_len = 0;
}

static void
do_read(struct order_conn *c, struct fields *f)
{
	int fd = got_fd(f);
	uint64_t at = get_u64(f);
	uint32_t len = get_u32(f);
	struct stat st;
	void *p;

	(void)c;
	if (fstat(fd, &st) == -1 || at >= (uint64_t)st.st_size)
		return;
	if (len > (uint64_t)st.st_size - at)
		len = (uint32_t)((uint64_t)st.st_size - at);
	/* netproc may map, not pread */
	p = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, (off_t)at);
	if (p == MAP_FAILED)
		return;
	put(p, len);
	(void)munmap(p, len);
}

static void
do_write(struct order_conn *c, struct fields *f)
{
	int fd = got_fd(f);
	uint64_t at = get_u64(f);
	ssize_t n = pwrite(fd, f->p, f->left, (off_t)at);

	(void)c;
	put_i64(n == -1 ? -errno : n);
}

static void
do_map(struct order_conn *c, struct fields *f)
{
	int fd = got_fd(f);
	uint32_t slot = get_u32(f) % MAPS_MAX;
	void *p = mmap(NULL, get_u32(f), PROT_READ | PROT_WRITE, MAP_SHARED,
	    fd, 0);

	(void)c;
	put_i64(p == MAP_FAILED ? -errno : 0);
	maps[slot] = p == MAP_FAILED ? NULL : p;
}

static void
do_poke(struct order_conn *c, struct fields *f)
{
	uint8_t *p = maps[get_u32(f) % MAPS_MAX];

	(void)c;
	put_i64(p == NULL ? -EBADF : 0);
	if (p != NULL)
		memcpy(p, f->p, f->left);
}

/*
 * A system call with six arguments; bits of the mask say which of them are
 * offsets into the bytes that follow.
 */
static void
do_call(struct order_conn *c, struct fields *f)
{
	static uint8_t bytes[65536];
	long arg[6], nr = (long)get_u32(f), r;
	uint32_t mask = get_u32(f), self = get_u32(f);
	int i;

	for (i = 0; i < 6; i++)
		arg[i] = (long)get_u64(f);
	if (f->left > sizeof(bytes))
		fatalx("too many bytes for a call");
	memcpy(bytes, f->p, f->left);
	for (i = 0; i < 6; i++)
		if (mask & 1U << i)
			arg[i] = (long)(uintptr_t)bytes + arg[i];
	if (self)
		arg[0] = c->fd;
	r = syscall(nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	put_i64(r == -1 ? -errno : r);
	put(bytes, f->left);
}

static void
do_deaf(struct order_conn *c, struct fields *f)
{
	(void)c;
	loop_del(&chan_to(get_u32(f))->io);
	put_i64(0);
}

static void
do_exit(struct order_conn *c, struct fields *f)
{
	(void)c;
	_exit((int)get_u32(f));
}

static const struct {
	char	 letter;
	void	(*fn)(struct order_conn *, struct fields *);
} letters[] = {
	{ 'A', do_about }, { 'S', do_send }, { 'F', do_flood },
	{ 'R', do_records }, { 'P', do_read }, { 'W', do_write },
	{ 'M', do_map }, { 'm', do_poke }, { 'C', do_call },
	{ 'D', do_deaf }, { 'X', do_exit },
};

static void
send_all(int fd, const void *data, size_t len)
{
	const uint8_t *p = data;
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	ssize_t n;

	while (len > 0) {
		n = send(fd, p, len, MSG_NOSIGNAL);
		if (n == -1 && errno != EAGAIN)
			return;
		if (n == -1) {
			(void)poll(&pfd, 1, SEND_MS);
			continue;
		}
		p += n;
		len -= (size_t)n;
	}
}

static void
obey(struct order_conn *c, uint32_t len)
{
	struct fields f = { c->in + 5, len - 1 };
	uint32_t n;
	size_t i;

	/* in one piece: a second small one would wait for an ACK */
	reply_len = sizeof(n);
	for (i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (letters[i].letter == (char)c->in[4])
			letters[i].fn(c, &f);
	n = (uint32_t)(reply_len - sizeof(n));
	memcpy(reply, &n, sizeof(n));
	send_all(c->fd, reply, reply_len);
}

static void
on_order(uint32_t events, void *arg)
{
	struct order_conn *c = arg;
	uint32_t len = 1;
	ssize_t n;

	(void)events;
	n = recv(c->fd, c->in + c->have, ORDER_MAX - c->have, MSG_DONTWAIT);
	if (n == -1 && errno == EAGAIN)
		return;
	if (n <= 0) {
		loop_del(&c->io);
		close(c->fd);
		free(c->in);
		free(c);
		return;
	}
	c->have += (size_t)n;
	if (c->have >= sizeof(len))
		memcpy(&len, c->in, sizeof(len));
	if (c->have < sizeof(len) + len || len == 0)
		return;
	/* one at a time: the test waits for the reply */
	c->have = 0;
	obey(c, len);
}

static void
on_connection(uint32_t events, void *arg)
{
	int fd = accept4(listener_io.fd, NULL, NULL, SOCK_CLOEXEC);
	struct order_conn *c = calloc(1, sizeof(*c));

	(void)events;
	(void)arg;
	if (fd == -1 || c == NULL)
		return;
	c->fd = fd;
	c->number = next_number++;
	c->in = malloc(ORDER_MAX);
	c->io = (struct loop_io)LOOP_IO_INIT;
	if (c->in == NULL ||
	    loop_add(&c->io, fd, EPOLLIN, on_order, c) == -1)
		fatal("no memory for a connection");
}

int
net_on_listener(struct msg *m)
{
	if (!listener_io.active) {
		listener_io = (struct loop_io)LOOP_IO_INIT;
		kind_fds[KIND_LISTENER] = msg_take_fd(m);
		if (loop_add(&listener_io, kind_fds[KIND_LISTENER], EPOLLIN,
		    on_connection, NULL) == -1)
			fatal("listener");
	}
	return 0;
}

/* -- a role like the real one --------------------------------------------- */

static int
mapped_memfd(void)
{
	int fd = memfd_create("mapped", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd == -1 || ftruncate(fd, 4096) == -1 ||
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) ==
	    MAP_FAILED)
		fatal("memfd");
	return fd;
}

static void
prepare(void)
{
	int p[2];

	tzset();
	if (getrandom(&next_number, sizeof(next_number), 0) == -1 ||
	    pipe2(p, O_CLOEXEC) == -1)
		fatal("set-up");
	next_number |= 1;
	kind_fds[KIND_NONE] = kind_fds[KIND_SELF] = kind_fds[KIND_GOT] = -1;
	kind_fds[KIND_FIFO] = p[0];
	kind_fds[KIND_DIR] = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	kind_fds[KIND_PATH] = open("/", O_PATH | O_CLOEXEC);
	kind_fds[KIND_FILE] = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	kind_fds[KIND_SOCKET] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	kind_fds[KIND_MEMFD] = memfd_create("x",
	    MFD_CLOEXEC | MFD_ALLOW_SEALING);
	kind_fds[KIND_MAPPED] = mapped_memfd();
	kind_fds[KIND_PIDFD] = (int)syscall(SYS_pidfd_open, getpid(), 0);
	kind_fds[KIND_NULL] = open("/dev/null", O_RDWR | O_CLOEXEC);
	kind_fds[KIND_EPOLL] = epoll_create1(EPOLL_CLOEXEC);
	kind_fds[KIND_NAMESPACE] = open("/proc/self/ns/user",
	    O_RDONLY | O_CLOEXEC);
	kind_fds[KIND_CLOSED_TCP] = socket(AF_INET,
	    SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static void
chan_lost(struct channel *c, const char *why)
{
	(void)c;
	(void)why;
}

static void
start(void)
{
	chan_init(&spawner_chan, ROLE_NETPROC, ROLE_SPAWNER, chan_lost, NULL);
	chan_init(&idproc_chan, ROLE_NETPROC, ROLE_IDPROC, chan_lost, NULL);
}

static void
peer(enum role role, int fd, uint32_t generation)
{
	struct channel *c = chan_to(role);

	chan_close(c);
	if (chan_open(c, fd, generation) == -1)
		fatal("channel");
}

static const struct role_desc desc = {
	.self = ROLE_NETPROC,
	.prepare = prepare,
	.landlock = true,
	.landlock_level = LANDLOCK_NOTHING,
	.fsize = -1,
	.nproc = 0,
	.filter = &netproc_filter,
	.start = start,
	.peer = peer,
};

int
main(void)
{
	role_main(&desc);
}
