/* SPDX-License-Identifier: ISC */
/*
 * Connections: buffers, turns, time-outs.
 *
 * While a connection has its turn, its buffers are static ones shared by
 * all; only what is left over at the end of the turn is kept in memory of
 * its own.  So an idle connection has no buffer, and a plain question and
 * answer costs one recv(), one send() and no allocation.
 */
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "answer.h"
#include "ask.h"
#include "base/log.h"
#include "conn.h"
#include "identity.h"
#include "linger.h"
#include "netproc/text/line.h"
#include "replica.h"
#include "wire/accept.h"
#include "wire/role.h"
#include "wire/settings.h"

#define HASH		1024		/* chains; a power of two */
#define SCRATCH		(128 * 1024)
#define BULK		(256 * 1024)
/* Limits of one turn: steps, and bytes in and out. */
#define STEPS_MAX	64
#define COST_MAX	(128 * 1024)
#define BULK_COST_MAX	(1024 * 1024)
#define LINGER_MS	2000
#define OUT_MAX		((size_t)64 << 20)

struct conn_list	 conns = TAILQ_HEAD_INITIALIZER(conns);
size_t			 conn_count;

static LIST_HEAD(, conn) table[HASH];
static uint32_t		 last_number;
static char		 input[LINE_BUFFER], scratch[SCRATCH], bulk[BULK];
static bool		 input_used, scratch_used;
static const struct conn_reader *reader;
static void		(*ends[CONN_ENDS])(struct conn *);
static size_t		 nends;

static void	on_io(uint32_t, void *);
static void	arm(struct conn *);

void
conn_init(void)
{
	/* guessing another netproc's numbers must not hit one of ours */
	if (getrandom(&last_number, sizeof(last_number), 0) !=
	    sizeof(last_number))
		fatal("getrandom");
}

void
conn_read_by(const struct conn_reader *r)
{
	reader = r;
}

void
conn_at_end(void (*fn)(struct conn *))
{
	if (nends == CONN_ENDS)
		fatalx("conn_at_end");
	ends[nends++] = fn;
}

uint32_t
conn_number(void)
{
	if (++last_number == 0)
		last_number = 1;
	return last_number;
}

struct conn *
conn_find(uint32_t number)
{
	struct conn *c;

	LIST_FOREACH(c, &table[number % HASH], hash)
		if (c->number == number)
			return c;
	return NULL;
}

static void
tell_parent(void)
{
	struct msg_out *o = msg_new(MSG_CLIENTS, NULL, 0, 0);

	msg_put_u32(o, (uint32_t)conn_count);
	(void)chan_send(&parent_chan, o, -1);
}

static struct conn *
begin(struct conn *c, int fd, uint32_t listener_flags)
{
	c->fd = fd;
	c->number = conn_number();
	c->listener_flags = listener_flags;
	c->mode = &mode_ident;
	c->begun_ms = c->active_ms = loop_now_ms();
	LIST_INSERT_HEAD(&table[c->number % HASH], c, hash);
	TAILQ_INSERT_TAIL(&conns, c, all);
	if (conn_count++ == 0)
		tell_parent();
	return c;
}

struct conn *
conn_new(int fd, uint32_t listener_flags)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (c == NULL || loop_add(&c->io, fd, EPOLLIN, on_io, c) == -1) {
		free(c);
		close(fd);
		return NULL;
	}
	return begin(c, fd, listener_flags);
}

struct conn *
conn_new_port(const struct conn_port *port, void *arg,
    uint32_t listener_flags)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->port = port;
	c->port_arg = arg;
	return begin(c, -1, listener_flags);
}

int
conn_socket(const struct conn *c)
{
	return c->port == NULL ? c->fd : c->port->socket(c);
}

static void
release_in(struct conn *c)
{
	if (c->in == input)
		input_used = false;
	else
		free(c->in);
	c->in = NULL;
	c->in_pos = c->in_len = c->in_cap = c->scanned = 0;
}

