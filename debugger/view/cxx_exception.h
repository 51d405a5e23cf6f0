/* SPDX-License-Identifier: ISC */
/*
 * Type and message of a C++ exception, read through lldb at the call of
 * __cxa_throw.
 */
#ifndef DEBUGGER_VIEW_CXX_EXCEPTION_H
#define DEBUGGER_VIEW_CXX_EXCEPTION_H

#include <stdint.h>

#define CXX_TYPES	3	/* its own, and bases as far as there is one each */

struct cxx_exception {
	char	 names[CXX_TYPES][200];	/* as the ABI spells them; "" = no more */
	char	 message[512];		/* what() without calling it, or "" */
};

/* frame is that of __cxa_throw.  done is called once, never from within. */
void	 cxx_exception_read(int64_t frame,
	    void (*done)(const struct cxx_exception *));

#endif
