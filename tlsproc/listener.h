/* SPDX-License-Identifier: ISC */
/* Listening sockets that the parent opened. */
#ifndef DL_TLS_LISTENER_H
#define DL_TLS_LISTENER_H

#include <stddef.h>

#include "msg.h"

/* How many connections there may be, with the fds that they may need. */
void	 listener_limit(void);
size_t	 listener_most(void);
/* A connection has ended: if accepting was paused, it goes on. */
void	 listener_resume(void);
/* log_info(), but at most a few lines a second: clients cause it. */
void	 listener_log(const char *, ...) __attribute__((format(printf, 1, 2)));

int	 tls_on_listener(struct msg *);
int	 tls_on_listener_gone(struct msg *);

#endif
