/* SPDX-License-Identifier: ISC */
/*
 * The log: the host's, or standard error.  A log that does not read is never
 * waited for: lines wait, and those for which there is no room are counted.
 */
#ifndef LOGGER_OUT_H
#define LOGGER_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"

struct out_hooks {
	/* There is room again for those that were left waiting. */
	void	(*room)(void);
	/* The connection to the host's log is lost. */
	void	(*lost)(void);
};

/* Before the root directory is given up. */
void	 out_init(const struct out_hooks *);
/* LOG_* bits of LOG_PLACE. */
void	 out_place(uint32_t bits);
/* Takes fd, connected to the host's log. */
void	 out_hostlog(int fd);
/* Adds a line, which is written at the end of this turn of the loop. */
void	 out_line(enum log_level, const char *line);
/* The same, for log_init(), and written at once: it may be the last. */
void	 out_own(enum log_level, const char *line);
/* Has half of what may wait, for a log that still takes lines. */
bool	 out_is_full(void);
/* Gives what is left a moment to go. */
void	 out_end(void);

#endif
