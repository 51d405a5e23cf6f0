/* SPDX-License-Identifier: ISC */
/*
 * The timeline of one traced session.  Calls go to segments (segment.h), the
 * session, the functions' names, output and crashes to SQLite; docs/TIMELINE.md
 * has the whole.  All times are CLOCK_MONOTONIC in ns.
 *
 * A store holds three files and no directory.  A caller that has a directory
 * opens them with store_files_at(); a process that is given the same three
 * later has the same timeline, whatever became of the one before.
 *
 * Nothing that a traced program says ends the process or is believed further
 * than it can be checked.  A full disk is said once (store_trouble()), events
 * that came meanwhile are counted as lost, and storing goes on when there is
 * room.
 */
#ifndef TIMELINE_STORE_H
#define TIMELINE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_WHY	256		/* bytes of a reason */
#define STORE_NAME_MAX	4096		/* longest name or path kept */
#define STORE_TEXT_MAX	65536		/* bytes of one event of output */

struct store;

struct store_files {
	int	 calls_fd, db_fd, wal_fd;
};
#define STORE_FILES_INIT { -1, -1, -1 }

struct store_meta {
	const char	*id, *binary_path, *project_root;
	uint32_t	 pid;
	int64_t		 started_at, ended_at;	/* Unix time; 0 = not ended */
	const char	*status;	/* running, exited, stopped */
	uint64_t	 start_ns;	/* what events' times are shown from */
};

struct store_limits {
	uint64_t	 calls;		/* bytes; the oldest calls go first */
	uint64_t	 output;	/* bytes; what comes later is lost */
};
#define STORE_LIMITS_DEFAULT { (uint64_t)1 << 30, (uint64_t)50 << 20 }
#define STORE_CALLS_LEAST ((uint64_t)1 << 20)

enum event_kind {
	EVENT_ENTER = 1,
	EVENT_EXIT,
	EVENT_STDOUT,
	EVENT_STDERR,
	EVENT_CRASH,
	EVENT_CALL		/* only appended: an EVENT_ENTER, and the
				 * EVENT_EXIT that comes next */
};
/* Flags of calls, those of target.h: */
#define EVENT_SAMPLED	1		/* others were left out */
#define EVENT_UNWOUND	2		/* ended by an exception or longjmp */
#define EVENT_OPEN	4		/* there will be no EVENT_EXIT */
#define EVENT_FLAGS	7

/* A call as it is appended. */
struct event {
	uint64_t	 id;		/* set by store_append(); 0 = lost */
	uint64_t	 ts_ns;
	/*
	 * EVENT_ENTER: the call that it is in; EVENT_EXIT: its own
	 * EVENT_ENTER.  An id of the same thread, 0 = not known.
	 */
	uint64_t	 parent;
	uint64_t	 duration;	/* ns, of EVENT_EXIT and EVENT_CALL */
	uint32_t	 fn, tid;	/* fn: of store_function() */
	uint8_t		 kind;		/* one of functions */
	uint8_t		 flags;
	uint16_t	 len;		/* of captures */
	uint16_t	 exit_len;	/* of EVENT_CALL: its EVENT_EXIT's */
	const void	*captures;	/* borrowed; as the agent wrote them */
	const void	*exit_captures;	/* likewise, of EVENT_CALL */
};

struct store_function {
	uint32_t	 fn;		/* below FN_MAX (counters.h) */
	const char	*name, *raw;	/* demangled, as in the ELF */
	const char	*file;		/* absolute; NULL = not known */
	uint32_t	 line;
	const char	*ret_type;	/* "i32", "char *"; NULL = not known */
	const void	*shape;		/* of shape_pack(); NULL = not known */
	size_t		 shape_len;
};
#define STORE_SHAPE_MAX	((size_t)32 << 10)

/*
 * Turns captures into JSON, the seed's way; the store keeps them raw.  The
 * answer goes to buf and is whole JSON without newlines, at most size bytes;
 * returns its length, 0 = cannot.
 */
