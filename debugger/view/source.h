/* SPDX-License-Identifier: ISC */
/*
 * Source files, read as the owner: found by the client's directory and by
 * the end of their paths, bounded, the latest few kept.
 */
#ifndef DEBUGGER_VIEW_SOURCE_H
#define DEBUGGER_VIEW_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

#define SOURCE_AROUND	5	/* lines before and after */
#define SOURCE_MOST	400	/* lines of one answer */
#define SOURCE_WIDTH	240	/* bytes of one line */

/*
 * The file that path means, as an absolute path: itself, below cwd, or the
 * longest end of it that is there below cwd.  false: there is none.
 */
bool	 source_find(const char *path, const char *cwd, char *out,
	    size_t room);
/* path as an absolute one, whether it is there or not; without "." and "..". */
void	 source_absolute(const char *path, const char *cwd, char *out,
	    size_t room);

/*
 * Line of a file that source_find() gave, without its newline; not
 * NUL-terminated, good until the next call.  NULL: no such line or file.
 */
const char *source_line(const char *file, int64_t line, size_t *len);
/* Lines that it has; 0 = it cannot be read. */
int64_t	 source_lines(const char *file);

/*
 * {"file","first","current","lines"}: count lines from first on; current 0
 * is left out.  NULL: not there.
 */
struct json_object *source_part(const char *file, int64_t first,
	    int64_t count, int64_t current);
/* The same of text that is no file. */
struct json_object *source_of_text(const char *name, const char *text,
	    int64_t first, int64_t count, int64_t current);

/*
 * Names of the parameters in a function's declaration in Go or Python, for
 * adapters that do not tell them from other variables: found by going back
 * from line.  An array, or NULL.
 */
struct json_object *source_params(const char *file, int64_t line,
	    const char *function);

#endif
