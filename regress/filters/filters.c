/* SPDX-License-Identifier: ISC */
/* links: acctproc/sysfilter.c logger/sysfilter.c netproc/sysfilter.c spawner/sysfilter.c announcer/sysfilter.c idproc/sysfilter.c launcher/observer/sysfilter.c tlsproc/sysfilter.c archiver/sysfilter.c debugger/sysfilter.c tracer/sysfilter.c symbols/sysfilter.c parent/sysfilter.c common/confine/sessfilter.c common/confine/filter.c */
/*
 * The system call filters as their processes load them: in words, and tried
 * out call by call.
 *
 *   filters			their names
 *   filters pfc NAME		what libseccomp makes of it, in its own words
 *   filters bpf NAME		the same for the kernel
 *   filters calls NAME		the calls that its table names
 *   filters names		"PROCESS NUMBER" on standard input, in words
 *   filters try NAME [OTHER]	the kernel's verdict on every number against
 *				what the table says, or that of another name
 *
 * Nothing that is tried is carried out: a filter below answers whatever the
 * one that is looked at lets through.
 */
#include <sys/syscall.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acctproc/sysfilter.h"
#include "logger/sysfilter.h"
#include "announcer/sysfilter.h"
#include "archiver/sysfilter.h"
#include "confine/sessfilter.h"
#include "debugger/sysfilter.h"
#include "idproc/sysfilter.h"
#include "launcher/observer/sysfilter.h"
#include "netproc/sysfilter.h"
#include "parent/sysfilter.h"
#include "spawner/sysfilter.h"
#include "symbols/sysfilter.h"
#include "tlsproc/sysfilter.h"
#include "tracer/sysfilter.h"

#define NELEM(a)	(sizeof(a) / sizeof((a)[0]))
#define NARGS		6
/* Numbers end below 512, and those of other tables begin there. */
#define NUMBERS		1024
/* The filter below returns this errno, which nothing else does. */
#define LET_THROUGH	4000
/* How a child that has survived says goodbye, and nobody else. */
#define GOODBYE		0x600d600dU
/*
 * uretprobe and uprobe, which newer kernels carry out before they ask any
 * filter: only the code that the kernel itself puts beside a probe may make
 * these calls; any other caller dies of SIGILL.
 */
#ifdef __x86_64__
#define UNASKED(nr)	((nr) == 335 || (nr) == 336)
#else
#define UNASKED(nr)	false
#endif
/* In a child's exit status, beside errnos. */
#define EXIT_ALLOWED	250
#define EXIT_ODD	251

enum { KILLED = -1, ALLOWED = 0 };	/* else an errno */

/* x86-64 has two more ways into the kernel, with tables of their own. */
#define X32_BIT		0x40000000L

struct try {
	bool		 i386;		/* by int 0x80 */
	long		 nr;
	uint64_t	 args[NARGS];
};

static unsigned long ntried, nallowed, nrefused, nkilled, nwrong;

/* -- the filters ----------------------------------------------------------- */

static const struct filter *
parent_system(void)
{
	static struct identity ids[ROLE_COUNT];
	size_t i;

	/* in the place of a host's service users */
	for (i = 0; i < ROLE_COUNT; i++)
		ids[i] = (struct identity){ 900 + (uid_t)i, 900 + (gid_t)i };
	return parent_filter_make(MODE_SYSTEM, ids);
}

static const struct filter *
parent_user(void)
{
	return parent_filter_make(MODE_USER, NULL);
}

static const struct {
	const char		*name;
	const struct filter	*filter;
	const struct filter	*(*make)(void);
} table[] = {
	{ "acctproc", &acctproc_filter, NULL },
	{ "logger", &logger_filter, NULL },
	{ "announcer", &announcer_filter, NULL },
	{ "archiver-pack", &pack_filter, NULL },
	{ "archiver-unpack", &unpack_filter, NULL },
	{ "debugger", &debugger_filter, NULL },
	{ "idproc", &idproc_filter, NULL },
	{ "launcher", &launcher_filter, NULL },
	{ "netproc", &netproc_filter, NULL },
	{ "observer", &observer_filter, NULL },
	{ "only-64bit", &only_64bit_filter, NULL },
	{ "parent-system", NULL, parent_system },
	{ "parent-user", NULL, parent_user },
	{ "session", &session_filter, NULL },
	{ "session-64bit", &session_64bit_filter, NULL },
	{ "spawner", &spawner_filter, NULL },
	{ "symbols", &symbols_filter, NULL },
	{ "tlsproc", &tlsproc_filter, NULL },
	{ "tracer", &tracer_filter, NULL },
};

