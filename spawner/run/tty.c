/* SPDX-License-Identifier: ISC */
/*
 * Terminals.  Output is read in small pieces, so that an echo does not wait
 * behind another session's flood.  Input and sizes take effect in the order
 * in which they came, and none is dropped.
 */
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/log.h"
#include "expiry.h"
#include "output.h"
#include "output_flow.h"
#include "spawner/link/peers.h"
#include "spawner/session/push.h"
#include "stop.h"
#include "tty.h"
#include "ttymark.h"
#include "wire/handlers.h"

/* Per turn of the loop: two reads of what a terminal gives at once. */
#define READS		2
#define READ_MAX	((size_t)8192)
/* More than the kernel holds of one; it may have another's writer still. */
#define REST_MAX	((size_t)1024 * 1024)
/* Bytes of input that the program does not take; more must be sent again. */
#define HELD_MAX	((size_t)64 * 1024)
#define NO_TERMINAL	"the session has no terminal; start it with --tty"
/* For the children of a program that has ended, to say their last. */
#define LEAVE_MS	2000

/* Input that waits to be written, or a size that comes after it. */
struct item {
	STAILQ_ENTRY(item) next;
	struct asker	 asker;
	uint32_t	 cols, rows;	/* 0 = input */
	size_t		 len, done;
	char		 bytes[];
};

struct tty {
	LIST_ENTRY(tty)	 all;
	struct session	*session;
	STAILQ_HEAD(, item) items;
	size_t		 held;		/* bytes of all items */
	uint32_t	 cols, rows;	/* of RESIZE before it began, 0 = none */
	bool		 closed;	/* nobody has it open just now */
	struct loop_timer leave_timer;
	struct ttymarks	 marks;
};

static LIST_HEAD(, tty)	ttys = LIST_HEAD_INITIALIZER(ttys);

uint32_t
tty_clamp(uint32_t n, uint32_t usual)
{
	if (n == 0)
		return usual;
	return n < TTY_SIZE_MAX ? n : TTY_SIZE_MAX;
}

struct tty *
tty_new(struct session *s)
{
	struct tty *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->session = s;
	STAILQ_INIT(&t->items);
	ttymarks_init(&t->marks, s->start.cols, s->start.rows);
	LIST_INSERT_HEAD(&ttys, t, all);
	return t;
}

/* Tells clients that wait for their input to be taken why it was not. */
static void
refuse_items(struct tty *t, enum err code, const char *text)
{
	struct item *i;

	while ((i = STAILQ_FIRST(&t->items)) != NULL) {
		STAILQ_REMOVE_HEAD(&t->items, next);
		answer(&i->asker, &t->session->id, code, "%s", text);
		explicit_bzero(i->bytes, i->len);
		free(i);
	}
	t->held = 0;
}

void
tty_free(struct tty *t)
{
	if (t == NULL)
		return;
	refuse_items(t, ERR_NOT_RUNNING, "");
	loop_timer_unset(&t->leave_timer);
	LIST_REMOVE(t, all);
	free(t);
}

/* -- what is waited for --------------------------------------------------- */

/*
 * A terminal that everybody has closed says so for ever, and one that is not
 * read still does: what cannot be acted upon is told once, when it changes.
 */
static void
settle(struct tty *t)
{
	struct loop_io *io = &t->session->out.io;
	bool paused = t->session->flow.paused;
	uint32_t events = 0;

	if (!paused)
		events |= EPOLLIN;
	if (!STAILQ_EMPTY(&t->items))
		events |= EPOLLOUT;
	if (t->closed || paused)
		events |= (uint32_t)EPOLLET;
	(void)loop_mod(io, events);
}

/* -- output --------------------------------------------------------------- */

/* Reads one piece; false when there is none now. */
static bool
read_piece(struct tty *t, size_t max)
{
	ssize_t n = output_read(&t->session->out, max);

	if (n > 0) {
		t->closed = false;
		ttymarks_feed(&t->marks, &t->session->ring, (size_t)n);
		return true;
	}
	/* not the end: a name of it may be opened again */
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		t->closed = true;
	return false;
}

static void
read_some(struct tty *t)
{
	size_t max;
	int i;

	for (i = 0; i < READS; i++) {
		max = flow_allowance(t->session, READ_MAX);
		if (max == 0 || !read_piece(t, max))
			break;
	}
	output_ring(t->session);
}

void
tty_resume(struct session *s)
{
	settle(s->tty);
}

