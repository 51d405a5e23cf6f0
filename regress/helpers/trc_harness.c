/* SPDX-License-Identifier: ISC */
/*
 * The tracer's engine by hand: launches or attaches to a program, takes
 * commands as lines, prints what happens as JSON lines.
 *
 *	trc_harness [-f] [-r RING] -- PROGRAM ARGUMENT...
 *	trc_harness [-f] [-r RING] -p PID
 *
 * A launched program stands at its first instruction until `go`.
 *
 *	probe ID WHAT [size=N] [entry] [budget=N] [enter=STEPS] [leave=STEPS]
 *	probeall ID [budget=N] [skip=PREFIX] [prefix=PREFIX] [libs]
 *			all functions of the program, or those that its
 *			libraries have for others, from that id on
 *	unprobe ID...	unprobeall FROM COUNT
 *	go, read, quiet 0|1, stats, skipped ID, bytes WHAT N, wait MS, nap MS,
 *	detach, quit, signal N
 *
 * `wait` attends to the program meanwhile, `nap` does not.
 *
 * WHAT is a symbol of the program, lib:SYMBOL of anything loaded, an address
 * (0x...) or one relative to where the program's file is mapped (+0x...).
 * STEPS, separated by commas: rN[:LEN] register, xN[:LEN] vector, kOFF:LEN
 * stack, mN+OFF:LEN memory, sN[:MOST] string, pN+OFF[:MOST] string by pointer,
 * lN+OFF+OFF2*SCALE:MOST slice, gN+N*SCALE:MOST slice in registers.
 */
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/clock.h"
#include "engine/maps.h"
#include "engine/objsym.h"
#include "engine/proc.h"
#include "engine/target.h"

#define STEPS_MOST	(CAPTURE_MAX + 1)
#define TICK_MS		2
#define SYMBOLS_MOST	400000
#define CHILDREN_MOST	512

struct symbol {
	char	*name;
	uint64_t addr, size;
};

struct list {
	struct symbol *v;
	size_t	 n;
};

static struct target *main_target;
static struct target *children[CHILDREN_MOST];
static size_t nchildren;
static bool quiet, done, held;
static uint64_t counts[8], events[16], lost[4];
static bool follow;
static char names[1 << 16][32];

static void	commands(bool until_go);

/* --- symbols --------------------------------------------------------------- */

static bool
want_all(const char *name)
{
	return (name[0] != '\0');
}

static void
add(const char *name, uint64_t addr, uint64_t size, void *arg)
{
	struct list *l = arg;

	if (l->n == SYMBOLS_MOST)
		return;
	l->v[l->n].name = strdup(name);
	l->v[l->n].addr = addr;
	l->v[l->n++].size = size;
}

static uint64_t
exe_base(const struct target *t, const struct maps *ms)
{
	const struct map *m = maps_at(ms, t->entry);

	return (m == NULL ? 0 : maps_base(ms, m)->lo);
}

static void
load(struct target *t, struct list *l, bool libs)
{
	struct exe_facts f;
	struct maps ms;
	size_t i;

	l->v = calloc(SYMBOLS_MOST, sizeof(*l->v));
	l->n = 0;
	if (l->v == NULL || !maps_read(target_pid(t), &ms))
		return;
	if (!libs)
		(void)objsym_exe(target_pid(t), exe_base(t, &ms), &f, want_all,
		    add, l);
	for (i = 0; libs && i < ms.n; i++)
		if (ms.v[i].inode != 0 && ms.v[i].off == 0 && ms.v[i].read)
			objsym_dynamic(t, ms.v[i].lo, want_all, add, l);
	maps_free(&ms);
}

static void
unload(struct list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->v[i].name);
	free(l->v);
}

static bool
find(struct target *t, const char *what, uint64_t *addr, uint64_t *size)
{
	struct list l;
	struct maps ms;
	bool libs = strncmp(what, "lib:", 4) == 0, found = false;
	size_t i;

	*size = 0;
	if (what[0] == '0') {
		*addr = strtoull(what, NULL, 16);
		return (true);
	}
	if (what[0] == '+') {
		if (!maps_read(target_pid(t), &ms))
			return (false);
		*addr = exe_base(t, &ms) + strtoull(what + 1, NULL, 16);
		maps_free(&ms);
		return (true);
	}
	load(t, &l, libs);
	for (i = 0; i < l.n && !found; i++)
		if (strcmp(l.v[i].name, what + (libs ? 4 : 0)) == 0) {
			*addr = l.v[i].addr;
			*size = l.v[i].size;
			found = true;
		}
	unload(&l);
	return (found);
}

