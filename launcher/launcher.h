/* SPDX-License-Identifier: ISC */
/* The link that the files of the launcher share. */
#ifndef LAUNCHER_LAUNCHER_H
#define LAUNCHER_LAUNCHER_H

#include "wire/msg.h"

extern struct channel	 spawner_chan;

#endif
