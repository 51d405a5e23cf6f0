/* SPDX-License-Identifier: ISC */
/*
 * Listening sockets: made here, while there may be root, and handed to
 * netproc; idproc gets the rule that goes with each.
 */
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "../parent/parent.h"
#include "proto.h"

/* every address in both families, the web's default, the local socket */
#define MAX_LISTENERS	((CONF_MAX_LISTENS + 1) * 2 + 1)
#define BACKLOG		512
/* Another daemon that starts holds the lock for less than a tenth of this. */
#define LOCK_TRIES	100
#define LOCK_PAUSE_NS	(50 * 1000 * 1000)
#define LOCK_PATH	(sizeof(((struct sockaddr_un *)NULL)->sun_path) + 8)

struct listener {
	struct sockaddr_storage	 addr;
	socklen_t		 len;
	uint32_t		 flags;		/* LISTENER_* */
	uid_t			 uid;		/* with LISTENER_AUTH_NONE */
	bool			 may_fail;	/* nobody asked for it */
	bool			 is_only;	/* its line names no other one */
	char			 text[160];
	int			 fd;
};

static struct listener	 list[MAX_LISTENERS];
static size_t		 nlist;

static socklen_t
addr_len(const struct sockaddr_storage *ss)
{
	return ss->ss_family == AF_INET ? sizeof(struct sockaddr_in) :
	    sizeof(struct sockaddr_in6);
}

static const void *
ip_of(const struct sockaddr_storage *ss)
{
	return ss->ss_family == AF_INET6 ?
	    (const void *)&((const struct sockaddr_in6 *)ss)->sin6_addr :
	    (const void *)&((const struct sockaddr_in *)ss)->sin_addr;
}

static uint16_t
port_of(const struct sockaddr_storage *ss)
{
	return ntohs(ss->ss_family == AF_INET6 ?
	    ((const struct sockaddr_in6 *)ss)->sin6_port :
	    ((const struct sockaddr_in *)ss)->sin_port);
}

static void
describe(struct listener *l, const struct conf_listen *c)
{
	char ip[INET6_ADDRSTRLEN];
	bool v6 = l->addr.ss_family == AF_INET6;
	/* without it a link-local address is one on any link */
	const char *zone = strchr(c->addr, '%');

	if (inet_ntop(l->addr.ss_family, ip_of(&l->addr), ip, sizeof(ip)) ==
	    NULL)
		(void)snprintf(ip, sizeof(ip), "?");
	(void)snprintf(l->text, sizeof(l->text), "%s%s%s%s%s port %u%s%s%.64s",
	    c->web ? "web " : "", v6 ? "[" : "", ip, zone != NULL ? zone : "",
	    v6 ? "]" : "",
	    port_of(&l->addr), c->tls ? " tls" : "",
	    c->user != NULL ? " auth none as " : "",
	    c->user != NULL ? c->user : "");
}

/* Why nobody may be taken for the user that is named; NULL: who it is. */
static const char *
user_fault(const char *name, uid_t *uid)
{
	const struct passwd *pw;

	notify_alive();
	pw = getpwnam(name);
	if (pw == NULL)
		return "there is no such user; name one that exists";
	if (pw->pw_uid == 0)
		return "root is refused; name an ordinary user";
	/* what an ordinary user checks may be the system's file */
	if (d.mode == MODE_USER && !d.opt.check && pw->pw_uid != getuid())
		return "that needs a daemon started by root";
	*uid = pw->pw_uid;
	return NULL;
}

int
listen_check(const struct conf *c, conf_error_fn fn, void *arg)
{
	const struct conf_listen *l;
	char text[PATH_LEN + 512];
	const char *why;
	uid_t uid;
	size_t i;
	int r = 0;

	for (i = 0; (l = conf_listen_at(c, i)) != NULL; i++) {
		if (l->user == NULL || conf_listen_port(c, l) == 0 ||
		    (why = user_fault(l->user, &uid)) == NULL)
			continue;
		(void)snprintf(text, sizeof(text), "%s:%d: %slisten on %s "
		    "auth none as %.64s: %s", c->name, l->line,
		    l->web ? "web " : "", l->addr, l->user, why);
		fn(arg, text);
		r = -1;
	}
	return r;
}

