/* SPDX-License-Identifier: ISC */
/* links: tracer/engine/ -lZydis */
/*
 * Children that are born in the middle of an installation: a file stands for
 * what the child's memory was at that time, and the parent has gone on.
 */
#include <sys/mman.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tracer/engine/proc.h"

#define CODE 0x1000UL
#define STUBS 0x2000UL /* an area that was there before */
#define LATER 0x4000UL /* an area that is new */
#define AGENT 0x10000UL
#define CHUNK 0x8000UL
#define PROBES 4
#define OLD 2 /* of them were there before */

/* the agent's place alone is looked at */
const uint8_t agent_blob[64] = {0}, agent_blob_end[1] = {0};
const uint8_t agent_blob_plain[64] = {0}, agent_blob_plain_end[1] = {0};

static struct target parent, child;
static struct probe probes[2][PROBES];
static struct agent_home home;

/* Steps of the parent, in this order; the child is born before one. */
enum { HEAD, NUMBER, JUMPS, ALL };

static void
put(uint64_t addr, const void *bytes, size_t len)
{
	assert_int_equal(
	    pwrite(child.mem_fd, bytes, len, (off_t)addr), (ssize_t)len);
}

static void
put_jump(const struct probe *p)
{
	uint8_t bytes[ARCH_JUMP];

	arch_jump(p->addr, p->stub.addr, bytes);
	put(p->addr, bytes, sizeof(bytes));
}

static struct area *
area(uint64_t addr, struct area *next)
{
	struct area *a = calloc(1, sizeof(*a));

	assert_non_null(a);
	a->addr = addr;
	a->next = next;
	return (a);
}

/* The child's memory when so many steps had been made. */
static void
born(int steps)
{
	uint8_t head[ARCH_HEAD], nothing[ARCH_HEAD] = {0};
	int i;

	memset(&parent, 0, sizeof(parent));
	memset(probes, 0, sizeof(probes));
	memset(&home, 0, sizeof(home));
	child = parent;
	child.mem_fd = memfd_create("memory", MFD_CLOEXEC);
	assert_true(child.mem_fd >= 0);
	assert_int_equal(ftruncate(child.mem_fd, 0x20000), 0);
	parent.agent = AGENT;
	parent.nprobes = child.nprobes = PROBES;
	parent.chunks[0] = child.chunks[0] = home.chunks[0] = CHUNK;
	for (i = 0; i < PROBES; i++)
		probes[0][i] = (struct probe){.addr = CODE + 64UL * (unsigned)i,
		    .stub = {.addr = (i < OLD ? STUBS : LATER) + ARCH_HEAD +
				     64UL * (unsigned)i},
		    .built = true,
		    .on = true};
	memcpy(probes[1], probes[0], sizeof(probes[0]));
	parent.probes = probes[0];
	child.probes = probes[1];
	child.areas = area(LATER, area(STUBS, NULL));
	arch_head(AGENT, head);
	put(STUBS, head, sizeof(head));
	put(LATER, steps > HEAD ? head : nothing, sizeof(head));
	home.nprobes = steps > NUMBER ? PROBES : OLD;
	put(AGENT + AGENT_CODE, &home, sizeof(home));
	for (i = 0; i < (steps > JUMPS ? PROBES : OLD); i++)
		put_jump(&probes[1][i]);
}

static void
gone(void)
{
	struct area *a;

	while ((a = child.areas) != NULL) {
		child.areas = a->next;
		free(a);
	}
	assert_int_equal(close(child.mem_fd), 0);
}

/* Probes below `old` are on; the others have stubs, or must get new ones. */
static void
found(bool stubs, bool on)
{
	int i;

	for (i = 0; i < PROBES; i++) {
		assert_int_equal(child.probes[i].on, i < OLD || on);
		assert_int_equal(child.probes[i].built, i < OLD || stubs);
	}
}

static void
an_area_whose_head_is_missing_is_not_kept(void **state)
{
	(void)state;
	born(HEAD);
	assert_false(probes_found(&child, &parent));
	found(false, false);
	assert_int_equal(child.areas->addr, STUBS);
	assert_null(child.areas->next);
	gone();
}

static void
stubs_of_probes_that_were_not_counted_are_made_anew(void **state)
{
	(void)state;
	born(NUMBER);
	assert_false(probes_found(&child, &parent));
	found(false, false);
	assert_int_equal(child.areas->addr, LATER);
	gone();
}

static void
jumps_that_are_missing_lead_to_stubs_that_are_there(void **state)
{
	(void)state;
	born(JUMPS);
	assert_false(probes_found(&child, &parent));
	found(true, false);
	gone();
}

static void
all_of_an_installation_is_kept(void **state)
{
	(void)state;
	born(ALL);
	assert_true(probes_found(&child, &parent));
	found(true, true);
	gone();
}

static void
a_chunk_that_the_child_does_not_know_is_not_used(void **state)
{
	(void)state;
	born(JUMPS);
	parent.chunks[0] = child.chunks[0] = CHUNK + 0x1000;
	assert_false(probes_found(&child, &parent));
	found(false, false);
	assert_int_equal(child.chunks[0], 0);
	gone();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_area_whose_head_is_missing_is_not_kept),
	    cmocka_unit_test(
		stubs_of_probes_that_were_not_counted_are_made_anew),
	    cmocka_unit_test(
		jumps_that_are_missing_lead_to_stubs_that_are_there),
	    cmocka_unit_test(all_of_an_installation_is_kept),
	    cmocka_unit_test(a_chunk_that_the_child_does_not_know_is_not_used),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
