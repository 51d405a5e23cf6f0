/* SPDX-License-Identifier: ISC */
/* States of accounts, in words and in flags. */
#include <stddef.h>

#include "acct.h"

#define FLAG_SHIFT	16

#define FAULT(what, remedy)						\
	{ what, remedy, "this account " what "; an administrator of this " \
	    "host can open it again: " remedy }

static const struct {
	const char	*what, *remedy, *fault;
} words[ACCT_COUNT] = {
	[ACCT_LOCKED]	= FAULT("is locked", "usermod -U"),
	[ACCT_EXPIRED]	= FAULT("has expired", "chage -E -1"),
	[ACCT_INACTIVE]	= FAULT("is closed, as its password expired and was "
			    "not changed in time", "passwd"),
};

bool
acct_is_shut(uint32_t state)
{
	return state < ACCT_COUNT && words[state].what != NULL;
}

uint32_t
acct_to_flags(uint32_t state)
{
	return state << FLAG_SHIFT;
}

uint32_t
acct_of_flags(uint32_t flags)
{
	return flags >> FLAG_SHIFT;
}

const char *
acct_what(uint32_t state)
{
	return words[state].what;
}

const char *
acct_remedy(uint32_t state)
{
	return words[state].remedy;
}

const char *
acct_fault(uint32_t state)
{
	return words[state].fault;
}
