/* SPDX-License-Identifier: ISC */
/* Recordings of terminals as asciicast files: a line of JSON about the
 * terminal, then one for each thing that happened. */
#ifndef CLIENT_CTL_CAST_H
#define CLIENT_CTL_CAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CAST_LINE_MAX	(16U << 20)	/* bytes of a line that is read */

/* Writes version 2. */
struct cast_writer {
	FILE		*out;		/* borrowed */
	size_t		 npending;	/* bytes of a character cut in two */
	unsigned char	 pending[4];
};

/* began: seconds since 1970; title may be NULL. */
void	cast_begin(struct cast_writer *, FILE *out, unsigned int cols,
	    unsigned int rows, int64_t began, const char *title);

/*
 * at: seconds since the beginning. Bytes that are not UTF-8 become U+FFFD:
 * the format knows characters only.
 */
void	cast_output(struct cast_writer *, double at, const void *data,
	    size_t len);
void	cast_resize(struct cast_writer *, double at, unsigned int cols,
	    unsigned int rows);
void	cast_mark(struct cast_writer *, double at, const char *text);

/* Writes what is still pending; 0, or -1 and errno if a write failed. */
int	cast_end(struct cast_writer *, double at);

/* Reads versions 2 and 3, of whatever origin. */
struct cast_reader;

struct cast_header {
	unsigned int	cols;
	unsigned int	rows;
	double		idle_limit;	/* seconds; 0: none */
};

struct cast_event {
	double		 at;		/* seconds since the beginning */
	char		 code;		/* 'o', 'r', 'm' ... */
	const char	*data;		/* borrowed, until the next one */
	size_t		 len;
};

/*
 * Borrows in; name is for messages, borrowed as well. NULL after a report.
 * cast_close() frees it.
 */
struct cast_reader *cast_open(FILE *in, const char *name,
	    struct cast_header *);
void	cast_close(struct cast_reader *);

/* 1 and an event, 0 at the end, -1 after a report. */
int	cast_next(struct cast_reader *, struct cast_event *);

/* Reads "80x24" of an event 'r'; false when it is none. */
bool	cast_size(const struct cast_event *, unsigned int *cols,
	    unsigned int *rows);

#endif
