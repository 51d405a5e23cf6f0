/* SPDX-License-Identifier: ISC */
/*
 * A program whose libraries are missing has been executed and has not
 * started: its loader says why and exits with 127.  So that START can tell,
 * the stub watches for the program's own first instruction.  It does so by a
 * hardware breakpoint: that changes no memory and is not inherited.  Where a
 * hypervisor takes debug registers and lets them stop nothing, a breakpoint
 * instruction stands there until it is met.
 */
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/again.h"
#include "image.h"
#include "launcher/base/facts.h"
#include "loader.h"
#include "steps.h"

/* Exit code of a loader that gives up, glibc's and musl's alike. */
#define LOADER_GAVE_UP	127
/* Constructors may take their time; the answer to START does not. */
#define WATCH_SECONDS	1
#define AUXV_MAX	64

/* Where the program begins; 0 when it has no loader, or cannot be asked. */
static unsigned long
entry_of(pid_t pid)
{
	union {
		Elf64_auxv_t	v64[AUXV_MAX];
		Elf32_auxv_t	v32[2 * AUXV_MAX];
	} v;
	unsigned long entry = 0, base = 0, type, value;
	char path[32];
	ssize_t i, n;
	bool narrow;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return 0;
	memset(&v, 0, sizeof(v));
	n = read_again(fd, &v, sizeof(v));
	close(fd);
	/* a 32-bit program's value would be the upper half of the type */
	narrow = v.v64[0].a_type > UINT32_MAX;
	n /= (ssize_t)(narrow ? sizeof(v.v32[0]) : sizeof(v.v64[0]));
	for (i = 0; i < n; i++) {
		type = narrow ? v.v32[i].a_type : v.v64[i].a_type;
		value = narrow ? v.v32[i].a_un.a_val : v.v64[i].a_un.a_val;
		if (type == AT_ENTRY)
			entry = value;
		else if (type == AT_BASE)
			base = value;
	}
	return base == 0 ? 0 : entry;
}

#ifdef __x86_64__
#define INT3		0xccUL
#define RIP		offsetof(struct user, regs.rip)

static unsigned long	 int3_at, int3_word;	/* and what stood there */

static int
set_debug_register(pid_t pid, size_t n, unsigned long v)
{
	return ptrace(PTRACE_POKEUSER, pid,
	    offsetof(struct user, u_debugreg) + n * sizeof(v), v) == -1 ?
	    -1 : 0;
}

static int
put_int3(pid_t pid, unsigned long address)
{
	errno = 0;
	int3_word = (unsigned long)ptrace(PTRACE_PEEKTEXT, pid, address, 0);
	if (errno != 0 || ptrace(PTRACE_POKETEXT, pid, address,
	    (int3_word & ~0xffUL) | INT3) == -1)
		return -1;
	int3_at = address;
	return 0;
}

/* Puts the instruction back, and the program to it if it met the other. */
static int
take_int3(pid_t pid)
{
	unsigned long at = int3_at;
	long pc;

	int3_at = 0;
	if (at == 0)
		return 0;
	errno = 0;
	pc = ptrace(PTRACE_PEEKUSER, pid, RIP, 0);
	if (errno != 0 ||
	    ptrace(PTRACE_POKETEXT, pid, at, int3_word) == -1)
		return -1;
	return (unsigned long)pc != at + 1 ? 0 :
	    (int)ptrace(PTRACE_POKEUSER, pid, RIP, at);
}

/* DR0 holds the address; DR7 enables it, for execution (0 = none). */
static int
watch_address(pid_t pid, unsigned long address)
{
	if (!facts.registers_stop)
		return address == 0 ? take_int3(pid) : put_int3(pid, address);
	if (address == 0)
		return set_debug_register(pid, 7, 0);
	return set_debug_register(pid, 0, address) == -1 ? -1 :
	    set_debug_register(pid, 7, 1);
}

