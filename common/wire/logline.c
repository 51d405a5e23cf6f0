/* SPDX-License-Identifier: ISC */
/* Lines on their way to the logger. */
#include <stdio.h>

#include "logline.h"
#include "msg.h"

/*
 * Half of what may wait.  A role that logs faster than the log is written would
 * be cut off: lines are less than sessions.
 */
#define BACKLOG_MOST	(CHAN_QUEUE_MAX / 2)

static struct channel chan = { .fd = -1 };

/* The link is the parent's to mend: it lasts longer than a logger. */
static void
gone(struct channel *c, const char *why)
{
	(void)c;
	(void)why;
}

int
logline_open(enum role self, int fd)
{
	chan_close(&chan);
	chan_init(&chan, self, ROLE_LOGGER, gone, NULL);
	if (chan_open(&chan, fd, 0) == -1)
		return -1;
	chan_pause(&chan, true);
	return 0;
}

static void
send_line(enum log_level level, const char *line)
{
	static uint64_t serial;
	struct msg_out *o = msg_new(chan.self == ROLE_PARENT ? MSG_PARENT_LOG :
	    MSG_LOG, NULL, 0, ++serial);

	msg_put_u32(o, level);
	msg_put_str(o, line);
	(void)chan_send(&chan, o, -1);
}

void
logline_send(enum log_level level, const char *line)
{
	static unsigned long lost;
	char text[64];

	if (chan_backlog(&chan) > BACKLOG_MOST) {
		lost++;
		return;
	}
	if (lost > 0) {
		(void)snprintf(text, sizeof(text), "%lu lines were lost: the "
		    "log is too slow", lost);
		lost = 0;
		send_line(LOG_L_WARN, text);
	}
	send_line(level, line);
}

size_t
logline_backlog(void)
{
	return chan_backlog(&chan);
}
