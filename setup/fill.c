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

	s->debugger_idle = c->debugger_idle;
	s->debugger_output_events = c->debugger_output_events;
	s->debugger_output_bytes = c->debugger_output_bytes;
	s->tracer_idle = c->tracer_idle;
	s->tracer_budget = c->tracer_budget;
	s->tracer_calls = c->tracer_calls;
	s->tracer_output = c->tracer_output;
	s->tracer_user = c->tracer_user;
	s->dap_initialize = c->dap_initialize;
	s->dap_request = c->dap_request;
	s->dap_await = c->dap_await;
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

	s->max_sessions = c->max_sessions;
	s->max_sessions_per_user = c->max_sessions_per_user;
	s->unstarted_timeout = c->unstarted_timeout;
	s->max_total_bytes = c->max_total_bytes;
	s->max_connections = c->max_connections;
	s->max_connections_per_user = c->max_connections_per_user;
	s->connection_memory = c->connection_memory;
	s->output_buffer = c->output_buffer;
	s->pty_scrollback = c->pty_scrollback;
	s->pty_idle_ttl = c->pty_idle_ttl;
	s->pty_max_clients = c->pty_max_clients;
	s->pty_grace = c->pty_grace;
	s->stop_timeout = c->stop_timeout;
	s->idle_timeout = c->idle_timeout;
	s->line_timeout = c->line_timeout;
	s->debug_timeout = c->debug_timeout;
	fill_debuggers(s, c);
	s->sandbox = c->sandbox;
	s->allow_sandbox = c->allow_sandbox;
	s->network = c->network;
	s->control = c->control;
	s->allow_32bit = c->allow_32bit;
	s->limit_cpu = c->limits.cpu;
	s->limit_as = c->limits.as;
	s->limit_nofile = c->limits.nofile;
	s->limit_nproc = c->limits.nproc;
	s->limit_core = c->limits.core;
	s->limit_memory = c->limits.memory;
	s->limit_pids = c->limits.pids;
	s->bundle_max_bytes = c->bundle_max_bytes;
	s->bundle_max_members = c->bundle_max_members;
	s->bundle_max_path = c->bundle_max_path;
	s->sysroot_max_bytes = c->sysroot_max_bytes;
	s->min_uid = c->min_uid;
	s->weakened = (c->weaken_userns ? WEAKEN_USERNS : 0U) |
	    (c->weaken_seccomp ? WEAKEN_SECCOMP : 0U) |
	    (c->weaken_chroot ? WEAKEN_CHROOT : 0U);
	s->log_level = d.opt.verbose ? LOG_L_DEBUG : c->log_level;
	s->port = c->port;
	(void)snprintf(s->gdbserver, sizeof(s->gdbserver), "%s",
	    c->gdbserver);
	(void)snprintf(s->pty_default_shell, sizeof(s->pty_default_shell),
	    "%s", c->pty_default_shell);
	s->has_tls = listen_has_tls();
	s->web_port = listen_web_port();
	s->web_tls = listen_web_is_tls();
	listen_web_address(s->web_address, sizeof(s->web_address));
	fill_hosts(s, c);
	(void)snprintf(s->tls_certificate, sizeof(s->tls_certificate), "%s",
	    c->tls_certificate);
	(void)snprintf(s->tls_key, sizeof(s->tls_key), "%s", c->tls_key);
	(void)snprintf(s->tls_client_ca, sizeof(s->tls_client_ca), "%s",
	    c->tls_client_ca);
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
