/* SPDX-License-Identifier: ISC */
/*
 * Parsers of the kernel's files about cgroups.  Lines are read whole: those of
 * mounts may be longer than any buffer, and the rest of a line must not be
 * parsed as a line.
 */
#include <stdlib.h>
#include <string.h>

#include "cgfile.h"
#include "wire/settings.h"

/* The nth word from 0, without what follows; NULL = there are fewer. */
static char *
nth_word(char *text, unsigned int n)
{
	char *word;

	while ((word = strsep(&text, " \n")) != NULL && n > 0)
		n--;
	return word;
}

/* The mount point, if this is a line of one; the line is cut. */
static const char *
point_of(char *line)
{
	char *type = strstr(line, " - ");
	const char *point;

	if (type == NULL)
		return NULL;
	*type = '\0';
	type = nth_word(type + 3, 0);
	if (strcmp(type, "cgroup2") != 0)
		return NULL;
	point = nth_word(line, 4);
	return point != NULL && *point == '/' ? point : NULL;
}

/* The path, if this is the line of version 2. */
static const char *
path_of(char *line)
{
	line[strcspn(line, "\n")] = '\0';
	return strncmp(line, "0::/", 4) == 0 ? line + 3 : NULL;
}

/* Copies the first match that fits into to; -1 when there is none. */
static int
first(FILE *f, const char *(*find)(char *line), char *to, size_t size)
{
	char *line = NULL;
	const char *it;
	size_t room = 0;
	int found = -1;

	while (f != NULL && found == -1 && getline(&line, &room, f) != -1)
		if ((it = find(line)) != NULL && strlen(it) < size) {
			memcpy(to, it, strlen(it) + 1);
			found = 0;
		}
	free(line);
	if (f != NULL)
		fclose(f);
	return found;
}

int
cgfile_mount(FILE *f, char *mnt, size_t size)
{
	return first(f, point_of, mnt, size);
}

int
cgfile_own(FILE *f, char *path, size_t size)
{
	return first(f, path_of, path, size);
}

uint64_t
cgfile_controllers(FILE *f)
{
	static const struct {
		const char	*name;
		uint64_t	 bit;
	} known[] = {
		{ "memory", CONTROLLER_MEMORY },
		{ "pids", CONTROLLER_PIDS },
	};
	char *line = NULL, *rest, *name;
	uint64_t found = 0;
	size_t room = 0, i;

	while (f != NULL && getline(&line, &room, f) != -1)
		for (rest = line; (name = strsep(&rest, " \n")) != NULL;)
			for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
				if (strcmp(name, known[i].name) == 0)
					found |= known[i].bit;
	free(line);
	if (f != NULL)
		fclose(f);
	return found;
}
