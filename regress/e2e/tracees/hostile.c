/* SPDX-License-Identifier: ISC */
/*
 * A program that knows that it is traced and does what it can about it:
 * hostile.c HOW.  It prints `here` when it has survived that.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct range {
	char	*lo, *hi;
	int	 control, exec, write;
};

static struct range ranges[64];
static int nranges;

__attribute__((noinline, noclone)) int
call(int n)
{
	__asm__ volatile("" : : : "memory");
	return (n * 2 + 1);
}

/* All that the agent has: its memfds, and what lies before the first. */
static void
look(void)
{
	unsigned long lo, hi;
	char line[512], perms[8];
	FILE *f = fopen("/proc/self/maps", "r");

	while (f != NULL && fgets(line, sizeof(line), f) != NULL &&
	    nranges < 64) {
		if (strstr(line, "dl-agent") == NULL ||
		    sscanf(line, "%lx-%lx %7s", &lo, &hi, perms) != 3)
			continue;
		ranges[nranges].lo = (char *)lo;
		ranges[nranges].hi = (char *)hi;
		ranges[nranges++].control = hi - lo < 0x20000;
	}
	if (f != NULL)
		(void)fclose(f);
}

static void
beats(int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (call(i) != i * 2 + 1)
			abort();
}

static void
scribble(int control)
{
	unsigned int seed = 1;
	uint32_t *p;
	int i, k;

	for (i = 0; i < nranges; i++) {
		if (ranges[i].control != control)
			continue;
		for (k = 0; k < 200000; k++) {
			p = (uint32_t *)(void *)ranges[i].lo;
			p += (size_t)rand_r(&seed) % ((size_t)(ranges[i].hi -
			    ranges[i].lo) / sizeof(*p));
			*p = (uint32_t)rand_r(&seed) * 3U;
			if (k % 1000 == 0)
				beats(1);
		}
	}
}

/* Records that look right in all but one respect, or in none. */
static void
forge(void)
{
	uint64_t *ring, at, n, words;
	int i;

	for (i = 0; i < nranges; i++) {
		if (ranges[i].control)
			continue;
		ring = (uint64_t *)(void *)ranges[i].lo;
		words = 65536 / 8;
		for (n = 0; n < 20000; n++) {
			at = n * 4 % words;
			ring[at + 1] = (n % 7) | (n % 4) << 20 |
			    (n % 8) << 22 | (n % 6) << 25 | (n % 9000) << 32;
			ring[at + 2] = n * 1000;
			ring[at + 3] = n * 7;
			ring[at] = (n * 1000) << 32 | (at + 1 + n % 50 / 49);
		}
	}
}

static void
unmap(int control)
{
	int i;

	for (i = 0; i < nranges; i++)
		if (ranges[i].control == control)
			(void)munmap(ranges[i].lo,
			    (size_t)(ranges[i].hi - ranges[i].lo));
}

static void
overwrite_agent(void)
{
	int i;

	for (i = 0; i < nranges; i++)
		if (ranges[i].control)
			(void)mprotect(ranges[i].lo - 0x8000, 0x8000,
			    PROT_READ | PROT_WRITE | PROT_EXEC);
	for (i = 0; i < nranges; i++)
		if (ranges[i].control)
			memset(ranges[i].lo - 0x8000, 0x5a, 0x8000);
}

static void
storm(void)
{
	int i;
	pid_t pid;

	for (i = 0; i < 300; i++) {
		pid = fork();
		if (pid == 0) {
			if (i % 3 == 0)
				(void)fork();
			_exit(call(i) == i * 2 + 1 ? 0 : 1);
		}
		if (i % 8 == 7)
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
		(void)call(i);
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void *
thread(void *arg)
{
	beats(100);
	return (arg);
}

static void
thread_storm(void)
{
	pthread_t t[16];
	int i, k;

	for (i = 0; i < 40; i++) {
		for (k = 0; k < 16; k++)
			if (pthread_create(&t[k], NULL, thread, NULL) != 0)
				abort();
		for (k = 0; k < 16; k++)
			(void)pthread_join(t[k], NULL);
	}
}

/* The program dies if a tracer makes a system call in its name. */
static int
filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	return (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0);
}

/* A child that would trace its parent instead. */
static int
child(void)
{
	pid_t pid = fork();
	int status = 1;

	if (pid == 0) {
		if (ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) != -1)
			_exit(1);
		_exit(ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) != -1);
	}
	(void)waitpid(pid, &status, 0);
	return (status);
}

/* It becomes itself, again and again. */
static int
exec_again(const char *self, const char *count)
{
	char text[16];
	int n = count == NULL ? 0 : atoi(count);

	if (n == 50)
		return (0);
	(void)snprintf(text, sizeof(text), "%d", n + 1);
	(void)execl(self, self, "execs", text, (char *)NULL);
	return (1);
}

static int
by_name(const char *how)
{
	if (strcmp(how, "scribble") == 0)
		scribble(0);
	else if (strcmp(how, "control") == 0)
		scribble(1);
	else if (strcmp(how, "forge") == 0)
		forge();
	else if (strcmp(how, "unmap") == 0)
		unmap(0);
	else if (strcmp(how, "unmap-control") == 0)
		unmap(1);
	else if (strcmp(how, "agent") == 0)
		overwrite_agent();
	else if (strcmp(how, "storm") == 0)
		storm();
	else if (strcmp(how, "threads") == 0)
		thread_storm();
	else if (strcmp(how, "ptrace") == 0)
		return (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != -1);
	else if (strcmp(how, "child") == 0)
		return (child());
	else if (strcmp(how, "seccomp") == 0)
		return (filter());
	else if (strcmp(how, "gs") == 0)
		/* ARCH_SET_GS */
		return (syscall(SYS_arch_prctl, 0x1001, 0) != 0);
	else if (strcmp(how, "notsc") == 0)
		return (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0);
	else if (strcmp(how, "undumpable") == 0)
		return (prctl(PR_SET_DUMPABLE, 0) != 0);
	else if (strcmp(how, "strict") == 0)
		return (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0);
	return (0);
}

int
main(int argc, char *argv[])
{
	static const char here[] = "here\n";

	beats(10);
	look();
	if (argc < 2 || by_name(argv[1]) != 0)
		return (3);
	if (strcmp(argv[1], "execs") == 0 &&
	    exec_again(argv[0], argc > 2 ? argv[2] : NULL) != 0)
		return (4);
	beats(1000);
	(void)!write(1, here, sizeof(here) - 1);
	(void)syscall(SYS_exit, 0);
}
