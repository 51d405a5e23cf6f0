/* SPDX-License-Identifier: ISC */
/*
 * Reading a ring that a hostile program writes.
 *
 * Data is copied before it is looked at, every field is checked against what
 * it may be, and nothing in the ring can lead the reader elsewhere.  Invalid
 * data is counted and skipped.
 */
#ifndef DL_RINGREAD_H
#define DL_RINGREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "wire/capture.h"

struct ring_reader;

/* Sizes of a program's captures, all made; for a few steps of fixed size. */
#define RING_STEPS	5U
struct ring_shape {
	uint16_t lens[RING_STEPS];
	uint8_t	 n, bytes;	/* n 0: the program has to be looked at */
};

/*
 * Programs of a function; NULL: no such function.  By their shapes most records
 * are checked without looking at the programs, which lie elsewhere.
 */
struct ring_programs {
	const struct capture *enter, *leave;	/* NULL: nothing is captured */
	struct ring_shape enters, leaves;	/* ring_shape_of() them, or 0 */
	bool	 apart;		/* its ENTER is never told as a RING_CALL */
};

/* Kind of an ENTER that is told at once with its own EXIT, right behind it. */
#define RING_CALL	AGENT_KINDS

struct ring_record {
	uint64_t tsc, start;	/* start: of an EXIT */
	uint64_t end;		/* tsc of a RING_CALL's EXIT */
	uint64_t id, link;	/* id: of an EXIT its ENTER's */
	uint32_t fn, depth;	/* depth: open calls that the reader knows */
	uint8_t	 kind, flags;
	const uint8_t *captures; /* borrowed */
	uint32_t captures_len;
	const uint8_t *exit_captures; /* of a RING_CALL, likewise */
	uint32_t exit_captures_len;
};

struct ring_ops {
	/* Borrowed until the next call. */
	const struct ring_programs *(*lookup)(uint32_t fn, void *arg);
	void	(*record)(const struct ring_record *, void *arg);
	void	*arg;
	/* Where the writer looks for room, told while there is still to read;
	 * NULL: nobody does. */
	uint64_t *tail;
	/* A tsc: what is later is left for another call.  0: nothing is. */
	uint64_t upto;
	/* Called several times in a lap: a moment for other rings.  Or NULL. */
	void	(*breathe)(void *arg);
	/* No more than about a lap, also if there is more. */
	bool	 briefly;
};

struct ring_shape ring_shape_of(const struct capture *);

/*
 * ring: size bytes (a power of two), mapped and borrowed.  base: how many
 * words have been read of it already.  NULL: no memory.
 */
struct ring_reader *ring_reader_new(const void *ring, size_t size,
		    uint64_t base);
void		 ring_reader_free(struct ring_reader *);

/*
 * All that is there up to upto, in order.  now: a tsc which no record is later
 * than.  head: how far the writer says that it is; if it is where the reader is,
 * nobody looks for records behind a gap.  last: the thread is gone, so that
 * what is missing will not come.  Returns how many records were valid.
 */
size_t		 ring_reader_read(struct ring_reader *, const struct ring_ops *,
		    uint64_t now, uint64_t head, bool last);
/* Whether that ended before it had all: there is too much at once. */
bool		 ring_more(const struct ring_reader *);
/*
 * Takes what is in the ring out of it, for later: the writer has room again.
 * At most 256 MiB is taken for all readers; the rest stays in the ring.  May
 * be called by breathe().
 */
void		 ring_put_aside(struct ring_reader *);
/*
 * Gives back some of the memory that nothing is put aside in: in a storm it is
 * soon wanted again.  To be called a few times in a second, while it is true
 * that there is more.
 */
bool		 ring_relax(void);
/* Another thread writes the ring from now on. */
void		 ring_reader_forget(struct ring_reader *);
/* Words that are read or put aside; for the writer. */
uint64_t	 ring_tail(const struct ring_reader *);
/* Records that were not valid, since the last call. */
uint64_t	 ring_torn(struct ring_reader *);

/*
 * Whether the bytes are what that program can have written; of those behind
 * it only `len` says how many they are.  Public for the tests.
 */
bool		 captures_valid(const struct capture *, const uint8_t *bytes,
		    size_t len, size_t *used);

#endif
