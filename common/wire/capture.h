/* SPDX-License-Identifier: ISC */
#ifndef DL_CAPTURE_H
#define DL_CAPTURE_H

/*
 * Values that a probe copies out of a call.
 *
 * A capture program is an array of steps that ends with CAP_END (or after
 * CAPTURE_MAX steps).  `symbols` writes it from the debug information, the
 * agent in the target interprets it at each call, and code that renders the
 * record walks the same program to find the values in the record.  A program
 * has no pointers and one layout on every machine, so it can be sent and stored
 * as it is.
 *
 * In the record each step but CAP_END yields, one behind the other:
 *
 *	struct captured	4 bytes
 *	its bytes	captured.len, then zeros up to a multiple of 4
 *
 * All numbers have the byte order of the machine.
 */

#include <stddef.h>
#include <stdint.h>

#define CAPTURE_MAX 32       /* steps in a program, CAP_END not counted */
#define CAPTURE_STRING 1024  /* most bytes of one string */
#define CAPTURE_ELEMENTS 100 /* most elements of one slice */
#define CAPTURE_LEN_MAX 4096 /* most bytes of one step */
/*
 * Most bytes of a record's captures.  The step that does not fit is cut, those
 * after it are empty and cut.
 */
#define CAPTURE_BYTES_MAX 8192

/*
 * Registers are numbered as DWARF does on the architecture.  On x86-64: rax 0,
 * rdx 1, rcx 2, rbx 3, rsi 4, rdi 5, rbp 6, rsp 7, r8 8 .. r15 15.  Vector
 * registers count from 0 (xmm0).
 *
 * rsp is, at entry, the address of the return address: the first argument
 * that is passed in memory lies at rsp + 8.  At return it is what it will be
 * in the caller (that value + 8).
 */
enum cap_op {
	CAP_END,      /* no more steps */
	CAP_REG,      /* len (1..8) low bytes of integer register `reg` */
	CAP_VEC,      /* len (1..16) low bytes of vector register `reg` */
	CAP_STACK,    /* len bytes at rsp + off; does not need `reg` */
	CAP_MEM,      /* len bytes at [reg] + off */
	CAP_STRING,   /* bytes at [reg] + off up to the first NUL, which is not
		       * copied; at most len, then it is cut */
	CAP_STRPTR,   /* the same at the char * that stands at [reg] + off */
	CAP_SLICE,    /* n * scale bytes at the pointer that stands at [reg] +
		       * off; n, a u64, stands at [reg] + off2.  At most
		       * len / scale elements, then it is cut.  Its bytes begin
		       * with n itself (8 bytes, uncut); len does not count
		       * these 8 */
	CAP_REGSLICE, /* the same with the pointer in register `reg` and n in
		       * register `off`: &str and &[T] as arguments */
	CAP_STKSTR,   /* CAP_STRING at the char * that stands at rsp + off */
	CAP_STKSLICE, /* CAP_SLICE with the pointer at rsp + off and n at
		       * rsp + off2 */
	CAP_MIXSLICE, /* CAP_SLICE with the pointer in register `reg` and n at
		       * rsp + off2 */
	CAP_X87,      /* 16 bytes: st(0) and zeros, a long double result */
	CAP_OPS
};

struct capture {
	uint8_t op;     /* enum cap_op */
	uint8_t reg;    /* integer register, or vector register for CAP_VEC */
	uint16_t len;   /* bytes to copy, or the most; 1..CAPTURE_LEN_MAX */
	int32_t off;    /* added to the register's value */
	int32_t off2;   /* where the number of elements stands */
	uint32_t scale; /* bytes per element, at least 1; 0 where unused */
};

_Static_assert(sizeof(struct capture) == 16, "a format");

enum cap_status {
	CAP_OK,
	CAP_FAULT,  /* the memory could not be read; len is 0 */
	CAP_CUT,    /* there was more than was copied */
	CAP_UNREAD, /* not read on purpose (no reader was alive to vouch for
		     * it); len is 0 */
	CAP_STATUSES
};

struct captured {
	uint16_t status; /* enum cap_status */
	uint16_t len;    /* bytes that follow, padding not counted */
};

_Static_assert(sizeof(struct captured) == 4, "a format");

/* Bytes that a captured step takes up in a record. */
static inline size_t
captured_size(size_t len)
{
	return (sizeof(struct captured) + ((len + 3) & ~(size_t)3));
}

static inline int
capture_is_slice(const struct capture *c)
{
	return (c->op == CAP_SLICE || c->op == CAP_REGSLICE ||
	    c->op == CAP_STKSLICE || c->op == CAP_MIXSLICE);
}

/* The most bytes that a step can yield, struct captured not counted. */
static inline size_t
capture_most(const struct capture *c)
{
	return ((size_t)c->len + (capture_is_slice(c) ? 8 : 0));
}

#endif
