/* SPDX-License-Identifier: ISC */
/* Exit codes of the client and its messages on stderr. */
#ifndef CLIENT_LIB_REPORT_H
#define CLIENT_LIB_REPORT_H

enum exit_code {
	CTL_OK = 0,
	CTL_REFUSED = 1,	/* the daemon answered with an error */
	CTL_USAGE = 2,		/* wrong command line, or a local file */
	CTL_UNREACHABLE = 3,	/* no connection, or no sensible answer */
	CTL_TIMEOUT = 5,	/* a daemon that was started is not ready */
};

#define CTL_NAME	"debuglanternctl"

/* The program's own name, before each message. */
extern const char *report_name;

/* Prints a line on stderr, "debuglanternctl: ...", safe for a terminal. */
void	report(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A further line of the same message. */
void	report_more(const char *text);
/*
 * Prints the correct usage after wrong options of a program's command have been
 * reported; returns CTL_USAGE.
 */
int	report_usage(const char *program, const char *command,
	    const char *usage);

/*
 * For a time in which stderr is no place for messages: the last one is kept.
 * report_release() ends that time, what it returns is the caller's to free,
 * safe for a terminal, NULL when there was none.
 */
void	report_hold(void);
char	*report_release(void);

/* As report(), and returns CTL_USAGE: for `return usage_error(...)`. */
int	usage_error(const char *fmt, ...)
	    __attribute__((format(printf, 1, 2)));

/*
 * Flushes stdout: CTL_OK, or CTL_USAGE after a report. A reader that went
 * away (EPIPE) is no news to anybody and is not reported.
 */
int	report_flush(void);

#endif
