/* SPDX-License-Identifier: ISC */
/*
 * Context that a shell here would give a program started elsewhere: its path,
 * its directory, its environment.
 */
#ifndef CLIENT_LIB_ENVIRONMENT_H
#define CLIENT_LIB_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* A path of here, as it is from anywhere; the caller frees it. */
char	*path_absolute(const char *path);

/*
 * The absolute path of a program as a shell finds it, the caller's to free;
 * NULL after a report.  look: the daemon's files are those of here.
 */
char	*env_program(const char *name, bool look);

/* The same of a directory; NULL is this one. */
char	*env_directory(const char *name, bool look);

/*
 * Calls add for each KEY=VALUE that a shell here has, but for our tokens and
 * what does not fit into a request: with that it calls left, unless that is
 * NULL. Returns how many were left out.
 */
size_t	 env_variables(void (*add)(void *arg, const char *variable),
	    void *arg, void (*left)(void *left_arg, const char *variable),
	    void *left_arg);

/* The same, and a warning when any was left out. */
void	 env_variables_warned(void (*add)(void *arg, const char *variable),
	    void *arg);

#endif
