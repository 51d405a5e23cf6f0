/* SPDX-License-Identifier: ISC */
/* Variables of the environment that there was no room for, and how the client
 * hears of them. */
#ifndef CLIENT_MCP_LEFTOUT_H
#define CLIENT_MCP_LEFTOUT_H

#include <stddef.h>

#define LEFTOUT_NAMES	400

struct leftout {
	size_t	 n, named;
	char	 names[LEFTOUT_NAMES];	/* with commas between; of the first */
};

/* A variable, or its name alone, does not go along. */
void	 leftout_add(struct leftout *, const char *variable);
/* A warning, the caller's to free; NULL = nothing was left out. */
char	*leftout_words(const struct leftout *);
/*
 * An answer of the daemon's with the warning in each result of debug_launch
 * that is in it.  The caller's to free; NULL = there is none.
 */
char	*leftout_tell(const char *answer, size_t len, const char *words,
	    size_t *told);

#endif
