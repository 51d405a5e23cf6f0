/* SPDX-License-Identifier: ISC */
/* The output ring: shared memory with one writer and any number of readers. */
#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "ring.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL		0x0008U
#endif

#define RING_MAGIC	0x676e69726c6744ULL
#define RING_SIZE_MIN	4096
#define RING_SIZE_MAX	((size_t)64 << 20)
#define RING_SEALS	(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE)

struct ring_header {
	uint64_t		magic;
	uint64_t		size;
	_Atomic uint64_t	total;		/* published */
	_Atomic uint64_t	reserved;	/* may be being overwritten up to here */
	_Atomic uint64_t	nmarks;		/* ever made */
	uint64_t		pad[3];
};

#define HEADER_LEN	4096

_Static_assert((RING_MARKS & (RING_MARKS - 1)) == 0, "marks are masked");

static size_t
marks_len(void)
{
	return sizeof(struct ring_mark) * RING_MARKS;
}

static size_t
whole_len(size_t size)
{
	return HEADER_LEN + marks_len() + size;
}

static bool
good_size(size_t size)
{
	return size >= RING_SIZE_MIN && size <= RING_SIZE_MAX &&
	    (size & (size - 1)) == 0;
}

static void
set_pointers(struct ring *r, void *map, size_t size)
{
	r->hdr = map;
	r->marks = (struct ring_mark *)(void *)((uint8_t *)map + HEADER_LEN);
	r->data = (uint8_t *)map + HEADER_LEN + marks_len();
	r->size = size;
	r->map_len = whole_len(size);
}

static int
make_memfd(void)
{
	int fd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING |
	    MFD_NOEXEC_SEAL);

	/* kernels before 6.3 do not know the flag */
	if (fd == -1 && errno == EINVAL)
		fd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd;
}

int
ring_create(struct ring *r, size_t size)
{
	void *map = MAP_FAILED;
	int fd, saved;

	*r = (struct ring)RING_INIT;
	if (!good_size(size)) {
		errno = EINVAL;
		return -1;
	}
	fd = make_memfd();
	if (fd == -1 || ftruncate(fd, (off_t)whole_len(size)) == -1)
		goto fail;
	map = mmap(NULL, whole_len(size), PROT_READ | PROT_WRITE, MAP_SHARED,
	    fd, 0);
	if (map == MAP_FAILED ||
	    fcntl(fd, F_ADD_SEALS, RING_SEALS | F_SEAL_SEAL) == -1)
		goto fail;
	set_pointers(r, map, size);
	r->hdr->magic = RING_MAGIC;
	r->hdr->size = size;
	r->fd = fd;
	r->writer = true;
	return 0;
fail:
	saved = errno;
	if (map != MAP_FAILED)
		munmap(map, whole_len(size));
	if (fd != -1)
		close(fd);
	errno = saved;
	return -1;
}

int
ring_map(struct ring *r, int fd)
{
	struct stat st;
	void *map = MAP_FAILED;
	size_t size, len = 0;
	int seals = fcntl(fd, F_GET_SEALS), error = EINVAL;

	*r = (struct ring)RING_INIT;
	if (seals == -1 || (seals & RING_SEALS) != RING_SEALS ||
	    fstat(fd, &st) == -1 || st.st_size < (off_t)whole_len(0))
		goto fail;
	len = (size_t)st.st_size;
	size = len - whole_len(0);
	if (!good_size(size))
		goto fail;
	map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		error = errno;
		goto fail;
	}
	set_pointers(r, map, size);
	if (r->hdr->magic != RING_MAGIC || r->hdr->size != size)
		goto fail;
	close(fd);
	return 0;
fail:
	if (map != MAP_FAILED)
		munmap(map, len);
	close(fd);
	*r = (struct ring)RING_INIT;
	errno = error;
	return -1;
}

void
ring_close(struct ring *r)
{
	if (r->hdr != NULL)
		munmap(r->hdr, r->map_len);
	if (r->fd != -1)
		close(r->fd);
	*r = (struct ring)RING_INIT;
}

uint64_t
ring_total(const struct ring *r)
{
	if (r->hdr == NULL)
		return 0;
	return atomic_load_explicit(&r->hdr->total, memory_order_acquire);
}

