/* SPDX-License-Identifier: ISC */
/* The daemon stays for as long as its client does: see hold.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "client/lib/local.h"
#include "client/lib/report.h"
#include "keepalive.h"

static const char *socket_path;
static int held_fd = -1;
static time_t since; /* seconds, CLOCK_MONOTONIC */

void
keepalive_init(const char *path)
{
	socket_path = path;
}

static time_t
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

void
keepalive_begin(void)
{
	int code;

	if (held_fd != -1)
		return;
	/* a client refused here is refused, and told so, when it asks */
	report_hold();
	held_fd = local_connect(socket_path, true, &code);
	free(report_release());
	since = now();
}

int
keepalive_fd(void)
{
	return held_fd;
}

/*
 * A daemon closes connections on which nothing has happened for some time
 * (idle-timeout); one that ends closes them, too, and is not started for this.
 */
void
keepalive_run(void)
{
	bool at_once = now() - since < 1;
	char buf[512];
	ssize_t n = read(held_fd, buf, sizeof(buf));

	if (n > 0 || (n == -1 && (errno == EAGAIN || errno == EINTR)))
		return;
	keepalive_end();
	if (!at_once)
		keepalive_begin();
}

void
keepalive_end(void)
{
	if (held_fd != -1)
		close(held_fd);
	held_fd = -1;
}
