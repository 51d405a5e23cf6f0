/* SPDX-License-Identifier: ISC */
#include <sys/uio.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "proc.h"

#define WRITE_TRIES 8

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
	n = pread_again(t->mem_fd, buf, len, (off_t)addr);
	return (n < 0 ? 0 : (size_t)n);
}

/*
 * The kernel copies through a page of its own, and may have no page for a
 * moment.  The write is retried then: its bytes may be the program's own code,
 * which was taken away for a while.
 */
bool
mem_write(const struct target *t, uint64_t addr, const void *buf, size_t len)
{
	const uint8_t *p = buf;
	unsigned int tries = WRITE_TRIES;
	ssize_t n;

	while (t->mem_fd >= 0 && len > 0) {
		n = pwrite(t->mem_fd, p, len, (off_t)addr);
		if (n > 0) {
			p += n;
			addr += (uint64_t)n;
			len -= (size_t)n;
		} else if (n == 0 || errno == EIO || --tries == 0)
			return (false);	/* EIO: nothing is there */
	}
	return (t->mem_fd >= 0);
}

bool
stage_flush(const struct target *t, struct stage *s)
{
	bool ok;

	if (s->len > 0 && !mem_write(t, s->addr, s->buf, s->len))
		s->failed = true;
	s->len = 0;
	ok = !s->failed;
	s->failed = false;
	return (ok);
}

/*
 * Only a write that begins where the last one ended joins it: what lies
 * between two others may be in use.
 */
bool
stage_put(const struct target *t, struct stage *s, uint64_t addr,
    const void *bytes, size_t len)
{
	if (len > STAGE_MOST ||
	    (s->buf == NULL && (s->buf = malloc(STAGE_MOST)) == NULL))
		return (false);
	if ((addr != s->addr + s->len || len > STAGE_MOST - s->len) &&
	    !stage_flush(t, s))
		s->failed = true;
	if (s->len == 0)
		s->addr = addr;
	memcpy(s->buf + s->len, bytes, len);
	s->len += len;
	return (!s->failed);
}

void
stages_free(struct target *t)
{
	int i;

	for (i = 0; i < STAGES; i++) {
		free(t->stages[i].buf);
		memset(&t->stages[i], 0, sizeof(t->stages[i]));
	}
}
