/* SPDX-License-Identifier: ISC */
/* The audit file, which setup has opened and the parent hands over. */
#ifndef LOGGER_AUDITFILE_H
#define LOGGER_AUDITFILE_H

#include <stdbool.h>

/*
 * Lines go to that file from now on: takes fd, -1 = there is none.  False: it
 * is the one that the logger before this had.
 */
void	 auditfile_use(int fd, bool another);
/* Adds a line, without newline and control characters, if there is a file. */
void	 auditfile_line(const char *);

#endif