/* A copy, as the parent's two share their place. */
static struct filter
find(const char *name)
{
	static struct filter_rule rules[2][512];
	static size_t used;
	struct filter f;
	size_t i;

	for (i = 0; i < NELEM(table) && strcmp(table[i].name, name) != 0; i++)
		;
	if (i == NELEM(table))
		errx(2, "%s: no such filter; without arguments they are listed",
		    name);
	f = *(table[i].make != NULL ? table[i].make() : table[i].filter);
	if (f.nrules > NELEM(rules[0]) || used == NELEM(rules))
		errx(2, "%s has too many rules for this program", name);
	memcpy(rules[used], f.rules, f.nrules * sizeof(*f.rules));
	f.rules = rules[used++];
	return f;
}

/* -- what the table says ---------------------------------------------------- */

static bool
holds(const struct scmp_arg_cmp *c, const uint64_t *args)
{
	uint64_t v = args[c->arg];

	if (c->op == SCMP_CMP_MASKED_EQ)
		return (v & c->datum_a) == c->datum_b;
	if (c->op == SCMP_CMP_EQ)
		return v == c->datum_a;
	errx(2, "a comparison that this program does not know: %d",
	    (int)c->op);
}

/* The number that a rule's call has for 32-bit programs; -1 = none. */
static long
narrow_nr(const struct filter_rule *r)
{
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, r->nr);
	int nr = name == NULL ? -1 :
	    seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86, name);

	free(name);
	return nr < 0 ? -1 : nr;
}

static bool
matches(const struct filter_rule *r, const struct try *t)
{
	unsigned int i;

	if ((t->i386 ? narrow_nr(r) : r->nr) != t->nr)
		return false;
	for (i = 0; i < r->nargs; i++)
		if (!holds(&r->args[i], t->args))
			return false;
	return true;
}

static int
verdict(uint32_t action)
{
	if (action == SCMP_ACT_ALLOW)
		return ALLOWED;
	if (action == SCMP_ACT_KILL_PROCESS)
		return KILLED;
	return (int)(action & SECCOMP_RET_DATA);
}

static bool
in_hole(long nr, long first, long next)
{
	return nr >= first && nr < next;
}

static bool
is_unknown(const struct try *t)
{
	if (t->nr > FILTER_NEWEST)
		return t->nr < X32_BIT;
	return t->i386 ? in_hole(t->nr, FILTER_HOLE_32) :
	    in_hole(t->nr, FILTER_HOLE_64);
}

static int
expected(const struct filter *f, const struct try *t)
{
	const struct filter_rule *r, *base;
	size_t i, nbase = 0;

	if (is_unknown(t))
		return ENOSYS;
	if (t->i386 ? !f->with_32bit : (t->nr & X32_BIT) != 0)
		return KILLED;
	base = f->with_base ? filter_base(&nbase) : NULL;
	for (i = 0; i < f->nrules + nbase; i++) {
		r = i < f->nrules ? &f->rules[i] : &base[i - f->nrules];
		if (matches(r, t))
			return verdict(r->action != 0 ? r->action :
			    f->matched);
	}
	return verdict(f->otherwise);
}

/* -- what the kernel says --------------------------------------------------- */

#define LOAD(what)							\
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
#define IF(v, then, otherwise)						\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (v), (then), (otherwise))
#define RETURN(v)	BPF_STMT(BPF_RET | BPF_K, (v))

/* Answers everything but what the child itself needs after it. */
static void
install_floor(void)
{
	static const struct sock_filter floor[] = {
		LOAD(nr),
		IF(SYS_exit_group, 0, 2),
		LOAD(args[1]),
		IF(GOODBYE, 4, 3),
		IF(SYS_seccomp, 0, 2),
		LOAD(args[0]),
		IF(SECCOMP_SET_MODE_FILTER, 1, 0),
		RETURN(SECCOMP_RET_ERRNO | LET_THROUGH),
		RETURN(SECCOMP_RET_ALLOW),
	};

	if (filter_install(floor, NELEM(floor)) == -1)
		_exit(EXIT_ODD);
}

/* Exits by the only call that is left when each may be refused. */
static void __attribute__((noreturn))
goodbye(int code)
{
	for (;;)
		(void)syscall(SYS_exit_group, code, GOODBYE);
}

