/* SPDX-License-Identifier: ISC */
/* A client of a terminal; see the header. */
#include <sys/socket.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "netproc/conn/answer.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/replica.h"
#include "netproc/text/replies.h"
#include "termclient.h"
#include "termio.h"
#include "ws.h"

/* Unsent bytes in the kernel: a ^C does not wait behind more than these. */
#define LOWAT		(128 * 1024)
/* Time to answer what was asked by bytes that are replayed. */
#define QUIET_MS	1000
/* A place to go on after a loss is looked for in so many bytes. */
#define CUT_MAX		4096
/* Answers that wait for a client that types and does not read. */
#define UNSENT_MAX	((size_t)256 * 1024)
/* A WebSocket is asked for a sign of life, and ends without one. */
#define PING_MS		25000
#define SILENT_MS	75000

static const struct conn_mode	mode_term;

/* -- where it is ---------------------------------------------------------- */

/* The ring of the run that it watches; NULL when that has gone. */
static const struct ring *
ring_of(const struct term_client *cl)
{
	const struct rsession *s = cl->conn->watched;

	return s != NULL && cl->run != 0 && s->ring_run == cl->run ?
	    replica_ring(s) : NULL;
}

static void
replay_from(struct term_client *cl, uint64_t cursor, uint64_t total)
{
	cl->phase = TERM_REPLAYING;
	cl->flow.cursor = cursor;
	cl->live_at = total;
	cl->replayed = false;
	/* what came before is shown, or never will be */
	if (cl->acked < cursor)
		cl->acked = cursor;
}

/* After a newline if there is one near: not within a sequence, most likely. */
static uint64_t
cut(const struct ring *r, uint64_t offset)
{
	static char bytes[CUT_MAX];
	size_t n = ring_read(r, &offset, bytes, sizeof(bytes));
	const char *nl = memchr(bytes, '\n', n);

	return nl == NULL ? offset : offset + (size_t)(nl - bytes) + 1;
}

/*
 * The spawner's place, unless the writer is about to overtake that place: a
 * client that is too slow is given time by half a ring.
 */
static uint64_t
replay_place(const struct term_client *cl, const struct ring *r,
    uint64_t mark, uint64_t total)
{
	uint64_t half = total > r->size / 2 ? total - r->size / 2 : 0;

	if (cl->flow.lagging || mark > total || total - mark > r->size)
		return mark > half && mark <= total ? mark : cut(r, half);
	return mark;
}

static void
marked(struct term_client *cl, uint64_t mark)
{
	const struct ring *r = ring_of(cl);
	uint64_t total, place;

	cl->mark_request = 0;
	if (r == NULL)
		return;
	total = ring_total(r);
	place = replay_place(cl, r, mark, total);
	if (cl->lost && place > cl->lost_from)
		termio_lost(cl, cl->lost_from, place);
	cl->lost = false;
	replay_from(cl, place, total);
}

static struct term_client **
term_state(const struct conn *c)
{
	return conn_state(c, struct term_client *);
}

static void
term_marked(struct conn *c, uint64_t request, const struct tty_mark *m)
{
	struct term_client *cl = *term_state(c);

	if (cl->mark_request != request)
		return;
	free(cl->preamble);
	cl->preamble = malloc(m->len + 1);
	cl->npreamble = cl->preamble == NULL ? 0 : m->len;
	if (cl->preamble != NULL)
		memcpy(cl->preamble, m->preamble, m->len);
	marked(cl, m->offset);
}

/* Nothing may be overwritten until it is known where the replay begins. */
static void
ask_mark(struct term_client *cl, uint64_t total)
{
	struct conn *c = cl->conn;
	struct msg_out *o;

	cl->phase = TERM_MARKING;
	cl->flow.cursor = total > FLOW_WINDOW ? total - FLOW_WINDOW : 0;
	term_pace(cl->term, total, ring_of(cl)->size);
	o = ask_new(c, MSG_TTY_MARK, &c->watched->sid);
	if (chan_send(&spawner_chan, o, -1) == 0)
		cl->mark_request = ask_last();
}

/* It has lost what was overwritten: it begins anew where that can be done. */
static void
begin_anew(struct term_client *cl, uint64_t total)
{
	cl->lost = true;
	cl->lost_from = cl->flow.cursor;
	ask_mark(cl, total);
}

/* The first look at the run that it watches. */
static void
begin(struct term_client *cl, const struct ring *r)
{
	uint64_t total = ring_total(r), now = loop_now_ms() * 1000;
	uint64_t from = cl->lost_from;
	bool resume = cl->lost && from <= total;

	term_flow_join(&cl->flow, now);
	cl->lost = false;
	cl->flow.cursor = from;
	if (resume && total - from <= r->size)
		replay_from(cl, from, total);
	else if (resume)
		begin_anew(cl, total);
	else
		ask_mark(cl, total);
}

/* -- what it is told ------------------------------------------------------ */

