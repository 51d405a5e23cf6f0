/* SPDX-License-Identifier: ISC */
/* The handlers of all messages, by their names in the message table. */
#ifndef DL_HANDLERS_H
#define DL_HANDLERS_H

#include "msg.h"

/* Declared for all rows: only those of the role itself need to exist. */
#define MSG(name, from, to, min, max, fd, states, refusal, handler)	\
	int handler(struct msg *);
#include "msgs.def"
#undef MSG

#endif
