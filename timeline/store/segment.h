/* SPDX-License-Identifier: ISC */
/*
 * The format of calls on disk.  A segment holds consecutive events of one
 * thread: a header of 128 bytes, records, and once it is sealed an index: how
 * often each function is in it with what, and the keys of return values that
 * have no number.  Segment n lies at n * SEG_SIZE of a sparse file; what is
 * not used of one takes no room.
 *
 * A record is an entry, an exit, or both of a call in which nothing else was
 * recorded.  It is as long as it has to be, in units of 4 bytes: a head, then
 *
 *	REC_ENTER	[distance] captures
 *	REC_EXIT	[distance] duration captures
 *	REC_CALL	[distance] captures | u32 duration, captures of the exit
 *
 * Nearly all have a brief head of 20 bytes (struct rec_brief); what was
 * captured is packed then (pack.h), and the duration is a u32.  Others, that
 * are far from the segment's first event or from their parent, or in which
 * more has been captured than registers, have one of 24 bytes (struct
 * rec_head), a u64 in REC_EXIT, a distance (u64) if 32 bits are not enough for
 * it, and captures as the agent wrote them.  The part behind | begins at a
 * multiple of 4.
 *
 * Times in a segment never go backwards.  Numbers are in the host's byte
 * order: the file never leaves it without its daemon.
 *
 * The header counts what was written completely before it, so a writer that
 * dies leaves a readable beginning.  A reader believes nothing: the owner of
 * the traced program may own the file.
 */
#ifndef TIMELINE_SEGMENT_H
#define TIMELINE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pack.h"

#define SEG_SIZE	((uint32_t)272 << 10)
#define SEG_HEAD	128U
#define SEG_DATA	((uint32_t)160 << 10)	/* most bytes of records */
#define SEG_UNIT	4U
#define SEG_RECORDS	4096U			/* most in a segment */
#define SEG_SUMS	(2 * SEG_RECORDS)	/* most rows of a summary */
#define SEG_SLOTS	(2 * SEG_SUMS)		/* a power of two */
#define SEG_CAPTURES	8192U			/* most of one event */
#define REC_HEAD	24U
#define REC_BRIEF	20U			/* the least of a record */
#define REC_SIZE_MAX	(REC_HEAD + 16 + SEG_CAPTURES + 8 + SEG_CAPTURES)

#define ORD_BITS	24
#define ORD_MAX		((1U << ORD_BITS) - 1)
#define SEQ_MAX		((UINT64_C(1) << 40) - 1)

struct seg_head {
	uint64_t magic, tag;		/* tag: of this timeline */
	uint32_t ord, tid;		/* ord: 1 to ORD_MAX, never used twice */
	char	 name[16];
	uint64_t first_seq, first_ts, last_ts;
	uint32_t count, bytes;		/* of events; of records */
	uint32_t nsums;			/* 0 = not sealed */
	uint32_t check;
	uint32_t nothers, nkeys;	/* see struct seg_index */
	uint8_t	 zero[40];
};

enum {
	REC_ENTER = 1,
	REC_EXIT = 2,
	REC_CALL = 3			/* on disk alone: both */
};

/* Classes of what a function returned: equal captures, one number. */
#define CLASS_MAX	30U		/* numbers of a function */
#define CLASS_ODD	0xfffdU		/* has neither number nor key */
#define CLASS_ENTER	0xfffeU		/* in summaries: of REC_ENTER */
#define CLASS_OTHER	0xffffU		/* has a key */

static inline bool
class_is_other(uint16_t class)
{
	return class == CLASS_OTHER || class == CLASS_ODD;
}

/*
 * The heads of a record.  what: function (20 bits), kind (2), flags (3), class
 * (6), of captures and of those of an exit behind an entry 15 bits each (their
 * bytes, or the codes by which they are packed), two that are 0, and one that
 * says which head it is.  when: ns since the segment's first event, and from
 * bit 48 on, or in `after`, how many events after it this one comes.  back:
 * how many events before it its parent is, 0 = none, REC_FAR = see the
 * distance.
 */
struct rec_head {
	uint64_t what, when;
	uint32_t back, check;
};
struct rec_brief {
	uint64_t what;
	uint32_t when;
	uint16_t after, back;
	uint32_t check;
};
#define REC_FAR		UINT32_MAX
#define REC_WHEN_MAX	((UINT64_C(1) << 48) - 1)
#define REC_AFTER_MAX	UINT16_MAX

/* An event of it. */
struct rec {
	uint64_t ts, duration;
	uint64_t seq, back;		/* back: as above, whatever it is */
	const uint8_t *captures;	/* borrowed; see rec_captures() */
	uint32_t fn;
	uint16_t len;			/* of captures, as the agent wrote them */
	uint16_t codes;			/* by which they are packed, 0 = not */
	uint16_t class;			/* CLASS_ENTER in REC_ENTER */
	uint8_t	 kind, flags;
};

/* The first event of a segment, from which others count. */
struct seg_first {
	uint64_t ts, seq;
};

struct seg_sum {
	uint32_t fn;
	uint16_t class, count;
};

/*
 * Rows for all that is in a segment; the last nothers of them are of
 * CLASS_ODD and CLASS_OTHER.  These have as many keys as they count, in the
 * same order, and of each key the unit in which its record begins.
 */
