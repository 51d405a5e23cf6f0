/* SPDX-License-Identifier: ISC */
/* The output ring: what a reader gets, and what it may trust. */
#include <sys/mman.h>
#include <sys/wait.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/ring.h"

#define SIZE	65536

static struct ring	 w, r;

static int
set_up(void **state)
{
	(void)state;
	if (ring_create(&w, SIZE) == -1)
		return -1;
	return ring_map(&r, dup(w.fd));
}

static int
tear_down(void **state)
{
	(void)state;
	ring_close(&w);
	ring_close(&r);
	return 0;
}

/* Bytes whose value tells their offset, so that a wrong one is noticed. */
static uint8_t
byte_at(uint64_t offset)
{
	return (uint8_t)(offset * 2654435761u >> 24);
}

static void
put(struct ring *ring, size_t len, uint32_t stream)
{
	uint64_t offset = ring_total(ring);
	struct iovec iov[2];
	size_t part, i;
	int n, j;

	while (len > 0) {
		n = ring_space(ring, len, iov);
		part = 0;
		for (j = 0; j < n; j++)
			for (i = 0; i < iov[j].iov_len; i++, part++)
				((uint8_t *)iov[j].iov_base)[i] =
				    byte_at(offset++);
		ring_commit(ring, part, stream);
		len -= part;
	}
}

static void
check(const uint8_t *p, uint64_t offset, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != byte_at(offset + i))
			fail_msg("wrong byte at offset %llu",
			    (unsigned long long)(offset + i));
}

static void
reads_what_was_written(void **state)
{
	uint8_t buf[100];
	uint64_t at = 0;

	(void)state;
	put(&w, 60, 0);
	assert_int_equal(ring_total(&r), 60);
	assert_int_equal(ring_read(&r, &at, buf, sizeof(buf)), 60);
	assert_int_equal(at, 0);
	check(buf, 0, 60);
	at = 50;
	assert_int_equal(ring_read(&r, &at, buf, sizeof(buf)), 10);
	check(buf, 50, 10);
	at = 60;
	assert_int_equal(ring_read(&r, &at, buf, sizeof(buf)), 0);
	/* beyond the end is the end */
	at = UINT64_MAX;
	assert_int_equal(ring_read(&r, &at, buf, sizeof(buf)), 0);
	assert_int_equal(at, 60);
}

static void
old_bytes_go(void **state)
{
	static uint8_t buf[SIZE * 2];
	uint64_t at = 0;

	(void)state;
	put(&w, SIZE * 5 + 123, 0);
	assert_int_equal(ring_read(&r, &at, buf, sizeof(buf)), SIZE);
	assert_int_equal(at, SIZE * 4 + 123);
	check(buf, at, SIZE);
	at = SIZE * 5;
	assert_int_equal(ring_read(&r, &at, buf, sizeof(buf)), 123);
	check(buf, at, 123);
}

static void
claimed_bytes_are_not_read(void **state)
{
	static uint8_t buf[SIZE];
	struct iovec iov[2];
	uint64_t at = 0;
	size_t n;

	(void)state;
	put(&w, SIZE, 0);
	/* the writer is about to overwrite the oldest */
	(void)ring_space(&w, 1000, iov);
	n = ring_read(&r, &at, buf, sizeof(buf));
	assert_int_equal(n, SIZE - 1000);
	assert_int_equal(at, 1000);
	check(buf, at, n);
	/* nothing came of it */
	ring_commit(&w, 0, 0);
	at = 0;
	assert_int_equal(ring_read(&r, &at, buf, sizeof(buf)), SIZE);
}

static void
space_is_half_at_most(void **state)
{
	struct iovec iov[2];
	int n;

	(void)state;
	n = ring_space(&w, SIZE_MAX, iov);
	assert_int_equal(n, 1);
	assert_int_equal(iov[0].iov_len, SIZE / 2);
	ring_commit(&w, SIZE / 2, 0);
	put(&w, SIZE / 2 - 10, 0);
	n = ring_space(&w, 100, iov);
	assert_int_equal(n, 2);
	assert_int_equal(iov[0].iov_len, 10);
	assert_int_equal(iov[1].iov_len, 90);
	assert_ptr_equal(iov[1].iov_base, w.data);
	ring_commit(&w, 0, 0);
}

static void
streams_are_told_apart(void **state)
{
	uint64_t end;

	(void)state;
	put(&w, 10, 1);
	put(&w, 10, 1);
	put(&w, 5, 2);
	put(&w, 7, 1);
	assert_int_equal(ring_stream(&r, 0, &end), 1);
	assert_int_equal(end, 20);
	assert_int_equal(ring_stream(&r, 20, &end), 2);
	assert_int_equal(end, 25);
	assert_int_equal(ring_stream(&r, 25, &end), 1);
	assert_int_equal(end, 32);
}

