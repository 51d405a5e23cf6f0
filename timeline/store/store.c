/* SPDX-License-Identifier: ISC */
/* The timeline of one traced session: opening, appending, closing. */
#include <sys/random.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "store_int.h"

/* -- opening and closing ------------------------------------------------ */
static char *
bounded(const char *s)
{
	return strndup(s == NULL ? "" : s, STORE_NAME_MAX);
}

static int
copy_meta(struct store *st, const struct store_meta *m)
{
	st->meta = *m;
	st->meta.id = bounded(m->id);
	st->meta.binary_path = bounded(m->binary_path);
	st->meta.project_root = bounded(m->project_root);
	st->meta.status = bounded(m->status);
	return st->meta.id == NULL || st->meta.binary_path == NULL ||
	    st->meta.project_root == NULL || st->meta.status == NULL ? -1 : 0;
}

static void
free_meta(struct store_meta *m)
{
	free((void *)(uintptr_t)m->id);
	free((void *)(uintptr_t)m->binary_path);
	free((void *)(uintptr_t)m->project_root);
	free((void *)(uintptr_t)m->status);
}

/* Three regular files of which nobody else makes a timeline now. */
static int
check_files(const struct store_files *f, bool fresh, char why[STORE_WHY])
{
	const int fds[] = { f->calls_fd, f->db_fd, f->wal_fd };
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int mode = fcntl(f->calls_fd, F_GETFL);
	struct stat sb;
	size_t i;

	for (i = 0; i < 3; i++)
		if (fstat(fds[i], &sb) == -1 || !S_ISREG(sb.st_mode) ||
		    (fresh && sb.st_size > 0)) {
			snprintf(why, STORE_WHY, "%s is not %s",
			    store_file_suffix((int)i), fresh ? "an empty file"
			    : "a file");
			return -1;
		}
	/* who cannot write only keeps writers away */
	if (mode != -1 && (mode & O_ACCMODE) == O_RDONLY)
		lock.l_type = F_RDLCK;
	if (fcntl(f->calls_fd, F_OFD_SETLK, &lock) == -1) {
		snprintf(why, STORE_WHY, "this timeline is in use");
		return -1;
	}
	return 0;
}

static void
release(struct store *st)
{
	struct buffer *b;

	db_close(st);
	while ((b = st->first_buffer != NULL ? st->first_buffer : st->spare) !=
	    NULL) {
		*(b == st->first_buffer ? &st->first_buffer : &st->spare) =
		    b->next;
		free(b);
	}
	threads_free(st);
	functions_free(st);
	counters_free(&st->counters);
	free(st->free_slots);
	free_meta(&st->meta);
	close(st->files.calls_fd);
	close(st->files.db_fd);
	close(st->files.wal_fd);
	free(st);
}

/* Makes an empty store; takes the files. */
static struct store *
store_new(const struct store_files *files, char why[STORE_WHY])
{
	struct store *st = calloc(1, sizeof(*st));

	if (st == NULL) {
		snprintf(why, STORE_WHY, "no memory for a timeline");
		close(files->calls_fd);
		close(files->db_fd);
		close(files->wal_fd);
		return NULL;
	}
	st->files = *files;
	st->settled = st->horizon = UINT64_MAX;
	st->next_ord = 1;
	return st;
}

struct store *
store_open(const struct store_files *files, const struct store_meta *meta,
    const struct store_limits *limits, char why[STORE_WHY])
{
	struct store *st = store_new(files, why);

	if (st == NULL)
		return NULL;
	st->limits = *limits;
	store_limit(st, limits->calls);
	if (check_files(files, meta != NULL, why) == -1)
		goto fail;
	if (meta != NULL && (copy_meta(st, meta) == -1 ||
	    getrandom(&st->tag, sizeof(st->tag), 0) == -1)) {
		snprintf(why, STORE_WHY, "no memory for a timeline");
		goto fail;
	}
	if (db_open(st, meta != NULL, why) == -1 ||
	    (meta == NULL && store_recover(st, why) == -1))
		goto fail;
	return st;
fail:
	release(st);
	return NULL;
}

struct store *
store_peek(const struct store_files *files, char why[STORE_WHY])
{
	struct store *st = store_new(files, why);

	if (st == NULL)
		return NULL;
	if (check_files(files, false, why) == 0 && db_peek(st, why) == 0)
		return st;
	release(st);
	return NULL;
}

