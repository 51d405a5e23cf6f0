/* SPDX-License-Identifier: ISC */
/* Host and Origin: see the header. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

#include "netproc/text/line.h"
#include "webcheck.h"

#define NAME_MAX_BYTES	253

/* ":8080" or nothing at all. */
static bool
is_port(const char *p)
{
	const struct word digits = { p + 1, strlen(p) - (*p == ':') };
	uint64_t n;

	return *p == '\0' ||
	    (*p == ':' && number_parse(&digits, 65535, &n) == NULL && n > 0);
}

/* "[::1]:8080" */
static bool
is_v6(const char *host)
{
	const char *end = strchr(host, ']');
	char text[INET6_ADDRSTRLEN];
	struct in6_addr a;
	size_t len;

	if (host[0] != '[' || end == NULL)
		return false;
	len = (size_t)(end - host) - 1;
	if (len >= sizeof(text) || !is_port(end + 1))
		return false;
	memcpy(text, host + 1, len);
	text[len] = '\0';
	return inet_pton(AF_INET6, text, &a) == 1;
}

static bool
is_listed(const char *name, const char *names)
{
	size_t len = strlen(name), n;

	while (*names != '\0') {
		n = strcspn(names, ",");
		if (n == len && strncasecmp(names, name, n) == 0)
			return true;
		names += n + (names[n] == ',');
	}
	return false;
}

bool
host_is_ours(const char *host, const char *names)
{
	char name[NAME_MAX_BYTES + 1];
	size_t len = strcspn(host, ":");
	struct in_addr a;

	if (host[0] == '[')
		return is_v6(host);
	if (len == 0 || len >= sizeof(name) || !is_port(host + len))
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	return inet_pton(AF_INET, name, &a) == 1 ||
	    strcasecmp(name, "localhost") == 0 || is_listed(name, names);
}

bool
origin_is_same(const char *origin, const char *host, bool tls)
{
	static const char http[] = "http://", https[] = "https://";

	if (strncmp(origin, https, sizeof(https) - 1) == 0)
		return strcasecmp(origin + sizeof(https) - 1, host) == 0;
	return !tls && strncmp(origin, http, sizeof(http) - 1) == 0 &&
	    strcasecmp(origin + sizeof(http) - 1, host) == 0;
}
