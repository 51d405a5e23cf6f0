/* SPDX-License-Identifier: ISC */
/*
 * Answers of terminals to a program's queries.  Every terminal that watches
 * answers, and answers replayed queries a second time, but only one answer is
 * meant to reach the program.
 */
#ifndef DL_NET_REPLIES_H
#define DL_NET_REPLIES_H

#include <stddef.h>

/*
 * Copies what is no such answer to out, which has room for n bytes and may
 * be where they are; returns how many there are.  A sequence that a key may
 * send as well is a key.
 */
size_t	 replies_strip(const char *, size_t n, char *out);

#endif
