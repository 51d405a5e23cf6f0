/* SPDX-License-Identifier: ISC */
/* The requests export and read. */
#include <json-c/json.h>

#include <sys/stat.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/loop.h"
#include "base/utf8.h"
#include "commands.h"
#include "exports.h"
#include "session.h"
#include "timeline/export/export.h"
#include "timeline/query/query.h"
#include "tracer/record/timefiles.h"
#include "tracer/record/timeline.h"

#define EXPORTS_MAX	4
#define LOOKERS_MAX	2	/* of clients that may not trace */
#define IDLE_MS		60000
#define PIECE		(48 * 1024)
#define MOST_OWN	((uint64_t)16 << 30)
#define MOST_LOOKER	((uint64_t)1 << 30)
#define MOST_MEMORY	((uint64_t)256 << 20)	/* where programs need it */

static struct export {
	int		 fd;		/* -1 = free */
	uint32_t	 conn;
	int64_t		 number;
	uint64_t	 bytes;
	struct loop_timer idle;
	bool		 in_memory, failed;
	bool		 looks;		/* the client may not trace */
	int		 error;		/* why a write has failed */
} exports[EXPORTS_MAX] = { { .fd = -1 }, { .fd = -1 }, { .fd = -1 },
    { .fd = -1 } };
static int64_t		 last_number;

static void
drop(struct export *e)
{
	loop_timer_unset(&e->idle);
	if (e->fd != -1)
		close(e->fd);
	e->fd = -1;
}

static void
on_idle(void *arg)
{
	drop(arg);
}

void
exports_conn_gone(uint32_t conn)
{
	size_t i;

	for (i = 0; i < EXPORTS_MAX; i++)
		if (exports[i].fd != -1 && exports[i].conn == conn)
			drop(&exports[i]);
}

void
exports_drop_all(void)
{
	size_t i;

	for (i = 0; i < EXPORTS_MAX; i++)
		drop(&exports[i]);
}

static struct export *
find(int64_t number)
{
	size_t i;

	for (i = 0; i < EXPORTS_MAX; i++)
		if (number == 0 ? exports[i].fd == -1 :
		    exports[i].fd != -1 && exports[i].number == number)
			return &exports[i];
	return NULL;
}

/* -- export --------------------------------------------------------------- */

struct export_args {
	const char	*format;
	struct json_object *query;
};

static const struct param export_params[] = {
	{ "format", PARAM_STRING, offsetof(struct export_args, format), true,
	    0, 0 },
	{ "query", PARAM_OBJECT, offsetof(struct export_args, query), false,
	    0, 0 },
	{ NULL, PARAM_BOOL, 0, false, 0, 0 }
};

static uint64_t
bytes_most(const struct export *e)
{
	if (e->in_memory)
		return MOST_MEMORY;
	return e->looks ? MOST_LOOKER : MOST_OWN;
}

static int
write_out(void *arg, const void *data, size_t len)
{
	struct export *e = arg;
	const char *p = data;
	ssize_t n;

	if (e->bytes + len > bytes_most(e)) {
		e->error = EFBIG;
		return -1;
	}
	while (len > 0) {
		n = write(e->fd, p, len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0) {
			e->error = errno;
			return -1;
		}
		p += n;
		len -= (size_t)n;
		e->bytes += (uint64_t)n;
	}
	return 0;
}

static int
as_text(struct store *st, const struct query *q, const struct export_to *to,
    char why[STORE_WHY])
{
	return export_text(st, q, false, to, why);
}

static int
as_tree(struct store *st, const struct query *q, const struct export_to *to,
    char why[STORE_WHY])
{
	return export_text(st, q, true, to, why);
}

typedef int	(*format_fn)(struct store *, const struct query *,
		    const struct export_to *, char why[STORE_WHY]);

static const struct {
	const char	*name;
	format_fn	 write;
} formats[] = {
	{ "chrome", export_chrome }, { "folded", export_folded },
	{ "text", as_text }, { "tree", as_tree },
};

static format_fn
find_format(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(formats[i].name, name) == 0)
			return formats[i].write;
	return NULL;
}

static void
make(struct op *op, struct export *e, format_fn fn, const struct query *q)
{
	const struct export_to to = { write_out, e };
	struct text t = { .max = TEXT_MAX };
	char why[STORE_WHY] = "";
	int ret;

	timeline_read();
	output_drain();
	store_names_only(timeline_store(), e->looks);
	timeline_busy(true);
	ret = fn(timeline_store(), q, &to, why);
	timeline_busy(false);
	if (ret == -1) {
		trace_fail(op, e->error != 0 ? "TIMELINE_FULL" :
		    "INVALID_ARGUMENT", e->error != 0 ? "make room on the "
		    "disk, or export less" : NULL, "%s", e->error != 0 ?
		    strerror(e->error) : why);
		drop(e);
		return;
	}
	loop_timer_set(&e->idle, IDLE_MS, on_idle, e);
	text_printf(&t, "{\"export\":%lld,\"bytes\":%llu}",
	    (long long)e->number, (unsigned long long)e->bytes);
	trace_reply(op, &t);
}

