/* SPDX-License-Identifier: ISC */
/* The filters of sessions, compiled once. */
#ifndef LAUNCHER_BASE_FILTERS_H
#define LAUNCHER_BASE_FILTERS_H

#include "confine/sessfilter.h"

/* For filter_install(); NULL when weaken-seccomp is set. */
struct filter_prog {
	void	*instr;
	size_t	 n;
};
extern struct filter_prog	 filter_progs[FILTER_KINDS];

/* Failures end the role. */
void	filters_compile(void);

#endif
