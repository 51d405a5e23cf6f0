/* SPDX-License-Identifier: ISC */
/* links: parent/plan.c */
/*
 * Plans that setup sends to the parent: a plan that is whole takes the place of
 * the one in force; a plan that is not changes nothing and keeps no descriptor.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "parent/parent.h"
#include "wire/msg_out.h"

int	parent_on_plan_start(struct msg *);
int	parent_on_plan(struct msg *);
int	parent_on_plan_audit(struct msg *);
int	parent_on_plan_tls(struct msg *);
int	parent_on_plan_listener(struct msg *);
int	parent_on_plan_kept(struct msg *);
int	parent_on_plan_quotas(struct msg *);
int	parent_on_plan_warnings(struct msg *);
int	parent_on_plan_end(struct msg *);

const msg_handler msg_handlers[MSG_COUNT];
struct daemon	d;

static bool	audit_open;
static int	reloads;

void
audit_commit(void)
{
	audit_open = d.plan->audit != AUDIT_NONE;
	if (d.plan->audit_fd != -1)
		close(d.plan->audit_fd);
	d.plan->audit_fd = -1;
}

bool
audit_is_open(void)
{
	return audit_open;
}

/* As listen.c has it, without its words. */
void
listen_move(struct plan *from, struct plan *to)
{
	struct listener *l = to->listeners;

	for (; from != NULL && l < to->listeners + to->nlisteners; l++) {
		if (l->fd != -1)
			continue;
		l->fd = from->listeners[l->was].fd;
		from->listeners[l->was].fd = -1;
	}
}

static void
reloaded(void)
{
	reloads++;
}

static const struct parent_hooks hooks = { .reloaded = reloaded };
const struct parent_hooks *parent_hooks = &hooks;

bool
child_send(enum role role, struct msg_out *o, int fd)
{
	(void)role;
	(void)o;
	(void)fd;
	return true;
}

static int
open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

/* The handler's answer to what was written last; takes fd. */
static int
hand(int (*handler)(struct msg *), struct msg_out *o, size_t cut, int fd)
{
	struct msg m = { .fd = fd, .next = o->payload };
	int r;

	m.left = o->hdr.length - cut;
	r = handler(&m);
	if (m.fd != -1)
		close(m.fd);
	return r;
}

static struct msg_out *
made(void)
{
	struct msg_out *o = msg_new(MSG_PLAN, NULL, 0, 0);

	o->hdr.length = 0;
	return o;
}

static struct msg_out *
start_of(uint32_t mode)
{
	struct msg_out *o = made();
	size_t i;

	msg_put_u32(o, mode);
	msg_put_u32(o, PLAN_LOCAL);
	msg_put_u64(o, 0);
	for (i = 0; i < (size_t)ROLE_COUNT * 2; i++)
		msg_put_u32(o, 900);
	for (i = 0; i < 5; i++)
		msg_put_str(o, "x");
	return o;
}

static struct settings	wanted;
static uint32_t		audit_word;

static struct msg_out *
plan_of(void)
{
	struct msg_out *o = made();

	settings_put(o, &wanted);
	msg_put_u32(o, 60);
	msg_put_u32(o, 1);
	msg_put_str(o, "name");
	msg_put_u32(o, audit_word);
	msg_put_str(o, "/a");
	return o;
}

static struct msg_out *
tls_of(void)
{
	struct msg_out *o = made();
	size_t i;

	for (i = 0; i < TLS_FILES; i++) {
		msg_put_u32(o, 1);
		msg_put_bytes(o, "01234567012345670123456701234567", 32);
	}
	return o;
}

