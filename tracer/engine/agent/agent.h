/* SPDX-License-Identifier: ISC */
/*
 * Layout of the memory between the agent in the target and the engine outside
 * of it.
 *
 * The target can write to all of this memory.  The engine trusts nothing that
 * it reads here, and follows a pointer only through the target's own memory;
 * the agent trusts it, as the agent has nothing that the target has not.
 */
#ifndef DL_AGENT_H
#define DL_AGENT_H

#include <stddef.h>
#include <stdint.h>

#define AGENT_MAGIC	0x31746e656761746cULL
#define AGENT_VERSION	2

/*
 * A single mapping, anywhere:
 *
 *	code	private, r-x	the blob
 *	home	private, rw-	struct agent_home
 *	live	private, rw-	struct agent_live, zeros after fork
 *	control	shared, rw-	struct agent_control, a memfd
 *
 * States and probes lie in private mappings of their own (a forked child has
 * its own), rings in memfds of their own.  Stubs lie near the text that they
 * belong to.
 */
#define AGENT_CODE	0x4000
#define AGENT_HOME	0x3000
#define AGENT_LIVE	0x1000
#define AGENT_CONTROL	0x11000
#define AGENT_SIZE	(AGENT_CODE + AGENT_HOME + AGENT_LIVE + AGENT_CONTROL)

#define AGENT_THREADS	1024	/* slots: threads at one time */
#define AGENT_FRAMES	2048	/* open calls of one thread */
#define AGENT_FEW	128	/* frames until which nobody looks */
#define AGENT_SPARE	64	/* for signal handlers at the very end */
#define AGENT_CHUNK	512	/* probes in a chunk */
#define AGENT_CHUNKS	1024
#define AGENT_BLOCK	8	/* slots that get memory at one time */
#define AGENT_AREAS	32	/* areas of stubs that are remembered */

/* A call that has been entered and not left: where it has to return to. */
struct agent_frame {
	uint64_t slot;	/* where on the stack its return address stood */
	uint64_t ra;	/* that address */
	uint64_t id;	/* of its ENTER record; 0: none */
	uint64_t tsc;	/* when that was */
	uint64_t under;	/* what was the reader's innermost before it */
	uint32_t probe;
	uint32_t restored; /* the stack has ra again, for an unwinder */
};

/* Values of slot that no stack has. */
#define FRAME_FREE	0 /* not in use, or about to be filled in */
#define FRAME_DEAD	1 /* given up, below others */

#define AGENT_ALT	8192	/* stack for programs with small stacks */

/* State of a thread; %gs points to it. */
struct agent_state {
	uint64_t self;	/* its own address: %gs is ours */
	uint64_t fs;	/* of the thread, or the word at it (READ_BASE); 0
			 * until it is known */
	uint64_t alt_top;
	uint64_t alt_busy;
	uint64_t ring;	/* address */
	uint64_t mask;	/* bytes - 1 */
	uint64_t head;	/* words ever reserved */
	uint64_t shared; /* address of its struct agent_slot */
	uint64_t top;	/* id of the innermost call that the reader has */
	uint64_t since;	/* of ids up to this one the reader knows none */
	uint64_t tsc;	/* of the latest record */
	uint64_t unwind_sp; /* the stack when an unwinder began */
	uint32_t unwound; /* frames have been restored since */
	uint32_t depth;
	uint32_t slot;
	uint32_t no_tsc; /* rdtsc faults here */
	uint32_t gc_at; /* frames at which dead ones are looked for; 0: few */
	uint32_t in_gc;
	struct agent_frame frames[AGENT_FRAMES + AGENT_SPARE];
	uint8_t	 alt[AGENT_ALT];
};

#define AGENT_STATE	((sizeof(struct agent_state) + 0xfff) & ~0xfffUL)

struct agent_slot {
	uint64_t tail;	/* words that the reader is done with */
	uint64_t lost;	/* calls without a record: no room */
	uint64_t lost_exits; /* of calls whose ENTER is there */
	uint64_t deep;	/* calls whose exit is not seen: too many open */
	uint64_t faults; /* captures that met bad addresses */
	uint64_t head;	/* about where the writer is; only a hint */
	uint64_t spare[2];
};

struct agent_control {
	/*
	 * A robust futex that the engine's thread owns: when that thread is
	 * gone, however it went, the kernel marks it, and nobody mends a
	 * fault any more.
	 */
	uint32_t owner;
	uint32_t spare;
	uint64_t coarse_tsc; /* for threads that may not read their own */
	uint64_t strangers;  /* calls in threads without a state */
	uint64_t robust;     /* the engine's list of these futexes */
	uint64_t pad[4];
	struct agent_slot slots[AGENT_THREADS];
};

#define AGENT_OWNER_DIED	0x40000000U

enum {
	PROBE_ON = 1,       /* records are wanted */
	PROBE_LEAVE = 2,    /* of returns too */
	PROBE_UNWINDER = 4, /* it walks the stack: restore it first */
	PROBE_CATCH = 8,    /* an exception has been caught */
	PROBE_OBJECTS = 16, /* libraries have come or gone */
	PROBE_INNER = 32,   /* records are for the engine, of calls whose first
			     * argument is one of `many` from `least` on; those
			     * that have no room are not counted */
	PROBE_ENTER_REGS = 64,  /* its enter is of nothing but CAP_REG */
	PROBE_LEAVE_REGS = 128, /* the same of leave */
	PROBE_WALKS = 256, /* it looks at its callers' return addresses: restore
			    * them first */
	/* those that do something else than others; most are no more than on */
	PROBE_KINDS = PROBE_ON | PROBE_UNWINDER | PROBE_CATCH | PROBE_OBJECTS |
		      PROBE_INNER | PROBE_WALKS
};

