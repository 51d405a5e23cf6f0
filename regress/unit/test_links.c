/* SPDX-License-Identifier: ISC */
/* links: parent/links.c */
/* Links between roles: whose they are, and whose no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/loop.h"
#include "parent/parent.h"
#include "wire/msg_out.h"

const msg_handler msg_handlers[MSG_COUNT];
struct daemon	d;

static enum role absent;	/* who does not run; 0: all do */
static struct {
	enum role to;
	uint32_t  peer, generation;
} given[32];
static size_t	ngiven;

bool
child_runs(enum role role)
{
	return absent == 0 || role != absent;
}

bool
child_send(enum role role, struct msg_out *o, int fd)
{
	assert_true(ngiven < sizeof(given) / sizeof(given[0]));
	assert_int_equal(o->hdr.type, MSG_PEER);
	given[ngiven].to = role;
	memcpy(&given[ngiven].peer, o->payload, sizeof(uint32_t));
	memcpy(&given[ngiven++].generation, o->payload + sizeof(uint32_t),
	    sizeof(uint32_t));
	close(fd);
	return true;
}

/* The generation of a role's link to peer that it was sent last; 0: none. */
static uint32_t
latest(enum role role, enum role peer)
{
	size_t i;

	for (i = ngiven; i > 0; i--)
		if (given[i - 1].to == role && given[i - 1].peer == peer)
			return given[i - 1].generation;
	return 0;
}

static void
both_ends(void **state)
{
	uint32_t gen;

	(void)state;
	ngiven = 0;
	links_make(ROLE_LAUNCHER);
	assert_int_equal(ngiven, 2);
	gen = latest(ROLE_SPAWNER, ROLE_LAUNCHER);
	assert_int_not_equal(gen, 0);
	assert_int_equal(latest(ROLE_LAUNCHER, ROLE_SPAWNER), gen);
	assert_true(link_is(ROLE_SPAWNER, ROLE_LAUNCHER, gen));
	assert_true(link_is(ROLE_LAUNCHER, ROLE_SPAWNER, gen));
	assert_false(link_is(ROLE_NETPROC, ROLE_LAUNCHER, gen));
	assert_false(link_is(ROLE_SPAWNER, ROLE_LAUNCHER, 0));
}

/* Between one launcher's end and the next one's link nobody is accused. */
static void
of_the_dead(void **state)
{
	uint32_t gen, idproc, next;

	(void)state;
	ngiven = 0;
	links_make(ROLE_SPAWNER);
	gen = latest(ROLE_SPAWNER, ROLE_LAUNCHER);
	idproc = latest(ROLE_SPAWNER, ROLE_IDPROC);
	assert_true(link_is(ROLE_SPAWNER, ROLE_LAUNCHER, gen));
	links_end(ROLE_LAUNCHER);
	assert_false(link_is(ROLE_SPAWNER, ROLE_LAUNCHER, gen));
	/* the others are as they were */
	assert_true(link_is(ROLE_SPAWNER, ROLE_IDPROC, idproc));
	links_make(ROLE_LAUNCHER);
	next = latest(ROLE_SPAWNER, ROLE_LAUNCHER);
	assert_int_not_equal(next, gen);
	assert_int_equal(latest(ROLE_LAUNCHER, ROLE_SPAWNER), next);
	assert_true(link_is(ROLE_SPAWNER, ROLE_LAUNCHER, next));
	assert_false(link_is(ROLE_SPAWNER, ROLE_LAUNCHER, gen));
}

static void
one_is_not_there(void **state)
{
	(void)state;
	ngiven = 0;
	absent = ROLE_TLSPROC;
	links_make(ROLE_NETPROC);
	assert_int_equal(latest(ROLE_NETPROC, ROLE_TLSPROC), 0);
	assert_int_not_equal(latest(ROLE_NETPROC, ROLE_SPAWNER), 0);
	absent = 0;
	links_make(ROLE_TLSPROC);
	assert_int_not_equal(latest(ROLE_NETPROC, ROLE_TLSPROC), 0);
	ngiven = 0;
	d.stopping = true;
	links_make(ROLE_NETPROC);
	assert_int_equal(ngiven, 0);
	d.stopping = false;
}

static int
tear_down(void **state)
{
	(void)state;
	loop_end();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ends), cmocka_unit_test(of_the_dead),
		cmocka_unit_test(one_is_not_there),
	};

	if (loop_init() == -1)
		return (1);
	return (cmocka_run_group_tests(tests, NULL, tear_down));
}
