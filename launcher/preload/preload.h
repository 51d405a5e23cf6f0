/* SPDX-License-Identifier: ISC */
/* Shared by the launcher and the library that it preloads into gdbserver. */
#ifndef LAUNCHER_PRELOAD_H
#define LAUNCHER_PRELOAD_H

/* The environment of gdbserver has this, followed by the library's fd. */
#define PRELOAD_ENV	"LD_PRELOAD=/proc/self/fd/"

#endif
