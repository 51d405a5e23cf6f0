/* SPDX-License-Identifier: ISC */
/*
 * A tracer in small, as far as symbols go: starts a symbols process, asks it,
 * and prints one JSON object a line.
 *
 *	trc_symbols SYMBOLS index FILE [PATTERN [ROOT]]
 *	trc_symbols SYMBOLS types FILE PATTERN
 *	trc_symbols SYMBOLS trace PATTERN PROGRAM [ARG ...]
 *	trc_symbols SYMBOLS engine PATTERN PROGRAM [ARG ...]
 *
 * trace runs the program under ptrace with breakpoints, slowly and one thread
 * only, and interprets the capture programs as they are documented; engine
 * lets the tracer's engine do that.
 */
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/loop.h"
#include "engine/target.h"
#include "syms/match.h"
#include "syms/symclient.h"
#include "syms/symindex.h"
#include "timeline/values/render.h"

int	tracer_on_sym_opened(struct msg *);
int	tracer_on_sym_index(struct msg *);
int	tracer_on_sym_typed(struct msg *);
int	tracer_on_sym_failed(struct msg *);

const msg_handler msg_handlers[MSG_COUNT] = {
	[MSG_SYM_OPENED] = tracer_on_sym_opened,
	[MSG_SYM_INDEX] = tracer_on_sym_index,
	[MSG_SYM_TYPED] = tracer_on_sym_typed,
	[MSG_SYM_FAILED] = tracer_on_sym_failed,
};

struct probe {
	const struct sym_func *fn;
	struct capture	 enter[CAPTURE_MAX], leave[CAPTURE_MAX];
	size_t		 nenter, nleave;
	struct desc	 desc;
	bool		 typed;
	long		 word;		/* what was at its entry */
};

static struct symclient	 client;
static struct symindex	 ix;
static struct probe	*probes;
static size_t		 nprobes, nwanted, answered;
static char		 build_id[SYM_BUILD_ID * 2 + 1];
static uint64_t		 file_size;
static pid_t		 symbols_pid;

/* -- the symbols process -------------------------------------------------- */

static void
on_opened(void *arg, uint64_t size, const char *id)
{
	(void)arg;
	file_size = size;
	(void)snprintf(build_id, sizeof(build_id), "%s", id);
	loop_stop();
}

static void
on_index(void *arg, int fd)
{
	char why[200];

	(void)arg;
	if (symindex_open(&ix, fd, why, sizeof(why)) == -1)
		errx(1, "%s", why);
	close(fd);
	loop_stop();
}

static void
on_typed(void *arg, const struct sym_typed *t)
{
	struct probe *p = &probes[answered++];

	(void)arg;
	if (p->fn->die != t->die)
		errx(1, "types of another function");
	memcpy(p->enter, t->enter, t->nenter * sizeof(p->enter[0]));
	memcpy(p->leave, t->leave, t->nleave * sizeof(p->leave[0]));
	p->nenter = t->nenter;
	p->nleave = t->nleave;
	if (t->desc_len > 0) {
		if (desc_open(&p->desc, t->desc, t->desc_len) == -1)
			errx(1, "a damaged description");
		p->typed = true;
	}
	if (answered == nwanted)
		loop_stop();
}

static void
on_failed(void *arg, const char *code, const char *why)
{
	(void)arg;
	printf("{\"error\":\"%s\",\"why\":\"%s\"}\n", code, why);
	exit(2);
}

static void
on_gone(void *arg, const char *why)
{
	int status;

	(void)arg;
	(void)waitpid(symbols_pid, &status, 0);
	printf("{\"error\":\"GONE\",\"why\":\"%s\",\"status\":%d}\n",
	    why == NULL ? "" : why, status);
	exit(3);
}

static const struct symclient_ops ops = {
	.opened = on_opened, .index = on_index, .typed = on_typed,
	.failed = on_failed, .gone = on_gone,
};