/* --- steps ----------------------------------------------------------------- */

static void
step(struct capture *c, const char *s)
{
	const char *colon = strchr(s, ':'), *plus = strchr(s, '+'),
	    *star = strchr(s, '*');
	static const struct { char key; uint8_t op; uint16_t len; } kinds[] = {
		{ 'r', CAP_REG, 8 }, { 'x', CAP_VEC, 8 }, { 'k', CAP_STACK, 8 },
		{ 'm', CAP_MEM, 8 }, { 's', CAP_STRING, CAPTURE_STRING },
		{ 'p', CAP_STRPTR, CAPTURE_STRING }, { 'l', CAP_SLICE, 1024 },
		{ 'g', CAP_REGSLICE, 1024 }
	};
	size_t i;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].key == s[0]) {
			c->op = kinds[i].op;
			c->len = kinds[i].len;
		}
	if (s[0] == 'k')
		c->off = (int32_t)strtol(s + 1, NULL, 0);
	else
		c->reg = (uint8_t)strtol(s + 1, NULL, 0);
	if (plus != NULL) {
		c->off = (int32_t)strtol(plus + 1, NULL, 0);
		plus = strchr(plus + 1, '+');
	}
	if (plus != NULL)
		c->off2 = (int32_t)strtol(plus + 1, NULL, 0);
	if (star != NULL)
		c->scale = (uint32_t)strtol(star + 1, NULL, 0);
	if (colon != NULL)
		c->len = (uint16_t)strtol(colon + 1, NULL, 0);
}

static const struct capture *
steps(struct capture c[STEPS_MOST], char *s)
{
	char *one, *save = NULL;
	size_t n = 0;

	memset(c, 0, STEPS_MOST * sizeof(*c));
	for (one = strtok_r(s, ",", &save); one != NULL && n < CAPTURE_MAX;
	    one = strtok_r(NULL, ",", &save))
		step(&c[n++], one);
	return (c);
}

/* --- printing -------------------------------------------------------------- */

static void
print_captures(const struct trace_record *r)
{
	struct captured h;
	uint32_t at = 0, i;

	printf(",\"cap\":[");
	while (at + sizeof(h) <= r->captures_len) {
		memcpy(&h, r->captures + at, sizeof(h));
		printf("%s{\"st\":%u,\"hex\":\"", at == 0 ? "" : ",", h.status);
		for (i = 0; i < h.len; i++)
			printf("%02x", r->captures[at + sizeof(h) + i]);
		printf("\"}");
		at += (uint32_t)captured_size(h.len);
	}
	printf("]");
}

static void
on_record(struct target *t, const struct trace_record *r, void *arg)
{
	struct trace_record both[2];

	if (r->kind == TRACE_CALL) {
		trace_split(r, &both[0], &both[1]);
		on_record(t, &both[0], arg);
		on_record(t, &both[1], arg);
		return;
	}
	counts[r->kind & 7]++;
	if (quiet)
		return;
	printf("{\"ev\":\"%s\",\"pid\":%d,\"fn\":%u,\"name\":\"%s\","
	    "\"tid\":%d,\"ts\":%lu,\"id\":%lu,\"parent\":%lu,\"dur\":%lu,"
	    "\"flags\":%u,\"depth\":%u",
	    r->kind == TRACE_ENTER ? "enter" : "exit", (int)target_pid(t),
	    r->fn, names[r->fn & 0xffff], (int)r->tid, r->ts, r->id,
	    r->parent, r->duration, r->flags, r->depth);
	print_captures(r);
	printf("}\n");
}

static void
on_event(struct target *t, const struct target_event *e, void *arg)
{
	static const char *const kinds[] = { "thread", "gone", "fork", "exec",
	    "exit", "crash", "lost", "objects", "named" };
	uint32_t i;

	_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == TARGET_NAMED + 1,
	    "a word for each kind");

	(void)arg;
	events[e->kind]++;
	if (e->kind == TARGET_LOST) {
		lost[0] += e->calls;
		lost[1] += e->exits;
		lost[2] += e->deep;
		lost[3] += e->torn;
	}
	if (!quiet || e->kind >= TARGET_EXEC) {
		printf("{\"ev\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%lu,"
		    "\"status\":%d,\"child\":%d,\"signo\":%d,\"code\":%d,"
		    "\"caught\":%d,\"addr\":%lu,\"rip\":%lu,\"calls\":%lu,"
		    "\"exits\":%lu,\"deep\":%lu,\"torn\":%lu,\"comm\":\"%s\","
		    "\"stack\":[", kinds[e->kind], (int)e->pid, (int)e->tid,
		    e->ts, e->status, (int)e->child_pid, e->signo, e->code,
		    e->caught, e->addr, e->pc, e->calls, e->exits,
		    e->deep, e->torn, e->name);
		for (i = 0; i < e->nstack; i++)
			printf("%s%lu", i == 0 ? "" : ",", e->stack[i]);
		printf("]}\n");
	}
	fflush(stdout);
	if (e->child != NULL && nchildren < CHILDREN_MOST)
		children[nchildren++] = e->child;
	else if (e->child != NULL)
		target_close(e->child);
	if (e->kind == TARGET_EXEC && t == main_target && held) {
		held = false;
		commands(true);
	}
}

