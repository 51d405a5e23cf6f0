/* SPDX-License-Identifier: ISC */
/* Shared by the parts of the store; no other source includes this. */
#ifndef TIMELINE_STORE_INT_H
#define TIMELINE_STORE_INT_H

#include <sqlite3.h>

#include "base/text.h"
#include "counters.h"
#include "segment.h"
#include "store.h"

#define BUFFERS_MAX	64		/* of SEG_DATA bytes each */
#define FN_WORDS	64U		/* most of a chunk's bits of functions */
#define MARK_WORDS	256U		/* most of its marks */
#define THREAD_BUCKETS	1024

/* A segment, on disk or being written. */
struct chunk {
	struct buffer *buffer;		/* what comes next is put here; or NULL */
	uint64_t first_seq, last_seq, first_ts, last_ts;
	uint32_t slot;
	uint32_t count, bytes;		/* of events, records; buffered, too */
	uint32_t nrecords;		/* of these; 0 if it is sealed */
	uint32_t latest;		/* where the last one begins */
	uint32_t written;		/* bytes in the file */
	uint32_t nsums;			/* 0 = it has no index */
	uint16_t nothers, nkeys;	/* of it, as in struct seg_index */
	uint32_t nenter;		/* of count; of those in a buffer too */
	/*
	 * Bits of the functions in it, and behind them marks of the values that
	 * they returned; owned, NULL = not known.  Both numbers are powers of two.
	 */
	uint64_t *fns;
	uint32_t nwords, nmarks;
	uint32_t used;			/* bytes of disk that it has */
	bool	 sealed;
};

/* From what its records count. */
static inline struct seg_first
chunk_first(const struct chunk *c)
{
	return (struct seg_first){ c->first_ts, c->first_seq };
}

/* A segment's place that nobody has. */
struct free_slot {
	uint32_t slot, held;		/* bytes of disk that are still in it */
};

struct buffer {
	struct buffer *prev, *next;	/* the latest used first */
	struct thread *thread;		/* whose last chunk's it is */
	uint32_t base;			/* offset in data of bytes[0] */
	struct seg_building building;	/* of what is in bytes; base is 0 */
	uint8_t	 bytes[SEG_DATA];
};

/* Where the next bytes of records go; only after chunk_for(). */
static inline uint8_t *
chunk_end(struct chunk *c)
{
	return c->buffer->bytes + (c->bytes - c->buffer->base);
}

struct thread {
	struct thread *next;		/* of the same bucket */
	struct chunk **chunks;		/* oldest first; owned */
	uint32_t nchunks, cap;
	uint32_t ord, tid;
	char	 name[16];
	bool	 gone;			/* its tid may be another thread's */
	uint64_t next_seq, last_ts;
	uint64_t nenter, nexit, lost;
};

struct function {
	char	*name, *raw, *file, *ret_type;	/* owned; name NULL = unused */
	uint32_t line;
};

/* The beginning of a character, until the rest of it comes. */
struct tail {
	char s[4], name[16];
	size_t len;
	uint64_t ts, parent;
	uint32_t tid;
};

/* A row that waits for the next transaction. */
struct pending {
	struct pending *next;
	uint8_t	 kind;			/* enum event_kind; 0 = a function */
	uint32_t tid;			/* or the function's id */
	uint64_t ts, id, parent;
	char name[16]; /* of the thread */
	size_t	 len;
	char	 body[];
};

struct store {
	struct store_files files;
	struct store_limits limits;
	struct store_meta meta;		/* strings are owned */
	struct store_render render;
	store_inverse_fn inverse;
	void	*inverse_arg;
	bool	 names_only;		/* values are not shown */
	void	(*tick)(void *);
	void	*tick_arg;
	uint64_t tag, settled;
	uint64_t latest_ts;		/* time of the last event */
	uint64_t horizon;		/* what is later is not shown now */

	struct thread **threads;	/* by ord, in order; owned */
	uint32_t nthreads, threads_cap, next_ord;
	struct thread *buckets[THREAD_BUCKETS], *latest;
	struct buffer *first_buffer, *last_buffer, *spare;
	uint32_t nbuffers;
	struct free_slot *free_slots;
	uint32_t nfree, free_cap, nslots;
	uint64_t used, spare_bytes;	/* of disk: in chunks, in free slots */
	bool	 shared;		/* others would have what is free */
	uint64_t evicted, lost, collected;
	unsigned int pins;		/* readers that need what is there */

	struct rec enter, leave;	/* of what is being appended */
	uint64_t key;			/* of its exit, 0 = it has none */
	struct counters counters;
	struct function *functions;
	uint32_t nfunctions, functions_cap;	/* named; size of the array */
	size_t	 functions_bytes;		/* of their names */

	sqlite3	*db;
	char	 db_name[32];
	struct pending *rows, **rows_end;
	size_t	 rows_bytes;
	uint64_t next_text, ntexts[EVENT_CRASH + 1];
	uint64_t output_bytes, lost_bytes;
	bool	 meta_dirty;
	struct tail tails[2]; /* of stdout and stderr */

