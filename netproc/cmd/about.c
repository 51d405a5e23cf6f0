/* SPDX-License-Identifier: ISC */
/* VERSION, HELP, DEPS and ACTIVITY: what the daemon is, can and did. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "about.h"
#include "command.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/listener.h"
#include "netproc/conn/replica.h"
#include "netproc/conn/rows.h"
#include "params.h"
#include "wire/proto.h"
#include "wire/role.h"
#include "wire/roles.h"
#include "wire/settings.h"

#define PROTOCOL	1
#define DAY_S		(24 * 3600)
#define NS_PER_S	1000000000LL
#define TIME_MOST_S	((uint64_t)INT64_MAX / NS_PER_S)

/* ms until a role is started again; 0 = it runs. */
static uint32_t	backoff[ROLE_COUNT];
static char	mdns[512] = "not announced yet";
/* Where TLS is spoken, 0 = nowhere; empty = the certificate is not read yet. */
static uint32_t	tls_port;
static char	tls_fingerprint[64];
static uint64_t	tls_expires;		/* s since 1970 */

int
net_on_backoff(struct msg *m)
{
	uint32_t role = msg_get_u32(m), ms = msg_get_u32(m);

	if (msg_end(m) == -1 || role >= ROLE_COUNT)
		return -1;
	backoff[role] = ms;
	return 0;
}

int
net_on_tls_fingerprint(struct msg *m)
{
	tls_port = msg_get_u32(m);
	tls_expires = msg_get_u64(m);
	msg_get_str(m, tls_fingerprint, sizeof(tls_fingerprint));
	return msg_end(m);
}

int
net_on_mdns(struct msg *m)
{
	msg_get_str(m, mdns, sizeof(mdns));
	return msg_end(m);
}

static const char *
mdns_text(void)
{
	return mdns[0] == '\0' ? "announced" : mdns;
}

/* -- VERSION and HELP ----------------------------------------------------- */

/* Options that commands of the base protocol take in addition. */
static void
options_json(struct text *t, const struct command *cmd)
{
	const struct param *p;
	char option[32];
	int len;

	for (p = cmd->params; p->name != NULL; p++) {
		if (p->need != PARAM_EXTENSION)
			continue;
		/* " --sandbox " without its blanks, " cols=" without its = */
		len = (int)strcspn(p->before + 1, " =");
		(void)snprintf(option, sizeof(option), "%s %.*s", cmd->verb,
		    len, p->before + 1);
		json_text(t, option);
	}
}

static void
extensions_json(struct text *t)
{
	const struct command *cmd;
	size_t i;

	json_open(t, '[');
	for (i = 0; (cmd = command_at(i)) != NULL; i++)
		if (cmd->extension)
			json_text(t, cmd->verb);
		else
			options_json(t, cmd);
	json_text(t, "FOLLOW hold");
	json_text(t, "JSON lines");
	json_close(t, ']');
}

static void
weakened_json(struct text *t)
{
	static const struct {
		uint64_t	 bit;
		const char	*key;
	} keys[] = {
		{ WEAKEN_USERNS, "weaken-userns" },
		{ WEAKEN_SECCOMP, "weaken-seccomp" },
		{ WEAKEN_CHROOT, "weaken-chroot" },
	};
	size_t i;

	json_open(t, '[');
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (settings.weakened & keys[i].bit)
			json_text(t, keys[i].key);
	json_close(t, ']');
}

/* Unit that each quota is counted for: a user, a session or a process. */
static void
quotas_json(struct text *t)
{
	bool memory = settings.controllers & CONTROLLER_MEMORY;
	bool pids = settings.controllers & CONTROLLER_PIDS;

	json_open(t, '{');
	json_key(t, "memory");
	json_text(t, memory ? "user" : "process");
	json_key(t, "processes");
	json_text(t, pids || role_mode == MODE_SYSTEM ? "user" : "session");
	json_close(t, '}');
}

/* NULL: nobody speaks TLS here, or the certificate is good for long. */
static const char *
certificate_warning(void)
{
	static char line[200];
	int64_t left = (int64_t)tls_expires - (int64_t)time(NULL);
	const char *again = settings.tls_certificate[0] != '\0' ?
	    "put a new one in its place and send SIGHUP to debuglanternd" :
	    "remove tls/server.pem in its state directory while debuglanternd "
	    "is stopped";

	if (tls_port == 0 || tls_fingerprint[0] == '\0' || left >= CERT_WARN_S)
		return NULL;
	if (left <= 0)
		(void)snprintf(line, sizeof(line), "the certificate for TLS "
		    "has expired; %s", again);
	else
		(void)snprintf(line, sizeof(line), "the certificate for TLS "
		    "expires in %lld days; %s", (long long)(left / DAY_S),
		    again);
	return line;
}