static int
listening(bool listens)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
	    0);

	assert_int_equal(bind(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	if (listens)
		assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static struct msg_out *
listener_of(uint32_t flags, uint32_t uid, const char *text, const void *addr,
    size_t len)
{
	struct msg_out *o = made();

	msg_put_u32(o, flags);
	msg_put_u32(o, uid);
	msg_put_str(o, text);
	msg_put_bytes(o, addr, len);
	return o;
}

static const struct sockaddr_in any = { .sin_family = AF_INET };

static int
add_listener(void)
{
	return hand(parent_on_plan_listener, listener_of(0, 0, "a", &any,
	    sizeof(any)), 0, listening(true));
}

static int
keep(uint32_t index)
{
	struct msg_out *o = made();

	msg_put_u32(o, index);
	msg_put_u32(o, 0);
	msg_put_u32(o, 0);
	msg_put_str(o, "a");
	return hand(parent_on_plan_kept, o, 0, -1);
}

static int
quotas(size_t n, uint32_t kind)
{
	struct msg_out *o = made();
	size_t i, j;

	for (i = 0; i < n; i++) {
		msg_put_u32(o, kind);
		msg_put_u32(o, 7);
		for (j = 0; j < QUOTA_COUNT; j++)
			msg_put_u64(o, 1);
		msg_put_str(o, "q");
	}
	return hand(parent_on_plan_quotas, o, 0, -1);
}

static int
warnings(const char *text, size_t len)
{
	struct msg_out *o = made();

	msg_put_blob(o, text, len);
	return hand(parent_on_plan_warnings, o, 0, -1);
}

static int
end(void)
{
	return hand(parent_on_plan_end, made(), 0, -1);
}

/* All but its listeners and its end. */
static void
most(void)
{
	assert_int_equal(hand(parent_on_plan, plan_of(), 0, -1), 0);
	assert_int_equal(hand(parent_on_plan_tls, tls_of(), 0, -1), 0);
	assert_int_equal(quotas(2, QUOTA_USER), 0);
	assert_int_equal(warnings("one\0two", 8), 0);
}

/* The start, and one listener. */
static int
begin(void **state)
{
	(void)state;
	memset(&wanted, 0, sizeof(wanted));
	wanted.min_uid = 1000;
	wanted.log_level = LOG_L_INFO;
	audit_word = AUDIT_NONE;
	if (d.mode == 0)
		assert_int_equal(hand(parent_on_plan_start,
		    start_of(MODE_USER), 0, -1), 0);
	plan_drop();
	most();
	assert_int_equal(d.plan == NULL ? add_listener() : keep(0), 0);
	assert_int_equal(end(), 0);
	assert_int_equal(d.plan->nlisteners, 1);
	assert_int_not_equal(d.plan->listeners[0].fd, -1);
	return 0;
}

static void
said_once(void **state)
{
	(void)state;
	/* the start, at a reload */
	assert_int_equal(hand(parent_on_plan_start, start_of(MODE_SYSTEM), 0,
	    -1), -1);
	assert_int_equal(d.mode, MODE_USER);
	most();
	assert_int_equal(hand(parent_on_plan, plan_of(), 0, -1), -1);
	assert_int_equal(hand(parent_on_plan_tls, tls_of(), 0, -1), -1);
	assert_int_equal(quotas(1, QUOTA_USER), -1);
	assert_int_equal(warnings("", 0), -1);
}

static void
parts_are_missing(void **state)
{
	const struct plan *before = d.plan;

	(void)state;
	assert_int_equal(end(), -1);
	most();
	/* no listener */
	assert_int_equal(end(), -1);
	plan_drop();
	assert_int_equal(keep(0), 0);
	assert_int_equal(hand(parent_on_plan, plan_of(), 0, -1), 0);
	assert_int_equal(end(), -1);
	assert_ptr_equal(d.plan, before);
	assert_int_not_equal(d.plan->listeners[0].fd, -1);
}

static void
short_and_long(void **state)
{
	struct msg_out *o;

	(void)state;
	assert_int_equal(hand(parent_on_plan, plan_of(), 1, -1), -1);
	plan_drop();
	o = plan_of();
	msg_put_u32(o, 1);
	assert_int_equal(hand(parent_on_plan, o, 0, -1), -1);
	plan_drop();
	assert_int_equal(hand(parent_on_plan_tls, tls_of(), 4, -1), -1);
	/* a line without its end */
	assert_int_equal(warnings("one", 3), -1);
	assert_int_equal(quotas(MAX_QUOTAS + 1, QUOTA_USER), -1);
	plan_drop();
	assert_int_equal(quotas(1, QUOTA_KINDS), -1);
}

/* Each of these says another isolation, user or place. */
static void
fixed_ones(void **state)
{
	uint64_t *const nums[] = { &wanted.min_uid, &wanted.run_uid,
	    &wanted.run_gid, &wanted.daemon_uid, &wanted.weakened,
	    &wanted.sum_users, &wanted.rlimit_users, &wanted.controllers,
	    &wanted.has_shadow };
	char *const texts[] = { wanted.state_dir, wanted.run_dir,
	    wanted.cgroup, wanted.allow_groups, wanted.version };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(nums) / sizeof(nums[0]); i++) {
		plan_drop();
		++*nums[i];
		most();
		--*nums[i];
		assert_int_equal(keep(0), 0);
		assert_int_equal(end(), -1);
	}
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		plan_drop();
		texts[i][0] = 'x';
		most();
		texts[i][0] = '\0';
		assert_int_equal(keep(0), 0);
		assert_int_equal(end(), -1);
	}
	assert_int_equal(reloads, 0);
	/* and others may */
	plan_drop();
	wanted.max_sessions = 5;
	most();
	assert_int_equal(keep(0), 0);
	assert_int_equal(end(), 0);
	assert_int_equal(reloads, 1);
	assert_int_equal(d.plan->settings.max_sessions, 5);
	reloads = 0;
}

