/* SPDX-License-Identifier: ISC */
/* Session objects of the protocol, shown to people. */
#ifndef CLIENT_CTL_SESSION_H
#define CLIENT_CTL_SESSION_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* "exit 3", "SIGSEGV" or "", into buf. */
#define SESSION_END	40
const char *session_end(struct json_object *, char buf[SESSION_END]);

/* Prints a line: id, state and what is worth knowing in that state. */
void	session_print_line(struct json_object *, FILE *);

/* All members, one a line. */
void	session_print(struct json_object *, FILE *);

/*
 * The array that LIST answers as a table, width and max_rows as with
 * table_print(). Ids are shortened as far as they stay unique.
 */
void	session_print_table(struct json_object *, FILE *, size_t width,
	    size_t max_rows, bool colours);

#endif
