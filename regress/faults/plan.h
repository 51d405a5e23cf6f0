/* SPDX-License-Identifier: ISC */
/*
 * The faults planned for a role, and how far the plan has got: one page that
 * the role and the test share, so that a test can order faults of a process
 * that has no files any more and asks nobody.  regress/faults/lib/faults.py
 * knows the offsets.
 */
#ifndef DL_FAULTS_PLAN_H
#define DL_FAULTS_PLAN_H

#include <stdint.h>

/* Kinds of calls, as bits. */
enum {
	CALL_MALLOC	= 1 << 0,
	CALL_OPEN	= 1 << 1,
	CALL_SOCKET	= 1 << 2,	/* socket, socketpair, accept */
	CALL_CLONE	= 1 << 3,
	CALL_MOUNT	= 1 << 4,	/* all that makes namespaces and roots */
	CALL_WRITE	= 1 << 5,
	CALL_EPOLL	= 1 << 6,	/* to watch and not to watch */
	CALL_FD		= 1 << 7,	/* any other way to get a descriptor */
	CALL_READ	= 1 << 8,
	CALL_WAIT	= 1 << 9,	/* epoll_wait, poll, waitid */
	CALL_MAP	= 1 << 10,
	CALL_MESSAGE	= 1 << 11	/* before one is sent, after one has come */
};

enum {
	DO_COUNT,		/* nothing, but look how many there are */
	DO_FAIL,		/* with the error */
	DO_SHORT,		/* one byte of those that were asked for */
	DO_HOLD			/* wait until the action is another one */
};

struct plan {
	uint32_t	 action;
	uint32_t	 calls;		/* bits of those that count */
	int32_t		 error;
	uint32_t	 held;		/* the process that waits; 0 = none */
	uint64_t	 first, last;	/* which of them, from 1 */
	uint64_t	 every;		/* of those, one in so many; 0 = each */
	uint64_t	 count;		/* so far */
	uint64_t	 struck;	/* so many times */
	int64_t		 clock_ms;	/* how far the time of day has jumped */
	char		 where[32];	/* the call that was struck last */
	uint32_t	 signal;	/* the fault that it died of; 0 = none */
	uint32_t	 unused;
	uint64_t	 pc;		/* where, from the start of what is next */
	char		 object[96];	/* the program or the library */
	int64_t		 blocks;	/* of memory that are held, more or less
					   than when it was found */
};
#define PLAN_SIZE	4096
/* its path in a program, and what stands there before there is one */
#define PLAN_PATH	128
#define PLAN_MARK	"the path of the plan of faults"

#endif
