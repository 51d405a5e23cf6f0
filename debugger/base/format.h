/* SPDX-License-Identifier: ISC */
/*
 * Answers are bounded: what does not fit is left out, and the answer says
 * what, how much, and how to ask for the rest.  Numbers in other bases.
 */
#ifndef DEBUGGER_BASE_FORMAT_H
#define DEBUGGER_BASE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
struct op;

#define BOUND_DEFAULT	8192
#define BOUND_MOST	262144
#define VALUE_MOST	400	/* bytes of one value among others */

/* -- text -- */
/* Length of s cut to max bytes, never inside of a character. */
size_t	 format_cut(const char *s, size_t len, size_t max);
/* Is all of it UTF-8 without control bytes but tab and newlines? */
bool	 format_is_text(const char *, size_t len);
/* "...", at most max bytes of it; the caller frees. */
char	*format_base64(const void *, size_t len);

/* -- the bound of one answer -- */
struct bound {
	size_t		 max, used;	/* bytes of JSON text */
	struct json_object *cuts;	/* owned; NULL = nothing was cut */
};

/* Reads "max" of the op's arguments; false: refused.  op NULL = default. */
bool	 bound_init(struct bound *, struct op *);
/*
 * Adds the value (taken in any case) to an array, or to an object by name.
 * false: it does not fit and was freed.
 */
bool	 bound_add(struct bound *, struct json_object *arr,
	    struct json_object *v);
bool	 bound_put(struct bound *, struct json_object *o, const char *name,
	    struct json_object *v);
/* Bytes that are still free. */
size_t	 bound_left(const struct bound *);
/* of < 0: not known how many there are; path NULL: none. */
void	 bound_cut(struct bound *, const char *what, int64_t shown, int64_t of,
	    const char *path, int64_t offset);
/* Adds "truncated" to the answer where something was cut, and ends. */
void	 bound_done(struct bound *, struct json_object *answer);

/* -- numbers -- */
enum number_format {
	FORMAT_NONE,
	FORMAT_HEX,
	FORMAT_BINARY,
	FORMAT_ADDRESS,
	FORMAT_OCTAL,
	FORMAT_DECIMAL,
};

/* The names of all, as a refusal lists them. */
#define FORMAT_NAMES	"hex, binary, octal, decimal and address"


/* false: no such format. */
bool	 format_by_name(const char *, enum number_format *);
/* The first number of a value as adapters write them: 42, -1, 0x2a, 'a' */
bool	 format_number(const char *value, int64_t *);
/*
 * The value in another base; type tells how wide.  false: it is no number
 * and stays as it is.
 */
bool	 format_value(enum number_format, const char *value, const char *type,
	    char *out, size_t room);
/* The first 0x... of a value, for addresses. */
bool	 format_address(const char *value, uint64_t *);

#endif
