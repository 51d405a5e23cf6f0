/* SPDX-License-Identifier: ISC */
/* Who is at the other end of an accepted connection. */
#ifndef DL_WHO_H
#define DL_WHO_H

#include "principal.h"

#define WHO_REASON_MAX	240

/*
 * Borrows the socket, which is not trusted.  Returns 0 and the principal, or
 * -1 and a line for the log.
 */
int	who_is(int sock_fd, struct principal *, char why[WHO_REASON_MAX]);

#endif