/* All that has been said is sent, and then it is over. */
static void
end(struct term_client *cl, enum ws_code code, const char *why)
{
	struct conn *c = cl->conn;

	cl->ending = true;
	if (c->ws != NULL)
		ws_close(c->ws, code, why);
}

static void
fail(struct term_client *cl, uint32_t err, const char *why, enum ws_code code)
{
	if (cl->ending)
		return;
	termio_error(cl, err, why);
	end(cl, code, why);
}

void
client_broken(struct term_client *cl, enum ws_code code, const char *why)
{
	fail(cl, ERR_INVALID_ARGUMENT, why, code);
}

static void
tell_news(struct term_client *cl)
{
	const struct session_view *v = &cl->conn->watched->view;

	if (v->cols != 0 && (v->cols != cl->told_cols ||
	    v->rows != cl->told_rows)) {
		cl->told_cols = v->cols;
		cl->told_rows = v->rows;
		termio_size(cl, v->cols, v->rows);
	}
	if (cl->told_people != term_people(cl)) {
		cl->told_people = term_people(cl);
		termio_people(cl);
	}
}

static void
tell_live(struct term_client *cl)
{
	cl->phase = TERM_WATCHING;
	/* a preamble alone sets the modes, too */
	if (cl->preamble != NULL)
		termio_history(cl, cl->flow.cursor, NULL, 0);
	termio_live(cl, cl->flow.cursor);
	cl->quiet_end_ms = loop_now_ms() + QUIET_MS;
}

/* As much as it may be sent, at most; it may have more than it showed. */
static size_t
allowance(const struct term_client *cl)
{
	uint64_t ahead = cl->flow.cursor - cl->acked;

	/* its acks may be behind input that nobody takes */
	if (!cl->acks || !term_has_room(cl))
		return TERMIO_PIECE;
	if (cl->flow.cursor < cl->acked)
		return TERMIO_PIECE;
	if (ahead >= TERM_ACK_WINDOW)
		return 0;
	return TERM_ACK_WINDOW - ahead < TERMIO_PIECE ?
	    (size_t)(TERM_ACK_WINDOW - ahead) : TERMIO_PIECE;
}

/* Sends a piece of output; false when nothing can be sent yet. */
static bool
tell_piece(struct term_client *cl, const struct ring *r)
{
	static char bytes[TERMIO_PIECE];
	uint64_t offset = cl->flow.cursor;
	size_t n = allowance(cl);

	if (cl->phase == TERM_REPLAYING && cl->live_at - offset < n)
		n = (size_t)(cl->live_at - offset);
	n = ring_read(r, &offset, bytes, n);
	if (offset != cl->flow.cursor) {
		begin_anew(cl, ring_total(r));
		return false;
	}
	if (n == 0)
		return false;
	if (cl->phase == TERM_REPLAYING) {
		cl->replayed = true;
		termio_history(cl, offset, bytes, n);
	} else
		termio_output(cl, offset, bytes, n);
	cl->flow.cursor += n;
	return true;
}

/* -- steps ---------------------------------------------------------------- */

/* Notes which run is watched, and how it ended: the next may come soon. */
static void
term_changed(struct conn *c)
{
	struct term_client *cl = *term_state(c);
	const struct rsession *s = c->watched;

	if (s == NULL || cl->ended || s->view.state == STATE_LOADED)
		return;
	if (cl->run == 0)
		cl->run = s->view.run;
	if (s->view.state != STATE_STOPPED && s->view.run == cl->run)
		return;
	cl->ended = true;
	if (s->view.run == cl->run) {
		cl->has_exit_code = s->view.has_exit_code;
		cl->exit_code = s->view.exit_code;
		cl->signal = s->view.signal;
	}
}

static bool
finish(struct conn *c)
{
	conn_finish(c);
	return true;
}

/* The run is over, and all of it has been sent. */
static bool
tell_end(struct term_client *cl)
{
	termio_exit(cl);
	end(cl, WS_NORMAL, "the program has ended");
	return finish(cl->conn);
}

static bool
follow(struct term_client *cl, const struct ring *r)
{
	uint64_t total = ring_total(r);
	bool more = false;

	if (cl->phase == TERM_WAITING)
		begin(cl, r);
	if (cl->phase == TERM_MARKING)
		return false;
	if (cl->phase == TERM_REPLAYING && cl->flow.cursor >= cl->live_at)
		tell_live(cl);
	if (cl->flow.cursor < total)
		more = tell_piece(cl, r);
	else if (cl->ended)
		return tell_end(cl);
	else
		replica_arm(cl->conn->watched, total);
	if (cl->phase != TERM_MARKING)
		term_pace(cl->term, ring_total(r), r->size);
	return more;
}

/* Also while it does not read: what it types may be the way to stop that. */
static void
term_input(struct conn *c)
{
	struct term_client *cl = *term_state(c);

	if (!cl->ending && c->watched != NULL && term_has_room(cl) &&
	    conn_unsent(c) < UNSENT_MAX)
		termio_read(cl);
	if (c->ws != NULL && !ws_is_open(c->ws))
		cl->ending = true;
}

