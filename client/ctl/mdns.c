/* SPDX-License-Identifier: ISC */
/*
 * Targets that announce _mydebug._tcp, found through the Avahi daemon of this
 * host. The announcements are only hints: anybody on the network can send them.
 */
#include <net/if.h>

#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-common/address.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/simple-watch.h>
#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/target.h"
#include "mdns.h"

#define SERVICE		"_mydebug._tcp"
#define LOOKUP_MS	1000
#define MORE_MS		150

struct wanted;

struct search {
	AvahiSimplePoll		*poll;
	AvahiClient		*avahi;
	struct json_object	*found;		/* array */
	unsigned int		 resolving;
	bool			 complete;	/* all that is cached is here */
	bool			 quiet;
	const struct wanted	*wanted;	/* ends the search, or NULL */
	bool			 met;
	int			 code;
};

/* Target that a look-up is to complete. */
struct wanted {
	struct target	*target;
	bool		 tls;		/* nothing else will do */
};

static void
complain(struct search *s, const char *what, int error)
{
	s->code = CTL_UNREACHABLE;
	if (!s->quiet)
		report("cannot search: %s: %s", what, avahi_strerror(error));
}

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void
add_text(struct json_object *o, const char *key, const char *value)
{
	json_object_object_add(o, key, json_object_new_string(value));
}

static struct json_object *
text_records(AvahiStringList *list)
{
	struct json_object *o = json_object_new_object();
	char *key, *value;

	for (; list != NULL; list = avahi_string_list_get_next(list)) {
		if (avahi_string_list_get_pair(list, &key, &value, NULL) < 0)
			continue;
		add_text(o, key, value != NULL ? value : "");
		avahi_free(key);
		avahi_free(value);
	}
	return o;
}

/* The port in a TXT record "tls"; 0 when there is none. */
static uint16_t
tls_port(struct json_object *o)
{
	struct json_object *txt;
	const char *bad = NULL;
	long long port = 0;

	if (json_object_object_get_ex(o, "txt", &txt))
		port = strtonum(reply_str(txt, "tls", "0"), 1, 65535, &bad);
	return bad == NULL ? (uint16_t)port : 0;
}

/* "rig" and "rig.local" are one host. */
static bool
same_host(const char *announced, const char *host)
{
	size_t len = strlen(host);

	return strncasecmp(announced, host, len) == 0 &&
	    (announced[len] == '\0' ||
	    strcasecmp(announced + len, ".local") == 0);
}

/* Whole or not at all: a part of an address is another one. */
static void
add_to_target(struct target *t, const char *address)
{
	size_t len = strlen(t->addresses);

	if (len + strlen(address) + 1 < sizeof(t->addresses))
		snprintf(t->addresses + len, sizeof(t->addresses) - len, "%s ",
		    address);
}

/* Whether a service is the one that is looked for; then the target has it. */
static bool
take_target(const struct wanted *w, struct json_object *o)
{
	const char *address = reply_str(o, "address", "");
	struct target *t = w->target;
	struct json_object *txt;
	uint16_t tls = tls_port(o);
	enum target_kind kind;
	int64_t port = tls;
	char text[8];

	if (!same_host(reply_str(o, "host", ""), t->host) &&
	    strcasecmp(address, t->host) != 0)
		return false;
	/* A look-up with TLS finds no service without TLS. */
	if (tls == 0 && (w->tls || !reply_int(o, "port", &port)))
		return false;
	snprintf(text, sizeof(text), "%u", (unsigned int)port & 0xffff);
	kind = tls != 0 ? TARGET_TLS : TARGET_PLAIN;
	/* A host may have several daemons; the first one it is. */
	if (*t->addresses != '\0' && (t->kind != kind ||
	    strcmp(t->port, text) != 0))
		return false;
	t->kind = kind;
	strlcpy(t->port, text, sizeof(t->port));
	add_to_target(t, address);
	if (json_object_object_get_ex(o, "txt", &txt))
		strlcpy(t->announced, reply_str(txt, "fp", ""),
		    sizeof(t->announced));
	return true;
}

/* A record in the form that --target takes it. */
static void
add_address(struct json_object *o, const AvahiAddress *a, uint16_t port,
    const char *ifname)
{
	char address[AVAHI_ADDRESS_STR_MAX], scoped[128], target[160];
	bool v6 = a->proto == AVAHI_PROTO_INET6;
	bool local;

	avahi_address_snprint(address, sizeof(address), a);
	/* A link-local address means nothing without its link. */
	local = v6 && strncasecmp(address, "fe80:", 5) == 0;
	snprintf(scoped, sizeof(scoped), "%s%s%s", address, local ? "%" : "",
	    local ? ifname : "");
	snprintf(target, sizeof(target), "%s%s%s:%u", v6 ? "[" : "", scoped,
	    v6 ? "]" : "", port);
	add_text(o, "address", scoped);
	json_object_object_add(o, "port", json_object_new_int(port));
	add_text(o, "target", target);
}

