/* SPDX-License-Identifier: ISC */
/*
 * Checks across keys, made when file and command line have been read. Above
 * all: nobody is served without being known, unless the file says so in as
 * many words.
 */
#include <netinet/in.h>

#include <stdarg.h>
#include <string.h>

#include "conf_table.h"

/* A user's part of all connections is never less, unless there are fewer. */
#define FAIR_LEAST	32
#define SESSIONS_LEAST	8

struct checker {
	struct conf	*conf;
	conf_error_fn	 fn;
	void		*arg;
	int		 errors;
	bool		 web_port;	/* has been complained of */
};

/* A bound address, with the statement that asked for it. */
struct bound {
	const struct conf_listen	*listen;
	struct sockaddr_storage		 ss;
};

static void	 complain(struct checker *, int, const char *, ...)
		    __attribute__((format(printf, 3, 4)));

static void
complain(struct checker *ck, int line, const char *fmt, ...)
{
	const char	*name = ck->conf->name;
	char		 text[400], message[4600];
	va_list		 ap;

	if (ck->errors++ >= CONF_MAX_ERRORS)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (line > 0 && name != NULL)
		snprintf(message, sizeof(message), "%s:%d: %s", name, line,
		    text);
	else
		snprintf(message, sizeof(message), "%s: %s",
		    line == CONF_LINE_COMMAND || name == NULL ?
		    "command line" : name, text);
	ck->fn(ck->arg, message);
}

/* The line of the one of two keys that somebody set. */
static int
either_line(const struct conf *c, const char *a, const char *b)
{
	int	line = conf_key_line(c, a);

	return line != CONF_LINE_DEFAULT ? line : conf_key_line(c, b);
}

static void
check_access(struct checker *ck, const struct conf_listen *l, bool loopback)
{
	if (loopback || l->tls || l->plain)
		return;
	if (l->line == CONF_LINE_COMMAND) {
		complain(ck, l->line, "listen on %s: not a loopback address, "
		    "so tokens and programs would be sent in clear; leave out "
		    "--bind, and say \"listen on %s tls\" in the "
		    "configuration file, or plain in place of tls if you "
		    "trust this network", l->addr, l->addr);
		return;
	}
	complain(ck, l->line, "%slisten on %s: not a loopback address, so "
	    "tokens and programs would be sent in clear; add the word tls, or "
	    "plain if you trust this network", l->web ? "web " : "", l->addr);
}

/* Returns how many addresses were added to bound. */
static size_t
check_listen(struct checker *ck, const struct conf_listen *l,
    struct bound *bound)
{
	struct sockaddr_storage	ss[2];
	int			i, n;

	/* web-port 0 */
	if (conf_listen_port(ck->conf, l) == 0)
		return 0;
	n = conf_listen_addrs(l, conf_listen_port(ck->conf, l), ss);
	if (n < 0) {
		complain(ck, l->line, "listen on %s: this host has no such "
		    "interface", l->addr);
		return 0;
	}
	check_access(ck, l, conf_addr_is_loopback(&ss[0]));
	for (i = 0; i < n; i++) {
		bound[i].listen = l;
		bound[i].ss = ss[i];
	}
	return (size_t)n;
}

static bool
v4_overlap(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in	*x = (const struct sockaddr_in *)a;
	const struct sockaddr_in	*y = (const struct sockaddr_in *)b;

	return x->sin_port == y->sin_port &&
	    (x->sin_addr.s_addr == y->sin_addr.s_addr ||
	    x->sin_addr.s_addr == 0 || y->sin_addr.s_addr == 0);
}

static bool
v6_overlap(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in6	*x = (const struct sockaddr_in6 *)a;
	const struct sockaddr_in6	*y = (const struct sockaddr_in6 *)b;

	if (x->sin6_port != y->sin6_port)
		return false;
	if (IN6_IS_ADDR_UNSPECIFIED(&x->sin6_addr) ||
	    IN6_IS_ADDR_UNSPECIFIED(&y->sin6_addr))
		return true;
	return IN6_ARE_ADDR_EQUAL(&x->sin6_addr, &y->sin6_addr) &&
	    x->sin6_scope_id == y->sin6_scope_id;
}

