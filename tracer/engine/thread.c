/* SPDX-License-Identifier: ISC */
/* Threads: seizing, stopping, and system calls in their name. */
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/again.h"
#include "clock.h"
#include "maps.h"
#include "proc.h"
#include "thread.h"

#define OPTIONS		(PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |	\
			PTRACE_O_TRACEVFORK | PTRACE_O_TRACESYSGOOD)
#define SPINS		300		/* before it is waited for in sleep */
#define NAP_NS		50000
#define STOP_NS		50000000ULL	/* then it is looked at */
#define LOOKS		200
#define REMOTE_NS	2000000000ULL
#define SCANS		64
#define MASK_LEN	sizeof(uint64_t)
#define BUT_SIGTRAP	(~(UINT64_C(1) << (SIGTRAP - 1)))

struct thread *
thread_add(struct target *t, pid_t tid)
{
	struct thread *th;

	th = calloc(1, sizeof(*th));
	if (th == NULL)
		return (NULL);
	th->tid = tid;
	th->slot = -1;
	th->next = t->threads;
	t->threads = th;
	return (th);
}

void
thread_drop(struct target *t, struct thread *th)
{
	struct thread **at = &t->threads;

	while (*at != NULL && *at != th)
		at = &(*at)->next;
	if (*at != NULL)
		*at = th->next;
	free(th);
}

static struct thread *
thread_find(const struct target *t, pid_t tid)
{
	struct thread *th;

	for (th = t->threads; th != NULL; th = th->next)
		if (th->tid == tid)
			break;
	return (th);
}

/* --- waiting -------------------------------------------------------------- */

static void
nap(int n)
{
	struct timespec ts = { .tv_nsec = NAP_NS };

	if (n < SPINS)
		(void)sched_yield();
	else
		(void)nanosleep(&ts, NULL);
}

/* 0: in so much time nothing has happened to it.  -1: it is not ours. */
static int
wait_for(pid_t tid, int *status, uint64_t most)
{
	uint64_t end = clock_ns() + most;
	pid_t got;
	int n;

	for (n = 0;; n++) {
		got = waitpid(tid, status, __WALL | WNOHANG);
		if (got != 0)
			return (got == tid ? 1 : -1);
		if (clock_ns() > end)
			return (0);
		nap(n);
	}
}

/* Objects are not looked at while all threads are being stopped. */
static void
loads_later(const struct target *t, struct thread *th, int status)
{
	th->loads = t->rescan;
	if (th->loads)
		event_later(th->tid, status, 0);
}

bool
status_is_group(int status)
{
	int signo = WSTOPSIG(status);

	return (status >> 16 == PTRACE_EVENT_STOP && signo != SIGTRAP &&
	    (signo == SIGSTOP || signo == SIGTSTP || signo == SIGTTIN ||
	    signo == SIGTTOU));
}

bool
status_is_call(int status)
{
	return (status >> 16 == 0 && WSTOPSIG(status) == (SIGTRAP | 0x80));
}

/*
 * Records how the thread has stopped.  An event that this function does not
 * handle is kept for target_events().
 */
static void
note_stop(struct target *t, struct thread *th, int status)
{
	int event = status >> 16;

	th->signo = 0;
	if (!WIFSTOPPED(status)) {
		event_later(th->tid, status, 0);
		th->dead = true;
		return;
	}
	th->stop = STOP_PLAIN;
	th->ours = true;
	if (status_is_group(status)) {
		th->stop = STOP_GROUP;
		if (th->born)
			event_later(th->tid, status, 0);
	} else if (status_is_call(status))
		th->midway = true;
	else if (event == 0 && fault_mend(t, th))
		loads_later(t, th, status);
	else if (event == 0) {
		th->stop = STOP_SIGNAL;
		th->signo = WSTOPSIG(status);
		event_later(th->tid, status, 0);
	} else if (event != PTRACE_EVENT_STOP) {
		unsigned long msg = 0;

		(void)ptrace(PTRACE_GETEVENTMSG, th->tid, NULL, &msg);
		th->midway = true;
		event_later(th->tid, status, msg);
	} else if (th->born)
		event_later(th->tid, status, 0);
}