/* Where it speaks TLS that is how it should be reached. */
static void
add_tls(struct json_object *o)
{
	const char *address = reply_str(o, "address", "");
	bool v6 = strchr(address, ':') != NULL;
	uint16_t port = tls_port(o);
	char target[192];

	if (port == 0)
		return;
	snprintf(target, sizeof(target), "tls://%s%s%s:%u", v6 ? "[" : "",
	    address, v6 ? "]" : "", port);
	add_text(o, "target", target);
}

static void
resolved(AvahiServiceResolver *resolver, AvahiIfIndex ifindex,
    AvahiProtocol proto, AvahiResolverEvent event, const char *name,
    const char *type, const char *domain, const char *host,
    const AvahiAddress *address, uint16_t port, AvahiStringList *txt,
    AvahiLookupResultFlags flags, void *arg)
{
	struct search *s = arg;
	char ifname[IF_NAMESIZE] = "?";
	struct json_object *o;

	(void)proto;
	(void)type;
	(void)domain;
	(void)flags;
	if (event == AVAHI_RESOLVER_FOUND) {
		if_indextoname((unsigned int)ifindex, ifname);
		o = json_object_new_object();
		add_text(o, "name", name);
		add_text(o, "host", host);
		add_address(o, address, port, ifname);
		add_text(o, "interface", ifname);
		json_object_object_add(o, "txt", text_records(txt));
		add_tls(o);
		json_object_array_add(s->found, o);
		if (s->wanted != NULL && take_target(s->wanted, o))
			s->met = true;
	}
	s->resolving--;
	avahi_service_resolver_free(resolver);
}

static void
browsed(AvahiServiceBrowser *browser, AvahiIfIndex ifindex,
    AvahiProtocol proto, AvahiBrowserEvent event, const char *name,
    const char *type, const char *domain, AvahiLookupResultFlags flags,
    void *arg)
{
	struct search *s = arg;

	(void)browser;
	(void)flags;
	switch (event) {
	case AVAHI_BROWSER_NEW:
		if (avahi_service_resolver_new(s->avahi, ifindex, proto, name,
		    type, domain, proto, 0, resolved, s) != NULL)
			s->resolving++;
		break;
	case AVAHI_BROWSER_ALL_FOR_NOW:
		s->complete = true;
		break;
	case AVAHI_BROWSER_FAILURE:
		complain(s, "the search failed",
		    avahi_client_errno(s->avahi));
		break;
	case AVAHI_BROWSER_REMOVE:
	case AVAHI_BROWSER_CACHE_EXHAUSTED:
		break;
	}
}

static void
state_changed(AvahiClient *avahi, AvahiClientState state, void *arg)
{
	struct search *s = arg;

	if (state != AVAHI_CLIENT_FAILURE)
		return;
	complain(s, "avahi-daemon went away", avahi_client_errno(avahi));
}

/*
 * Runs until everything known is resolved or the time is over. Further
 * addresses of a host that was found come soon or not at all.
 */
static void
search(struct search *s, int64_t wait_ms)
{
	int64_t end = now_ms() + wait_ms, left;
	bool met = false;

	while (s->code == CTL_OK && (left = end - now_ms()) > 0) {
		if (s->complete && s->resolving == 0)
			break;
		if (s->met && !met && left > MORE_MS)
			end = now_ms() + MORE_MS;
		met = s->met;
		if (avahi_simple_poll_iterate(s->poll, (int)left) != 0)
			break;
	}
}

static int
find_targets(struct search *s, int64_t wait_ms)
{
	AvahiServiceBrowser *browser;
	int error = AVAHI_ERR_NO_MEMORY;

	if ((s->poll = avahi_simple_poll_new()) != NULL)
		s->avahi = avahi_client_new(avahi_simple_poll_get(s->poll),
		    0, state_changed, s, &error);
	if (s->avahi == NULL) {
		complain(s, "avahi-daemon and D-Bus must run on this host",
		    error);
		return s->code;
	}
	browser = avahi_service_browser_new(s->avahi, AVAHI_IF_UNSPEC,
	    AVAHI_PROTO_UNSPEC, SERVICE, NULL, 0, browsed, s);
	if (browser == NULL) {
		complain(s, "the search failed",
		    avahi_client_errno(s->avahi));
		return s->code;
	}
	search(s, wait_ms);
	return s->code;
}

static void
search_end(struct search *s)
{
	if (s->avahi != NULL)
		avahi_client_free(s->avahi);
	if (s->poll != NULL)
		avahi_simple_poll_free(s->poll);
}

int
mdns_search(struct json_object **foundp, int64_t wait_ms)
{
	struct search s = { .code = CTL_OK };

	if ((s.found = json_object_new_array()) == NULL)
		return usage_error("out of memory");
	s.code = find_targets(&s, wait_ms);
	search_end(&s);
	if (s.code != CTL_OK) {
		json_object_put(s.found);
		s.found = NULL;
	}
	*foundp = s.found;
	return s.code;
}

bool
mdns_lookup(struct target *t, bool tls)
{
	struct wanted wanted = { t, tls };
	struct search s = { .quiet = true, .wanted = &wanted };

	if ((s.found = json_object_new_array()) == NULL)
		return false;
	find_targets(&s, LOOKUP_MS);
	search_end(&s);
	json_object_put(s.found);
	return s.met;
}
