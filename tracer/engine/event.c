/* SPDX-License-Identifier: ISC */
/* Events of targets: everything that waitpid() reports. */
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "proc.h"
#include "thread.h"

#define AT_ONCE		1000	/* what one look attends to */
#define ORPHAN_NS	500000000ULL	/* until a child is nobody's */

/* A process that is the kernel's to trace and not ours: it is let go when it
 * stops. */
struct stray {
	pid_t	 pid;
	struct stray *next;
};

static struct stray *strays;
static int signal_fd = -1;

/* --- stops and other simple events ---------------------------------------- */

static void
report_simple(struct target *t, enum target_event_kind kind, pid_t tid)
{
	struct target_event e;

	memset(&e, 0, sizeof(e));
	e.kind = kind;
	e.tid = tid;
	target_report(t, &e);
}

static void
go_on(struct thread *th)
{
	if (!event_waits(th->tid))
		thread_go(th);
}

/* Tells what the thread has come to; it goes on unless the receiver minds. */
static void
tell_and_go(struct target *t, struct thread *th, enum target_event_kind kind)
{
	t->hold = false;
	report_simple(t, kind, kind == TARGET_EXEC ? t->pid : th->tid);
	th->held = t->hold;
	t->hold = false;
	if (th->held)
		/* others that stop and start all threads leave it alone */
		th->ours = false;
	else
		go_on(th);
}

void
target_hold(struct target *t)
{
	t->hold = true;
}

void
target_go(struct target *t)
{
	struct thread *th;

	for (th = t->threads; th != NULL; th = th->next)
		if (th->held) {
			th->held = false;
			go_on(th);
		}
}

/* --- crashes -------------------------------------------------------------- */

