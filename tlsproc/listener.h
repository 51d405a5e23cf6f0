/* SPDX-License-Identifier: ISC */
/* Listening sockets that the parent opened. */
#ifndef DL_TLS_LISTENER_H
#define DL_TLS_LISTENER_H

#include <stddef.h>

#include "wire/msg.h"

/* How many connections there may be, with the fds that they may need. */
void	 tls_listener_limit(void);
size_t	 listener_most(void);

int	 tls_on_listener(struct msg *);
int	 tls_on_listener_gone(struct msg *);

#endif