/* Finds a free export; read-only clients leave some for the owner. */
static struct export *
find_free(bool looks)
{
	size_t i, n = 0;

	for (i = 0; i < EXPORTS_MAX; i++)
		n += exports[i].fd != -1 && exports[i].looks;
	return looks && n >= LOOKERS_MAX ? NULL : find(0);
}

static void
do_export(struct op *op)
{
	struct export_args a = { .format = NULL };
	struct query q = QUERY_INIT;
	char why[STORE_WHY];
	struct export *e;
	format_fn fn;

	if (!session_asked(op) || !op_params(op, export_params, &a))
		return;
	if ((fn = find_format(a.format)) == NULL) {
		trace_fail(op, "INVALID_ARGUMENT", NULL, "\"format\" must be "
		    "chrome, folded, text or tree");
		return;
	}
	if ((e = find_free(!op->ask.rw)) == NULL) {
		trace_fail(op, "INVALID_ARGUMENT", "read one to its end first",
		    "there are %d exports that have not been read yet",
		    op->ask.rw ? EXPORTS_MAX : LOOKERS_MAX);
		return;
	}
	if (a.query != NULL && query_parse(a.query, &q, why) == -1) {
		trace_fail(op, "INVALID_ARGUMENT", "correct the query", "%s",
		    why);
		return;
	}
	if (!query_allowed(op, &q)) {
		query_free(&q);
		return;
	}
	*e = (struct export){ .conn = op->ask.conn, .number = ++last_number,
	    .looks = !op->ask.rw };
	e->fd = timefiles_temporary(&e->in_memory);
	if (e->fd == -1)
		trace_fail(op, "TIMELINE_FULL", "make room on the disk",
		    "there is no file to export to: %s", strerror(errno));
	else
		make(op, e, fn, a.query == NULL ? NULL : &q);
	query_free(&q);
}

/* -- read ----------------------------------------------------------------- */

struct read_args {
	int64_t		 number, offset;
};

static const struct param read_params[] = {
	{ "export", PARAM_NUMBER, offsetof(struct read_args, number), true, 1,
	    INT64_MAX },
	{ "offset", PARAM_NUMBER, offsetof(struct read_args, offset), true, 0,
	    INT64_MAX },
	{ NULL, PARAM_BOOL, 0, false, 0, 0 }
};

static void
exports_give(struct op *op, struct export *e, uint64_t offset)
{
	static char buf[PIECE];
	struct text t = { .max = TEXT_MAX };
	ssize_t n = pread(e->fd, buf, sizeof(buf), (off_t)offset);
	size_t len = n > 0 ? (size_t)n : 0;

	/* no character is split, but for what never was one */
	if (offset + len < e->bytes && utf8_unfinished(buf, len) < len)
		len -= utf8_unfinished(buf, len);
	text_puts(&t, "{\"data\":");
	json_quoted(&t, buf, len);
	if (len > 0 && offset + len < e->bytes) {
		text_printf(&t, ",\"next\":%llu}",
		    (unsigned long long)offset + len);
		loop_timer_set(&e->idle, IDLE_MS, on_idle, e);
	} else {
		text_puts(&t, ",\"next\":null}");
		drop(e);
	}
	trace_reply(op, &t);
}

static void
do_read(struct op *op)
{
	struct read_args a = { .number = 0 };
	struct export *e;

	if (!op_params(op, read_params, &a))
		return;
	e = find(a.number);
	/* the right to more than to look may have been taken back since */
	if (e == NULL || e->conn != op->ask.conn ||
	    (!op->ask.rw && !e->looks))
		trace_fail(op, "INVALID_ARGUMENT", "export it again",
		    "there is no export %lld: it has been read to its end, was "
		    "left for a minute, or is another client's",
		    (long long)a.number);
	else if ((uint64_t)a.offset > e->bytes)
		trace_fail(op, "INVALID_ARGUMENT", NULL, "export %lld has only "
		    "%llu bytes", (long long)a.number,
		    (unsigned long long)e->bytes);
	else
		exports_give(op, e, (uint64_t)a.offset);
}

const struct command export_commands[] = {
	{ "export", true, TRC_ACTION_EXPORT, do_export },
	{ "read", true, TRC_ACTION_NONE, do_read },
	{ NULL, false, TRC_ACTION_NONE, NULL }
};
