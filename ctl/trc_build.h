/* SPDX-License-Identifier: ISC */
/* From a command line to a tracer's request. */
#ifndef CTL_TRC_BUILD_H
#define CTL_TRC_BUILD_H

#include <json-c/json.h>

struct client;

/*
 * All return 0, or -1 after a report. What they add to stays the caller's.
 *
 * Which functions: patterns, the last one NULL, and the options that all have
 * who say so. Nothing but the project's directory is added if none is said.
 */
int	trc_build_probes(struct client *, struct json_object *args,
	    char **patterns);

/* The program, its arguments, directory and environment. */
int	trc_build_launch(struct client *, struct json_object *args,
	    char **argv);

/* The filters that are given, as debug_query has them. */
int	trc_build_query(struct client *, struct json_object *query);

#endif
