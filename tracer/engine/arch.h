/* SPDX-License-Identifier: ISC */
/*
 * Processor-dependent part of the engine.  Only x86_64 is there; elsewhere
 * arch_supported() says so and nothing else is called.
 *
 * Nothing here touches a target: bytes come in and bytes go out.
 */
#ifndef DL_ARCH_H
#define DL_ARCH_H

#include <sys/user.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCH_MOVED	48	/* most bytes of a function that move */
#define ARCH_STUB	256	/* most bytes of a stub */
#define ARCH_HEAD	64	/* bytes at the beginning of an area of stubs */
#define ARCH_REACH	0x7ff00000UL /* how far from the text it may lie */
#define ARCH_JUMP	5	/* bytes that are written over the function */
#define ARCH_INSNS	16
#define ARCH_TRAP	1	/* bytes of a trap */
#define ARCH_GADGET	3	/* of a system call and a trap behind it */
#define ARCH_ARGS	6	/* registers that carry integer arguments */
#define ARCH_FP 6               /* ... and that of frames */
#define ARCH_SP 7               /* the stack's register, as DWARF numbers it */
#define ARCH_CALLED 8           /* bytes that a call leaves on the stack */
#define ARCH_NAMES	"x86-64" /* all that there are */

/* Static text; NULL if functions can be traced on this machine. */
const char	*arch_supported(void);
/* The remedy for a program or a host that cannot be traced. */
#define ARCH_REMEDY()							\
	(arch_supported() == NULL ? "trace a 64-bit program for " ARCH_NAMES : \
	"trace on a host with such a processor")

/* Whether programs of this ELF machine run on this one. */
bool		 arch_runs(uint16_t machine);

/* The processor's clock, in ticks. */
uint64_t	 arch_clock(void);

/* The register, as capture.h numbers them, of a call's argument n, below
 * ARCH_ARGS, and of its integer result. */
uint8_t		 arch_arg(uint32_t n);
uint8_t		 arch_result(void);

/*
 * Registers of a thread that is stopped, as PTRACE_GETREGSET has them.  Only
 * what follows looks into them.
 */
struct arch_regs {
	struct user_regs_struct raw;
};

uint64_t	 arch_pc(const struct arch_regs *);
void		 arch_set_pc(struct arch_regs *, uint64_t);
uint64_t	 arch_sp(const struct arch_regs *);
/* Where the agent finds the thread's state; 0: the program leaves it be. */
uint64_t	 arch_state(const struct arch_regs *);
void		 arch_set_state(struct arch_regs *, uint64_t);
/* The thread pointer, which differs between threads: tells a state's owner. */
uint64_t	 arch_tls(const struct arch_regs *);
/* The agent can read it; else it reads the word that it points to. */
bool		 arch_reads_bases(void);
/* For a system call by a gadget at that address, and what it has returned. */
void		 arch_call(struct arch_regs *, long nr, const uint64_t args[6],
		    uint64_t gadget);
int64_t		 arch_returned(const struct arch_regs *);
/* As if the clock had been read by the instruction that the agent does it by
 * and that the thread may not use. */
void		 arch_set_clock(struct arch_regs *, uint64_t ticks);
/* The nth of those that a crash tells of, by name; NULL: there are no more. */
const char	*arch_register(const struct arch_regs *, uint32_t n,
		    uint64_t *value);

/* Writes ARCH_TRAP bytes. */
void		 arch_trap(uint8_t *out);
/* The address of the trap that a thread with these registers has run into. */
uint64_t	 arch_trapped(const struct arch_regs *);
/* Writes ARCH_GADGET bytes. */
void		 arch_gadget(uint8_t *out);
/* Where a thread stands that has made the system call of that gadget. */
uint64_t	 arch_gadget_end(uint64_t gadget);

/* The agent, made for this processor.  Static. */
const uint8_t	*arch_agent(size_t *len);

/* Where a frame ends (its CFA), for code from that address on. */
struct arch_frame {
	uint64_t addr;
	int64_t off;
	uint32_t reg; /* ... and this number; as DWARF has them */
	bool plain;   /* false: it is found in another way */
};

struct arch_code {
	const uint8_t *bytes;	/* borrowed; of the function and what follows */
	size_t	 avail;		/* how many there are */
	size_t	 size;		/* of the function, 0 = not known */
	uint64_t addr;		/* of bytes[0] in the target */
	const struct arch_frame *frames; /* borrowed, by address */
	size_t nframes;
	bool	 reentered;	/* its own jumps to its beginning are calls
				 * that begin again (Go, when a stack grows) */
};

struct arch_plan {
	uint32_t at;		/* offset of the first byte that is replaced */
	uint32_t len;		/* of the instructions that move */
	const char *why_not;	/* static; it cannot be traced at all */
	const char *why_open;	/* static; its returns cannot be seen */
	bool walks;             /* it looks at its callers' frames */
	uint32_t ninsns;
	struct {
		uint8_t from, to;	/* offset after `at`, in the stub */
	} insns[ARCH_INSNS + 1];
};

/* Targets of jumps out of the function, for those that they might hit. */
struct arch_jumps {
	uint64_t *to;		/* owned by the caller, from malloc */
	size_t	 n, room;
};

/*
 * Reads the whole function and says which bytes are to move.  jumps may be
 * NULL.  False, with why_not: they cannot.
 */
bool	 arch_plan(const struct arch_code *, struct arch_plan *,
	    struct arch_jumps *jumps);

struct arch_stub {
	uint64_t area;		/* address of the area's head */
	uint64_t addr;		/* where this stub is going to be */
	uint32_t probe;
	bool	 leave;		/* returns as well */
	bool	 small;		/* the stack has no room */
	uint64_t resume, marker;	/* out */
	size_t	 len;			/* out */
};

/* Writes the stub (at most ARCH_STUB bytes).  NULL, or why not (static). */
const char *arch_stub(const struct arch_code *, struct arch_plan *,
	    struct arch_stub *, uint8_t *out);

/* Head of an area of stubs, for an agent at that address. */
void	 arch_head(uint64_t agent, uint8_t out[ARCH_HEAD]);

/* Writes ARCH_JUMP bytes: a jump from there to there. */
void	 arch_jump(uint64_t from, uint64_t to, uint8_t *out);

/* Whether ARCH_JUMP bytes may be such a jump. */
bool	 arch_is_jump(const uint8_t *);

/* Whether a Go function begins as the one does into whose middle goroutines
 * return, and no other. */
bool	 arch_is_goexit(const struct arch_code *);

/*
 * Where a thread that stands at pc has to go on when the function's first
 * bytes have moved; pc itself if it is not in them.
 */
uint64_t arch_moved(const struct arch_code *, const struct arch_plan *,
	    const struct arch_stub *, uint64_t pc);

/* Whether a function looks at its callers' frames, and whether it may: quick,
 * and right only if it says no. */
bool	 arch_walks(const struct arch_code *);
bool	 arch_may_walk(const uint8_t *text, size_t len);
/*
 * The first function that looks at its callers' frames in code that no unwind
 * table tells of: where it makes its own frame.  len: there is none.
 */
size_t	 arch_untold_walker(const uint8_t *text, size_t len, uint64_t addr);

/*
 * Whether the code is one that unwinds the stack for exceptions of C++ or
 * Rust: programs that have it, and no symbol that says where, can only be
 * watched when functions begin.
 */
bool	 arch_throws(const uint8_t *text, size_t len);

#endif