/* As the kernel names it: R, S, D, Z.  0: gone. */
static char
state_of(const struct target *t, pid_t tid)
{
	char path[64], line[256], *end;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/stat",
	    (int)t->pid, (int)tid);
	f = fopen(path, "re");
	if (f == NULL)
		return ('\0');
	end = fgets(line, sizeof(line), f) == NULL ? NULL :
	    strrchr(line, ')');
	(void)fclose(f);
	return (end == NULL || end[1] == '\0' ? '\0' : end[2]);
}

/*
 * Waits for the stop after PTRACE_INTERRUPT.  A thread that is in the kernel
 * and cannot be woken (a parent in vfork) stops before it runs again; a thread
 * that only waits for a processor has to be waited for.  False: the thread may
 * be running.
 */
static bool
await_stop(struct target *t, struct thread *th)
{
	int status, i, got;
	char state;

	for (i = 0; i < LOOKS; i++) {
		got = wait_for(th->tid, &status, STOP_NS);
		if (got == 1)
			note_stop(t, th, status);
		if (got != 0)
			return (true);
		state = state_of(t, th->tid);
		if (state == 'D' || state == 'Z' || state == '\0')
			return (true);
	}
	return (false);
}

bool
thread_stop(struct target *t, struct thread *th)
{
	if (th->stop != STOP_NONE)
		return (true);
	if (th->dead || ptrace(PTRACE_INTERRUPT, th->tid, NULL, NULL) < 0)
		return (false);
	(void)await_stop(t, th);
	return (th->stop != STOP_NONE);
}

/* Threads that were born meanwhile stop by themselves. */
static bool
find_more(struct target *t)
{
	struct dirent *d;
	struct thread *th;
	char path[64];
	bool more = false;
	pid_t tid;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)t->pid);
	dir = opendir(path);
	if (dir == NULL)
		return (false);
	while ((d = readdir(dir)) != NULL) {
		tid = (pid_t)strtol(d->d_name, NULL, 10);
		if (tid <= 0 || thread_find(t, tid) != NULL)
			continue;
		/* a first thread that has ended stays until the others have */
		if (tid == t->pid && state_of(t, tid) == 'Z')
			continue;
		th = thread_add(t, tid);
		if (th == NULL)
			continue;
		th->born = true;
		more = true;
	}
	(void)closedir(dir);
	return (more);
}

bool
threads_stop(struct target *t)
{
	struct thread *th;
	bool all = true;
	int i;

	for (th = t->threads; th != NULL; th = th->next)
		if (th->stop == STOP_NONE && !th->dead)
			(void)ptrace(PTRACE_INTERRUPT, th->tid, NULL, NULL);
	for (i = 0; i < SCANS; i++) {
		for (th = t->threads; th != NULL; th = th->next)
			if (th->stop == STOP_NONE && !th->dead &&
			    !await_stop(t, th))
				all = false;
		if (!find_more(t))
			return (all);
	}
	return (false);
}

/* --- going on ------------------------------------------------------------- */

/* Back into the stop of its whole process. */
static void
group_again(struct thread *th)
{
	int status;

	(void)ptrace(PTRACE_INTERRUPT, th->tid, NULL, NULL);
	(void)ptrace(PTRACE_CONT, th->tid, NULL, NULL);
	if (wait_for(th->tid, &status, STOP_NS) != 1)
		return;
	if (WIFSTOPPED(status) && status_is_group(status))
		(void)ptrace(PTRACE_LISTEN, th->tid, NULL, NULL);
	else
		event_later(th->tid, status, 0);
}

void
thread_go(struct thread *th)
{
	enum stop_kind was = th->stop;

	if (was == STOP_NONE || th->dead)
		return;
	th->stop = STOP_NONE;
	th->midway = th->ours = false;
	if (was == STOP_GROUP && th->moved)
		group_again(th);
	else if (was == STOP_GROUP)
		(void)ptrace(PTRACE_LISTEN, th->tid, NULL, NULL);
	else
		(void)ptrace(PTRACE_CONT, th->tid, NULL,
		    (void *)(intptr_t)th->signo);
	th->moved = false;
	th->signo = 0;
}

/* Lets a thread go on, unless an event of it is still to be attended to. */
void
thread_back(struct thread *th)
{
	if (th->ours && !th->born && !event_waits(th->tid))
		thread_go(th);
}

void
threads_go(struct target *t)
{
	struct thread *th;

	for (th = t->threads; th != NULL; th = th->next)
		thread_back(th);
}