static void
odd_listeners(void **state)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	int fd;

	(void)state;
	/* it does not listen; it is of another family; it makes others wait */
	assert_int_equal(hand(parent_on_plan_listener, listener_of(0, 0, "a",
	    &any, sizeof(any)), 0, listening(false)), -1);
	assert_int_equal(hand(parent_on_plan_listener, listener_of(0, 0, "a",
	    &in6, sizeof(in6)), 0, listening(true)), -1);
	fd = listening(true);
	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	assert_int_equal(hand(parent_on_plan_listener, listener_of(0, 0, "a",
	    &any, sizeof(any)), 0, fd), -1);
	/* lengths, flags, a path without an end, root, a text */
	assert_int_equal(hand(parent_on_plan_listener, listener_of(0, 0, "a",
	    &any, sizeof(any) - 1), 0, listening(true)), -1);
	assert_int_equal(hand(parent_on_plan_listener, listener_of(0, 0, "a",
	    &any, 1), 0, listening(true)), -1);
	assert_int_equal(hand(parent_on_plan_listener, listener_of(
	    LISTENER_ALL + 1, 0, "a", &any, sizeof(any)), 0,
	    listening(true)), -1);
	memset(un.sun_path, '/', sizeof(un.sun_path));
	assert_int_equal(hand(parent_on_plan_listener, listener_of(0, 0, "a",
	    &un, sizeof(un)), 0, listening(true)), -1);
	assert_int_equal(hand(parent_on_plan_listener, listener_of(
	    LISTENER_AUTH_NONE, 0, "a", &any, sizeof(any)), 0,
	    listening(true)), -1);
	assert_int_equal(hand(parent_on_plan_listener, listener_of(0, 0,
	    "a\nb", &any, sizeof(any)), 0, listening(true)), -1);
}

static void
kept_ones(void **state)
{
	(void)state;
	assert_int_equal(keep(1), -1);
	assert_int_equal(keep(UINT32_MAX), -1);
	assert_int_equal(keep(0), 0);
	/* twice */
	assert_int_equal(keep(0), -1);
}

static void
too_many_listeners(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < MAX_LISTENERS; i++)
		assert_int_equal(add_listener(), 0);
	assert_int_equal(add_listener(), -1);
	assert_int_equal(keep(0), -1);
}

static int
audit_file(int flags)
{
	char name[] = "/tmp/dl-plan-XXXXXX";
	int fd = mkstemp(name), again = open(name, flags);

	assert_true(fd != -1 && again != -1);
	close(fd);
	unlink(name);
	return again;
}

static void
audit_files(void **state)
{
	(void)state;
	/* nobody has said that there is one */
	most();
	assert_int_equal(hand(parent_on_plan_audit, made(), 0,
	    audit_file(O_WRONLY | O_APPEND)), -1);
	plan_drop();
	/* not to be added to alone; then none at all */
	audit_word = AUDIT_NEW;
	most();
	assert_int_equal(hand(parent_on_plan_audit, made(), 0,
	    audit_file(O_WRONLY)), -1);
	assert_int_equal(hand(parent_on_plan_audit, made(), 0,
	    audit_file(O_RDWR | O_APPEND)), -1);
	assert_int_equal(keep(0), 0);
	assert_int_equal(end(), -1);
	plan_drop();
	/* it is to go on, and there is none */
	audit_word = AUDIT_KEPT;
	most();
	assert_int_equal(keep(0), 0);
	assert_int_equal(end(), -1);
	plan_drop();
	audit_word = AUDIT_COUNT;
	assert_int_equal(hand(parent_on_plan, plan_of(), 0, -1), -1);
	plan_drop();
	/* a good one, once */
	audit_word = AUDIT_NEW;
	most();
	assert_int_equal(hand(parent_on_plan_audit, made(), 0,
	    audit_file(O_WRONLY | O_APPEND)), 0);
	assert_int_equal(hand(parent_on_plan_audit, made(), 0,
	    audit_file(O_WRONLY | O_APPEND)), -1);
	assert_int_equal(keep(0), 0);
	assert_int_equal(end(), 0);
	audit_open = false;
	reloads = 0;
}

static int	fds_before;

/* The plan in force is whole after all of it, and nothing is left open. */
static int
finish(void **state)
{
	(void)state;
	plan_drop();
	reloads = 0;
	assert_non_null(d.plan);
	assert_int_equal(d.plan->nlisteners, 1);
	assert_int_not_equal(d.plan->listeners[0].fd, -1);
	if (fds_before == 0)
		fds_before = open_fds();
	assert_int_equal(open_fds(), fds_before);
	return 0;
}

static int
begin_quietly(void **state)
{
	int r = begin(state);

	reloads = 0;
	return r;
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, begin_quietly, finish)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(said_once), TEST(parts_are_missing),
		TEST(short_and_long), TEST(fixed_ones), TEST(odd_listeners),
		TEST(kept_ones), TEST(too_many_listeners), TEST(audit_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
