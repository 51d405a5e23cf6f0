/* SPDX-License-Identifier: ISC */
/*
 * The memory that outlives a logger: the next one goes on where it was killed.
 * The one before may have been taken over, so nothing in it is believed before
 * kept_open() has looked at it.
 */
#ifndef LOGGER_KEPT_H
#define LOGGER_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "wire/start.h"

#define KEPT_TEXT	(256 * 1024)
/* With what syslog(3) wants before it; a pipe takes it whole. */
#define KEPT_LINE_MAX	(LOG_LINE_MAX + 256)

struct kept {
	uint32_t	at, end;	/* of the lines in text that wait */
	uint64_t	lost;		/* lines for which there was no room */
	uint64_t	missing;	/* lines, in the audit file */
	uint32_t	torn;		/* its last line was not ended */
	uint64_t	seen[LOG_LINKS];	/* number of each link's last line */
	char		text[KEPT_TEXT];	/* each line has its newline */
};

extern struct kept	*kept;

/* Maps it; borrows fd.  Before it is called, the memory is the process's own. */
int	 kept_open(int fd);
/* Bytes that wait. */
size_t	 kept_len(void);
/*
 * Adds a line of less than KEPT_LINE_MAX bytes and a newline.  -1: there is no
 * room, which is counted.
 */
int	 kept_add(const char *line);
/* Forgets so many bytes, as the log has them. */
void	 kept_took(size_t n);

#endif
