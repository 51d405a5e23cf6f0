/* SPDX-License-Identifier: ISC */
/* Commands that print what a program wrote. */
#include <limits.h>
#include <unistd.h>

#include "client/lib/client.h"
#include "client/lib/printer.h"
#include "client/lib/report.h"
#include "output.h"
#include "switches.h"

static int
print_output(struct client *c, const char *id, bool to_end)
{
	struct printer p = { .client = c, .id = id };
	long long offset = 0, lines = 0;
	int code = CTL_OK;

	if (opt_given(&c->opts, OPT_OFFSET) && opt_number(&c->opts,
	    OPT_OFFSET, 0, LLONG_MAX, &offset) == -1)
		return CTL_USAGE;
	if (opt_given(&c->opts, OPT_TAIL) && opt_number(&c->opts, OPT_TAIL,
	    1, INT_MAX, &lines) == -1)
		return CTL_USAGE;
	if (lines > 0 && c->json_errors)
		return usage_error("--tail and --json cannot be combined");
	p.next = (uint64_t)offset;
	p.holds = opt_given(&c->opts, OPT_HOLD);
	p.filtered = isatty(STDOUT_FILENO) && !opt_given(&c->opts, OPT_RAW);
	if (!to_end || lines > 0)
		code = printer_held(&p, lines);
	if (code == CTL_OK && to_end)
		code = printer_follow(&p);
	printer_end(&p);
	return code == CTL_OK ? report_flush() : code;
}

int
ctl_output(struct client *c, int argc, char **argv)
{
	(void)argc;
	if (opt_given(&c->opts, OPT_HOLD) && !opt_given(&c->opts, OPT_FOLLOW))
		return usage_error("--hold needs --follow: it blocks a program "
		    "that is still writing");
	return print_output(c, argv[0], opt_given(&c->opts, OPT_FOLLOW));
}

int
ctl_follow(struct client *c, int argc, char **argv)
{
	(void)argc;
	return print_output(c, argv[0], true);
}
