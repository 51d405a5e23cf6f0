/* SPDX-License-Identifier: ISC */
/* links: idproc/endpoint.c idproc/rules.c idproc/diag.c idproc/principal.c idproc/account.c idproc/admit.c */
/* idproc: addresses, listener rules, the kernel's answers, principals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "idproc/account.h"
#include "idproc/acctask.h"
#include "idproc/admit.h"
#include "idproc/diag.h"
#include "idproc/endpoint.h"
#include "idproc/principal.h"
#include "idproc/rules.h"
#include "wire/settings.h"

/* what role.c holds in the daemon */
struct settings	settings;
enum mode	role_mode;

/* acctproc's answer, and how often it was asked */
static enum acct_state	acct_says;
static int		acct_asked;

enum acct_state
acct_ask(const char *name)
{
	assert_true(name[0] != '\0');
	acct_asked++;
	return acct_says;
}

#define SEQ	77

/* addr with a colon is IPv6 */
static socklen_t
sockaddr(struct sockaddr_storage *ss, const char *addr, int port)
{
	struct sockaddr_in *sin = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;

	memset(ss, 0, sizeof(*ss));
	if (strchr(addr, ':') == NULL) {
		sin->sin_family = AF_INET;
		sin->sin_port = htons((uint16_t)port);
		assert_int_equal(inet_pton(AF_INET, addr, &sin->sin_addr), 1);
		return sizeof(*sin);
	}
	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = htons((uint16_t)port);
	assert_int_equal(inet_pton(AF_INET6, addr, &sin6->sin6_addr), 1);
	return sizeof(*sin6);
}

static struct endpoint
end(const char *addr, int port)
{
	struct sockaddr_storage ss;
	socklen_t len = sockaddr(&ss, addr, port);
	struct endpoint e;

	assert_int_equal(endpoint_set(&e, &ss, len), 0);
	return e;
}

static void
addresses(void **state)
{
	static const struct {
		const char *addr, *text;
		bool loopback, any;
	} t[] = {
		{ "127.0.0.1", "127.0.0.1:80", true, false },
		{ "127.9.8.7", "127.9.8.7:80", true, false },
		{ "128.0.0.1", "128.0.0.1:80", false, false },
		{ "0.0.0.0", "0.0.0.0:80", false, true },
		{ "::1", "[::1]:80", true, false },
		{ "::", "[::]:80", false, true },
		{ "::2", "[::2]:80", false, false },
		{ "::ffff:127.0.0.1", "127.0.0.1:80", true, false },
		{ "::ffff:10.0.0.1", "10.0.0.1:80", false, false },
	};
	char buf[ENDPOINT_TEXT];
	struct endpoint e;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		e = end(t[i].addr, 80);
		assert_string_equal(endpoint_text(&e, buf), t[i].text);
		assert_int_equal(endpoint_is_loopback(&e), t[i].loopback);
		assert_int_equal(endpoint_is_any(&e), t[i].any);
	}
}

static void
broken_addresses(void **state)
{
	struct sockaddr_storage ss;
	struct endpoint e;
	size_t len;

	(void)state;
	for (len = 0; len <= sizeof(ss); len++) {
		(void)sockaddr(&ss, "127.0.0.1", 1);
		assert_int_equal(endpoint_set(&e, &ss, len),
		    len == sizeof(struct sockaddr_in) ? 0 : -1);
		(void)sockaddr(&ss, "::1", 1);
		assert_int_equal(endpoint_set(&e, &ss, len),
		    len == sizeof(struct sockaddr_in6) ? 0 : -1);
		ss.ss_family = AF_UNIX;
		assert_int_equal(endpoint_set(&e, &ss, len), -1);
	}
}

static void
scopes(void **state)
{
	struct endpoint a = end("fe80::1", 80), b = a;

	(void)state;
	a.scope = 2;
	assert_true(endpoint_same_addr(&a, &b));
	b.scope = 3;
	assert_false(endpoint_same_addr(&a, &b));
	b.scope = 2;
	assert_true(endpoint_same_addr(&a, &b));
}