static int
rule_of(struct listener *l, const struct conf_listen *c)
{
	const char *why;

	if (c->web)
		l->flags |= LISTENER_WEB;
	if (c->tls)
		l->flags |= LISTENER_TLS;
	else if (!conf_addr_is_loopback(&l->addr))
		l->flags |= LISTENER_PLAIN;
	if (c->user == NULL)
		return 0;
	/* gone since listen_check() */
	if ((why = user_fault(c->user, &l->uid)) != NULL) {
		log_error("listen on %s auth none as %.64s: %s", c->addr,
		    c->user, why);
		return -1;
	}
	l->flags |= LISTENER_AUTH_NONE;
	return 0;
}

/* The local socket: clients are known by their credentials. */
static int
add_local(const struct conf *c, struct listener *l)
{
	struct sockaddr_un *sun = (struct sockaddr_un *)&l->addr;
	int n;

	memset(l, 0, sizeof(*l));
	l->fd = -1;
	sun->sun_family = AF_UNIX;
	n = c->socket[0] != '\0' ?
	    snprintf(sun->sun_path, sizeof(sun->sun_path), "%s", c->socket) :
	    snprintf(sun->sun_path, sizeof(sun->sun_path),
	    "%s/debuglantern.sock", d.run_dir);
	if (n >= (int)sizeof(sun->sun_path)) {
		log_error("the local socket's path, %s/debuglantern.sock, is "
		    "longer than %zu bytes; name another by socket, or a "
		    "shorter run-dir", d.run_dir, sizeof(sun->sun_path) - 1);
		return -1;
	}
	l->len = sizeof(*sun);
	(void)snprintf(l->text, sizeof(l->text), "%s", sun->sun_path);
	return 0;
}

/* Where others may write they may hold it for ever. */
static int
lock_soon(int fd)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
	int tries;

	for (tries = 0; tries < LOCK_TRIES; tries++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -1;
		(void)nanosleep(&pause, NULL);
	}
	errno = EBUSY;
	return -1;
}

/*
 * Two daemons that start at the same time must not take each other's socket
 * for one that is left over.  The lock is gone when it has served: who waited
 * for it looks again whether it is there.
 */
static int
lock_local(const char *socket_path, char lock[LOCK_PATH])
{
	struct stat held, there;
	int fd;

	(void)snprintf(lock, LOCK_PATH, "%s.lock", socket_path);
	for (;;) {
		fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
		    0600);
		if (fd == -1)
			return -1;
		if (lock_soon(fd) == -1) {
			close(fd);
			return -1;
		}
		if (fstat(fd, &held) == 0 && stat(lock, &there) == 0 &&
		    held.st_ino == there.st_ino &&
		    held.st_dev == there.st_dev)
			return fd;
		close(fd);
	}
}

/*
 * A socket that nobody answers was left by a daemon that was killed; whatever
 * else has the name is no daemon's to remove.  error: of the try to connect.
 */
static int
make_way(const char *path, int error)
{
	struct stat st;

	if (lstat(path, &st) == -1)
		return errno == ENOENT ? 0 : -1;
	if (!S_ISSOCK(st.st_mode)) {
		errno = ENOTSOCK;
		return -1;
	}
	return error == ECONNREFUSED ? unlink(path) : 0;
}

/* Remedy for a failed bind of the local socket; "" = none. */
static const char *
local_remedy(int error)
{
	if (error == EADDRINUSE)
		return "; another daemon has it, choose one with --socket";
	if (error == ENOTSOCK)
		return ", and something else has that name; choose another "
		    "with --socket";
	return "";
}