/* --- commands -------------------------------------------------------------- */

static void
say_result(uint32_t fn, const struct probe_result *r)
{
	printf("{\"ev\":\"probe\",\"fn\":%u,\"ok\":%s,\"entry_only\":%s,"
	    "\"why\":\"%s\",\"stop\":%lu}\n", fn, r->ok ? "true" : "false",
	    r->entry_only ? "true" : "false", r->why,
	    target_stop_ns(main_target));
}

static void
do_probe(char *args)
{
	static struct capture enter[STEPS_MOST], leave[STEPS_MOST];
	struct probe_spec s = { 0 };
	struct probe_result r = { 0 };
	char *word, *save = NULL, *what;

	s.fn = (uint32_t)strtoul(strtok_r(args, " ", &save), NULL, 0);
	what = strtok_r(NULL, " ", &save);
	if (!find(main_target, what, &s.addr, &s.size)) {
		printf("{\"ev\":\"probe\",\"fn\":%u,\"ok\":false,"
		    "\"why\":\"no symbol\"}\n", s.fn);
		return;
	}
	s.name = what;
	while ((word = strtok_r(NULL, " ", &save)) != NULL) {
		if (strcmp(word, "entry") == 0)
			s.flags |= TARGET_ENTRY_ONLY;
		else if (strncmp(word, "size=", 5) == 0)
			s.size = strtoull(word + 5, NULL, 0);
		else if (strncmp(word, "budget=", 7) == 0)
			s.budget = (uint32_t)strtoul(word + 7, NULL, 0);
		else if (strncmp(word, "enter=", 6) == 0)
			s.enter = steps(enter, word + 6);
		else if (strncmp(word, "leave=", 6) == 0)
			s.leave = steps(leave, word + 6);
	}
	(void)snprintf(names[s.fn & 0xffff], sizeof(names[0]), "%s", what);
	(void)target_probe(main_target, &s, 1, &r);
	say_result(s.fn, &r);
}

static int
by_addr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->addr < y->addr ? -1 : x->addr > y->addr);
}

static void
do_probeall(char *args)
{
	static struct capture enter[] = { { CAP_REG, 5, 8, 0, 0, 0 },
	    { CAP_REG, 4, 8, 0, 0, 0 }, { 0 } }, leave[] = {
	    { CAP_REG, 0, 8, 0, 0, 0 }, { 0 } };
	struct probe_spec *s;
	struct probe_result *r;
	struct list l;
	size_t i, n = 0, on, open = 0;
	char *save = NULL, *word, *skip = NULL, *prefix = NULL;
	uint32_t from, budget = 0;
	uint64_t began;
	bool libs = false;

	from = (uint32_t)strtoul(strtok_r(args, " ", &save), NULL, 0);
	while ((word = strtok_r(NULL, " ", &save)) != NULL) {
		if (strncmp(word, "budget=", 7) == 0)
			budget = (uint32_t)strtoul(word + 7, NULL, 0);
		else if (strncmp(word, "skip=", 5) == 0)
			skip = word + 5;
		else if (strncmp(word, "prefix=", 7) == 0)
			prefix = word + 7;
		else if (strcmp(word, "libs") == 0)
			libs = true;
	}
	load(main_target, &l, libs);
	qsort(l.v, l.n, sizeof(*l.v), by_addr);
	s = calloc(l.n + 1, sizeof(*s));
	r = calloc(l.n + 1, sizeof(*r));
	if (s == NULL || r == NULL)
		errx(1, "no memory");
	for (i = 0; i < l.n; i++) {
		if ((n > 0 && s[n - 1].addr == l.v[i].addr) ||
		    (skip != NULL && strncmp(l.v[i].name, skip,
		    strlen(skip)) == 0) ||
		    (prefix != NULL && strncmp(l.v[i].name, prefix,
		    strlen(prefix)) != 0))
			continue;
		s[n].fn = from + (uint32_t)n;
		s[n].addr = l.v[i].addr;
		s[n].size = l.v[i].size;
		s[n].name = l.v[i].name;
		s[n].enter = enter;
		s[n].leave = leave;
		s[n].budget = budget;
		(void)snprintf(names[s[n].fn & 0xffff], sizeof(names[0]), "%s",
		    l.v[i].name);
		n++;
	}
	began = clock_ns();
	on = target_probe(main_target, s, n, r);
	for (i = 0; i < n; i++) {
		open += r[i].ok && r[i].entry_only;
		if (!r[i].ok || r[i].entry_only)
			printf("{\"ev\":\"%s\",\"name\":\"%s\",\"why\":\"%s\"}"
			    "\n", r[i].ok ? "open" : "no", s[i].name, r[i].why);
	}
	printf("{\"ev\":\"probeall\",\"n\":%zu,\"on\":%zu,\"open\":%zu,"
	    "\"stop\":%lu,\"all\":%lu}\n", n, on, open,
	    target_stop_ns(main_target), clock_ns() - began);
	free(s);
	free(r);
	unload(&l);
}

