/* SPDX-License-Identifier: ISC */
/*
 * Hooks that the engine sets for itself: on unwinders, which must find the
 * stack as it was; where an exception has been caught; on functions that return
 * more than once; and on those of libc that inner.c is about.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "maps.h"
#include "objsym.h"
#include "proc.h"

#define TWICE 0x8000U /* not one of the agent's flags */
#define SCANS 0x4000U /* nor this: a runtime that reads its own stacks */
#define TEXT_MOST	(64UL << 20)

static const struct {
	const char *name;
	uint32_t flags;
} known[] = {
	{ "_Unwind_RaiseException", PROBE_UNWINDER },
	{ "_Unwind_Resume", PROBE_UNWINDER },
	{ "_Unwind_Resume_or_Rethrow", PROBE_UNWINDER },
	{ "_Unwind_ForcedUnwind", PROBE_UNWINDER },
	{ "_Unwind_Backtrace", PROBE_UNWINDER },
	{ "_dl_debug_state", PROBE_OBJECTS },
	{ "__cxa_begin_catch", PROBE_CATCH },
	{ "__rust_panic_cleanup", PROBE_CATCH },
	{ "setjmp", TWICE }, { "_setjmp", TWICE }, { "sigsetjmp", TWICE },
	{ "__sigsetjmp", TWICE }, { "savectx", TWICE }, { "vfork", TWICE },
	{ "__vfork", TWICE }, { "__libc_vfork", TWICE },
	{ "getcontext", TWICE }, { "__getcontext", TWICE },
	{ "swapcontext", TWICE }, { "__swapcontext", TWICE }
};

/* Runtimes that look for return addresses on the stack, and why_open. */
static const struct {
	const char *name, *why;
} scanners[] = {
	{ "caml_call_gc",
	    "an OCaml program would not survive it: its runtime finds what is "
	    "in use by return addresses" },
	{ "_ZN2v87Isolate3NewERKNS0_12CreateParamsE",
	    "V8, which runs JavaScript here, would not survive it: it finds "
	    "its frames by return addresses" },
	{ "JNI_CreateJavaVM",
	    "a Java machine would not survive it: it finds its frames by "
	    "return addresses" },
};

/* As newer compilers of Rust have it, with a number in between. */
static const char rust_prefix[] = "_RNvCs";
static const char rust_cleanup[] = "_7___rustc20___rust_panic_cleanup";

struct found {
	struct {
		uint64_t addr, size;
		uint32_t flags;
		uint8_t inner;
		const char *why; /* static; of one that scans */
	} v[256];
	size_t	 n;
};

static bool
is_rust_cleanup(const char *name)
{
	size_t len;

	if (strncmp(name, rust_prefix, sizeof(rust_prefix) - 1) != 0)
		return (false);
	len = strlen(name);
	return (len >= sizeof(rust_cleanup) && strcmp(name + len -
	    (sizeof(rust_cleanup) - 1), rust_cleanup) == 0);
}

static const char *
why_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(scanners) / sizeof(scanners[0]); i++)
		if (strcmp(scanners[i].name, name) == 0)
			return (scanners[i].why);
	return (NULL);
}

static uint32_t
flags_of(const char *name)
{
	size_t i;

	if (is_rust_cleanup(name))
		return (PROBE_CATCH);
	if (why_of(name) != NULL)
		return (SCANS);
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, name) == 0)
			return (known[i].flags);
	return (inner_of(name) != INNER_NONE ? PROBE_INNER : 0);
}

static bool
want(const char *name)
{
	return (flags_of(name) != 0);
}

static void
add(const char *name, uint64_t addr, uint64_t size, void *arg)
{
	struct found *f = arg;
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->v[i].addr == addr)
			return;
	if (f->n == sizeof(f->v) / sizeof(f->v[0]))
		return;
	f->v[f->n].addr = addr;
	f->v[f->n].size = size;
	f->v[f->n].inner = (uint8_t)inner_of(name);
	f->v[f->n].why = why_of(name);
	f->v[f->n++].flags = flags_of(name);
}

