/* SPDX-License-Identifier: ISC */
/* The start of an instrument's process. */
#ifndef INST_MAIN_H
#define INST_MAIN_H

#include "confine/filter.h"
#include "wire/roles.h"

struct inst_program {
	enum role	 role;		/* its name is the process's as well */
	const struct filter *filter;
	/* Puts its parts together, and opens the link; takes fd. */
	void		(*open)(int fd);
};

/* The whole of a program's main(). */
int	inst_main(const struct inst_program *);

#endif