static void
start_symbols(const char *path)
{
	int fds[2];

	if (loop_init() == -1 || chan_pair(fds) == -1)
		err(1, "channel");
	symbols_pid = fork();
	if (symbols_pid == -1)
		err(1, "fork");
	if (symbols_pid == 0) {
		if (dup2(fds[1], 3) == -1 || fcntl(3, F_SETFD, 0) == -1)
			err(1, "dup2");
		execl(path, path, (char *)NULL);
		err(1, "%s", path);
	}
	close(fds[1]);
	if (symclient_init(&client, fds[0], &ops, NULL) == -1)
		err(1, "channel");
}

static void
wait_answer(void)
{
	if (loop_run() == -1)
		err(1, "loop");
}

static void
open_binary(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		err(1, "%s", path);
	if (symclient_open(&client, fd) == -1)
		err(1, "open");
	wait_answer();
}

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double
scan(void)
{
	double start = now_ms();

	if (symclient_scan(&client) == -1)
		err(1, "scan");
	wait_answer();
	return now_ms() - start;
}

static void
want(const char *text, const char *root)
{
	const struct sym_func *f;
	struct pattern *p;
	char why[200];
	uint32_t i;

	p = pattern_new(text, root, why, sizeof(why));
	if (p == NULL) {
		printf("{\"error\":\"INVALID_PATTERN\",\"why\":\"");
		for (i = 0; why[i] != '\0'; i++)
			printf(why[i] == '"' ? "\\\"" : "%c", why[i]);
		printf("\"}\n");
		exit(2);
	}
	probes = calloc(ix.header->nfuncs + 1, sizeof(*probes));
	if (probes == NULL)
		err(1, "calloc");
	for (i = 0; i < ix.header->nfuncs; i++) {
		f = &ix.funcs[i];
		if (pattern_matches(p, symindex_str(&ix, f->name),
		    symindex_str(&ix, f->raw), symindex_str(&ix, f->file)))
			probes[nprobes++].fn = f;
	}
	pattern_free(p);
}

static void
get_types(void)
{
	uint32_t dies[SYMCLIENT_TYPES_MAX];
	size_t i, n = 0, done;

	for (done = 0; done < nprobes; done += n) {
		for (n = 0; n < SYMCLIENT_TYPES_MAX && done + n < nprobes; n++)
			dies[n] = probes[done + n].fn->die;
		nwanted = done + n;
		if (symclient_types(&client, dies, n) == -1)
			err(1, "types");
		wait_answer();
	}
	for (i = 0; i < nprobes; i++)
		if (probes[i].fn->die == 0)
			probes[i].typed = false;
}

/* -- output --------------------------------------------------------------- */

static void
put_str(const char *key, const char *s)
{
	struct render_out o = { 0 };

	render_string(&o, s, strlen(s), false);
	printf("\"%s\":%.*s,", key, (int)o.len, o.buf);
	free(o.buf);
}

static void
print_func(const struct sym_func *f)
{
	printf("{");
	put_str("name", symindex_str(&ix, f->name));
	put_str("raw", symindex_str(&ix, f->raw));
	put_str("file", symindex_str(&ix, f->file));
	printf("\"addr\":%" PRIu64 ",\"size\":%" PRIu64 ",\"line\":%u,"
	    "\"nparams\":%u,\"die\":%u,\"flags\":%u,\"lang\":%u}\n", f->addr,
	    f->size, f->line, f->nparams, f->die, f->flags & 0xfffU,
	    (unsigned int)SYM_LANG(f->flags));
}

static void
print_desc(const struct probe *p)
{
	size_t i;

	printf("{");
	put_str("name", symindex_str(&ix, p->fn->name));
	if (p->typed) {
		put_str("returns", desc_return_type(&p->desc));
		printf("\"flags\":%u,\"steps\":[%zu,%zu],",
		    p->desc.head->flags, p->nenter, p->nleave);
	}
	printf("\"args\":[");
	for (i = 0; p->typed && i < p->desc.head->nargs; i++) {
		printf("%s[", i > 0 ? "," : "");
		put_str("n", p->desc.strs + p->desc.values[i].name);
		printf("\"");
		printf("%s\"]", p->desc.strs + p->desc.values[i].type);
	}
	printf("]}\n");
}