void
tty_finish(struct session *s)
{
	struct tty *t = s->tty;
	size_t left = REST_MAX;
	uint64_t before;

	loop_timer_unset(&t->leave_timer);
	while (s->out.io.fd != -1 && left > 0) {
		before = ring_total(&s->ring);
		if (!read_piece(t, READ_MAX) && errno != EINTR)
			break;
		left -= (size_t)(ring_total(&s->ring) - before);
	}
	output_close(&s->out);
	refuse_items(t, ERR_NOT_RUNNING, "");
}

/* -- input and sizes ------------------------------------------------------ */

static void
set_size(struct session *s, uint32_t cols, uint32_t rows)
{
	struct winsize ws = { .ws_col = (unsigned short)cols,
	    .ws_row = (unsigned short)rows };

	if (cols == s->view.cols && rows == s->view.rows)
		return;
	if (s->out.io.fd != -1 && ioctl(s->out.io.fd, TIOCSWINSZ, &ws) == -1)
		log_warn("size of the terminal of session %s", s->text);
	s->view.cols = cols;
	s->view.rows = rows;
	if (s->tty != NULL)
		ttymarks_resized(&s->tty->marks, cols, rows);
	push_session(s);
}

/* How much was taken; -1 when nobody is there to take it. */
static ssize_t
put(struct session *s, const char *p, size_t len)
{
	ssize_t n;

	do {
		n = write(s->out.io.fd, p, len);
	} while (n == -1 && errno == EINTR);
	return n == -1 && errno == EAGAIN ? 0 : n;
}

static void
item_done(struct tty *t, struct item *i)
{
	STAILQ_REMOVE_HEAD(&t->items, next);
	t->held -= i->len;
	answer(&i->asker, &t->session->id, ERR_OK, NULL);
	explicit_bzero(i->bytes, i->len);
	free(i);
}

static void
write_items(struct tty *t)
{
	struct item *i;
	ssize_t n;

	while ((i = STAILQ_FIRST(&t->items)) != NULL) {
		if (i->cols != 0)
			set_size(t->session, i->cols, i->rows);
		while (i->done < i->len) {
			n = put(t->session, i->bytes + i->done,
			    i->len - i->done);
			if (n == 0)
				return;
			if (n == -1) {
				refuse_items(t, ERR_UPLOAD_WRITE, "no program "
				    "has the terminal open any more");
				return;
			}
			i->done += (size_t)n;
		}
		item_done(t, i);
	}
}

static bool
waits_already(const struct tty *t, uint32_t conn)
{
	const struct item *i;

	STAILQ_FOREACH(i, &t->items, next)
		if (i->asker.conn == conn)
			return true;
	return false;
}

/* Behind what is there already; it is answered when it has been done. */
static void
add_item(struct tty *t, struct asker *a, const char *bytes, size_t len,
    uint32_t cols, uint32_t rows)
{
	struct sid id = t->session->id;
	struct item *i;

	expiry_touch(t->session);
	if (t->held >= HELD_MAX || waits_already(t, a->conn)) {
		answer(a, &id, ERR_BUSY, "the program does not take its input "
		    "just now; try again");
		return;
	}
	i = malloc(sizeof(*i) + len);
	if (i == NULL) {
		answer(a, &id, ERR_INTERNAL, "out of memory");
		return;
	}
	i->asker = *a;
	i->cols = cols;
	i->rows = rows;
	i->len = len;
	i->done = 0;
	memcpy(i->bytes, bytes, len);
	t->held += len;
	STAILQ_INSERT_TAIL(&t->items, i, next);
	if (STAILQ_FIRST(&t->items) == i)
		write_items(t);
	settle(t);
}

/* It has at most one for each; what has been written of it stays. */
static void
drop_item(struct tty *t, uint32_t conn)
{
	struct item *i;

	STAILQ_FOREACH(i, &t->items, next)
		if (i->asker.conn == conn)
			break;
	if (i == NULL)
		return;
	STAILQ_REMOVE(&t->items, i, item, next);
	t->held -= i->len;
	explicit_bzero(i->bytes, i->len);
	free(i);
	write_items(t);
	settle(t);
}

void
tty_drop_input(uint32_t conn)
{
	struct tty *t;

	LIST_FOREACH(t, &ttys, all)
		if (t->session->out.io.fd != -1)
			drop_item(t, conn);
}

/* Tells who asked when there is no terminal to type on. */
static bool
has_terminal(struct session *s, struct asker *a)
{
	if (s->tty == NULL)
		answer(a, &s->id, ERR_INVALID_ARGUMENT, NO_TERMINAL);
	else if (s->out.io.fd == -1)
		answer(a, &s->id, ERR_NOT_RUNNING, NULL);
	else
		return true;
	return false;
}

