/* SPDX-License-Identifier: ISC */
/*
 * System call filters: a table of rules per role, compiled by libseccomp.
 * Comparisons see 64-bit registers, so rules on ints mask to 32 bits and
 * say so (FILTER_INT).
 */
#ifndef DL_FILTER_H
#define DL_FILTER_H

#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>

#define FILTER_ARGS	3
/*
 * The newest system call (removexattrat) that the filters were written for.
 * Since 424 a call has one number on all architectures.  Newer calls are
 * answered as by an older kernel, so that programs do without them.
 */
#define FILTER_NEWEST	466
/*
 * Numbers below 424 that no call has yet, for 64-bit and 32-bit programs: the
 * first one, and the next that a call has.
 */
#ifdef __x86_64__
#define FILTER_HOLE_64		336, 424
#define FILTER_HOLE_32		387, 393
#else
#define FILTER_HOLE_64		295, 424
#define FILTER_HOLE_32		402, 403
#endif

/*
 * A rule: the call is matched when all its comparisons hold; several rules for
 * one call are alternatives.
 */
struct filter_rule {
	int			 nr;		/* SCMP_SYS(name) */
	unsigned int		 nargs;
	struct scmp_arg_cmp	 args[FILTER_ARGS];
	uint32_t		 action;	/* 0 = the filter's "matched" */
};

/* For tables:  ALLOW(read), ALLOW_ARG(prctl, FILTER_INT(0, PR_SET_NAME)) */
#define ALLOW(name)		{ .nr = SCMP_SYS(name) }
#define ALLOW_ARG(name, ...)						\
	{ .nr = SCMP_SYS(name),						\
	  .nargs = sizeof((struct scmp_arg_cmp[]){ __VA_ARGS__ }) /	\
	      sizeof(struct scmp_arg_cmp),				\
	  .args = { __VA_ARGS__ } }
/* argument n, as an int, equals v (upper half ignored by the kernel too) */
#define FILTER_INT(n, v)						\
	{ .arg = (n), .op = SCMP_CMP_MASKED_EQ,				\
	  .datum_a = UINT32_MAX, .datum_b = (uint32_t)(v) }
/* all 64 bits equal v */
#define FILTER_EQ(n, v)							\
	{ .arg = (n), .op = SCMP_CMP_EQ, .datum_a = (uint64_t)(v) }
/* none of the bits of mask is set */
#define FILTER_CLEAR(n, mask)						\
	{ .arg = (n), .op = SCMP_CMP_MASKED_EQ,				\
	  .datum_a = (uint64_t)(mask), .datum_b = 0 }

struct filter {
	uint32_t			 otherwise;	/* SCMP_ACT_* */
	uint32_t			 matched;	/* SCMP_ACT_* */
	const struct filter_rule	*rules;
	size_t				 nrules;
	/*
	 * The calls that every role needs (memory, channels, loop, exit) come
	 * along, but for those to which a rule gives another action.
	 */
	int				 with_base;
	/* by the rules for 32-bit programs, too; else these are killed */
	int				 with_32bit;
};

/* The rules that with_base stands for.  Borrowed. */
const struct filter_rule *filter_base(size_t *n);
/*
 * Compiles and loads; sets no_new_privs first.  Returns -1 with errno.
 * Numbers above FILTER_NEWEST and in the holes fail with ENOSYS.  Calls of
 * architectures without rules kill the process.
 */
int	 filter_load(const struct filter *);
/*
 * Compiles to a BPF program for filter_install(), so that a child can load it
 * without libseccomp at work.  *prog is malloc'ed struct sock_filter[]; -1
 * with errno.
 */
int	 filter_compile(const struct filter *, void **prog, size_t *ninstr);
/* Loads what filter_compile() made: no allocation, safe after fork. */
int	 filter_install(const void *prog, size_t ninstr);
/* Writes the filter in libseccomp's readable form.  -1 with errno. */
int	 filter_print(const struct filter *, int fd);

#endif