static int
do_index(char **argv)
{
	double ms;
	size_t i;

	open_binary(argv[0]);
	ms = scan();
	printf("{\"functions\":%u,\"flags\":%u,\"build_id\":\"%s\",\"size\":%"
	    PRIu64 ",\"bytes\":%" PRIu64 ",\"ms\":%.3f}\n", ix.header->nfuncs,
	    ix.header->flags, build_id, file_size, ix.header->size, ms);
	if (argv[1] == NULL)
		return 0;
	want(argv[1], argv[2]);
	for (i = 0; i < nprobes; i++)
		print_func(probes[i].fn);
	return 0;
}

static int
do_types(char **argv)
{
	double start;
	size_t i;

	open_binary(argv[0]);
	(void)scan();
	want(argv[1], NULL);
	start = now_ms();
	get_types();
	printf("{\"functions\":%zu,\"ms\":%.3f}\n", nprobes,
	    now_ms() - start);
	for (i = 0; i < nprobes; i++)
		print_desc(&probes[i]);
	return 0;
}

/* -- running the capture programs ----------------------------------------- */

struct stop {
	pid_t		 pid;
	uint64_t	 regs[16];	/* by DWARF's numbers */
	struct user_fpregs_struct fp;
};

/* With an unlimited stack, libraries come before the program. */
static uint64_t
load_bias(pid_t pid)
{
	char path[64], exe[400] = "", line[512];
	unsigned long lo = 0;
	FILE *f;

	if (!(ix.header->flags & SYM_PIE))
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (readlink(path, exe, sizeof(exe) - 1) == -1)
		err(1, "%s", path);
	(void)snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if ((f = fopen(path, "r")) == NULL)
		err(1, "%s", path);
	while (lo == 0 && fgets(line, sizeof(line), f) != NULL)
		if (strstr(line, exe) != NULL &&
		    sscanf(line, "%lx-", &lo) != 1)
			errx(1, "%s", path);
	fclose(f);
	if (lo == 0)
		errx(1, "%s is not in %s", exe, path);
	return lo - (ix.header->load_addr & ~0xfffULL);
}

static void
get_stop(pid_t pid, struct stop *s, struct user_regs_struct *u)
{
	if (ptrace(PTRACE_GETREGS, pid, NULL, u) == -1 ||
	    ptrace(PTRACE_GETFPREGS, pid, NULL, &s->fp) == -1)
		err(1, "registers");
	s->pid = pid;
	memcpy(s->regs, (uint64_t[]) { u->rax, u->rdx, u->rcx, u->rbx,
	    u->rsi, u->rdi, u->rbp, u->rsp, u->r8, u->r9, u->r10, u->r11,
	    u->r12, u->r13, u->r14, u->r15 }, sizeof(s->regs));
}

static bool
peek(const struct stop *s, uint64_t addr, void *buf, size_t len)
{
	struct iovec l = { buf, len }, r = { (void *)addr, len };

	return process_vm_readv(s->pid, &l, 1, &r, 1, 0) == (ssize_t)len;
}

static unsigned int
take_string(const struct stop *s, uint64_t addr, size_t most, uint8_t *out,
    size_t *len)
{
	for (*len = 0; *len < most; (*len)++) {
		if (!peek(s, addr + *len, out + *len, 1)) {
			*len = 0;
			return CAP_FAULT;
		}
		if (out[*len] == 0)
			return CAP_OK;
	}
	return CAP_CUT;
}

static unsigned int
take_slice(const struct stop *s, const struct capture *c, uint64_t ptr,
    uint64_t n, uint8_t *out, size_t *len)
{
	uint64_t take = n < c->len / c->scale ? n : c->len / c->scale;

	memcpy(out, &n, 8);
	*len = 8 + (size_t)(take * c->scale);
	if (take == 0 || peek(s, ptr, out + 8, *len - 8))
		return take < n ? CAP_CUT : CAP_OK;
	*len = 0;
	return CAP_FAULT;
}

