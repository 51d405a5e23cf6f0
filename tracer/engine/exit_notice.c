/* SPDX-License-Identifier: ISC */
/*
 * How agents learn that the engine is gone, even by SIGKILL: each control
 * block has a robust futex of this thread's, and the kernel marks those when
 * the thread dies, before it lets go of what it traces.
 *
 * The list goes through memory that targets can write.  It is never read
 * here; at worst a target keeps another one of the same owner from learning.
 */
#include <sys/syscall.h>

#include <linux/futex.h>
#include <stddef.h>
#include <unistd.h>

#include "proc.h"

#define CONTROLS_MOST	256

static struct robust_list_head head;
static struct agent_control *controls[CONTROLS_MOST];
static size_t ncontrols;

static void
chain(void)
{
	uintptr_t next = (uintptr_t)&head.list;
	size_t i;

	for (i = 0; i < ncontrols; i++) {
		controls[i]->robust = next;
		next = (uintptr_t)&controls[i]->robust;
	}
	head.list.next = (struct robust_list *)next;
	head.futex_offset = (long)offsetof(struct agent_control, owner) -
	    (long)offsetof(struct agent_control, robust);
	(void)syscall(SYS_set_robust_list, &head, sizeof(head));
}

bool
exit_notice_set(struct agent_control *c)
{
	if (ncontrols == CONTROLS_MOST)
		return (false);
	controls[ncontrols++] = c;
	chain();
	__atomic_store_n(&c->owner, (uint32_t)syscall(SYS_gettid),
	    __ATOMIC_RELEASE);
	return (true);
}

void
exit_notice_clear(struct agent_control *c)
{
	size_t i;

	__atomic_store_n(&c->owner, 0, __ATOMIC_RELEASE);
	for (i = 0; i < ncontrols; i++)
		if (controls[i] == c) {
			controls[i] = controls[--ncontrols];
			break;
		}
	chain();
}
