/* SPDX-License-Identifier: ISC */
/* Which daemon is meant: the forms a target is written in. */
#include <arpa/inet.h>

#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <ctype.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "target.h"

#define DEFAULT_PORT	"4444"

/* Takes the text after the host: nothing, or ":" and a port. */
static int
take_port(struct target *t, const char *s)
{
	const char *bad = NULL;

	if (*s == '\0')
		return 0;
	if (*s++ != ':' || strspn(s, "0123456789") != strlen(s))
		return -1;
	strtonum(s, 1, 65535, &bad);
	if (bad != NULL || strlen(s) >= sizeof(t->port))
		return -1;
	strlcpy(t->port, s, sizeof(t->port));
	t->port_given = true;
	return 0;
}

/* "host", "host:port", "[v6]", "[v6]:port" or a bare IPv6 address. */
static int
take_host(struct target *t, const char *s)
{
	const char *end = s + strlen(s), *colon = strchr(s, ':');
	size_t len;

	if (*s == '[') {
		if ((end = strchr(++s, ']')) == NULL ||
		    take_port(t, end + 1) == -1)
			return -1;
	} else if (colon != NULL && strchr(colon + 1, ':') == NULL) {
		end = colon;
		if (take_port(t, colon) == -1)
			return -1;
	}
	len = (size_t)(end - s);
	if (len == 0 || len >= sizeof(t->host))
		return -1;
	memcpy(t->host, s, len);
	t->host[len] = '\0';
	/* It is a word of known_hosts, one of a URL has no path here, and what
	 * stands in brackets has none of its own. */
	return t->host[strcspn(t->host, " \t\r\n/[]")] == '\0' ? 0 : -1;
}

static int
take_ssh(struct target *t, const char *s)
{
	const char *at = strrchr(s, '@');

	if (at != NULL) {
		if (at == s || (size_t)(at - s) >= sizeof(t->user))
			return -1;
		memcpy(t->user, s, (size_t)(at - s));
		s = at + 1;
	}
	if (take_host(t, s) == -1)
		return -1;
	/* ssh would take them for options. */
	return t->host[0] == '-' || t->user[0] == '-' ? -1 : 0;
}

static int
take_path(struct target *t, const char *s)
{
	if (*s == '\0' || strchr(s, '\n') != NULL)
		return -1;
	return strlcpy(t->path, s, sizeof(t->path)) < sizeof(t->path) ? 0 :
	    -1;
}

int
target_parse(struct target *t, const char *s)
{
	static const struct {
		const char	*prefix;
		enum target_kind kind;
		int		(*take)(struct target *, const char *);
	} schemes[] = {
		{ "unix:", TARGET_UNIX, take_path },
		{ "ssh://", TARGET_SSH, take_ssh },
		{ "tls://", TARGET_TLS, take_host },
		{ "tcp://", TARGET_PLAIN, take_host },
		{ "", TARGET_HOST, take_host },
	};
	size_t i = 0;

	memset(t, 0, sizeof(*t));
	while (strncmp(s, schemes[i].prefix, strlen(schemes[i].prefix)) != 0)
		i++;
	t->kind = schemes[i].kind;
	if (t->kind != TARGET_SSH)
		strlcpy(t->port, DEFAULT_PORT, sizeof(t->port));
	return schemes[i].take(t, s + strlen(schemes[i].prefix));
}

/* "[host]:port", without brackets where none are needed. */
static int
print_host(const struct target *t, char *buf, size_t size)
{
	bool v6 = strchr(t->host, ':') != NULL;

	return snprintf(buf, size, "%s%s%s%s%s", v6 ? "[" : "", t->host,
	    v6 ? "]" : "", *t->port != '\0' ? ":" : "", t->port);
}

const char *
target_text(const struct target *t, char *buf)
{
	char host[300];

	print_host(t, host, sizeof(host));
	if (t->kind == TARGET_UNIX)
		snprintf(buf, TARGET_TEXT, "unix:%s", t->path);
	else if (t->kind == TARGET_SSH)
		snprintf(buf, TARGET_TEXT, "ssh://%s%s%s", t->user,
		    *t->user != '\0' ? "@" : "", host);
	else
		snprintf(buf, TARGET_TEXT, "%s%s",
		    t->kind == TARGET_TLS ? "tls://" : "", host);
	return buf;
}

const char *
target_key(const struct target *t, char *buf)
{
	char *p;

	snprintf(buf, TARGET_TEXT, "[%s]:%s", t->host, t->port);
	for (p = buf; *p != '\0'; p++)
		*p = (char)tolower((unsigned char)*p);
	return buf;
}

bool
target_is_loopback(const struct target *t)
{
	struct in6_addr a6;
	struct in_addr a4;
	size_t len = strlen(t->host);

	if (inet_pton(AF_INET, t->host, &a4) == 1)
		return ntohl(a4.s_addr) >> 24 == 127;
	if (inet_pton(AF_INET6, t->host, &a6) == 1)
		return IN6_IS_ADDR_LOOPBACK(&a6);
	return strcasecmp(t->host, "localhost") == 0 || (len > 10 &&
	    strcasecmp(t->host + len - 10, ".localhost") == 0);
}

void
target_no_socket(struct target *t)
{
	t->kind = TARGET_PLAIN;
	strlcpy(t->host, "127.0.0.1", sizeof(t->host));
	strlcpy(t->port, DEFAULT_PORT, sizeof(t->port));
	t->port_given = true;
}
