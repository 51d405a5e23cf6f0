/* SPDX-License-Identifier: ISC */
/* Prototypes of the message handlers, from the table. */
#ifndef SPAWNER_HANDLERS_H
#define SPAWNER_HANDLERS_H

#include "wire/msg.h"

#define MSG(name, from, to, min, max, fd, states, refusal, handler)	\
	int handler(struct msg *);
#include "wire/msgs.def"
#undef MSG

#endif
