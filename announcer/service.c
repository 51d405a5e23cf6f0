/* SPDX-License-Identifier: ISC */
/*
 * The announcement: a client of avahi-daemon that comes back after the
 * daemon or D-Bus was away, and a name that gives way when it is taken.
 */
#include <avahi-client/client.h>
#include <avahi-client/publish.h>
#include <avahi-common/alternative.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/strlst.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "avpoll.h"
#include "base/log.h"
#include "base/loop.h"
#include "service.h"

#define SERVICE_TYPE	"_mydebug._tcp"
#define BUS_ADDRESS	"unix:path=/run/dbus/system_bus_socket"
#define RETRY_FIRST_MS	1000
#define RETRY_LAST_MS	30000
#define RENAMES_MAX	100
#define STATE_MAX	200

static service_state_fn	  tell;
static char		  told[STATE_MAX];
static struct service	  wanted;
static bool		  is_wanted;
/* as it is announced; differs from wanted.name after a collision */
static char		  name[sizeof(wanted.name)];
static AvahiClient	 *client;
static AvahiEntryGroup	 *group;
static struct loop_timer  retry;
static uint64_t		  retry_ms = RETRY_FIRST_MS;

static void	publish(AvahiClient *);
static void	connect_again(void *);

static void
state(const char *text)
{
	/* each retry meets the same trouble: it is told once */
	if (strcmp(text, told) == 0)
		return;
	(void)snprintf(told, sizeof(told), "%s", text);
	tell(told);
}

static void __attribute__((format(printf, 1, 2)))
statef(const char *fmt, ...)
{
	char text[STATE_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	state(text);
}

static void
drop_client(void)
{
	/* frees its group as well, which takes the announcement back */
	if (client != NULL)
		avahi_client_free(client);
	client = NULL;
	group = NULL;
}

/* Libavahi must not be freed from within its callbacks: by timer. */
static void
try_later(void)
{
	loop_timer_set(&retry, retry_ms, connect_again, NULL);
	retry_ms = retry_ms * 2 > RETRY_LAST_MS ? RETRY_LAST_MS : retry_ms * 2;
}

static void
tell_error(int error)
{
	const char *bus = getenv("DBUS_SYSTEM_BUS_ADDRESS");

	switch (error) {
	case AVAHI_ERR_DBUS_ERROR:
		statef("no D-Bus system bus at %s: start dbus and avahi-daemon",
		    bus == NULL ? BUS_ADDRESS : bus);
		break;
	case AVAHI_ERR_DISCONNECTED:
		state("the connection to avahi-daemon broke: trying again");
		break;
	case AVAHI_ERR_NO_DAEMON:
		state("avahi-daemon is not running: start it");
		break;
	case AVAHI_ERR_NO_MEMORY:
		state("no memory to announce with: trying again");
		break;
	default:
		statef("avahi-daemon refused the announcement: %s",
		    avahi_strerror(error));
		break;
	}
}

static void
take_another_name(void)
{
	char *other = avahi_alternative_service_name(name);

	/* no memory: with the old name it collides again, and tries again */
	if (other == NULL)
		return;
	(void)snprintf(name, sizeof(name), "%s", other);
	avahi_free(other);
}

static void
group_changed(AvahiEntryGroup *g, AvahiEntryGroupState s, void *arg)
{
	AvahiClient *c = avahi_entry_group_get_client(g);

	(void)arg;
	switch (s) {
	case AVAHI_ENTRY_GROUP_ESTABLISHED:
		log_info("announced as \"%s\", port %u", name, wanted.port);
		state("");
		break;
	case AVAHI_ENTRY_GROUP_COLLISION:
		/* another host has it: only asking the network tells */
		take_another_name();
		publish(c);
		break;
	case AVAHI_ENTRY_GROUP_FAILURE:
		tell_error(avahi_client_errno(c));
		try_later();
		break;
	case AVAHI_ENTRY_GROUP_UNCOMMITED:
	case AVAHI_ENTRY_GROUP_REGISTERING:
		break;
	}
}

/* Whole: who is not told of TLS, say, would come without.  NULL = no memory. */
static AvahiStringList *
txt_record(void)
{
	char web[8] = "", tls[8];
	bool has_tls = wanted.tls_port != 0;
	const char *const pairs[][2] = {
		{ "web", web },
		{ "auth", wanted.auth },
		{ "fp", has_tls ? wanted.fingerprint : NULL },
		{ "tls", has_tls ? tls : NULL },
		{ "version", wanted.version },
	};
	AvahiStringList *l = NULL, *more;
	size_t i;

	if (wanted.web_port != 0)
		(void)snprintf(web, sizeof(web), "%u", wanted.web_port);
	(void)snprintf(tls, sizeof(tls), "%u", wanted.tls_port);
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (pairs[i][1] == NULL)
			continue;
		more = avahi_string_list_add_pair(l, pairs[i][0], pairs[i][1]);
		if (more == NULL) {
			avahi_string_list_free(l);
			return NULL;
		}
		l = more;
	}
	return l;
}

