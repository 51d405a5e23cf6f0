/* SPDX-License-Identifier: ISC */
/*
 * proxy: the far end of an ssh:// target. Standard input and output are
 * connected to the local socket; the daemon decides what the user may do. With
 * another target, proxy is the near end, for a program that speaks no TLS.
 */
#include <unistd.h>

#include "client/lib/client.h"
#include "client/lib/report.h"
#include "login.h"
#include "proxy.h"
#include "relay.h"
#include "switches.h"

int
ctl_proxy(struct client *c, int argc, char **argv)
{
	int code;

	(void)argc;
	(void)argv;
	if (isatty(STDIN_FILENO))
		return usage_error("standard input is a terminal; this is for "
		    "programs: ssh, which an ssh:// target starts, "
		    "or debugger");
	/* Ignore the target of a login's profile, which is for people. */
	if (!opt_given(&c->opts, OPT_TARGET)) {
		c->target = (struct target){ .kind = TARGET_DEFAULT };
		c->target.socket_only = true;
	}
	if ((code = client_connect(c)) != CTL_OK)
		return code;
	/* who is on the local socket is known without a word */
	if (c->target.kind != TARGET_UNIX &&
	    (code = client_greet(c, c->conn)) != CTL_OK)
		return code;
	return relay(c->conn, STDIN_FILENO, STDOUT_FILENO, true,
	    "debuglanternd");
}
