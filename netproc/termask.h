/* SPDX-License-Identifier: ISC */
/* Parameters that a client gives when it attaches to a terminal. */
#ifndef DL_NET_TERMASK_H
#define DL_NET_TERMASK_H

#include <stdbool.h>
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

#endif
