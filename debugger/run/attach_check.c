/* SPDX-License-Identifier: ISC */
/*
 * Adapters say "lost connection" when the kernel does not let them trace a
 * process.  The kernel decides by values that /proc shows, so the reason can be
 * told beforehand.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach_check.h"

#define TEXT_MAX	4096

static bool
read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd == -1 ? -1 : read(fd, text, size - 1);

	if (fd != -1)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The field behind that key, or 0. */
static uint64_t
field(const char *status, const char *key, int base)
{
	const char *p = strstr(status, key);

	return p == NULL ? 0 : strtoull(p + strlen(key), NULL, base);
}

/* Yama's ptrace_scope; 0 where there is no Yama. */
static int
ptrace_scope(void)
{
	char text[16];

	return read_text("/proc/sys/kernel/yama/ptrace_scope", text,
	    sizeof(text)) ? atoi(text) : 0;
}

bool
attach_nested(pid_t pid)
{
	char path[32], text[TEXT_MAX];
	const char *p;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (!read_text(path, text, sizeof(text)) ||
	    (p = strstr(text, "\nNSpid:\t")) == NULL)
		return false;
	/* a number for each namespace, one after the other */
	p += strlen("\nNSpid:\t");
	return p[strcspn(p, "\t\n")] == '\t';
}

bool
attach_refusal(pid_t pid, char *why, size_t size)
{
	char path[32], text[TEXT_MAX], own[TEXT_MAX];
	uint64_t tracer, more, uid;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (!read_text(path, text, sizeof(text)) ||
	    !read_text("/proc/self/status", own, sizeof(own)) ||
	    strstr(text, "\nState:\tZ") != NULL) {
		(void)snprintf(why, size, "there is no process %d", (int)pid);
		return true;
	}
	uid = field(text, "\nUid:\t", 10);
	tracer = field(text, "\nTracerPid:\t", 10);
	more = field(text, "\nCapPrm:\t", 16) & ~field(own, "\nCapPrm:\t", 16);
	if (uid != getuid())
		(void)snprintf(why, size, "process %d is another user's (uid "
		    "%llu): that user's own daemon can attach to it", (int)pid,
		    (unsigned long long)uid);
	else if (tracer != 0)
		(void)snprintf(why, size, "process %d has a debugger already: "
		    "process %llu", (int)pid, (unsigned long long)tracer);
	else if (more != 0)
		(void)snprintf(why, size, "process %d has capabilities (%llx), "
		    "and a debugger has none: the kernel lets no process trace "
		    "one that has more. Run it without them (setpriv "
		    "--bounding-set=-all --inh-caps=-all), or use gdb or lldb "
		    "as root", (int)pid, (unsigned long long)more);
	else if (ptrace_scope() > 1)
		(void)snprintf(why, size, "this host lets nobody attach to a "
		    "process (sysctl kernel.yama.ptrace_scope=%d, 0 or 1 "
		    "would)", ptrace_scope());
	else
		return false;
	return true;
}
