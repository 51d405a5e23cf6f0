/* SPDX-License-Identifier: ISC */
/*
 * JSON written into text (RFC 8259): valid whatever bytes it is given, which
 * cannot end a string, a line or an object.
 */
#ifndef DL_JSON_H
#define DL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

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

/* A string in its quotes, without a comma before it. */
void	 json_quoted(struct text *, const void *, size_t);

/*
 * The inside of a string: escaped, every byte that is not part of valid
 * UTF-8 as U+FFFD.  With more, a sequence that is cut short by the end is
 * left for the next call.  Returns how many bytes were taken.
 */
size_t	 json_escape(struct text *, const void *, size_t, bool more);

#endif
