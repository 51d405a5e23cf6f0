/* SPDX-License-Identifier: ISC */
/* A progress bar on stderr. */
#ifndef CLIENT_CTL_PROGRESS_H
#define CLIENT_CTL_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
	const char	*title;		/* borrowed */
	uint64_t	 total;		/* bytes */
	int64_t		 began_ms;
	int64_t		 drawn_ms;
	bool		 tty;
	bool		 drawn;
};

void	progress_start(struct progress *, const char *title, uint64_t total);

/* Tells the bytes done so far; draws at most ten times a second. */
void	progress_update(struct progress *, uint64_t done);

/* Takes the bar away, so that whatever comes next begins at column 0. */
void	progress_end(struct progress *);

#endif