static unsigned int
take_step(const struct stop *s, const struct capture *c, uint8_t *out,
    size_t *len)
{
	uint64_t at = s->regs[c->op == CAP_STACK || c->op == CAP_STKSTR ||
	    c->op == CAP_STKSLICE ? 7 : c->reg & 15] + (uint64_t)(int64_t)c->off;
	uint64_t base = at - (uint64_t)(int64_t)c->off, ptr = 0, n = 0;

	*len = c->len;
	switch (c->op) {
	case CAP_REG:
		memcpy(out, &s->regs[c->reg & 15], c->len);
		return CAP_OK;
	case CAP_VEC:
		memcpy(out, &s->fp.xmm_space[4 * (c->reg & 15)], c->len);
		return CAP_OK;
	case CAP_STACK:
	case CAP_MEM:
		if (peek(s, at, out, c->len))
			return CAP_OK;
		*len = 0;
		return CAP_FAULT;
	case CAP_STRING:
		return take_string(s, at, c->len, out, len);
	case CAP_STRPTR:
	case CAP_STKSTR:
		*len = 0;
		return peek(s, at, &ptr, 8) ?
		    take_string(s, ptr, c->len, out, len) : CAP_FAULT;
	case CAP_X87:
		/* st(0) is the first of these */
		memcpy(out, s->fp.st_space, c->len);
		return CAP_OK;
	case CAP_MIXSLICE:
		*len = 0;
		return peek(s, s->regs[7] + (uint64_t)(int64_t)c->off2, &n, 8) ?
		    take_slice(s, c, base, n, out, len) : CAP_FAULT;
	case CAP_REGSLICE:
		return take_slice(s, c, base, s->regs[c->off & 15], out, len);
	default:
		*len = 0;
		return peek(s, at, &ptr, 8) &&
		    peek(s, base + (uint64_t)(int64_t)c->off2, &n, 8) ?
		    take_slice(s, c, ptr, n, out, len) : CAP_FAULT;
	}
}

static size_t
run_steps(const struct stop *s, const struct capture *c, size_t n,
    uint8_t *out)
{
	struct captured head;
	size_t i, at = 0, len;

	for (i = 0; i < n; i++) {
		len = 0;
		memset(out + at, 0, captured_size(CAPTURE_LEN_MAX + 8));
		head.status = (uint16_t)take_step(s, &c[i], out + at + 4,
		    &len);
		head.len = (uint16_t)len;
		memcpy(out + at, &head, sizeof(head));
		at += captured_size(len);
	}
	return at;
}

static struct probe *
probe_at(uint64_t addr)
{
	size_t i;

	for (i = 0; i < nprobes; i++)
		if (probes[i].fn->addr == addr)
			return &probes[i];
	return NULL;
}

static void
poke(pid_t pid, uint64_t addr, long word)
{
	if (ptrace(PTRACE_POKETEXT, pid, (void *)addr, (void *)word) == -1)
		err(1, "poke");
}

static long
peek_word(pid_t pid, uint64_t addr)
{
	errno = 0;
	return ptrace(PTRACE_PEEKTEXT, pid, (void *)addr, NULL);
}

/* Goes on, giving on whatever signals come; the status of the next trap. */
static int
resume(pid_t pid)
{
	int status, sig = 0;

	for (;;) {
		if (ptrace(PTRACE_CONT, pid, NULL, (void *)(long)sig) == -1 ||
		    waitpid(pid, &status, 0) == -1)
			err(1, "cont");
		if (!WIFSTOPPED(status) || WSTOPSIG(status) == SIGTRAP)
			return status;
		sig = WSTOPSIG(status);
	}
}

static void
print_record(const struct probe *p, const void *buf, size_t len, bool leave)
{
	const struct capture *c = leave ? p->leave : p->enter;
	size_t n = leave ? p->nleave : p->nenter;
	struct render_out o = { 0 };

	if (leave)
		render_result(&p->desc, c, n, buf, len, &o);
	else
		render_args(&p->desc, c, n, buf, len, &o);
	if (o.bad)
		errx(1, "too long");
	printf("{");
	put_str("name", symindex_str(&ix, p->fn->name));
	if (leave)
		put_str("type", desc_return_type(&p->desc));
	printf("\"%s\":%.*s}\n", leave ? "result" : "args", (int)o.len, o.buf);
	free(o.buf);
}

