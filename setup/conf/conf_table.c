/* SPDX-License-Identifier: ISC */
/*
 * The table of keys, and what is done by walking it: defaults, setting by
 * name, comparing, freeing. A new scalar key is one row here and one field
 * in struct conf.
 */
#include <stdlib.h>
#include <string.h>

#include "conf_table.h"

#define K		(1ULL << 10)
#define M		(1ULL << 20)
#define G		(1ULL << 30)
#define FIELD(f)	.offset = offsetof(struct conf, f), \
			.size = sizeof(((struct conf *)NULL)->f)

#define BOOL(n, f)	{ .name = (n), FIELD(f), .type = CONF_BOOL, \
			  .def = "no" }
#define NUMBER(n, f, lo, hi, d, ...) \
	{ .name = (n), FIELD(f), .type = CONF_NUMBER, .min = (lo), \
	  .max = (hi), .def = (d), __VA_ARGS__ }
#define SECONDS(n, f, lo, hi, d, ...) \
	NUMBER(n, f, lo, hi, d, .flags = CONF_F_SECONDS, __VA_ARGS__)
#define SIZE(n, f, lo, hi, d, ...) \
	{ .name = (n), FIELD(f), .type = CONF_SIZE, .min = (lo), \
	  .max = (hi), .def = (d), __VA_ARGS__ }
#define WORD(n, f, w, d) \
	{ .name = (n), FIELD(f), .type = CONF_WORD, .words = (w), .def = (d) }
#define PATHNAME(n, f, hi, d, ...) \
	{ .name = (n), FIELD(f), .type = CONF_PATH, .max = (hi), \
	  .def = (d), __VA_ARGS__ }

/* Bytes that sun_path and PATH_MAX hold beside the terminating NUL. */
#define SOCKET_PATH_MAX	107
#define FILE_PATH_MAX	4095
/* Paths that roles are told, and directories with room for their files. */
#define ROLE_PATH_MAX	255
#define DIR_PATH_MAX	191
/* The fence maps ids up to this one. */
#define UID_MAX_MAPPED	60000
#define WEEK		604800
#define TEN_YEARS	315360000
#define PID_LIMIT	4194304

/* In the order of the enums in conf.h. */
static const char *const sandbox_words[] = {
	"none", "namespaces", "tmpfs", NULL
};
static const char *const network_words[] = { "shared", "none", NULL };
static const char *const log_words[] = {
	"error", "warn", "info", "debug", NULL
};