static void
release_out(struct conn *c)
{
	if (c->secret && c->out != NULL)
		explicit_bzero(c->out, c->out_len);
	if (c->out == scratch)
		scratch_used = false;
	else
		free(c->out);
	c->out = NULL;
	c->out_pos = c->out_len = c->out_cap = 0;
}

static void
destroy(struct conn *c)
{
	size_t i;

	if (c->mode->leave != NULL)
		c->mode->leave(c);
	conn_unwatch(c);
	loop_del(&c->io);
	loop_timer_unset(&c->timer);
	if (c->port != NULL)
		c->port->gone(c);
	if (c->fd != -1)
		close(c->fd);
	release_in(c);
	release_out(c);
	for (i = 0; i < nends; i++)
		ends[i](c);
	identity_forget(c);
	LIST_REMOVE(c, hash);
	TAILQ_REMOVE(&conns, c, all);
	free(c);
	if (--conn_count == 0)
		tell_parent();
	accept_resume();
}

void
conn_enter(struct conn *c, const struct conn_mode *mode)
{
	if (c->mode->leave != NULL)
		c->mode->leave(c);
	conn_unwatch(c);
	memset(c->mode_state, 0, sizeof(c->mode_state));
	c->mode = mode;
	c->due_ms = 0;
	c->stalled = false;
}

void
conn_finish(struct conn *c)
{
	conn_enter(c, &mode_linger);
}

void
conn_each(void (*f)(struct conn *, void *), void *arg)
{
	struct conn *c, *next;

	for (c = TAILQ_FIRST(&conns); c != NULL; c = next) {
		next = TAILQ_NEXT(c, all);
		f(c, arg);
	}
}

void
conn_watch(struct conn *c, struct rsession *s)
{
	conn_unwatch(c);
	c->watched = s;
	c->watching = true;
	TAILQ_INSERT_TAIL(&s->watchers, c, watch);
}

void
conn_unwatch(struct conn *c)
{
	if (c->watching && c->watched != NULL)
		TAILQ_REMOVE(&c->watched->watchers, c, watch);
	c->watched = NULL;
	c->watching = false;
}

/* -- input ---------------------------------------------------------------- */

/* Makes room behind what is there; false when the buffer is full. */
static bool
make_room(struct conn *c)
{
	size_t cap;
	char *p;

	if (c->in == NULL && !input_used) {
		c->in = input;
		c->in_cap = sizeof(input);
		input_used = true;
		return true;
	}
	if (c->in_pos > 0 && c->in_cap - c->in_len < c->in_cap / 2) {
		memmove(c->in, c->in + c->in_pos, c->in_len - c->in_pos);
		c->in_len -= c->in_pos;
		c->in_pos = 0;
	}
	if (c->in_cap - c->in_len >= c->in_cap / 4 + 1 ||
	    c->in_cap == LINE_BUFFER)
		return c->in_len < c->in_cap;
	cap = c->in_cap < 512 ? 1024 : c->in_cap * 2;
	if (cap > LINE_BUFFER)
		cap = LINE_BUFFER;
	p = malloc(cap);
	if (p == NULL)
		return c->in_len < c->in_cap;
	/* realloc() would leave the old bytes, maybe of a token, behind */
	memcpy(p, c->in, c->in_len);
	if (!c->spoke)
		explicit_bzero(c->in, c->in_len);
	free(c->in);
	c->in = p;
	c->in_cap = cap;
	return true;
}

static ssize_t
receive(struct conn *c, char *buf, size_t len)
{
	ssize_t n = c->port != NULL ? c->port->take(c, buf, len) :
	    recv(c->fd, buf, len, MSG_DONTWAIT);

	if (n > 0) {
		c->active_ms = loop_now_ms();
		return n;
	}
	if (n == 0)
		c->eof = true;
	else if (errno != EAGAIN && errno != EINTR)
		c->dead = true;
	return 0;
}

