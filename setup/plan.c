/* SPDX-License-Identifier: ISC */
/* The plan: what the parent needs of the configuration, and of the host. */
#include <sys/stat.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "setup.h"

/* Bytes of all warnings; the log has no longer lines. */
#define WARNINGS_MAX	(CONF_MAX_ERRORS * LOG_LINE_MAX)

_Static_assert(WARNINGS_MAX + 4 <= MSG_PAYLOAD_MAX, "they fit in a message");

static struct {
	bool		seen;
	struct stat	st;
} tls[TLS_FILES];

static struct {
	char		text[WARNINGS_MAX];
	size_t		len;
} warnings;

void
plan_look(void)
{
	const char *const paths[TLS_FILES] = { d.conf->tls_certificate,
	    d.conf->tls_key, d.conf->tls_client_ca };
	size_t i;

	for (i = 0; i < TLS_FILES; i++)
		tls[i].seen = paths[i][0] == '\0' ||
		    stat(paths[i], &tls[i].st) == 0;
}

/* The parent reads when it has been executed: all must be in the channel. */
static void
say(struct channel *c, struct msg_out *o, int fd)
{
	if (chan_send(c, o, fd) == -1)
		fatalx("the parent cannot be told of the configuration");
	if (chan_backlog(c) > 0)
		fatalx("the configuration is too long for a socket's buffer; "
		    "raise the sysctl net.core.wmem_max");
}

static void
say_settings(struct channel *c)
{
	char host[HOST_NAME_MAX + 1] = "localhost", name[SERVICE_MAX];
	struct msg_out *o = msg_new(MSG_PLAN, NULL, 0, 0);

	(void)gethostname(host, sizeof(host) - 1);
	conf_service_name(d.conf, host, name);
	settings_put(o, &d.settings);
	msg_put_u32(o, d.conf->exit_idle);
	msg_put_u32(o, d.conf->mdns);
	msg_put_str(o, name);
	msg_put_u32(o, audit_result());
	msg_put_str(o, d.conf->audit_file);
	say(c, o, -1);
	if (audit_result() == AUDIT_NEW)
		say(c, msg_new(MSG_PLAN_AUDIT, NULL, 0, 0), audit_take());
}

static void
say_tls(struct channel *c)
{
	struct msg_out *o = msg_new(MSG_PLAN_TLS, NULL, 0, 0);
	size_t i;

	for (i = 0; i < TLS_FILES; i++) {
		msg_put_u32(o, tls[i].seen);
		msg_put_u64(o, tls[i].st.st_dev);
		msg_put_u64(o, tls[i].st.st_ino);
		msg_put_u64(o, (uint64_t)tls[i].st.st_mtim.tv_sec);
		msg_put_u64(o, (uint64_t)tls[i].st.st_mtim.tv_nsec);
	}
	say(c, o, -1);
}

static void
say_listener(struct channel *c, struct bound *b)
{
	struct msg_out *o = msg_new(b->kept == -1 ? MSG_PLAN_LISTENER :
	    MSG_PLAN_KEPT, NULL, 0, 0);

	if (b->kept != -1)
		msg_put_u32(o, (uint32_t)b->kept);
	msg_put_u32(o, b->flags);
	msg_put_u32(o, b->uid);
	msg_put_str(o, b->text);
	if (b->kept == -1)
		msg_put_bytes(o, &b->addr, b->len);
	say(c, o, b->kept == -1 ? b->fd : -1);
}

static void
say_quotas(struct channel *c)
{
	struct msg_out *o = msg_new(MSG_PLAN_QUOTAS, NULL, 0, 0);
	const struct conf_quota *q;
	size_t i;

	for (i = 0; i < d.conf->nquotas; i++) {
		q = &d.conf->quotas[i];
		msg_put_u32(o, access_quota_kind(q));
		msg_put_u32(o, access_quota_id(i));
		msg_put_u64(o, q->sessions);
		msg_put_u64(o, q->bytes);
		msg_put_u64(o, q->cpu);
		msg_put_u64(o, q->memory);
		msg_put_u64(o, q->processes);
		msg_put_str(o, q->name);
	}
	say(c, o, -1);
}

static void
keep_warning(void *arg, const char *text)
{
	char *line = warnings.text + warnings.len;

	(void)arg;
	if (WARNINGS_MAX - warnings.len < LOG_LINE_MAX)
		return;
	(void)snprintf(line, LOG_LINE_MAX, "%s", text);
	warnings.len += strlen(line) + 1;
}

void
plan_send(struct channel *c)
{
	struct msg_out *o;
	struct bound *b;
	size_t i;

	say_settings(c);
	say_tls(c);
	for (i = 0; (b = listen_at(i)) != NULL; i++)
		say_listener(c, b);
	say_quotas(c);
	flags_warn(keep_warning, NULL);
	o = msg_new(MSG_PLAN_WARNINGS, NULL, 0, 0);
	msg_put_blob(o, warnings.text, warnings.len);
	say(c, o, -1);
	say(c, msg_new(MSG_PLAN_END, NULL, 0, 0), -1);
}

static void
say_start(struct channel *c)
{
	struct msg_out *o = msg_new(MSG_PLAN_START, NULL, 0, 0);
	const char *bus = getenv("DBUS_SYSTEM_BUS_ADDRESS");
	static char fixed[FIXED_MAX];
	size_t i;

	msg_put_u32(o, d.mode);
	msg_put_u32(o, (d.opt.foreground ? PLAN_FOREGROUND : 0U) |
	    (d.opt.local ? PLAN_LOCAL : 0U) |
	    (d.own_tree ? PLAN_OWN_TREE : 0U));
	msg_put_u64(o, d.watchdog_ms);
	for (i = 0; i < ROLE_COUNT; i++) {
		msg_put_u32(o, d.role_id[i].uid);
		msg_put_u32(o, d.role_id[i].gid);
	}
	msg_put_str(o, d.libexec);
	msg_put_str(o, d.tree);
	msg_put_str(o, bus != NULL && strlen(bus) < PATH_LEN ? bus : NULL);
	msg_put_str(o, d.opt.file);
	if (!conf_restart_text(d.conf, fixed, sizeof(fixed)))
		fatalx("the names of allow-group are too long");
	msg_put_str(o, fixed);
	say(c, o, -1);
}

static void
parent_gone(struct channel *c, const char *why)
{
	(void)c;
	(void)why;
	fatalx("the channel to the parent is gone");
}

void
plan_start(void)
{
	static struct channel c;
	int fds[2];

	chan_init(&c, ROLE_SETUP, ROLE_PARENT, parent_gone, NULL);
	if (chan_pair(fds) == -1 || chan_open(&c, fds[0], 0) == -1)
		fatal("cannot make the parent's channel");
	give(GIVEN_CHANNEL, fds[1]);
	say_start(&c);
	plan_send(&c);
}