static long
make_call(const struct try *t)
{
	const uint64_t *a = t->args;
	long r;

	if (!t->i386)
		return syscall(t->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
#ifdef __x86_64__
	__asm__ volatile("int $0x80" : "=a" (r) : "a" (t->nr), "b" (a[0]),
	    "c" (a[1]), "d" (a[2]), "S" (a[3]), "D" (a[4]) : "memory");
	errno = (int)-r;
#endif
	return -1;
}

static void __attribute__((noreturn))
child(const void *prog, size_t n, const struct try *t)
{
	struct sock_fprog fp = { .len = (unsigned short)n,
	    .filter = (struct sock_filter *)(uintptr_t)prog };
	long r;

	install_floor();
	/* filter_install() makes a call more, which the floor answers */
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &fp) == -1)
		goodbye(EXIT_ODD);
	errno = 0;
	r = make_call(t);
	if (r == -1 && errno == LET_THROUGH)
		goodbye(EXIT_ALLOWED);
	goodbye(r == -1 && errno > 0 && errno < EXIT_ALLOWED ? errno :
	    EXIT_ODD);
}

static int
outcome(int status, const struct try *t)
{
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGSYS ||
	    /* a kernel that has no such way */
	    (WTERMSIG(status) == SIGSEGV && t->i386)))
		return KILLED;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_ALLOWED)
		return ALLOWED;
	if (WIFEXITED(status) && WEXITSTATUS(status) < EXIT_ALLOWED)
		return WEXITSTATUS(status);
	errx(1, "a child ended with status 0x%x", (unsigned int)status);
}

static int
got(const void *prog, size_t n, const struct try *t)
{
	int status;
	pid_t pid = fork();

	if (pid == -1)
		err(1, "fork");
	if (pid == 0)
		child(prog, n, t);
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	return outcome(status, t);
}

/* -- one against the other -------------------------------------------------- */

static void
print_try(const struct try *t, int want, int have)
{
	char *name = seccomp_syscall_resolve_num_arch(t->i386 ? SCMP_ARCH_X86 :
	    SCMP_ARCH_NATIVE, (int)t->nr);
	size_t i;

	printf("%s%s (%ld)", t->i386 ? "32-bit " : "", name != NULL ? name :
	    "?", t->nr);
	for (i = 0; i < NARGS; i++)
		printf(" 0x%llx", (unsigned long long)t->args[i]);
	printf(": the table says %d, the kernel %d (-1: killed, 0: allowed, "
	    "else an errno)\n", want, have);
	free(name);
}

static void
one(const struct filter *f, const void *prog, size_t n, const struct try *t)
{
	int want = expected(f, t), have = got(prog, n, t);

	ntried++;
	if (have == ALLOWED)
		nallowed++;
	else if (have == KILLED)
		nkilled++;
	else
		nrefused++;
	if (want != have) {
		nwrong++;
		print_try(t, want, have);
	}
}

/* Arguments that a rule wants; then each of them wrong by one bit. */
static void
around(const struct filter *f, const void *prog, size_t n,
    const struct filter_rule *r, bool i386)
{
	struct try t = { .nr = i386 ? narrow_nr(r) : r->nr, .i386 = i386 }, u;
	uint64_t lowest;
	unsigned int i;

	if (t.nr < 0 || r->nargs == 0)
		return;
	for (i = 0; i < r->nargs; i++)
		t.args[r->args[i].arg] = r->args[i].op == SCMP_CMP_EQ ?
		    r->args[i].datum_a : r->args[i].datum_b;
	one(f, prog, n, &t);
	for (i = 0; i < r->nargs; i++) {
		lowest = r->args[i].op == SCMP_CMP_EQ ? 1 :
		    r->args[i].datum_a & -r->args[i].datum_a;
		u = t;
		u.args[r->args[i].arg] ^= lowest;
		one(f, prog, n, &u);
		/* 32-bit programs have no upper half */
		if (i386)
			continue;
		/* the half that the kernel does not look at for an int */
		u = t;
		u.args[r->args[i].arg] ^= 1ULL << 32;
		one(f, prog, n, &u);
	}
}

static void
every_number(const struct filter *f, const void *prog, size_t n, bool i386)
{
	struct try t = { .i386 = i386 };

	for (t.nr = 0; t.nr < NUMBERS; t.nr++) {
		if (!i386 && UNASKED(t.nr))
			continue;
		memset(t.args, 0, sizeof(t.args));
		one(f, prog, n, &t);
		/* numbers that nothing has have no arguments either */
		if (t.nr >= NUMBERS / 2)
			continue;
		memset(t.args, 0xff, sizeof(t.args));
		one(f, prog, n, &t);
	}
}

