/* SPDX-License-Identifier: ISC */
/* From a command line to a tracer's request. */
#ifndef CLIENT_CTL_TRC_BUILD_H
#define CLIENT_CTL_TRC_BUILD_H

#include <json-c/json.h>

struct client;

/*
 * Return 0, or -1 after a report. The caller keeps the object that they add to.
 *
 * Adds the functions to probe: patterns, the last one NULL, and the options
 * that select functions in all commands. If none are given, adds only the
 * project's directory.
 */
int	trc_build_probes(struct client *, struct json_object *args,
	    char **patterns);

/* The program, its arguments, directory and environment. */
int	trc_build_launch(struct client *, struct json_object *args,
	    char **argv);

/* Why a program of this host that was not started cannot be, if its file
 * tells that: on stderr, behind the report of the refusal. */
void	trc_tell_program(struct client *, const char *path);

/* The filters that are given, as debug_query has them. */
int	trc_build_query(struct client *, struct json_object *query);

#endif