int
spawn_on_tty_input(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	size_t len;
	const char *bytes = msg_get_rest(m, &len);
	struct asker a;

	/* what is typed is nobody's business but the program's */
	if (msg_end(m) == -1 || !asker_init(&a, m, NULL))
		return -1;
	if (has_terminal(s, &a))
		add_item(s->tty, &a, bytes, len, 0, 0);
	return 0;
}

void
tty_end_input(struct session *s, struct asker *a)
{
	static const char end[] = { CEOF };

	if (has_terminal(s, a))
		add_item(s->tty, a, end, sizeof(end), 0, 0);
}

int
spawn_on_resize(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	uint32_t cols = msg_get_u32(m), rows = msg_get_u32(m);
	struct asker a;

	if (msg_end(m) == -1 || !asker_init(&a, m, NULL))
		return -1;
	if (s->start.tty != NULL) {
		/* the terminal is being made, of the size that it was */
		s->start.tty->cols = tty_clamp(cols, s->start.cols);
		s->start.tty->rows = tty_clamp(rows, s->start.rows);
		answer(&a, &s->id, ERR_OK, NULL);
		return 0;
	}
	if (!s->view.tty) {
		answer(&a, &s->id, ERR_INVALID_ARGUMENT, NO_TERMINAL);
		return 0;
	}
	cols = tty_clamp(cols, s->view.cols);
	rows = tty_clamp(rows, s->view.rows);
	if (s->tty != NULL && s->out.io.fd != -1) {
		add_item(s->tty, &a, "", 0, cols, rows);
		return 0;
	}
	/* of the run to come */
	set_size(s, cols, rows);
	answer(&a, &s->id, ERR_OK, NULL);
	return 0;
}

/* -- where it can be shown from ------------------------------------------- */

static void
tell_mark(struct asker *a, const struct session *s)
{
	char text[TTYMODES_PREAMBLE + 16];
	struct ttymark mark;
	struct ttymodes usual;
	struct msg_out *o;
	const char *string = "";
	size_t len;

	if (s->tty != NULL)
		mark = ttymarks_oldest(&s->tty->marks, &s->ring, &string);
	else {
		ttymodes_init(&usual);
		mark = (struct ttymark){ 0, (uint16_t)s->view.cols,
		    (uint16_t)s->view.rows, usual.now };
	}
	len = ttymodes_preamble(&mark.state, mark.rows, text);
	memcpy(text + len, string, strlen(string));
	o = answer_new(a, MSG_TTY_MARKED, &s->id);
	msg_put_u64(o, mark.offset);
	msg_put_u32(o, mark.cols);
	msg_put_u32(o, mark.rows);
	msg_put_blob(o, text, len + strlen(string));
	(void)answer_with(a, o, -1);
}

int
spawn_on_tty_mark(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	struct asker a;

	if (msg_end(m) == -1 || !asker_init(&a, m, NULL))
		return -1;
	if (s == NULL || !session_is_shown(s) ||
	    access_of(a.viewer, s) == ACCESS_NONE)
		answer(&a, &m->hdr.session, ERR_NOT_FOUND, NULL);
	else if (!s->view.tty)
		answer(&a, &s->id, ERR_INVALID_ARGUMENT, NO_TERMINAL);
	else {
		/* to attach is to use it */
		expiry_touch(s);
		tell_mark(&a, s);
	}
	return 0;
}

/* -- a run of it ---------------------------------------------------------- */

static void
on_tty(uint32_t events, void *arg)
{
	struct tty *t = arg;

	if (events & EPOLLOUT)
		write_items(t);
	if (!t->session->flow.paused)
		read_some(t);
	settle(t);
}

int
tty_watch(struct session *s, int fd)
{
	s->out.number = 0;
	s->out.io = (struct loop_io)LOOP_IO_INIT;
	if (loop_add(&s->out.io, fd, EPOLLIN, on_tty, s->start.tty) == 0)
		return 0;
	log_warn("terminal of session %s", s->text);
	fd_close(&fd);
	return -1;
}

void
tty_started(struct session *s)
{
	if (s->tty->cols != 0)
		set_size(s, s->tty->cols, s->tty->rows);
}

/* Processes that stayed behind are forgotten: no user would look for them. */
static void
on_leave(void *arg)
{
	struct tty *t = arg;

	stop_hang_up(t->session);
}

void
tty_leader_ended(struct session *s)
{
	loop_timer_set(&s->tty->leave_timer, LEAVE_MS, on_leave, s->tty);
}