/* A web listener that has its port from the key. */
static bool
by_web_port(const struct bound *b)
{
	return b->listen->web && b->listen->port == 0;
}

static void
complain_web_port(struct checker *ck)
{
	const struct conf	*c = ck->conf;

	if (!ck->web_port)
		complain(ck, either_line(c, "web-port", "port"), "web-port "
		    "must differ from the port of the control protocol, %u",
		    c->web_port);
	ck->web_port = true;
}

/* The second bind would fail with an errno that names neither line. */
static void
check_overlap(struct checker *ck, const struct bound *a,
    const struct bound *b)
{
	bool	overlap;

	if (a->listen == b->listen || a->ss.ss_family != b->ss.ss_family)
		return;
	overlap = a->ss.ss_family == AF_INET ? v4_overlap(&a->ss, &b->ss) :
	    v6_overlap(&a->ss, &b->ss);
	if (overlap && a->listen->web != b->listen->web &&
	    (by_web_port(a) || by_web_port(b)))
		complain_web_port(ck);
	else if (overlap)
		complain(ck, b->listen->line, "%slisten on %s port %u: "
		    "already taken by \"%slisten on %s\"%s",
		    b->listen->web ? "web " : "", b->listen->addr,
		    conf_listen_port(ck->conf, b->listen),
		    a->listen->web ? "web " : "", a->listen->addr,
		    a->listen->line > 0 ? " above" : "");
}

static void
check_listens(struct checker *ck)
{
	struct bound			 bound[2 * CONF_MAX_LISTENS + 2];
	const struct conf_listen	*l;
	size_t				 i, j, n = 0;

	for (i = 0; (l = conf_listen_at(ck->conf, i)) != NULL; i++)
		n += check_listen(ck, l, &bound[n]);
	for (i = 0; i < n; i++) {
		for (j = i + 1; j < n; j++)
			check_overlap(ck, &bound[i], &bound[j]);
	}
}

static void
check_sandbox(struct checker *ck)
{
	struct conf		*c = ck->conf;
	const uint32_t		 all = (1U << (CONF_SANDBOX_TMPFS + 1)) - 1;
	const uint32_t		 weaker = (1U << c->sandbox) - 1;

	if (c->allow_sandbox == 0)
		c->allow_sandbox = all & ~weaker;
	if (c->allow_sandbox & (1U << c->sandbox))
		return;
	complain(ck, either_line(c, "allow-sandbox", "sandbox"),
	    "allow-sandbox must contain %s, the configured sandbox",
	    conf_key_find("sandbox")->words[c->sandbox]);
}

static void
check_connections(struct checker *ck)
{
	struct conf	*c = ck->conf;
	int		 line = conf_key_line(c, "max-connections-per-user");

	/* nobody takes all places, and few are not worth dividing */
	if (line == CONF_LINE_DEFAULT) {
		c->max_connections_per_user = c->max_connections / 4;
		if (c->max_connections_per_user < FAIR_LEAST)
			c->max_connections_per_user = FAIR_LEAST;
		if (c->max_connections_per_user > c->max_connections)
			c->max_connections_per_user = c->max_connections;
	}
	if (c->max_connections_per_user > c->max_connections)
		complain(ck, line, "max-connections-per-user must be at most "
		    "max-connections, %u, not %u", c->max_connections,
		    c->max_connections_per_user);
}

static void
check_sessions(struct conf *c)
{
	/* likewise; a number above all of them means all */
	if (conf_key_line(c, "max-sessions-per-user") == CONF_LINE_DEFAULT) {
		c->max_sessions_per_user = c->max_sessions / 4;
		if (c->max_sessions_per_user < SESSIONS_LEAST)
			c->max_sessions_per_user = SESSIONS_LEAST;
	}
	if (c->max_sessions_per_user > c->max_sessions)
		c->max_sessions_per_user = c->max_sessions;
}

