/* SPDX-License-Identifier: ISC */
/* The agent's memory in a target: made, adopted, given to threads. */
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "maps.h"
#include "proc.h"
#include "thread.h"

#define PAGE		4096UL
#define BUDGET_MS	100	/* window of budgets */
#define AREA_LEN	0x40000UL	/* for about three thousand stubs */
#define DATA_LEN	0x20000UL
#define MEMFD_NAME	"dl-agent"
#define NOEXEC_SEAL	8	/* MFD_NOEXEC_SEAL, Linux 6.3 */
#define WIPEONFORK	18

#define HOME(t)		((t)->agent + AGENT_CODE)
#define LIVE(t)		(HOME(t) + AGENT_HOME)
#define CONTROL(t)	(LIVE(t) + AGENT_LIVE)

static bool
failed(int64_t r)
{
	return (r < 0 && r > -4096);
}

uint64_t
remote_map(struct target *t, struct thread *th, uint64_t addr, uint64_t len,
    int prot, int flags, int64_t fd, uint64_t off)
{
	uint64_t a[6] = { addr, len, (uint64_t)prot, (uint64_t)flags,
	    (uint64_t)fd, off };
	int64_t r = remote(t, th, SYS_mmap, a);

	return (failed(r) ? 0 : (uint64_t)r);
}

/*
 * Whether what the target has under that number is a memfd of no length yet.
 * Another of its threads may have put something else there, which must not
 * even be opened: it would be with this process's rights.
 */
static bool
is_fresh(int path_fd)
{
	static dev_t memfds;
	struct stat st;
	int fd;

	if (memfds == 0) {
		fd = memfd_create(MEMFD_NAME, MFD_CLOEXEC);
		if (fd < 0 || fstat(fd, &st) < 0)
			memset(&st, 0, sizeof(st));
		if (fd >= 0)
			(void)close(fd);
		memfds = st.st_dev;
	}
	return (fstat(path_fd, &st) == 0 && memfds != 0 &&
	    S_ISREG(st.st_mode) && st.st_dev == memfds && st.st_size == 0);
}

static int
open_theirs(pid_t pid, int number)
{
	char path[64];
	int path_fd, fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, number);
	path_fd = open(path, O_PATH | O_CLOEXEC);
	if (path_fd < 0)
		return (-1);
	if (is_fresh(path_fd)) {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d",
		    path_fd);
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	(void)close(path_fd);
	return (fd);
}

/*
 * Checks a memfd's size: a process that shares the target's fds is not stopped,
 * and may have cut the memfd before it was sealed.
 */
static bool
has_size(int fd, size_t len)
{
	struct stat st;

	return (fstat(fd, &st) == 0 && st.st_size == (off_t)len);
}

/*
 * A memfd that the target has as well; it cannot be cut short under the
 * reader.  Both fds are the caller's to close.
 */
bool
memfd_make(struct target *t, struct thread *th, size_t len, int *local_fd,
    int *remote_fd)
{
	uint64_t a[6] = { HOME(t) + offsetof(struct agent_home, name),
	    MFD_CLOEXEC | MFD_ALLOW_SEALING | NOEXEC_SEAL, 0, 0, 0, 0 };
	int64_t r;

	r = remote(t, th, SYS_memfd_create, a);
	if (r == -EINVAL) {
		a[1] &= ~(uint64_t)NOEXEC_SEAL;
		r = remote(t, th, SYS_memfd_create, a);
	}
	if (failed(r))
		return (false);
	*remote_fd = (int)r;
	*local_fd = open_theirs(th->tid, *remote_fd);
	if (*local_fd >= 0 && ftruncate(*local_fd, (off_t)len) == 0 &&
	    fcntl(*local_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW |
	    F_SEAL_SEAL) == 0 && has_size(*local_fd, len))
		return (true);
	if (*local_fd >= 0)
		(void)close(*local_fd);
	a[0] = (uint64_t)r;
	(void)remote(t, th, SYS_close, a);
	return (false);
}

