/* SPDX-License-Identifier: ISC */
/*
 * The addresses of listen statements. Literals only: the parent asks no
 * name service, neither as root nor later.
 */
#include <sys/socket.h>
#include <sys/types.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf_table.h"

/* Address text without the interface, which goes to zone ("" if none). */
static int
split_zone(const char *addr, char host[INET6_ADDRSTRLEN], char zone[IFNAMSIZ])
{
	size_t	len = strcspn(addr, "%"), zlen;

	zone[0] = '\0';
	if (len >= INET6_ADDRSTRLEN)
		return -1;
	memcpy(host, addr, len);
	host[len] = '\0';
	if (addr[len] == '\0')
		return 0;
	zlen = strlen(addr + len + 1);
	if (zlen == 0 || zlen >= IFNAMSIZ ||
	    strpbrk(addr + len + 1, "%/: ") != NULL)
		return -1;
	memcpy(zone, addr + len + 1, zlen + 1);
	return 0;
}

static int
canonical_v6(const struct in6_addr *a6, const char *zone, char **out)
{
	char	text[INET6_ADDRSTRLEN];
	int	n;

	/* A zone says which link; only link-local addresses need one. */
	if ((zone[0] != '\0') != IN6_IS_ADDR_LINKLOCAL(a6) ||
	    IN6_IS_ADDR_V4MAPPED(a6) ||
	    inet_ntop(AF_INET6, a6, text, sizeof(text)) == NULL)
		return -1;
	n = asprintf(out, "%s%s%s", text, zone[0] != '\0' ? "%" : "", zone);
	if (n == -1)
		*out = NULL;
	return n == -1 ? -1 : 0;
}

/*
 * Converts an address to its canonical form, so that equal addresses compare
 * equal. Sets *out to a new string.
 */
static int
canonical(const char *addr, char **out)
{
	char		 host[INET6_ADDRSTRLEN], zone[IFNAMSIZ];
	struct in_addr	 a4;
	struct in6_addr	 a6;

	if (strcmp(addr, "localhost") != 0 && strcmp(addr, "*") != 0) {
		if (split_zone(addr, host, zone) == -1)
			return -1;
		if (inet_pton(AF_INET6, host, &a6) == 1)
			return canonical_v6(&a6, zone, out);
		if (zone[0] != '\0' || inet_pton(AF_INET, host, &a4) != 1)
			return -1;
	}
	*out = strdup(addr);
	return *out == NULL ? -1 : 0;
}

void
conf_listen_clear(struct conf_listen *l)
{
	free(l->addr);
	free(l->user);
	memset(l, 0, sizeof(*l));
}

/* Default, file or command line: the later source replaces the earlier. */
static int
origin(int line)
{
	if (line == CONF_LINE_DEFAULT)
		return 0;
	return line == CONF_LINE_COMMAND ? 2 : 1;
}

/*
 * So the default goes with the first statement, and all of them with a flag;
 * those of the web are apart from the others.
 */
static void
drop_weaker(struct conf *c, const struct conf_listen *l)
{
	size_t	i, kept = 0;

	for (i = 0; i < c->nlistens; i++) {
		if (c->listens[i].web == l->web &&
		    origin(c->listens[i].line) < origin(l->line))
			conf_listen_clear(&c->listens[i]);
		else
			c->listens[kept++] = c->listens[i];
	}
	c->nlistens = kept;
}

static int
listen_valid(struct conf_listen *l, char *err, size_t errsize)
{
	char	*addr, quoted[80];

	if (canonical(l->addr, &addr) == -1) {
		conf_quote(l->addr, quoted);
		snprintf(err, errsize, "listen on must be followed by an IPv4 "
		    "or IPv6 address (a link-local one with %%interface), "
		    "localhost or *, not %s", quoted);
		return -1;
	}
	free(l->addr);
	l->addr = addr;
	if (l->tls && l->plain) {
		snprintf(err, errsize, "listen on %s: tls and plain exclude "
		    "each other; use one of them", addr);
		return -1;
	}
	if (l->user == NULL)
		return 0;
	conf_quote(l->user, quoted);
	if (!conf_name_valid(l->user))
		snprintf(err, errsize, "auth none as must be followed by the "
		    "name of a user, not %s", quoted);
	else if (strcmp(l->user, "root") == 0)
		snprintf(err, errsize, "auth none as must name an ordinary "
		    "user, not %s: anybody would be root", quoted);
	else
		return 0;
	return -1;
}