#define PROBE_ORIG	16
#define PROBE_VARIES	UINT32_MAX

struct agent_probe {
	uint64_t resume; /* the function's beginning, elsewhere */
	uint64_t marker; /* what stands on the stack instead of ra */
	uint64_t enter, leave; /* capture programs, 0: none */
	uint32_t enter_size, leave_size; /* their bytes, PROBE_VARIES */
	uint32_t fn;	 /* what records call it: its own index */
	uint32_t flags;
	uint32_t budget; /* calls per window, 0: all */
	uint32_t left;	 /* of these */
	uint32_t stride; /* one in so many is recorded */
	uint32_t tick;
	uint64_t calls;	 /* in this window */
	uint64_t skipped; /* ever */
	uint64_t window; /* tsc at which this one began */
	/* for an engine that finds what another one has left behind */
	uint64_t addr;
	uint8_t	 orig[PROBE_ORIG];
	uint32_t orig_len;
	uint32_t least, many; /* PROBE_INNER */
	uint32_t pad;
};

struct agent_home {
	uint64_t magic;
	uint32_t version;
	uint32_t nprobes;
	uint64_t window; /* length of a budget's window in tsc ticks */
	uint64_t name[2];
	uint64_t pad[2];
	uint64_t chunks[AGENT_CHUNKS]; /* addresses of struct agent_probe[] */
	/* what engines have made, for the next one; zeros: no more of it */
	struct {
		uint64_t states, rings;
		uint64_t size;	/* of a ring */
	} blocks[AGENT_THREADS / AGENT_BLOCK];
	struct {
		uint64_t addr, used;
	} areas[AGENT_AREAS];
	uint64_t data, data_left; /* for capture programs */
};

struct agent_live {
	uint64_t live;
};

/*
 * A record in a ring: words of 8 bytes, at any word; a ring wraps within
 * records.  commit is written last, and says where the record is, so that
 * what a former lap has left is not taken for new.
 *
 * The reader keeps the calls that are open, as it has read of them.  A brief
 * record says no more than what it cannot know: an ENTER is of a call within
 * the innermost of these, an EXIT ends that one, and time has gone on by less
 * than 2^31 ticks.  A whole one says all.  Captures follow either.
 */
enum agent_kind {
	AGENT_ENTER = 1,
	AGENT_EXIT,
	AGENT_VOID,	/* nothing: room that was not used */
	AGENT_KINDS
};

enum {
	RECORD_SAMPLED = 1, /* others of this function were not recorded */
	RECORD_UNWOUND = 2, /* it never returned: thrown or jumped over */
	RECORD_OPEN = 4,    /* ENTER without an EXIT to come */
	RECORD_BARE = 4,    /* EXIT: nothing has been captured */
	RECORD_FLAGS = 7,
};

/* In `what`: 20 bits of the function, then */
#define WHAT_KIND	20	/* 2 bits */
#define WHAT_FLAGS	22	/* 3 */
#define WHAT_WORDS	25	/* 7; 0: a whole record */
#define WHAT_FN(what)	((what) & 0xfffff)
#define BRIEF_WORDS	127
#define BRIEF_TICKS	0x80000000ULL

struct agent_brief {
	uint32_t commit; /* low bits of its id */
	uint32_t tsc;	 /* low bits */
	uint32_t what;
};

struct agent_record {
	struct agent_brief brief;
	uint32_t words;	 /* with this header */
	uint64_t tsc;
	uint64_t link;	 /* ENTER: id of the caller's; EXIT: of its ENTER */
	uint64_t start;	 /* EXIT: tsc of its ENTER */
};

/* id of the record at word `at`, never 0 */
#define RECORD_ID(at)	((at) + 1)
#define RECORD_WORDS	(sizeof(struct agent_record) / 8)

_Static_assert(sizeof(struct agent_brief) == 12, "a format");
_Static_assert(sizeof(struct agent_record) == 40, "a format");
_Static_assert(AGENT_CHUNKS * AGENT_CHUNK <= 1 << WHAT_KIND, "a number");
_Static_assert(sizeof(struct agent_probe) == 128, "two lines of cache");
_Static_assert(sizeof(struct agent_home) <= AGENT_HOME, "fits");
_Static_assert(sizeof(struct agent_control) <= AGENT_CONTROL, "fits");

/*
 * The head of the blob: offsets within it.  A fault at one of `fixups` is
 * answered by going on at its `to`.
 */
enum {
	FIXUP_READ,
	FIXUP_TSC,	/* with rdx:rax set */
	FIXUP_OBJECTS	/* after a look at what is loaded */
};

struct agent_fixup {
	uint32_t at, to, kind;
};

struct agent_header {
	uint64_t magic;
	uint32_t version, size;
	uint32_t enter, enter_small, leave, gadget;
	uint32_t fixups, fixups_end;
};

#endif
