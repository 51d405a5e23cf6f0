/* SPDX-License-Identifier: ISC */
/* Listening sockets: made here, while there may be root, for the parent. */
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

#include "setup.h"
#include "wire/proto.h"

#define BACKLOG		512
/* Another daemon that starts holds the lock for less than a tenth of this. */
#define LOCK_TRIES	100
#define LOCK_PAUSE_NS	(50 * 1000 * 1000)
#define LOCK_PATH	(sizeof(((struct sockaddr_un *)NULL)->sun_path) + 8)

/* every address in both families, the web's default, the local socket */
_Static_assert(MAX_LISTENERS == (CONF_MAX_LISTENS + 1) * 2 + 1, "all fit in");

/* Listeners that the parent has, and that there are to be. */
static struct bound	 present[MAX_LISTENERS], list[MAX_LISTENERS];
static size_t		 npresent, nlist;

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
describe(struct bound *l, const struct conf_listen *c)
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
rule_of(struct bound *l, const struct conf_listen *c)
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
add_local(const struct conf *c, struct bound *l)
{
	struct sockaddr_un *sun = (struct sockaddr_un *)&l->addr;
	int n;

	memset(l, 0, sizeof(*l));
	l->fd = l->kept = -1;
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
bind_local(struct bound *l)
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
open_local(struct bound *l)
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
wanted(const struct conf *c, struct bound *out)
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
			out[n].fd = out[n].kept = -1;
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

static const struct bound *
find_in_the_way(const struct bound *l, const struct bound *among, size_t n)
{
	const struct bound *own;

	for (own = among; own < among + n; own++)
		if ((own->fd != -1 || own->kept != -1) &&
		    own->addr.ss_family == l->addr.ss_family &&
		    port_of(&own->addr) == port_of(&l->addr) &&
		    (is_any(&own->addr) || is_any(&l->addr)))
			return own;
	return NULL;
}

/*
 * The listener of ours that is in the way: of one port, and one of them is for
 * every address.  NULL = it is another program's.
 */
static const struct bound *
own_in_the_way(const struct bound *l)
{
	const struct bound *own = find_in_the_way(l, present, npresent);

	return own != NULL ? own : find_in_the_way(l, list, nlist);
}

static void
say_taken(const struct bound *l)
{
	const struct bound *own = own_in_the_way(l);

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
no_ipv6(const struct bound *l)
{
	if (l->is_only)
		log_warnx("cannot listen on %s: this host has no IPv6; choose "
		    "an IPv4 address, or switch IPv6 on", l->text);
	return 0;
}

/* -1, or 0 for what the daemon can do without. */
static int
cannot_open(struct bound *l)
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
		    strerror(error), error == EACCES && d.reload &&
		    d.mode == MODE_SYSTEM ?
		    "; such a port is opened at a restart only" : "");
	return -1;
}

/*
 * An address may come later than the daemon, as when the host starts, and go
 * meanwhile.
 */
static int
bind_address(struct bound *l)
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
open_one(struct bound *l)
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

static bool
is_open(const struct bound *l)
{
	return l->fd != -1 || l->kept != -1;
}

/* Whether some port of the network is open that is not the web page's. */
static bool
some_open(void)
{
	size_t i;

	for (i = 0; i < nlist; i++)
		if (is_open(&list[i]) && !(list[i].flags & LISTENER_WEB) &&
		    list[i].addr.ss_family != AF_UNIX)
			return true;
	return d.opt.local;
}

static bool
same(const struct bound *a, const struct bound *b)
{
	return a->len == b->len && memcmp(&a->addr, &b->addr, a->len) == 0;
}

int
listen_present(const char *text, const void *addr, size_t len)
{
	struct bound *l = &present[npresent];

	if (npresent == MAX_LISTENERS || len > sizeof(l->addr))
		return -1;
	(void)snprintf(l->text, sizeof(l->text), "%s", text);
	memcpy(&l->addr, addr, len);
	l->len = (socklen_t)len;
	l->fd = -1;
	l->kept = (int)npresent++;
	return 0;
}

/* Leaves it to the parent if the parent has it. */
static int
have_one(struct bound *l)
{
	size_t i;

	for (i = 0; i < npresent; i++)
		if (same(l, &present[i]))
			l->kept = (int)i;
	return l->kept != -1 ? 0 : open_one(l);
}

int
listen_open(const struct conf *c)
{
	ssize_t n = wanted(c, list);
	size_t i;

	if (n == -1)
		return -1;
	nlist = (size_t)n;
	for (i = 0; i < nlist; i++) {
		if (have_one(&list[i]) == -1)
			return -1;
		/* at a reload the parent says so, of what is new */
		if (list[i].flags & LISTENER_AUTH_NONE && !d.reload)
			log_warnx("%s: everybody who reaches it acts as that "
			    "user", list[i].text);
	}
	if (some_open())
		return 0;
	log_error("there is no address to listen on");
	return -1;
}

struct bound *
listen_at(size_t i)
{
	struct bound *l;

	for (l = list; l < list + nlist; l++)
		if (is_open(l) && i-- == 0)
			return l;
	return NULL;
}

/* The port of the first whose flags among these are as wanted; 0 = none. */
static uint16_t
first_port(uint32_t mask, uint32_t flags)
{
	const struct sockaddr_storage *ss;
	size_t i;

	for (i = 0; i < nlist; i++) {
		ss = &list[i].addr;
		if (is_open(&list[i]) && ss->ss_family != AF_UNIX &&
		    (list[i].flags & mask) == flags)
			return port_of(ss);
	}
	return 0;
}

bool
listen_has_tls(void)
{
	return first_port(LISTENER_TLS, LISTENER_TLS) != 0;
}

/* The first that this host reaches itself by, or the first; NULL = none. */
static const struct bound *
web_listener(void)
{
	const struct bound *first = NULL;
	size_t i;

	for (i = 0; i < nlist; i++) {
		if (!is_open(&list[i]) || !(list[i].flags & LISTENER_WEB))
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
	const struct bound *l = web_listener();

	return l == NULL ? 0 : port_of(&l->addr);
}

bool
listen_web_is_tls(void)
{
	const struct bound *l = web_listener();

	return l != NULL && l->flags & LISTENER_TLS;
}

void
listen_web_address(char *text, size_t size)
{
	const struct bound *l = web_listener();

	text[0] = '\0';
	if (l != NULL && is_any(&l->addr))
		(void)snprintf(text, size, "%s",
		    l->addr.ss_family == AF_INET6 ? "::1" : "127.0.0.1");
	else if (l != NULL && inet_ntop(l->addr.ss_family, ip_of(&l->addr),
	    text, (socklen_t)size) == NULL)
		text[0] = '\0';
}