static void
remote_close(struct target *t, struct thread *th, int fd)
{
	uint64_t a[6] = { (uint64_t)fd, 0, 0, 0, 0, 0 };

	(void)remote(t, th, SYS_close, a);
}

/* Shared memory at that address of the target (0: anywhere), and here. */
static bool
share(struct target *t, struct thread *th, uint64_t *addr, size_t len,
    int prot, void **view)
{
	int local_fd, remote_fd;

	if (!memfd_make(t, th, len, &local_fd, &remote_fd))
		return (false);
	*view = mmap(NULL, len, prot, MAP_SHARED, local_fd, 0);
	(void)close(local_fd);
	if (*view == MAP_FAILED) {
		remote_close(t, th, remote_fd);
		return (false);
	}
	*addr = remote_map(t, th, *addr, len, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_NORESERVE | (*addr != 0 ? MAP_FIXED : 0),
	    remote_fd, 0);
	remote_close(t, th, remote_fd);
	if (*addr == 0)
		(void)munmap(*view, len);
	return (*addr != 0);
}

static bool
control_make(struct target *t, struct thread *th)
{
	uint64_t addr = CONTROL(t);
	void *view;

	if (!share(t, th, &addr, AGENT_CONTROL, PROT_READ | PROT_WRITE,
	    &view))
		return (false);
	t->control = view;
	t->control->coarse_tsc = arch_clock();
	t->strangers = 0;
	return (exit_notice_set(t->control));
}

static bool
live_set(struct target *t, uint64_t live)
{
	return (mem_write(t, LIVE(t), &live, sizeof(live)));
}

/* --- states and rings ----------------------------------------------------- */

static bool
block_add(struct target *t, void *view, size_t len)
{
	struct block *b;

	b = malloc(sizeof(*b));
	if (b == NULL)
		return (false);
	b->view = view;
	b->len = len;
	b->next = t->blocks;
	t->blocks = b;
	return (true);
}

/* A tracer that comes later finds them. */
static void
block_note(struct target *t, uint64_t states, uint64_t rings)
{
	const uint64_t b[] = { states, rings, t->opt.ring };

	_Static_assert(sizeof(((struct agent_home *)0)->blocks[0]) ==
	    sizeof(b), "a format");
	(void)mem_write(t, HOME(t) + offsetof(struct agent_home, blocks) +
	    t->nslots / AGENT_BLOCK * sizeof(b), b, sizeof(b));
}

static void
slots_add(struct target *t, uint64_t states, uint64_t rings, const void *view,
    bool used)
{
	size_t size = t->opt.ring;
	uint32_t i;

	for (i = 0; i < AGENT_BLOCK; i++) {
		struct slot *s = &t->slots[t->nslots++];

		s->state = states + i * AGENT_STATE;
		s->ring = rings + i * size;
		s->view = (const uint8_t *)view + i * size;
		s->used = used;
	}
}