static int
bind_local(struct listener *l)
{
	const struct sockaddr_un *sun = (struct sockaddr_un *)&l->addr;
	mode_t old;
	int r;

	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0);
	if (l->fd == -1)
		goto fail;
	if (connect(l->fd, (struct sockaddr *)&l->addr, l->len) == 0 ||
	    errno == EAGAIN) {
		errno = EADDRINUSE;
		goto fail;
	}
	if (make_way(sun->sun_path, errno) == -1)
		goto fail;
	old = umask(d.mode == MODE_SYSTEM ? 0111 : 0177);
	r = bind(l->fd, (struct sockaddr *)&l->addr, l->len);
	(void)umask(old);
	if (r == 0 && listen(l->fd, BACKLOG) == 0)
		return 0;
fail:
	log_error("cannot listen on %s: %s%s", l->text, strerror(errno),
	    local_remedy(errno));
	if (l->fd != -1)
		close(l->fd);
	l->fd = -1;
	return -1;
}

static int
open_local(struct listener *l)
{
	const struct sockaddr_un *sun = (struct sockaddr_un *)&l->addr;
	char lock[LOCK_PATH];
	int lock_fd = lock_local(sun->sun_path, lock), r;

	if (lock_fd == -1) {
		log_error("cannot listen on %s: %s: %s", l->text, lock,
		    strerror(errno));
		return -1;
	}
	r = bind_local(l);
	(void)unlink(lock);
	close(lock_fd);
	return r;
}

/* The listeners that a configuration asks for; none is open yet. */
static ssize_t
wanted(const struct conf *c, struct listener *out)
{
	const struct conf_listen *l;
	struct sockaddr_storage ss[2];
	size_t i, n = 0;
	int j, k;

	for (i = 0; (l = conf_listen_at(c, i)) != NULL; i++) {
		if (conf_listen_port(c, l) == 0 || d.opt.local)
			continue;
		k = conf_listen_addrs(l, conf_listen_port(c, l), ss);
		if (k == -1) {
			log_error("listen on %s: no such interface", l->addr);
			return -1;
		}
		for (j = 0; j < k && n < MAX_LISTENERS - 1; j++, n++) {
			memset(&out[n], 0, sizeof(out[n]));
			out[n].fd = -1;
			out[n].addr = ss[j];
			out[n].len = addr_len(&ss[j]);
			out[n].may_fail = l->web && conf_web_is_default(c);
			out[n].is_only = k == 1;
			if (rule_of(&out[n], l) == -1)
				return -1;
			describe(&out[n], l);
		}
	}
	return add_local(c, &out[n]) == -1 ? -1 : (ssize_t)n + 1;
}

static bool
is_any(const struct sockaddr_storage *ss)
{
	return ss->ss_family == AF_INET6 ? IN6_IS_ADDR_UNSPECIFIED(
	    &((const struct sockaddr_in6 *)ss)->sin6_addr) :
	    ((const struct sockaddr_in *)ss)->sin_addr.s_addr == INADDR_ANY;
}

/*
 * The listener of ours that is in the way: of one port, and one of them is for
 * every address.  NULL = it is another program's.
 */
static const struct listener *
own_in_the_way(const struct listener *l)
{
	const struct listener *own;

	for (own = list; own < list + nlist; own++)
		if (own->fd != -1 && own->addr.ss_family ==
		    l->addr.ss_family && port_of(&own->addr) ==
		    port_of(&l->addr) && (is_any(&own->addr) ||
		    is_any(&l->addr)))
			return own;
	return NULL;
}

static void
say_taken(const struct listener *l)
{
	const struct listener *own = own_in_the_way(l);

	if (own != NULL)
		log_error("cannot listen on %s while the daemon listens on "
		    "%s: that changes at a restart only, or by way of "
		    "another port", l->text, own->text);
	else
		log_error("cannot listen on %s: %s; another program has the "
		    "port, choose one with %s", l->text,
		    strerror(EADDRINUSE), l->flags & LISTENER_WEB ?
		    "--web-port" : "--port");
}

/* A host without IPv6 is served by IPv4 alone. */
static int
no_ipv6(const struct listener *l)
{
	if (l->is_only)
		log_warnx("cannot listen on %s: this host has no IPv6; choose "
		    "an IPv4 address, or switch IPv6 on", l->text);
	return 0;
}