#define STORE_RENDER_MAX ((size_t)128 << 10)
struct store_render {
	/* an array */
	size_t	(*arguments)(void *arg, uint32_t fn, const void *captures,
		    size_t len, char *buf, size_t size);
	/* a value */
	size_t	(*result)(void *arg, uint32_t fn, const void *captures,
		    size_t len, char *buf, size_t size);
	void	*arg;
};

/*
 * The other way round: what was captured if a function's result is shown as
 * a value.  So those that are asked for are found among millions without
 * showing each.
 */
enum store_value_type {
	STORE_NULL, STORE_BOOL, STORE_INTEGER, STORE_REAL, STORE_STRING,
	STORE_COMPOUND		/* an array or object */
};

struct store_value {
	enum store_value_type type;
	bool	 truth;			/* of STORE_BOOL */
	/*
	 * STORE_INTEGER, also written as 3.0: two's complement, below zero only
	 * if negative; real is the nearest double.  STORE_REAL has only real.
	 */
	bool	 negative;
	uint64_t integer;
	double	 real;
	const char *s;			/* of STORE_STRING; borrowed */
	size_t	 len;
};

enum store_found {
	FOUND_NEVER,		/* no result of it is shown so */
	FOUND_PERHAPS,		/* each has to be shown */
	FOUND_WORD,		/* if the one capture is wanted under mask */
	FOUND_BYTES		/* only if the last capture is bytes */
};
#define STORE_BYTES_MAX	1040

struct store_inverse {
	enum store_found found;
	uint64_t wanted, mask;		/* of FOUND_WORD */
	bool	 exact;			/* so, and only so; else it is shown */
	size_t	 len;			/* of FOUND_BYTES */
	uint8_t	 bytes[STORE_BYTES_MAX];
};

typedef void	(*store_inverse_fn)(void *arg, uint32_t fn,
		    const struct store_value *, struct store_inverse *);

struct store_stats {
	uint64_t	 calls;		/* events in segments */
	uint64_t	 texts;		/* of output and crashes */
	uint64_t	 collected;	/* all that were ever stored */
	uint64_t	 evicted;	/* calls that made room for later ones */
	uint64_t	 lost;		/* calls that could not be stored */
	uint64_t	 lost_bytes;	/* of output */
	uint64_t bytes;                 /* that calls take, */
	uint64_t most;                  /* and may take now */
	uint32_t	 threads, functions;
};

/*
 * Opens, and makes where they are not, the files of timeline name in dir.
 * -1 with errno.
 */
int	 store_files_at(int dir_fd, const char *name, struct store_files *);
/* Their names, for who removes them: i from 0 on, NULL at the end. */
const char *store_file_suffix(int i);

/*
 * Opens those of a timeline to look into it, O_RDONLY: what has not been
 * written to the database yet is read from its log, which may be missing.
 * -1 with errno.
 */
int	 store_files_to_read(int dir_fd, const char *name,
	    struct store_files *);
/*
 * Makes a timeline in empty files; with meta NULL opens what is in them.
 * Files that cannot be written are only read.  Takes the files, also if it
 * fails.  NULL with words in why.
 */
struct store *store_open(const struct store_files *, const struct store_meta *,
	    const struct store_limits *, char why[STORE_WHY]);
/* The same without its calls, for who asks for store_meta() alone. */
struct store *store_peek(const struct store_files *, char why[STORE_WHY]);
/* Borrowed until store_close(). */
const struct store_meta *store_meta(const struct store *);
/*
 * Takes what is needed from *render, borrowed until store_close().  Without
 * it values are shown as the words that were captured.
 */
void	 store_set_render(struct store *, const struct store_render *);
/*
 * Takes what render.result does the other way round; arg is borrowed until
 * store_close().  Captures that are whole, and no others, count: what shows
 * those that could not be made is tried on each.  NULL = nothing is known.
 */
void	 store_set_inverse(struct store *, store_inverse_fn, void *arg);
/*
 * Called every few ms while a query, a statement or an export runs, so that
 * rings can be read and events appended; it must not ask anything itself.
 * NULL = not.
 */