static void
do_unprobe(char *args, bool range)
{
	uint32_t *fns, from, count;
	char *save = NULL, *word;
	size_t n = 0, i;

	fns = calloc(1 << 20, sizeof(*fns));
	if (fns == NULL)
		errx(1, "no memory");
	if (range) {
		from = (uint32_t)strtoul(strtok_r(args, " ", &save), NULL, 0);
		count = (uint32_t)strtoul(strtok_r(NULL, " ", &save), NULL, 0);
		for (i = 0; i < count; i++)
			fns[n++] = from + (uint32_t)i;
	} else
		for (word = strtok_r(args, " ", &save); word != NULL;
		    word = strtok_r(NULL, " ", &save))
			fns[n++] = (uint32_t)strtoul(word, NULL, 0);
	n = target_unprobe(main_target, fns, n);
	printf("{\"ev\":\"unprobe\",\"n\":%zu,\"stop\":%lu}\n", n,
	    target_stop_ns(main_target));
	free(fns);
}

static void
do_bytes(char *args)
{
	char *save = NULL, *what = strtok_r(args, " ", &save);
	size_t n = strtoul(strtok_r(NULL, " ", &save), NULL, 0), i;
	static uint8_t buf[1 << 20];
	uint64_t addr = 0, size;

	if (!find(main_target, what, &addr, &size) || n > sizeof(buf))
		n = 0;
	n = target_peek(main_target, addr, buf, n);
	printf("{\"ev\":\"bytes\",\"hex\":\"");
	for (i = 0; i < n; i++)
		printf("%02x", buf[i]);
	printf("\"}\n");
}

static void
read_all(void)
{
	size_t i;

	if (main_target != NULL)
		(void)target_read(main_target, false, on_record, NULL);
	for (i = 0; i < nchildren; i++) {
		(void)target_read(children[i], false, on_record, NULL);
		if (!target_alive(children[i])) {
			target_close(children[i]);
			children[i--] = children[--nchildren];
		}
	}
}

static void
tick(int ms)
{
	struct pollfd p = { .fd = target_fd(), .events = POLLIN };

	(void)poll(&p, 1, ms);
	target_events();
	read_all();
}

static void
do_wait(uint64_t ms)
{
	uint64_t end = clock_ns() + ms * 1000000;

	while (clock_ns() < end)
		tick(TICK_MS);
}

static void
do_stats(void)
{
	printf("{\"ev\":\"stats\",\"enter\":%lu,\"exit\":%lu,\"calls\":%lu,"
	    "\"exits\":%lu,\"deep\":%lu,\"torn\":%lu,\"forks\":%lu,"
	    "\"threads\":%lu,\"crashes\":%lu}\n", counts[1], counts[2],
	    lost[0], lost[1], lost[2], lost[3], events[TARGET_FORK],
	    events[TARGET_THREAD_NEW], events[TARGET_CRASH]);
}

static void
detach(void)
{
	if (main_target == NULL)
		return;
	read_all();
	target_close(main_target);
	main_target = NULL;
	printf("{\"ev\":\"detached\"}\n");
}

