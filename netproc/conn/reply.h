/* SPDX-License-Identifier: ISC */
/* The form of an answer, which the request decides. */
#ifndef DL_NET_REPLY_H
#define DL_NET_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#define REQUEST_ID_MAX	64

/* How an answer looks, and whose it is. */
struct reply {
	enum {
		REPLY_BOTH,		/* no line has been read yet */
		REPLY_LINE,
		REPLY_JSON
	}		 form;
	bool		 text;		/* the id is a string, else a number */
	uint8_t		 len;		/* 0 and no string: null */
	char		 id[REQUEST_ID_MAX];
};

#endif