const struct conf_key conf_keys[] = {
	NUMBER("port", port, 1, 65535, "4444"),
	NUMBER("web-port", web_port, 0, 65535, "8080", .zero = "off"),
	{ .name = "web host", FIELD(web_hosts), .type = CONF_NAMES,
	  .flags = CONF_F_HOST },
	{ .name = "service-name", FIELD(service_name), .type = CONF_SERVICE,
	  .max = 63, .def = "debuglantern on %h" },
	{ .name = "mdns", FIELD(mdns), .type = CONF_BOOL, .def = "yes" },
	PATHNAME("tls certificate", tls_certificate, ROLE_PATH_MAX, "",
	    .flags = CONF_F_EMPTY),
	PATHNAME("tls key", tls_key, ROLE_PATH_MAX, "",
	    .flags = CONF_F_EMPTY),
	PATHNAME("tls client-ca", tls_client_ca, ROLE_PATH_MAX, "",
	    .flags = CONF_F_EMPTY),

	NUMBER("max-sessions", max_sessions, 1, 4096, "32"),
	NUMBER("max-sessions-per-user", max_sessions_per_user, 1, 4096, "8"),
	SECONDS("unstarted-timeout", unstarted_timeout, 1, WEEK, "3600"),
	SIZE("max-total-bytes", max_total_bytes, 1, 8192 * G, "512M"),
	NUMBER("max-connections", max_connections, 1, 60000, "1100"),
	NUMBER("max-connections-per-user", max_connections_per_user, 1, 60000,
	    "275"),
	SIZE("connection-memory", connection_memory, 128 * K, 16 * M, "256K"),
	SIZE("output-buffer", output_buffer, 64 * K, 64 * M, "256K",
	    .flags = CONF_F_POW2),

	PATHNAME("pty-default-shell", pty_default_shell, ROLE_PATH_MAX, "",
	    .flags = CONF_F_EMPTY),
	SIZE("pty-scrollback", pty_scrollback, 64 * K, 64 * M, "1M",
	    .flags = CONF_F_POW2),
	SECONDS("pty-idle-ttl", pty_idle_ttl, 0, WEEK, "900",
	    .zero = "never"),
	NUMBER("pty-max-clients", pty_max_clients, 1, 256, "8"),
	SECONDS("pty-grace", pty_grace, 0, WEEK, "300"),

	SECONDS("stop-timeout", stop_timeout, 1, 3600, "10"),
	SECONDS("idle-timeout", idle_timeout, 0, WEEK, "600",
	    .zero = "never"),
	SECONDS("line-timeout", line_timeout, 1, 3600, "30"),
	SECONDS("debug-timeout", debug_timeout, 1, 3600, "60"),
	SECONDS("exit-idle", exit_idle, 0, WEEK, "0", .zero = "never"),
	SECONDS("timeout dap-initialize", dap_initialize, 1, 3600, "10"),
	SECONDS("timeout dap-request", dap_request, 1, 3600, "30"),
	SECONDS("timeout await", dap_await, 1, WEEK, "300"),
	SECONDS("debugger idle", debugger_idle, 0, WEEK, "1800",
	    .zero = "never"),
	NUMBER("debugger output-events", debugger_output_events, 1, 100000,
	    "1000"),
	SIZE("debugger output-bytes", debugger_output_bytes, 64 * K, 64 * M,
	    "1M", .flags = CONF_F_POW2),
	SECONDS("tracer idle", tracer_idle, 0, WEEK, "1800",
	    .zero = "never"),
	NUMBER("tracer budget", tracer_budget, 0, 1000000000, "100000",
	    .zero = "unlimited"),
	SIZE("tracer timeline-calls", tracer_calls, 1 * M, 1024 * G, "1G"),
	SIZE("tracer timeline-output", tracer_output, 64 * K, 1024 * G,
	    "50M"),
	SIZE("tracer user-timeline", tracer_user, 4 * M, 8192 * G, "4G",
	    .flags = CONF_F_UNLIMITED),

	WORD("sandbox", sandbox, sandbox_words, "namespaces"),
	{ .name = "allow-sandbox", FIELD(allow_sandbox), .type = CONF_SET,
	  .words = sandbox_words },
	WORD("network", network, network_words, "shared"),
	BOOL("control", control),
	{ .name = "allow-32bit", FIELD(allow_32bit), .type = CONF_BOOL,
	  .def = "yes" },

	NUMBER("limit cpu", limits.cpu, 1, TEN_YEARS, "unlimited",
	    .flags = CONF_F_SECONDS | CONF_F_UNLIMITED),
	SIZE("limit as", limits.as, 1 * M, 8192 * G, "unlimited",
	    .flags = CONF_F_UNLIMITED),
	NUMBER("limit nofile", limits.nofile, 8, 1048576, "1024",
	    .flags = CONF_F_UNLIMITED),
	NUMBER("limit nproc", limits.nproc, 4, PID_LIMIT, "512",
	    .flags = CONF_F_UNLIMITED),
	SIZE("limit core", limits.core, 0, 8192 * G, "0",
	    .flags = CONF_F_UNLIMITED),
	SIZE("limit memory", limits.memory, 1 * M, 8192 * G, "unlimited",
	    .flags = CONF_F_UNLIMITED),
	NUMBER("limit pids", limits.pids, 4, PID_LIMIT, "512",
	    .flags = CONF_F_UNLIMITED),

	SIZE("bundle-max-bytes", bundle_max_bytes, 1, 8192 * G, "1G"),
	NUMBER("bundle-max-members", bundle_max_members, 1, 10000000,
	    "100000"),
	NUMBER("bundle-max-path", bundle_max_path, 16, FILE_PATH_MAX, "1024"),
	SIZE("sysroot-max-bytes", sysroot_max_bytes, 1, 8192 * G, "8G"),

	NUMBER("min-uid", min_uid, 1, UID_MAX_MAPPED, "1000"),
	{ .name = "allow-group", FIELD(allow_groups), .type = CONF_NAMES },
	{ .name = "allow user", FIELD(allowed_users), .type = CONF_NAMES },
	{ .name = "allow group", FIELD(allowed_groups), .type = CONF_NAMES },
	{ .name = "deny user", FIELD(denied_users), .type = CONF_NAMES },
	{ .name = "deny group", FIELD(denied_groups), .type = CONF_NAMES },
	{ .name = "admin user", FIELD(admin_users), .type = CONF_NAMES },
	{ .name = "admin group", FIELD(admin_groups), .type = CONF_NAMES },
	PATHNAME("gdbserver", gdbserver, ROLE_PATH_MAX, "/usr/bin/gdbserver"),
	PATHNAME("state-dir", state_dir, DIR_PATH_MAX,
	    "/var/lib/debuglantern", .flags = CONF_F_EMPTY, .user_def = ""),
	PATHNAME("run-dir", run_dir, DIR_PATH_MAX, "/run/debuglantern",
	    .flags = CONF_F_EMPTY, .user_def = ""),
	PATHNAME("socket", socket, SOCKET_PATH_MAX, "",
	    .flags = CONF_F_EMPTY),

	BOOL("weaken-userns", weaken_userns),
	BOOL("weaken-seccomp", weaken_seccomp),
	BOOL("weaken-chroot", weaken_chroot),
	WORD("log-level", log_level, log_words, "info"),
	PATHNAME("audit-file", audit_file, FILE_PATH_MAX, "",
	    .flags = CONF_F_EMPTY),
};
const size_t conf_nkeys = sizeof(conf_keys) / sizeof(conf_keys[0]);

