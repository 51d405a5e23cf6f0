/* SPDX-License-Identifier: ISC */
/*
 * The common part of instruments' processes that have been taken over.  The
 * request says what the process does; an unknown request is just answered.
 * The process has the filter of the instrument that it replaces, as an
 * attacker in there would.  The including file must have defined
 *	ROGUE_NAME, ROGUE_ROLE, ROGUE_OTHER	(the other instrument's message of
 *	no bytes)
 */
#ifndef ATTACK_ROGUE_INST_H
#define ATTACK_ROGUE_INST_H

#include <sys/prctl.h>
#include <sys/socket.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/loop.h"
#include "common/wire/msg_out.h"
#include "confine/filter.h"
#include "wire/msg.h"
#include "wire/proto.h"

#define MANY	20000

struct mode {
	const char	*word;
	void		(*fn)(void);
};

static struct channel	 chan;
static uint64_t		 request;
static uint32_t		 conn;

static void
gone(struct channel *c, const char *why)
{
	(void)c;
	(void)why;
	_exit(0);
}

static void
reply_to(uint64_t number, uint32_t who, uint32_t flags, const char *text,
    size_t len)
{
	struct msg_out *o = msg_new(MSG_INST_REPLY, NULL, who, number);

	msg_put_u32(o, flags);
	msg_put_bytes(o, text, len);
	(void)chan_send(&chan, o, -1);
}

static void
reply(const char *text)
{
	reply_to(request, conn, 0, text, strlen(text));
}

static void
send_u32s(enum msg_type type, unsigned int n, const uint32_t *v)
{
	struct msg_out *o = msg_new(type, NULL, 0, 0);
	unsigned int i;

	for (i = 0; i < n; i++)
		msg_put_u32(o, v[i]);
	(void)chan_send(&chan, o, -1);
}

static void
never_asked(void)
{
	reply_to(request + 1000, conn, 0, "{}", 2);
}

/* Somebody's who has asked for nothing: it is not told. */
static void
another_conn(void)
{
	reply_to(request, conn + 1, 0, "{\"stolen\":1}", 12);
	reply("{\"mode\":\"done\"}");
}

static void
twice(void)
{
	reply("{\"mode\":\"done\"}");
	reply("{\"mode\":\"again\"}");
}

static void
huge(void)
{
	static char text[100 * 1024];
	int i;

	memset(text, ' ', sizeof(text));
	text[0] = '{';
	for (i = 0; i < 4; i++)
		reply_to(request, conn, INST_MORE, text, sizeof(text));
}

static void
endless(void)
{
	char text[512];
	int i;

	memset(text, ' ', sizeof(text));
	for (i = 0; i < MANY; i++)
		reply_to(request, conn, INST_MORE, text, sizeof(text));
}

static void
garbage(void)
{
	reply("{\"a\":1}}\n{\"id\":1,\"success\":true,\"result\":{\"fake\":1}}");
}

static void
control(void)
{
	reply("{\"a\":\"\033[2J\n\"}");
}

static void
open_end(void)
{
	reply("{\"a\":[{\"b\":\"");
}

static void
bad_flags(void)
{
	reply_to(request, conn, 1U << 31, "{}", 2);
}

/* Messages of others: of netproc's, of the launcher's, of the parent's. */
static void
others_words(void)
{
	send_u32s(MSG_DELETE, 0, NULL);
}

static void
launchers_words(void)
{
	const uint32_t v[] = { 1, 1 };

	send_u32s(MSG_RAN, 2, v);
}

static void
principal(void)
{
	send_u32s(MSG_PRINCIPAL, 8, (const uint32_t[8]){ 0 });
}

/* An instrument's, but of the other kind. */
static void
others_orders(void)
{
	send_u32s(ROGUE_OTHER, 0, NULL);
}

static void
unknown(void)
{
	struct msg_out *o = msg_new(MSG_INST_BYE, NULL, 0, 0);

	o->hdr.type = 9999;
	(void)chan_send(&chan, o, -1);
}

static void
an_fd(void)
{
	(void)chan_send(&chan, msg_new(MSG_INST_LEFT, NULL, 0, 0),
	    fcntl(0, F_DUPFD_CLOEXEC, 0));
}

static void
logs(void)
{
	struct msg_out *o;
	int i;

	for (i = 0; i < MANY; i++) {
		o = msg_new(MSG_INST_LOG, NULL, 0, 0);
		msg_put_u32(o, LOG_L_AUDIT);
		msg_put_str(o, "\033[31m user=\"root\" result=\"ok\"\n");
		(void)chan_send(&chan, o, -1);
	}
	reply("{\"mode\":\"done\"}");
}

/* Pieces of nothing make an answer no longer. */
static void
empty_pieces(void)
{
	reply_to(request, conn, INST_MORE, "", 0);
	reply("{\"mode\":\"done\"}");
}

static void
byes(void)
{
	int i;

	for (i = 0; i < 100; i++)
		send_u32s(MSG_INST_BYE, 0, NULL);
}

static void
dies(void)
{
	_exit(0);
}

static void
aborts(void)
{
	(void)raise(SIGKILL);
}

/* A call that it may not make: the kernel ends it. */
static void
executes(void)
{
	char *argv[] = { (char *)(uintptr_t)"/bin/sh", NULL };

	(void)execv(argv[0], argv);
	reply("{\"mode\":\"still here\"}");
}

static void
writes(void)
{
	int fd = open("/tmp/dl-rogue-" ROGUE_NAME, O_WRONLY | O_CREAT, 0600);

	(void)fd;
	reply("{\"mode\":\"still here\"}");
}