const struct store_meta *
store_meta(const struct store *st)
{
	return &st->meta;
}

/* No disk for what is not there. */
static void
trim(struct store *st)
{
	struct thread *t;
	uint32_t i;

	slots_trim(st, 0);
	for (i = 0; i < st->nthreads; i++) {
		t = st->threads[i];
		if (t->nchunks > 0)
			chunk_trim(st, t->chunks[t->nchunks - 1]);
	}
}

void
store_close(struct store *st, bool keep)
{
	if (keep) {
		texts_end(st);
		store_flush(st);
		trim(st);
		/* as a file that is copied alone it is whole as well */
		sqlite3_wal_checkpoint_v2(st->db, NULL,
		    SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
		if (fsync(st->files.calls_fd) == -1 ||
		    fsync(st->files.db_fd) == -1 ||
		    fsync(st->files.wal_fd) == -1)
			log_warn("timeline");
	}
	sqlite3_close_v2(st->db);
	st->db = NULL;
	if (!keep && (ftruncate(st->files.calls_fd, 0) == -1 ||
	    ftruncate(st->files.db_fd, 0) == -1 ||
	    ftruncate(st->files.wal_fd, 0) == -1))
		log_warn("timeline");
	release(st);
}

/* -- appending ---------------------------------------------------------- */
static void
fill(struct rec *r, const struct event *ev, const struct thread *t,
    uint64_t ts)
{
	r->ts = ts;
	r->duration = ev->duration;
	r->seq = t->next_seq;
	/* another thread's event is nobody's parent */
	r->back = id_ord(ev->parent) == t->ord &&
	    id_seq(ev->parent) - 1 < t->next_seq - 1 ?
	    t->next_seq - id_seq(ev->parent) : 0;
	r->captures = ev->captures;
	r->fn = ev->fn;
	r->len = ev->len;
	r->kind = ev->kind == EVENT_ENTER ? REC_ENTER : REC_EXIT;
	r->class = CLASS_ENTER;
	r->flags = ev->flags & EVENT_FLAGS;
}

static uint16_t
class_of(struct store *st, const struct rec *r)
{
	uint16_t class = counters_class(&st->counters, r->fn, r->captures,
	    r->len);

	st->key = 0;
	if (class != CLASS_OTHER)
		return class;
	st->key = seg_key(r->captures, r->len, st->tag);
	return st->key == 0 ? CLASS_ODD : CLASS_OTHER;
}

/* Adds the last record of a chunk to the chunk's index. */
static inline void
index_add(const struct store *st, struct chunk *c, const struct rec *r)
{
	seg_building_add(&c->buffer->building, r->fn, r->class,
	    r->class == CLASS_ENTER ? 0 : st->key, c->latest);
}

/*
 * An exit right behind its entry, which nobody has seen nor written yet,
 * becomes one with it.
 */
static bool
join(const struct store *st, struct thread *t, const struct rec *r)
{
	struct chunk *c = t->nchunks > 0 ? t->chunks[t->nchunks - 1] : NULL;
	struct seg_first first;
	uint32_t size;

	if (r->back != 1 || st->pins > 0 || c == NULL || c->buffer == NULL ||
	    c->nrecords == 0 || c->latest < c->written ||
	    c->last_seq + 1 != r->seq)
		return false;
	first = chunk_first(c);
	size = rec_join(c->buffer->bytes + (c->latest - c->buffer->base),
	    SEG_DATA - c->latest, &first, r);
	if (size == 0)
		return false;
	c->bytes = c->latest + size;
	c->count++;
	index_add(st, c, r);
	return true;
}

static bool
put(struct store *st, struct thread *t, const struct rec *r)
{
	struct chunk *c = chunk_for(st, t, rec_size(r), r->ts);
	struct seg_first first;

	if (c == NULL)
		return false;
	first = chunk_first(c);
	c->latest = c->bytes;
	c->bytes += rec_write(chunk_end(c), &first, r);
	c->nrecords++;
	c->count++;
	c->nenter += r->kind == REC_ENTER;
	index_add(st, c, r);
	return true;
}

static bool
append(struct store *st, struct thread *t, struct event *ev, uint64_t ts)
{
	struct chunk *c;
	struct rec r;

	fill(&r, ev, t, ts);
	if (r.kind == REC_EXIT)
		r.class = class_of(st, &r);
	if (!(r.kind == REC_EXIT && join(st, t, &r)) && !put(st, t, &r))
		return false;
	c = t->chunks[t->nchunks - 1];
	c->last_ts = ts;
	c->last_seq = t->next_seq;
	*(r.kind == REC_ENTER ? &t->nenter : &t->nexit) += 1;
	counters_add(&st->counters, ev->fn, r.class, 1);
	return true;
}

static bool
well_formed(struct store *st, const struct event *ev)
{
	return ev->fn < FN_MAX && counters_reserve(&st->counters, ev->fn) == 0;
}

/* Appends an event of a thread: its id is used up, stored or not. */
static bool
append_one(struct store *st, struct thread *t, struct event *ev,
    uint64_t now)
{
	uint64_t ts = ev->ts_ns < now ? ev->ts_ns : now;

	ev->id = 0;
	if (t->next_seq > SEQ_MAX)
		return false;
	if (ts < t->last_ts)
		ts = t->last_ts;
	if (ev->len > SEG_CAPTURES)
		ev->len = SEG_CAPTURES;
	if ((ev->kind == EVENT_ENTER || ev->kind == EVENT_EXIT) &&
	    well_formed(st, ev) && append(st, t, ev, ts)) {
		ev->id = id_of(t->ord, t->next_seq);
		t->last_ts = ts;
		if (ts > st->latest_ts)
			st->latest_ts = ts;
	}
	t->next_seq++;
	return ev->id != 0;
}

/* A call as the two events that it is. */
static size_t
append_halves(struct store *st, struct thread *t, struct event *ev,
    uint64_t now)
{
	struct event half = *ev;
	size_t n;

	half.kind = EVENT_ENTER;
	n = append_one(st, t, &half, now);
	ev->id = half.id;
	half.kind = EVENT_EXIT;
	half.ts_ns = ev->ts_ns + ev->duration;
	half.parent = ev->id;
	half.flags = 0;
	half.len = ev->exit_len;
	half.captures = ev->exit_captures;
	return n + append_one(st, t, &half, now);
}

/* Whether one record can tell both, and nothing has to be mended. */
static bool
is_usual(struct store *st, const struct thread *t, const struct event *ev,
    uint64_t now)
{
	return ev->ts_ns >= t->last_ts && ev->ts_ns <= now &&
	    ev->duration <= now - ev->ts_ns && ev->duration <= UINT32_MAX &&
	    ev->len <= SEG_CAPTURES && ev->exit_len <= SEG_CAPTURES &&
	    t->next_seq < SEQ_MAX && well_formed(st, ev);
}

/* Both events of a call at once; how many were stored. */
static size_t
append_call(struct store *st, struct thread *t, struct event *ev,
    uint64_t now)
{
	struct rec *enter = &st->enter, *leave = &st->leave;
	struct seg_first first;
	struct chunk *c;

	if (!is_usual(st, t, ev, now))
		return append_halves(st, t, ev, now);
	ev->id = 0;
	fill(enter, ev, t, ev->ts_ns);
	enter->kind = REC_ENTER;
	c = chunk_for(st, t, rec_call_size(enter, ev->exit_len), ev->ts_ns);
	if (c == NULL) {
		t->next_seq += 2;
		return 0;
	}
	leave->fn = ev->fn;
	leave->len = ev->exit_len;
	leave->captures = ev->exit_captures;
	leave->duration = ev->duration;
	leave->class = class_of(st, leave);
	first = chunk_first(c);
	c->latest = c->bytes;
	c->bytes += rec_write_call(chunk_end(c), &first, enter, leave);
	index_add(st, c, enter);
	index_add(st, c, leave);
	c->nrecords++;
	c->count += 2;
	c->nenter++;
	c->last_seq = t->next_seq + 1;
	c->last_ts = t->last_ts = ev->ts_ns + ev->duration;
	if (t->last_ts > st->latest_ts)
		st->latest_ts = t->last_ts;
	t->nenter++;
	t->nexit++;
	counters_add(&st->counters, ev->fn, CLASS_ENTER, 1);
	counters_add(&st->counters, ev->fn, leave->class, 1);
	ev->id = id_of(t->ord, t->next_seq);
	t->next_seq += 2;
	return 2;
}

/* Appends an event or a call; returns how many events were stored. */
static size_t
append_any(struct store *st, struct event *ev, uint64_t now)
{
	struct thread *t = thread_of(st, ev->tid);
	size_t events = ev->kind == EVENT_CALL ? 2 : 1, stored = 0;

	if (t != NULL && events == 2)
		stored = append_call(st, t, ev, now);
	else if (t != NULL)
		stored = append_one(st, t, ev, now);
	if (stored < events)
		store_lost(st, ev->tid, events - stored);
	return stored;
}

size_t
store_append(struct store *st, struct event *events, size_t n,
    uint64_t now_ns)
{
	size_t stored = 0, i;

	for (i = 0; i < n; i++)
		stored += append_any(st, &events[i], now_ns);
	st->collected += stored;
	return stored;
}

uint64_t
store_next_id(struct store *st, uint32_t tid)
{
	const struct thread *t = thread_of(st, tid);

	return t == NULL ? 0 : id_of(t->ord, t->next_seq);
}

void
store_lost(struct store *st, uint32_t tid, uint64_t n)
{
	struct thread *t = thread_of(st, tid);

	st->lost += n;
	if (t != NULL)
		t->lost += n;
}

void
store_settled(struct store *st, uint64_t ts)
{
	st->settled = ts;
}

/* Seals what could not be sealed, to see whether there is room again. */
static int
try_again(struct store *st)
{
	struct buffer *b = st->first_buffer;

	if (b != NULL)
		return chunk_seal(st, b->thread);
	trouble_clear(st->calls_trouble);
	return 0;
}

int
store_flush(struct store *st)
{
	struct buffer *b;
	int ret = db_flush(st);

	for (b = st->first_buffer; b != NULL; b = b->next)
		if (chunk_write(st, b->thread) == -1)
			return -1;
	if (st->calls_trouble[0] != '\0' && try_again(st) == -1)
		return -1;
	if (st->used > st->limits.calls)
		store_evict(st);
	slots_trim(st, st->limits.calls);
	return ret;
}

/* -- the rest ----------------------------------------------------------- */
void
store_set_status(struct store *st, const char *status, int64_t ended_at)
{
	char *copy = bounded(status);

	if (copy == NULL)
		return;
	free((void *)(uintptr_t)st->meta.status);
	st->meta.status = copy;
	st->meta.ended_at = ended_at;
	st->meta_dirty = true;
}

void
store_set_pid(struct store *st, uint32_t pid)
{
	st->meta.pid = pid;
	st->meta_dirty = true;
}

void
store_set_render(struct store *st, const struct store_render *render)
{
	st->render = *render;
}

void
store_names_only(struct store *st, bool on)
{
	st->names_only = on;
}

void
store_set_inverse(struct store *st, store_inverse_fn inverse, void *arg)
{
	st->inverse = inverse;
	st->inverse_arg = arg;
}

void
store_set_tick(struct store *st, void (*tick)(void *), void *arg)
{
	st->tick = tick;
	st->tick_arg = arg;
}

void
store_tick(const struct store *st)
{
	if (st->tick != NULL)
		st->tick(st->tick_arg);
}

void
store_limit(struct store *st, uint64_t calls)
{
	st->limits.calls = calls < STORE_CALLS_LEAST ? STORE_CALLS_LEAST :
	    calls;
}

void
store_share(struct store *st, bool shared)
{
	st->shared = shared;
	if (shared)
		slots_trim(st, st->used);
}

void
store_stats(const struct store *st, struct store_stats *s)
{
	uint32_t i;

	*s = (struct store_stats){.collected = st->collected,
	    .evicted = st->evicted,
	    .lost = st->lost,
	    .lost_bytes = st->lost_bytes,
	    .bytes = st->used + st->spare_bytes,
	    .most = st->limits.calls,
	    .threads = st->nthreads,
	    .functions = st->nfunctions};
	for (i = 0; i < st->nthreads; i++)
		s->calls += st->threads[i]->nenter + st->threads[i]->nexit;
	for (i = EVENT_STDOUT; i <= EVENT_CRASH; i++)
		s->texts += st->ntexts[i];
}

uint64_t
store_calls(const struct store *st, uint32_t fn)
{
	return counters_count(&st->counters, fn, CLASS_ENTER);
}
