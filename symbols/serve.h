/* SPDX-License-Identifier: ISC */
/* The channel to the tracer, and what it asks. */
#ifndef SYMBOLS_SERVE_H
#define SYMBOLS_SERVE_H

/* Functions whose types are asked for at once. */
#define SYM_TYPES_MAX	512

/* Takes fd; dies when it is no channel. */
void	serve_open(int fd);

#endif