static void
print_values(const struct probe *p, const struct stop *s, bool leave)
{
	static uint8_t buf[(CAPTURE_MAX + 2) * (CAPTURE_LEN_MAX + 64)];
	const struct capture *c = leave ? p->leave : p->enter;
	size_t len = run_steps(s, c, leave ? p->nleave : p->nenter, buf);

	print_record(p, buf, len, leave);
}

#define TRAP(word)	(((word) & ~0xffL) | 0xcc)

struct frame {
	struct probe	*p;
	uint64_t	 ret, sp;
	long		 word;
};

/* At an entry: one step over it with the breakpoint out. */
static int
on_entry(pid_t pid, struct probe *p, uint64_t at, struct stop *s,
    struct user_regs_struct *u, struct frame *f)
{
	int status;

	print_values(p, s, false);
	*f = (struct frame) { .p = p, .sp = u->rsp + 8 };
	if (!peek(s, u->rsp, &f->ret, 8))
		errx(1, "no return address");
	u->rip = at;
	if (ptrace(PTRACE_SETREGS, pid, NULL, u) == -1)
		err(1, "registers");
	poke(pid, at, p->word);
	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == -1 ||
	    waitpid(pid, &status, 0) == -1)
		err(1, "step");
	if (WIFSTOPPED(status))
		poke(pid, at, TRAP(p->word));
	return status;
}

static void
trace(pid_t pid, uint64_t bias)
{
	static struct frame frames[4096];
	struct user_regs_struct u;
	struct stop s;
	struct frame *f;
	struct probe *p;
	size_t depth = 0;
	int status;

	for (;;) {
		status = resume(pid);
		if (!WIFSTOPPED(status))
			return;
		get_stop(pid, &s, &u);
		p = probe_at(u.rip - 1 - bias);
		if (p != NULL && depth < 4096) {
			status = on_entry(pid, p, u.rip - 1, &s, &u,
			    &frames[depth]);
			if (!WIFSTOPPED(status))
				return;
			f = &frames[depth];
			if (p->desc.head->flags & DESC_ENTRY_ONLY)
				continue;
			f->word = peek_word(pid, f->ret);
			poke(pid, f->ret, TRAP(f->word));
			depth++;
			continue;
		}
		/* the return of the innermost */
		if (depth == 0 || frames[depth - 1].ret != u.rip - 1)
			errx(1, "a trap at %llx", u.rip);
		f = &frames[--depth];
		print_values(f->p, &s, true);
		poke(pid, f->ret, f->word);
		u.rip--;
		if (ptrace(PTRACE_SETREGS, pid, NULL, &u) == -1)
			err(1, "registers");
	}
}

static int
do_trace(char **argv)
{
	size_t i, n = 0;
	uint64_t bias;
	pid_t pid;
	int status;

	open_binary(argv[1]);
	(void)scan();
	want(argv[0], NULL);
	get_types();
	pid = fork();
	if (pid == -1)
		err(1, "fork");
	if (pid == 0) {
		(void)dup2(2, 1);
		(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[1], argv + 1);
		err(1, "%s", argv[1]);
	}
	if (waitpid(pid, &status, 0) == -1 || !WIFSTOPPED(status))
		errx(1, "the program did not start");
	(void)ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_EXITKILL);
	bias = load_bias(pid);
	for (i = 0; i < nprobes; i++) {
		if (probes[i].fn->addr == 0 || !probes[i].typed)
			continue;
		probes[n] = probes[i];
		probes[n].word = peek_word(pid, bias + probes[n].fn->addr);
		poke(pid, bias + probes[n].fn->addr, TRAP(probes[n].word));
		n++;
	}
	nprobes = n;
	trace(pid, bias);
	return 0;
}

