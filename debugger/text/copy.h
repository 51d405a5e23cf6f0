/* SPDX-License-Identifier: ISC */
/*
 * Copies of text by which something is said or done.  Without memory for one
 * the debugger ends, as it does where JSON lacks a part (jmake.h).
 */
#ifndef DEBUGGER_TEXT_COPY_H
#define DEBUGGER_TEXT_COPY_H

#include <stddef.h>

/* The caller frees them.  NULL of NULL. */
char	*copy_text(const char *);
char	*copy_part(const char *, size_t len);

#endif
