/* SPDX-License-Identifier: ISC */
/* Command line options: one table for parsing, help and completion. */
#ifndef CLIENT_LIB_OPTIONS_H
#define CLIENT_LIB_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OPTIONS_MAX	64U	/* a bit each in a mask of them */
#define OPT_LISTS	3U

struct opt_spec {
	const char	*name;		/* long name */
	char		 letter;	/* short name, 0 for none */
	const char	*arg;		/* name of its argument, or NULL */
	const char	*summary;	/* NULL: not shown to people */
	const char	*env;		/* variable that gives it too, or NULL */
};

/* The options of a program. */
struct opt_table {
	const struct opt_spec	*specs;
	unsigned int		 count;
	unsigned int		 lists[OPT_LISTS];	/* may be repeated;
							 * count for none */
};

struct opt_list {
	const char	**value;
	size_t		  n;
};

struct options {
	const char	*value[OPTIONS_MAX];	/* NULL: not given */
	struct opt_list	 list[OPT_LISTS];	/* as in the table */
};

/* Sets the table that all of these use; borrowed. */
void	options_use(const struct opt_table *);

/*
 * Splits argv into options, which go into o, and words, which go into words
 * (room for argc, borrowed from argv). Only options in allowed are known.
 * After literal_after words (0: never) and after "--" everything is a word.
 * The number of words, or -1 after a report.
 */
int	options_parse(struct options *o, uint64_t allowed,
	    size_t literal_after, int argc, char **argv, char **words);

/* Value of an option or of its variable; NULL if neither is set. */
const char *opt_value(const struct options *, unsigned int opt);

/* Puts options that have a variable there, but one, for a program of ours that
 * is started again. -1 and errno. */
int	options_export(const struct options *, unsigned int but);

/* The long name. */
const char *opt_name(unsigned int opt);

bool	opt_given(const struct options *, unsigned int opt);

void	options_clear(struct options *);

/* For help: a line an option. For the shells: "--name:summary" lines, "=" at
 * the end of those names that take a value. */
void	options_print(uint64_t options, FILE *);
void	options_complete(uint64_t options, FILE *);

/* The whole number given with an option, within bounds; -1 after a report. */
int	opt_number(const struct options *, unsigned int opt, long long min,
	    long long max, long long *np);

#endif
