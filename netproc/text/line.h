/* SPDX-License-Identifier: ISC */
/*
 * The words of the control protocol: framing of lines, strict numbers,
 * shell-like splitting.  Pure functions over untrusted bytes; those that
 * return text return NULL for "good", else a static string that says what is
 * wrong.
 */
#ifndef DL_NET_LINE_H
#define DL_NET_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/proto.h"

/* A line with its "\r\n". */
#define LINE_BUFFER	(LINE_MAX_BYTES + 2)
/* No command has more words that are told apart. */
#define WORDS_MAX	12

struct word {
	const char	*p;
	size_t		 len;
};

/* Points into the line. */
struct words {
	struct word	 w[WORDS_MAX];
	size_t		 n;	/* WORDS_MAX + 1 = there are more */
	const char	*end;	/* of the line */
};

enum line_status { LINE_NONE, LINE_READY, LINE_TOO_LONG, LINE_TLS };

/*
 * Looks for a line in buf; *scanned is how far earlier calls have looked.
 * LINE_READY: *len is its length without "\n" and "\r\n", *used with.
 */
enum line_status line_find(const char *buf, size_t have, size_t *scanned,
    size_t *len, size_t *used);
/* Whether a control character other than tab is in it. */
bool	 line_has_control(const char *, size_t);
/* Nothing but blanks. */
bool	 line_is_empty(const char *, size_t);
void	 line_split(const char *, size_t, struct words *);
bool	 word_is(const struct word *, const char *);
/* From word i (0-based) to the end of the line, blanks and all. */
struct word line_rest(const struct words *, size_t i);
/* Whether a browser or curl would send the line: such a line must never act. */
bool	 line_is_http(const struct words *);

/* Decimal digits and nothing else, at most max. */
const char *number_parse(const struct word *, uint64_t max, uint64_t *);
/* The path of the program in a bundle: relative, inside, printable. */
const char *exec_path_check(const struct word *);
/* KEY=VALUE; *eq is where the = is.  Without a = (ENVDEL) eq is NULL. */
const char *env_check(const struct word *, size_t *eq);
/*
 * Splits as a shell would, without expansions, into NUL-terminated strings
 * one after the other; out has room for size bytes.
 */
const char *args_split(const struct word *, char *out, size_t size,
    size_t *len);
/* Arguments of UPLOAD, and the number of bytes that follow its line. */
struct upload_request {
	uint64_t	 size;		/* of the payload */
	struct word	 path;		/* empty = a single image */
	struct word	 file;		/* its name, empty = not told */
	bool		 known;		/* size can be trusted */
	uint32_t	 err;		/* ERR_OK, or why it is refused */
	const char	*why;		/* NULL = the code says it all */
};
/* ws->w[0] is the verb. */
void	 upload_parse(const struct words *, struct upload_request *);

/* "TERM", "SIGTERM" or "15"; 0 = none of that. */
uint32_t signal_parse(const struct word *);
/* "SIGTERM"; real-time signals have numbers: "SIG34". */
const char *signal_text(uint32_t, char *buf, size_t size);

#endif
