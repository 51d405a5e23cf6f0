/* SPDX-License-Identifier: ISC */
/* Kind of a received fd: checked before anything uses the fd. */
#ifndef DL_FDKIND_H
#define DL_FDKIND_H

#include "msg.h"

/* NULL when fd (-1 = none) is what the row asks for, else what is wrong. */
const char	*fdkind_check(enum msg_fd, int fd);

#endif
