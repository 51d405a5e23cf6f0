/* SPDX-License-Identifier: ISC */
/* From a command's words to its request. */
#ifndef CLIENT_DEBUGGER_BUILD_H
#define CLIENT_DEBUGGER_BUILD_H

#include <json-c/json.h>

struct dbg;

/*
 * Rows' build functions: argc and argv are the words behind the name, borrowed,
 * args the request's arguments, which stay the caller's.  They add to args
 * what the words say: 0, or -1 after a report.
 */
int	build_place(struct dbg *, struct json_object *args, int, char **);
int	build_source(struct dbg *, struct json_object *args, int, char **);
int	build_id(struct dbg *, struct json_object *args, int, char **);
int	build_watch(struct dbg *, struct json_object *args, int, char **);
int	build_catch(struct dbg *, struct json_object *args, int, char **);
int	build_step(struct dbg *, struct json_object *args, int, char **);
int	build_index_arg(struct dbg *, struct json_object *args, int, char **);
int	build_thread(struct dbg *, struct json_object *args, int, char **);
int	build_expression(struct dbg *, struct json_object *args, int,
	    char **);
int	build_set(struct dbg *, struct json_object *args, int, char **);
int	build_memory(struct dbg *, struct json_object *args, int, char **);
int	build_registers(struct dbg *, struct json_object *args, int, char **);
int	build_raw(struct dbg *, struct json_object *args, int, char **);

/*
 * A place as people write it: FILE:LINE, LINE or FUNCTION, and perhaps
 * " if CONDITION".
 */
int	place_add(struct json_object *args, const char *text);

/* Words as one text with blanks between; the caller frees it. */
char	*words_join(int, char **);

#endif
