/* SPDX-License-Identifier: ISC */
/*
 * Functions of two parts: compilers move code that they expect to run rarely
 * elsewhere (".cold").  lldb before version 21 takes the lower part for the
 * beginning of the function and stops there as well, and it computes the
 * length of one part's prologue from the other part.  Its breakpoint may then
 * be inside of an instruction, which damages the program.  So breakpoints on
 * such functions are set at their first instruction, and those on .cold parts
 * are disabled.
 */
#ifndef DEBUGGER_BPS_SPLIT_H
#define DEBUGGER_BPS_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/dap/adapter.h"

struct op;

#define SPLIT_MOST	32	/* of one name: instances of a template */

/* Addresses as lldb prints them: in the file before the program runs. */
struct split {
	size_t		 n;
	uint64_t	 cold[SPLIT_MOST];
};

/* Asks lldb for the .cold parts of functions of that name. */
void	 split_look(struct op *, const char *function, dap_fn, void *arg);
void	 split_read(struct split *, const char *text);

/* Whether lldb skips the beginnings of functions from now on. */
void	 split_skip(struct op *, bool);

/* Asks lldb for the places of a breakpoint, by its id. */
void	 split_places(struct op *, int64_t id, dap_fn, void *arg);

struct split_place {
	char		*file;		/* or NULL */
	int64_t		 line;		/* or 0 */
	uint64_t	 address;	/* 0: the program does not run yet */
};
/*
 * Takes the answer: breakpoints on .cold parts are switched off.  The first
 * place that stays is filled in, its file the caller's to free; false = none.
 */
bool	 split_take(struct op *, const struct split *, int64_t id,
	    const char *text, struct split_place *);

#endif
