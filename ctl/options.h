/* SPDX-License-Identifier: ISC */
/* Command line options: one table for parsing, help and completion. */
#ifndef CTL_OPTIONS_H
#define CTL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt {
	OPT_TARGET, OPT_JSON, OPT_TABLE, OPT_TIMEOUT, OPT_HELP, OPT_VERSION,
	OPT_BUNDLE, OPT_NAME, OPT_QUIET, OPT_DEBUG, OPT_SPLIT, OPT_SANDBOX,
	OPT_NETWORK, OPT_OFFSET, OPT_FOLLOW, OPT_TAIL, OPT_RAW, OPT_EOF,
	OPT_OUTFILE, OPT_ENV, OPT_SYMBOLS, OPT_SYSROOT, OPT_PORT,
	OPT_DELAY, OPT_COUNT, OPT_DAEMON, OPT_COMPLETION, OPT_CA, OPT_CERT,
	OPT_KEY, OPT_FINGERPRINT, OPT_PLAIN, OPT_TOKEN_FILE, OPT_USER,
	OPT_READ_ONLY, OPT_EXPIRES, OPT_LABEL,
	OPT_MAX
};

#define OPT(name)	(UINT64_C(1) << OPT_##name)
#define OPTS_GLOBAL	(OPT(TARGET) | OPT(JSON) | OPT(TABLE) | \
			    OPT(TIMEOUT) | OPT(HELP) | OPT(VERSION) | \
			    OPT(CA) | OPT(CERT) | OPT(KEY) | \
			    OPT(FINGERPRINT) | OPT(PLAIN) | OPT(TOKEN_FILE))

struct opt_spec {
	const char	*name;		/* long name */
	char		 letter;	/* short name, 0 for none */
	const char	*arg;		/* name of its argument, or NULL */
	const char	*summary;	/* NULL: not shown to people */
	const char	*env;		/* variable that gives it too, or NULL */
};

extern const struct opt_spec opt_specs[OPT_MAX];

struct options {
	const char	 *value[OPT_MAX];	/* NULL: not given */
	const char	**env;			/* every --env, in order */
	size_t		  nenv;
};

/*
 * Splits argv into options, which go into o, and words, which go into words
 * (room for argc, borrowed from argv). Only options in allowed are known.
 * After literal_after words (0: never) and after "--" everything is a word.
 * The number of words, or -1 after a report.
 */
int	options_parse(struct options *o, uint64_t allowed,
	    size_t literal_after, int argc, char **argv, char **words);

/* What was given with an option or by its variable; NULL: neither. */
const char *opt_value(const struct options *, enum opt);

/* Puts options that have a variable there, for a program of ours that is
 * started again. -1 and errno. */
int	options_export(const struct options *);

bool	opt_given(const struct options *, enum opt);

/* The whole number given with an option, within bounds; -1 after a report. */
int	opt_number(const struct options *, enum opt, long long min,
	    long long max, long long *np);

#endif
