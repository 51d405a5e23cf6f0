/* SPDX-License-Identifier: ISC */
/* Names of the roles. */
#include "roles.h"

const char *
role_name(unsigned int role)
{
	static const char *const names[] = {
#define X(id, name)	name,
		ROLE_TABLE(X)
		[ROLE_CHILD] = "unknown",
		INSTRUMENT_TABLE(X)
#undef X
		[ROLE_SETUP] = "setup",
	};

	return role < ROLE_END ? names[role] : "unknown";
}
