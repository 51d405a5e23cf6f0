/* SPDX-License-Identifier: ISC */
/* Binaries, and the processes without rights that read them. */
#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "binary.h"
#include "debugfile.h"
#include "fn.h"
#include "tracer/base/link.h"
#include "tracer/syms/symclient.h"

#define TYPES_AHEAD	8	/* questions of SYMCLIENT_TYPES_MAX under way */
/* Fewer than there may be: one that was let go is not gone at once. */
#define READERS_MAX	(TRC_SYMBOLS_MAX - 2)
#define TRIES		5
#define RETRY_MS	200
#define NEWS_MOST	(16 * SYMCLIENT_TYPES_MAX)

enum reader_state {
	READER_FREE,
	READER_CALLED,		/* the spawner has been asked for it */
	READER_SPARE,		/* is there, and reads nothing yet */
	READER_OPENING,
	READER_SCANNING,
	READER_READY
};

/* A question about a function's types, sent or still to be sent. */
struct question {
	uint32_t die, fn;
};

struct reader {
	enum reader_state state;
	struct symclient client;
	struct binary	*binary;
	struct question	*asks;		/* owned; in the order of answers */
	size_t		 nasks, cap, first, sent;
	uint64_t	 used;		/* when it was last of use */
};

static void	(*news)(void);
static TAILQ_HEAD(, binary) binaries = TAILQ_HEAD_INITIALIZER(binaries);
static struct reader	 readers[READERS_MAX];
static unsigned int	 nbinaries, ncalled;
static unsigned int	 refused;	/* in a row */
static struct loop_timer retry;
static uint64_t		 clock_of_use;

static void	assign_readers(void);
static void	send_asks(struct reader *);

/* -- binaries ------------------------------------------------------------- */

static bool
is_same(const struct binary *b, const struct stat *st)
{
	return b->dev == st->st_dev && b->ino == st->st_ino &&
	    b->size == st->st_size && b->mtime_ns ==
	    st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

static struct binary *
binary_new(int fd, const struct stat *st, const char *path)
{
	struct binary *b = calloc(1, sizeof(*b));

	if (b == NULL || (b->path = strdup(path)) == NULL) {
		free(b);
		return NULL;
	}
	b->dev = st->st_dev;
	b->ino = st->st_ino;
	b->size = st->st_size;
	b->mtime_ns = st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
	b->fd = fd;
	b->debug_fd = -1;
	b->dwarf = debugfile_is_one(fd);
	TAILQ_INSERT_TAIL(&binaries, b, entry);
	nbinaries++;
	return b;
}

struct binary *
binary_of(int fd, const char *path)
{
	struct binary *b = NULL;
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		TAILQ_FOREACH(b, &binaries, entry)
			if (is_same(b, &st)) {
				close(fd);
				return b;
			}
		if (nbinaries < BINARIES_MAX)
			b = binary_new(fd, &st, path);
	}
	if (b == NULL)
		close(fd);
	return b;
}

struct binary *
binary_next(const struct binary *b)
{
	return b == NULL ? TAILQ_FIRST(&binaries) : TAILQ_NEXT(b, entry);
}

const char *
binary_name(const struct binary *b)
{
	const char *slash = strrchr(b->path, '/');

	return slash == NULL ? b->path : slash + 1;
}

bool
binary_has_dwarf(const struct binary *b)
{
	return b->state == BINARY_READY &&
	    (b->ix.header->flags & SYM_HAS_DWARF) != 0;
}

static void
binary_bad(struct binary *b, const char *why)
{
	b->lost = true;
	if (b->state != BINARY_READING)
		return;
	b->state = BINARY_BAD;
	(void)snprintf(b->why, sizeof(b->why), "%s: %s", binary_name(b), why);
	log_info("%s", b->why);
}

/* -- readers -------------------------------------------------------------- */

static void
reader_free(struct reader *r)
{
	struct binary *b = r->binary;

	symclient_close(&r->client);
	/* nobody will answer these */
	for (; r->first < r->nasks; r->first++)
		fn_typed(r->asks[r->first].fn, NULL);
	free(r->asks);
	r->asks = NULL;
	r->nasks = r->cap = r->first = r->sent = 0;
	r->binary = NULL;
	r->state = READER_FREE;
	if (b != NULL)
		b->reader = NULL;
}

