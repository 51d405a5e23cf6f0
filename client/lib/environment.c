/* SPDX-License-Identifier: ISC */
/* Context that a shell here would give a program started elsewhere. */
#include <sys/stat.h>

#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "environment.h"
#include "report.h"

/*
 * A request carries 60 KiB, in which quotes and control characters take two
 * bytes or more. A program seldom needs large variables.
 */
#define ENV_MAX		(40U << 10)
#define VARIABLE_MAX	(4U << 10)

extern char **environ;

/* -- environment ----------------------------------------------------------- */

/* A token is for us, not for what is started. */
static bool
is_ours(const char *variable)
{
	return strncmp(variable, "DEBUGLANTERN_TOKEN", 18) == 0;
}

size_t
env_variables(void (*add)(void *, const char *), void *arg,
    void (*left)(void *, const char *), void *left_arg)
{
	size_t total = 0, left_out = 0, len;
	char **e;

	for (e = environ; *e != NULL; e++) {
		len = strlen(*e);
		if (is_ours(*e))
			continue;
		if (len > VARIABLE_MAX || total + len > ENV_MAX ||
		    !args_is_text(*e)) {
			left_out++;
			if (left != NULL)
				left(left_arg, *e);
			continue;
		}
		total += len;
		add(arg, *e);
	}
	return left_out;
}

void
env_variables_warned(void (*add)(void *, const char *), void *arg)
{
	size_t left_out = env_variables(add, arg, NULL, NULL);

	if (left_out > 0)
		report("warning: %zu environment variables are too long, or "
		    "not UTF-8, and are not passed on; pass those that the "
		    "program needs with --env", left_out);
}

/* -- program and directory ------------------------------------------------- */

char *
path_absolute(const char *path)
{
	char cwd[PATH_MAX], *text;

	while (strncmp(path, "./", 2) == 0)
		path += 2;
	if (*path == '/' || getcwd(cwd, sizeof(cwd)) == NULL)
		text = strdup(path);
	else if (asprintf(&text, "%s%s%s", cwd, *path == '\0' ||
	    strcmp(cwd, "/") == 0 ? "" : "/", path) == -1)
		text = NULL;
	if (text == NULL)
		err(CTL_USAGE, NULL);
	return text;
}

static bool
is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* As a shell finds it, when it is not in this directory; freed by the caller,
 * NULL when it is nowhere. */
static char *
search_path(const char *name)
{
	const char *path = getenv("PATH"), *end;
	char *text;

	for (; path != NULL && *path != '\0'; path = *end ? end + 1 : end) {
		end = path + strcspn(path, ":");
		if (asprintf(&text, "%.*s/%s", (int)(end - path), path,
		    name) == -1)
			err(CTL_USAGE, NULL);
		if (*text == '/' && is_file(text) && access(text, X_OK) == 0)
			return text;
		free(text);
	}
	return NULL;
}

char *
env_program(const char *name, bool look)
{
	char *path = path_absolute(name), *found;

	if (!look || is_file(path))
		return path;
	if (strchr(name, '/') == NULL && (found = search_path(name)) != NULL) {
		free(path);
		return found;
	}
	report(is_directory(path) ? "%s is a directory, not a program" :
	    "%s: there is no such program here", path);
	free(path);
	return NULL;
}

char *
env_directory(const char *name, bool look)
{
	char *path = path_absolute(name != NULL ? name : "");

	if (name == NULL || !look || is_directory(path))
		return path;
	report("%s: there is no such directory", path);
	free(path);
	return NULL;
}
