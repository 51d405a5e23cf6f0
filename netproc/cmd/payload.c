/* SPDX-License-Identifier: ISC */
/*
 * Payloads: into the room that the spawner made for an upload, into the pipe of
 * a program's input, or nowhere.  Even after an error the bytes of a payload
 * are never read as commands.
 */
#include <sys/epoll.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/replica.h"
#include "payload.h"
#include "terminal.h"
#include "wire/label.h"

/* A payload that nobody wants is read up to this size. */
#define DISCARD_MAX	((uint64_t)1 << 30)

/* -- payloads that were refused ------------------------------------------- */

static bool
discard_step(struct conn *c)
{
	const char *p;
	size_t n = conn_take(c, payload_state(c)->left < CONN_PIECE * 8 ?
	    (size_t)payload_state(c)->left : CONN_PIECE * 8, &p);

	payload_state(c)->left -= n;
	if (payload_state(c)->left == 0) {
		conn_enter(c, &mode_line);
		return true;
	}
	if (n == 0 && c->eof)
		c->dead = true;
	return n > 0;
}

static const struct conn_mode mode_discard = {
	.name = "discard",
	.clock = CLOCK_LINE,
	.bulk = true,
	.step = discard_step,
};

void
payload_refuse(struct conn *c, uint32_t err, const char *why, uint64_t left)
{
	const char *p;

	answer_error(c, err, why);
	/* where a payload ends its port knows, and reads on by itself */
	if (c->port != NULL) {
		conn_skip(c, conn_unused(c, &p));
		conn_enter(c, &mode_line);
		return;
	}
	if (left > DISCARD_MAX) {
		conn_finish(c);
		return;
	}
	conn_enter(c, left > 0 ? &mode_discard : &mode_line);
	payload_state(c)->left = left;
}

/* -- UPLOAD --------------------------------------------------------------- */

static void
upload_refused(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	payload_refuse(c, err, msg, a->size);
}

void
cmd_upload(struct conn *c, struct rsession *s, const struct words *ws)
{
	bool open = c->port != NULL && c->port->is_open(c);
	char file[EXEC_PATH_MAX];
	struct upload_request r;
	struct msg_out *o;

	(void)s;
	upload_parse(ws, &r);
	if (!r.known) {
		/* how many bytes will follow nobody knows */
		answer_error(c, r.err, r.why);
		conn_finish(c);
		return;
	}
	if (r.err != ERR_OK) {
		payload_refuse(c, r.err, r.why, r.size);
		return;
	}
	o = ask_new(c, open ? MSG_UPLOAD_OPEN : MSG_UPLOAD, NULL);
	msg_put_u64(o, r.size);
	msg_put_blob(o, r.path.p, r.path.len);
	label_file(r.file.p, r.file.len, file);
	msg_put_str(o, file);
	ask_send(c, o, (struct ask){ .fn = upload_refused, .size = r.size,
	    .open = open });
}

static void
upload_json(struct conn *c, const struct rsession *s)
{
	struct text *t;

	if (c->port != NULL)
		c->port->about(c, s);
	t = answer_begin();

	json_open(t, '{');
	json_key(t, "id");
	json_text(t, s->id);
	json_key(t, "state");
	json_text(t, state_text(s->view.state));
	json_key(t, "size");
	json_u64(t, s->view.size);
	if (s->view.bundle) {
		json_key(t, "bundle");
		json_raw(t, "true");
		json_key(t, "exec_path");
		json_text(t, s->view.exec_path);
	}
	json_close(t, '}');
	answer_end(c);
}

static void
uploaded(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	const struct rsession *s = replica_find(&a->session);

	if (err == ERR_OK && s != NULL &&
	    replica_access(c->owner, s) != ACCESS_NONE)
		upload_json(c, s);
	else
		answer_error(c, err == ERR_OK ? ERR_NOT_FOUND : err, msg);
}

static void
upload_leave(struct conn *c)
{
	struct payload *p = payload_state(c);

	if (p->fd == -1)
		return;
	close(p->fd);
	p->fd = -1;
	(void)chan_send(&spawner_chan, msg_new(MSG_UPLOAD_ABORT, &p->session,
	    c->number, 0), -1);
}

