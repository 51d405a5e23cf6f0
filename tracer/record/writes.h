/* SPDX-License-Identifier: ISC */
/*
 * Tells which thread wrote which bytes of the output, and when.  The engine
 * sees the program begin to write, and how; the bytes themselves come later, by
 * another way.  Writes and bytes are matched in their order.  Writes that were
 * seen are the program's word: they only say which thread wrote the bytes, and
 * never make bytes get lost, move or appear.
 *
 * Times are CLOCK_MONOTONIC in ns.
 */
#ifndef TRACER_WRITES_H
#define TRACER_WRITES_H

#include <stddef.h>
#include <stdint.h>

#define WRITES_HEAD 64 /* bytes of a write that are compared */
#define WRITES_NAME 16
/* For so long it is waited for the bytes of a write. */
#define WRITES_WAIT_NS 5000000000ULL

struct write_seen {
	uint64_t ts, parent; /* parent: an event's id, or 0 */
	uint64_t len;        /* UINT64_MAX = not known */
	uint32_t tid;
	int fd;                    /* 1 or 2 */
	char name[WRITES_NAME];    /* of the thread, or "" */
	uint32_t nhead;            /* 0 = not known */
	uint8_t head[WRITES_HEAD]; /* how it begins */
};

/* Bytes that belong together. */
struct write_piece {
	size_t len;
	uint64_t ts, parent; /* ts 0 = nobody knows */
	uint32_t tid;        /* 0 = nobody knows */
	char name[WRITES_NAME];
};

void writes_seen(const struct write_seen *);
/*
 * Takes the next piece of a stream (1 or 2, or 0 for both) of which n bytes (at
 * least one) are there.  merge: pieces of one thread in one call need not be
 * told apart.  The caller has to take all of the piece.
 */
struct write_piece writes_take(
    uint32_t stream, const char *, size_t n, uint64_t now, bool merge);
/*
 * The time of the first write of which the bytes have not come and are waited
 * for; UINT64_MAX = there is none.
 */
uint64_t writes_awaited(uint64_t now);
void writes_forget(void);

#endif
