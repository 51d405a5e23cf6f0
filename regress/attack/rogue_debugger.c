/* SPDX-License-Identifier: ISC */
/*
 * A debugger's process that has been taken over.  The request says what it
 * does; what it does not know it answers.  It has the filter of the one that
 * it replaces, as whoever takes that over has.
 */
#include <sys/prctl.h>
#include <sys/socket.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/msg_out.h"
#include "common/dbgdeed.h"
#include "debugger/sysfilter.h"
#include "log.h"
#include "loop.h"
#include "msg.h"
#include "proto.h"

#define MANY	20000

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
	struct msg_out *o = msg_new(MSG_DBG_REPLY, NULL, who, number);

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
		reply_to(request, conn, DBG_MORE, text, sizeof(text));
}

static void
endless(void)
{
	int i;

	for (i = 0; i < MANY; i++)
		reply_to(request, conn, DBG_MORE, "                ", 16);
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

static void
bad_phase(void)
{
	const uint32_t v[] = { 99, 0, 0, 0, 0 };

	send_u32s(MSG_DBG_STATE, 5, v);
}

static void
bad_state(void)
{
	const uint32_t v[] = { DBG_STOPPED, UINT32_MAX, 0, 0, 0 };

	send_u32s(MSG_DBG_STATE, 5, v);
}

static void
short_state(void)
{
	const uint32_t v[] = { DBG_STOPPED };

	send_u32s(MSG_DBG_STATE, 1, v);
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

static void
unknown(void)
{
	struct msg_out *o = msg_new(MSG_DBG_BYE, NULL, 0, 0);

	o->hdr.type = 9999;
	(void)chan_send(&chan, o, -1);
}

static void
an_fd(void)
{
	(void)chan_send(&chan, msg_new(MSG_DBG_KILL, NULL, 0, 0),
	    fcntl(0, F_DUPFD_CLOEXEC, 0));
}

static void
states(void)
{
	uint32_t v[] = { DBG_RUNNING, 0, 0, 0, 0 };
	int i;

	for (i = 0; i < MANY; i++) {
		v[0] = i % 2 ? DBG_RUNNING : DBG_STOPPED;
		v[1] = (uint32_t)i + 1;
		send_u32s(MSG_DBG_STATE, 5, v);
	}
	reply("{\"mode\":\"done\"}");
}

static void
logs(void)
{
	struct msg_out *o;
	int i;

	for (i = 0; i < MANY; i++) {
		o = msg_new(MSG_DBG_LOG, NULL, 0, 0);
		msg_put_u32(o, LOG_L_AUDIT);
		msg_put_str(o, "\033[31m user=\"root\" result=\"ok\"\n");
		(void)chan_send(&chan, o, -1);
	}
	reply("{\"mode\":\"done\"}");
}

static void
drain(int n)
{
	static const uint32_t always[2];

	while (n-- > 0) {
		send_u32s(MSG_DBG_DRAIN, 0, NULL);
		send_u32s(MSG_DBG_ARM, 2, always);
	}
	reply("{\"mode\":\"done\"}");
}

static void
drains(void)
{
	drain(MANY / 10);
}

/* The answers are more than anybody keeps for who does not read them. */
static void
deaf_drains(void)
{
	drain(MANY * 10);
}

/* Pieces of nothing make an answer no longer. */
static void
empty_pieces(void)
{
	reply_to(request, conn, DBG_MORE, "", 0);
	reply("{\"mode\":\"done\"}");
}

static void
order(uint32_t flags, const char *argv, size_t len)
{
	struct msg_out *o = msg_new(MSG_DBG_RUN, NULL, 0, 0);

	msg_put_u32(o, flags);
	msg_put_str(o, "rogue");
	msg_put_str(o, "/");
	msg_put_blob(o, argv, len);
	msg_put_blob(o, "", 0);
	msg_put_blob(o, "", 0);
	(void)chan_send(&chan, o, -1);
}

static void
runs(void)
{
	static const char argv[] = "/bin/sleep\0" "1000";
	int i;

	for (i = 0; i < 200; i++)
		order(0, argv, sizeof(argv));
	reply("{\"mode\":\"done\"}");
}

static void
host_run(void)
{
	static const char argv[] = "/bin/sleep\0" "1000";

	order(DBG_RUN_HOST, argv, sizeof(argv));
	reply("{\"mode\":\"done\"}");
}

static void
beside_run(void)
{
	static const char argv[] = "/bin/sleep\0" "1000";

	order(DBG_RUN_BESIDE, argv, sizeof(argv));
	reply("{\"mode\":\"done\"}");
}

static void
bad_run(void)
{
	order(0, "/bin/sleep", 10);
}

static void
bad_run_flags(void)
{
	order(1U << 30, "/bin/true", 10);
}

static void
byes(void)
{
	int i;

	for (i = 0; i < 100; i++)
		send_u32s(MSG_DBG_BYE, 0, NULL);
}

static void
kills(void)
{
	int i;

	for (i = 0; i < MANY; i++)
		send_u32s(MSG_DBG_KILL, 0, NULL);
	reply("{\"mode\":\"done\"}");
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
	int fd = open("/tmp/dl-rogue-debugger", O_WRONLY | O_CREAT, 0600);

	(void)fd;
	reply("{\"mode\":\"still here\"}");
}

static void
does(uint64_t number, uint32_t deed)
{
	struct msg_out *o = msg_new(MSG_DBG_DOES, NULL, conn, number);

	msg_put_u32(o, deed);
	(void)chan_send(&chan, o, -1);
}

/* What nobody has asked for is nobody's doing; the first word counts. */
static void
deeds(void)
{
	uint32_t i;

	for (i = 0; i < MANY; i++)
		does(request + 1 + i, DBG_DEED_raw);
	does(request, DBG_DEED_pause);
	does(request, DBG_DEED_raw);
	send_u32s(MSG_DBG_LEFT, 0, NULL);
	reply("{\"mode\":\"done\"}");
}

static void
bad_deed(void)
{
	does(request, DBG_DEED_COUNT);
}

static void
no_deed(void)
{
	does(request, DBG_DEED_NONE);
}

/* "claims PID", or more of them than any program has. */
static void
claims(const char *text)
{
	uint32_t v[] = { DBG_RUNNING, (uint32_t)strtoul(text, NULL, 10), 0, 0,
	    0 };

	send_u32s(MSG_DBG_STATE, 5, v);
	reply("{\"mode\":\"done\"}");
}

static void
pids(void)
{
	uint32_t v[] = { DBG_RUNNING, 1, 0, 0, 0 };

	for (; v[1] < 20; v[1]++)
		send_u32s(MSG_DBG_STATE, 5, v);
	reply("{\"mode\":\"done\"}");
}

/* It says all that it has to, and has gone before any of it is read. */
static void
last_words(void)
{
	uint32_t v[] = { DBG_RUNNING, 1, 0, 0, 0 };

	for (; v[1] < 20; v[1]++) {
		send_u32s(MSG_DBG_STATE, 5, v);
		reply_to(request, conn, DBG_MORE, v[1] == 1 ? "{" : " ", 1);
	}
	reply("\"mode\":\"done\"}");
	_exit(0);
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
	reply_to(old_request, old_conn, DBG_MORE, "{\"a\":", 5);
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

/* Hex digits up to the next sign.  Those that do not fit are passed over. */
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

static const struct {
	const char	*word;
	void		(*fn)(void);
} modes[] = {
	{ "never-asked", never_asked }, { "another-conn", another_conn },
	{ "twice", twice }, { "huge", huge }, { "endless", endless },
	{ "garbage", garbage }, { "control", control },
	{ "open-end", open_end }, { "bad-flags", bad_flags },
	{ "bad-phase", bad_phase }, { "bad-state", bad_state },
	{ "short-state", short_state }, { "others-words", others_words },
	{ "launchers-words", launchers_words }, { "principal", principal },
	{ "unknown", unknown }, { "an-fd", an_fd }, { "states", states },
	{ "logs", logs }, { "drains", drains },
	{ "deaf-drains", deaf_drains }, { "empty-pieces", empty_pieces },
	{ "runs", runs },
	{ "host-run", host_run }, { "beside-run", beside_run },
	{ "bad-run", bad_run },
	{ "bad-run-flags", bad_run_flags }, { "byes", byes },
	{ "kills", kills }, { "dies", dies }, { "aborts", aborts },
	{ "executes", executes }, { "writes", writes }, { "silent", silent },
	{ "late", late },
	{ "pids", pids }, { "last-words", last_words },
	{ "deeds", deeds }, { "bad-deed", bad_deed }, { "no-deed", no_deed },
};

int	debugger_on_request(struct msg *);

int
debugger_on_request(struct msg *m)
{
	const char *json, *p;
	char word[64];
	size_t i, len;

	(void)msg_get_u32(m);
	(void)msg_get_u32(m);
	json = msg_get_rest(m, &len);
	request = m->hdr.request;
	conn = m->hdr.conn;
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		(void)snprintf(word, sizeof(word), "\"%s\"", modes[i].word);
		if (memmem(json, len, word, strlen(word)) == NULL)
			continue;
		modes[i].fn();
		return 0;
	}
	p = memmem(json, len, "\"claims ", 8);
	if (p != NULL)
		claims(p + 8);
	else if ((p = memmem(json, len, "\"raw ", 5)) != NULL)
		raw(p + 5);
	else
		reply("{\"mode\":\"good\"}");
	return 0;
}

#define IGNORE(handler)							\
	int handler(struct msg *);					\
	int handler(struct msg *m) { size_t n; (void)msg_get_rest(m, &n); return 0; }
IGNORE(debugger_on_hello)
IGNORE(debugger_on_ring)
IGNORE(debugger_on_gone)
IGNORE(debugger_on_fd)
IGNORE(debugger_on_ran)
IGNORE(debugger_on_run_failed)
IGNORE(debugger_on_ended)
IGNORE(debugger_on_drained)
IGNORE(debugger_on_doorbell)

int
main(void)
{
	struct sigaction sa = { .sa_handler = SIG_IGN };

	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	(void)prctl(PR_SET_NAME, "debugger", 0, 0, 0);
	(void)sigaction(SIGPIPE, &sa, NULL);
	if (loop_init() == -1)
		return 1;
	chan_init(&chan, ROLE_DEBUGGER, ROLE_SPAWNER, gone, NULL);
	if (chan_open(&chan, 3, 0) == -1 ||
	    filter_load(&debugger_filter) == -1)
		return 1;
	(void)loop_run();
	return 0;
}
