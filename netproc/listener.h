/* SPDX-License-Identifier: ISC */
/* Listening sockets that the parent opened, and who is let in by them. */
#ifndef DL_NET_LISTENER_H
#define DL_NET_LISTENER_H

#include "json.h"
#include "msg.h"

/* How many connections there may be, with the fds that they may need. */
void	 listener_limit(void);
/* A connection has ended: if accepting was paused, it goes on. */
void	 listener_resume(void);
/* A JSON string for each listener that asks nobody who he is. */
void	 listener_warnings(struct text *);
/* log_info(), but at most a few lines a second: clients cause it. */
void	 listener_log(const char *, ...) __attribute__((format(printf, 1, 2)));

int	 net_on_listener(struct msg *);
int	 net_on_listener_gone(struct msg *);

#endif
