/* SPDX-License-Identifier: ISC */
/* How long JSON is as text (jwrite() in jmake.h); no memory is needed. */
#ifndef DEBUGGER_TEXT_JSON_SIZE_H
#define DEBUGGER_TEXT_JSON_SIZE_H

#include <stddef.h>

struct json_object;

/* Bytes, exactly. */
size_t	 jsize(struct json_object *);
/*
 * How many bytes of s take at most that many bytes of JSON, without the
 * quotes; whole characters, and three bytes for what is none (jtext_clean()).
 */
size_t	 jsize_fit(const char *s, size_t len, size_t most);

#endif
