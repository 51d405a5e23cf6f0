/* SPDX-License-Identifier: ISC */
/* proxy: the far end of an ssh:// target. Standard input and output are
 * connected to the local socket; who may do what is the daemon's to say. */
#include <unistd.h>

#include "client.h"
#include "proxy.h"
#include "relay.h"
#include "report.h"

int
cmd_proxy(struct client *c, int argc, char **argv)
{
	int code;

	(void)argc;
	(void)argv;
	if (isatty(STDIN_FILENO))
		return usage_error("standard input is a terminal; this is for "
		    "ssh, which an ssh:// target starts");
	/* What a login's profile sets is for people. */
	if (!opt_given(&c->opts, OPT_TARGET)) {
		c->target = (struct target){ .kind = TARGET_DEFAULT };
		c->target.socket_only = true;
	} else if (c->target.kind != TARGET_UNIX)
		return usage_error("give a local socket: --target unix:PATH");
	if ((code = client_connect(c)) != CTL_OK)
		return code;
	return relay(c->conn, STDIN_FILENO, STDOUT_FILENO, true,
	    "debuglanternd");
}
