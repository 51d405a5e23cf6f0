/* SPDX-License-Identifier: ISC */
/*
 * Common parts of fuzz targets.  A target includes this once, and may define
 * before that
 *	FUZZ_CLOCK	the monotonic clock is the input's: it stands still
 *			but for turn()
 *	FUZZ_LOOP	there is an event loop
 *	FUZZ_FAULT	calls may fail in it: fuzz_fault.h
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"

#ifdef FUZZ_FAULT
#include "regress/fuzz/fuzz_fault.h"
#endif

/* Entry points of libFuzzer; the second is optional. */
int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);
int	LLVMFuzzerInitialize(int *, char ***);

/* A finding, like any report of a sanitizer. */
static inline void
must(bool ok)
{
	if (!ok)
		abort();
}

static void
fuzz_no_log(enum log_level level, const char *line)
{
	(void)level;
	(void)line;
}

/* Nothing of what an input has logged is shown. */
static inline void
quiet(void)
{
	log_init("fuzz", LOG_L_ERROR, fuzz_no_log);
}

/* A directory of the target's own, to be removed at its end. */
static inline void
fuzz_room(char *path, size_t size)
{
	const char *dir = getenv("TMPDIR");
	int n = snprintf(path, size, "%s/fuzz.XXXXXX",
	    dir == NULL ? "/tmp" : dir);

	must(n > 0 && (size_t)n < size && mkdtemp(path) != NULL);
}

/* Counts the first descriptors, which are all that a target has. */
static inline int
count_fds(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 128; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

/* -- the input, piece by piece; at its end there are zeros ----------------- */

struct input {
	const uint8_t	*p;
	size_t		 left;
};

static inline void
take(struct input *in, void *to, size_t n)
{
	size_t have = n < in->left ? n : in->left;

	memset(to, 0, n);
	if (have == 0)
		return;
	memcpy(to, in->p, have);
	in->p += have;
	in->left -= have;
}

static inline uint8_t
take_u8(struct input *in)
{
	uint8_t v;

	take(in, &v, sizeof(v));
	return v;
}

static inline uint16_t
take_u16(struct input *in)
{
	uint16_t v;

	take(in, &v, sizeof(v));
	return v;
}

static inline uint32_t
take_u32(struct input *in)
{
	uint32_t v;

	take(in, &v, sizeof(v));
	return v;
}

static inline uint64_t
take_u64(struct input *in)
{
	uint64_t v;

	take(in, &v, sizeof(v));
	return v;
}

/* The next bytes of it, at most n, where they are. */
static inline struct input
take_part(struct input *in, size_t n)
{
	struct input part = { in->p, n < in->left ? n : in->left };

	in->p += part.left;
	in->left -= part.left;
	return part;
}

/*
 * For targets of several things: the first byte says which, as a digit, so that
 * a person can write one.  None keeps a descriptor.
 */
static inline void
fuzz_one_of(void (*const targets[])(struct input), size_t n,
    const uint8_t *data, size_t len)
{
	const int before = count_fds();
	struct input in = { data, len };

	targets[take_u8(&in) % 48U % n](in);
	must(count_fds() == before);
}

/* A copy of its own, so that a byte too many is noticed; ends with NUL if
 * asked for.  The caller frees it. */
static inline char *
copy_of(const void *p, size_t len, bool nul)
{
	char *copy = malloc(len + nul > 0 ? len + nul : 1);

	must(copy != NULL);
	if (len > 0)
		memcpy(copy, p, len);
	if (nul)
		copy[len] = '\0';
	return copy;
}

/* -- time and turns -------------------------------------------------------- */

#ifdef FUZZ_CLOCK
#include <sys/syscall.h>

#include <time.h>
#include <unistd.h>

static uint64_t	fake_ms = 1000000;

int
clock_gettime(clockid_t id, struct timespec *ts)
{
	if (id != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, id, ts);
	ts->tv_sec = (time_t)(fake_ms / 1000);
	ts->tv_nsec = (long)(fake_ms % 1000) * 1000000;
	return 0;
}
#endif

#ifdef FUZZ_LOOP
#include "common/base/loop.h"

static void
fuzz_on_turn(void *arg)
{
	(void)arg;
	loop_stop();
}

/* Runs a turn of the loop, ms later if the clock is the input's. */
static inline void
turn(uint64_t ms)
{
	static struct loop_timer timer;

#ifdef FUZZ_CLOCK
	fake_ms += ms;
#else
	(void)ms;
#endif
	loop_timer_set(&timer, 0, fuzz_on_turn, NULL);
#ifdef FUZZ_FAULT
	fault_begin();
#endif
	must(loop_run() == 0);
#ifdef FUZZ_FAULT
	fault_end();
#endif
}
#endif

#endif
