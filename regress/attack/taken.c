/* SPDX-License-Identifier: ISC */
/*
 * A role that is taken over once it has started.  This is linked to all the
 * objects of the role itself, which starts, confines itself and serves as it
 * always does; but its loop also takes the orders of a test, and what they
 * say is done by the process that the attacker would have.
 *
 * The test listens on a socket whose name it has written into the binary.
 * A role that connects is given a flag, a piece of memory for orders and
 * answers, and fds to send along.  With the flag TRAP the filter is the role's
 * own but for one word: a call that would kill the process is reported to it
 * instead, so that one process is enough for all that can be tried.
 */
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/sanitize.h"
#include "confine/filter.h"
#include "wire/msg.h"
#ifndef TAKEN_ARCHIVER
#include "send.h"
#endif

#define MAIL_SIZE	(1024 * 1024)
#define FDS_GIVEN	24
#define FD_LEAST	90	/* out of the way of those with fixed numbers */
#define CHANS		16
#define FLAG_TRAP	1
#define FLAG_HOLD	2	/* does nothing but what it is ordered */
#define KILLED		INT64_MIN

/* From TURN_CRASHED on: the signal that it dies of. */
enum turn { TURN_NONE, TURN_ORDER, TURN_ANSWER, TURN_CRASHED = 256 };

struct mail {
	_Atomic uint32_t turn;
	uint32_t	 len;
	uint8_t		 data[MAIL_SIZE - 8];
};

struct hello {
	char	 role[16];
	uint32_t pid;
};

/* The fields of an order, read from the front. */
struct fields {
	const uint8_t	*p;
	size_t		 left;
};

/* Overwritten in the copy that a test runs. */
static volatile char	 where[108] = "@taken-orders@";
static int		 order_fd = -1;
static struct mail	*mail;
static uint8_t		 flags;
static int		 given[FDS_GIVEN];
static size_t		 ngiven;
static sigjmp_buf	 refused;
static volatile bool	 trying;

extern char	*program_invocation_short_name;

int	__real_filter_install(const void *, size_t);
int	__wrap_filter_install(const void *, size_t);
int	__wrap_filter_load(const struct filter *);

/* -- orders --------------------------------------------------------------- */

static void
put(const void *p, size_t len)
{
	if (len > sizeof(mail->data) - mail->len)
		_exit(99);
	memcpy(mail->data + mail->len, p, len);
	mail->len += (uint32_t)len;
}

static void
put_i64(int64_t v)
{
	put(&v, sizeof(v));
}

