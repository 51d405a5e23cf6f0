/* SPDX-License-Identifier: ISC */
/* A command that is one request: its row in the table says all. */
#include <limits.h>

#include "ask.h"
#include "client/lib/args.h"
#include "client/lib/report.h"
#include "dbg.h"
#include "request.h"

/*
 * The time limit: of what waits for the program it is the daemon's to keep,
 * whose "still running" says more than that nothing has come.
 */
static int
add_timeout(struct dbg *d, struct json_object *args)
{
	long long n;

	if (!opt_given(&d->client.opts, DOPT_TIMEOUT))
		return 0;
	if (opt_number(&d->client.opts, DOPT_TIMEOUT, 0, INT_MAX / 1000,
	    &n) == -1)
		return -1;
	if (d->command->waits)
		args_number(args, "timeout_s", n);
	else
		d->client.timeout_s = (unsigned int)n;
	return 0;
}

int
dbg_request_options(struct dbg *d, struct json_object *args)
{
	if (add_timeout(d, args) == -1)
		return -1;
	return dbg_options_args(&d->client.opts, args);
}

int
dbg_request_run(struct dbg *d, int argc, char **argv)
{
	struct json_object *args = json_object_new_object(), *result;
	int code;

	if ((d->command->build != NULL &&
	    d->command->build(d, args, argc, argv) == -1) ||
	    dbg_request_options(d, args) == -1) {
		json_object_put(args);
		return CTL_USAGE;
	}
	code = dbg_ask(d, d->command->request, args, &result);
	return code == CTL_OK ? dbg_print(d, result) : code;
}