static void
fill(struct conn *c)
{
	if (c->eof || !make_room(c))
		return;
	c->in_len += (size_t)receive(c, c->in + c->in_len,
	    c->in_cap - c->in_len);
}

size_t
conn_unused(struct conn *c, const char **p)
{
	*p = c->in == NULL ? "" : c->in + c->in_pos;
	return c->in_len - c->in_pos;
}

void
conn_skip(struct conn *c, size_t n)
{
	c->in_pos += n;
	c->scanned = 0;
	c->cost += n;
}

void
conn_wipe(struct conn *c)
{
	if (c->in != NULL)
		explicit_bzero(c->in, c->in_pos);
}

void
conn_yield(struct conn *c)
{
	c->cost = BULK_COST_MAX;
}

size_t
conn_take(struct conn *c, size_t want, const char **p)
{
	size_t n = conn_unused(c, p);

	if (n > 0) {
		if (n > want)
			n = want;
		c->in_pos += n;
		c->scanned = 0;
	} else if (!c->eof && want > 0) {
		n = (size_t)receive(c, bulk, want < BULK ? want : BULK);
		*p = bulk;
	}
	c->cost += n;
	return n;
}

/* Keeps what is left in memory of its own, as small as it can be. */
static void
keep_input(struct conn *c)
{
	size_t left = c->in_len - c->in_pos;
	char *p;

	if (left == 0) {
		release_in(c);
		return;
	}
	if (c->in != input)
		return;
	p = malloc(left);
	if (p == NULL) {
		c->dead = true;
		return;
	}
	memcpy(p, input + c->in_pos, left);
	/* half of the first line may be half of a token */
	if (!c->spoke)
		explicit_bzero(input + c->in_pos, left);
	input_used = false;
	c->in = p;
	c->in_pos = 0;
	c->in_len = c->in_cap = left;
}

bool
conn_adopt(struct conn *c, int fd, const void *p, size_t n)
{
	c->fd = fd;
	if (loop_add(&c->io, fd, EPOLLIN, on_io, c) == -1)
		return false;
	if (n == 0)
		return true;
	c->in = malloc(n);
	if (c->in == NULL)
		return false;
	memcpy(c->in, p, n);
	c->in_len = c->in_cap = n;
	return true;
}

/* -- output --------------------------------------------------------------- */

size_t
conn_unsent(const struct conn *c)
{
	return c->out_len - c->out_pos;
}

/* Moves what is unsent into memory with room for more bytes. */
static bool
spill(struct conn *c, size_t more)
{
	size_t have = conn_unsent(c), cap = have + more;
	char *p;

	if (more > OUT_MAX || have > OUT_MAX)
		return false;
	/* the next answer will want room too */
	p = malloc(more == 0 ? have : cap + cap / 4);
	if (p == NULL)
		return false;
	if (have > 0)
		memcpy(p, c->out + c->out_pos, have);
	release_out(c);
	c->out = p;
	c->out_len = have;
	c->out_cap = more == 0 ? have : cap + cap / 4;
	return true;
}

void
conn_secret(struct conn *c)
{
	c->secret = true;
}

void
conn_write(struct conn *c, const void *p, size_t len)
{
	if (c->dead || len == 0)
		return;
	if (c->out == NULL && !scratch_used) {
		c->out = scratch;
		c->out_cap = SCRATCH;
		scratch_used = true;
	}
	if (len > c->out_cap - c->out_len && !spill(c, len)) {
		log_warnx("no memory for an answer; connection closed");
		c->dead = true;
		return;
	}
	memcpy(c->out + c->out_len, p, len);
	c->out_len += len;
	c->cost += len;
}

