/* SPDX-License-Identifier: ISC */
#include <sys/uio.h>

#include <unistd.h>

#include "proc.h"

bool
mem_read(const struct target *t, uint64_t addr, void *buf, size_t len)
{
	return (target_peek((struct target *)(uintptr_t)t, addr, buf, len) ==
	    len);
}

size_t
target_peek(struct target *t, uint64_t addr, void *buf, size_t len)
{
	struct iovec to = { buf, len }, from = { (void *)addr, len };
	ssize_t n;

	/* not by the pid if that has got other memory since */
	if (t->mem_fd < 0)
		return (0);
	n = process_vm_readv(t->pid, &to, 1, &from, 1, 0);
	if (n == (ssize_t)len)
		return (len);
	n = pread(t->mem_fd, buf, len, (off_t)addr);
	return (n < 0 ? 0 : (size_t)n);
}

bool
mem_write(const struct target *t, uint64_t addr, const void *buf, size_t len)
{
	return (t->mem_fd >= 0 &&
	    pwrite(t->mem_fd, buf, len, (off_t)addr) == (ssize_t)len);
}
