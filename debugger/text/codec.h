/* SPDX-License-Identifier: ISC */
/* Frames of the debug adapter protocol: Content-Length, blank line, JSON. */
#ifndef DEBUGGER_TEXT_CODEC_H
#define DEBUGGER_TEXT_CODEC_H

#include <stddef.h>
#include <stdint.h>

struct json_object;

#define CODEC_HEADER_MAX	4096
#define CODEC_FRAME_MAX		((size_t)16 << 20)
#define CODEC_VALUES_MAX	400000	/* what a parser needs memory for */
#define CODEC_DEPTH_MAX		64
#define CODEC_EDGE		512

/* Zero it first. */
struct codec {
	char		*buf;		/* owned; of the present header or body */
	size_t		 len, cap;
	size_t		 body;		/* its length; 0 = a header is read */
	size_t		 skip;		/* bytes left of one that is too long */
	uint64_t	 huge;		/* length of that one */
	char		 head[CODEC_EDGE], tail[CODEC_EDGE];	/* of it */
	size_t		 nhead, ntail;
};

struct codec_fns {
	/* A message; json is borrowed.  Returning -1 ends codec_feed(). */
	int	(*message)(struct json_object *json, const char *text,
		    size_t len, void *arg);
	/*
	 * A message that was left out: why is words.  seq: the request it seems
	 * to answer, or -1.
	 */
	void	(*left_out)(const char *why, int64_t seq, void *arg);
};

/*
 * Takes what was read.  -1: message() said so, or the framing is broken;
 * then *why is static words, else NULL.
 */
int	 codec_feed(struct codec *, const void *, size_t,
	    const struct codec_fns *, void *arg, const char **why);
void	 codec_free(struct codec *);
/* Parses one text within the bounds.  NULL with *why. */
struct json_object *codec_parse(const char *, size_t, const char **why);

#endif