static void
upload_lost(struct conn *c)
{
	payload_refuse(c, ERR_TRY_AGAIN, NULL, payload_state(c)->left);
}

static int
store(int fd, const char *p, size_t len, uint64_t at)
{
	ssize_t n;

	while (len > 0) {
		n = pwrite(fd, p, len, (off_t)at);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		p += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static void
upload_complete(struct conn *c)
{
	struct sid sid = payload_state(c)->session;

	struct msg_out *o = ask_new(c, payload_state(c)->open ? MSG_UPLOAD_END :
	    MSG_UPLOADED, &sid);

	/* nobody may be able to write when the spawner seals it */
	close(payload_state(c)->fd);
	payload_state(c)->fd = -1;
	if (payload_state(c)->open)
		msg_put_u64(o, payload_state(c)->done);
	ask_send(c, o, (struct ask){ .fn = uploaded, .session = sid });
}

/* More came than could be reserved for what had no size. */
static void
upload_overflow(struct conn *c)
{
	char why[192];

	(void)snprintf(why, sizeof(why), "more than %" PRIu64 " bytes came, "
	    "the room for an upload of unknown length: send a "
	    "Content-Length, or delete something first",
	    payload_state(c)->done);
	payload_refuse(c, ERR_MAX_BYTES, why, 0);
}

static bool
upload_step(struct conn *c)
{
	struct payload *u = payload_state(c);
	const char *p;
	/* of an open one a byte that has no room is to be noticed */
	uint64_t most = u->left + (u->open ? 1 : 0);
	size_t n = conn_take(c, most > SIZE_MAX / 2 ? SIZE_MAX / 2 :
	    (size_t)most, &p);

	if (n == 0) {
		if (c->eof)
			c->dead = true;
		return false;
	}
	if (n > u->left) {
		upload_overflow(c);
		return true;
	}
	u->left -= n;
	if (store(u->fd, p, n, u->done) == -1) {
		payload_refuse(c, ERR_UPLOAD_WRITE, strerrordesc_np(errno), u->left);
		return true;
	}
	u->done += n;
	if (u->left == 0 && !u->open)
		upload_complete(c);
	return true;
}

static const struct conn_mode mode_upload = {
	.name = "upload",
	.clock = CLOCK_LINE,
	.payload = true,
	.bulk = true,
	.step = upload_step,
	.lost = upload_lost,
	.leave = upload_leave,
};

int
net_on_room(struct msg *m)
{
	struct conn *c = ask_find(m);
	uint64_t size = msg_get_u64(m);
	bool open;

	if (msg_end(m) == -1)
		return -1;
	/* when the asker has gone, the spawner has been told so */
	if (c == NULL)
		return 0;
	open = ask_state(c)->open;
	if (ask_state(c)->fn != upload_refused ||
	    (open ? ask_state(c)->size < size : ask_state(c)->size != size))
		return -1;
	conn_enter(c, &mode_upload);
	payload_state(c)->open = open;
	payload_state(c)->fd = msg_take_fd(m);
	payload_state(c)->left = size;
	payload_state(c)->session = m->hdr.session;
	c->active_ms = loop_now_ms();
	conn_run(c);
	return 0;
}

/* -- INPUT ---------------------------------------------------------------- */

static void
input_refused(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	payload_refuse(c, err == ERR_OK ? ERR_INTERNAL : err, msg, a->size);
}

void
cmd_input(struct conn *c, struct rsession *s, const struct words *ws)
{
	static const char usage[] = "usage: INPUT <id> <size>|eof";
	uint64_t size = 0;
	bool eof = ws->n == 3 && word_is(&ws->w[2], "eof");
	uint32_t err;

	if (ws->n != 3 ||
	    (!eof && number_parse(&ws->w[2], INT64_MAX, &size) != NULL)) {
		answer_error(c, ERR_INVALID_ARGUMENT, usage);
		conn_finish(c);
		return;
	}
	s = replica_resolve(c, &ws->w[1], &err);
	if (s == NULL)
		payload_refuse(c, err, replica_why(c, &ws->w[1], err), size);
	else if (!replica_may_use(c, s))
		payload_refuse(c, ERR_READ_ONLY, NULL, size);
	else if (!eof && s->view.tty)
		terminal_input(c, s, size);
	else if (eof)
		ask_session(c, ask_new(c, MSG_INPUT_EOF, &s->sid), &s->sid);
	else
		ask_send(c, ask_new(c, MSG_INPUT, &s->sid), (struct ask){
		    .fn = input_refused, .session = s->sid, .size = size });
}

static void
input_leave(struct conn *c)
{
	loop_del(&payload_state(c)->io);
	if (payload_state(c)->fd != -1)
		close(payload_state(c)->fd);
}

static void
on_pipe(uint32_t events, void *arg)
{
	struct conn *c = arg;

	(void)events;
	loop_del(&payload_state(c)->io);
	c->stalled = false;
	c->active_ms = loop_now_ms();
	conn_run(c);
}

/* No timeout: a program that does not read its input is not an error. */
static bool
input_stall(struct conn *c)
{
	struct payload *u = payload_state(c);

	if (loop_add(&u->io, u->fd, EPOLLOUT, on_pipe, c) == -1)
		payload_refuse(c, ERR_INTERNAL, NULL, u->left);
	else
		c->stalled = true;
	return !c->stalled;
}

/* Access is checked anew: sharing may end before all input is written. */
static uint32_t
input_allowed(const struct conn *c)
{
	if (c->watched == NULL)
		return ERR_NOT_FOUND;
	return replica_may_use(c, c->watched) ? ERR_OK : ERR_READ_ONLY;
}

static bool
input_step(struct conn *c)
{
	struct payload *u = payload_state(c);
	struct sid sid = u->session;
	const char *p;
	size_t have = conn_unused(c, &p);
	uint32_t err;
	ssize_t n;

	if (u->left == 0) {
		conn_enter(c, &mode_line);
		answer_session(c, &sid);
		return true;
	}
	err = input_allowed(c);
	if (err != ERR_OK) {
		payload_refuse(c, err, NULL, u->left);
		return true;
	}
	if (c->stalled)
		return false;
	if (have == 0) {
		c->dead |= c->eof;
		return false;
	}
	n = write(u->fd, p, have < u->left ? have : (size_t)u->left);
	if (n == -1 && errno == EAGAIN)
		return input_stall(c);
	if (n == -1 && errno != EINTR) {
		payload_refuse(c, ERR_UPLOAD_WRITE, "the program does not read its "
		    "input any more", u->left);
		return true;
	}
	n = n == -1 ? 0 : n;
	conn_skip(c, (size_t)n);
	u->left -= (size_t)n;
	return true;
}

static const struct conn_mode mode_input = {
	.name = "input",
	.clock = CLOCK_LINE,
	.payload = true,
	.step = input_step,
	.leave = input_leave,
};

int
net_on_input_fd(struct msg *m)
{
	struct conn *c = ask_find(m);
	struct rsession *s;
	struct ask a;
	int flags;

	if (msg_end(m) == -1)
		return -1;
	if (c == NULL)
		return 0;
	flags = fcntl(m->fd, F_GETFL);
	if (ask_state(c)->fn != input_refused || flags == -1 ||
	    (flags & O_ACCMODE) != O_WRONLY ||
	    fcntl(m->fd, F_SETFL, flags | O_NONBLOCK) == -1)
		return -1;
	a = *ask_state(c);
	conn_enter(c, &mode_input);
	payload_state(c)->fd = msg_take_fd(m);
	payload_state(c)->left = a.size;
	payload_state(c)->session = a.session;
	payload_state(c)->io = (struct loop_io)LOOP_IO_INIT;
	c->active_ms = loop_now_ms();
	s = replica_find(&a.session);
	if (s != NULL)
		conn_watch(c, s);
	conn_run(c);
	return 0;
}

/* -- payloads without a size ---------------------------------------------- */

bool
payload_is_taken(const struct conn *c)
{
	return c->mode->payload || (c->mode == &mode_asked &&
	    ask_state(c)->typed > 0);
}

void
payload_end(struct conn *c)
{
	const char *p;

	if (c->mode == &mode_upload)
		upload_complete(c);
	else if (c->mode == &mode_asked)
		ask_state(c)->size = conn_unused(c, &p);
	else
		payload_state(c)->left = conn_unused(c, &p);
}
