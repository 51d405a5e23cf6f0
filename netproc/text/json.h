/* SPDX-License-Identifier: ISC */
/* Text that grows up to a bound, and JSON and base64 written into it. */
#ifndef DL_NET_JSON_H
#define DL_NET_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Set max, zero the rest.  Text that does not fit sets bad and is left out. */
struct text {
	char	*p;		/* owned; not NUL-terminated */
	size_t	 len, cap, max;
	bool	 bad;
};

void	 text_put(struct text *, const void *, size_t);
void	 text_puts(struct text *, const char *);
/* Room for n more bytes, to be counted by adding to len; NULL sets bad. */
char	*text_room(struct text *, size_t n);
/* Empties; keeps at most keep bytes of memory. */
void	 text_reset(struct text *, size_t keep);
void	 text_free(struct text *);

/* -- values; each puts a comma first where one is due -- */
void	 json_open(struct text *, char bracket);
void	 json_close(struct text *, char bracket);
/* Keys are plain ASCII of our own: not escaped. */
void	 json_key(struct text *, const char *);
void	 json_string(struct text *, const void *, size_t);
void	 json_text(struct text *, const char *);
void	 json_u64(struct text *, uint64_t);
/* true, false, null and other text that is JSON already. */
void	 json_raw(struct text *, const char *);

/*
 * The inside of a string: escaped, every byte that is not part of valid
 * UTF-8 as U+FFFD.  With more, a sequence that is cut short by the end is
 * left for the next call.  Returns how many bytes were taken.
 */
size_t	 json_escape(struct text *, const void *, size_t, bool more);

/* The base64 form of len bytes, with padding. */
void	 text_base64(struct text *, const void *, size_t len);

#endif
