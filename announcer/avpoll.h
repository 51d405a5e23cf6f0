/* SPDX-License-Identifier: ISC */
/* Avahi's watches and timeouts on the event loop of this process. */
#ifndef DL_AVPOLL_H
#define DL_AVPOLL_H

#include <avahi-common/watch.h>

/* Returns the only instance in this process; it is never freed. */
const AvahiPoll	*avpoll(void);

#endif