	char	 calls_trouble[STORE_WHY], db_trouble[STORE_WHY];
};

/* -- store_chunk.c: the segments of threads -- */
/*
 * The last chunk of a thread with room for a record of size bytes that is its
 * next event; NULL = no room.
 */
struct chunk *chunk_for(struct store *, struct thread *, uint32_t size,
	    uint64_t ts);
/* Writes a thread's buffered records.  -1: trouble is set. */
int	 chunk_write(struct store *, struct thread *);
/* Writes and ends its last chunk. */
int	 chunk_seal(struct store *, struct thread *);
/* Room for another chunk at the end of a thread's; NULL = no memory. */
struct chunk *chunk_add(struct thread *);
/* Frees one that is on no list; its room on disk can be used again. */
void	 chunk_free(struct store *, struct chunk *);
/* Takes a chunk's buffer away, with what is in it. */
void	 buffer_drop(struct store *, struct chunk *);
/* Writes its index, and the header that counts it.  -1 with errno. */
int	 chunk_write_index(struct store *, const struct thread *,
	    const struct chunk *, const struct seg_index *);
/* The room that it takes counts, that of its index as well. */
void	 chunk_charge(struct store *, struct chunk *);
/* Gives back what it has of the disk beyond that, from who had it before. */
void	 chunk_trim(struct store *, struct chunk *);
/* Reads len bytes of a chunk's records at offset; -1 if they are not there. */
int	 chunk_read(const struct store *, const struct chunk *, uint32_t offset,
	    void *, uint32_t len);
/* It is sealed with this index: notes what is in it. */
void	 chunk_index(struct chunk *, const struct seg_index *);
/* Its summary, read or made; at most SEG_SUMS rows.  Returns how many. */
uint32_t chunk_sums(const struct store *, const struct chunk *,
	    struct seg_sum *);
/* CLASS_ODD and CLASS_OTHER, read or made; borrowed until the next call. */
struct others {
	const struct seg_sum *rows;
	const uint64_t *keys;		/* as in struct seg_index */
	const uint16_t *units;
	uint32_t nrows;
};
void	 chunk_others(const struct store *, const struct chunk *,
	    struct others *);
/* Bits that stand for a function's class, and for a key, among marks. */
uint64_t mark_of_class(uint32_t fn, uint16_t class);
uint64_t mark_of_key(uint64_t key);
/* False only if nothing that has that mark is in the chunk. */
bool	 chunk_marked(const struct chunk *, uint64_t mark);
/* -- store_slot.c -- */
struct free_slot slot_get(struct store *);
/* Frees a slot, with so many bytes of disk in it. */
void	 slot_put(struct store *, uint32_t slot, uint32_t held);
/* A slot's disk from there on (whole pages).  False: errno. */
bool	 slot_give_back(const struct store *, uint32_t slot, uint32_t from);
/* Gives disk of free slots back until the file has no more than most. */
void	 slots_trim(struct store *, uint64_t most);
/* -- store_evict.c -- */
void	 store_evict(struct store *);
/* -- store_thread.c -- */
struct thread *thread_of(struct store *, uint32_t tid);
struct thread *thread_new(struct store *, uint32_t ord, uint32_t tid);
struct thread *thread_by_ord(const struct store *, uint32_t ord);
/* Frees those that are gone and have nothing left. */
void	 threads_sweep(struct store *);
void	 threads_free(struct store *);
/* -- store_recover.c -- */
int	 store_recover(struct store *, char why[STORE_WHY]);
/* -- store_vfs.c: SQLite on two open files -- */
/* Registers them; name is what sqlite3_open_v2() gets.  Borrows the fds. */
int	 vfs_register(int db_fd, int wal_fd, char name[32]);
void	 vfs_unregister(const char *name);
#define VFS_NAME	"dl-files"
/* -- store_db.c -- */
/* Reads only the session from an existing database. */
int	 db_peek(struct store *, char why[STORE_WHY]);
int	 db_open(struct store *, bool fresh, char why[STORE_WHY]);
void	 db_close(struct store *);
/* Takes the row. */
void	 db_queue(struct store *, struct pending *);
int	 db_flush(struct store *);
/* -- store_text.c -- */
void	 texts_end(struct store *);
/* -- store_json.c -- */
/* Whether it is a JSON object on one line, at most 16 deep, and no more. */
bool	 json_is_object(const char *, size_t len);
/* -- store_function.c -- */
const struct function *function_of(const struct store *, uint32_t fn);
int	 function_set(struct store *, const struct store_function *);
void	 functions_free(struct store *);

/* Somebody asks for long: others may have something to do. */
void	 store_tick(const struct store *);

/* Sets or clears words of trouble; says at most one line per trouble. */
void	 trouble_set(char words[STORE_WHY], const char *what, int err);
void	 trouble_clear(char words[STORE_WHY]);

#endif