void
conn_flush(struct conn *c)
{
	ssize_t n;

	if (conn_unsent(c) == 0)
		return;
	if (c->port != NULL)
		n = c->port->give(c, c->out + c->out_pos, conn_unsent(c));
	else
		n = send(c->fd, c->out + c->out_pos, conn_unsent(c),
		    MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n == -1) {
		if (errno != EAGAIN && errno != EINTR)
			c->dead = true;
		return;
	}
	c->active_ms = loop_now_ms();
	c->out_pos += (size_t)n;
	if (c->out_pos == c->out_len) {
		release_out(c);
		c->secret = false;
	}
}

ssize_t
conn_send_file(struct conn *c, int file_fd, off_t *at, size_t n)
{
	ssize_t got, sent;

	if (c->port == NULL)
		return sendfile(c->fd, file_fd, at, n);
	got = pread(file_fd, bulk, n < BULK ? n : BULK, *at);
	if (got <= 0)
		return got;
	sent = c->port->give(c, bulk, (size_t)got);
	if (sent > 0)
		*at += sent;
	return sent;
}

/* -- turns ---------------------------------------------------------------- */

/* A reader that is slow is not given more to read. */
static bool
is_blocked(struct conn *c)
{
	size_t unsent = conn_unsent(c);

	if (unsent == 0 || (unsent <= CONN_PIECE && !c->mode->alone))
		return false;
	conn_flush(c);
	return conn_unsent(c) > 0;
}

static bool
step(struct conn *c)
{
	return !c->dead && c->mode->step != NULL && c->mode->step(c);
}

static bool
has_budget(const struct conn *c, unsigned int steps)
{
	return steps < STEPS_MAX &&
	    c->cost < (c->mode->bulk ? BULK_COST_MAX : COST_MAX);
}

/* Selects the events to wait for.  runnable: stopped only to let others run. */
static void
settle(struct conn *c, bool runnable)
{
	uint32_t want = 0;
	bool room = c->in_len - c->in_pos < LINE_BUFFER;

	if (c->mode->bulk)
		room = c->in == NULL;
	if (room && !c->eof && !c->stalled)
		want |= EPOLLIN;
	/* a socket that can be written to comes round on the next turn */
	if (conn_unsent(c) > 0 || runnable)
		want |= EPOLLOUT;
	if (c->port != NULL)
		c->port->want(c, want);
	else if (loop_mod(&c->io, want) == -1)
		c->dead = true;
	arm(c);
}

static bool
is_over(struct conn *c)
{
	return c->eof && c->port == NULL && c->mode->ends_at_eof && conn_unsent(c) == 0;
}

void
conn_run(struct conn *c)
{
	unsigned int steps;
	bool again = true;

	c->cost = 0;
	for (steps = 0; again && has_budget(c, steps); steps++) {
		if (is_blocked(c))
			break;
		again = step(c);
	}
	conn_flush(c);
	keep_input(c);
	if (c->out == scratch && !spill(c, 0))
		c->dead = true;
	if (c->dead || (!again && is_over(c))) {
		destroy(c);
		return;
	}
	settle(c, again);
	if (c->dead)
		destroy(c);
}

void
conn_feed(struct conn *c)
{
	if (!c->mode->bulk)
		fill(c);
	conn_run(c);
}

static void
on_io(uint32_t events, void *arg)
{
	struct conn *c = arg;

	/* both directions are shut, or the client has reset it */
	if (events & EPOLLERR ||
	    (events & EPOLLHUP && (!(events & EPOLLIN) || c->eof)))
		c->dead = true;
	else if (events & EPOLLIN && !c->mode->bulk) {
		fill(c);
		if (c->mode->input != NULL)
			c->mode->input(c);
	}
	conn_run(c);
}

/* -- time-outs ------------------------------------------------------------ */

/* Half a line is waited for less patiently than a line. */
static enum conn_clock
clock_of(const struct conn *c)
{
	if (c->stalled)
		return CLOCK_NONE;
	if (c->mode == &mode_line && c->in_len > c->in_pos &&
	    conn_unsent(c) == 0)
		return CLOCK_LINE;
	return c->mode->clock;
}

