/* SPDX-License-Identifier: ISC */
/* Macros of libraries, for cppcheck, which reads no system headers. */
#include "/usr/include/x86_64-linux-gnu/sys/queue.h"

#define timercmp(a, b, op)			((a)->tv_sec op (b)->tv_sec)
#define json_object_object_foreach(o, k, v)				\
	struct json_object *v = (o);					\
	for (char *k = next_key(o); k != NULL; k = next_key(o))
