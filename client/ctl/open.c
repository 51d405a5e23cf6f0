/* SPDX-License-Identifier: ISC */
/* Opens a connection by whatever way its target stands for. */
#include <stddef.h>
#include <unistd.h>

#include "client/lib/conn.h"
#include "client/lib/dial.h"
#include "client/lib/local.h"
#include "client/lib/report.h"
#include "client/lib/ssh.h"
#include "client/lib/stream.h"
#include "client/lib/target.h"
#include "open.h"
#include "resolve.h"
#include "secure.h"

#define CONNECT_S	10U

/*
 * Connects without TLS or with it. A question to the user has taken too long
 * for the daemon to wait, so this connects again: the daemon is known by then.
 */
static int
open_tcp(struct stream *s, const struct target *t, const struct trust *trust,
    int ms)
{
	int code, sock_fd;
	bool asked;

	do {
		if ((sock_fd = dial(t, ms, &code)) == -1)
			return code;
		if (t->kind == TARGET_PLAIN) {
			stream_init(s, sock_fd);
			return CTL_OK;
		}
		code = secure_start(s, sock_fd, t, trust, ms, &asked);
		if (code == CTL_OK && asked)
			stream_close(s);
	} while (code == CTL_OK && asked);
	return code;
}

/* The socket of a target that is none of TCP's; -1 and *code. */
static int
open_socket(struct ssh *ssh, struct target *t, int *code)
{
	int sock_fd;

	if (t->kind == TARGET_UNIX)
		return local_connect(t->path, false, code);
	if (t->kind == TARGET_DEFAULT) {
		sock_fd = local_default(t, code);
		if (sock_fd != -1 || *code != CTL_OK)
			return sock_fd;
		if (!t->socket_only)
			target_no_socket(t);
		else {
			report("no local socket of debuglanternd is here; is "
			    "it running?");
			*code = CTL_UNREACHABLE;
		}
		return -1;
	}
	*code = CTL_UNREACHABLE;
	return ssh_start(ssh, t);
}

int
conn_open(struct conn **cp, struct target *t, const struct trust *trust,
    unsigned int timeout_s)
{
	int code, ms = dconn_ms(timeout_s, CONNECT_S), sock_fd = -1;
	struct stream s;
	struct ssh ssh = { 0 };

	*cp = NULL;
	stream_init(&s, -1);
	if ((code = target_resolve(t)) != CTL_OK)
		return code;
	if (t->kind != TARGET_PLAIN && t->kind != TARGET_TLS &&
	    (sock_fd = open_socket(&ssh, t, &code)) == -1 && code != CTL_OK)
		return code;
	if (sock_fd != -1)
		stream_init(&s, sock_fd);
	else if ((code = open_tcp(&s, t, trust, ms)) != CTL_OK)
		return code;
	if ((*cp = dconn_new(&s, &ssh, t, timeout_s)) != NULL)
		return CTL_OK;
	stream_close(&s);
	ssh_end(&ssh, t, 0);
	return CTL_USAGE;
}