static void
warnings_json(struct text *t)
{
	const char *certificate = certificate_warning();

	json_open(t, '[');
	if (settings.has_tls != 0 && backoff[ROLE_TLSPROC] != 0)
		json_text(t, "TLS is not served: tlsproc does not start with "
		    "its certificate and key, or ends again and again; the log "
		    "says why, and SIGHUP to debuglanternd tries at once");
	if (certificate != NULL)
		json_text(t, certificate);
	listener_warnings(t);
	if (settings.sandbox == SANDBOX_NONE)
		json_text(t, "sessions run without a sandbox unless they "
		    "choose one (sandbox none)");
	if (settings.control != 0)
		json_text(t, "the programs of sessions may be clients of the "
		    "daemon (control yes)");
	json_close(t, ']');
}

static void
roles_json(struct text *t)
{
	uint32_t role;

	json_open(t, '{');
	for (role = 0; role < ROLE_COUNT; role++) {
		/* one that nobody needs is not there, and is not missed */
		if (role == ROLE_PARENT ||
		    (role == ROLE_TLSPROC && settings.has_tls == 0) ||
		    (role == ROLE_ACCTPROC && settings.has_shadow == 0))
			continue;
		json_key(t, role_name(role));
		if (backoff[role] == 0) {
			json_text(t, "running");
			continue;
		}
		json_open(t, '{');
		json_key(t, "back_off_ms");
		json_u64(t, backoff[role]);
		json_close(t, '}');
	}
	json_close(t, '}');
}

static void
tls_json(struct text *t)
{
	char when[TIME_TEXT];

	if (tls_port == 0) {
		json_raw(t, "null");
		return;
	}
	json_open(t, '{');
	json_key(t, "port");
	json_u64(t, tls_port);
	json_key(t, "fingerprint");
	if (tls_fingerprint[0] == '\0')
		json_raw(t, "null");
	else
		json_text(t, tls_fingerprint);
	json_key(t, "expires");
	if (tls_fingerprint[0] == '\0' || tls_expires > TIME_MOST_S)
		json_raw(t, "null");
	else
		json_text(t, time_text((int64_t)tls_expires * NS_PER_S, false,
		    when));
	json_close(t, '}');
}

static void
web_json(struct text *t)
{
	if (settings.web_port == 0) {
		json_raw(t, "null");
		return;
	}
	json_open(t, '{');
	json_key(t, "address");
	json_text(t, settings.web_address);
	json_key(t, "port");
	json_u64(t, settings.web_port);
	json_key(t, "tls");
	json_raw(t, settings.web_tls ? "true" : "false");
	json_close(t, '}');
}

/* Debuggers and tracers of visible sessions only: others' are private. */
static void
about_instruments(struct text *t, const struct conn *c)
{
	const struct visible_session *si;
	uint64_t debuggers = 0, tracers = 0;

	if (c->owner != NULL)
		TAILQ_FOREACH(si, &c->owner->visible, by_owner) {
			debuggers += si->session->view.debugger;
			tracers += si->session->view.tracer;
		}
	json_key(t, "debug_sessions");
	json_u64(t, debuggers);
	json_key(t, "trace_sessions");
	json_u64(t, tracers);
}

void
cmd_version(struct conn *c, struct rsession *s, const struct words *ws)
{
	struct text *t = answer_begin();

	(void)s;
	(void)ws;
	json_open(t, '{');
	json_key(t, "name");
	json_text(t, "debuglantern");
	json_key(t, "version");
	json_text(t, settings.version);
	json_key(t, "protocol");
	json_u64(t, PROTOCOL);
	json_key(t, "extensions");
	extensions_json(t);
	json_key(t, "mode");
	json_text(t, role_mode == MODE_SYSTEM ? "system" : "user");
	json_key(t, "sandbox");
	json_text(t, sandbox_text(settings.sandbox));
	json_key(t, "weakened");
	weakened_json(t);
	json_key(t, "quotas");
	quotas_json(t);
	about_instruments(t, c);
	json_key(t, "warnings");
	warnings_json(t);
	json_key(t, "mdns");
	json_text(t, mdns_text());
	json_key(t, "tls");
	tls_json(t);
	json_key(t, "web");
	web_json(t);
	json_key(t, "roles");
	roles_json(t);
	json_close(t, '}');
	answer_end(c);
}

