/* SPDX-License-Identifier: ISC */
/* How a client attaches to a terminal, and where a replay may begin. */
#ifndef DL_NET_TERMASK_H
#define DL_NET_TERMASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How messages look and travel. */
enum term_form {
	TERM_FRAMED,		/* lantern.bin.v1, each behind its length */
	TERM_WS_BINARY,		/* lantern.bin.v1 in a WebSocket */
	TERM_WS_JSON
};

struct term_ask {
	enum term_form	 form;
	bool		 resume;	/* from is where it left off */
	uint64_t	 from;
	bool		 read_only;
	uint32_t	 cols, rows;	/* 0 = it does not say */
};

/* Where a replay may begin, and what puts a terminal into its state there. */
struct tty_mark {
	uint64_t	 offset;
	uint32_t	 cols, rows;
	const char	*preamble;	/* borrowed */
	size_t		 len;
};

#endif