/* Reading, starting programs and leaving, as the two other tables have it. */
static void
other_tables(const struct filter *f, const void *prog, size_t n, bool i386)
{
#ifdef __x86_64__
	static const struct try tries[] = {
		{ .nr = X32_BIT + SYS_read }, { .nr = X32_BIT + SYS_execve },
		{ .nr = X32_BIT + 520 }, { .i386 = true, .nr = 1 },
		{ .i386 = true, .nr = 3 }, { .i386 = true, .nr = 11 },
	};
	size_t i;

	for (i = 0; i < NELEM(tries); i++)
		if (i386 || !tries[i].i386)
			one(f, prog, n, &tries[i]);
#else
	(void)i386;
	(void)f;
	(void)prog;
	(void)n;
#endif
}

/* A host may be without: then all of it ends by SIGSEGV. */
static bool
has_i386(void)
{
#ifdef __x86_64__
	int status;
	pid_t pid = fork();

	if (pid == -1)
		err(1, "fork");
	if (pid == 0) {
		static const struct try getpid_32 = { .i386 = true, .nr = 20 };

		(void)make_call(&getpid_32);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	return WIFEXITED(status);
#else
	return false;
#endif
}

static int
try_all(const struct filter *f, const struct filter *other)
{
	const struct filter_rule *base;
	bool narrow = has_i386();
	size_t i, n, nbase;
	void *prog;

	if (filter_compile(other, &prog, &n) == -1)
		err(1, "filter_compile");
	every_number(f, prog, n, false);
	other_tables(f, prog, n, !f->with_32bit || narrow);
	for (i = 0; i < f->nrules; i++)
		around(f, prog, n, &f->rules[i], false);
	base = filter_base(&nbase);
	for (i = 0; f->with_base && i < nbase; i++)
		around(f, prog, n, &base[i], false);
	if (f->with_32bit && narrow) {
		every_number(f, prog, n, true);
		for (i = 0; i < f->nrules; i++)
			around(f, prog, n, &f->rules[i], true);
	}
	free(prog);
	printf("%lu tried: %lu allowed, %lu refused, %lu killed; %lu not as "
	    "the table says\n", ntried, nallowed, nrefused, nkilled, nwrong);
	return nwrong == 0 ? 0 : 1;
}

/* -- in words --------------------------------------------------------------- */

static void
print_calls(const struct filter_rule *r, size_t n)
{
	char *name;
	size_t i;

	for (i = 0; i < n; i++) {
		name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE,
		    r[i].nr);
		if (name != NULL)
			puts(name);
		free(name);
	}
}

static int
print_bpf(const struct filter *f)
{
	size_t n;
	void *prog;

	if (filter_compile(f, &prog, &n) == -1)
		err(1, "filter_compile");
	if (fwrite(prog, sizeof(struct sock_filter), n, stdout) != n ||
	    fflush(stdout) != 0)
		err(1, "stdout");
	free(prog);
	return 0;
}

static int
print_all_calls(const struct filter *f)
{
	size_t nbase;
	const struct filter_rule *base = filter_base(&nbase);

	print_calls(f->rules, f->nrules);
	if (f->with_base)
		print_calls(base, nbase);
	return 0;
}

static int
translate(void)
{
	char *line = NULL, *nr, *end, *name;
	size_t size = 0;
	long v;

	while (getline(&line, &size, stdin) != -1) {
		line[strcspn(line, "\n")] = '\0';
		nr = strrchr(line, ' ');
		if (nr == NULL)
			errx(1, "no number: %s", line);
		v = strtol(nr + 1, &end, 10);
		if (end == nr + 1 || *end != '\0' || v < -1 || v > INT32_MAX)
			errx(1, "no number: %s", line);
		name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE,
		    (int)v);
		printf("%.*s %s\n", (int)(nr - line), line,
		    name != NULL ? name : nr + 1);
		free(name);
	}
	free(line);
	return 0;
}

static void __attribute__((noreturn))
usage(void)
{
	fprintf(stderr, "usage: filters [names | pfc NAME | bpf NAME | "
	    "calls NAME | try NAME [OTHER]]\n");
	exit(2);
}

int
main(int argc, char **argv)
{
	struct filter f, other;
	size_t i;

	if (argc == 1) {
		for (i = 0; i < NELEM(table); i++)
			puts(table[i].name);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "names") == 0)
		return translate();
	if (argc < 3 || argc > 4)
		usage();
	f = find(argv[2]);
	if (strcmp(argv[1], "pfc") == 0)
		return filter_print(&f, STDOUT_FILENO) == -1;
	if (strcmp(argv[1], "bpf") == 0)
		return print_bpf(&f);
	if (strcmp(argv[1], "calls") == 0)
		return print_all_calls(&f);
	if (strcmp(argv[1], "try") != 0)
		usage();
	other = argc == 4 ? find(argv[3]) : f;
	return try_all(&f, &other);
}