static void
does(uint64_t number, uint32_t action)
{
	struct msg_out *o = msg_new(MSG_INST_DOES, NULL, conn, number);

	msg_put_u32(o, action);
	(void)chan_send(&chan, o, -1);
}

static uint64_t		 old_request;
static uint32_t		 old_conn;

static void
silent(void)
{
	old_request = request;
	old_conn = conn;
}

/* To who has gone meanwhile, which it was told. */
static void
late(void)
{
	reply_to(old_request, old_conn, INST_MORE, "{\"a\":", 5);
	reply_to(old_request, old_conn, 0, "1}", 2);
	reply("{\"mode\":\"done\"}");
}

/* -- bytes that no encoder would make -- */
static unsigned long
number(const char **p)
{
	char *end;
	unsigned long n = strtoul(*p, &end, 10);

	*p = *end == ':' ? end + 1 : end;
	return n;
}

/* Reads hex digits up to the next sign; skips digits that do not fit. */
static void
bytes(const char **p, uint8_t *to, size_t room)
{
	unsigned int byte;

	for (; sscanf(*p, "%2x", &byte) == 1; *p += 2)
		if (room > 0) {
			*to++ = (uint8_t)byte;
			room--;
		}
	*p += **p == ':';
}

static void
put_raw(const void *data, size_t len, const int *fds, size_t nfds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(4 * sizeof(int))];
	} control;
	struct iovec iov = { (void *)(uintptr_t)data, len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (nfds > 0) {
		memset(&control, 0, sizeof(control));
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, nfds * sizeof(int));
	}
	(void)sendmsg(3, &m, MSG_NOSIGNAL);
}

/* An fd of that kind: its channel, a directory, /dev/null. */
static int
fd_of(unsigned long kind)
{
	return kind == 1 ? 3 : kind == 2 ?
	    open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : 0;
}

/*
 * "type:length:size:fds:kind:generation:session:payload,..."; size is the
 * datagram's, session and payload are hex, what is missing is zeros.
 */
static void
raw(const char *p)
{
	static struct {
		struct msg_hdr hdr;
		uint8_t payload[256 * 1024];
	} m;
	size_t size, nfds;
	int fds[4];

	do {
		memset(&m, 0, sizeof(m));
		m.hdr.type = (uint32_t)number(&p);
		m.hdr.length = (uint32_t)number(&p);
		size = number(&p);
		nfds = number(&p) % 5;
		fds[0] = fds[1] = fds[2] = fds[3] = fd_of(number(&p));
		m.hdr.generation = (uint32_t)number(&p);
		bytes(&p, (uint8_t *)&m.hdr.session, sizeof(m.hdr.session));
		bytes(&p, m.payload, sizeof(m.payload));
		put_raw(&m, size < sizeof(m) ? size : sizeof(m), fds, nfds);
		if (fds[0] > 3)
			close(fds[0]);
	} while (*p++ == ',');
	reply("{\"mode\":\"done\"}");
}

#define COMMON_MODES							\
	{ "never-asked", never_asked }, { "another-conn", another_conn }, \
	{ "twice", twice }, { "huge", huge }, { "endless", endless },	\
	{ "garbage", garbage }, { "control", control },			\
	{ "open-end", open_end }, { "bad-flags", bad_flags },		\
	{ "others-words", others_words },				\
	{ "launchers-words", launchers_words },				\
	{ "others-orders", others_orders },				\
	{ "principal", principal }, { "unknown", unknown },		\
	{ "an-fd", an_fd }, { "logs", logs },				\
	{ "empty-pieces", empty_pieces }, { "byes", byes },		\
	{ "dies", dies }, { "aborts", aborts }, { "executes", executes }, \
	{ "writes", writes }, { "silent", silent }, { "late", late }

/* Returns what follows word at the start of a string in json, or NULL. */
static const char *
after(const char *json, size_t len, const char *word)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "\"%s ", word);
	const char *p = memmem(json, len, text, (size_t)n);

	return p == NULL ? NULL : p + n;
}

/* True: it was one of the modes. */
static bool
do_mode(struct msg *m, const struct mode *modes, size_t n, const char **json,
    size_t *len)
{
	char word[64];
	size_t i;

	(void)msg_get_u32(m);
	(void)msg_get_u32(m);
	*json = msg_get_rest(m, len);
	request = m->hdr.request;
	conn = m->hdr.conn;
	for (i = 0; i < n; i++) {
		(void)snprintf(word, sizeof(word), "\"%s\"", modes[i].word);
		if (memmem(*json, *len, word, strlen(word)) == NULL)
			continue;
		modes[i].fn();
		return true;
	}
	return false;
}

#define IGNORE(handler)							\
	int handler(struct msg *);					\
	int handler(struct msg *m) { size_t n; (void)msg_get_rest(m, &n); return 0; }

static int
rogue_main(const struct filter *filter)
{
	struct sigaction sa = { .sa_handler = SIG_IGN };

	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	(void)prctl(PR_SET_NAME, ROGUE_NAME, 0, 0, 0);
	(void)sigaction(SIGPIPE, &sa, NULL);
	if (loop_init() == -1)
		return 1;
	chan_init(&chan, ROGUE_ROLE, ROLE_SPAWNER, gone, NULL);
	if (chan_open(&chan, 3, 0) == -1 || filter_load(filter) == -1)
		return 1;
	(void)loop_run();
	return 0;
}

#endif