/* True: `go`. */
static bool
command(char *line)
{
	char *args = strchr(line, ' ');

	if (args != NULL)
		*args++ = '\0';
	if (strcmp(line, "go") == 0)
		return (true);
	if (strcmp(line, "quit") == 0)
		done = true;
	else if (strcmp(line, "stats") == 0)
		do_stats();
	else if (strcmp(line, "detach") == 0)
		detach();
	else if (strcmp(line, "read") == 0)
		read_all();
	else if (args == NULL || main_target == NULL)
		printf("{\"ev\":\"error\",\"why\":\"%s\"}\n", line);
	else if (strcmp(line, "probe") == 0)
		do_probe(args);
	else if (strcmp(line, "probeall") == 0)
		do_probeall(args);
	else if (strcmp(line, "unprobe") == 0)
		do_unprobe(args, false);
	else if (strcmp(line, "unprobeall") == 0)
		do_unprobe(args, true);
	else if (strcmp(line, "bytes") == 0)
		do_bytes(args);
	else if (strcmp(line, "quiet") == 0)
		quiet = args[0] == '1';
	else if (strcmp(line, "signal") == 0)
		(void)kill(target_pid(main_target), (int)strtol(args, NULL, 0));
	else if (strcmp(line, "skipped") == 0)
		printf("{\"ev\":\"skipped\",\"n\":%lu}\n", target_skipped(
		    main_target, (uint32_t)strtoul(args, NULL, 0)));
	else if (strcmp(line, "wait") == 0)
		do_wait(strtoull(args, NULL, 0));
	else if (strcmp(line, "nap") == 0)
		(void)usleep((useconds_t)strtoul(args, NULL, 0) * 1000);
	fflush(stdout);
	return (false);
}

static char input[1 << 16];
static size_t have;

/* A whole line that has come in, without its newline; NULL: none yet. */
static char *
next_line(void)
{
	static char line[sizeof(input)];
	char *nl = memchr(input, '\n', have);

	if (nl == NULL)
		return (NULL);
	*nl = '\0';
	memcpy(line, input, (size_t)(nl - input) + 1);
	have -= (size_t)(nl - input) + 1;
	memmove(input, nl + 1, have);
	return (line);
}

static void
commands(bool until_go)
{
	struct pollfd p[2] = { { .fd = 0, .events = POLLIN },
	    { .fd = target_fd(), .events = POLLIN } };
	char *line;
	ssize_t n;

	while (!done) {
		while (!done && (line = next_line()) != NULL)
			if (command(line) && until_go)
				return;
		(void)poll(p, 2, TICK_MS);
		if (p[0].revents != 0) {
			n = read(0, input + have, sizeof(input) - have - 1);
			if (n <= 0)
				return;
			have += (size_t)n;
		}
		if (!until_go)
			tick(0);
		fflush(stdout);
	}
}

/* --- */

static pid_t
launch(char *argv[], int *go_fd)
{
	char c;
	int p[2];
	pid_t pid;

	if (pipe(p) < 0)
		err(1, "pipe");
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		(void)close(p[1]);
		(void)!read(p[0], &c, 1);
		(void)close(p[0]);
		(void)close(0);
		(void)open("/dev/null", O_RDONLY);
		(void)dup2(2, 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	(void)close(p[0]);
	*go_fd = p[1];
	return (pid);
}

int
main(int argc, char *argv[])
{
	struct target_options o = { .on_event = on_event };
	char why[TARGET_WHY] = "";
	pid_t pid = 0;
	int ch, go_fd = -1;

	while ((ch = getopt(argc, argv, "+fp:r:")) != -1) {
		if (ch == 'f')
			o.follow_fork = follow = true;
		else if (ch == 'p')
			pid = (pid_t)strtol(optarg, NULL, 10);
		else if (ch == 'r')
			o.ring = strtoul(optarg, NULL, 0);
		else
			return (2);
	}
	if (pid == 0 && optind < argc)
		pid = launch(argv + optind, &go_fd);
	main_target = target_open(pid, &o, why);
	if (main_target == NULL) {
		printf("{\"ev\":\"refused\",\"why\":\"%s\"}\n", why);
		if (go_fd >= 0)
			(void)kill(pid, SIGKILL);
		return (1);
	}
	printf("{\"ev\":\"attached\",\"pid\":%d}\n", (int)pid);
	fflush(stdout);
	if (go_fd >= 0) {
		held = true;
		(void)!write(go_fd, "", 1);
		while (held && target_alive(main_target))
			tick(TICK_MS);
	}
	commands(false);
	if (main_target != NULL && go_fd >= 0)
		(void)kill(pid, SIGKILL);
	detach();
	fflush(stdout);
	return (0);
}
