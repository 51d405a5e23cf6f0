/* SPDX-License-Identifier: ISC */
/* Clients with the right to look see names of variables, no values. */
#ifndef DEBUGGER_TEXT_REDACT_H
#define DEBUGGER_TEXT_REDACT_H

struct json_object;

/*
 * Takes the program's data out of an answer: values, what an exception says,
 * log messages.  Names, types, places and the program's own output stay.
 * Takes the answer; what is left of it is the caller's.
 */
struct json_object *redact(struct json_object *answer);

#endif
