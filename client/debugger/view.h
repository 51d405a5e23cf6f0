/* SPDX-License-Identifier: ISC */
/*
 * How answers look to people.  Text from a program or a daemon is made
 * harmless on its way.
 */
#ifndef CLIENT_DEBUGGER_VIEW_H
#define CLIENT_DEBUGGER_VIEW_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct table;

/* How to print, and where: borrowed by all that take it. */
struct view {
	FILE		*out;
	size_t		 width;		/* columns; 0: as wide as it gets */
	bool		 utf8;
	bool		 colours;
	bool		 types;		/* people want to see them */
	const char	*cwd;		/* paths below it are shown without it */
};

/* Whether what goes to stdout may be more than ASCII. */
bool	view_utf8(void);

/* The members of an array, or none when it is missing. */
size_t	view_list(struct json_object *, const char *key,
	    struct json_object **list);

/* Prints a text on one line, made safe for a terminal. */
void	view_text(const struct view *, const char *);

/* The same with blanks for its tabs, up to the end of the line. */
void	view_line(const struct view *, const char *);

/* A member as safe text, whatever its type is; the caller frees it. */
char	*view_member(struct json_object *, const char *key);

/* "src/main.c:42", or an address; "" when there is neither. Freed by the
 * caller. */
char	*view_place(const struct view *, struct json_object *frame);

/* The same as the next cell of a table. */
void	view_cell(struct table *, struct json_object *, const char *key);

/* A path as it is shown: borrowed from path. */
const char *view_path(const struct view *, const char *path);

/* Source lines, the current one marked; nothing when there are none. */
void	view_source(const struct view *, struct json_object *source);

/* Variables in a box below a title; changed may be NULL. */
void	view_variables(const struct view *, const char *title,
	    struct json_object *list, struct json_object *changed);

/* Prints the program's output, each line marked with its stream. */
void	view_output(const struct view *, struct json_object *result);

/* The warning that an answer has, on a line; nothing if it has none. */
void view_warning(const struct view *, struct json_object *result);

/* Prints what was left out, and how to get it. */
void	view_cut(const struct view *, struct json_object *result);

#endif