static void
many_marks(void **state)
{
	uint64_t end, at;
	uint32_t i;

	(void)state;
	for (i = 0; i < RING_MARKS * 2; i++)
		put(&w, 3, i % 2 + 1);
	/* the newest are known, those whose mark has gone are not */
	for (at = ring_total(&r) - 3 * (RING_MARKS - 2);
	    at < ring_total(&r); at = end) {
		assert_int_equal(ring_stream(&r, at, &end), at / 3 % 2 + 1);
		assert_int_equal(end, at + 3);
	}
	assert_int_equal(ring_stream(&r, 0, &end), 0);
}

static void
changes_are_counted(void **state)
{
	uint64_t i;

	(void)state;
	assert_false(ring_changes(&r, 0, 1));
	/* a mark at each byte */
	for (i = 0; i < 100; i++)
		put(&w, 1, 1 + i % 2);
	assert_true(ring_changes(&r, 0, 99));
	assert_false(ring_changes(&r, 0, 100));
	assert_true(ring_changes(&r, 50, 49));
	assert_false(ring_changes(&r, 50, 50));
	assert_false(ring_changes(&r, 99, 1));
	assert_false(ring_changes(&r, UINT64_MAX, 1));
	for (; i < 3 * RING_MARKS; i++)
		put(&w, 1, 1 + i % 2);
	assert_true(ring_changes(&r, 0, RING_MARKS / 2));
	assert_false(ring_changes(&r, i - 10, RING_MARKS / 2));
}

static void
readers_cannot_write(void **state)
{
	void *map;
	int fd = dup(w.fd);

	(void)state;
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(map == MAP_FAILED);
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	close(fd);
}

static void
not_a_ring(void **state)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE;
	const off_t sizes[] = { 0, 1, 4096, 200000, 1 << 20 };
	struct ring x;
	size_t i;
	int fd;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fd = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		assert_int_equal(ftruncate(fd, sizes[i]), 0);
		assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
		assert_int_equal(ring_map(&x, fd), -1);
		assert_null(x.hdr);
	}
	/* a good one whose size could still change under the reader */
	fd = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(fd, (off_t)w.map_len), 0);
	assert_int_equal(pwrite(fd, w.hdr, 4096, 0), 4096);
	assert_int_equal(ring_map(&x, dup(fd)), -1);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	assert_int_equal(ring_map(&x, fd), 0);
	ring_close(&x);
	assert_int_equal(ring_map(&x, open("/dev/null", O_RDONLY)), -1);
}

static void
sizes(void **state)
{
	const size_t bad[] = { 0, 1, 4095, 65537, 100000, (size_t)128 << 20,
	    SIZE_MAX };
	struct ring x;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(ring_create(&x, bad[i]), -1);
		assert_int_equal(errno, EINVAL);
	}
}

/* The header is the writer's: a reader stays inside its mapping. */
static void
hostile_writer(void **state)
{
	static uint8_t buf[SIZE * 2];
	uint64_t values[] = { 0, 1, UINT64_MAX, UINT64_MAX - SIZE, SIZE / 2,
	    (uint64_t)1 << 63 };
	uint64_t *hdr, at, end;
	size_t i, j, k, n;

	(void)state;
	put(&w, SIZE, 1);
	hdr = (uint64_t *)(void *)w.hdr;
	for (i = 0; i < 6; i++)
		for (j = 0; j < 6; j++)
			for (k = 0; k < 6; k++) {
				/* total, reserved, number of marks */
				hdr[2] = values[i];
				hdr[3] = values[j];
				hdr[4] = values[k];
				at = values[k];
				n = ring_read(&r, &at, buf, sizeof(buf));
				assert_true(n <= SIZE);
				(void)ring_stream(&r, values[j], &end);
			}
}

static void
overtaken_reader(void **state)
{
	static uint8_t buf[SIZE / 4];
	uint64_t at = 0, lost = 0, seen = 0;
	const uint64_t all = (uint64_t)SIZE * 400;
	pid_t pid;
	size_t n;
	int status;

	(void)state;
	pid = fork();
	if (pid == 0) {
		while (ring_total(&w) < all)
			put(&w, 777, 0);
		_exit(0);
	}
	while (at < all) {
		uint64_t from = at;

		n = ring_read(&r, &at, buf, sizeof(buf));
		assert_true(at >= from);
		lost += at - from;
		check(buf, at, n);
		at += n;
		seen += n;
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(seen + lost, at);
	assert_true(seen > 0);
}

#define T(f)	cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(reads_what_was_written),
		T(old_bytes_go),
		T(claimed_bytes_are_not_read),
		T(space_is_half_at_most),
		T(streams_are_told_apart),
		T(many_marks),
		T(changes_are_counted),
		T(readers_cannot_write),
		T(not_a_ring),
		T(sizes),
		T(hostile_writer),
		T(overtaken_reader),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
