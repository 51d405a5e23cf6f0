/* SPDX-License-Identifier: ISC */
/* Which adapter, and the command line that starts it. */
#ifndef DEBUGGER_DAP_CHOOSE_H
#define DEBUGGER_DAP_CHOOSE_H

#include "debugger/base/op.h"
#include "profile.h"

#define CHOICE_ARGS	32

struct choice {
	const struct profile *profile;
	const char	*name;		/* as people know it; static */
	char		 path[4096];	/* of its binary */
	char		*argv[CHOICE_ARGS];	/* owned, ended by NULL */
};

void	 choose_init(void);
/*
 * By name (a kind, a configured name, a binary) or, NULL, by what the program
 * is.  path is the client's PATH.  false: op was refused; choice is empty.
 */
bool	 choose_adapter(struct op *, const char *name, const char *program,
	    const char *path, struct choice *);
/*
 * The same to attach with: an adapter that needs an injector gets it, if path
 * has one.  false: op was refused; choice is empty.
 */
bool	 choose_to_attach(struct op *, const char *name, const char *program,
	    const char *path, struct choice *);
void	 choice_free(struct choice *);

#endif