static int
add(const char *addr, int port, uint32_t uid)
{
	struct sockaddr_storage ss;
	socklen_t len = sockaddr(&ss, addr, port);

	return rules_add(1, uid, &ss, len);
}

/* The uid of the rule in force, 0 when there is none. */
static uint32_t
rule_for(const char *addr, int port)
{
	struct endpoint e = end(addr, port);
	const struct rule *r = rules_find(&e);

	return r == NULL ? 0 : r->uid;
}

static void
rules_fit(void **state)
{
	(void)state;
	add("0.0.0.0", 80, 1);
	add("10.0.0.1", 80, 2);
	add("::", 80, 3);
	add("::", 81, 4);
	add("::1", 82, 5);
	add("0.0.0.0", 84, 6);
	assert_int_equal(rule_for("10.0.0.1", 80), 0);
	rules_commit();
	assert_int_equal(rule_for("10.0.0.1", 80), 2);
	assert_int_equal(rule_for("10.0.0.2", 80), 1);
	assert_int_equal(rule_for("::ffff:10.0.0.1", 80), 2);
	assert_int_equal(rule_for("::5", 80), 3);
	assert_int_equal(rule_for("10.0.0.1", 81), 4);
	assert_int_equal(rule_for("::1", 82), 5);
	assert_int_equal(rule_for("::2", 82), 0);
	assert_int_equal(rule_for("127.0.0.1", 82), 0);
	assert_int_equal(rule_for("10.0.0.1", 83), 0);
	/* what listens on IPv4 takes nobody by IPv6 */
	assert_int_equal(rule_for("127.0.0.1", 84), 6);
	assert_int_equal(rule_for("::1", 84), 0);
}

static void
rules_are_a_set(void **state)
{
	int i;

	(void)state;
	add("10.0.0.1", 80, 1);
	rules_commit();
	add("10.0.0.2", 80, 2);
	assert_int_equal(rule_for("10.0.0.1", 80), 1);
	rules_commit();
	assert_int_equal(rule_for("10.0.0.1", 80), 0);
	assert_int_equal(rule_for("10.0.0.2", 80), 2);
	rules_commit();
	assert_int_equal(rule_for("10.0.0.2", 80), 0);
	for (i = 0; i < 66; i++)
		assert_int_equal(add("10.0.0.1", 1000 + i, 1), 0);
	assert_int_equal(add("10.0.0.1", 2000, 1), -1);
	rules_commit();
	assert_int_equal(rule_for("10.0.0.1", 1063), 1);
}

/* An answer of the kernel about a client 127.0.0.1:1000 of our port 80. */
struct answer {
	struct nlmsghdr		nlh;
	struct inet_diag_msg	d;
	struct nlattr		shutdown_attr;
	uint8_t			shutdown[4];
	struct nlattr		cgroup_attr;
	uint64_t		cgroup __attribute__((packed));
};

static const struct ends *
our_ends(void)
{
	static struct ends e;

	e.local = end("127.0.0.1", 80);
	e.peer = end("127.0.0.1", 1000);
	return &e;
}

static struct answer
good(void)
{
	struct answer a;

	memset(&a, 0, sizeof(a));
	a.nlh.nlmsg_len = sizeof(a);
	a.nlh.nlmsg_type = SOCK_DIAG_BY_FAMILY;
	a.nlh.nlmsg_seq = SEQ;
	a.d.idiag_family = AF_INET;
	a.d.idiag_state = TCP_ESTABLISHED;
	a.d.id.idiag_sport = htons(1000);
	a.d.id.idiag_dport = htons(80);
	a.d.id.idiag_src[0] = a.d.id.idiag_dst[0] = htonl(INADDR_LOOPBACK);
	a.d.idiag_uid = 1234;
	a.d.idiag_inode = 99;
	a.shutdown_attr.nla_len = 5;
	a.shutdown_attr.nla_type = INET_DIAG_SHUTDOWN;
	a.cgroup_attr.nla_len = sizeof(a.cgroup_attr) + sizeof(a.cgroup);
	a.cgroup_attr.nla_type = INET_DIAG_CGROUP_ID;
	a.cgroup = 4711;
	return a;
}

