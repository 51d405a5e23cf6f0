/* SPDX-License-Identifier: ISC */
/*
 * usage: inject PID NAME NUMBER ARGUMENT ... [-- NAME NUMBER ARGUMENT ...] ...
 * Makes each system call in that process, which a debugger could do as well,
 * and prints "NAME=RESULT" for each, -errno where it failed.  An argument is a
 * number, or "$sp" for the stack of the process.  No debugger is used: gdb 13
 * writes no registers on processors with AMX.
 */
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS	6
/* the instruction, as it begins a word of memory */
#define SYSCALL		0x050fUL
#define SYSCALL_MASK	0xffffUL

static pid_t pid;

static void
wait_for(int sig)
{
	int status;

	if (waitpid(pid, &status, __WALL) == -1)
		err(1, "waitpid");
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != sig)
		errx(1, "wait status %#x, not a stop by signal %d", status,
		    sig);
}

static void
set_registers(struct user_regs_struct *r)
{
	if (ptrace(PTRACE_SETREGS, pid, 0, r) == -1)
		err(1, "registers");
}

static long
call(const struct user_regs_struct *as_it_was,
    const unsigned long long a[ARGUMENTS + 1])
{
	struct user_regs_struct r = *as_it_was;

	r.rax = a[0];
	r.rdi = a[1];
	r.rsi = a[2];
	r.rdx = a[3];
	r.r10 = a[4];
	r.r8 = a[5];
	r.r9 = a[6];
	/* the interrupted call must not begin anew in its place */
	r.orig_rax = ~0ULL;
	set_registers(&r);
	if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) == -1)
		err(1, "step");
	wait_for(SIGTRAP);
	if (ptrace(PTRACE_GETREGS, pid, 0, &r) == -1)
		err(1, "registers");
	return (long)r.rax;
}

/* Reads one call from the words; returns how many it took. */
static int
read_call(char **word, const struct user_regs_struct *r,
    unsigned long long a[ARGUMENTS + 1])
{
	int n;

	memset(a, 0, sizeof(*a) * (ARGUMENTS + 1));
	for (n = 1; word[n] != NULL && strcmp(word[n], "--") != 0; n++) {
		if (n > ARGUMENTS + 1)
			errx(1, "%s: too many arguments", word[0]);
		a[n - 1] = strcmp(word[n], "$sp") == 0 ? r->rsp :
		    strtoull(word[n], NULL, 10);
	}
	return n + (word[n] != NULL);
}

int
main(int argc, char **argv)
{
	unsigned long long a[ARGUMENTS + 1];
	struct user_regs_struct r;
	unsigned long text;
	char **word;

	if (argc < 4)
		errx(1, "usage: inject PID NAME NUMBER ARGUMENT ... [-- ...]");
	pid = (pid_t)atoi(argv[1]);
	if (ptrace(PTRACE_ATTACH, pid, 0, 0) == -1)
		err(1, "attach");
	wait_for(SIGSTOP);
	if (ptrace(PTRACE_GETREGS, pid, 0, &r) == -1)
		err(1, "registers");
	errno = 0;
	text = (unsigned long)ptrace(PTRACE_PEEKTEXT, pid, r.rip, 0);
	if (errno != 0 || ptrace(PTRACE_POKETEXT, pid, r.rip,
	    (text & ~SYSCALL_MASK) | SYSCALL) == -1)
		err(1, "text");
	for (word = argv + 2; *word != NULL;) {
		const char *name = *word;

		word += read_call(word, &r, a);
		printf("%s=%ld\n", name, call(&r, a));
	}
	set_registers(&r);
	if (ptrace(PTRACE_POKETEXT, pid, r.rip, text) == -1 ||
	    ptrace(PTRACE_DETACH, pid, 0, 0) == -1)
		err(1, "detach");
	return 0;
}
