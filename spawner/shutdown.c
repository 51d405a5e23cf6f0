/* SPDX-License-Identifier: ISC */
/* The end of the daemon: sessions, instruments and jobs end before it. */
#include "shutdown.h"
#include "spawner/image/archive_job.h"
#include "spawner/inst/instrument.h"
#include "spawner/link/peers.h"
#include "spawner/run/stop.h"
#include "spawner/session/session.h"
#include "wire/role.h"

#define POLL_MS		20

static struct loop_timer timer;

static void
check_all_stopped(void *arg)
{
	(void)arg;
	/* also those whose start was under way when the end began */
	stop_all();
	/* one that is stopped would not see its channel close, and stay */
	if (inst_end_all() && session_alive_count() == 0 &&
	    archive_job_count() == 0)
		(void)chan_send(&parent_chan,
		    msg_new(MSG_STOPPED_ALL, NULL, 0, 0), -1);
	else
		loop_timer_set(&timer, POLL_MS, check_all_stopped, NULL);
}

void
shutdown_begin(void)
{
	if (shutting_down)
		return;
	shutting_down = true;
	archive_job_cancel_all();
	check_all_stopped(NULL);
}
