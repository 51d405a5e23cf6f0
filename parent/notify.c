/* SPDX-License-Identifier: ISC */
/*
 * Messages of the parent to the outside: systemd's readiness protocol
 * (sd_notify(3), without its library), and readiness for the shell that waits.
 */
#include <sys/socket.h>

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "parent.h"

static struct loop_timer watchdog;

void
notify_send(const char *state)
{
	const int fd = given_fd(GIVEN_NOTIFY);

	if (fd != -1 && send(fd, state, strlen(state), MSG_NOSIGNAL) == -1)
		log_warn("notify");
}

static void
on_watchdog(void *arg)
{
	(void)arg;
	notify_send("WATCHDOG=1");
	notify_watchdog();
}

void
notify_watchdog(void)
{
	if (d.watchdog_ms > 0)
		loop_timer_set(&watchdog, d.watchdog_ms, on_watchdog, NULL);
}

void
daemon_ready(void)
{
	const int null_fd = given_fd(GIVEN_NULL);

	notify_send("READY=1\nSTATUS=serving");
	logger_tell_place();
	if (given_fd(GIVEN_READY) == -1)
		return;
	/* errors of the start went to the terminal; from here on the log */
	(void)dup2(null_fd, STDOUT_FILENO);
	(void)dup2(null_fd, STDERR_FILENO);
	if (write(GIVEN_READY, "", 1) != 1)
		log_warn("the process that started the daemon no longer waits "
		    "for it");
	given_close(GIVEN_READY);
}
