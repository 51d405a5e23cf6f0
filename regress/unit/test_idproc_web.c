/* SPDX-License-Identifier: ISC */
/* links: idproc/peer.c idproc/endpoint.c idproc/rules.c */
/* idproc: who is at the other end of a connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "idproc/diag.h"
#include "idproc/origin.h"
#include "idproc/peer.h"
#include "idproc/rules.h"
#include "wire/role.h"

/* since Linux 6.5, and not in the headers of this base */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD	77
#endif

#define CLIENT	1234
#define RULE	1500

/* role.c is linked for the settings, and wants the handlers of a role */
const msg_handler msg_handlers[MSG_COUNT];

static enum diag_result	 found;
static bool		 is_session, cannot_tell, is_admin, goes;
static int		 client_fd = -1;
static int		 pidfd_errno;	/* 0 = as the kernel has it */

/* As kernels answer that know no pidfd, or have none for that process. */
int
getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	if (level == SOL_SOCKET && name == SO_PEERPIDFD && pidfd_errno != 0) {
		errno = pidfd_errno;
		return -1;
	}
	return (int)syscall(SYS_getsockopt, fd, level, name, value, len);
}

bool
diag_is_open(void)
{
	return true;
}

enum diag_result
diag_find(const struct ends *e, struct diag_socket *s)
{
	const struct linger reset = { .l_onoff = 1 };

	(void)e;
	memset(s, 0, sizeof(*s));
	s->uid = CLIENT;
	if (goes) {
		assert_int_equal(setsockopt(client_fd, SOL_SOCKET, SO_LINGER,
		    &reset, sizeof(reset)), 0);
		close(client_fd);
		client_fd = -1;
	}
	return found;
}

int
origin_check(const struct diag_socket *s, char *why, size_t size)
{
	assert_int_equal(s->uid, CLIENT);
	(void)snprintf(why, size, "a session");
	return cannot_tell ? 1 : is_session ? -1 : 0;
}

int
origin_check_pid(pid_t pid, int pidfd, char *why, size_t size)
{
	(void)pidfd;
	(void)pid;
	(void)why;
	(void)size;
	return 0;
}

int
principal_of(uid_t uid, struct principal *p, char *why, size_t size)
{
	(void)why;
	(void)size;
	memset(p, 0, sizeof(*p));
	p->uid = uid;
	if (is_admin)
		p->flags = PRINCIPAL_ADMIN;
	return 0;
}

/* The verdict on a loopback connection to a listener with those flags. */
static struct verdict
verdict_on(uint32_t flags)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listen_fd = socket(AF_INET, SOCK_STREAM, 0), fd;
	socklen_t len = sizeof(sin);
	struct verdict v;

	assert_int_equal(bind(listen_fd, (struct sockaddr *)&sin, len), 0);
	assert_int_equal(listen(listen_fd, 1), 0);
	assert_int_equal(getsockname(listen_fd, (struct sockaddr *)&sin,
	    &len), 0);
	assert_int_equal(rules_add(flags, RULE, &sin, len), 0);
	rules_commit();
	client_fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(client_fd, (struct sockaddr *)&sin, len), 0);
	fd = accept(listen_fd, NULL, NULL);
	assert_int_not_equal(fd, -1);
	peer_identify(fd, &v);
	close(fd);
	if (client_fd != -1)
		close(client_fd);
	close(listen_fd);
	return v;
}

static int
setup(void **state)
{
	(void)state;
	found = DIAG_FOUND;
	is_session = cannot_tell = is_admin = goes = false;
	pidfd_errno = 0;
	return 0;
}

/* A browser acts for its page: the socket's user is not logged in. */
static void
nobody_before_he_logs_in(void **state)
{
	struct verdict v;

	(void)state;
	v = verdict_on(0);
	assert_int_equal(v.what, PEER_KNOWN);
	assert_int_equal(v.door, DOOR_TCP);
	v = verdict_on(LISTENER_WEB);
	assert_int_equal(v.what, PEER_UNAUTHENTICATED);
	assert_int_equal(v.door, DOOR_WEB);
	/* the uid tells this host's users apart, and does no more */
	assert_int_equal(v.principal.uid, CLIENT);
	assert_int_equal(v.principal.flags, 0);
	assert_string_equal(v.principal.name, "");
}

