/* SPDX-License-Identifier: ISC */
/* links: idproc/tlspeers.c idproc/endpoint.c */
/* idproc: what is remembered of connections over TLS, and whose they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "idproc/account.h"
#include "idproc/tlspeers.h"
#include "wire/role.h"

/* role.c is linked for the settings, and wants the handlers of a role */
const msg_handler msg_handlers[MSG_COUNT];

/* The verdict on the TCP connection, for the tests. */
static struct verdict	tcp;

void
peer_identify(int sock_fd, struct verdict *v)
{
	(void)sock_fd;
	*v = tcp;
}

const struct account *
account_named(const char *name)
{
	static const struct account none, alice = { .uid = 1000,
		.found = true }, daemon = { .uid = 1, .found = true };

	return strcmp(name, "alice") == 0 ? &alice :
	    strcmp(name, "daemon") == 0 ? &daemon : &none;
}

int
principal_of(uid_t uid, struct principal *p, char *why, size_t size)
{
	memset(p, 0, sizeof(*p));
	if (uid < 1000) {
		(void)snprintf(why, size, "not served");
		return -1;
	}
	p->uid = uid;
	return 0;
}

struct pair {
	int		 fds[2];
	uint64_t	 inode;
};

static struct pair
pair_new(void)
{
	struct pair p;
	struct stat st;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, p.fds), 0);
	assert_int_equal(fstat(p.fds[1], &st), 0);
	p.inode = st.st_ino;
	return p;
}

static void
pair_free(struct pair *p)
{
	tlspeers_remove(p->inode);
	close(p->fds[0]);
	close(p->fds[1]);
}

/* The verdict on a connection with that name in its certificate. */
static struct verdict
verdict_by(enum door door, uint32_t what, const char *name)
{
	struct pair p = pair_new();
	const struct verdict *v;
	struct verdict out;

	memset(&tcp, 0, sizeof(tcp));
	tcp.what = what;
	tcp.door = door;
	tcp.principal.uid = what == PEER_KNOWN ? 1001 : (uid_t)-1;
	tcp.principal.flags = PRINCIPAL_BY_RULE;
	assert_int_equal(tlspeers_add(p.inode, name, p.fds[0]), 0);
	v = tlspeers_find(p.fds[1]);
	assert_non_null(v);
	out = *v;
	pair_free(&p);
	return out;
}

static struct verdict
verdict_on(uint32_t what, const char *name)
{
	return verdict_by(DOOR_TCP, what, name);
}

static void
pairs_have_no_name(void **state)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct pair p = pair_new();
	int listen_fd, client_fd, fd, dgram[2];

	(void)state;
	assert_true(tlspeers_is_pair(p.fds[0]) && tlspeers_is_pair(p.fds[1]));
	/* what a local listener accepts has the listener's name */
	(void)snprintf(sun.sun_path, sizeof(sun.sun_path),
	    "/tmp/dl-test-idproc-tls.%d", getpid());
	listen_fd = socket(AF_UNIX, SOCK_STREAM, 0);
	client_fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(listen_fd, (struct sockaddr *)&sun,
	    sizeof(sun)), 0);
	assert_int_equal(listen(listen_fd, 1), 0);
	assert_int_equal(connect(client_fd, (struct sockaddr *)&sun,
	    sizeof(sun)), 0);
	fd = accept(listen_fd, NULL, NULL);
	assert_true(fd != -1);
	assert_false(tlspeers_is_pair(fd));
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, dgram), 0);
	assert_false(tlspeers_is_pair(dgram[0]));
	(void)unlink(sun.sun_path);
	close(fd);
	close(client_fd);
	close(listen_fd);
	close(dgram[0]);
	close(dgram[1]);
	pair_free(&p);
}

static void
remembered_until_gone(void **state)
{
	struct pair p = pair_new(), q = pair_new();

	(void)state;
	assert_null(tlspeers_find(p.fds[1]));
	assert_int_equal(tlspeers_add(p.inode, "", p.fds[0]), 0);
	assert_non_null(tlspeers_find(p.fds[1]));
	assert_int_equal(tlspeers_find(p.fds[1])->door, DOOR_TLS);
	/* neither the other end nor another pair is it */
	assert_null(tlspeers_find(p.fds[0]));
	assert_null(tlspeers_find(q.fds[1]));
	tlspeers_remove(p.inode);
	tlspeers_remove(p.inode);
	assert_null(tlspeers_find(p.fds[1]));
	assert_int_equal(tlspeers_add(p.inode, "", p.fds[0]), 0);
	assert_int_equal(tlspeers_add(q.inode, "", q.fds[0]), 0);
	tlspeers_clear();
	assert_null(tlspeers_find(p.fds[1]));
	assert_null(tlspeers_find(q.fds[1]));
	pair_free(&p);
	pair_free(&q);
}

static void
certificates(void **state)
{
	struct verdict v;

	(void)state;
	(void)strcpy(settings.tls_client_ca, "/ca");
	v = verdict_on(PEER_UNAUTHENTICATED, "alice");
	assert_int_equal(v.what, PEER_KNOWN);
	assert_int_equal(v.principal.uid, 1000);
	assert_int_equal(v.door, DOOR_TLS);
	/* the certificate's user wins over the connection's */
	v = verdict_on(PEER_KNOWN, "alice");
	assert_int_equal(v.principal.uid, 1000);
	assert_int_equal(v.principal.flags, 0);
	/* a session stays one, whatever it shows */
	v = verdict_on(PEER_REFUSED, "alice");
	assert_int_equal(v.what, PEER_REFUSED);
	assert_int_equal(v.principal.uid, (uid_t)-1);
	/* so does what may be one, which cannot be told now */
	v = verdict_on(PEER_LATER, "alice");
	assert_int_equal(v.what, PEER_LATER);
	v = verdict_on(PEER_UNAUTHENTICATED, "nobody-here");
	assert_int_equal(v.what, PEER_UNAUTHENTICATED);
	v = verdict_on(PEER_KNOWN, "");
	assert_int_equal(v.principal.uid, 1001);
	v = verdict_on(PEER_KNOWN, "daemon");
	assert_int_equal(v.what, PEER_REFUSED);
	assert_int_equal(v.principal.uid, (uid_t)-1);
	assert_string_equal(v.why, "not served");
}

/* A browser shows it for whatever page it has loaded. */
static void
no_certificate_over_http(void **state)
{
	struct verdict v;

	(void)state;
	(void)strcpy(settings.tls_client_ca, "/ca");
	v = verdict_by(DOOR_WEB, PEER_UNAUTHENTICATED, "alice");
	assert_int_equal(v.what, PEER_UNAUTHENTICATED);
	assert_int_equal(v.door, DOOR_WEB_TLS);
	assert_int_equal(v.principal.uid, (uid_t)-1);
}

static void
no_certificate_without_authority(void **state)
{
	struct verdict v;

	(void)state;
	settings.tls_client_ca[0] = '\0';
	v = verdict_on(PEER_UNAUTHENTICATED, "alice");
	assert_int_equal(v.what, PEER_UNAUTHENTICATED);
	assert_int_equal(v.principal.uid, (uid_t)-1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_have_no_name),
		cmocka_unit_test(remembered_until_gone),
		cmocka_unit_test(certificates),
		cmocka_unit_test(no_certificate_over_http),
		cmocka_unit_test(no_certificate_without_authority),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
