/* SPDX-License-Identifier: ISC */
/* What the launcher and the library that it loads into gdbserver agree on. */
#ifndef LAUNCHER_PRELOAD_H
#define LAUNCHER_PRELOAD_H

/* the library's file in the new gdbserver, and how it is loaded */
#define PRELOAD_FD	3
#define PRELOAD_ENV	"LD_PRELOAD=/proc/self/fd/3"

#endif
