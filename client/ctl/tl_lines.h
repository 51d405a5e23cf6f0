/* SPDX-License-Identifier: ISC */
/* Events as lines for people. */
#ifndef CLIENT_CTL_TL_LINES_H
#define CLIENT_CTL_TL_LINES_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tl_thread;

struct tl_lines {
	FILE			*out;
	bool			 tree;		/* indented by calls */
	bool			 colours;
	struct tl_thread	*threads;	/* owned */
	size_t			 nthreads;
	char			*rest;		/* of a line; owned */
	size_t			 nrest;
};

/* tl_lines_end() is for it. */
void	tl_lines_begin(struct tl_lines *, FILE *, bool tree);
void	tl_lines_end(struct tl_lines *);

/* An event of a verbose query, one line. */
void	tl_lines_event(struct tl_lines *, struct json_object *);

/* Bytes of an exported text, whole lines of which are printed. */
void	tl_lines_put(struct tl_lines *, const char *, size_t);

#endif
