/* SPDX-License-Identifier: ISC */
/* Figures for Prometheus, in its text format: for administrators. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "metrics.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/replica.h"
#include "netproc/conn/usage.h"
#include "wire/proto.h"
#include "wire/role.h"

#define NS		1e9
#define CLASSES		6

static uint64_t		requests[CLASSES];	/* by hundreds */

void
metrics_count(unsigned int status)
{
	if (status / 100 < CLASSES)
		requests[status / 100]++;
}

static void __attribute__((format(printf, 2, 3)))
line(struct text *t, const char *fmt, ...)
{
	char buf[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	text_puts(t, buf);
	text_puts(t, "\n");
}

static void
head(struct text *t, const char *name, const char *type, const char *help)
{
	line(t, "# HELP debuglantern_%s %s", name, help);
	line(t, "# TYPE debuglantern_%s %s", name, type);
}

static void
sessions(struct text *t, const struct owner *o)
{
	static const uint32_t states[] = { STATE_LOADED, STATE_RUNNING,
		STATE_DEBUGGING, STATE_STOPPED };
	const struct visible_session *g;
	uint64_t bytes = 0;
	size_t i, n;

	head(t, "sessions", "gauge", "Sessions by their state.");
	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		n = 0;
		TAILQ_FOREACH(g, &o->visible, by_owner)
			n += g->session->view.state == states[i];
		line(t, "debuglantern_sessions{state=\"%s\"} %zu",
		    state_text(states[i]), n);
	}
	TAILQ_FOREACH(g, &o->visible, by_owner)
		bytes += g->session->view.size;
	head(t, "session_bytes", "gauge", "Bytes of all uploaded programs.");
	line(t, "debuglantern_session_bytes %llu", (unsigned long long)bytes);
}

/* Owners' names are whatever the host's name service says. */
static void
labels(struct text *t, const char *name, const struct rsession *s)
{
	const char *p;

	line(t, "debuglantern_%s{id=\"%s\",name=\"%s\",owner=\"", name, s->id,
	    s->view.name);
	t->len--;
	for (p = s->view.owner_name; *p != '\0'; p++) {
		if (*p == '"' || *p == '\\')
			text_puts(t, "\\");
		text_put(t, *p == '\n' ? " " : p, 1);
	}
	text_puts(t, "\"} ");
}

static bool
is_known(const struct rsession *s, uint64_t v)
{
	return s->usage.known && s->view.state & STATE_ALIVE &&
	    v != USAGE_UNKNOWN;
}

static void
usage(struct text *t, const struct owner *o)
{
	const struct visible_session *g;

	head(t, "session_cpu_seconds_total", "counter",
	    "Processor time of a running session.");
	TAILQ_FOREACH(g, &o->visible, by_owner)
		if (is_known(g->session, g->session->usage.cpu_ns)) {
			labels(t, "session_cpu_seconds_total", g->session);
			line(t, "%.6f", (double)g->session->usage.cpu_ns / NS);
		}
	head(t, "session_memory_bytes", "gauge",
	    "Memory of a running session.");
	TAILQ_FOREACH(g, &o->visible, by_owner)
		if (is_known(g->session, g->session->usage.memory)) {
			labels(t, "session_memory_bytes", g->session);
			line(t, "%llu",
			    (unsigned long long)g->session->usage.memory);
		}
}

static void
daemon_itself(struct text *t)
{
	unsigned int i;

	head(t, "build_info", "gauge", "The version of the daemon.");
	line(t, "debuglantern_build_info{version=\"%s\"} 1",
	    settings.version);
	head(t, "connections", "gauge", "Connections of clients.");
	line(t, "debuglantern_connections %zu", conn_count);
	head(t, "http_requests_total", "counter",
	    "Requests answered, by class of status.");
	for (i = 1; i < CLASSES; i++)
		line(t, "debuglantern_http_requests_total{code=\"%uxx\"} %llu",
		    i, (unsigned long long)requests[i]);
}

void
cmd_metrics(struct conn *c, struct rsession *s, const struct words *ws)
{
	struct text *t;

	(void)s;
	(void)ws;
	if (!c->owner->admin) {
		answer_error(c, ERR_NOT_PERMITTED, "figures of all users are "
		    "for administrators (admin user NAME in the "
		    "configuration)");
		return;
	}
	/* the next to ask, in a while, finds fresh figures */
	usage_look();
	t = answer_begin();
	daemon_itself(t);
	sessions(t, c->owner);
	usage(t, c->owner);
	answer_end(c);
}
