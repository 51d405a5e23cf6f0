/* SPDX-License-Identifier: ISC */
/*
 * A program whose libraries are missing has been executed and has not
 * started: its loader says why and exits with 127.  So that START can tell,
 * the stub watches for the program's own first instruction.  It does so by a
 * hardware breakpoint: that changes no memory and is not inherited.
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
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "again.h"
#include "child.h"
#include "image.h"
#include "loader.h"

/* What loaders exit with, glibc's and musl's alike. */
#define LOADER_GAVE_UP	127
/* Constructors may take their time; the answer to START does not. */
#define WATCH_SECONDS	1
#define AUXV_MAX	64

/* Where the program begins; 0 when it has no loader, or cannot be asked. */
static unsigned long
entry_of(pid_t pid)
{
	Elf64_auxv_t v[AUXV_MAX];
	unsigned long entry = 0, base = 0;
	char path[32];
	ssize_t i, n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return 0;
	n = read_again(fd, v, sizeof(v)) / (ssize_t)sizeof(v[0]);
	close(fd);
	for (i = 0; i < n; i++) {
		if (v[i].a_type == AT_ENTRY)
			entry = v[i].a_un.a_val;
		else if (v[i].a_type == AT_BASE)
			base = v[i].a_un.a_val;
	}
	return base == 0 ? 0 : entry;
}

#ifdef __x86_64__
static int
set_debug_register(pid_t pid, size_t n, unsigned long v)
{
	return ptrace(PTRACE_POKEUSER, pid,
	    offsetof(struct user, u_debugreg) + n * sizeof(v), v) == -1 ?
	    -1 : 0;
}

/* DR0 holds the address; DR7 enables it, for execution (0 = none). */
static int
watch_address(pid_t pid, unsigned long address)
{
	if (address == 0)
		return set_debug_register(pid, 7, 0);
	return set_debug_register(pid, 0, address) == -1 ? -1 :
	    set_debug_register(pid, 7, 1);
}
#else
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
