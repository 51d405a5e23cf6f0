/* SPDX-License-Identifier: ISC */
/*
 * Numbers and text that a client wants a variable to have: read from an
 * adapter's words, compared with what the variable can hold, and written as
 * C++ that lldb evaluates.
 */
#ifndef DEBUGGER_TEXT_SCALAR_H
#define DEBUGGER_TEXT_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two's complement: integers of up to 16 bytes. */
__extension__ typedef unsigned __int128 scalar_bits;

struct scalar {
	bool		 negative;
	scalar_bits	 size;		/* without its sign */
};

#define SCALAR_TEXT	96

/* "-12", "0x7f"; false: it is no integer. */
bool	 scalar_parse(const char *, struct scalar *);
/* Is it among the values of an integer type of so many bytes? */
bool	 scalar_fits(const struct scalar *, size_t bytes, bool is_signed);
/* "-128 to 127" */
void	 scalar_range(size_t bytes, bool is_signed, char *out, size_t room);
/* The low bytes are the same. */
bool	 scalar_same(const struct scalar *, const struct scalar *,
	    size_t bytes);
/* As an expression of type unsigned. */
void	 scalar_write(const struct scalar *, char *out, size_t room);

/*
 * A floating-point number as an adapter prints one of that type ("float",
 * "double", else long double), with all of its digits, and as an expression.
 * false: it is no number.
 */
bool	 scalar_float(const char *text, const char *type, char *digits,
	    char *out, size_t room);
/*
 * Are two numbers one, to the precision of a type of so many bytes?  Text
 * that is no number is no other's.
 */
bool	 scalar_float_same(const char *, const char *, size_t bytes);
/* More than a type of so many bytes holds, or less than its least. */
bool	 scalar_float_beyond(const char *, size_t bytes);

/*
 * The bytes of a literal, "a\n", without its quotes.  The caller frees them;
 * NULL: it is no literal.  A NUL follows that *len does not count.
 */
char	*scalar_text(const char *literal, size_t *len);

#endif