struct seg_index {
	struct seg_sum rows[SEG_SUMS];
	uint64_t keys[SEG_RECORDS];	/* 0 of CLASS_ODD */
	uint16_t units[SEG_RECORDS];
	uint32_t nrows, nothers, nkeys;
};

/* Rows as they are found; seg_building_index() puts them in order. */
struct seg_building {
	uint16_t slots[SEG_SLOTS];	/* row + 1; 0 = none */
	struct seg_sum rows[SEG_SUMS];
	uint64_t keys[SEG_RECORDS];
	uint16_t key_rows[SEG_RECORDS], units[SEG_RECORDS];
	uint32_t nrows, nkeys;
};

/* Fills check in. */
void	 seg_head_seal(struct seg_head *);
/* Whether these are SEG_HEAD bytes of one with that tag; copies it to out. */
bool	 seg_head_read(const void *, uint64_t tag, struct seg_head *out);

static inline uint32_t
rec_round(size_t len)
{
	return ((uint32_t)len + SEG_UNIT - 1) & ~(SEG_UNIT - 1);
}

/* The most bytes that an entry or exit takes. */
static inline uint32_t
rec_size(const struct rec *r)
{
	return rec_round(REC_HEAD + (r->back >= REC_FAR ? 8U : 0) +
	    (r->kind == REC_EXIT ? 8U : 0) + r->len);
}

/*
 * Writes an entry or exit with its captures (which are not packed yet) and
 * check, of which ts and seq lie within REC_WHEN_MAX and REC_AFTER_MAX of the
 * first; returns its size.  There is room for rec_size() bytes; those behind
 * its end are anything.
 */
uint32_t rec_write(uint8_t *to, const struct seg_first *,
	    const struct rec *);
/*
 * Makes one record of an entry at `at`, and its exit, which is the event
 * behind it.  room: bytes at `at`, of which it wants PACK_SLACK more than it
 * fills.  Returns its new size, 0 = it cannot be.
 */
uint32_t rec_join(uint8_t *at, size_t room, const struct seg_first *,
	    const struct rec *exit);
/* Writes a REC_CALL at once; its exit's duration fits into 32 bits. */
uint32_t rec_write_call(uint8_t *to, const struct seg_first *,
	    const struct rec *enter, const struct rec *exit);

/* The most bytes that it takes. */
static inline uint32_t
rec_call_size(const struct rec *enter, uint32_t exit_len)
{
	return rec_round(((REC_HEAD + (enter->back >= REC_FAR ? 8U : 0) +
	    enter->len + 3U) & ~3U) + (uint32_t)sizeof(uint32_t) + exit_len);
}
/* Makes the check of a record right, whatever it is; false: beyond left. */
bool	 rec_seal(uint8_t *at, size_t left);
/*
 * Reads a record: its size, 0 if left bytes are not all of it, -1 if it is
 * none.  r[1] is the exit of a REC_CALL, else r[1].kind is 0.
 */
int32_t	 rec_read(const uint8_t *at, size_t left, const struct seg_first *,
	    struct rec r[2]);
/*
 * The captures, r->len bytes as the agent wrote them; borrowed from the record,
 * or unpacked to room.
 */
const uint8_t *rec_captures(const struct rec *, uint8_t room[PACK_WHOLE]);
/*
 * How many bytes at data are good records whose times and sequences do not
 * go backwards nor leave what head says; *count events, the last of which is
 * *last.
 */
uint32_t seg_good(const struct seg_head *head, const uint8_t *data,
	    size_t len, uint32_t *count, struct rec *last);
/* Makes the index of good records. */
void	 seg_index(const uint8_t *data, size_t len, uint64_t tag,
	    struct seg_index *out);
/*
 * Makes the same while records are written: at each event its class, its key
 * (of CLASS_OTHER; else 0) and the bytes before its record.  There is room for
 * as many as are in a segment.
 */
void	 seg_building_begin(struct seg_building *);
void	 seg_building_add(struct seg_building *, uint32_t fn, uint16_t class,
	    uint64_t key, size_t at);
void	 seg_building_index(const struct seg_building *, struct seg_index *);
/* Whether rows may be the summary of count records. */
bool	 seg_sums_good(const struct seg_sum *, uint32_t nsums,
	    uint32_t count);
/* Whether rows may be those of nkeys keys. */
bool	 seg_others_good(const struct seg_sum *, uint32_t nothers,
	    uint32_t nkeys);
/*
 * The key of captures: the bytes of the last one as a number if they are at
 * most eight, else a hash of them that the program cannot foresee.  0: there
 * is none, as something could not be captured, or a lone zero.
 */
uint64_t seg_key(const void *captures, size_t len, uint64_t tag);
/* The key of len bytes that are the last of several captures. */
uint64_t seg_key_of(const void *, size_t len, uint64_t tag);

static inline uint64_t
id_of(uint32_t ord, uint64_t seq)
{
	return (uint64_t)ord << 40 | seq;
}

static inline uint32_t
id_ord(uint64_t id)
{
	return (uint32_t)(id >> 40);
}

static inline uint64_t
id_seq(uint64_t id)
{
	return id & SEQ_MAX;
}

#endif
