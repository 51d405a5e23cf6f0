/* SPDX-License-Identifier: ISC */
/*
 * multipart/form-data, as a browser's form or curl -F sends a file: the part
 * "file", and "name" and "exec", which are what they are in a query.  It is
 * taken apart as it comes; only what may be the beginning of a boundary is
 * held back, until it is known to be none.
 */
#ifndef DL_NET_WEBFORM_H
#define DL_NET_WEBFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORM_HEAD_MAX	4096
/* RFC 2046, 5.1.1 */
#define FORM_BOUNDARY_MAX 70
/* "\r\n--" before it, and a NUL */
#define FORM_MARK_MAX	(FORM_BOUNDARY_MAX + 5)
#define FORM_FIELD_MAX	1024
#define FORM_FILENAME_MAX 255

enum form_event {
	FORM_MORE,		/* all has been looked at */
	FORM_FILE,		/* the file begins */
	FORM_DATA,		/* bytes of the file */
	FORM_FIELD,		/* name and value are whole */
	FORM_WRONG		/* why says so */
};

enum form_state {
	FORM_IN_FILE,
	FORM_IN_FIELD,
	FORM_AT_BOUNDARY,	/* it has been read; what follows is not known */
	FORM_IN_HEAD,
	FORM_OVER
};

struct form_bytes {
	const char	*p;
	size_t		 n;
};

struct form {
	enum form_state	 state;
	char		 mark[FORM_MARK_MAX];
	size_t		 mark_len;
	size_t		 matched;	/* bytes of mark that have been read */
	size_t		 held, held_at;	/* of those, which are the file's */
	char		 head[FORM_HEAD_MAX];	/* of a part; also 2 bytes */
	size_t		 head_len;
	bool		 has_file;
	uint64_t	 read;		/* bytes that have been looked at */
	char		 name[16];	/* of a field */
	char		 file[FORM_FILENAME_MAX + 1];	/* empty = not told */
	char		 value[FORM_FIELD_MAX + 1];
	size_t		 value_len;
	const char	*why;		/* static */
};

/* Whether a Content-Type is that of a form. */
bool	 form_is(const char *type);
/* NULL, or what is wrong with the Content-Type. */
const char *form_begin(struct form *, const char *type);
/*
 * Looks at the beginning of *in, which it moves, until something is to be
 * done; of FORM_DATA *data is borrowed, and to be given to form_ate().
 */
enum form_event form_next(struct form *, struct form_bytes *in,
    struct form_bytes *data);
/* Consumes n bytes of the last FORM_DATA. */
void	 form_ate(struct form *, struct form_bytes *in, size_t n);
/*
 * How many bytes the file, which begins here, has at most in a body of so
 * many.
 */
uint64_t form_most(const struct form *, uint64_t total);
/* All has come.  NULL, or what is missing. */
const char *form_lacks(const struct form *);

#endif