static void
check_directories(struct checker *ck)
{
	static const char *const	 keys[] = { "state-dir", "run-dir" };
	const char			*values[] = {
		ck->conf->state_dir, ck->conf->run_dir
	};
	size_t				 i;

	/* Only in user mode there is a home directory to fall back on. */
	for (i = 0; i < 2 && ck->conf->system_mode; i++) {
		if (values[i][0] == '\0')
			complain(ck, conf_key_line(ck->conf, keys[i]), "%s "
			    "must be an absolute path in system mode, not "
			    "\"\"", keys[i]);
	}
	if (values[0][0] != '\0' && strcmp(values[0], values[1]) == 0)
		complain(ck, either_line(ck->conf, "run-dir", "state-dir"),
		    "run-dir must differ from state-dir, %.64s", values[0]);
}

static void
check_tls(struct checker *ck)
{
	const struct conf	*c = ck->conf;
	bool			 certificate = c->tls_certificate[0] != '\0';
	bool			 key = c->tls_key[0] != '\0';

	if (certificate == key)
		return;
	complain(ck, conf_key_line(c, certificate ? "tls certificate" :
	    "tls key"), "%s needs a %s; with neither of them both are made at "
	    "the first start", certificate ? "tls certificate" : "tls key",
	    certificate ? "tls key" : "tls certificate");
}

static void
check_audit_file(struct checker *ck)
{
	const struct conf	*c = ck->conf;

	if (c->audit_file[0] != '\0' && strncmp(c->audit_file, "/dev/",
	    5) == 0)
		complain(ck, conf_key_line(c, "audit-file"), "audit-file must "
		    "be a file that keeps what is written, not %.64s",
		    c->audit_file);
}

int
conf_check(struct conf *c, conf_error_fn fn, void *arg)
{
	struct checker	ck = { .conf = c, .fn = fn, .arg = arg };

	check_listens(&ck);
	check_sandbox(&ck);
	check_connections(&ck);
	check_sessions(c);
	check_directories(&ck);
	check_tls(&ck);
	check_audit_file(&ck);
	return ck.errors == 0 ? 0 : -1;
}

static void
warn_plain(struct checker *ck, const struct conf_listen *l)
{
	struct sockaddr_storage	ss[2];

	if (!l->plain || conf_listen_addrs(l, 1, ss) < 1 ||
	    conf_addr_is_loopback(&ss[0]))
		return;
	complain(ck, l->line, "%slisten on %s plain: whoever can read this "
	    "network reads %s; use tls", l->web ? "web " : "", l->addr,
	    l->user != NULL ? "everything that is sent" :
	    "the tokens that are sent");
}

/*
 * A quota keeps users from each other's way; one as large as the whole
 * daemon does not.
 */
static void
warn_quota(struct checker *ck, const struct conf_quota *q)
{
	const struct conf	*c = ck->conf;
	char			 title[280], size[24];

	conf_quota_title(q, title, sizeof(title));
	conf_format_size(c->max_total_bytes, size);
	if (q->sessions >= c->max_sessions)
		complain(ck, q->line, "%s: one user may have all sessions of "
		    "the daemon; say sessions less than max-sessions, %u",
		    title, c->max_sessions);
	if (q->bytes >= c->max_total_bytes)
		complain(ck, q->line, "%s: one user may have all bytes of the "
		    "daemon; say bytes less than max-total-bytes, %s", title,
		    size);
}

int
conf_warn(struct conf *c, conf_error_fn fn, void *arg)
{
	struct checker	ck = { .conf = c, .fn = fn, .arg = arg };
	size_t		i;

	for (i = 0; i < c->nlistens; i++)
		warn_plain(&ck, &c->listens[i]);
	for (i = 0; i < c->nquotas && c->system_mode; i++)
		warn_quota(&ck, &c->quotas[i]);
	return ck.errors;
}
