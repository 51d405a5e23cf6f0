/* SPDX-License-Identifier: ISC */
/*
 * How debugger reaches a daemon: by the local socket, its own user's unless
 * told otherwise.  Daemons on a network are debuglanternctl's to reach, so
 * that no TLS code is loaded for a question that takes a millisecond.
 */
#include <stdlib.h>
#include <string.h>

#include "client/lib/daemon.h"
#include "client/lib/local.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/ssh.h"
#include "client/lib/stream.h"
#include "dbg.h"
#include "open.h"

/* No daemon listens: starts one and returns its socket, or -1 with *code. */
static int
without_daemon(struct dbg *d, int *code)
{
	if (d->may_start)
		return daemon_start(&d->client.target, code);
	*code = DBG_NO_SESSION;
	d->lacking = d->may_lack;
	if (d->lacking)
		return -1;
	report("there is no debug session: no daemon of yours is running; "
	    "\"" DBG_NAME " start PROGRAM\" starts both");
	return -1;
}

static int
open_local(struct dbg *d, int *code)
{
	int sock_fd = local_connect(d->client.target.path, d->own, code);

	if (sock_fd != -1 || *code != CTL_OK)
		return sock_fd;
	return without_daemon(d, code);
}

/* Through a program that speaks for us: see proxy of debuglanternctl. */
static int
open_remote(struct dbg *d, struct ssh *ssh, int *code)
{
	const char *argv[] = { NULL, "--target", NULL, "proxy", NULL };
	char *ctl = daemon_beside(CTL_NAME);
	int sock_fd;

	argv[0] = ctl != NULL ? ctl : CTL_NAME;
	argv[2] = d->client.opts.value[DOPT_TARGET];
	sock_fd = ssh_start_ours(ssh, argv);
	free(ctl);
	if (sock_fd == -1)
		*code = CTL_UNREACHABLE;
	return sock_fd;
}

void
dbg_refused(const struct client *c, struct json_object *answer)
{
	reply_report(answer, c->json_errors);
}

int
dbg_open(struct client *c, struct conn **connp)
{
	/* the client is the first member of what it belongs to */
	struct dbg *d = (struct dbg *)(void *)c;
	struct ssh ssh = { 0 };
	struct stream s;
	int code = CTL_OK, sock_fd;

	*connp = NULL;
	sock_fd = c->target.kind == TARGET_UNIX ? open_local(d, &code) :
	    open_remote(d, &ssh, &code);
	if (sock_fd == -1)
		return code;
	stream_init(&s, sock_fd);
	if ((*connp = dconn_new(&s, &ssh, &c->target, c->timeout_s)) != NULL)
		return CTL_OK;
	stream_close(&s);
	ssh_end(&ssh, &c->target, 0);
	return CTL_USAGE;
}
