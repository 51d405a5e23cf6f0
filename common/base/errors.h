/* SPDX-License-Identifier: ISC */
/* The error codes of the control protocol, as numbers between processes. */
#ifndef DL_ERRORS_H
#define DL_ERRORS_H

enum err {
#define ERR(sym, ...)	ERR_##sym,
#include "errors.def"
#undef ERR
	ERR_COUNT
};

/* Static strings; a number out of range gives those of ERR_INTERNAL. */
const char	*err_code(unsigned int);
const char	*err_text(unsigned int);
/* Status of HTTP (RFC 9110, section 15), likewise. */
unsigned int	 err_status(unsigned int);

#endif