int
ring_space(const struct ring *r, size_t max, struct iovec iov[2])
{
	uint64_t total = ring_total(r);
	size_t at = (size_t)total & (r->size - 1);
	size_t first = r->size - at;

	/* half at most, so that what was just written stays readable */
	if (max > r->size / 2)
		max = r->size / 2;
	/* readers must see the claim before any byte below it changes */
	atomic_store_explicit(&r->hdr->reserved, total + max,
	    memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	if (first >= max) {
		iov[0] = (struct iovec){ r->data + at, max };
		return 1;
	}
	iov[0] = (struct iovec){ r->data + at, first };
	iov[1] = (struct iovec){ r->data, max - first };
	return 2;
}

static void
mark(struct ring *r, uint64_t offset, uint32_t stream)
{
	uint64_t n = atomic_load_explicit(&r->hdr->nmarks,
	    memory_order_relaxed);
	struct ring_mark *last;

	if (n > 0) {
		last = &r->marks[(n - 1) & (RING_MARKS - 1)];
		if (last->stream == stream)
			return;
	}
	r->marks[n & (RING_MARKS - 1)] = (struct ring_mark){ offset, stream,
	    0 };
	atomic_store_explicit(&r->hdr->nmarks, n + 1, memory_order_release);
}

void
ring_commit(struct ring *r, size_t len, uint32_t stream)
{
	uint64_t total = ring_total(r);

	if (stream != 0 && len > 0)
		mark(r, total, stream);
	atomic_store_explicit(&r->hdr->total, total + len,
	    memory_order_release);
	atomic_store_explicit(&r->hdr->reserved, total + len,
	    memory_order_release);
}

static uint64_t
oldest(const struct ring *r, uint64_t end)
{
	return end > r->size ? end - r->size : 0;
}

size_t
ring_read(const struct ring *r, uint64_t *offset, void *buf, size_t len)
{
	uint64_t total = ring_total(r);
	uint64_t from = *offset, floor;
	size_t at, first, lost;

	if (from < oldest(r, total))
		from = oldest(r, total);
	if (from > total)
		from = total;
	if (len > total - from)
		len = (size_t)(total - from);
	if (len > r->size)
		len = r->size;
	at = (size_t)from & (r->size - 1);
	first = len < r->size - at ? len : r->size - at;
	memcpy(buf, r->data + at, first);
	memcpy((uint8_t *)buf + first, r->data, len - first);
	/* the copies above must not sink below the second look */
	atomic_thread_fence(memory_order_seq_cst);
	floor = oldest(r, atomic_load_explicit(&r->hdr->reserved,
	    memory_order_acquire));
	if (floor > from) {
		lost = floor - from < len ? (size_t)(floor - from) : len;
		memmove(buf, (uint8_t *)buf + lost, len - lost);
		from += lost;
		len -= lost;
	}
	*offset = from;
	return len;
}

bool
ring_changes(const struct ring *r, uint64_t offset, size_t n)
{
	uint64_t made;

	if (r->hdr == NULL)
		return false;
	made = atomic_load_explicit(&r->hdr->nmarks, memory_order_acquire);
	return made >= n &&
	    r->marks[(made - n) & (RING_MARKS - 1)].offset > offset;
}

uint32_t
ring_stream(const struct ring *r, uint64_t offset, uint64_t *end)
{
	uint64_t n, i, low;
	struct ring_mark m;

	*end = ring_total(r);
	if (r->hdr == NULL)
		return 0;
	n = atomic_load_explicit(&r->hdr->nmarks, memory_order_acquire);
	/* one slot less: the writer may be changing the oldest */
	low = n > RING_MARKS - 1 ? n - (RING_MARKS - 1) : 0;
	for (i = n; i > low; i--) {
		m = r->marks[(i - 1) & (RING_MARKS - 1)];
		if (m.offset <= offset)
			return m.stream;
		*end = m.offset;
	}
	return 0;
}

size_t
ring_marks(const struct ring *r, uint64_t from, uint64_t to,
    struct ring_mark *out, size_t max)
{
	uint64_t n, i, first;
	size_t count = 0;

	if (r->hdr == NULL)
		return 0;
	n = atomic_load_explicit(&r->hdr->nmarks, memory_order_acquire);
	first = n > RING_MARKS - 1 ? n - (RING_MARKS - 1) : 0;
	/* down to the one that from lies in */
	for (i = n; i > first; i--)
		if (r->marks[(i - 1) & (RING_MARKS - 1)].offset <= from)
			break;
	for (i = i > first ? i - 1 : first; i < n && count < max; i++) {
		out[count] = r->marks[i & (RING_MARKS - 1)];
		if (out[count].offset >= to)
			break;
		count++;
	}
	return count;
}