static int
parse(const struct answer *a, size_t len, struct diag_socket *s)
{
	memset(s, 0, sizeof(*s));
	return diag_parse(a, len, SEQ, our_ends(), s);
}

static void
answer_good(void **state)
{
	struct answer a = good();
	struct diag_socket s;

	(void)state;
	assert_int_equal(parse(&a, sizeof(a), &s), DIAG_FOUND);
	assert_int_equal(s.uid, 1234);
	assert_int_equal(s.inode, 99);
	assert_int_equal(s.cgroup, 4711);
	a.d.idiag_family = AF_INET6;
	memcpy(a.d.id.idiag_src, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1", 16);
	memcpy(a.d.id.idiag_dst, a.d.id.idiag_src, 16);
	assert_int_equal(parse(&a, sizeof(a), &s), DIAG_FOUND);
}

static void
answer_of_another(void **state)
{
	struct answer a;
	struct diag_socket s;

	(void)state;
	a = good();
	a.d.id.idiag_sport = htons(1001);
	assert_int_equal(parse(&a, sizeof(a), &s), DIAG_NONE);
	a = good();
	a.d.id.idiag_dport = htons(81);
	assert_int_equal(parse(&a, sizeof(a), &s), DIAG_NONE);
	a = good();
	a.d.id.idiag_src[0] = htonl(INADDR_LOOPBACK + 1);
	assert_int_equal(parse(&a, sizeof(a), &s), DIAG_NONE);
	a = good();
	a.d.id.idiag_dst[0] = htonl(INADDR_ANY);
	assert_int_equal(parse(&a, sizeof(a), &s), DIAG_NONE);
	a = good();
	a.d.idiag_family = AF_INET6;
	assert_int_equal(parse(&a, sizeof(a), &s), DIAG_NONE);
	a = good();
	a.nlh.nlmsg_seq++;
	assert_int_equal(parse(&a, sizeof(a), &s), -1);
	a = good();
	a.nlh.nlmsg_type = NLMSG_DONE;
	assert_int_equal(parse(&a, sizeof(a), &s), -1);
}

static void
answer_states(void **state)
{
	struct answer a = good();
	struct diag_socket s;
	uint8_t i;
	bool alive;

	(void)state;
	for (i = 0; i < 14; i++) {
		a.d.idiag_state = i;
		alive = i == TCP_ESTABLISHED || i == TCP_FIN_WAIT1 ||
		    i == TCP_FIN_WAIT2 || i == TCP_CLOSE_WAIT;
		assert_int_equal(parse(&a, sizeof(a), &s),
		    alive ? DIAG_FOUND : DIAG_CLOSED);
	}
	/* what a closed socket looks like: root's */
	a = good();
	a.d.idiag_uid = 0;
	a.d.idiag_inode = 0;
	assert_int_equal(parse(&a, sizeof(a), &s), DIAG_CLOSED);
}

static void
answer_errors(void **state)
{
	struct {
		struct nlmsghdr	nlh;
		int		error;
	} a = { { .nlmsg_len = sizeof(a), .nlmsg_type = NLMSG_ERROR,
	    .nlmsg_seq = SEQ }, -ENOENT };
	struct diag_socket s;

	(void)state;
	assert_int_equal(diag_parse(&a, sizeof(a), SEQ, our_ends(), &s),
	    DIAG_NONE);
	a.error = -EPERM;
	assert_int_equal(diag_parse(&a, sizeof(a), SEQ, our_ends(), &s),
	    DIAG_FAILED);
	assert_int_equal(errno, EPERM);
}

/* Every length, and attributes that lie about theirs. */
static void
answer_cut(void **state)
{
	struct answer a = good();
	struct diag_socket s;
	size_t len;
	int r;

	(void)state;
	for (len = 0; len < sizeof(a); len++) {
		a.nlh.nlmsg_len = sizeof(a);
		assert_int_equal(parse(&a, len, &s), -1);
		a.nlh.nlmsg_len = (uint32_t)len;
		r = parse(&a, len, &s);
		assert_true(r == -1 || s.cgroup == 0);
	}
	for (len = 0; len < 70; len++) {
		a = good();
		a.shutdown_attr.nla_len = (uint16_t)len;
		(void)parse(&a, sizeof(a), &s);
		assert_true(s.cgroup == 0 || s.cgroup == 4711);
	}
	a = good();
	a.cgroup_attr.nla_len = UINT16_MAX;
	assert_int_equal(parse(&a, sizeof(a), &s), DIAG_FOUND);
	assert_int_equal(s.cgroup, 0);
}

/* A listener on one address, a client that connects to another form. */
static void
ask_the_kernel(const char *listen_on, const char *connect_to)
{
	struct sockaddr_storage ss;
	socklen_t len = sockaddr(&ss, listen_on, 0);
	struct diag_socket s;
	struct ends e;
	struct stat st;
	int listen_fd, client_fd, conn_fd, port, off = 0;

	listen_fd = socket(ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (ss.ss_family == AF_INET6)
		(void)setsockopt(listen_fd, IPPROTO_IPV6, IPV6_V6ONLY, &off,
		    sizeof(off));
	assert_int_equal(bind(listen_fd, (struct sockaddr *)&ss, len), 0);
	assert_int_equal(listen(listen_fd, 1), 0);
	assert_int_equal(getsockname(listen_fd, (struct sockaddr *)&ss, &len),
	    0);
	/* the port is at the same place in both families */
	port = ntohs(((struct sockaddr_in *)&ss)->sin_port);
	assert_non_null(ends_of(listen_fd, &e));
	len = sockaddr(&ss, connect_to, port);
	client_fd = socket(ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(client_fd, (struct sockaddr *)&ss, len), 0);
	conn_fd = accept(listen_fd, NULL, NULL);

	assert_null(ends_of(conn_fd, &e));
	assert_int_equal(diag_find(&e, &s), DIAG_FOUND);
	assert_int_equal(s.uid, geteuid());
	assert_int_equal(fstat(client_fd, &st), 0);
	assert_int_equal(s.inode, st.st_ino);
	assert_int_equal(shutdown(client_fd, SHUT_WR), 0);
	assert_int_equal(diag_find(&e, &s), DIAG_FOUND);
	close(client_fd);
	assert_int_not_equal(diag_find(&e, &s), DIAG_FOUND);
	close(conn_fd);
	/* only the listener is left, which is nobody's client */
	assert_int_not_equal(diag_find(&e, &s), DIAG_FOUND);
	close(listen_fd);
}

/* Hosts may have IPv6 switched off on loopback. */
static bool
has_ipv6(void)
{
	struct sockaddr_storage ss;
	socklen_t len = sockaddr(&ss, "::1", 0);
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool can = fd != -1 && bind(fd, (struct sockaddr *)&ss, len) == 0;

	if (!can)
		assert_true(errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT);
	if (fd != -1)
		close(fd);
	return can;
}

static void
kernel(void **state)
{
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC,
	    NETLINK_SOCK_DIAG);

	(void)state;
	assert_false(diag_is_open());
	assert_int_equal(diag_open(socket(AF_UNIX, SOCK_DGRAM, 0)), -1);
	assert_int_equal(diag_open(socket(AF_NETLINK, SOCK_DGRAM,
	    NETLINK_ROUTE)), -1);
	assert_int_equal(diag_open(fd), 0);
	ask_the_kernel("127.0.0.1", "127.0.0.1");
	ask_the_kernel("127.0.0.1", "::ffff:127.0.0.1");
	if (has_ipv6()) {
		ask_the_kernel("::1", "::1");
		ask_the_kernel("::", "::1");
	}
	ask_the_kernel("::", "127.0.0.1");
	ask_the_kernel("::", "::ffff:127.0.0.1");
	/* its own from now on, for as long as the process lasts */
	close(fd);
}

static void
refused(uid_t uid, const char *text)
{
	struct principal p;
	char why[240] = "";

	assert_int_equal(principal_of(uid, &p, why, sizeof(why)), -1);
	if (strstr(why, text) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", why, text);
}

static void
served(uid_t uid, uid_t as, const char *name)
{
	struct principal p;
	char why[240] = "";

	assert_int_equal(principal_of(uid, &p, why, sizeof(why)), 0);
	assert_int_equal(p.uid, as);
	assert_string_equal(p.name, name);
}

/* The accounts root, daemon (1) and bin (2) are those of every Debian. */
static void
principals_system(void **state)
{
	(void)state;
	role_mode = MODE_SYSTEM;
	settings.run_uid = 1;
	settings.min_uid = 2;
	served(0, 1, "daemon");
	served(1, 1, "daemon");
	refused(2, "bin (uid 2) has no login shell");
	strcpy(settings.allowed_users, "22,2");
	served(2, 2, "bin");
	refused(3, "sys (uid 3) is not among those of allow");
	strcpy(settings.denied_users, "2,3");
	refused(2, "bin (uid 2) is denied");
	refused(3, "sys (uid 3) is denied");
	/* root is let in even if the account it stands for is not */
	strcpy(settings.denied_users, "1");
	served(0, 1, "daemon");
	strcpy(settings.denied_users, "");
	strcpy(settings.allowed_users, "");
	settings.min_uid = 1000;
	served(0, 1, "daemon");
	/* its primary group is nogroup, above those of users */
	settings.min_uid = 4;
	strcpy(settings.allowed_users, "4");
	refused(4, "allow-group nogroup");
	strcpy(settings.allow_groups, "27,65534,28");
	served(4, 4, "sync");
	settings.allow_groups[0] = settings.allowed_users[0] = '\0';
	settings.min_uid = 1000;
	refused(2, "min-uid 1000");
	refused(999, "min-uid 1000");
	refused(59999, "no usable account");
	refused(60001, "above 60000");
	refused(65534, "above 60000");
	refused((uid_t)-1, "above 60000");
}

static void
principals_user(void **state)
{
	(void)state;
	role_mode = MODE_USER;
	settings.daemon_uid = 2;
	served(2, 2, "bin");
	refused(0, "serves uid 2 alone");
	refused(3, "serves uid 2 alone");
	settings.daemon_uid = 59999;
	served(59999, 59999, "59999");
}

static void
accounts(void **state)
{
	const struct account *a;
	struct passwd *pw = getpwuid(1);

	(void)state;
	assert_non_null(pw);
	a = account_of(1);
	assert_true(a->found);
	assert_string_equal(a->name, pw->pw_name);
	assert_string_equal(a->home, pw->pw_dir);
	assert_string_equal(a->shell, pw->pw_shell);
	assert_int_equal(a->gid, pw->pw_gid);
	assert_true(a->ngroups >= 1);
	assert_int_equal(a->groups[0], pw->pw_gid);
	a = account_of(59999);
	assert_false(a->found);
	assert_int_equal(a->uid, 59999);
	assert_int_equal(a->ngroups, 0);
}

static void
accounts_by_name(void **state)
{
	const struct account *a;
	struct passwd *pw = getpwuid(1);
	char name[USER_NAME_MAX];

	(void)state;
	assert_non_null(pw);
	(void)snprintf(name, sizeof(name), "%s", pw->pw_name);
	role_mode = MODE_SYSTEM;
	settings.daemon_uid = 0;
	a = account_named(name);
	assert_true(a->found);
	assert_int_equal(a->uid, 1);
	assert_string_equal(a->name, name);
	a = account_named("no-such-user-here");
	assert_false(a->found);
	assert_int_equal(a->uid, (uid_t)-1);
	/* a number is a name only where its user has no other */
	a = account_named("59999");
	assert_false(a->found);
	role_mode = MODE_USER;
	settings.daemon_uid = 59998;
	a = account_named("59998");
	assert_true(a->found);
	assert_int_equal(a->uid, 59998);
	a = account_named("59999");
	assert_false(a->found);
}

/* Through an own account: its groups are whatever the test says. */
static void
admins(void **state)
{
	struct account a = { .uid = 1000, .gid = 1000, .found = true,
	    .ngroups = 2, .groups = { 1000, 27 } };

	(void)state;
	role_mode = MODE_SYSTEM;
	settings.run_uid = 999;
	assert_false(account_is_admin(&a));
	strcpy(settings.admin_users, "100,10000,11000");
	assert_false(account_is_admin(&a));
	strcpy(settings.admin_users, "100,1000");
	assert_true(account_is_admin(&a));
	a.found = false;
	assert_false(account_is_admin(&a));
	a.found = true;
	strcpy(settings.admin_users, "0,999");
	a.uid = 0;
	assert_false(account_is_admin(&a));
	a.uid = 999;
	assert_false(account_is_admin(&a));
	a.uid = 1000;
	strcpy(settings.admin_users, "");
	strcpy(settings.admin_groups, "2,270");
	assert_false(account_is_admin(&a));
	strcpy(settings.admin_groups, "2,270,27");
	assert_true(account_is_admin(&a));
	a.ngroups = 1;
	assert_false(account_is_admin(&a));
	/* in user mode root is one user like another */
	role_mode = MODE_USER;
	a.uid = 0;
	strcpy(settings.admin_users, "0");
	assert_true(account_is_admin(&a));
	strcpy(settings.admin_users, "");
	strcpy(settings.admin_groups, "");
}

static void
lets(struct account *a, const char *shell, bool want, const char *text)
{
	char why[240] = "";

	(void)snprintf(a->shell, sizeof(a->shell), "%s", shell);
	assert_int_equal(admit(a, why, sizeof(why)), want ? 0 : -1);
	if (strstr(why, text) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", why, text);
}

/*
 * An account that is locked is no principal, by uid or by name; what acctproc
 * says is remembered, unless it could not say anything.
 */
static void
locked_accounts(void **state)
{
	char why[256];
	struct principal p;

	(void)state;
	role_mode = MODE_SYSTEM;
	settings.run_uid = 59998;
	settings.min_uid = 1;
	strcpy(settings.allow_groups, "1");
	strcpy(settings.allowed_users, "1");
	accounts_forget();
	acct_says = ACCT_UNREAD;
	acct_asked = 0;
	assert_int_equal(principal_of(1, &p, why, sizeof(why)), 1);
	assert_int_equal(acct_of_flags(p.flags), ACCT_UNREAD);
	assert_int_equal(principal_of(1, &p, why, sizeof(why)), 1);
	assert_int_equal(acct_asked, 2);
	acct_says = ACCT_LOCKED;
	assert_int_equal(principal_of(1, &p, why, sizeof(why)), -1);
	assert_int_equal(acct_of_flags(p.flags), ACCT_LOCKED);
	assert_non_null(strstr(why, "is locked"));
	assert_int_equal(acct_asked, 3);
	acct_says = ACCT_GOOD;
	assert_int_equal(principal_of(1, &p, why, sizeof(why)), -1);
	assert_int_equal(acct_asked, 3);
	accounts_forget();
	assert_int_equal(principal_of(1, &p, why, sizeof(why)), 0);
	assert_int_equal(p.flags, 0);
	assert_int_equal(acct_asked, 4);
	settings.min_uid = 1000;
	settings.allow_groups[0] = settings.allowed_users[0] = '\0';
	accounts_forget();
}

/* Admission by an account's shell, groups and name. */
static void
admission(void **state)
{
	static const char none[] = "no login shell of /etc/shells";
	struct account a = { .uid = 1000, .gid = 1000, .found = true,
	    .ngroups = 2, .groups = { 1000, 27 }, .name = "ann" };
	char why[256];

	(void)state;
	role_mode = MODE_SYSTEM;
	settings.run_uid = 999;
	lets(&a, "/bin/sh", true, "");
	lets(&a, "", true, "");
	lets(&a, "/bin/sh ", false, none);
	lets(&a, "sh", false, none);
	lets(&a, "/usr/sbin/nologin", false, none);
	lets(&a, "/sbin/nologin", false, none);
	lets(&a, "/bin/false", false, none);
	lets(&a, "/bin/true", false, none);
	strcpy(settings.allowed_groups, "2,270");
	lets(&a, "/bin/sh", false, "allow user and allow group");
	strcpy(settings.allowed_groups, "270,27");
	lets(&a, "/bin/sh", true, "");
	lets(&a, "/bin/false", false, none);
	strcpy(settings.allowed_users, "1000");
	lets(&a, "/bin/false", true, "");
	strcpy(settings.denied_groups, "27");
	lets(&a, "/bin/sh", false, "ann (uid 1000) is denied");
	strcpy(settings.denied_groups, "28");
	lets(&a, "/bin/sh", true, "");
	/* nothing that the configuration says opens it again */
	a.state = ACCT_LOCKED;
	lets(&a, "/bin/sh", false, "ann (uid 1000) is locked; to let it in: "
	    "usermod -U ann");
	a.state = ACCT_EXPIRED;
	lets(&a, "/bin/sh", false, "ann (uid 1000) has expired; to let it "
	    "in: chage -E -1 ann");
	a.state = ACCT_INACTIVE;
	lets(&a, "/bin/sh", false, "to let it in: passwd ann");
	a.state = ACCT_UNREAD;
	assert_int_equal(admit(&a, why, sizeof(why)), 1);
	a.uid = 999;
	a.state = ACCT_LOCKED;
	lets(&a, "/bin/sh", true, "");
	a.uid = 1000;
	a.state = ACCT_UNKNOWN;
	lets(&a, "/bin/sh", true, "");
	a.has_more = true;
	lets(&a, "/bin/sh", false, "in more than 256 groups");
	strcpy(settings.denied_groups, "");
	lets(&a, "/bin/sh", true, "");
	/* a daemon of one user's own is for that one */
	role_mode = MODE_USER;
	lets(&a, "/bin/false", true, "");
	strcpy(settings.allowed_users, "");
	strcpy(settings.allowed_groups, "");
	strcpy(settings.denied_groups, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(admission),
		cmocka_unit_test(locked_accounts),
		cmocka_unit_test(addresses),
		cmocka_unit_test(broken_addresses),
		cmocka_unit_test(scopes),
		cmocka_unit_test(rules_fit),
		cmocka_unit_test(rules_are_a_set),
		cmocka_unit_test(answer_good),
		cmocka_unit_test(answer_of_another),
		cmocka_unit_test(answer_states),
		cmocka_unit_test(answer_errors),
		cmocka_unit_test(answer_cut),
		cmocka_unit_test(kernel),
		cmocka_unit_test(principals_system),
		cmocka_unit_test(principals_user),
		cmocka_unit_test(accounts),
		cmocka_unit_test(accounts_by_name),
		cmocka_unit_test(admins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