static uint64_t
deadline(const struct conn *c)
{
	enum conn_clock clock = clock_of(c);
	uint64_t s;

	if (c->due_ms != 0)
		return c->due_ms;
	/* its port knows better how long the client takes */
	if (c->port != NULL && !c->unauthenticated)
		return 0;
	/* a byte now and then must not keep a place without AUTH */
	if (c->unauthenticated && c->mode == &mode_line)
		return c->begun_ms + settings.line_timeout * 1000;
	if (clock == CLOCK_NONE)
		return 0;
	s = clock == CLOCK_LINE ? settings.line_timeout :
	    settings.idle_timeout;
	return s == 0 ? 0 : c->active_ms + s * 1000;
}

static void
on_timer(void *arg)
{
	struct conn *c = arg;
	uint64_t due = deadline(c);

	if (due == 0)
		return;
	if (due > loop_now_ms()) {
		arm(c);
		return;
	}
	if (c->due_ms != 0)
		c->mode->expired(c);
	else if (c->mode->clock == CLOCK_LINE) {
		answer_error(c, ERR_TIMED_OUT, NULL);
		conn_finish(c);
	} else
		/* an answer to no command would be taken for another's */
		c->dead = true;
	conn_run(c);
}

/*
 * A timer that is set too early looks again when it fires: a request costs
 * no work on timers.
 */
static void
arm(struct conn *c)
{
	uint64_t due = deadline(c), now = loop_now_ms();

	if (due == 0 || (c->timer.slot != 0 && c->timer.due_ms <= due))
		return;
	loop_timer_set(&c->timer, due > now ? due - now : 0, on_timer, c);
}

/* -- modes of every connection -------------------------------------------- */

static bool
line_refused(struct conn *c, enum line_status status)
{
	if (status == LINE_TOO_LONG) {
		answer_error(c, ERR_LINE_TOO_LONG, NULL);
		conn_finish(c);
		return true;
	}
	accept_log("a client spoke TLS to the control port; closed");
	c->dead = true;
	return false;
}

static bool
line_step(struct conn *c)
{
	enum line_status status;
	size_t len = 0, used = 0;
	const char *line;
	size_t have = conn_unused(c, &line);

	if (c->port != NULL)
		return c->port->next(c);
	if (have == 0)
		return false;
	reader->form(c, *line);
	if (!c->synced) {
		identity_start(c);
		return false;
	}
	status = line_find(line, have, &c->scanned, &len, &used);
	if (status == LINE_NONE)
		return false;
	if (status != LINE_READY)
		return line_refused(c, status);
	c->in_pos += used;
	reader->run(c, line, len);
	return true;
}

const struct conn_mode mode_line = {
	.name = "line",
	.clock = CLOCK_IDLE,
	.ends_at_eof = true,
	.step = line_step,
};

/*
 * Closing a socket with unread bytes would reset it and take the answer away
 * from the client, so these are read for a while.
 */
static bool
linger_step(struct conn *c)
{
	bool *is_shut = conn_state(c, bool);
	const char *p;

	/* a port's client has its answer, and how it ends is the port's */
	if (c->port != NULL) {
		c->dead = true;
		return false;
	}
	/* nor does it take a place that nobody counts: others wait for it */
	if (!c->counted) {
		linger_begin(c->fd);
		c->dead = true;
		return false;
	}
	if (!*is_shut) {
		if (shutdown(c->fd, SHUT_WR) == -1)
			c->dead = true;
		*is_shut = true;
		c->due_ms = loop_now_ms() + LINGER_MS;
	}
	return conn_take(c, BULK, &p) > 0;
}

static void
linger_expired(struct conn *c)
{
	c->dead = true;
}

const struct conn_mode mode_linger = {
	.name = "linger",
	.clock = CLOCK_IDLE,
	.bulk = true,
	.alone = true,
	.ends_at_eof = true,
	.step = linger_step,
	.expired = linger_expired,
};
