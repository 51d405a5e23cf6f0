/* SPDX-License-Identifier: ISC */
/*
 * What terminals answer when a program asks them something.  Everyone who
 * watches answers, and of what is replayed a second time: only one of these
 * answers is meant to reach the program.
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
