/* SPDX-License-Identifier: ISC */
/* A key and a certificate for a daemon that was given none. */
#ifndef DL_TLS_SELFSIGNED_H
#define DL_TLS_SELFSIGNED_H

#include <stddef.h>
#include <stdint.h>

/*
 * Makes a P-256 key and a certificate for it that is good for ten years and
 * for the host's name.  Returns both as PEM, malloc'ed, to be wiped by the
 * caller; NULL when the library fails, and why is its word.
 */
uint8_t	*selfsigned_make(const char *host, size_t *len, const char **why);

#endif
