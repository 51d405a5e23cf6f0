/* SPDX-License-Identifier: ISC */
/* discover: targets that announce _mydebug._tcp, found through the Avahi
 * daemon of this host. */
#include <net/if.h>

#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-common/address.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/simple-watch.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "discover.h"
#include "reply.h"
#include "report.h"
#include "table.h"

#define SERVICE		"_mydebug._tcp"
#define DEFAULT_WAIT_S	3

struct search {
	AvahiSimplePoll		*poll;
	AvahiClient		*avahi;
	struct json_object	*found;		/* array */
	unsigned int		 resolving;
	bool			 complete;	/* all that is cached is here */
	int			 code;
};

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
		json_object_array_add(s->found, o);
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
		report("the search failed: %s",
		    avahi_strerror(avahi_client_errno(s->avahi)));
		s->code = CTL_UNREACHABLE;
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
	report("avahi-daemon went away: %s",
	    avahi_strerror(avahi_client_errno(avahi)));
	s->code = CTL_UNREACHABLE;
}

/* Until everything known is resolved or the time is over. */
static void
search(struct search *s, int64_t wait_ms)
{
	int64_t end = now_ms() + wait_ms, left;

	while (s->code == CTL_OK && (left = end - now_ms()) > 0) {
		if (s->complete && s->resolving == 0)
			break;
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
		report("cannot search: %s; avahi-daemon and D-Bus must run on "
		    "this host", avahi_strerror(error));
		return CTL_UNREACHABLE;
	}
	browser = avahi_service_browser_new(s->avahi, AVAHI_IF_UNSPEC,
	    AVAHI_PROTO_UNSPEC, SERVICE, NULL, 0, browsed, s);
	if (browser == NULL) {
		report("cannot search: %s",
		    avahi_strerror(avahi_client_errno(s->avahi)));
		return CTL_UNREACHABLE;
	}
	search(s, wait_ms);
	return s->code;
}

static char *
txt_line(struct json_object *txt)
{
	char *line = NULL;
	size_t size;
	FILE *out;

	if ((out = open_memstream(&line, &size)) == NULL)
		return NULL;
	json_object_object_foreach(txt, key, v)
		fprintf(out, "%s%s=%s", ftell(out) > 0 ? " " : "", key,
		    json_object_get_string(v));
	fclose(out);
	return line;
}

static void
print_found(struct json_object *found)
{
	static const struct table_column columns[] = {
		{ .title = "NAME" }, { .title = "HOST" },
		{ "TARGET", .keep = 1 }, { .title = "TXT" },
	};
	struct json_object *o, *txt;
	struct table *t;
	char *line;
	size_t i;

	t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	for (i = 0; i < json_object_array_length(found); i++) {
		o = json_object_array_get_idx(found, i);
		json_object_object_get_ex(o, "txt", &txt);
		line = txt_line(txt);
		table_cell(t, reply_str(o, "name", ""), PLAIN);
		table_cell(t, reply_str(o, "host", ""), PLAIN);
		table_cell(t, reply_str(o, "target", ""), BOLD);
		table_cell(t, line != NULL ? line : "", PLAIN);
		free(line);
	}
	table_print(t, stdout, term_width(STDOUT_FILENO), 0,
	    term_colours(STDOUT_FILENO));
	table_free(t);
}

static int
by_name(const void *a, const void *b)
{
	struct json_object *const *x = a, *const *y = b;
	int n;

	n = strcmp(reply_str(*x, "name", ""), reply_str(*y, "name", ""));
	return n != 0 ? n : strcmp(reply_str(*x, "target", ""),
	    reply_str(*y, "target", ""));
}

int
cmd_discover(struct client *c, int argc, char **argv)
{
	struct search s = { .code = CTL_OK };
	long long wait_s = DEFAULT_WAIT_S;
	int code;

	(void)argc;
	(void)argv;
	if (opt_given(&c->opts, OPT_TIMEOUT) && opt_number(&c->opts,
	    OPT_TIMEOUT, 1, 3600, &wait_s) == -1)
		return CTL_USAGE;
	if ((s.found = json_object_new_array()) == NULL)
		return usage_error("out of memory");
	code = find_targets(&s, wait_s * 1000);
	if (code == CTL_OK) {
		json_object_array_sort(s.found, by_name);
		if (c->json)
			reply_print(s.found, stdout);
		else if (json_object_array_length(s.found) == 0)
			puts("no targets found");
		else
			print_found(s.found);
		code = report_flush();
	}
	if (s.avahi != NULL)
		avahi_client_free(s.avahi);
	if (s.poll != NULL)
		avahi_simple_poll_free(s.poll);
	json_object_put(s.found);
	return code;
}