void
threads_detach(struct target *t)
{
	struct thread *th;

	for (th = t->threads; th != NULL; th = th->next)
		if (!th->dead)
			(void)ptrace(PTRACE_DETACH, th->tid, NULL,
			    (void *)(intptr_t)(th->stop == STOP_SIGNAL ?
			    th->signo : 0));
}

static long
options_of(const struct target *t)
{
	return (OPTIONS | (t->opt.follow_fork ? PTRACE_O_TRACEFORK : 0));
}

static pid_t
traced_by(pid_t tid)
{
	char path[64], line[128];
	int by = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	if (f == NULL)
		return (0);
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "TracerPid: %d", &by) == 1)
			break;
	(void)fclose(f);
	return (by);
}

/* Yama's ptrace_scope, or 0 without Yama. */
static int
ptrace_scope(void)
{
	int scope = 0;
	FILE *f;

	f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	if (f == NULL)
		return (0);
	if (fscanf(f, "%d", &scope) != 1)
		scope = 0;
	(void)fclose(f);
	return (scope);
}

static void
why_no_seize(pid_t pid, int error, char why[TARGET_WHY])
{
	pid_t by = traced_by(pid);

	if (by != 0)
		(void)snprintf(why, TARGET_WHY, "process %d is traced by "
		    "process %d already; one tracer or debugger at a time",
		    (int)pid, (int)by);
	else if (error == EPERM && ptrace_scope() > 1)
		(void)snprintf(why, TARGET_WHY, "this host does not let users "
		    "trace processes: kernel.yama.ptrace_scope is %d; sysctl "
		    "kernel.yama.ptrace_scope=1 allows it%s", ptrace_scope(),
		    ptrace_scope() > 2 ? ", after a reboot" : "");
	else
		(void)snprintf(why, TARGET_WHY, "process %d cannot be traced: "
		    "%s", (int)pid, strerror(error));
}

bool
threads_seize(struct target *t, char why[TARGET_WHY])
{
	struct thread *th;
	bool any = true;
	int i;

	for (i = 0; any && i < SCANS; i++) {
		any = find_more(t);
		for (th = t->threads; th != NULL; th = th->next) {
			if (!th->born)
				continue;
			th->born = false;
			if (ptrace(PTRACE_SEIZE, th->tid, NULL,
			    options_of(t)) == 0)
				continue;
			if (th->tid == t->pid) {
				why_no_seize(t->pid, errno, why);
				return (false);
			}
			/* it has just been born by one that is seized, or is
			 * gone */
			th->born = errno == EPERM;
			th->dead = errno != EPERM;
		}
	}
	if (t->threads == NULL)
		(void)snprintf(why, TARGET_WHY, "there is no process %d",
		    (int)t->pid);
	return (t->threads != NULL);
}

void
about_thread(pid_t pid, pid_t tid, const char *key, char *value, size_t size)
{
	char path[64], line[256];
	size_t len = strlen(key);
	FILE *f;

	value[0] = '\0';
	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/status",
	    (int)pid, (int)tid);
	f = fopen(path, "re");
	if (f == NULL)
		return;
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, key, len) == 0) {
			line[strcspn(line, "\n")] = '\0';
			(void)snprintf(value, size, "%s", line + len);
			break;
		}
	(void)fclose(f);
}

/* The strict mode, which has none, forbids more than any. */
static unsigned long
filters_of(pid_t pid, pid_t tid)
{
	char mode[16], n[32];

	about_thread(pid, tid, "Seccomp:\t", mode, sizeof(mode));
	about_thread(pid, tid, "Seccomp_filters:\t", n, sizeof(n));
	return (mode[0] == '1' ? ULONG_MAX : strtoul(n, NULL, 10));
}

void
filters_note(struct target *t)
{
	char maker[32], state[32];
	pid_t pid;

	about_thread(t->pid, t->pid, "PPid:\t", maker, sizeof(maker));
	pid = (pid_t)strtol(maker, NULL, 10);
	about_thread(pid, pid, "State:\t", state, sizeof(state));
	if (state[0] == '\0')
		/* nobody to ask: it has what it began with */
		pid = t->pid;
	t->filters = filters_of(pid, pid);
}

bool
thread_filtered(const struct target *t, const struct thread *th)
{
	return (filters_of(t->pid, th->tid) > t->filters);
}