/* Words that begin a line and are no rows. */
static const char *const statements[] = {
	"listen", "limit", "tls", "admin", "quota", "web", "timeout",
	"debugger", "adapter", "tracer", "allow", "deny"
};
#define NSTATEMENTS	(sizeof(statements) / sizeof(statements[0]))

const struct conf_key *
conf_key_find(const char *name)
{
	size_t	i;

	for (i = 0; i < conf_nkeys; i++) {
		if (strcmp(conf_keys[i].name, name) == 0)
			return &conf_keys[i];
	}
	return NULL;
}

#define WORD_MAX	40

static size_t
min3(size_t a, size_t b, size_t c)
{
	if (b < a)
		a = b;
	return c < a ? c : a;
}

/* Insertions, deletions and replacements, by the usual two rows. */
static size_t
edit_distance(const char *a, const char *b)
{
	size_t	row[WORD_MAX + 1], blen = strlen(b);
	size_t	i, j, diagonal, above;

	for (j = 0; j <= blen; j++)
		row[j] = j;
	for (i = 1; a[i - 1] != '\0'; i++) {
		diagonal = row[0];
		row[0] = i;
		for (j = 1; j <= blen; j++) {
			above = row[j];
			row[j] = min3(row[j - 1] + 1, above + 1,
			    diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[blen];
}

const char *
conf_key_nearest(const char *name)
{
	const char	*best = NULL, *candidate;
	size_t		 i, d, best_d = 3, len = strlen(name);

	if (len > WORD_MAX)
		return NULL;
	for (i = 0; i < conf_nkeys + NSTATEMENTS; i++) {
		candidate = i < conf_nkeys ? conf_keys[i].name :
		    statements[i - conf_nkeys];
		d = edit_distance(name, candidate);
		/* Two changes in a word of three letters prove nothing. */
		if (d < best_d && d * 2 <= len) {
			best = candidate;
			best_d = d;
		}
	}
	return best;
}

void
conf_key_unknown(const char *name, char *err, size_t errsize)
{
	const char	*nearest;
	char		 quoted[80];

	conf_quote(name, quoted);
	if ((nearest = conf_key_nearest(name)) != NULL)
		snprintf(err, errsize, "unknown key %s, perhaps \"%s\"?",
		    quoted, nearest);
	else
		snprintf(err, errsize, "unknown key %s, see "
		    "debuglantern.conf(5)", quoted);
}

int
conf_key_line(const struct conf *c, const char *name)
{
	const struct conf_key	*k = conf_key_find(name);

	return k == NULL ? CONF_LINE_DEFAULT : c->lines[k - conf_keys];
}

/*
 * Twice in one file is a mistake of the writer, and which one was meant is
 * not ours to guess. Over a default or by a flag is what setting is for.
 */
int
conf_key_set(struct conf *c, const struct conf_key *k, const char *value,
    int line, char *err, size_t errsize)
{
	int	*where = &c->lines[k - conf_keys];

	if (line > 0 && *where > 0 && k->type != CONF_NAMES) {
		snprintf(err, errsize, "%s is already set in line %d",
		    k->name, *where);
		return -1;
	}
	if (conf_type_parse(c, k, value, err, errsize) == -1)
		return -1;
	*where = line;
	return 0;
}

int
conf_set(struct conf *c, const char *key, const char *value, char *err,
    size_t errsize)
{
	const struct conf_key	*k;
	struct conf_listen	 l = { .line = CONF_LINE_COMMAND };

	if (strcmp(key, "listen") == 0) {
		if ((l.addr = strdup(value)) == NULL) {
			snprintf(err, errsize, "out of memory");
			return -1;
		}
		return conf_listen_add(c, &l, err, errsize);
	}
	if ((k = conf_key_find(key)) == NULL) {
		conf_key_unknown(key, err, errsize);
		return -1;
	}
	return conf_key_set(c, k, value, CONF_LINE_COMMAND, err, errsize);
}

/* By the same way as the file's values: a default out of range cannot be. */
static int
set_default(struct conf *c, const struct conf_key *k)
{
	const char	*value = k->def;
	char		 err[400];

	if (!c->system_mode && k->user_def != NULL)
		value = k->user_def;
	if (value == NULL)
		return 0;
	return conf_key_set(c, k, value, CONF_LINE_DEFAULT, err, sizeof(err));
}

static int
default_listen(struct conf *c)
{
	struct conf_listen	l = { .line = CONF_LINE_DEFAULT };
	char			err[400];

	if ((l.addr = strdup("localhost")) == NULL)
		return -1;
	return conf_listen_add(c, &l, err, sizeof(err));
}

struct conf *
conf_default(bool system_mode, uid_t invoking)
{
	struct conf	*c;
	size_t		 i;

	if ((c = calloc(1, sizeof(*c))) == NULL)
		return NULL;
	c->system_mode = system_mode;
	c->invoking = invoking;
	if ((c->lines = calloc(conf_nkeys, sizeof(*c->lines))) == NULL)
		goto fail;
	if (default_listen(c) == -1)
		goto fail;
	for (i = 0; i < conf_nkeys; i++) {
		if (set_default(c, &conf_keys[i]) == -1)
			goto fail;
	}
	return c;
 fail:
	conf_free(c);
	return NULL;
}

static bool
is_string(const struct conf_key *k)
{
	return k->type == CONF_PATH || k->type == CONF_SERVICE;
}

void
conf_free(struct conf *c)
{
	size_t	i;

	if (c == NULL)
		return;
	for (i = 0; i < c->nlistens; i++)
		conf_listen_clear(&c->listens[i]);
	free(c->listens);
	for (i = 0; i < c->nquotas; i++)
		conf_quota_clear(&c->quotas[i]);
	free(c->quotas);
	for (i = 0; i < c->nadapters; i++)
		conf_adapter_clear(&c->adapters[i]);
	free(c->adapters);
	for (i = 0; i < conf_nkeys; i++) {
		if (is_string(&conf_keys[i]))
			free(*(char **)conf_field(c, &conf_keys[i]));
		if (conf_keys[i].type == CONF_NAMES)
			conf_names_free(conf_field(c, &conf_keys[i]));
	}
	free(c->lines);
	free(c->name);
	free(c);
}

static bool
names_equal(const struct conf_names *a, const struct conf_names *b)
{
	size_t	i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++) {
		if (strcmp(a->v[i], b->v[i]) != 0)
			return false;
	}
	return true;
}

static bool
key_equal(const struct conf_key *k, const struct conf *a,
    const struct conf *b)
{
	const void	*fa = conf_value(a, k), *fb = conf_value(b, k);

	if (is_string(k))
		return strcmp(*(char *const *)fa, *(char *const *)fb) == 0;
	if (k->type == CONF_NAMES)
		return names_equal(fa, fb);
	return memcmp(fa, fb, k->size) == 0;
}

static bool
listen_equal(const struct conf_listen *a, const struct conf_listen *b)
{
	if ((a->user == NULL) != (b->user == NULL))
		return false;
	if (a->user != NULL && strcmp(a->user, b->user) != 0)
		return false;
	return strcmp(a->addr, b->addr) == 0 && a->port == b->port &&
	    a->tls == b->tls && a->plain == b->plain && a->web == b->web;
}

/* Compares the order as well: a user gets the first rule that fits. */
static bool
quotas_equal(const struct conf *a, const struct conf *b)
{
	size_t	i;

	if (a->nquotas != b->nquotas)
		return false;
	for (i = 0; i < a->nquotas; i++) {
		if (!conf_quota_equal(&a->quotas[i], &b->quotas[i]))
			return false;
	}
	return true;
}

bool
conf_equal(const struct conf *a, const struct conf *b)
{
	size_t	i;

	if (a->system_mode != b->system_mode || a->invoking != b->invoking ||
	    a->nlistens != b->nlistens || !quotas_equal(a, b) ||
	    !conf_adapters_equal(a, b))
		return false;
	for (i = 0; i < a->nlistens; i++) {
		if (!listen_equal(&a->listens[i], &b->listens[i]))
			return false;
	}
	for (i = 0; i < conf_nkeys; i++) {
		if (!key_equal(&conf_keys[i], a, b))
			return false;
	}
	return true;
}