static void __attribute__((noinline))
probed(void)
{
	__asm__ volatile("");
}

static void __attribute__((noreturn))
probe_child(void)
{
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) == -1 || raise(SIGSTOP) != 0)
		_exit(1);
	probed();
	_exit(0);
}

/* Without a child, or one that cannot be traced, registers count as good. */
bool
loader_probe(void)
{
	pid_t pid = fork();
	bool stopped = true;
	int status = 0;

	if (pid == 0)
		probe_child();
	if (pid == -1)
		return true;
	if (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		if (watch_address(pid, (unsigned long)(uintptr_t)probed) == 0 &&
		    ptrace(PTRACE_CONT, pid, 0, 0) == 0 &&
		    waitpid(pid, &status, __WALL) == pid)
			stopped = WIFSTOPPED(status);
	}
	if (WIFSTOPPED(status)) {
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, &status, __WALL);
	}
	return stopped;
}
#else
bool
loader_probe(void)
{
	return true;
}

/* Another architecture starts its programs unwatched. */
static int
watch_address(pid_t pid, unsigned long address)
{
	(void)pid;
	(void)address;
	return -1;
}
#endif

/*
 * The next stop or the end, until the time is over.  Returns false then.
 * SIGCHLD is blocked in a stub, so none is missed between look and wait.
 */
static bool
next_event(pid_t pid, time_t until, siginfo_t *si)
{
	const struct timespec pause = { .tv_nsec = 100 * 1000 * 1000 };
	struct timespec now;
	sigset_t chld;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	for (;;) {
		si->si_pid = 0;
		if (waitid_again(P_PID, (id_t)pid, si,
		    WSTOPPED | WEXITED | WNOWAIT | WNOHANG) == -1)
			child_die(STEP_TRACE);
		if (si->si_pid != 0)
			return true;
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec >= until)
			return false;
		(void)sigtimedwait(&chld, NULL, &pause);
	}
}

static void
let_go(pid_t pid)
{
	(void)watch_address(pid, 0);
	/* it may have been killed meanwhile, which the stub will see */
	if (ptrace(PTRACE_DETACH, pid, 0, 0) == -1 && errno != ESRCH)
		child_die(STEP_TRACE);
}

/* 0 = it goes on, 1 = the program has begun, or has ended. */
static int
take_event(pid_t pid, const siginfo_t *si, bool *executed)
{
	unsigned long entry;
	int sig = si->si_status;

	if (si->si_code != CLD_TRAPPED && si->si_code != CLD_STOPPED) {
		errno = ELIBACC;
		if (si->si_code == CLD_EXITED &&
		    si->si_status == LOADER_GAVE_UP)
			child_die(STEP_LOADER);
		return 1;
	}
	if (sig == SIGTRAP && !*executed) {
		*executed = true;
		image_unlink();
		sig = 0;
		entry = entry_of(pid);
		if (entry == 0 || watch_address(pid, entry) == -1) {
			let_go(pid);
			return 1;
		}
	} else if (sig == SIGTRAP) {
		let_go(pid);
		return 1;
	}
	if (ptrace(PTRACE_CONT, pid, 0, sig) == -1 && errno != ESRCH)
		child_die(STEP_TRACE);
	return 0;
}

void
loader_watch(pid_t pid)
{
	struct timespec now;
	bool executed = false;
	siginfo_t si;
	time_t until;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	until = now.tv_sec + WATCH_SECONDS + 1;
	while (next_event(pid, until, &si))
		if (take_event(pid, &si, &executed) != 0)
			return;
	/* only what is stopped can be let go */
	(void)kill(pid, SIGSTOP);
	if (waitid_again(P_PID, (id_t)pid, &si,
	    WSTOPPED | WEXITED | WNOWAIT) == -1)
		child_die(STEP_TRACE);
	if (si.si_code == CLD_TRAPPED || si.si_code == CLD_STOPPED)
		let_go(pid);
}
