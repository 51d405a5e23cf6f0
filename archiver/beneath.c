/* SPDX-License-Identifier: ISC */
/* The one way in which this process opens anything after set-up. */
#include <sys/syscall.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "beneath.h"

int
beneath_open(int dir_fd, const char *path, int flags, mode_t mode,
    uint64_t resolve)
{
	struct open_how how;

	memset(&how, 0, sizeof(how));
	how.flags = (uint64_t)(unsigned int)(flags | O_CLOEXEC);
	how.mode = mode;
	how.resolve = resolve;
	return (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
}