static bool
is_crash(int signo)
{
	static const int deadly[] = { SIGSEGV, SIGABRT, SIGBUS, SIGILL,
	    SIGFPE, SIGTRAP, SIGSYS };
	size_t i;

	for (i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		if (deadly[i] == signo)
			return (true);
	return (false);
}

static void
copy_regs(struct target_event *e, const struct arch_regs *r)
{
	struct target_reg *to = e->regs;

	while (to < e->regs + TARGET_REGS && (to->name = arch_register(r,
	    (uint32_t)(to - e->regs), &to->value)) != NULL)
		to++;
	e->nregs = (uint32_t)(to - e->regs);
}

static void
report_crash(struct target *t, struct thread *th, int signo)
{
	struct arch_regs r;
	struct target_event e;
	char caught[32];
	siginfo_t info;

	memset(&e, 0, sizeof(e));
	e.kind = TARGET_CRASH;
	e.tid = th->tid;
	e.signo = signo;
	if (ptrace(PTRACE_GETSIGINFO, th->tid, NULL, &info) == 0) {
		e.code = info.si_code;
		e.addr = info.si_code > 0 ? (uint64_t)info.si_addr : 0;
	}
	about_thread(t->pid, th->tid, "SigCgt:\t", caught, sizeof(caught));
	e.caught = (strtoull(caught, NULL, 16) >> (signo - 1) & 1) != 0;
	about_thread(t->pid, th->tid, "Name:\t", e.name, sizeof(e.name));
	if (regs_get(th, &r)) {
		e.pc = code_translate(t, arch_pc(&r));
		e.sp = arch_sp(&r);
		arch_set_pc(&r, e.pc);
		copy_regs(&e, &r);
		e.nstack = (uint32_t)(target_peek(t, e.sp, e.stack,
		    sizeof(e.stack)) / sizeof(e.stack[0]));
		stack_translate(t, th->slot, e.sp, e.stack, e.nstack);
	}
	target_report(t, &e);
}

/* --- births --------------------------------------------------------------- */

static void
report_fork(struct target *t, struct target *child, pid_t pid, bool differs)
{
	struct target_event e;

	memset(&e, 0, sizeof(e));
	e.kind = TARGET_FORK;
	e.tid = t->pid;
	e.child = child;
	e.child_pid = pid;
	e.differs = differs;
	target_report(t, &e);
}

static void
thread_born(struct target *t, struct thread *th)
{
	struct target_event e;

	th->born = false;
	slot_assign(t, th);
	memset(&e, 0, sizeof(e));
	e.kind = TARGET_THREAD_NEW;
	e.tid = th->tid;
	(void)thread_comm(t, th->tid, e.name);
	target_report(t, &e);
	go_on(th);
}

static void
stray_add(pid_t pid)
{
	struct stray *s;

	s = malloc(sizeof(*s));
	if (s == NULL)
		return;
	s->pid = pid;
	s->next = strays;
	strays = s;
}

/* Whether it was one. */
static bool
stray_drop(pid_t pid)
{
	struct stray **at = &strays, *s;

	while (*at != NULL && (*at)->pid != pid)
		at = &(*at)->next;
	s = *at;
	if (s == NULL)
		return (false);
	*at = s->next;
	free(s);
	return (true);
}

/* To the kernel a child that sends no SIGCHLD when it ends is a clone. */
static void
on_bare_child(struct target *t, pid_t pid)
{
	char tgid[32], tracer[32];

	about_thread(pid, pid, "Tgid:\t", tgid, sizeof(tgid));
	about_thread(pid, pid, "TracerPid:\t", tracer, sizeof(tracer));
	if ((pid_t)strtol(tgid, NULL, 10) != pid ||
	    strtol(tracer, NULL, 10) == 0)
		return;
	stray_add(pid);
	report_fork(t, NULL, pid, false);
}

/*
 * Known before or after it has stopped for the first time.  It may even have
 * ended before its parent's stop is looked at; nobody would tell of it again.
 */
static void
on_clone(struct target *t, pid_t tid)
{
	struct thread *th;
	char tgid[32];

	if (target_of(tid, &th) != NULL)
		return;
	about_thread(t->pid, tid, "Tgid:\t", tgid, sizeof(tgid));
	if (tgid[0] == '\0') {
		on_bare_child(t, tid);
		return;
	}
	th = thread_add(t, tid);
	if (th != NULL)
		th->born = true;
}

static struct target *
target_like(const struct target *t, pid_t pid)
{
	struct target *c;

	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return (NULL);
	c->slots = calloc(AGENT_THREADS, sizeof(*c->slots));
	c->pid = pid;
	c->opt = t->opt;
	c->filters = t->filters;
	c->alive = true;
	c->mem_fd = -1;
	if (c->slots == NULL || thread_add(c, pid) == NULL) {
		target_free(c);
		return (NULL);
	}
	return (c);
}

static struct target *
child_new(struct target *t, pid_t pid)
{
	struct target *c = target_like(t, pid);
	char path[64];

	if (c == NULL)
		return (NULL);
	c->small = t->small;
	c->blind = t->blind;
	c->scans = t->scans;
	c->entry = t->entry;
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	c->mem_fd = open(path, O_RDWR | O_CLOEXEC);
	if (!probes_copy(c, t)) {
		target_free(c);
		return (NULL);
	}
	c->threads->born = true;
	c->threads->parent = t;
	/* until it is told of: it may be killed before that */
	c->unwanted = true;
	target_link(c);
	return (c);
}

static void
on_fork(struct target *t, struct thread *th, pid_t child)
{
	struct thread *known;

	if (target_of(child, &known) == NULL &&
	    child_new(t, child) == NULL)
		(void)ptrace(PTRACE_DETACH, child, NULL, NULL);
	(void)th;
}

/* A followed child has stopped for the first time. */
static void
child_born(struct target *c, struct thread *th)
{
	struct target *parent = th->parent;
	bool differs = false;

	th->born = false;
	th->parent = NULL;
	c->unwanted = false;
	if (parent->injected) {
		differs = !probes_found(c, parent);
		(void)inject_fork(c, th, parent);
	}
	report_fork(parent, c, c->pid, differs);
	go_on(th);
}

/* Lets a child go before it has run, as its parent is no longer wanted. */
static void
fork_forget(struct target *c)
{
	code_restore(c);
	threads_detach(c);
	target_unlink(c);
	target_free(c);
}

static void
on_vfork(struct target *t, pid_t child)
{
	struct thread *th;

	if (target_of(child, &th) == NULL)
		th = thread_add(t, child);
	if (th != NULL)
		th->vfork = true;
	/* followed, it is said when it has a program of its own */
	if (!t->opt.follow_fork)
		report_fork(t, NULL, child, false);
}

/* --- ends ----------------------------------------------------------------- */

static bool
has_threads(const struct target *t)
{
	const struct thread *th;

	for (th = t->threads; th != NULL; th = th->next)
		if (!th->vfork)
			return (true);
	return (false);
}

static void
on_end(struct target *t, struct thread *th, int status)
{
	struct target_event e;
	bool vfork = th->vfork;
	pid_t tid = th->tid;

	slot_release(t, th);
	thread_drop(t, th);
	if (vfork)
		return;
	report_simple(t, TARGET_THREAD_GONE, tid);
	if (has_threads(t))
		return;
	t->alive = false;
	if (t->unwanted) {
		target_unlink(t);
		target_free(t);
		return;
	}
	memset(&e, 0, sizeof(e));
	e.kind = TARGET_EXIT;
	e.tid = t->pid;
	e.status = status;
	target_report(t, &e);
}

/* Its host has another program and is no longer its host. */
static void
guest_forget(struct target *t, struct thread *th)
{
	const pid_t pid = th->tid;
	const bool stands = th->stop != STOP_NONE;
	const int signo = th->stop == STOP_SIGNAL ? th->signo : 0;

	thread_drop(t, th);
	if (stands) {
		event_forget(pid);
		(void)ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)signo);
	} else if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0)
		stray_add(pid);
}

