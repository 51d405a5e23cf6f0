/* SPDX-License-Identifier: ISC */
/* Properties of a terminal, and figures in a form that people read. */
#ifndef CLIENT_LIB_TERM_H
#define CLIENT_LIB_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum colour { PLAIN, BOLD, DIM, RED, GREEN, YELLOW, CYAN };

/* Columns and rows of the terminal on fd; 0 when it is none. */
size_t	term_width(int fd);
size_t	term_height(int fd);

/* Whether colours are wanted on fd: a terminal, and no $NO_COLOR. */
bool	term_colours(int fd);

/* The sequence that switches to a colour; PLAIN switches all off. */
const char *term_colour(enum colour);

/* "512", "1.5K", "64M" into buf; returns buf. */
#define TERM_BYTES	16
const char *term_bytes(uint64_t bytes, char buf[TERM_BYTES]);

/* "42s", "3m07s", "2h05m", "3d04h" into buf; returns buf. */
const char *term_duration(int64_t seconds, char buf[TERM_BYTES]);

#endif