/* Threads inherit it from their creator, so one tells for all. */
bool
threads_shadowed(const struct target *t)
{
	char features[64];

	about_thread(t->pid, maps_task(t->pid), "x86_Thread_features:\t",
	    features, sizeof(features));
	return (strstr(features, "shstk") != NULL);
}

bool
thread_comm(const struct target *t, pid_t tid, char name[TARGET_NAME])
{
	char path[64];
	ssize_t n;
	int fd;

	memset(name, 0, TARGET_NAME);
	(void)snprintf(
	    path, sizeof(path), "/proc/%d/task/%d/comm", (int)t->pid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return (false);
	n = read_again(fd, name, TARGET_NAME);
	(void)close(fd);
	/* it ends with a newline, which is none of it */
	if (n > 0)
		name[n - 1] = '\0';
	return (n > 0);
}

/* --- registers ------------------------------------------------------------ */

bool
regs_get(const struct thread *th, struct arch_regs *r)
{
	struct iovec v = { &r->raw, sizeof(r->raw) };

	return (ptrace(PTRACE_GETREGSET, th->tid, NT_PRSTATUS, &v) == 0);
}

bool
regs_set(const struct thread *th, const struct arch_regs *r)
{
	struct arch_regs copy = *r;
	struct iovec v = { &copy.raw, sizeof(copy.raw) };

	return (ptrace(PTRACE_SETREGSET, th->tid, NT_PRSTATUS, &v) == 0);
}

/*
 * A thread that stopped at an event within a system call would have its
 * registers overwritten when the call returns.  Lets the thread go on to where
 * the call has returned.
 */
static bool
settle(struct target *t, struct thread *th)
{
	bool ours = th->ours;
	int status;

	if (!th->midway)
		return (true);
	(void)ptrace(PTRACE_INTERRUPT, th->tid, NULL, NULL);
	(void)ptrace(PTRACE_CONT, th->tid, NULL, NULL);
	th->midway = false;
	th->stop = STOP_NONE;
	if (wait_for(th->tid, &status, STOP_NS) != 1)
		return (false);
	note_stop(t, th, status);
	th->ours = ours;
	return (th->stop != STOP_NONE && !th->midway);
}

bool
thread_settle(struct target *t, struct thread *th)
{
	return (settle(t, th));
}

void
thread_untrap(struct target *t, struct thread *th)
{
	struct arch_regs r;
	int status;

	if (th->dead || th->stop == STOP_NONE || !regs_get(th, &r) ||
	    arch_trapped(&r) != t->entry)
		return;
	if (th->stop != STOP_SIGNAL) {
		/* the signal is still to come */
		(void)ptrace(PTRACE_CONT, th->tid, NULL, NULL);
		th->stop = STOP_NONE;
		if (wait_for(th->tid, &status, STOP_NS) != 1)
			return;
		note_stop(t, th, status);
	}
	if (th->stop != STOP_SIGNAL || th->signo != SIGTRAP)
		return;
	arch_set_pc(&r, t->entry);
	(void)regs_set(th, &r);
	th->stop = STOP_PLAIN;
	th->signo = 0;
}

/* --- restartable sequences ------------------------------------------------ */

/* As the kernel has it, in <linux/ptrace.h> and <linux/rseq.h>. */
struct rseq_setup {
	uint64_t at;		/* of struct rseq in the target */
	uint32_t size, signature, flags, pad;
};

struct rseq_cs {
	uint32_t version, flags;
	uint64_t start, length, abort;
};

#define RSEQ_CS_AT	8	/* of the pointer in struct rseq */

static bool
sequence_read(const struct target *t, const struct thread *th,
    struct rseq_cs *cs)
{
	struct rseq_setup setup;
	uint32_t signature;
	uint64_t at;

	return (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, th->tid,
	    (void *)sizeof(setup), &setup) == (long)sizeof(setup) &&
	    setup.at != 0 &&
	    mem_read(t, setup.at + RSEQ_CS_AT, &at, sizeof(at)) && at != 0 &&
	    mem_read(t, at, cs, sizeof(*cs)) && cs->flags == 0 &&
	    mem_read(t, cs->abort - sizeof(signature), &signature,
	    sizeof(signature)) && signature == setup.signature);
}

/*
 * The kernel aborts an interrupted sequence (rseq(2)) if the program counter
 * is inside it when the thread runs again.  The engine is about to put another
 * program counter there, for which the kernel only forgets the sequence.
 */
