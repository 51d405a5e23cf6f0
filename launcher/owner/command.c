/* SPDX-License-Identifier: ISC */
/*
 * Commands of the host.  libc's execvpe() would look in the launcher's PATH
 * and not in the session's; no memory may be allocated here, as the process
 * shares its parent's.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

static const char *
path_of(char **envp)
{
	for (; *envp != NULL; envp++)
		if (strncmp(*envp, "PATH=", 5) == 0)
			return *envp + 5;
	return "/usr/bin:/bin";
}

/* Comes back with why not. */
static enum step
try(const char *path, char **argv, char **envp)
{
	(void)execve(path, argv, envp);
	if (errno == ENOENT && access(path, F_OK) == 0) {
		/* the file is there: what is missing is what it names */
		errno = ENOENT;
		return STEP_INTERP;
	}
	return errno == ENOENT || errno == ENOTDIR ? STEP_COMMAND : STEP_EXEC;
}

enum step
command_exec(char **argv, char **envp)
{
	char path[PATH_MAX];
	const char *p = path_of(envp), *end;
	enum step step;
	bool found = false;

	if (strchr(argv[0], '/') != NULL)
		return try(argv[0], argv, envp);
	for (;; p = end + 1) {
		end = p + strcspn(p, ":");
		step = STEP_COMMAND;
		/* an empty part is the working directory */
		if ((size_t)snprintf(path, sizeof(path), "%.*s%s%s",
		    (int)(end - p), p, end == p ? "" : "/", argv[0]) <
		    sizeof(path))
			step = try(path, argv, envp);
		/* what may not be executed here may be further on */
		found |= step == STEP_EXEC && errno == EACCES;
		if (step != STEP_COMMAND && errno != EACCES)
			return step;
		if (*end == '\0')
			break;
	}
	errno = found ? EACCES : ENOENT;
	return found ? STEP_EXEC : STEP_COMMAND;
}