/* -- the same by the engine ------------------------------------------------ */

static bool		 program_gone;

static void
put_probes(struct target *t)
{
	struct probe_spec *specs = calloc(nprobes + 1, sizeof(*specs));
	struct probe_result *results = calloc(nprobes + 1, sizeof(*results));
	uint64_t bias = load_bias(target_pid(t));
	size_t i, n = 0;

	if (specs == NULL || results == NULL)
		err(1, "calloc");
	for (i = 0; i < nprobes; i++) {
		if (probes[i].fn->addr == 0 || !probes[i].typed)
			continue;
		specs[n++] = (struct probe_spec) { .fn = (uint32_t)i,
		    .addr = bias + probes[i].fn->addr,
		    .size = probes[i].fn->size,
		    .flags = probes[i].desc.head->flags & DESC_ENTRY_ONLY ?
		    TARGET_ENTRY_ONLY : 0,
		    .enter = probes[i].enter, .leave = probes[i].leave };
	}
	(void)target_probe(t, specs, n, results);
	for (i = 0; i < n; i++)
		if (!results[i].ok)
			errx(1, "%s: %s", symindex_str(&ix,
			    probes[specs[i].fn].fn->name), results[i].why);
	free(specs);
	free(results);
}

static void
on_event(struct target *t, const struct target_event *e, void *arg)
{
	(void)arg;
	if (e->kind == TARGET_EXEC)
		put_probes(t);
	if (e->kind == TARGET_EXIT)
		program_gone = true;
	if (e->kind == TARGET_CRASH || e->kind == TARGET_LOST)
		errx(1, "the program has crashed, or calls were lost");
}

static void
on_record(struct target *t, const struct trace_record *r, void *arg)
{
	(void)t;
	(void)arg;
	print_record(&probes[r->fn], r->captures, r->captures_len,
	    r->kind == TRACE_EXIT);
	if (r->kind == TRACE_CALL)
		print_record(&probes[r->fn], r->exit_captures,
		    r->exit_captures_len, true);
}

/* Waits at a pipe until it is watched, and becomes the program then. */
static pid_t
launch(char **argv, int *go_fd)
{
	int p[2];
	pid_t pid;
	char c;

	if (pipe(p) == -1)
		err(1, "pipe");
	pid = fork();
	if (pid == -1)
		err(1, "fork");
	if (pid != 0) {
		close(p[0]);
		*go_fd = p[1];
		return pid;
	}
	close(p[1]);
	if (read(p[0], &c, 1) == -1)
		_exit(126);
	close(p[0]);
	(void)dup2(2, 1);
	execv(argv[0], argv);
	_exit(127);
}

static int
do_engine(char **argv)
{
	const struct target_options o = { .on_event = on_event };
	char why[TARGET_WHY];
	struct pollfd fd = { .events = POLLIN };
	struct target *t;
	int go_fd;

	open_binary(argv[1]);
	(void)scan();
	want(argv[0], NULL);
	get_types();
	/* its end is a child's, and would be taken for the program's */
	symclient_close(&client);
	(void)waitpid(symbols_pid, NULL, 0);
	t = target_open(launch(argv + 1, &go_fd), &o, why);
	if (t == NULL)
		errx(1, "%s", why);
	close(go_fd);
	fd.fd = target_fd();
	while (!program_gone) {
		(void)poll(&fd, 1, 2);
		target_events();
		(void)target_read(t, false, on_record, NULL);
	}
	(void)target_read(t, false, on_record, NULL);
	target_close(t);
	return 0;
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int min;
		int (*run)(char **);
	} modes[] = {
		{ "index", 4, do_index }, { "types", 5, do_types },
		{ "trace", 5, do_trace }, { "engine", 5, do_engine },
	};
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (argc < modes[i].min ||
		    strcmp(argv[2], modes[i].name) != 0)
			continue;
		start_symbols(argv[1]);
		return modes[i].run(argv + 3);
	}
	errx(1, "usage: trc_symbols SYMBOLS index|types|trace|engine ...");
}
