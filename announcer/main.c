/* SPDX-License-Identifier: ISC */
/*
 * announcer: tells the network by mDNS where this daemon listens.  It holds
 * the connection to D-Bus and to avahi-daemon, and nothing else.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "service.h"
#include "sysfilter.h"
#include "wire/msg.h"
#include "wire/role.h"

int	ann_on_announce(struct msg *);
int	ann_on_withdraw(struct msg *);

static void
send_state(const char *text)
{
	struct msg_out *o = msg_new(MSG_MDNS_STATE, NULL, 0, 0);

	msg_put_str(o, text);
	(void)chan_send(&parent_chan, o, -1);
}

static void
start(void)
{
	service_init(send_state);
}

/* Taken back by name, so that browsers hear of it at once. */
static void
stop(void)
{
	service_withdraw();
	_exit(0);
}

int
ann_on_announce(struct msg *m)
{
	struct service s;
	uint32_t port, web_port, tls_port;

	memset(&s, 0, sizeof(s));
	port = msg_get_u32(m);
	web_port = msg_get_u32(m);
	tls_port = msg_get_u32(m);
	s.families = msg_get_u32(m) & (FAMILY_IPV4 | FAMILY_IPV6);
	msg_get_str(m, s.name, sizeof(s.name));
	msg_get_str(m, s.version, sizeof(s.version));
	msg_get_str(m, s.auth, sizeof(s.auth));
	msg_get_str(m, s.fingerprint, sizeof(s.fingerprint));
	if (msg_end(m) == -1 || port == 0 || port > UINT16_MAX ||
	    web_port > UINT16_MAX || tls_port > UINT16_MAX)
		return -1;
	s.port = (uint16_t)port;
	s.web_port = (uint16_t)web_port;
	s.tls_port = (uint16_t)tls_port;
	/* only local sockets are open: there is nothing to tell others */
	if (s.families == 0)
		service_withdraw();
	else
		service_announce(&s);
	return 0;
}

int
ann_on_withdraw(struct msg *m)
{
	service_withdraw();
	return msg_end(m);
}

int
main(void)
{
	/* the root stays for the socket of the system bus */
	static const struct role_desc desc = {
		.self = ROLE_ANNOUNCER,
		.keep_root = true,
		.landlock = true,
		.landlock_level = LANDLOCK_READONLY,
		.fsize = 0,
		.nproc = 0,
		.filter = &announcer_filter,
		.start = start,
		.shutdown = stop,
	};

	role_main(&desc);
}
