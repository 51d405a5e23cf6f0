/* SPDX-License-Identifier: ISC */
/*
 * Which lines of a source file are a function.  Debug adapters tell where a
 * frame stands, not where its function begins and ends: the text does, by its
 * brackets and indentation.
 */
#ifndef DEBUGGER_VIEW_EXTENT_H
#define DEBUGGER_VIEW_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The lines of the function that line is in; function is its name as an
 * adapter gives it ("main.(*T).Add", "ns::f(int)").  file as source_find()
 * gave it.  false: no declaration of that name stands above.
 */
bool	 extent_around(const char *file, int64_t line, const char *function,
	    int64_t *first, int64_t *last);

/* The same for a function that is defined anywhere in the file. */
bool	 extent_named(const char *file, const char *function, int64_t *first,
	    int64_t *last);

#endif