/* -1, or 0 for what the daemon can do without. */
static int
cannot_open(struct listener *l)
{
	int error = errno;

	if (l->fd != -1)
		close(l->fd);
	l->fd = -1;
	/* ::1 is missing where IPv6 is switched off by sysctl */
	if (error == EADDRNOTAVAIL && l->addr.ss_family == AF_INET6 &&
	    conf_addr_is_loopback(&l->addr))
		return no_ipv6(l);
	if (l->may_fail) {
		log_warnx("cannot listen on %s: %s; there is no web page "
		    "there unless --web-port names another port, or 0 for "
		    "none", l->text, strerror(error));
		return 0;
	}
	if (error == EADDRINUSE)
		say_taken(l);
	else
		log_error("cannot listen on %s: %s%s", l->text,
		    strerror(error), error == EACCES && d.started &&
		    d.mode == MODE_SYSTEM ?
		    "; such a port is opened at a restart only" : "");
	return -1;
}

/*
 * An address may come later than the daemon, as when the host starts, and go
 * meanwhile.
 */
static int
bind_address(struct listener *l)
{
	const struct sockaddr *sa = (const struct sockaddr *)&l->addr;
	int on = 1;

	if (bind(l->fd, sa, l->len) == 0)
		return 0;
	if (errno != EADDRNOTAVAIL || conf_addr_is_loopback(&l->addr))
		return -1;
	if (setsockopt(l->fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on)) == -1 ||
	    bind(l->fd, sa, l->len) == -1)
		return -1;
	log_warnx("%s: this host has no such address; it is served as soon as "
	    "there is one", l->text);
	return 0;
}

static int
open_one(struct listener *l)
{
	int on = 1;

	if (l->addr.ss_family == AF_UNIX)
		return open_local(l);
	l->fd = socket(l->addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0);
	if (l->fd == -1 && errno == EAFNOSUPPORT)
		return no_ipv6(l);
	if (l->fd == -1 ||
	    setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on,
	    sizeof(on)) == -1 ||
	    (l->addr.ss_family == AF_INET6 && setsockopt(l->fd, IPPROTO_IPV6,
	    IPV6_V6ONLY, &on, sizeof(on)) == -1) ||
	    bind_address(l) == -1 || listen(l->fd, BACKLOG) == -1)
		return cannot_open(l);
	return 0;
}

static void
warn_of_guests(const struct listener *l)
{
	if (l->flags & LISTENER_AUTH_NONE)
		log_warnx("%s: everybody who reaches it acts as that user",
		    l->text);
}

/* Whether some port of the network is open that is not the web page's. */
static bool
some_open(const struct listener *l, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (l[i].fd != -1 && !(l[i].flags & LISTENER_WEB) &&
		    l[i].addr.ss_family != AF_UNIX)
			return true;
	return d.opt.local;
}

void
listen_open(void)
{
	ssize_t n = wanted(d.conf, list);
	size_t i;

	if (n == -1)
		exit(1);
	nlist = (size_t)n;
	for (i = 0; i < nlist; i++) {
		if (open_one(&list[i]) == -1)
			exit(1);
		warn_of_guests(&list[i]);
	}
	if (!some_open(list, nlist))
		fatalx("there is no address to listen on");
}

static bool
has_text(const struct listener *l, size_t n, const char *text)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (l[i].fd != -1 && strcmp(l[i].text, text) == 0)
			return true;
	return false;
}

/* As the start names all that there are. */
static void
say_changes(const struct listener *next, size_t n)
{
	size_t i;

	for (i = 0; i < nlist; i++)
		if (list[i].fd != -1 && !has_text(next, n, list[i].text))
			log_info("no longer listening on %s", list[i].text);
	for (i = 0; i < n; i++) {
		if (next[i].fd == -1 || has_text(list, nlist, next[i].text))
			continue;
		log_info("listening on %s", next[i].text);
		warn_of_guests(&next[i]);
	}
}