static void
scan_or_ready(struct reader *r)
{
	struct binary *b = r->binary;

	/* it has been read before, by one that has gone */
	if (b->state == BINARY_READY) {
		r->state = READER_READY;
		send_asks(r);
		news();
		return;
	}
	r->state = READER_SCANNING;
	if (symclient_scan(&r->client) == -1) {
		binary_bad(b, "the process that reads it has gone");
		reader_free(r);
	}
}

static void
reader_open(struct reader *r, struct binary *b)
{
	int fd = fcntl(b->debug_fd != -1 ? b->debug_fd : b->fd,
	    F_DUPFD_CLOEXEC, 0);

	r->binary = b;
	r->state = READER_OPENING;
	r->used = ++clock_of_use;
	b->reader = r;
	b->wants_reader = false;
	if (fd != -1 && symclient_open(&r->client, fd) == 0)
		return;
	binary_bad(b, "it cannot be handed on to be read");
	reader_free(r);
}

/* -- answers of readers --------------------------------------------------- */

static void
on_opened(void *arg, uint64_t size, const char *id)
{
	struct reader *r = arg;
	struct binary *b = r->binary;

	(void)size;
	if (r->state != READER_OPENING)
		return;
	if (b->debug_fd != -1 && strcmp(b->id, id) != 0) {
		/* that of another build */
		close(b->debug_fd);
		b->debug_fd = -1;
	} else if (b->debug_fd != -1 || b->dwarf || b->debug_tried) {
		(void)snprintf(b->id, sizeof(b->id), "%s", id);
		scan_or_ready(r);
		return;
	} else {
		b->debug_tried = true;
		(void)snprintf(b->id, sizeof(b->id), "%s", id);
		b->debug_fd = debugfile_open(b->path, id);
		if (b->debug_fd == -1) {
			scan_or_ready(r);
			return;
		}
	}
	/* a process reads one file in its life */
	reader_free(r);
	b->wants_reader = true;
	assign_readers();
}

static void
on_index(void *arg, int fd)
{
	struct reader *r = arg;
	struct binary *b = r->binary;
	char why[200];

	if (r->state == READER_SCANNING &&
	    symindex_open(&b->ix, fd, why, sizeof(why)) == 0) {
		b->state = BINARY_READY;
		r->state = READER_READY;
	} else if (r->state == READER_SCANNING) {
		binary_bad(b, why);
		reader_free(r);
	}
	close(fd);
	news();
	assign_readers();
}

static void
on_typed(void *arg, const struct sym_typed *t)
{
	struct reader *r = arg;

	if (r->first >= r->sent || r->asks[r->first].die != t->die) {
		log_warnx("types of another function; %s is read no more",
		    r->binary == NULL ? "it" : binary_name(r->binary));
		/* who waits for its index would wait for ever */
		if (r->binary != NULL)
			binary_bad(r->binary, "the process that reads it has "
			    "answered what it was not asked");
		reader_free(r);
		assign_readers();
		news();
		return;
	}
	fn_typed(r->asks[r->first++].fn, t);
	r->used = ++clock_of_use;
	if (r->first == r->nasks)
		r->first = r->nasks = r->sent = 0;
	send_asks(r);
	/* of so many that looking at each part takes too long: in the end */
	if (r->nasks == 0 || (r->nasks <= NEWS_MOST &&
	    r->first % SYMCLIENT_TYPES_MAX == 0))
		news();
	if (r->nasks == 0)
		assign_readers();
}

static void
on_failed(void *arg, const char *code, const char *why)
{
	struct reader *r = arg;

	(void)code;
	if (r->binary != NULL)
		binary_bad(r->binary, why);
	reader_free(r);
	assign_readers();
	news();
}

static void
on_gone(void *arg, const char *why)
{
	struct reader *r = arg;

	(void)why;
	if (r->binary != NULL)
		binary_bad(r->binary, "the process that reads it has ended; "
		    "its debug information may be damaged");
	reader_free(r);
	assign_readers();
	news();
}

static const struct symclient_ops ops = {
	.opened = on_opened, .index = on_index, .typed = on_typed,
	.failed = on_failed, .gone = on_gone,
};

/* -- who reads what ------------------------------------------------------- */

static struct reader *
find_reader(enum reader_state state)
{
	size_t i;

	for (i = 0; i < READERS_MAX; i++)
		if (readers[i].state == state)
			return &readers[i];
	return NULL;
}

