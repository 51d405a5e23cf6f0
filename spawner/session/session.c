/* SPDX-License-Identifier: ISC */
/* The registry of sessions. */
#include <sys/epoll.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include "session.h"
#include "spawner/link/launcher_msg.h"
#include "spawner/link/peers.h"
#include "wire/role.h"

#define BUCKETS		256

struct session_list sessions = TAILQ_HEAD_INITIALIZER(sessions);

static LIST_HEAD(, session) buckets[BUCKETS];
static size_t	 count;
static unsigned int alive;
static const struct session_hooks *hooks;

_Static_assert(sizeof(uuid_t) == sizeof(struct sid), "ids are UUIDs");

void
session_init(const struct session_hooks *h)
{
	hooks = h;
}

/* Ids are random, so any byte of them is as good as a hash. */
static unsigned int
bucket(const struct sid *id)
{
	return id->b[0];
}

static void
close_all(int *fds, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		fd_close(&fds[i]);
}

static void
mark_closed(struct session *s)
{
	size_t i;

	s->image_fd = s->stdin_fd = s->status_fd = -1;
	s->stub_fd = s->target_fd = s->oom.events_fd = -1;
	s->out.io.fd = s->err.io.fd = -1;
	s->ring = (struct ring)RING_INIT;
	s->start.ring = (struct ring)RING_INIT;
	for (i = 0; i < RUN_FD_COUNT; i++)
		s->start.fds[i] = -1;
	for (i = 0; i < ATTACH_FD_COUNT; i++)
		s->gdb.fds[i] = -1;
	for (i = 0; i < TRC_FILES; i++)
		s->traced.files[i] = -1;
}

struct session *
session_new(struct owner *owner)
{
	struct session *s = calloc(1, sizeof(*s));
	struct timespec now;
	size_t i;

	if (s == NULL)
		return NULL;
	mark_closed(s);
	s->out.session = s->err.session = s;
	hooks->begins(s);
	do {
		uuid_generate_random(s->id.b);
	} while (session_find(&s->id) != NULL);
	uuid_unparse_lower(s->id.b, s->text);
	s->state = STATE_UPLOADING;
	s->owner = owner;
	s->view.state = STATE_LOADED;
	s->view.owner = owner->uid;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	s->made_ms = loop_now_ms();
	s->view.created_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	memcpy(s->view.owner_name, owner->name, sizeof(owner->name));
	for (i = 0; i < LIMIT_COUNT; i++)
		s->limits[i] = LIMIT_UNLIMITED;
	TAILQ_INSERT_TAIL(&sessions, s, entry);
	LIST_INSERT_HEAD(&buckets[bucket(&s->id)], s, hash);
	count++;
	return s;
}

static void
stream_free(struct stream *st)
{
	int fd = st->io.fd;

	loop_del(&st->io);
	fd_close(&fd);
	st->io.fd = -1;
}

void
session_free(struct session *s)
{
	hooks->unshown(s);
	session_set_state(s, STATE_DELETING);
	hooks->ends(s);
	/* last: the calls above may still begin to stop the session */
	loop_timer_unset(&s->start.timer);
	loop_timer_unset(&s->stop.timer);
	loop_timer_unset(&s->expiry_timer);
	free(s->start.order);
	loop_del(&s->status_io);
	loop_del(&s->stub_io);
	stream_free(&s->out);
	stream_free(&s->err);
	fd_close(&s->stdin_fd);
	fd_close(&s->status_fd);
	fd_close(&s->stub_fd);
	fd_close(&s->target_fd);
	fd_close(&s->oom.events_fd);
	close_all(s->start.fds, RUN_FD_COUNT);
	ring_close(&s->start.ring);
	ring_close(&s->ring);
	hooks->freed(s);
	sweep(s, s->image_fd);
	TAILQ_REMOVE(&sessions, s, entry);
	LIST_REMOVE(s, hash);
	count--;
	free(s->shares);
	free(s->shares_text);
	free(s->stop.waiting);
	free(s->warnings);
	free(s->args);
	free(s->argv);
	free(s->program);
	free(s->cmd);
	free(s->env);
	free(s);
}

struct session *
session_find(const struct sid *id)
{
	struct session *s;

	LIST_FOREACH(s, &buckets[bucket(id)], hash)
		if (memcmp(&s->id, id, sizeof(*id)) == 0)
			return s;
	return NULL;
}

size_t
session_count(void)
{
	return count;
}

uint64_t
session_bytes(void)
{
	struct session *s;
	uint64_t sum = 0;

	/* no overflow: each was below the quota when it was admitted */
	SESSION_FOREACH(s)
		sum += s->bytes;
	return sum;
}

static bool
is_alive(enum session_state state)
{
	return (state & (STATE_STARTING | STATE_ALIVE)) != 0;
}

void
session_set_state(struct session *s, enum session_state state)
{
	bool was = is_alive(s->state), is = is_alive(state);

	s->state = state;
	if (state & (STATE_LOADED | STATE_ALIVE | STATE_STOPPED))
		s->view.state = state;
	if (was != is)
		alive += is ? 1 : -1U;
	/* a start has more urgent things to say first */
	if (state != STATE_STARTING)
		session_tell_alive();
}

void
session_tell_alive(void)
{
	static unsigned int told;
	struct msg_out *o;

	if (told == alive)
		return;
	told = alive;
	o = msg_new(MSG_SESSIONS_ALIVE, NULL, 0, 0);
	msg_put_u32(o, alive);
	(void)chan_send(&parent_chan, o, -1);
}

bool
session_is_shown(const struct session *s)
{
	return (s->state & STATE_SETTLED) != 0;
}

unsigned int
session_alive_count(void)
{
	return alive;
}