int
conf_listen_add(struct conf *c, struct conf_listen *l, char *err,
    size_t errsize)
{
	struct conf_listen	*listens;

	if (listen_valid(l, err, errsize) == -1)
		goto fail;
	drop_weaker(c, l);
	if (c->nlistens == CONF_MAX_LISTENS) {
		snprintf(err, errsize, "more than %d listen statements",
		    CONF_MAX_LISTENS);
		goto fail;
	}
	listens = reallocarray(c->listens, c->nlistens + 1, sizeof(*listens));
	if (listens == NULL) {
		snprintf(err, errsize, "out of memory");
		goto fail;
	}
	c->listens = listens;
	c->listens[c->nlistens++] = *l;
	memset(l, 0, sizeof(*l));
	return 0;
 fail:
	conf_listen_clear(l);
	return -1;
}

static bool
names_web(const struct conf *c)
{
	size_t	i;

	for (i = 0; i < c->nlistens; i++) {
		if (c->listens[i].web)
			return true;
	}
	return false;
}

const struct conf_listen *
conf_listen_at(const struct conf *c, size_t i)
{
	static char			localhost[] = "localhost";
	static const struct conf_listen	web = { .addr = localhost,
	    .web = true, .line = CONF_LINE_DEFAULT };

	if (i < c->nlistens)
		return &c->listens[i];
	return i == c->nlistens && !names_web(c) && c->web_port != 0 ? &web :
	    NULL;
}

bool
conf_web_is_default(const struct conf *c)
{
	return !names_web(c) &&
	    conf_key_line(c, "web-port") == CONF_LINE_DEFAULT;
}

uint16_t
conf_listen_port(const struct conf *c, const struct conf_listen *l)
{
	if (l->web && c->web_port == 0)
		return 0;
	return l->port != 0 ? l->port : l->web ? c->web_port : c->port;
}

static void
fill_v4(struct sockaddr_storage *ss, struct in_addr addr, uint16_t port)
{
	struct sockaddr_in	*sin = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	sin->sin_family = AF_INET;
	sin->sin_addr = addr;
	sin->sin_port = htons(port);
}

static void
fill_v6(struct sockaddr_storage *ss, const struct in6_addr *addr,
    uint32_t scope, uint16_t port)
{
	struct sockaddr_in6	*sin6 = (struct sockaddr_in6 *)ss;

	memset(ss, 0, sizeof(*ss));
	sin6->sin6_family = AF_INET6;
	sin6->sin6_addr = *addr;
	sin6->sin6_scope_id = scope;
	sin6->sin6_port = htons(port);
}

static int
literal_addr(const char *addr, uint16_t port, struct sockaddr_storage *out)
{
	char		 host[INET6_ADDRSTRLEN], zone[IFNAMSIZ];
	struct in_addr	 a4;
	struct in6_addr	 a6;
	uint32_t	 scope = 0;

	if (split_zone(addr, host, zone) == -1)
		goto invalid;
	if (zone[0] != '\0' && (scope = if_nametoindex(zone)) == 0) {
		errno = ENODEV;
		return -1;
	}
	if (inet_pton(AF_INET6, host, &a6) == 1)
		fill_v6(out, &a6, scope, port);
	else if (inet_pton(AF_INET, host, &a4) == 1)
		fill_v4(out, a4, port);
	else
		goto invalid;
	return 1;
 invalid:
	errno = EINVAL;
	return -1;
}

int
conf_listen_addrs(const struct conf_listen *l, uint16_t port,
    struct sockaddr_storage out[2])
{
	struct in_addr	a4;

	if (strcmp(l->addr, "localhost") == 0) {
		a4.s_addr = htonl(INADDR_LOOPBACK);
		fill_v4(&out[0], a4, port);
		fill_v6(&out[1], &in6addr_loopback, 0, port);
		return 2;
	}
	if (strcmp(l->addr, "*") == 0) {
		a4.s_addr = htonl(INADDR_ANY);
		fill_v4(&out[0], a4, port);
		fill_v6(&out[1], &in6addr_any, 0, port);
		return 2;
	}
	return literal_addr(l->addr, port, out);
}

bool
conf_addr_is_loopback(const struct sockaddr_storage *ss)
{
	const struct sockaddr_in6	*sin6;
	const struct sockaddr_in	*sin;

	if (ss->ss_family == AF_INET) {
		sin = (const struct sockaddr_in *)ss;
		return ntohl(sin->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	}
	sin6 = (const struct sockaddr_in6 *)ss;
	return ss->ss_family == AF_INET6 &&
	    IN6_IS_ADDR_LOOPBACK(&sin6->sin6_addr);
}
