/* SPDX-License-Identifier: ISC */
/*
 * The launcher's end of the observer (observer/observer.h): questions of the
 * spawner are passed on unread, and so are answers of the lengths and fds that
 * the message table has for them.  An observer that ends, answers something
 * else or does not read loses the launcher its link to the spawner, which then
 * asks again, and is made anew.
 */
#ifndef LAUNCHER_OBSERVE_H
#define LAUNCHER_OBSERVE_H

#include "wire/msg.h"

/* Makes the observer and waits for the facts.  False with errno. */
bool	observe_start(void);
/* Asks it m, with its fd, which is borrowed. */
void	observe_ask(const struct msg *m);
/* Tells it the settings of now. */
void	observe_settings(void);

#endif