static void
get(struct fields *f, void *p, size_t len)
{
	if (len > f->left)
		_exit(98);
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

/* A forbidden call outside of an order would have killed the process. */
static void
on_sigsys(int sig)
{
	if (trying)
		siglongjmp(refused, 1);
	mail->turn = TURN_CRASHED + (uint32_t)sig;
	_exit(90);
}

static bool
makes_processes(long nr)
{
	return nr == SYS_clone || nr == SYS_clone3
#ifdef SYS_fork
	    || nr == SYS_fork
#endif
	    ;
}

/*
 * A system call with six arguments; bits of the mask say which of them are
 * offsets into the bytes that follow, and which is where those are left.
 */
static void
do_call(struct fields *f)
{
	static uint8_t bytes[256 * 1024];
	long arg[6], nr = (long)get_u32(f), r;
	uint32_t mask = get_u32(f);
	size_t len;
	int i;

	for (i = 0; i < 6; i++)
		arg[i] = (long)get_u64(f);
	len = f->left;
	if (len > sizeof(bytes))
		_exit(97);
	memcpy(bytes, f->p, len);
	for (i = 0; i < 6; i++)
		if (mask & 1U << i)
			arg[i] = (long)(uintptr_t)bytes + arg[i];
	if (sigsetjmp(refused, 0) != 0) {
		trying = false;
		put_i64(KILLED);
		return;
	}
	trying = true;
	r = syscall(nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	if (r == 0 && makes_processes(nr))
		_exit(0);
	trying = false;
	put_i64(r == -1 ? -errno : r);
	put(bytes, len);
}

#if defined(__x86_64__)
/* The same kernel by its other doors: i386's numbers. */
static void
do_old_call(struct fields *f)
{
	long r = (long)get_u32(f);

	if (sigsetjmp(refused, 0) != 0) {
		trying = false;
		put_i64(KILLED);
		return;
	}
	trying = true;
	__asm__ volatile ("int $0x80" : "+a" (r) : "b" (0), "c" (0), "d" (0) :
	    "memory", "r8", "r9", "r10", "r11");
	trying = false;
	put_i64(r);
}
#else
static void
do_old_call(struct fields *f)
{
	(void)f;
	put_i64(KILLED);
}
#endif

#ifndef TAKEN_ARCHIVER
static struct channel	*chans[CHANS];
static size_t		 nchans;

/* Lists the open channels with their peers. */
static void
do_peers(struct fields *f)
{
	uint32_t v[4];
	size_t i;

	(void)f;
	for (i = 0; i < nchans; i++) {
		if (chans[i] == NULL || chans[i]->fd == -1)
			continue;
		v[0] = (uint32_t)i;
		v[1] = (uint32_t)chans[i]->peer;
		v[2] = chans[i]->generation;
		v[3] = (uint32_t)chans[i]->fd;
		put(v, sizeof(v));
	}
}

static int
chan_fd(struct fields *f)
{
	uint32_t i = get_u32(f);

	return i < nchans && chans[i] != NULL ? chans[i]->fd : -1;
}

static void
do_send(struct fields *f)
{
	int to = chan_fd(f);
	uint32_t which = get_u32(f), n = get_u32(f);

	if (n > FDS_MOST || (n > 0 && which >= ngiven))
		_exit(96);
	put_i64(send_fds(to, f->p, f->left, n > 0 ? given[which] : -1, n,
	    true));
}

/* Sends one message n times. */
static void
do_flood(struct fields *f)
{
	int to = chan_fd(f), error;
	uint32_t n = get_u32(f), ms = get_u32(f);

	put_i64(send_flood(to, f->p, f->left, -1, n, ms, &error));
	put_i64(error);
}

static void
do_deaf(struct fields *f)
{
	uint32_t i = get_u32(f);

	if (i < nchans && chans[i] != NULL)
		loop_del(&chans[i]->io);
}
#endif

/* Ends by itself when it is given a channel to that role. */
static uint32_t	 fragile = ROLE_END;

static void
do_fragile(struct fields *f)
{
	fragile = get_u32(f);
}

static void
do_exit(struct fields *f)
{
	_exit((int)get_u32(f));
}

static const struct {
	char	 letter;
	void	(*fn)(struct fields *);
} letters[] = {
	{ 'C', do_call }, { 'c', do_old_call }, { 'X', do_exit },
	{ 'f', do_fragile },
#ifndef TAKEN_ARCHIVER
	{ 'P', do_peers }, { 'S', do_send }, { 'F', do_flood },
	{ 'D', do_deaf },
#endif
};

static void
obey(void)
{
	static uint8_t order[MAIL_SIZE];
	struct fields f = { order + 1, mail->len - 1 };
	size_t i;

	memcpy(order, mail->data, mail->len);
	mail->len = 0;
	for (i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (letters[i].letter == (char)order[0])
			letters[i].fn(&f);
	mail->turn = TURN_ANSWER;
}

/* -- how it comes to them ------------------------------------------------- */

static void
take_hello(int fd)
{
	union {
		struct cmsghdr	hdr;
		char		buf[CMSG_SPACE((FDS_GIVEN + 1) * sizeof(int))];
	} ctl;
	struct iovec iov = { &flags, 1 };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = ctl.buf, .msg_controllen = sizeof(ctl.buf) };
	struct cmsghdr *cm;
	int fds[FDS_GIVEN + 1];
	size_t i, n;

	if (recvmsg(fd, &mh, MSG_CMSG_CLOEXEC) != 1 ||
	    (cm = CMSG_FIRSTHDR(&mh)) == NULL)
		_exit(95);
	n = (cm->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(cm), n * sizeof(int));
	mail = mmap(NULL, MAIL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
	    fds[0], 0);
	if (mail == MAP_FAILED)
		_exit(94);
	close(fds[0]);
	for (i = 1; i < n; i++) {
		given[ngiven] = fcntl(fds[i], F_DUPFD_CLOEXEC, FD_LEAST);
		if (given[ngiven++] == -1)
			_exit(93);
		close(fds[i]);
	}
}

/* A bug, and no decision of its own: the test reads it when it is dead. */
static void
on_crash(int sig)
{
	/* kernels without 32-bit programs have no door for i386's numbers */
	if (sig == SIGSEGV && trying)
		siglongjmp(refused, 1);
	mail->turn = TURN_CRASHED + (uint32_t)sig;
}

static void
watch_crashes(void)
{
	static const int sigs[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE,
	    SIGABRT };
	struct sigaction sa = { .sa_handler = on_crash,
	    .sa_flags = (int)SA_RESETHAND | SA_NODEFER };
	size_t i;

	/* a sanitizer tells more than a number */
	for (i = 0; !SANITIZED && i < sizeof(sigs) / sizeof(sigs[0]); i++)
		(void)sigaction(sigs[i], &sa, NULL);
}

/* Without a test that listens it is the role and nothing else. */
static void
connect_to_test(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct sigaction sa = { .sa_handler = on_sigsys,
	    .sa_flags = SA_NODEFER };
	struct hello h = { .pid = (uint32_t)getpid() };
	size_t i;
	int fd;

	for (i = 0; i < sizeof(sun.sun_path) - 1; i++)
		sun.sun_path[i] = where[i];
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return;
	order_fd = fcntl(fd, F_DUPFD_CLOEXEC, FD_LEAST);
	close(fd);
	strncpy(h.role, program_invocation_short_name, sizeof(h.role) - 1);
	if (order_fd == -1 ||
	    connect(order_fd, (struct sockaddr *)&sun, sizeof(sun)) == -1 ||
	    send(order_fd, &h, sizeof(h), MSG_NOSIGNAL) != sizeof(h)) {
		close(order_fd);
		order_fd = -1;
		return;
	}
	take_hello(order_fd);
	(void)sigaction(SIGSYS, &sa, NULL);
	watch_crashes();
}

/* Replaces kills by traps, which are reported; all else stays the same. */
int
__wrap_filter_install(const void *prog, size_t n)
{
	struct sock_filter *f = calloc(n, sizeof(*f));
	size_t i;
	int r;

	if (f == NULL)
		_exit(91);
	memcpy(f, prog, n * sizeof(*f));
	for (i = 0; i < n && flags & FLAG_TRAP; i++)
		if (f[i].code == (BPF_RET | BPF_K) &&
		    f[i].k == SECCOMP_RET_KILL_PROCESS)
			f[i].k = SECCOMP_RET_TRAP;
	r = __real_filter_install(f, n);
	free(f);
	return r;
}

int
__wrap_filter_load(const struct filter *filter)
{
	void *prog;
	size_t n;
	int r;

	if (filter_compile(filter, &prog, &n) == -1)
		return -1;
	r = __wrap_filter_install(prog, n);
	free(prog);
	return r;
}

#ifndef TAKEN_ARCHIVER
static struct loop_io	 order_io = LOOP_IO_INIT;

int	__real_loop_init(void);
int	__wrap_loop_init(void);
int	__real_loop_run(void);
int	__wrap_loop_run(void);
int	__real_chan_open(struct channel *, int, uint32_t);
int	__wrap_chan_open(struct channel *, int, uint32_t);
void	__real_chan_close(struct channel *);
void	__wrap_chan_close(struct channel *);

static void
on_order(uint32_t events, void *arg)
{
	char c;

	(void)events;
	(void)arg;
	if (recv(order_fd, &c, 1, 0) != 1) {
		loop_del(&order_io);
		flags = 0;
		return;
	}
	if (mail->turn != TURN_ORDER || mail->len == 0)
		return;
	obey();
	(void)send(order_fd, "", 1, MSG_NOSIGNAL);
}

int
__wrap_loop_init(void)
{
	connect_to_test();
	return __real_loop_init();
}

int
__wrap_loop_run(void)
{
	if (order_fd != -1 &&
	    loop_add(&order_io, order_fd, EPOLLIN, on_order, NULL) == -1)
		_exit(92);
	while (flags & FLAG_HOLD)
		on_order(0, NULL);
	return __real_loop_run();
}

int
__wrap_chan_open(struct channel *c, int fd, uint32_t generation)
{
	size_t i;

	if ((uint32_t)c->peer == fragile)
		_exit(9);
	for (i = 0; i < nchans && chans[i] != c; i++)
		;
	if (i == nchans)
		for (i = 0; i < nchans && chans[i] != NULL; i++)
			;
	if (i < CHANS)
		chans[i] = c;
	if (i == nchans && i < CHANS)
		nchans++;
	return __real_chan_open(c, fd, generation);
}

/* Some are freed then: those of the spawner's instruments. */
void
__wrap_chan_close(struct channel *c)
{
	size_t i;

	for (i = 0; i < nchans; i++)
		if (chans[i] == c)
			chans[i] = NULL;
	__real_chan_close(c);
}
#else
/*
 * It has no loop, and no call by which it could wait: it looks.  The test is
 * told before its filter is on, and has it end by an order.
 */
int	__real_unpack_prepare(void *);
int	__wrap_unpack_prepare(void *);
int	__wrap_unpack_run(void *, int, const void *, const char *);

int
__wrap_unpack_prepare(void *job)
{
	connect_to_test();
	return __real_unpack_prepare(job);
}

int
__wrap_unpack_run(void *job, int root_fd, const void *max, const char *path)
{
	(void)job;
	(void)root_fd;
	(void)max;
	(void)path;
	for (;;)
		if (mail->turn == TURN_ORDER)
			obey();
}
#endif