static bool
same(const struct listener *a, const struct listener *b)
{
	return a->len == b->len && memcmp(&a->addr, &b->addr, a->len) == 0;
}

static void
close_one(struct listener *l)
{
	if (l->fd == -1)
		return;
	close(l->fd);
	l->fd = -1;
	if (l->addr.ss_family == AF_UNIX)
		(void)unlink(((struct sockaddr_un *)&l->addr)->sun_path);
}

static void
gone(size_t i)
{
	struct msg_out *o = msg_new(MSG_LISTENER_GONE, NULL, 0, 0);

	msg_put_u32(o, (uint32_t)i);
	(void)child_send(ROLE_NETPROC, o, -1);
	if (!(list[i].flags & LISTENER_TLS))
		return;
	o = msg_new(MSG_TLS_LISTENER_GONE, NULL, 0, 0);
	msg_put_u32(o, (uint32_t)i);
	(void)child_send(ROLE_TLSPROC, o, -1);
}

int
listen_reload(const struct conf *c)
{
	static struct listener next[MAX_LISTENERS];
	ssize_t n = wanted(c, next);
	bool kept[MAX_LISTENERS] = { false };
	size_t i, j;

	if (n == -1)
		return -1;
	for (i = 0; i < (size_t)n; i++) {
		for (j = 0; j < nlist; j++)
			if (same(&next[i], &list[j])) {
				next[i].fd = list[j].fd;
				kept[j] = true;
			}
		if (next[i].fd == -1 && open_one(&next[i]) == -1)
			goto fail;
	}
	if (!some_open(next, (size_t)n)) {
		log_error("there is no address to listen on");
		goto fail;
	}
	say_changes(next, (size_t)n);
	for (j = 0; j < nlist; j++) {
		gone(j);
		if (!kept[j])
			close_one(&list[j]);
	}
	memcpy(list, next, sizeof(list));
	nlist = (size_t)n;
	listen_hand_out(ROLE_IDPROC);
	listen_hand_out(ROLE_NETPROC);
	listen_hand_out(ROLE_TLSPROC);
	return 0;
fail:
	for (i = 0; i < (size_t)n; i++) {
		for (j = 0; j < nlist && next[i].fd != list[j].fd; j++)
			continue;
		if (j == nlist && next[i].fd != -1)
			close(next[i].fd);
	}
	return -1;
}

static void
hand_rules(void)
{
	struct msg_out *o;
	size_t i;

	for (i = 0; i < nlist; i++) {
		if (list[i].addr.ss_family == AF_UNIX)
			continue;
		o = msg_new(MSG_LISTENER_RULE, NULL, 0, 0);
		msg_put_u32(o, (uint32_t)i);
		msg_put_u32(o, list[i].flags);
		msg_put_u32(o, list[i].uid);
		msg_put_bytes(o, &list[i].addr, list[i].len);
		(void)child_send(ROLE_IDPROC, o, -1);
	}
	(void)child_send(ROLE_IDPROC, msg_new(MSG_LISTENER_RULES_END, NULL, 0,
	    0), -1);
}

/* The role that accepts gets the socket; netproc serves both in the end. */
static void
hand_one(enum role role, size_t i)
{
	bool tls = (list[i].flags & LISTENER_TLS) != 0;
	struct msg_out *o;

	if (role == ROLE_TLSPROC && !tls)
		return;
	o = msg_new(role == ROLE_TLSPROC ? MSG_TLS_LISTENER :
	    tls ? MSG_TLS_DOOR : MSG_LISTENER, NULL, 0, 0);
	msg_put_u32(o, (uint32_t)i);
	if (role == ROLE_NETPROC) {
		msg_put_u32(o, list[i].flags);
		msg_put_str(o, list[i].text);
	}
	(void)child_lend(role, o, role == ROLE_NETPROC && tls ? -1 :
	    list[i].fd);
}