void
sequence_abort(const struct target *t, const struct thread *th,
    struct arch_regs *r)
{
	struct rseq_cs cs;

	if (sequence_read(t, th, &cs) && arch_pc(r) - cs.start < cs.length)
		arch_set_pc(r, cs.abort);
}

/* --- system calls made in the target -------------------------------------- */

/* Events for the program that came while a thread was in our service. */
struct between {
	bool	 stop, trap;	/* SIGSTOP, and a SIGTRAP that is not ours */
	bool	 group;		/* all of the process has been stopped */
};

/* False: it is in no state to go on. */
static bool
note_between(struct between *b, int status)
{
	if (status >> 16 != 0)
		b->group = b->group || status_is_group(status);
	else if (WSTOPSIG(status) == SIGSTOP)
		b->stop = true;
	else if (WSTOPSIG(status) == SIGTRAP && !b->trap)
		b->trap = true;
	else
		return (false);
	return (true);
}

/*
 * Into the system call, and out of it.  The signal that it is sent then brings
 * it to where its registers can be anything, an interrupted call of its own
 * too.  A trap in the code would take the program's handler of SIGTRAP away
 * if that is blocked or ignored.
 */
static bool
run_gadget(struct target *t, struct thread *th, struct arch_regs *r,
    struct between *b)
{
	uint64_t until = clock_ns() + REMOTE_NS;
	int status, calls = 0, signo = 0;
	bool ok = false;

	while (clock_ns() < until) {
		if (ptrace(calls < 2 ? PTRACE_SYSCALL : PTRACE_CONT, th->tid,
		    NULL, (void *)(intptr_t)signo) < 0 ||
		    wait_for(th->tid, &status, REMOTE_NS) != 1)
			return (false);
		signo = 0;
		if (!WIFSTOPPED(status)) {
			event_later(th->tid, status, 0);
			th->dead = true;
			th->stop = STOP_NONE;
			return (false);
		}
		if (status_is_call(status)) {
			if (++calls < 2)
				continue;
			ok = regs_get(th, r) &&
			    arch_pc(r) == arch_gadget_end(t->gadget);
			signo = SIGTRAP;
		} else if (calls == 2 && status >> 16 == 0 &&
		    WSTOPSIG(status) == SIGTRAP)
			return (ok);
		else if (!note_between(b, status))
			return (false);
	}
	return (false);
}

static void
pass_on(const struct target *t, const struct thread *th,
    const struct between *b)
{
	if (b->stop)
		(void)syscall(SYS_tgkill, t->pid, th->tid, SIGSTOP);
	if (b->trap)
		(void)syscall(SYS_tgkill, t->pid, th->tid, SIGTRAP);
	/* when it goes on it stops with the others, which is looked at then */
	if (b->group)
		(void)ptrace(PTRACE_INTERRUPT, th->tid, NULL, NULL);
}

int64_t
remote(struct target *t, struct thread *th, long nr, const uint64_t a[6])
{
	struct between b = { 0 };
	struct arch_regs saved, r;
	uint64_t mask, most = BUT_SIGTRAP;
	siginfo_t info;
	bool ok, with_info;

	if (thread_filtered(t, th))
		return (-EPERM);
	if (!settle(t, th) || !regs_get(th, &saved) ||
	    ptrace(PTRACE_GETSIGMASK, th->tid, (void *)MASK_LEN, &mask) < 0)
		return (-ESRCH);
	with_info = th->stop == STOP_SIGNAL &&
	    ptrace(PTRACE_GETSIGINFO, th->tid, NULL, &info) == 0;
	sequence_abort(t, th, &saved);
	r = saved;
	arch_call(&r, nr, a, t->gadget);
	(void)ptrace(PTRACE_SETSIGMASK, th->tid, (void *)MASK_LEN, &most);
	ok = regs_set(th, &r) && run_gadget(t, th, &r, &b);
	if (th->dead)
		return (-ESRCH);
	th->moved = true;
	(void)regs_set(th, &saved);
	(void)ptrace(PTRACE_SETSIGMASK, th->tid, (void *)MASK_LEN, &mask);
	if (with_info)
		(void)ptrace(PTRACE_SETSIGINFO, th->tid, NULL, &info);
	pass_on(t, th, &b);
	return (ok ? arch_returned(&r) : -EFAULT);
}