static AvahiProtocol
protocol(void)
{
	if (wanted.families == FAMILY_IPV4)
		return AVAHI_PROTO_INET;
	return wanted.families == FAMILY_IPV6 ? AVAHI_PROTO_INET6 :
	    AVAHI_PROTO_UNSPEC;
}

/* Adds the service under the first name that is free on this host. */
static int
add_service(void)
{
	AvahiStringList *txt = txt_record();
	int r = AVAHI_ERR_COLLISION, i;

	if (txt == NULL)
		return AVAHI_ERR_NO_MEMORY;
	/* bounded: these calls wait for avahi-daemon's word */
	for (i = 0; i < RENAMES_MAX && r == AVAHI_ERR_COLLISION; i++) {
		if (i > 0)
			take_another_name();
		r = avahi_entry_group_add_service_strlst(group,
		    AVAHI_IF_UNSPEC, protocol(), 0, name, SERVICE_TYPE, NULL,
		    NULL, wanted.port, txt);
	}
	avahi_string_list_free(txt);
	return r;
}

static void
publish(AvahiClient *c)
{
	int r = 0;

	if (group == NULL)
		group = avahi_entry_group_new(c, group_changed, NULL);
	else
		r = avahi_entry_group_reset(group);
	if (group == NULL)
		r = avahi_client_errno(c);
	if (r == 0)
		r = add_service();
	if (r == 0)
		r = avahi_entry_group_commit(group);
	if (r == 0)
		return;
	tell_error(r);
	try_later();
}

static void
client_changed(AvahiClient *c, AvahiClientState s, void *arg)
{
	(void)arg;
	switch (s) {
	case AVAHI_CLIENT_S_RUNNING:
		loop_timer_unset(&retry);
		retry_ms = RETRY_FIRST_MS;
		/* the former owner of the name may have gone meanwhile */
		memcpy(name, wanted.name, sizeof(name));
		state("being announced");
		publish(c);
		break;
	case AVAHI_CLIENT_S_COLLISION:
	case AVAHI_CLIENT_S_REGISTERING:
		/* records that name the host as it was would mislead */
		state("avahi-daemon is settling the name of this host");
		if (group != NULL)
			(void)avahi_entry_group_reset(group);
		break;
	case AVAHI_CLIENT_CONNECTING:
		/*
		 * libavahi waits for the daemon by itself (NO_FAIL), but may
		 * have missed that it is there, for want of memory, say.
		 */
		tell_error(AVAHI_ERR_NO_DAEMON);
		try_later();
		break;
	case AVAHI_CLIENT_FAILURE:
		/* a client that has failed never works again */
		tell_error(avahi_client_errno(c));
		try_later();
		break;
	}
}

static void
connect_again(void *arg)
{
	int error = 0;

	(void)arg;
	drop_client();
	if (!is_wanted)
		return;
	client = avahi_client_new(avpoll(), AVAHI_CLIENT_NO_FAIL,
	    client_changed, NULL, &error);
	if (client != NULL)
		return;
	/* a bus that nobody serves is told as a daemon that is not there */
	tell_error(error == AVAHI_ERR_NO_DAEMON ? AVAHI_ERR_DBUS_ERROR : error);
	try_later();
}

void
service_init(service_state_fn fn)
{
	/* with one of its own libavahi aborts when there is no memory */
	static const AvahiAllocator host = {
		.malloc = malloc,
		.free = free,
		.realloc = realloc,
		.calloc = calloc,
	};

	avahi_set_allocator(&host);
	tell = fn;
}

void
service_announce(const struct service *s)
{
	if (is_wanted && memcmp(s, &wanted, sizeof(wanted)) == 0)
		return;
	wanted = *s;
	is_wanted = true;
	memcpy(name, wanted.name, sizeof(name));
	retry_ms = RETRY_FIRST_MS;
	/* a client that is still waiting publishes when it runs */
	if (client != NULL &&
	    avahi_client_get_state(client) == AVAHI_CLIENT_S_RUNNING)
		publish(client);
	else if (client == NULL)
		connect_again(NULL);
}

void
service_withdraw(void)
{
	is_wanted = false;
	loop_timer_unset(&retry);
	drop_client();
	state("not announced");
}
