/* SPDX-License-Identifier: ISC */
/* Which local users are principals, and as whom. */
#ifndef DL_PRINCIPAL_H
#define DL_PRINCIPAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/proto.h"

struct principal {
	uid_t		uid;
	uint32_t	flags;		/* PRINCIPAL_* */
	char		name[USER_NAME_MAX];
};

/*
 * Finds the principal of a uid.  Returns 0, or -1 with a line for the log
 * in why, or 1 likewise when it cannot be told now.  The flags of one that is
 * not returned say whether its account is locked or has expired.
 */
int	principal_of(uid_t, struct principal *, char *why, size_t size);

#endif