static bool
term_step(struct conn *c)
{
	struct term_client *cl = *term_state(c);
	const struct ring *r;

	term_input(c);
	if (c->watched == NULL)
		fail(cl, ERR_NOT_FOUND, "the session was deleted, or is not "
		    "shared with you any more", WS_GOING_AWAY);
	if (cl->ending)
		return finish(c);
	term_changed(c);
	tell_news(cl);
	r = ring_of(cl);
	if (r != NULL)
		return follow(cl, r);
	/* its ring is another run's already */
	return cl->ended ? tell_end(cl) : false;
}

static void
term_expired(struct conn *c)
{
	struct term_client *cl = *term_state(c);
	uint64_t now = loop_now_ms();

	if (now - cl->heard_ms >= SILENT_MS)
		c->dead = true;
	else
		ws_ping(c->ws);
	c->due_ms = now + PING_MS;
}

static void
term_lost(struct conn *c)
{
	fail(*term_state(c), ERR_TRY_AGAIN, "a part of the daemon is being "
	    "restarted; attach again", WS_GOING_AWAY);
}

static void
term_end(struct conn *c)
{
	struct term_client *cl = *term_state(c);

	term_leave(cl);
	free(cl->preamble);
	free(cl);
}

static void
term_answered(struct conn *c, uint64_t request, uint32_t err,
    const char *message)
{
	struct term_client *cl = *term_state(c);

	/* there is no such place to be had: any will do */
	if (request == cl->mark_request)
		marked(cl, 0);
	else if (request == cl->request)
		term_result(cl, err, message);
	term_input(c);
}

static const struct conn_mode mode_term = {
	.name = "term",
	.clock = CLOCK_NONE,
	.step = term_step,
	.input = term_input,
	.ends_at_eof = true,
	.expired = term_expired,
	.changed = term_changed,
	.lost = term_lost,
	.answered = term_answered,
	.marked = term_marked,
	.leave = term_end,
};

struct term_client *
termclient_of(const struct conn *c)
{
	return c->mode == &mode_term ? *term_state(c) : NULL;
}

/* -- what it says --------------------------------------------------------- */

/* It has not shown yet what was replayed, or not had the time to. */
static bool
is_quiet(const struct term_client *cl)
{
	if (cl->phase != TERM_WATCHING)
		return true;
	return cl->replayed && (cl->acks ? cl->acked < cl->live_at :
	    loop_now_ms() < cl->quiet_end_ms);
}

static void
typed(struct term_client *cl, const char *p, size_t n)
{
	static char kept[WS_MESSAGE_MAX];

	if (!term_writes(cl)) {
		if (!cl->told_read_only)
			termio_error(cl, ERR_READ_ONLY, err_text(ERR_READ_ONLY));
		cl->told_read_only = true;
		return;
	}
	if (is_quiet(cl) || !term_controls(cl)) {
		n = replies_strip(p, n, kept);
		p = kept;
	}
	if (n == 0)
		return;
	term_active(cl);
	term_typed(cl, p, n);
	explicit_bzero(kept, sizeof(kept));
}

void
client_heard(struct term_client *cl, const struct term_msg *m)
{
	switch (m->type) {
	case TERM_INPUT:
		typed(cl, m->p, m->len);
		break;
	case TERM_RESIZE:
		term_sized(cl, m->cols, m->rows);
		break;
	case TERM_ACK:
		cl->acks = true;
		if (m->offset > cl->acked)
			cl->acked = m->offset;
		break;
	default:
		/* it has been let in already */
		termmsg_wipe();
		break;
	}
}

/* -- the beginning -------------------------------------------------------- */

/* A flood must not fill the kernel's buffers before a ^C gets through. */
static void
set_socket(int fd)
{
	static const int on = 1, idle = 30, interval = 15, lowat = LOWAT;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &lowat,
	    sizeof(lowat));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval,
	    sizeof(interval));
}

bool
termclient_enter(struct conn *c, struct rsession *s,
    const struct term_ask *ask)
{
	struct term_client *cl = calloc(1, sizeof(*cl));

	if (cl == NULL)
		return false;
	conn_enter(c, &mode_term);
	conn_watch(c, s);
	*term_state(c) = cl;
	cl->conn = c;
	cl->ask = *ask;
	/* begin() looks at these */
	cl->lost = ask->resume;
	cl->lost_from = ask->from;
	cl->heard_ms = loop_now_ms();
	if (cl->ask.form != TERM_FRAMED)
		c->due_ms = cl->heard_ms + PING_MS;
	set_socket(c->fd);
	if (term_join(cl, s) == NULL)
		fail(cl, ERR_INTERNAL, "out of memory", WS_INTERNAL);
	else if (ask->cols != 0 && ask->rows != 0)
		term_sized(cl, ask->cols, ask->rows);
	return true;
}