static void
params_json(struct text *t, const struct param *p)
{
	json_key(t, "args");
	json_open(t, '[');
	for (; p->name != NULL; p++) {
		json_open(t, '{');
		json_key(t, "name");
		json_text(t, p->name);
		json_key(t, "type");
		json_text(t, param_type(p->kind));
		json_key(t, "required");
		json_raw(t, param_is_needed(p) ? "true" : "false");
		json_close(t, '}');
	}
	json_close(t, ']');
}

void
cmd_help(struct conn *c, struct rsession *s, const struct words *ws)
{
	struct text *t = answer_begin();
	const struct command *cmd;
	size_t i;

	(void)s;
	(void)ws;
	json_open(t, '{');
	json_key(t, "commands");
	json_open(t, '[');
	for (i = 0; (cmd = command_at(i)) != NULL; i++) {
		json_open(t, '{');
		json_key(t, "name");
		json_text(t, cmd->verb);
		json_key(t, "usage");
		json_text(t, cmd->usage);
		json_key(t, "description");
		json_text(t, cmd->description);
		json_key(t, "read_only");
		json_raw(t, cmd->need == ACCESS_SEE ? "true" : "false");
		params_json(t, cmd->params);
		json_close(t, '}');
	}
	json_close(t, ']');
	json_close(t, '}');
	answer_end(c);
}

/* -- DEPS ----------------------------------------------------------------- */

static void
rows_failed(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	(void)a;
	answer_error(c, err == ERR_OK ? ERR_INTERNAL : err, msg);
}

void
cmd_deps(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)s;
	(void)ws;
	ask_send(c, ask_new(c, MSG_DEPS, NULL),
	    (struct ask){ .fn = rows_failed });
}

static void
blob_json(struct text *t, const char *key, struct msg *m)
{
	size_t len;
	const void *p = msg_get_blob(m, &len);

	json_key(t, key);
	json_string(t, p, len);
}

static void
flags_json(struct text *t, bool available, bool required)
{
	json_key(t, "available");
	json_raw(t, available ? "true" : "false");
	json_key(t, "required");
	json_raw(t, required ? "true" : "false");
}

/* Writes a row of the message; returns whether a requirement is not met. */
static bool
dep_json(struct text *t, struct msg *m)
{
	bool available, required;
	const void *remedy;
	size_t len;

	json_open(t, '{');
	blob_json(t, "name", m);
	blob_json(t, "description", m);
	available = msg_get_u32(m) != 0;
	required = msg_get_u32(m) != 0;
	flags_json(t, available, required);
	remedy = msg_get_blob(m, &len);
	if (!available && len > 0) {
		json_key(t, "remedy");
		json_string(t, remedy, len);
	}
	json_close(t, '}');
	return required && !available;
}

/* A row of what only netproc is told; remedy NULL = it is as it should be. */
static void
own_dep_json(struct text *t, const char *name, const char *what,
    const char *remedy)
{
	json_open(t, '{');
	json_key(t, "name");
	json_text(t, name);
	json_key(t, "description");
	json_text(t, what);
	flags_json(t, remedy == NULL, false);
	if (remedy != NULL) {
		json_key(t, "remedy");
		json_text(t, remedy);
	}
	json_close(t, '}');
}

int
net_on_deps_rows(struct msg *m)
{
	struct conn *c = ask_find(m);
	struct text *t = answer_begin();
	uint32_t n = msg_get_u32(m), i;
	bool missing = false;

	json_open(t, '{');
	json_key(t, "deps");
	json_open(t, '[');
	for (i = 0; i < n && !m->bad; i++)
		missing |= dep_json(t, m);
	own_dep_json(t, "mdns", "lets clients find this daemon "
	    "(_mydebug._tcp)", mdns[0] == '\0' ? NULL : mdns);
	if (tls_port != 0)
		own_dep_json(t, "tls-certificate", "proves to clients over TLS "
		    "which daemon this is", certificate_warning());
	json_close(t, ']');
	json_key(t, "all_satisfied");
	json_raw(t, missing ? "false" : "true");
	json_close(t, '}');
	if (msg_end(m) == -1)
		return -1;
	if (c == NULL)
		return 0;
	if (ask_state(c)->fn != rows_failed)
		return -1;
	conn_enter(c, &mode_line);
	answer_end(c);
	conn_run(c);
	return 0;
}

/* -- ACTIVITY ------------------------------------------------------------- */

static void
activity_row(struct text *t, struct msg *m)
{
	text_puts(t, "{");
	blob_json(t, "time", m);
	blob_json(t, "message", m);
	text_puts(t, "}");
}

void
cmd_activity(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)s;
	(void)ws;
	rows_ask(c, ask_new(c, MSG_ACTIVITY, NULL), activity_row);
}

int
net_on_activity_lines(struct msg *m)
{
	return rows_part(m, activity_row);
}
