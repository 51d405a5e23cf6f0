/* SPDX-License-Identifier: ISC */
/* Messages on stderr: one line each, nothing of a peer's reaches a terminal
 * unescaped. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "safe.h"

const char *report_name = CTL_NAME;

static bool	 holding;
static char	*held;

static void __attribute__((format(printf, 1, 0)))
report_v(const char *fmt, va_list ap)
{
	char *raw = NULL, *clean;

	if (vasprintf(&raw, fmt, ap) == -1)
		raw = NULL;
	clean = safe_string(raw != NULL ? raw : "out of memory");
	free(raw);
	if (holding) {
		free(held);
		held = clean;
		return;
	}
	fprintf(stderr, "%s: %s\n", report_name, clean);
	free(clean);
}

void
report_hold(void)
{
	holding = true;
}

char *
report_release(void)
{
	char *text = held;

	holding = false;
	held = NULL;
	return text;
}

void
report(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report_v(fmt, ap);
	va_end(ap);
}

void
report_more(const char *text)
{
	char *clean = safe_string(text);

	if (!holding)
		fprintf(stderr, "  %s\n", clean);
	free(clean);
}

int
report_usage(const char *program, const char *command, const char *usage)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "usage: %s %s%s%s; \"%s help %s\" "
	    "lists its options", program, command, *usage != '\0' ? " " : "",
	    usage, program, command);
	report_more(text);
	return CTL_USAGE;
}

int
usage_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report_v(fmt, ap);
	va_end(ap);
	return CTL_USAGE;
}

int
report_flush(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return CTL_OK;
	/* head(1) has had enough: that is no trouble to tell of */
	if (errno != EPIPE)
		report("cannot write to standard output: %s", strerror(errno));
	return CTL_USAGE;
}