static bool
object_new(struct target *t, uint64_t base)
{
	uint64_t *more;
	size_t i;

	for (i = 0; i < t->nobjects; i++)
		if (t->objects[i] == base)
			return (false);
	more = reallocarray(t->objects, t->nobjects + 1, sizeof(*more));
	if (more == NULL)
		return (false);
	t->objects = more;
	t->objects[t->nobjects++] = base;
	return (true);
}

static void
twice_add(struct target *t, uint64_t addr)
{
	uint64_t *more;

	more = reallocarray(t->twice, t->ntwice + 1, sizeof(*more));
	if (more == NULL)
		return;
	t->twice = more;
	t->twice[t->ntwice++] = addr;
}

/*
 * Forgets unmapped objects: if one comes again, perhaps to the same place, it
 * is searched again.
 */
static void
objects_prune(struct target *t, const struct maps *ms)
{
	const struct map *m;
	size_t i, n = 0;

	for (i = 0; i < t->nobjects; i++) {
		m = maps_at(ms, t->objects[i]);
		if (m != NULL && m->lo == t->objects[i])
			t->objects[n++] = t->objects[i];
	}
	t->nobjects = n;
	for (i = n = 0; i < t->ntwice; i++)
		if (maps_at(ms, t->twice[i]) != NULL)
			t->twice[n++] = t->twice[i];
	t->ntwice = n;
}

/* A function of the program's own that only has the name. */
static void
inner_drop(struct found *f)
{
	size_t i, n = 0;

	for (i = 0; i < f->n; i++)
		if (f->v[i].inner == INNER_NONE)
			f->v[n++] = f->v[i];
	f->n = n;
}

static bool
want_other(const char *name)
{
	return (want(name) && inner_of(name) == INNER_NONE);
}

/* Whether the code of that mapping throws exceptions. */
static bool
throws(const struct target *t, const struct map *m)
{
	size_t len = m->hi - m->lo;
	uint8_t *text;
	bool yes;

	if (len > TEXT_MOST)
		len = TEXT_MOST;
	text = malloc(len);
	yes = text == NULL || (mem_read(t, m->lo, text, len) &&
	    arch_throws(text, len));
	free(text);
	return (yes);
}

static void
take_exe(struct target *t, const struct maps *ms, struct found *f)
{
	const struct map *text = maps_at(ms, t->entry), *base;
	struct exe_facts facts;
	size_t i, unwinders = 0;

	if (text == NULL)
		return;
	base = maps_base(ms, text);
	if (!object_new(t, base->lo))
		return;
	if (!objsym_exe(t->pid, base->lo, &facts, want, add, f))
		return;
	/* what a program has of these names beside libc's is its own */
	if (!facts.is_static)
		inner_drop(f);
	objsym_dynamic(t, base->lo, want_other, add, f);
	t->small = facts.go;
	for (i = 0; i < f->n; i++)
		if (f->v[i].flags == PROBE_UNWINDER)
			unwinders++;
	/* an unwinder of its own, and nobody knows where */
	if (!t->small && facts.is_static && unwinders == 0 &&
	    throws(t, text))
		t->blind = true;
}

static void
take_objects(struct target *t, const struct maps *ms, struct found *f)
{
	const struct map *base;
	size_t i;

	for (i = 0; i < ms->n; i++) {
		const struct map *m = &ms->v[i];

		if (!m->exec || m->special || m->inode == 0 || m->agent)
			continue;
		base = maps_base(ms, m);
		if (object_new(t, base->lo))
			objsym_dynamic(t, base->lo, want, add, f);
	}
}

void
hooks_find(struct target *t)
{
	struct found f = { .n = 0 };
	struct maps ms;
	size_t i;

	t->rescan = false;
	if (!maps_read(t->pid, &ms))
		return;
	hooks_lost(t);
	objects_prune(t, &ms);
	take_exe(t, &ms, &f);
	take_objects(t, &ms, &f);
	maps_free(&ms);
	for (i = 0; i < f.n; i++) {
		if (f.v[i].flags == TWICE)
			twice_add(t, f.v[i].addr);
		else if (f.v[i].flags == SCANS)
			t->scans = f.v[i].why;
		else if (!t->small &&
			 !hook_add(t, f.v[i].addr, f.v[i].size, f.v[i].flags,
			     f.v[i].inner) &&
			 f.v[i].flags == PROBE_UNWINDER)
			t->blind = true;
	}
}