void	 store_set_tick(struct store *, void (*tick)(void *arg), void *arg);
/*
 * Names a function, or names it anew; what is too long is cut.  -1: the id is
 * out of bounds, or there are too many names.
 */
int	 store_function(struct store *, const struct store_function *);
/*
 * The shape kept with a function to show its values by, the caller's to free;
 * NULL = none.  A shape that has not been flushed yet is not found.
 */
void	*store_shape(struct store *, uint32_t fn, size_t *len);
/* A thread has a name; cut to 15 bytes. */
void	 store_thread(struct store *, uint32_t tid, const char *name);
/* Borrowed until it is given another or ends; "" = it has none. */
const char *store_thread_name(const struct store *, uint32_t tid);
/* A thread has ended; the number may come back as another one. */
void	 store_thread_gone(struct store *, uint32_t tid);
/*
 * The id that the next event of a thread gets; those after it count up from
 * it, lost ones too.  So ids can be used as parents before the append.
 */
uint64_t store_next_id(struct store *, uint32_t tid);
/*
 * Appends calls, those of a thread in their order.  Times that go back or
 * lie beyond now_ns are mended.  Returns how many events were stored; an
 * EVENT_CALL is two.
 */
size_t	 store_append(struct store *, struct event *, size_t n,
	    uint64_t now_ns);
/*
 * Output of kind EVENT_STDOUT or EVENT_STDERR, any bytes, and who wrote it;
 * NULL = not known.  A character that is cut is held back until the rest of it
 * comes.
 */
struct store_writer {
	uint32_t tid;
	uint64_t parent;  /* the call that it was in; 0 = none */
	const char *name; /* of the thread; "" = not known */
};
void store_output(struct store *, uint64_t ts_ns, enum event_kind,
    const struct store_writer *, const void *, size_t len);
/* Bytes of output that were overwritten before they could be read. */
void store_output_lost(struct store *, uint64_t n);
/* A crash, told as a JSON object; what is none is kept as its string. */
void	 store_crash(struct store *, uint64_t ts_ns, uint32_t tid,
	    const char *json, size_t len);
/* Calls of a thread that the agent or the reader had to drop. */
void	 store_lost(struct store *, uint32_t tid, uint64_t n);
/*
 * All that happened up to ts has been appended: later events are not shown
 * yet, so that a reader that goes on after the last event that it saw misses
 * none.
 */
void	 store_settled(struct store *, uint64_t ts_ns);
/* Writes what is buffered.  -1: not all of it could be, see store_trouble(). */
int	 store_flush(struct store *);
/* Words about what keeps it from being written; NULL = all is well. */
const char *store_trouble(const struct store *);
/* The program has ended or tracing has been stopped; ended_at as in meta. */
void	 store_set_status(struct store *, const char *status,
	    int64_t ended_at);
/* The session is there before its process: this is the process. */
void	 store_set_pid(struct store *, uint32_t pid);
/* Another limit for calls; at least STORE_CALLS_LEAST. */
void	 store_limit(struct store *, uint64_t calls);
/*
 * Whether others would have the disk: then what is free of it is given back at
 * once, so that who was first does not keep it all.
 */
void	 store_share(struct store *, bool);
void	 store_stats(const struct store *, struct store_stats *);
/*
 * For a client with the right to look: what is shown from now on has no
 * arguments and results, and of a crash neither registers nor stack.
 */
void	 store_names_only(struct store *, bool);
/* Nothing is stored of functions from there on, neither names nor calls. */
uint32_t store_functions_end(const struct store *);
/* Its name; borrowed until the next store_function(), "" = it has none. */
const char *store_name(const struct store *, uint32_t fn);
/* How often a function was entered, of what is still there. */
uint64_t store_calls(const struct store *, uint32_t fn);
/*
 * keep: written out to the disk.  Else the files are emptied; who made their
 * names removes them.
 */
void	 store_close(struct store *, bool keep);

#endif