/* Frees the least recently used reader that has read its file and is idle. */
static struct reader *
make_free(void)
{
	struct reader *oldest = NULL, *r;
	size_t i;

	for (i = 0; i < READERS_MAX; i++) {
		r = &readers[i];
		if (r->state == READER_READY && r->nasks == 0 &&
		    (oldest == NULL || r->used < oldest->used))
			oldest = r;
	}
	if (oldest != NULL)
		reader_free(oldest);
	return oldest;
}

static bool
call_one(void)
{
	struct reader *r = find_reader(READER_FREE);

	if (r == NULL)
		r = make_free();
	if (r == NULL)
		return false;
	r->state = READER_CALLED;
	ncalled++;
	link_want_symbols();
	return true;
}

static void
assign_readers(void)
{
	struct reader *r;
	struct binary *b;
	unsigned int wanted = 0;

	TAILQ_FOREACH(b, &binaries, entry) {
		if (!b->wants_reader)
			continue;
		if ((r = find_reader(READER_SPARE)) != NULL)
			reader_open(r, b);
		else
			wanted++;
	}
	while (wanted > ncalled && call_one())
		;
}

void
binary_prepare(void)
{
	if (find_reader(READER_SPARE) == NULL && ncalled == 0)
		(void)call_one();
}

static void
on_retry(void *arg)
{
	(void)arg;
	assign_readers();
}

void
trc_symbols(int fd)
{
	struct reader *r = find_reader(READER_CALLED);

	if (r == NULL) {
		close(fd);
		return;
	}
	ncalled--;
	refused = 0;
	if (symclient_init(&r->client, fd, &ops, r) == -1) {
		r->state = READER_FREE;
		log_warn("a symbols process's channel");
		return;
	}
	r->state = READER_SPARE;
	assign_readers();
}

void
trc_symbols_failed(const char *why)
{
	struct reader *r = find_reader(READER_CALLED);
	struct binary *b;

	if (r == NULL)
		return;
	ncalled--;
	r->state = READER_FREE;
	/* the process that starts readers may be starting itself */
	if (++refused < TRIES) {
		loop_timer_set(&retry, RETRY_MS, on_retry, NULL);
		return;
	}
	refused = 0;
	/* those that none can be found for */
	TAILQ_FOREACH(b, &binaries, entry)
		if (b->wants_reader && find_reader(READER_READY) == NULL &&
		    ncalled == 0) {
			b->wants_reader = false;
			binary_bad(b, why);
		}
	news();
}

void
binary_read(struct binary *b)
{
	if (b->state != BINARY_NEW)
		return;
	b->state = BINARY_READING;
	b->wants_reader = true;
	assign_readers();
}

/* -- types ---------------------------------------------------------------- */

static void
send_asks(struct reader *r)
{
	uint32_t dies[SYMCLIENT_TYPES_MAX];
	size_t n;

	while (r->state == READER_READY && r->sent < r->nasks &&
	    r->sent - r->first < TYPES_AHEAD * SYMCLIENT_TYPES_MAX) {
		for (n = 0; n < SYMCLIENT_TYPES_MAX && r->sent + n < r->nasks;
		    n++)
			dies[n] = r->asks[r->sent + n].die;
		r->sent += n;
		if (symclient_types(&r->client, dies, n) == -1) {
			reader_free(r);
			return;
		}
	}
}

void
binary_type_all(void)
{
	size_t i;

	for (i = 0; i < READERS_MAX; i++)
		send_asks(&readers[i]);
}

static bool
add_ask(struct reader *r, uint32_t die, uint32_t fn)
{
	struct question *all;
	size_t cap;

	if (r->nasks == r->cap) {
		cap = r->cap == 0 ? 512 : 2 * r->cap;
		all = reallocarray(r->asks, cap, sizeof(*all));
		if (all == NULL)
			return false;
		r->asks = all;
		r->cap = cap;
	}
	r->asks[r->nasks++] = (struct question){ die, fn };
	return true;
}

void
binary_type(struct binary *b, uint32_t i, uint32_t fn)
{
	uint32_t die = b->ix.funcs[i].die;

	if (b->lost || die == 0) {
		fn_typed(fn, NULL);
		return;
	}
	if (b->reader == NULL && !b->wants_reader) {
		b->wants_reader = true;
		assign_readers();
	}
	/* it is asked again when there is one */
	if (b->reader == NULL)
		return;
	if (add_ask(b->reader, die, fn))
		fn_get(fn)->state = FN_ASKED;
	else
		fn_typed(fn, NULL);
}

void
binary_on_news(void (*fn)(void))
{
	news = fn;
}