/* A new program in its place: nothing of ours is left. */
static void
on_exec(struct target *t, struct thread *th)
{
	struct thread *other, *next;
	char path[64], why[TARGET_WHY];

	for (other = t->threads; other != NULL; other = next) {
		next = other->next;
		if (other != th && other->vfork)
			guest_forget(t, other);
		else if (other != th)
			thread_drop(t, other);
	}
	th->slot = -1;
	(void)thread_settle(t, th);
	if (!past_keep(t)) {
		inject_forget(t);
		probes_forget(t);
	}
	objects_forget(t);
	if (t->mem_fd >= 0)
		(void)close(t->mem_fd);
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)t->pid);
	t->mem_fd = open(path, O_RDWR | O_CLOEXEC);
	if (t->mem_fd >= 0 && target_entry(t, why))
		t->arriving = target_await(t);
	if (t->arriving)
		go_on(th);
	else
		tell_and_go(t, th, TARGET_EXEC);
}

/* The new program's loader is done. */
static bool
on_arrival(struct target *t, struct thread *th)
{
	struct arch_regs r;
	char why[TARGET_WHY];

	if (!t->arriving || !regs_get(th, &r) || arch_trapped(&r) != t->entry)
		return (false);
	t->arriving = false;
	(void)mem_write(t, t->entry, t->entry_code, ARCH_TRAP);
	arch_set_pc(&r, t->entry);
	(void)regs_set(th, &r);
	th->stop = STOP_PLAIN;
	th->signo = 0;
	(void)inject(t, th, why);
	tell_and_go(t, th, TARGET_EXEC);
	return (true);
}

/* --- stops ---------------------------------------------------------------- */

