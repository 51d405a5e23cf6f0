/* SPDX-License-Identifier: ISC */
/*
 * A library that is loaded into gdbserver.  gdbserver before version 14 writes
 * fewer extended registers than the kernel takes on some processors
 * (common/confine/xstate.h): floating-point arguments of functions that gdb
 * calls are lost then, and so are the registers to return to.  A write that was
 * refused is made again, with the rest as the thread has it.
 */
#include <sys/ptrace.h>
#include <sys/uio.h>

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload.h"

/* the most that a processor may have, tiles of 64 KiB and the others */
#define ALL_MAX		(80 << 10)

typedef long ptrace_fn(enum __ptrace_request, ...);

static ptrace_fn *next;
static char	 all[ALL_MAX];

/* Keeps LD_PRELOAD and the library's fd from gdbserver's children. */
static void __attribute__((constructor))
begin(void)
{
	const char *own = getenv("LD_PRELOAD"), *number;

	next = (ptrace_fn *)dlsym(RTLD_NEXT, "ptrace");
	if (own != NULL && (number = strrchr(own, '/')) != NULL)
		(void)close(atoi(number + 1));
	(void)unsetenv("LD_PRELOAD");
}

static long
write_all(pid_t tid, const struct iovec *part)
{
	struct iovec v = { all, sizeof(all) };

	if (next(PTRACE_GETREGSET, tid, (void *)NT_X86_XSTATE, &v) == -1)
		return -1;
	if (part->iov_len >= v.iov_len) {
		errno = EFAULT;
		return -1;
	}
	memcpy(all, part->iov_base, part->iov_len);
	return next(PTRACE_SETREGSET, tid, (void *)NT_X86_XSTATE, &v);
}

long __attribute__((visibility("default")))
ptrace(enum __ptrace_request request, ...)
{
	va_list ap;
	pid_t tid;
	void *addr, *data;
	long r;

	va_start(ap, request);
	tid = va_arg(ap, pid_t);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	r = next(request, tid, addr, data);
	if (r == -1 && errno == EFAULT && request == PTRACE_SETREGSET &&
	    addr == (void *)NT_X86_XSTATE)
		return write_all(tid, data);
	return r;
}
