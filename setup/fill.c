/* SPDX-License-Identifier: ISC */
/* From the configuration to the settings that roles are sent. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "setup.h"

/* The names by which browsers may call this host. */
static void
fill_hosts(struct settings *s, const struct conf *c)
{
	char host[HOST_NAME_MAX + 1] = "localhost";
	size_t i, len;

	(void)gethostname(host, sizeof(host) - 1);
	(void)snprintf(s->web_hosts, sizeof(s->web_hosts), "%s", host);
	for (i = 0; i < c->web_hosts.n; i++) {
		len = strlen(s->web_hosts);
		(void)snprintf(s->web_hosts + len, sizeof(s->web_hosts) - len,
		    ",%s", c->web_hosts.v[i]);
	}
}

static void
fill_debuggers(struct settings *s, const struct conf *c)
{
	size_t i, len = 0;

	s->debugger_adapters[0] = '\0';
	for (i = 0; i < c->nadapters; i++)
		len += (size_t)snprintf(s->debugger_adapters + len,
		    sizeof(s->debugger_adapters) - len, "%s\t%s\n",
		    c->adapters[i].name, c->adapters[i].command);
}

void
settings_fill(void)
{
	struct settings *s = &d.settings;
	const struct conf *c = d.conf;

#define NUM(to, name, ...)	FOR_##to(s->name = c->name;)
#define STR(to, name, ...)						\
	FOR_##to((void)snprintf(s->name, sizeof(s->name), "%s", c->name);)
#include "wire/settings.def"
	fill_debuggers(s, c);
	s->weakened = (c->weaken_userns ? WEAKEN_USERNS : 0U) |
	    (c->weaken_seccomp ? WEAKEN_SECCOMP : 0U) |
	    (c->weaken_chroot ? WEAKEN_CHROOT : 0U);
	if (d.opt.verbose)
		s->log_level = LOG_L_DEBUG;
	s->has_tls = listen_has_tls();
	s->web_port = listen_web_port();
	s->web_tls = listen_web_is_tls();
	listen_web_address(s->web_address, sizeof(s->web_address));
	fill_hosts(s, c);
	access_fill(s);
}

void
settings_fill_host(void)
{
	struct settings *s = &d.settings;

	s->sum_users = d.sum_users;
	s->rlimit_users = d.rlimits_lifted ? 1 : d.sum_users;
	s->run_uid = d.run_id.uid;
	s->run_gid = d.run_id.gid;
	s->daemon_uid = getuid();
	(void)snprintf(s->state_dir, sizeof(s->state_dir), "%s", d.state_dir);
	(void)snprintf(s->run_dir, sizeof(s->run_dir), "%s", d.run_dir);
	(void)snprintf(s->version, sizeof(s->version), "%s", DL_VERSION);
	s->has_shadow = acct_starter_is_wanted();
}
