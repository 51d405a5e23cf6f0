/* SPDX-License-Identifier: ISC */
/*
 * The output of one run of a session: a memfd with a header, marks and a
 * circle of bytes.  The spawner writes through a mapping made before the
 * memfd is sealed; everybody else can only map it read-only.
 *
 * Offsets count every byte since the start of the run.  The bytes from
 * total - min(total, size) up to total are held.
 */
#ifndef DL_RING_H
#define DL_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* Where a stretch of one stream begins, for runs with split streams. */
struct ring_mark {
	uint64_t	offset;
	uint32_t	stream;		/* 1 = stdout, 2 = stderr */
	uint32_t	pad;
};

#define RING_MARKS	4096		/* the newest are kept; power of two */

struct ring_header;

struct ring {
	struct ring_header *hdr;	/* mapped; NULL = no ring */
	struct ring_mark *marks;
	uint8_t		*data;
	size_t		 size;		/* of data, a power of two */
	size_t		 map_len;
	int		 fd;		/* the writer's, for handing out; or -1 */
	bool		 writer;
};
#define RING_INIT	{ .fd = -1 }

/* Makes, maps and seals a ring of size bytes.  -1 with errno. */
int	 ring_create(struct ring *, size_t size);
/*
 * Maps a ring that another process made, read-only.  Takes fd.  Refuses
 * (-1, errno EINVAL) what is not sealed or not shaped like a ring; else the
 * errno of mmap (ENOMEM).
 */
int	 ring_map(struct ring *, int fd);
void	 ring_close(struct ring *);

/* -- the writer -- */
/* The free stretch to read into: up to two pieces, max bytes in all. */
int	 ring_space(const struct ring *, size_t max, struct iovec iov[2]);
/* Publishes len bytes that were put there; stream 0 = not split. */
void	 ring_commit(struct ring *, size_t len, uint32_t stream);

/* -- readers: a hostile writer can make these wrong, never unsafe -- */
uint64_t ring_total(const struct ring *);
/*
 * Copies at most len bytes from *offset on.  *offset is moved up to the
 * oldest byte held (also when it lies beyond the end: down to the total).
 * Returns how many bytes were copied; the writer may have overtaken: then
 * what was overtaken is dropped and *offset moved up again.
 */
size_t	 ring_read(const struct ring *, uint64_t *offset, void *, size_t len);
/*
 * The marks of the bytes from from up to to, oldest first, at most max; the
 * first may lie before from.  Returns how many.
 */
size_t	 ring_marks(const struct ring *, uint64_t from, uint64_t to,
	    struct ring_mark *, size_t max);
/* Whether n changes of stream (n < RING_MARKS) lie behind offset, or more. */
bool	 ring_changes(const struct ring *, uint64_t offset, size_t n);
/* The stream at offset, 0 = unknown; *end = where that stretch ends. */
uint32_t ring_stream(const struct ring *, uint64_t offset, uint64_t *end);

#endif
