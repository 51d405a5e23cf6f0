/* SPDX-License-Identifier: ISC */
/* The user's own terminal, given over to a program and taken back again. */
#ifndef CLIENT_CTL_RAWTERM_H
#define CLIENT_CTL_RAWTERM_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>

/* There is one terminal, and so one of these. */
struct rawterm {
	bool	in;		/* standard input is a terminal */
	bool	out;		/* standard output is */
	int	out_fd;		/* what to write to; never blocks on a
				 * terminal that could be opened anew */
	size_t	piece;		/* write no more than that at once */
};

/*
 * Finds out what there is. From rawterm_enter() to rawterm_leave() keys come
 * one by one and the screen is the program's; however this program ends in
 * between, exit() and crashes included, the terminal is restored first.
 */
const struct rawterm *rawterm_begin(void);
void	rawterm_enter(void);
void	rawterm_leave(void);

/* Leaves, stops this process until it is continued, and enters again. */
void	rawterm_suspend(void);

/* Notes bytes before a write; rawterm_shown() then tells how many went out. */
void	rawterm_showing(const void *, size_t);
/* Notes bytes that were written: rawterm_leave() undoes their effect. */
void	rawterm_shown(const void *, size_t);

/* Whether it shows the screen that editors and the like draw on. */
bool	rawterm_alternate(void);

/*
 * The sequence that brings a terminal that was left back to that screen,
 * empty, and to its modes. The caller frees it; NULL when memory is short.
 */
char	*rawterm_again(void);

/* Columns and rows of the terminal; false where there is none. */
bool	rawterm_size(unsigned int *cols, unsigned int *rows);

#endif
