/* SPDX-License-Identifier: ISC */
/* What kind of thing a received fd is: checked before anybody uses it. */
#ifndef DL_FDKIND_H
#define DL_FDKIND_H

#include "msg.h"

/* NULL when fd (-1 = none) is what the row asks for, else what is wrong. */
const char	*fdkind_check(enum msg_fd, int fd);

#endif