/* The new process of a vfork has a program of its own now. */
static void
vfork_exec(struct target *t, struct thread *th)
{
	pid_t pid = th->tid;
	struct target *c;

	thread_drop(t, th);
	c = t->opt.follow_fork ? target_like(t, pid) : NULL;
	if (c == NULL) {
		(void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
		return;
	}
	c->threads->stop = STOP_PLAIN;
	c->threads->midway = true;
	target_link(c);
	report_fork(t, c, pid, false);
	on_exec(c, c->threads);
}

static void
on_event_stop(struct target *t, struct thread *th, const struct pending *p)
{
	int event = p->status >> 16;

	if (event == PTRACE_EVENT_CLONE)
		on_clone(t, (pid_t)p->msg);
	else if (event == PTRACE_EVENT_FORK)
		on_fork(t, th, (pid_t)p->msg);
	else if (event == PTRACE_EVENT_VFORK)
		on_vfork(t, (pid_t)p->msg);
	else if (event == PTRACE_EVENT_EXEC && th->vfork) {
		vfork_exec(t, th);
		return;
	} else if (event == PTRACE_EVENT_EXEC) {
		on_exec(t, th);
		return;
	}
	go_on(th);
}

static void
on_stop(struct target *t, struct thread *th, const struct pending *p)
{
	int event = p->status >> 16, signo = WSTOPSIG(p->status);

	if (event == PTRACE_EVENT_STOP && th->born && th->parent != NULL) {
		child_born(t, th);
	} else if (t->unwanted) {
		fork_forget(t);
	} else if (event == PTRACE_EVENT_STOP && th->born) {
		th->stop = status_is_group(p->status) ? STOP_GROUP :
		    STOP_PLAIN;
		thread_born(t, th);
	} else if (event == PTRACE_EVENT_STOP || status_is_call(p->status)) {
		th->stop = status_is_group(p->status) ? STOP_GROUP :
		    STOP_PLAIN;
		go_on(th);
	} else if (event != 0) {
		on_event_stop(t, th, p);
	} else if (signo != SIGTRAP || !on_arrival(t, th)) {
		if (is_crash(signo))
			report_crash(t, th, signo);
		th->stop = STOP_SIGNAL;
		th->signo = signo;
		go_on(th);
	}
}

/* A thread that the kernel has shown before its maker's event was seen. */
static struct target *
adopt(pid_t tid, struct thread **thp)
{
	struct target *t;
	char tgid[32];

	about_thread(tid, tid, "Tgid:\t", tgid, sizeof(tgid));
	for (t = targets_all(); t != NULL; t = t->next)
		if (t->pid == (pid_t)strtol(tgid, NULL, 10) && t->alive) {
			*thp = thread_add(t, tid);
			if (*thp != NULL)
				(*thp)->born = true;
			return (*thp == NULL ? NULL : t);
		}
	return (NULL);
}

/*
 * Its maker's event may be still to come.  It does not if the maker has been
 * killed or let go.
 */
static void
nobodys(const struct pending *p)
{
	const struct target *any = targets_all();
	const struct target_options *o = any == NULL ? NULL : &any->opt;
	const bool stray = stray_drop(p->tid);
	const uint64_t now = clock_ns();
	int signo;

	if (!WIFSTOPPED(p->status)) {
		if (!stray && o != NULL && o->on_child != NULL)
			o->on_child(p->tid, p->status, o->arg);
	} else if (!stray && (p->since == 0 || now - p->since < ORPHAN_NS))
		event_queue(p->tid, p->status, p->msg, p->has_msg,
		    p->since == 0 ? now : p->since);
	else {
		signo = p->status >> 16 == 0 ? WSTOPSIG(p->status) : 0;
		(void)ptrace(PTRACE_DETACH, p->tid, NULL,
		    (void *)(intptr_t)signo);
	}
}

static void
attend(struct pending *p)
{
	struct thread *th;
	struct target *t = target_of(p->tid, &th);

	if (t == NULL && WIFSTOPPED(p->status))
		t = adopt(p->tid, &th);
	if (t == NULL) {
		nobodys(p);
		return;
	}
	if (!WIFSTOPPED(p->status)) {
		on_end(t, th, p->status);
		return;
	}
	if (th->dead)
		return;
	if (!p->has_msg && p->status >> 16 != 0 &&
	    p->status >> 16 != PTRACE_EVENT_STOP) {
		(void)ptrace(PTRACE_GETEVENTMSG, th->tid, NULL, &p->msg);
		th->midway = true;
	}
	if (th->stop == STOP_NONE)
		th->stop = STOP_PLAIN;
	if (p->status >> 16 == 0 && (th->loads || fault_mend(t, th))) {
		if (!th->loads && !t->rescan) {
			go_on(th);
			return;
		}
		th->loads = false;
		hooks_find(t);
		tell_and_go(t, th, TARGET_OBJECTS);
		return;
	}
	on_stop(t, th, p);
}

void
target_events(void)
{
	struct signalfd_siginfo si;
	struct pending p;
	size_t n, waiting, all;
	int status;
	pid_t tid;

	while (signal_fd >= 0 && read(signal_fd, &si, sizeof(si)) > 0)
		;
	for (all = 0; all < AT_ONCE; all++) {
		/* each of those that wait once, then what is new */
		waiting = events_waiting();
		for (n = 0; n < waiting && event_next(&p); n++)
			attend(&p);
		tid = waitpid(-1, &status, __WALL | WNOHANG);
		if (tid <= 0)
			return;
		memset(&p, 0, sizeof(p));
		p.tid = tid;
		p.status = status;
		attend(&p);
	}
	/* there is more, and others have to be served as well */
	(void)kill(getpid(), SIGCHLD);
}

bool
target_waits(void)
{
	return (events_waiting() > 0);
}

int
target_fd(void)
{
	sigset_t set;

	if (signal_fd >= 0)
		return (signal_fd);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return (signal_fd);
}