static bool
slots_ready(struct target *t, struct thread *th)
{
	const size_t n = AGENT_BLOCK, size = t->opt.ring;
	uint64_t rings = 0, states;
	void *view;

	if (t->nslots + n > AGENT_THREADS)
		return (false);
	/* the rings first: it is they that may be too large */
	if (!share(t, th, &rings, n * size, PROT_READ, &view))
		return (false);
	states = remote_map(t, th, 0, n * AGENT_STATE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (states == 0 || !block_add(t, view, n * size)) {
		(void)munmap(view, n * size);
		return (false);
	}
	block_note(t, states, rings);
	slots_add(t, states, rings, view, false);
	return (true);
}

static int
slot_free(struct target *t, struct thread *th)
{
	uint32_t i;

	for (i = 0; i < t->nslots; i++)
		if (t->slots[i].tid == 0)
			return ((int)i);
	return (slots_ready(t, th) ? (int)i : -1);
}

/* Clears the open calls that the last thread has left in a state. */
static bool
state_wipe(struct target *t, const struct slot *s)
{
	static const struct agent_frame none[AGENT_FRAMES + AGENT_SPARE];
	struct agent_state head;
	size_t n;

	if (!mem_read(t, s->state, &head, offsetof(struct agent_state,
	    frames)))
		return (false);
	n = head.depth < AGENT_FRAMES ? head.depth + AGENT_SPARE :
	    AGENT_FRAMES + AGENT_SPARE;
	return (mem_write(t, s->state + offsetof(struct agent_state, frames),
	    none, n * sizeof(none[0])));
}

static bool
state_write(struct target *t, const struct slot *s, uint32_t n, uint64_t at)
{
	struct agent_state st;

	memset(&st, 0, offsetof(struct agent_state, frames));
	st.self = s->state;
	st.alt_top = s->state + offsetof(struct agent_state, alt) +
	    sizeof(st.alt);
	st.ring = s->ring;
	st.mask = t->opt.ring - 1;
	st.head = at;
	st.shared = CONTROL(t) + offsetof(struct agent_control, slots) +
	    n * sizeof(struct agent_slot);
	st.slot = n;
	return (mem_write(t, s->state, &st,
	    offsetof(struct agent_state, frames)));
}

/* It would take for its own what its maker has, before that has called. */
static void
slot_deny(struct target *t, struct thread *th)
{
	struct arch_regs r;
	struct agent_state st;

	if (!regs_get(th, &r) || arch_state(&r) == 0 ||
	    !mem_read(t, arch_state(&r), &st, offsetof(struct agent_state,
	    frames)) || st.self != arch_state(&r))
		return;
	arch_set_state(&r, 0);
	(void)regs_set(th, &r);
}

void
slot_assign(struct target *t, struct thread *th)
{
	struct arch_regs r;
	struct slot *s;
	uint64_t at = 0;
	int n;

	if (!t->injected || th->slot >= 0 || th->vfork)
		return;
	n = slot_free(t, th);
	if (n < 0) {
		slot_deny(t, th);
		return;
	}
	s = &t->slots[n];
	if (s->used && !state_wipe(t, s))
		return;
	if (s->reader != NULL) {
		ring_reader_forget(s->reader);
		at = ring_tail(s->reader);
	} else
		s->reader = ring_reader_new(s->view, t->opt.ring, 0);
	if (s->reader == NULL || !state_write(t, s, (uint32_t)n, at) ||
	    !regs_get(th, &r))
		return;
	/* what it has from its maker is the maker's */
	arch_set_state(&r, s->state);
	if (!regs_set(th, &r))
		return;
	s->tid = th->tid;
	s->named = 0;
	s->gone = false;
	s->used = true;
	th->slot = n;
}

void
slot_release(struct target *t, struct thread *th)
{
	if (th->slot >= 0)
		t->slots[th->slot].gone = true;
	th->slot = -1;
}

/* --- the first time ------------------------------------------------------- */

/* A system call can be made where three bytes of the program are ours. */
static bool
gadget_poke(struct target *t, uint64_t entry)
{
	uint8_t insns[ARCH_GADGET] = { 0 };

	arch_gadget(insns);
	t->gadget = entry;
	return (mem_read(t, entry, t->poked, sizeof(insns)) &&
	    mem_write(t, entry, insns, sizeof(insns)));
}

static void
gadget_own(struct target *t)
{
	struct agent_header h;
	size_t len;

	memcpy(&h, arch_agent(&len), sizeof(h));
	t->gadget = t->agent + h.gadget;
}

static bool
blob_write(struct target *t)
{
	size_t len;
	const uint8_t *blob = arch_agent(&len);
	struct agent_home home;

	memset(&home, 0, sizeof(home));
	home.magic = AGENT_MAGIC;
	home.version = AGENT_VERSION;
	home.window = clock_ticks(BUDGET_MS);
	memcpy(home.name, MEMFD_NAME, sizeof(MEMFD_NAME));
	return (mem_write(t, t->agent, blob, len) &&
	    mem_write(t, HOME(t), &home, sizeof(home)));
}

static bool
map_agent(struct target *t, struct thread *th)
{
	uint64_t a[6] = { 0, AGENT_LIVE, WIPEONFORK, 0, 0, 0 }, base;
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;

	base = remote_map(t, th, 0, AGENT_SIZE, PROT_NONE, flags, -1, 0);
	if (base == 0)
		return (false);
	if (remote_map(t, th, base, AGENT_CODE, PROT_READ | PROT_EXEC,
	    flags | MAP_FIXED, -1, 0) == 0 ||
	    remote_map(t, th, base + AGENT_CODE, AGENT_HOME + AGENT_LIVE,
	    PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1, 0) == 0)
		return (false);
	t->agent = base;
	a[0] = LIVE(t);
	return (!failed(remote(t, th, SYS_madvise, a)));
}

static bool
make(struct target *t, struct thread *th)
{
	bool ok;

	if (!gadget_poke(t, t->entry))
		return (false);
	ok = map_agent(t, th) && blob_write(t);
	(void)mem_write(t, t->entry, t->poked, ARCH_GADGET);
	if (!ok) {
		t->agent = t->gadget = 0;
		return (false);
	}
	gadget_own(t);
	return (true);
}

/* --- another time --------------------------------------------------------- */

/* An agent that an engine has left: where, 0 if there is none. */
static uint64_t
find(struct target *t)
{
	struct agent_home home;
	uint8_t there[AGENT_CODE];
	const uint8_t *blob;
	struct maps ms;
	uint64_t base, found = 0;
	size_t i, len;

	blob = arch_agent(&len);
	if (!maps_read(t->pid, &ms))
		return (0);
	for (i = 0; i < ms.n && found == 0; i++) {
		base = ms.v[i].lo - (AGENT_SIZE - AGENT_CONTROL);
		if (ms.v[i].agent && mem_read(t, base, there, len) &&
		    memcmp(there, blob, len) == 0 &&
		    mem_read(t, base + AGENT_CODE, &home, sizeof(home)) &&
		    home.magic == AGENT_MAGIC &&
		    home.version == AGENT_VERSION)
			found = base;
	}
	maps_free(&ms);
	return (found);
}

/* Restores code that an engine that was killed has left patched. */
static void
unpatch(struct target *t, uint64_t chunk, uint32_t n)
{
	struct agent_probe p[AGENT_CHUNK];
	uint8_t there[ARCH_JUMP];
	uint32_t i;

	if (!mem_read(t, chunk, p, sizeof(p)))
		return;
	for (i = 0; i < n && i < AGENT_CHUNK; i++)
		if (p[i].orig_len != 0 && p[i].orig_len <= ARCH_JUMP &&
		    mem_read(t, p[i].addr, there, sizeof(there)) &&
		    arch_is_jump(there))
			(void)mem_write(t, p[i].addr, p[i].orig,
			    p[i].orig_len);
}

/* Whether that is memory of the program's own, of the agent's kind. */
static bool
is_private(const struct maps *ms, uint64_t lo, uint64_t len, bool exec)
{
	const struct map *m = maps_at(ms, lo);

	return (m != NULL && m->hi - lo >= len && !m->shared && m->read &&
	    m->inode == 0 && m->exec == exec && m->write == !exec);
}

/* Stubs of the last tracer's stay, and there is room behind them. */
static void
adopt_areas(struct target *t, const struct agent_home *home)
{
	struct area *a;
	struct maps ms;
	uint32_t i;

	if (!maps_read(t->pid, &ms)) {
		maps_free(&ms);
		return;
	}
	for (i = 0; i < AGENT_AREAS && home->areas[i].addr != 0; i++) {
		if (!is_private(&ms, home->areas[i].addr, AREA_LEN, true) ||
		    home->areas[i].used < ARCH_HEAD ||
		    home->areas[i].used > AREA_LEN ||
		    !area_ready(t, home->areas[i].addr, t->agent) ||
		    (a = calloc(1, sizeof(*a))) == NULL)
			continue;
		a->addr = home->areas[i].addr;
		a->used = home->areas[i].used;
		a->size = AREA_LEN;
		a->next = t->areas;
		t->areas = a;
	}
	if (home->data_left <= DATA_LEN && home->data != 0 &&
	    is_private(&ms, home->data, home->data_left, false)) {
		t->data = home->data;
		t->data_left = home->data_left;
	}
	maps_free(&ms);
}

/* Before anything leads to what has been put there. */
void
areas_note(struct target *t)
{
	struct agent_home home;
	const size_t from = offsetof(struct agent_home, areas);
	const struct area *a;
	uint32_t i = 0;

	memset(&home, 0, sizeof(home));
	for (a = t->areas; a != NULL && i < AGENT_AREAS; a = a->next) {
		home.areas[i].addr = a->addr;
		home.areas[i++].used = a->used;
	}
	home.data = t->data;
	home.data_left = t->data_left;
	(void)mem_write(t, HOME(t) + from, (const uint8_t *)&home + from,
	    sizeof(home) - from);
}

/*
 * Frames of its threads may still wait to return, so the old probes keep
 * their indices, and states stay where %gs says.
 */
static bool
adopt_home(struct target *t)
{
	struct agent_home home;
	uint32_t i;

	if (!mem_read(t, HOME(t), &home, sizeof(home)) ||
	    home.nprobes > AGENT_CHUNKS * AGENT_CHUNK)
		return (false);
	for (i = 0; i * AGENT_CHUNK < home.nprobes; i++) {
		t->chunks[i] = home.chunks[i];
		unpatch(t, home.chunks[i], home.nprobes - i * AGENT_CHUNK);
	}
	t->nprobes = home.nprobes;
	adopt_areas(t, &home);
	t->room = t->nprobes;
	t->probes = calloc(t->room + 1UL, sizeof(*t->probes));
	return (t->probes != NULL);
}

/* The slot that has this state, or one that can be given it. */
static int
slot_with(struct target *t, struct thread *th, uint64_t state)
{
	uint32_t i;

	for (i = 0; i < t->nslots; i++)
		if (t->slots[i].state == state)
			return (t->slots[i].tid == 0 ? (int)i : -1);
	return (slot_free(t, th));
}

static void
adopt_thread(struct target *t, struct thread *th, struct agent_state st)
{
	struct slot *s;
	int n;

	n = slot_with(t, th, st.self);
	if (n < 0)
		return;
	s = &t->slots[n];
	s->state = st.self;
	s->reader = ring_reader_new(s->view, t->opt.ring, st.head);
	if (s->reader == NULL)
		return;
	t->control->slots[n].tail = st.head;
	t->control->slots[n].head = st.head;
	st.ring = s->ring;
	st.mask = t->opt.ring - 1;
	st.shared = CONTROL(t) + offsetof(struct agent_control, slots) +
	    (uint64_t)n * sizeof(struct agent_slot);
	st.slot = (uint32_t)n;
	/* this reader has not read of any call that is open */
	st.since = st.head;
	st.top = UINT64_MAX;
	if (!mem_write(t, s->state, &st, offsetof(struct agent_state,
	    frames)))
		return;
	s->tid = th->tid;
	s->used = true;
	th->slot = n;
}

/* The word by which the agent tells the thread from others; 0: none. */
static uint64_t
thread_key(struct target *t, const struct arch_regs *r)
{
	uint64_t base = arch_tls(r), word;

	if (arch_reads_bases())
		return (base);
	return (base != 0 && mem_read(t, base, &word, sizeof(word)) ? word : 0);
}

/* State of a thread: none, its own, or %gs is not ours. */
enum { STATE_NONE, STATE_OWN, STATE_OTHER };

static int
state_read(struct target *t, const struct thread *th, struct agent_state *st)
{
	struct arch_regs r;
	uint64_t key;

	if (!regs_get(th, &r))
		return (STATE_OTHER);
	if (arch_state(&r) == 0)
		return (STATE_NONE);
	if (!mem_read(t, arch_state(&r), st, offsetof(struct agent_state,
	    frames)) || st->self != arch_state(&r))
		return (STATE_OTHER);
	/* as long as nobody has called, those that it has made have it, too */
	key = thread_key(t, &r);
	if (st->fs == 0)
		st->fs = key;
	return (st->fs == key ? STATE_OWN : STATE_NONE);
}

/*
 * Leaves threads alone whose %gs is neither empty nor ours.  Threads that have
 * a state come first: a slot that is free after them belongs to no thread.
 */
static void
give_slots(struct target *t)
{
	struct agent_state st;
	struct thread *th;
	bool own = true;
	int has;

	do {
		for (th = t->threads; th != NULL; th = th->next) {
			if (th->stop == STOP_NONE || th->dead ||
			    !thread_settle(t, th))
				continue;
			has = state_read(t, th, &st);
			if (own && has == STATE_OWN)
				adopt_thread(t, th, st);
			else if (!own && has == STATE_NONE)
				slot_assign(t, th);
		}
		own = !own;
	} while (!own);
}

/* A state could be in use by one that is not. */
static bool
all_settled(struct target *t)
{
	struct thread *th;

	for (th = t->threads; th != NULL; th = th->next)
		if (!th->dead && (th->vfork || th->stop == STOP_NONE ||
		    !thread_settle(t, th)))
			return (false);
	return (true);
}

static bool
adopt_block(struct target *t, struct thread *th, const struct maps *ms,
    uint64_t states, uint64_t rings)
{
	const struct map *m = maps_at(ms, rings);
	size_t len = AGENT_BLOCK * t->opt.ring;
	void *view;

	if (m == NULL || !m->agent || m->lo != rings || m->hi - rings != len ||
	    !is_private(ms, states, AGENT_BLOCK * AGENT_STATE, false) ||
	    !share(t, th, &rings, len, PROT_READ, &view))
		return (false);
	if (!block_add(t, view, len)) {
		(void)munmap(view, len);
		return (false);
	}
	slots_add(t, states, rings, view, true);
	return (true);
}

/* The last tracer's memory, so that each has not its own; only its views of
 * rings are new. */
static void
adopt_blocks(struct target *t, struct thread *th)
{
	struct agent_home home;
	struct maps ms;
	size_t size, usual = t->opt.ring;
	uint32_t i;

	if (!all_settled(t) || !mem_read(t, HOME(t), &home, sizeof(home)))
		return;
	size = home.blocks[0].size;
	if (size < RING_LEAST || size > t->opt.ring ||
	    (size & (size - 1)) != 0)
		return;
	if (maps_read(t->pid, &ms)) {
		t->opt.ring = size;
		for (i = 0; i < AGENT_THREADS / AGENT_BLOCK &&
		    home.blocks[i].size == size; i++)
			if (!adopt_block(t, th, &ms, home.blocks[i].states,
			    home.blocks[i].rings))
				break;
	}
	maps_free(&ms);
	if (t->nslots == 0)
		t->opt.ring = usual;
}

/* A program whose memory is limited gets by with smaller rings. */
static bool
first_slots(struct target *t, struct thread *th)
{
	adopt_blocks(t, th);
	if (t->nslots > 0)
		return (true);
	while (!slots_ready(t, th)) {
		if (t->opt.ring <= RING_LEAST)
			return (false);
		t->opt.ring /= 2;
	}
	return (true);
}

bool
inject(struct target *t, struct thread *th, char why[TARGET_WHY])
{
	t->agent = find(t);
	if (t->agent != 0)
		gadget_own(t);
	if (t->agent == 0 ? !make(t, th) : !adopt_home(t)) {
		(void)snprintf(why, TARGET_WHY, "no agent can be put into "
		    "process %d: its system call filter or its memory limit "
		    "may forbid it", (int)t->pid);
		return (false);
	}
	if (!control_make(t, th) || !first_slots(t, th)) {
		(void)snprintf(why, TARGET_WHY, "no memory can be shared with "
		    "process %d: its system call filter, its memory limit or "
		    "its being undumpable may forbid it", (int)t->pid);
		return (false);
	}
	t->injected = true;
	give_slots(t);
	if (th->slot < 0 && t->slots[0].tid == 0) {
		(void)snprintf(why, TARGET_WHY, "process %d uses the gs "
		    "register itself, which the agent needs", (int)t->pid);
		return (false);
	}
	return (live_set(t, 1));
}

/* --- forks ---------------------------------------------------------------- */

static bool
share_again(struct target *child, struct thread *th, const struct target *p)
{
	uint32_t i, n, first = 0;
	uint64_t at;
	size_t len;
	void *view;

	/* the same runs that slots_ready() has made */
	for (i = 1; i <= p->nslots; i++) {
		if (i < p->nslots && p->slots[i].ring ==
		    p->slots[i - 1].ring + p->opt.ring &&
		    (const uint8_t *)p->slots[i].view ==
		    (const uint8_t *)p->slots[i - 1].view + p->opt.ring &&
		    i - first < AGENT_BLOCK)
			continue;
		at = p->slots[first].ring;
		len = (i - first) * p->opt.ring;
		if (!share(child, th, &at, len, PROT_READ, &view) ||
		    !block_add(child, view, len))
			return (false);
		for (n = first; n < i; n++) {
			child->slots[n].state = p->slots[n].state;
			child->slots[n].ring = p->slots[n].ring;
			child->slots[n].view = (const uint8_t *)view +
			    (n - first) * p->opt.ring;
			child->slots[n].used = true;
		}
		first = i;
	}
	child->nslots = p->nslots;
	return (true);
}

/* The child's memory is the parent's but for what is shared: that is split. */
bool
inject_fork(struct target *t, struct thread *th, const struct target *p)
{
	t->agent = p->agent;
	gadget_own(t);
	if (!control_make(t, th) || !share_again(t, th, p))
		return (false);
	t->injected = true;
	skipped_forget(t);
	give_slots(t);
	return (live_set(t, 1));
}

void
inject_rest(struct target *t)
{
	if (t->injected)
		(void)live_set(t, 0);
}

/* Only what this process has of it. */
void
inject_forget(struct target *t)
{
	struct block *b;
	uint32_t i;

	if (t->control != NULL) {
		exit_notice_clear(t->control);
		(void)munmap(t->control, AGENT_CONTROL);
	}
	t->control = NULL;
	while ((b = t->blocks) != NULL) {
		t->blocks = b->next;
		(void)munmap(b->view, b->len);
		free(b);
	}
	for (i = 0; i < t->nslots; i++)
		ring_reader_free(t->slots[i].reader);
	memset(t->slots, 0, AGENT_THREADS * sizeof(*t->slots));
	t->nslots = 0;
	t->injected = false;
	t->agent = t->gadget = 0;
}

/* --- memory near the text ------------------------------------------------- */

struct area *
area_for(struct target *t, struct thread *th, uint64_t lo, uint64_t hi,
    size_t need)
{
	uint8_t head[ARCH_HEAD];
	struct area *a;
	struct maps ms;
	uint64_t at, len = need + ARCH_HEAD < AREA_LEN ? AREA_LEN :
	    (need + ARCH_HEAD + PAGE - 1) & ~(PAGE - 1);

	for (a = t->areas; a != NULL; a = a->next)
		if (a->size - a->used >= need &&
		    (a->addr > lo ? a->addr + a->size - lo : hi - a->addr) <
		    ARCH_REACH)
			return (a);
	if (!maps_read(t->pid, &ms))
		return (NULL);
	at = maps_gap(&ms, lo, hi, len, ARCH_REACH - len);
	maps_free(&ms);
	a = calloc(1, sizeof(*a));
	if (at == 0 || a == NULL)
		goto fail;
	a->addr = remote_map(t, th, at, len, PROT_READ | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	arch_head(t->agent, head);
	/* by the stage of the stubs behind it, so that all of an area has one
	 * order */
	if (a->addr != at ||
	    !stage_put(t, &t->stages[STAGE_STUBS], at, head, sizeof(head)))
		goto fail;
	a->size = len;
	a->used = sizeof(head);
	a->next = t->areas;
	t->areas = a;
	return (a);
fail:
	free(a);
	return (NULL);
}

/* Whether every stub of that area finds the agent. */
bool
area_ready(const struct target *t, uint64_t addr, uint64_t agent)
{
	uint8_t head[ARCH_HEAD], there[ARCH_HEAD];

	arch_head(agent, head);
	return (mem_read(t, addr, there, sizeof(there)) &&
		memcmp(there, head, sizeof(head)) == 0);
}

uint64_t
data_put(struct target *t, struct thread *th, const void *bytes, size_t len)
{
	uint64_t at;

	if (len > t->data_left) {
		t->data = remote_map(t, th, 0, DATA_LEN, PROT_READ |
		    PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		t->data_left = t->data == 0 ? 0 : DATA_LEN;
	}
	if (len > t->data_left || !stage_put(t, &t->stages[STAGE_DATA],
	    t->data, bytes, len))
		return (0);
	at = t->data;
	t->data += len;
	t->data_left -= len;
	return (at);
}

/* --- faults of the agent -------------------------------------------------- */

static bool
is_real_fault(const struct thread *th)
{
	siginfo_t info;

	return (ptrace(PTRACE_GETSIGINFO, th->tid, NULL, &info) == 0 &&
	    (info.si_signo == SIGSEGV || info.si_signo == SIGBUS ||
	    info.si_signo == SIGTRAP) && info.si_code > 0);
}

static void
mend_tsc(struct target *t, struct thread *th, struct arch_regs *r)
{
	uint32_t yes = 1;

	arch_set_clock(r, arch_clock());
	if (th->slot >= 0)
		(void)mem_write(t, t->slots[th->slot].state +
		    offsetof(struct agent_state, no_tsc), &yes, sizeof(yes));
}

/* Whether the thread has met a fault that the agent knows how to survive. */
bool
fault_mend(struct target *t, struct thread *th)
{
	struct arch_regs r;
	struct agent_header h;
	struct agent_fixup f;
	const uint8_t *blob;
	size_t len;
	uint32_t at;

	if (t->agent == 0 || !regs_get(th, &r) || arch_pc(&r) < t->agent ||
	    arch_pc(&r) >= t->agent + AGENT_CODE || !is_real_fault(th))
		return (false);
	blob = arch_agent(&len);
	memcpy(&h, blob, sizeof(h));
	for (at = h.fixups; at + sizeof(f) <= h.fixups_end;
	    at += (uint32_t)sizeof(f)) {
		memcpy(&f, blob + at, sizeof(f));
		if (arch_pc(&r) != t->agent + f.at)
			continue;
		if (f.kind == FIXUP_TSC)
			mend_tsc(t, th, &r);
		else if (f.kind == FIXUP_OBJECTS)
			t->rescan = true;
		arch_set_pc(&r, t->agent + f.to);
		return (regs_set(th, &r));
	}
	return (false);
}
