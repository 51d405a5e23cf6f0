/* SPDX-License-Identifier: ISC */
/* A timeline in a directory of its own. */
#ifndef TEST_TRC_RIG_H
#define TEST_TRC_RIG_H

#include <sys/stat.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "timeline/query/query.h"
#include "timeline/store/segment.h"
#include "timeline/store/store.h"

#include "test_tmp.h"

#define START	1000U

static char	 rig_dir[128];
static int	 rig_dir_fd = -1;
static struct store *st;
static char	 why[STORE_WHY];
static struct text answer = { .max = TEXT_MAX };

static int
rig_set_up(void **state)
{
	(void)state;
	if (tmp_dir(rig_dir, sizeof(rig_dir), "dl-trc-XXXXXX") == -1)
		return -1;
	rig_dir_fd = open(rig_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return rig_dir_fd == -1 ? -1 : 0;
}

static int
rig_tear_down(void **state)
{
	char name[32];
	int i;

	(void)state;
	if (st != NULL)
		store_close(st, false);
	st = NULL;
	for (i = 0; store_file_suffix(i) != NULL; i++) {
		snprintf(name, sizeof(name), "t%s", store_file_suffix(i));
		unlinkat(rig_dir_fd, name, 0);
	}
	close(rig_dir_fd);
	text_free(&answer);
	return rmdir(rig_dir);
}

/* Opens it; NULL with why. */
static inline struct store *
rig_try(bool fresh, uint64_t calls, uint64_t output)
{
	const struct store_meta meta = { .id = "prog-2026-11-22-10h00",
		.binary_path = "/bin/prog", .project_root = "/src",
		.pid = 4711, .started_at = 1700000000, .status = "running",
		.start_ns = START };
	const struct store_limits limits = { calls, output };
	struct store_files files;

	assert_int_equal(store_files_at(rig_dir_fd, "t", &files), 0);
	return store_open(&files, fresh ? &meta : NULL, &limits, why);
}

static inline void
rig_open(bool fresh)
{
	st = rig_try(fresh, (uint64_t)1 << 30, (uint64_t)1 << 20);
	if (st == NULL)
		fail_msg("%s", why);
}

static inline void
rig_function(uint32_t fn, const char *name, const char *file)
{
	const struct store_function f = { .fn = fn, .name = name,
		.raw = name, .file = file, .line = fn, .ret_type = "long" };

	assert_int_equal(store_function(st, &f), 0);
}

/* A capture of 8 bytes, as the agent writes it. */
struct rig_word {
	uint16_t status, len;
	uint8_t	 bytes[8];
};

static inline struct rig_word
rig_word(uint64_t v)
{
	struct rig_word w = { .len = 8 };

	memcpy(w.bytes, &v, 8);
	return w;
}

/* Appends one event; its id. */
static inline uint64_t
rig_call(uint8_t kind, uint32_t tid, uint32_t fn, uint64_t ts,
    uint64_t parent, uint64_t value)
{
	const struct rig_word w = rig_word(value);
	struct event ev = { .kind = kind, .tid = tid, .fn = fn, .ts_ns = ts,
		.parent = parent, .captures = &w, .len = sizeof(w),
		.duration = kind == EVENT_EXIT ? 5 : 0 };

	store_append(st, &ev, 1, UINT64_MAX);
	return ev.id;
}

/* Asks; the answer stays until the next. */
static inline const char *
rig_query(const char *json)
{
	struct query q;

	text_reset(&answer, SIZE_MAX);
	if (query_parse_text(json, strlen(json), &q, why) == -1)
		fail_msg("%s: %s", json, why);
	if (query_run(st, &q, &answer, why) == -1)
		fail_msg("%s: %s", json, why);
	query_free(&q);
	return answer.p;
}

/* The ids of an answer in order, with blanks between, and its count. */
static inline const char *
rig_ids(const char *json)
{
	static char ids[QUERY_LIMIT_MAX * 24 + 32];
	const char *s = rig_query(json), *end;
	size_t n = 0;

	for (; (s = strstr(s, "{\"id\":\"")) != NULL; s = end) {
		s += 7;
		end = strchr(s, '"');
		n += (size_t)snprintf(ids + n, sizeof(ids) - n, "%.*s ",
		    (int)(end - s), s);
	}
	s = strstr(answer.p, "\"totalCount\":") + 13;
	snprintf(ids + n, sizeof(ids) - n, "/%lu%s", strtoul(s, NULL, 10),
	    strstr(answer.p, "\"hasMore\":true}") != NULL ? "+" : "");
	return ids;
}

#endif