static void
sessions_are_no_clients(void **state)
{
	struct verdict v;

	(void)state;
	is_session = true;
	v = verdict_on(LISTENER_WEB);
	assert_int_equal(v.what, PEER_REFUSED);
	assert_int_equal(v.principal.uid, (uid_t)-1);
	assert_string_equal(v.why, "a session");
	v = verdict_on(LISTENER_WEB | LISTENER_AUTH_NONE);
	assert_int_equal(v.what, PEER_REFUSED);
}

/* On loopback a socket that cannot be found may be a session's. */
static void
unknown_sockets_are_refused(void **state)
{
	static const enum diag_result bad[] = { DIAG_NONE, DIAG_CLOSED,
	    DIAG_FAILED };
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		found = bad[i];
		assert_int_equal(verdict_on(LISTENER_WEB).what, PEER_REFUSED);
	}
}

/* ... and one that cannot be told now is nobody's until it can. */
static void
later_is_no_yes(void **state)
{
	static const uint32_t flags[] = { 0, LISTENER_WEB, LISTENER_AUTH_NONE,
	    LISTENER_WEB | LISTENER_AUTH_NONE };
	struct verdict v;
	size_t i;

	(void)state;
	cannot_tell = true;
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		v = verdict_on(flags[i]);
		assert_int_equal(v.what, PEER_LATER);
		assert_int_equal(v.principal.uid, (uid_t)-1);
	}
}

static void
everybody_by_the_rule(void **state)
{
	struct verdict v;

	(void)state;
	v = verdict_on(LISTENER_WEB | LISTENER_AUTH_NONE);
	assert_int_equal(v.what, PEER_KNOWN);
	assert_int_equal(v.door, DOOR_WEB);
	assert_int_equal(v.principal.uid, RULE);
	assert_int_equal(v.principal.flags, PRINCIPAL_BY_RULE);
}

/* Anybody is that user then, and must not become more by it. */
static void
nobody_rules_by_the_rule(void **state)
{
	(void)state;
	is_admin = true;
	assert_int_equal(verdict_on(0).principal.flags, PRINCIPAL_ADMIN);
	assert_int_equal(verdict_on(LISTENER_AUTH_NONE).principal.flags,
	    PRINCIPAL_BY_RULE);
}

/*
 * A client that is gone after the kernel was asked has left its port to others:
 * the socket that was found may be the next client's.
 */
static void
found_too_late(void **state)
{
	static const uint32_t flags[] = { 0, LISTENER_WEB, LISTENER_AUTH_NONE };
	struct verdict v;
	size_t i;

	(void)state;
	goes = true;
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		v = verdict_on(flags[i]);
		assert_int_equal(v.what, PEER_REFUSED);
		assert_int_equal(v.principal.uid, (uid_t)-1);
	}
}

static struct verdict
verdict_on_local(int error)
{
	struct verdict v;
	int fds[2];

	pidfd_errno = error;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	peer_identify(fds[0], &v);
	close(fds[0]);
	close(fds[1]);
	return v;
}

/* Where kernels can name a process, its number alone is not good enough. */
static void
a_number_is_no_process(void **state)
{
	(void)state;
	assert_int_equal(verdict_on_local(0).what, PEER_KNOWN);
	assert_int_equal(verdict_on_local(ENOPROTOOPT).what, PEER_KNOWN);
	assert_int_equal(verdict_on_local(ESRCH).what, PEER_REFUSED);
	assert_int_equal(verdict_on_local(EINVAL).what, PEER_REFUSED);
	assert_int_equal(verdict_on_local(EMFILE).what, PEER_LATER);
	assert_int_equal(verdict_on_local(EMFILE).principal.uid, (uid_t)-1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nobody_before_he_logs_in, setup),
		cmocka_unit_test_setup(sessions_are_no_clients, setup),
		cmocka_unit_test_setup(unknown_sockets_are_refused, setup),
		cmocka_unit_test_setup(later_is_no_yes, setup),
		cmocka_unit_test_setup(everybody_by_the_rule, setup),
		cmocka_unit_test_setup(nobody_rules_by_the_rule, setup),
		cmocka_unit_test_setup(found_too_late, setup),
		cmocka_unit_test_setup(a_number_is_no_process, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