void
listen_hand_out(enum role role)
{
	size_t i;

	if (role == ROLE_IDPROC)
		hand_rules();
	if (role == ROLE_NETPROC) {
		tell_mdns_state();
		tls_tell();
	}
	if (role != ROLE_NETPROC && role != ROLE_TLSPROC)
		return;
	for (i = 0; i < nlist; i++)
		if (list[i].fd != -1)
			hand_one(role, i);
}

/* The port of the first whose flags among these are as wanted; 0 = none. */
static uint16_t
first_port(uint32_t mask, uint32_t flags)
{
	const struct sockaddr_storage *ss;
	size_t i;

	for (i = 0; i < nlist; i++) {
		ss = &list[i].addr;
		if (list[i].fd != -1 && ss->ss_family != AF_UNIX &&
		    (list[i].flags & mask) == flags)
			return port_of(ss);
	}
	return 0;
}

uint16_t
listen_tls_port(void)
{
	return first_port(LISTENER_TLS | LISTENER_WEB, LISTENER_TLS);
}

bool
listen_has_tls(void)
{
	return first_port(LISTENER_TLS, LISTENER_TLS) != 0;
}

/* The first that this host reaches itself by, or the first; NULL = none. */
static const struct listener *
web_listener(void)
{
	const struct listener *first = NULL;
	size_t i;

	for (i = 0; i < nlist; i++) {
		if (list[i].fd == -1 || !(list[i].flags & LISTENER_WEB))
			continue;
		if (is_any(&list[i].addr) ||
		    conf_addr_is_loopback(&list[i].addr))
			return &list[i];
		if (first == NULL)
			first = &list[i];
	}
	return first;
}

uint16_t
listen_web_port(void)
{
	const struct listener *l = web_listener();

	return l == NULL ? 0 : port_of(&l->addr);
}

bool
listen_web_is_tls(void)
{
	const struct listener *l = web_listener();

	return l != NULL && l->flags & LISTENER_TLS;
}

void
listen_web_address(char *text, size_t size)
{
	const struct listener *l = web_listener();

	text[0] = '\0';
	if (l != NULL && is_any(&l->addr))
		(void)snprintf(text, size, "%s",
		    l->addr.ss_family == AF_INET6 ? "::1" : "127.0.0.1");
	else if (l != NULL && inet_ntop(l->addr.ss_family, ip_of(&l->addr),
	    text, (socklen_t)size) == NULL)
		text[0] = '\0';
}

void
listen_close(void)
{
	size_t i;

	for (i = 0; i < nlist; i++)
		close_one(&list[i]);
	nlist = 0;
}

void
listen_describe(void (*fn)(const char *))
{
	size_t i;

	for (i = 0; i < nlist; i++)
		if (list[i].fd != -1)
			fn(list[i].text);
}

static bool
any_family(int family)
{
	size_t i;

	for (i = 0; i < nlist; i++)
		if (list[i].fd != -1 && list[i].addr.ss_family == family)
			return true;
	return false;
}

void
announce_send(void)
{
	char host[HOST_NAME_MAX + 1] = "localhost", name[64];
	struct msg_out *o;
	bool open = false;
	size_t i;

	if (!d.conf->mdns)
		return;
	(void)gethostname(host, sizeof(host) - 1);
	conf_service_name(d.conf, host, name);
	for (i = 0; i < nlist; i++)
		open |= (list[i].flags & LISTENER_AUTH_NONE) != 0;
	o = msg_new(MSG_ANNOUNCE, NULL, 0, 0);
	msg_put_u32(o, d.conf->port);
	msg_put_u32(o, listen_web_port());
	msg_put_u32(o, listen_tls_port());
	msg_put_u32(o, (any_family(AF_INET) ? 1U : 0) |
	    (any_family(AF_INET6) ? 2U : 0));
	msg_put_str(o, name);
	msg_put_str(o, DL_VERSION);
	msg_put_str(o, open ? "none" : "peer");
	msg_put_str(o, listen_tls_port() != 0 ? tls_fingerprint() : "");
	(void)child_send(ROLE_ANNOUNCER, o, -1);
}
