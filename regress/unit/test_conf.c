/* SPDX-License-Identifier: ISC */
/*
 * The configuration: every key, every message, macros, and that what is
 * printed parses to the same.
 */
#include <sys/socket.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <malloc.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "setup/conf/conf_table.h"

/* The tests run from the top of the tree unless told where that is. */
#ifndef TOPDIR
#define TOPDIR	"."
#endif

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

struct errors {
	char	text[CONF_MAX_ERRORS + 5][600];
	size_t	n;
};

static void
on_error(void *arg, const char *text)
{
	struct errors	*e = arg;

	assert_true(e->n < NITEMS(e->text));
	snprintf(e->text[e->n++], sizeof(e->text[0]), "%s", text);
}

static int
parse_bytes(struct conf *c, const char *text, size_t len, struct errors *e)
{
	FILE	*f = fmemopen((void *)(uintptr_t)text, len, "r");
	int	 ret;

	assert_non_null(f);
	e->n = 0;
	ret = conf_parse(c, "F", f, on_error, e);
	fclose(f);
	assert_int_equal(ret, e->n == 0 ? 0 : -1);
	return ret;
}

static struct conf *
new_conf(void)
{
	struct conf	*c = conf_default(true, 0);

	assert_non_null(c);
	return c;
}

/* Parses what must be right. */
static struct conf *
good(const char *text)
{
	struct errors	 e;
	struct conf	*c = new_conf();

	if (parse_bytes(c, text, strlen(text), &e) == -1)
		fail_msg("refused: %s", e.text[0]);
	return c;
}

static void
assert_parse_error(const char *text, const char *error)
{
	struct errors	 e;
	struct conf	*c = new_conf();

	if (parse_bytes(c, text, strlen(text), &e) == 0)
		fail_msg("accepted: %s", text);
	assert_string_equal(e.text[0], error);
	assert_int_equal(e.n, 1);
	conf_free(c);
}

static char *
printed(const struct conf *c)
{
	char	*text = NULL;
	size_t	 len = 0;
	FILE	*f = open_memstream(&text, &len);

	assert_non_null(f);
	conf_print(c, f);
	assert_int_equal(fclose(f), 0);
	return text;
}

static bool
prints_line(const struct conf *c, const char *line)
{
	char	*text = printed(c), *p, *save = NULL;
	bool	 found = false;

	for (p = strtok_r(text, "\n", &save); p != NULL && !found;
	    p = strtok_r(NULL, "\n", &save))
		found = strcmp(p, line) == 0;
	free(text);
	return found;
}

/* Numbers and sizes */

static void
test_numbers(void **state)
{
	static const char *const bad[] = {
		"", " 1", "1 ", "+1", "-1", "-5", "1e9", "0x10", "1K", "abc",
		"1.0", "18446744073709551616", "99999999999999999999999",
	};
	uint64_t	v = 77;
	size_t		i;

	(void)state;
	for (i = 0; i < NITEMS(bad); i++)
		assert_int_equal(conf_parse_number(bad[i], 0, UINT64_MAX,
		    &v), -1);
	assert_int_equal(conf_parse_number("9", 10, 20, &v), -1);
	assert_int_equal(conf_parse_number("21", 10, 20, &v), -1);
	assert_int_equal(v, 77);
	assert_int_equal(conf_parse_number("10", 10, 20, &v), 0);
	assert_int_equal(v, 10);
	assert_int_equal(conf_parse_number("0020", 10, 20, &v), 0);
	assert_int_equal(v, 20);
	assert_int_equal(conf_parse_number("18446744073709551615", 0,
	    UINT64_MAX, &v), 0);
	assert_true(v == UINT64_MAX);
}

static void
test_sizes(void **state)
{
	static const char *const bad[] = {
		"", "K", "1k", "1m", "1T", "1KB", "1 K", " 1", "-1K", "+1K",
		"1e9", "1.5G", "0x1K", "18014398509481984K",
		"17179869184G", "18446744073709551616",
	};
	static const struct {
		const char	*text;
		uint64_t	 value;
		const char	*shortest;
	} ok[] = {
		{ "0", 0, "0" },
		{ "0K", 0, "0" },
		{ "1", 1, "1" },
		{ "1023", 1023, "1023" },
		{ "1024", 1024, "1K" },
		{ "64K", 65536, "64K" },
		{ "1025K", 1049600, "1025K" },
		{ "512M", 536870912, "512M" },
		{ "1024M", 1073741824, "1G" },
		{ "17179869183G", 18446744072635809792ULL, "17179869183G" },
		{ "18446744073709551615", UINT64_MAX,
		    "18446744073709551615" },
	};
	uint64_t	v = 77;
	char		text[24];
	size_t		i;

	(void)state;
	for (i = 0; i < NITEMS(bad); i++)
		assert_int_equal(conf_parse_size(bad[i], &v), -1);
	assert_int_equal(v, 77);
	for (i = 0; i < NITEMS(ok); i++) {
		assert_int_equal(conf_parse_size(ok[i].text, &v), 0);
		assert_true(v == ok[i].value);
		conf_format_size(v, text);
		assert_string_equal(text, ok[i].shortest);
	}
}

/* Defaults */

static void
assert_common_defaults(const struct conf *c)
{
	assert_int_equal(c->nlistens, 1);
	assert_string_equal(c->listens[0].addr, "localhost");
	assert_null(c->listens[0].user);
	assert_int_equal(c->port, 4444);
	assert_int_equal(c->web_port, 8080);
	assert_int_equal(c->web_hosts.n, 0);
	assert_string_equal(c->service_name, "debuglantern on %h");
	assert_true(c->mdns);
	assert_int_equal(c->max_sessions, 32);
	assert_int_equal(c->max_sessions_per_user, 8);
	assert_int_equal(c->unstarted_timeout, 3600);
	assert_int_equal(c->max_total_bytes, 512 << 20);
	assert_int_equal(c->max_connections, 1100);
	assert_int_equal(c->max_connections_per_user, 275);
	assert_int_equal(c->connection_memory, 256 << 10);
	assert_int_equal(c->output_buffer, 256 << 10);
	assert_string_equal(c->pty_default_shell, "");
	assert_int_equal(c->pty_scrollback, 1 << 20);
	assert_int_equal(c->pty_idle_ttl, 900);
	assert_int_equal(c->pty_max_clients, 8);
	assert_int_equal(c->pty_grace, 300);
	assert_int_equal(c->stop_timeout, 10);
	assert_int_equal(c->idle_timeout, 600);
	assert_int_equal(c->line_timeout, 30);
	assert_int_equal(c->debug_timeout, 60);
	assert_int_equal(c->exit_idle, 0);
	assert_int_equal(c->dap_initialize, 10);
	assert_int_equal(c->dap_request, 30);
	assert_int_equal(c->dap_await, 300);
	assert_int_equal(c->debugger_idle, 1800);
	assert_int_equal(c->debugger_output_events, 1000);
	assert_int_equal(c->debugger_output_bytes, 1 << 20);
	assert_int_equal(c->nadapters, 0);
	assert_int_equal(c->min_uid, 1000);
	assert_int_equal(c->allow_groups.n, 0);
	assert_string_equal(c->gdbserver, "/usr/bin/gdbserver");
	assert_string_equal(c->socket, "");
	assert_string_equal(c->tls_certificate, "");
	assert_string_equal(c->tls_key, "");
	assert_string_equal(c->tls_client_ca, "");
	assert_string_equal(c->audit_file, "");
	assert_int_equal(c->allowed_users.n, 0);
	assert_int_equal(c->allowed_groups.n, 0);
	assert_int_equal(c->denied_users.n, 0);
	assert_int_equal(c->denied_groups.n, 0);
	assert_int_equal(c->admin_users.n, 0);
	assert_int_equal(c->admin_groups.n, 0);
	assert_int_equal(c->nquotas, 0);
}

static void
assert_session_defaults(const struct conf *c)
{
	assert_int_equal(c->sandbox, CONF_SANDBOX_NAMESPACES);
	assert_int_equal(c->network, CONF_NETWORK_SHARED);
	assert_false(c->control);
	assert_true(c->limit_cpu == CONF_UNLIMITED);
	assert_true(c->limit_as == CONF_UNLIMITED);
	assert_int_equal(c->limit_nofile, 1024);
	assert_int_equal(c->limit_nproc, 512);
	assert_int_equal(c->limit_core, 0);
	assert_true(c->limit_memory == CONF_UNLIMITED);
	assert_int_equal(c->limit_pids, 512);
	assert_int_equal(c->bundle_max_bytes, 1 << 30);
	assert_int_equal(c->bundle_max_members, 100000);
	assert_int_equal(c->bundle_max_path, 1024);
	assert_true(c->sysroot_max_bytes == 8ULL << 30);
	assert_false(c->weaken_userns);
	assert_false(c->weaken_seccomp);
	assert_false(c->weaken_chroot);
	assert_int_equal(c->log_level, CONF_LOG_INFO);
}

static void
test_defaults(void **state)
{
	struct errors	 e = { .n = 0 };
	struct conf	*c;

	(void)state;
	c = new_conf();
	assert_common_defaults(c);
	assert_session_defaults(c);
	assert_true(c->system_mode);
	assert_string_equal(c->state_dir, "/var/lib/debuglantern");
	assert_string_equal(c->run_dir, "/run/debuglantern");
	assert_int_equal(conf_check(c, on_error, &e), 0);
	assert_int_equal(c->allow_sandbox,
	    1 << CONF_SANDBOX_NAMESPACES | 1 << CONF_SANDBOX_TMPFS);
	conf_free(c);

	c = conf_default(false, 1234);
	assert_non_null(c);
	assert_common_defaults(c);
	assert_session_defaults(c);
	assert_false(c->system_mode);
	assert_int_equal(c->invoking, 1234);
	assert_string_equal(c->state_dir, "");
	assert_string_equal(c->run_dir, "");
	assert_int_equal(conf_check(c, on_error, &e), 0);
	conf_free(c);
}

/* Keys */

#define NAMES	"a list of names of 1 to 255 bytes, without blank, \":\" " \
		"and \"/\" and not starting with \"-\""

/* For each key a value that is not the default, its print, a bad value. */
static const struct key_case {
	const char	*name;
	const char	*value;
	const char	*print;		/* NULL: as value */
	const char	*bad;
	const char	*must;		/* "NAME must be MUST, not ..." */
} key_cases[] = {
	{ "port", "65535", NULL, "0", "a number from 1 to 65535" },
	{ "web-port", "0", NULL, "65536",
	    "a number from 0 to 65535 (0: off)" },
	{ "web host", "\"lab.example.org\"", NULL, "a..b",
	    "a list of names of hosts, such as lab.example.org" },
	{ "service-name", "\"a \\\"lab\\\" on %h\"", NULL, "%d",
	    "1 to 63 bytes of UTF-8 text, in which %h is the host name and "
	    "%% a percent sign" },
	{ "mdns", "no", NULL, "on", "yes or no" },
	{ "tls certificate", "\"/etc/c.pem\"", NULL, "c.pem",
	    "an absolute path of at most 255 bytes or \"\"" },
	{ "tls key", "\"/etc/k.pem\"", NULL, "k.pem",
	    "an absolute path of at most 255 bytes or \"\"" },
	{ "tls client-ca", "\"/etc/ca.pem\"", NULL, "ca",
	    "an absolute path of at most 255 bytes or \"\"" },
	{ "max-sessions", "4096", NULL, "4097", "a number from 1 to 4096" },
	{ "max-sessions-per-user", "7", NULL, "0", "a number from 1 to 4096" },
	{ "unstarted-timeout", "60", NULL, "1h",
	    "a number of seconds from 1 to 604800" },
	{ "max-total-bytes", "1024K", "1M", "-5",
	    "a size from 1 to 8192G (digits, then K, M or G)" },
	{ "max-connections", "2000", NULL, "1e3",
	    "a number from 1 to 60000" },
	{ "max-connections-per-user", "7", NULL, "0x7",
	    "a number from 1 to 60000" },
	{ "connection-memory", "128K", NULL, "131071",
	    "a size from 128K to 16M (digits, then K, M or G)" },
	{ "output-buffer", "64M", NULL, "100K",
	    "a power of two from 64K to 64M (digits, then K, M or G)" },
	{ "pty-default-shell", "\"/bin/zsh\"", NULL, "zsh",
	    "an absolute path of at most 255 bytes or \"\"" },
	{ "pty-scrollback", "64K", NULL, "1000000",
	    "a power of two from 64K to 64M (digits, then K, M or G)" },
	{ "pty-idle-ttl", "0", NULL, "never",
	    "a number of seconds from 0 to 604800 (0: never)" },
	{ "pty-max-clients", "256", NULL, "0", "a number from 1 to 256" },
	{ "pty-grace", "60", NULL, "1m",
	    "a number of seconds from 0 to 604800" },
	{ "stop-timeout", "3600", NULL, "10s",
	    "a number of seconds from 1 to 3600" },
	{ "idle-timeout", "0", NULL, "never",
	    "a number of seconds from 0 to 604800 (0: never)" },
	{ "line-timeout", "1", NULL, "0",
	    "a number of seconds from 1 to 3600" },
	{ "debug-timeout", "5", NULL, "+5",
	    "a number of seconds from 1 to 3600" },
	{ "exit-idle", "1800", NULL, "never",
	    "a number of seconds from 0 to 604800 (0: never)" },
	{ "timeout dap-initialize", "60", NULL, "0",
	    "a number of seconds from 1 to 3600" },
	{ "timeout dap-request", "5", NULL, "5s",
	    "a number of seconds from 1 to 3600" },
	{ "timeout await", "604800", NULL, "0",
	    "a number of seconds from 1 to 604800" },
	{ "debugger idle", "0", NULL, "30m",
	    "a number of seconds from 0 to 604800 (0: never)" },
	{ "debugger output-events", "1", NULL, "0",
	    "a number from 1 to 100000" },
	{ "debugger output-bytes", "64K", NULL, "65K",
	    "a power of two from 64K to 64M (digits, then K, M or G)" },
	{ "tracer idle", "0", NULL, "30m",
	    "a number of seconds from 0 to 604800 (0: never)" },
	{ "tracer budget", "0", NULL, "1000000001",
	    "a number from 0 to 1000000000 (0: unlimited)" },
	{ "tracer timeline-calls", "1M", NULL, "1023K",
	    "a size from 1M to 1024G (digits, then K, M or G)" },
	{ "tracer timeline-output", "64K", NULL, "1",
	    "a size from 64K to 1024G (digits, then K, M or G)" },
	{ "tracer user-timeline", "unlimited", NULL, "4095K",
	    "a size from 4M to 8192G (digits, then K, M or G) or unlimited" },
	{ "sandbox", "tmpfs", NULL, "foo", "none, namespaces or tmpfs" },
	{ "allow-sandbox", "tmpfs none, namespaces",
	    "none, namespaces, tmpfs", "chroot",
	    "a list of none, namespaces or tmpfs" },
	{ "network", "none", NULL, "host", "shared or none" },
	{ "control", "yes", NULL, "YES", "yes or no" },
	{ "allow-32bit", "no", NULL, "1", "yes or no" },
	{ "limit cpu", "60", NULL, "0",
	    "a number of seconds from 1 to 315360000 or unlimited" },
	{ "limit as", "2G", NULL, "1K",
	    "a size from 1M to 8192G (digits, then K, M or G) or unlimited" },
	{ "limit nofile", "unlimited", NULL, "1K",
	    "a number from 8 to 1048576 or unlimited" },
	{ "limit nproc", "unlimited", NULL, "1",
	    "a number from 4 to 4194304 or unlimited" },
	{ "limit core", "1G", NULL, "infinity",
	    "a size from 0 to 8192G (digits, then K, M or G) or unlimited" },
	{ "limit memory", "512M", NULL, "512m",
	    "a size from 1M to 8192G (digits, then K, M or G) or unlimited" },
	{ "limit pids", "4", NULL, "3",
	    "a number from 4 to 4194304 or unlimited" },
	{ "bundle-max-bytes", "8192G", NULL, "8193G",
	    "a size from 1 to 8192G (digits, then K, M or G)" },
	{ "bundle-max-members", "1", NULL, "1K",
	    "a number from 1 to 10000000" },
	{ "bundle-max-path", "4095", NULL, "4096",
	    "a number from 16 to 4095" },
	{ "sysroot-max-bytes", "1025", NULL, "0",
	    "a size from 1 to 8192G (digits, then K, M or G)" },
	{ "min-uid", "60000", NULL, "0", "a number from 1 to 60000" },
	{ "allow-group", "\"dialout\"", NULL, "-x", NAMES },
	{ "allow user", "\"ann\"", NULL, "a:b", NAMES },
	{ "allow group", "\"staff\"", NULL, "-x", NAMES },
	{ "deny user", "\"bob\"", NULL, "a/b", NAMES },
	{ "deny group", "\"guests\"", NULL, "-x", NAMES },
	{ "admin user", "\"ann\"", NULL, "a:b", NAMES },
	{ "admin group", "\"wheel\"", NULL, "-x", NAMES },
	{ "gdbserver", "\"/opt/g db\"", NULL, "gdbserver",
	    "an absolute path of at most 255 bytes" },
	{ "state-dir", "\"/srv/dl\"", NULL, "dl",
	    "an absolute path of at most 191 bytes or \"\"" },
	{ "run-dir", "\"/run/x\"", NULL, "./x",
	    "an absolute path of at most 191 bytes or \"\"" },
	{ "socket", "\"/run/x/s\"", NULL, "s",
	    "an absolute path of at most 107 bytes or \"\"" },
	{ "weaken-userns", "yes", NULL, "1", "yes or no" },
	{ "weaken-seccomp", "yes", NULL, "true", "yes or no" },
	{ "weaken-chroot", "yes", NULL, "maybe", "yes or no" },
	{ "log-level", "debug", NULL, "trace",
	    "error, warn, info or debug" },
	{ "audit-file", "\"/var/log/dl audit\"", NULL, "audit",
	    "an absolute path of at most 4095 bytes or \"\"" },
};

static void
test_every_key_has_a_case(void **state)
{
	size_t	i, j;

	(void)state;
	for (i = 0; i < conf_nkeys; i++) {
		for (j = 0; j < NITEMS(key_cases); j++) {
			if (strcmp(conf_keys[i].name, key_cases[j].name) == 0)
				break;
		}
		if (j == NITEMS(key_cases))
			fail_msg("no case for %s", conf_keys[i].name);
	}
	assert_int_equal(conf_nkeys, NITEMS(key_cases));
}

static void
test_every_key_is_set(void **state)
{
	const struct key_case	*kc;
	struct conf		*c, *defaults = new_conf();
	char			 text[200], print[200];
	size_t			 i;

	(void)state;
	for (i = 0; i < NITEMS(key_cases); i++) {
		kc = &key_cases[i];
		snprintf(text, sizeof(text), "\n%s %s\n", kc->name,
		    kc->value);
		snprintf(print, sizeof(print), "%s %s", kc->name,
		    kc->print != NULL ? kc->print : kc->value);
		c = good(text);
		if (!prints_line(c, print))
			fail_msg("not printed: %s", print);
		if (conf_equal(c, defaults))
			fail_msg("%s changed nothing", text);
		assert_int_equal(conf_key_line(c, kc->name), 2);
		conf_free(c);
	}
	conf_free(defaults);
}

static void
test_every_key_refuses(void **state)
{
	const struct key_case	*kc;
	char			 text[200], error[400];
	size_t			 i;

	(void)state;
	for (i = 0; i < NITEMS(key_cases); i++) {
		kc = &key_cases[i];
		snprintf(text, sizeof(text), "# x\n%s %s\n", kc->name,
		    kc->bad);
		snprintf(error, sizeof(error), "F:2: %s must be %s, not "
		    "\"%s\"", kc->name, kc->must, kc->bad);
		assert_parse_error(text, error);

		snprintf(error, sizeof(error), "%s must be %s, not \"%s\"",
		    kc->name, kc->must, kc->bad);
		{
			struct conf	*c = new_conf();
			char		 err[400];

			assert_int_equal(conf_set(c, kc->name, kc->bad, err,
			    sizeof(err)), -1);
			assert_string_equal(err, error);
			conf_free(c);
		}
	}
}

static void
test_every_key_once(void **state)
{
	const struct key_case	*kc;
	char			 text[200], error[200];
	size_t			 i;

	(void)state;
	for (i = 0; i < NITEMS(key_cases); i++) {
		kc = &key_cases[i];
		if (conf_key_find(kc->name)->type == CONF_NAMES)
			continue;
		snprintf(text, sizeof(text), "%s %s\n\n%s %s\n", kc->name,
		    kc->value, kc->name, kc->value);
		snprintf(error, sizeof(error), "F:3: %s is already set in "
		    "line 1", kc->name);
		assert_parse_error(text, error);
	}
}

static void
test_fields(void **state)
{
	struct conf	*c = good("sandbox none\nnetwork none\ncontrol yes\n"
	    "allow-sandbox none, tmpfs\nlimit core unlimited\n"
	    "log-level error\nallow-group a, b\nallow-group c d\n"
	    "weaken-chroot yes\nport 5\nlimit as 1M\n");

	(void)state;
	assert_int_equal(c->sandbox, CONF_SANDBOX_NONE);
	assert_int_equal(c->network, CONF_NETWORK_NONE);
	assert_true(c->control);
	assert_int_equal(c->allow_sandbox, 5);
	assert_true(c->limit_core == CONF_UNLIMITED);
	assert_int_equal(c->limit_as, 1 << 20);
	assert_int_equal(c->log_level, CONF_LOG_ERROR);
	assert_true(c->weaken_chroot);
	assert_false(c->weaken_seccomp);
	assert_int_equal(c->port, 5);
	assert_int_equal(c->allow_groups.n, 4);
	assert_string_equal(c->allow_groups.v[0], "a");
	assert_string_equal(c->allow_groups.v[3], "d");
	conf_free(c);
}

/* Syntax */

static void
test_syntax(void **state)
{
	struct conf	*c;

	(void)state;
	conf_free(good(""));
	conf_free(good("# nothing"));
	conf_free(good("# a comment goes no further \\\nport 5\n"));
	c = good("port \\\n  5\\\r\n#x\r\n\r\n\tweb-port 7 # seven\r\n"
	    "service-name 'it\\'s \"\\\\ # $x =,' \nstate-dir '/a\\\nb'");
	assert_int_equal(c->port, 5);
	assert_int_equal(c->web_port, 7);
	assert_string_equal(c->service_name, "it's \"\\ # $x =,");
	assert_string_equal(c->state_dir, "/ab");
	assert_int_equal(conf_key_line(c, "port"), 1);
	assert_int_equal(conf_key_line(c, "web-port"), 5);
	assert_int_equal(conf_key_line(c, "state-dir"), 7);
	conf_free(c);
	/* Keywords of one statement are plain words in another. */
	c = good("allow-group listen, on, port, auth, none, as plain limit "
	    "tls default user group quota admin adapter command debugger "
	    "timeout");
	assert_int_equal(c->allow_groups.n, 18);
	conf_free(c);
}

static void
test_macros(void **state)
{
	struct conf	*c;

	(void)state;
	c = good("n = 5\nlab_1=\"192.0.2.1\"\nbase = /srv\ns = \"a b\"\n"
	    "port $n\nlisten on $lab_1 auth none as x$n plain\n"
	    "again = $base/x\nstate-dir $again-$n/y\nservice-name $s\n"
	    "on = none\nsandbox $on\n");
	assert_int_equal(c->port, 5);
	assert_string_equal(c->listens[0].addr, "192.0.2.1");
	assert_string_equal(c->listens[0].user, "x5");
	assert_string_equal(c->state_dir, "/srv/x-5/y");
	assert_string_equal(c->service_name, "a b");
	assert_int_equal(c->sandbox, CONF_SANDBOX_NONE);
	conf_free(c);
	/* A "$" that came out of a macro or of quotes is only a "$". */
	c = good("a = '$a'\nservice-name $a");
	assert_string_equal(c->service_name, "$a");
	conf_free(c);
}

#define ADAPTER_FORM \
	"F:1: adapter must be: adapter NAME command \"PROGRAM ARGUMENTS\""
#define QUOTA_FORM \
	"F:1: quota must be: quota default|user NAME|group NAME [sessions " \
	"NUMBER] [bytes SIZE] [cpu SECONDS] [memory SIZE] [processes " \
	"NUMBER], with one of these at least"

static const struct {
	const char	*text;
	const char	*error;
} errors[] = {
	/* keys */
	{ "prt 5", "F:1: unknown key \"prt\", perhaps \"port\"?" },
	{ "max-conections 5",
	    "F:1: unknown key \"max-conections\", perhaps "
	    "\"max-connections\"?" },
	{ "lisen on ::1", "F:1: unknown key \"lisen\", perhaps \"listen\"?" },
	{ "limit cpus 5",
	    "F:1: unknown key \"limit cpus\", perhaps \"limit cpu\"?" },
	{ "xy 5", "F:1: unknown key \"xy\", see debuglantern.conf(5)" },
	{ "include \"/etc/x\"",
	    "F:1: unknown key \"include\", see debuglantern.conf(5)" },
	{ "limits cpu 5", "F:1: unknown key \"limits\", perhaps \"limit\"?" },
	{ "sandboxx",
	    "F:1: unknown key \"sandboxx\", perhaps \"sandbox\"?" },
	{ "limit", "F:1: limit must be followed by a resource (cpu, as, "
	    "nofile, nproc, core, memory or pids) and a value" },
	{ "limit cpu", "F:1: limit must be followed by a resource (cpu, as, "
	    "nofile, nproc, core, memory or pids) and a value" },
	{ "port", "F:1: port must be followed by its value, a number from 1 "
	    "to 65535" },
	{ "port ,", "F:1: port must be followed by its value, a number from "
	    "1 to 65535" },
	{ "port 1 2", "F:1: port takes one value, a number from 1 to 65535; "
	    "a value with blanks needs quotes" },
	{ "port 1,2", "F:1: port takes one value, a number from 1 to 65535; "
	    "a value with blanks needs quotes" },
	{ "\"port\" 5", "F:1: a statement must begin with a key or the name "
	    "of a macro" },
	{ "= 5", "F:1: a statement must begin with a key or the name of a "
	    "macro" },
	{ "port 99999999999999999999999", "F:1: port must be a number from 1 "
	    "to 65535, not \"99999999999999999999999\"" },
	{ "port \"\"", "F:1: port must be a number from 1 to 65535, not "
	    "\"\"" },
	{ "gdbserver \"\"", "F:1: gdbserver must be an absolute path of at "
	    "most 255 bytes, not \"\"" },
	{ "allow-sandbox none none", "F:1: allow-sandbox names none twice" },
	{ "allow-group a\nallow-group b a",
	    "F:2: allow-group names a twice" },
	{ "allow-group a:b", "F:1: allow-group must be a list of names of 1 "
	    "to 255 bytes, without blank, \":\" and \"/\" and not starting "
	    "with \"-\", not \"a:b\"" },
	{ "sandbox 0123456789012345678901234567890123456789012345678901234"
	    "5678901234567890", "F:1: sandbox must be none, namespaces or "
	    "tmpfs, not \"0123456789012345678901234567890123456789012345678"
	    "90123456789012...\"" },
	{ "sandbox 01234567890123456789012345678901234567890123456789"
	    "012345678901\xc3\xa9t\xc3\xa9", "F:1: sandbox must be none, "
	    "namespaces or tmpfs, not \"01234567890123456789012345678901234567"
	    "890123456789012345678901...\"" },
	{ "service-name caf\xe9", "F:1: service-name must be 1 to 63 bytes "
	    "of UTF-8 text, in which %h is the host name and %% a percent "
	    "sign, not \"caf\xe9\"" },
	{ "service-name \"100%\"", "F:1: service-name must be 1 to 63 bytes "
	    "of UTF-8 text, in which %h is the host name and %% a percent "
	    "sign, not \"100%\"" },
	/* listen */
	{ "listen", "F:1: listen must be: listen on ADDRESS [port NUMBER] "
	    "[auth none as USER] [tls|plain]" },
	{ "listen 127.0.0.1", "F:1: listen must be: listen on ADDRESS [port "
	    "NUMBER] [auth none as USER] [tls|plain]" },
	{ "listen on ::1 auth token", "F:1: listen must be: listen on "
	    "ADDRESS [port NUMBER] [auth none as USER] [tls|plain]" },
	{ "listen on ::1 port 0",
	    "F:1: port must be a number from 1 to 65535, not \"0\"" },
	{ "listen on ::1 port 1 port 2",
	    "F:1: listen has more than one port" },
	{ "listen on ::1 auth none as a auth none as b",
	    "F:1: listen has more than one auth" },
	{ "listen on ::1 plain plain",
	    "F:1: listen has more than one plain" },
	{ "listen on ::1 auth none as a/b", "F:1: auth none as must be "
	    "followed by the name of a user, not \"a/b\"" },
	{ "listen on ::1 auth none as root", "F:1: auth none as must name an "
	    "ordinary user, not \"root\": anybody would be root" },
	{ "listen on ::1 tls port 5 tls",
	    "F:1: listen has more than one tls" },
	{ "listen on 0::1 plain tls", "F:1: listen on ::1: tls and plain "
	    "exclude each other; use one of them" },
	/* several words */
	{ "tls", "F:1: tls must be followed by certificate, key or client-ca "
	    "and a path" },
	{ "tls \"/x\"", "F:1: tls must be followed by certificate, key or "
	    "client-ca and a path" },
	{ "tls keys /x", "F:1: unknown key \"tls keys\", perhaps \"tls "
	    "key\"?" },
	{ "admin wheel", "F:1: admin must be followed by user or group and a "
	    "name" },
	{ "admin groups wheel", "F:1: unknown key \"admin groups\", perhaps "
	    "\"admin group\"?" },
	{ "allow ann", "F:1: allow must be followed by user or group and a "
	    "name" },
	{ "deny groups a", "F:1: unknown key \"deny groups\", perhaps "
	    "\"deny group\"?" },
	{ "deny user a\nallow user a\ndeny user b a",
	    "F:3: deny user names a twice" },
	{ "admin user a\nadmin user b a", "F:2: admin user names a twice" },
	/* adapter, and what debuggers may take */
	{ "adapter", ADAPTER_FORM },
	{ "adapter x", ADAPTER_FORM },
	{ "adapter x command", ADAPTER_FORM },
	{ "adapter command x", ADAPTER_FORM },
	{ "adapter x command a b", ADAPTER_FORM },
	{ "adapter \"\" command a", "F:1: the name of an adapter must be 1 "
	    "to 31 small letters, digits, \".\", \"_\", \"+\" or \"-\", "
	    "not \"\"" },
	{ "adapter 'a b' command a", "F:1: the name of an adapter must be 1 "
	    "to 31 small letters, digits, \".\", \"_\", \"+\" or \"-\", "
	    "not \"a b\"" },
	{ "adapter a command ''", "F:1: the command of adapter a must be a "
	    "program and its arguments in at most 479 bytes, not \"\"" },
	{ "adapter a command b\nadapter a command c",
	    "F:2: adapter a is already set in line 1" },
	{ "timeout", "F:1: timeout must be followed by dap-initialize, "
	    "dap-request or await and a number of seconds" },
	{ "timeout await 0", "F:1: timeout await must be a number of seconds "
	    "from 1 to 604800, not \"0\"" },
	{ "debugger idle", "F:1: debugger must be followed by idle, "
	    "output-events or output-bytes and a value" },
	{ "debugger output-bytes 65K", "F:1: debugger output-bytes must be a "
	    "power of two from 64K to 64M (digits, then K, M or G), not "
	    "\"65K\"" },
	{ "tracer", "F:1: tracer must be followed by idle, budget, "
	    "timeline-calls, timeline-output or user-timeline and a value" },
	/* quota */
	{ "quota", QUOTA_FORM },
	{ "quota everybody sessions 5", QUOTA_FORM },
	{ "quota default", QUOTA_FORM },
	{ "quota user sessions 5", QUOTA_FORM },
	{ "quota user a", QUOTA_FORM },
	{ "quota group a, sessions 5", QUOTA_FORM },
	{ "quota default sessions", QUOTA_FORM },
	{ "quota \"default\" sessions 5", QUOTA_FORM },
	{ "quota default files 5", "F:1: quota knows sessions, bytes, cpu, "
	    "memory and processes, not \"files\"" },
	{ "quota default cpu 1 sessions 2 cpu 3",
	    "F:1: quota has more than one cpu" },
	{ "quota default sessions 4097", "F:1: quota sessions must be a "
	    "number from 0 to 4096 or unlimited, not \"4097\"" },
	{ "quota default bytes 1T", "F:1: quota bytes must be a size from 0 "
	    "to 8192G (digits, then K, M or G) or unlimited, not \"1T\"" },
	{ "quota default cpu 0", "F:1: quota cpu must be a number of seconds "
	    "from 1 to 315360000 or unlimited, not \"0\"" },
	{ "quota default memory 1023K", "F:1: quota memory must be a size "
	    "from 1M to 8192G (digits, then K, M or G) or unlimited, not "
	    "\"1023K\"" },
	{ "quota default processes 3", "F:1: quota processes must be a number "
	    "from 4 to 4194304 or unlimited, not \"3\"" },
	{ "quota user a/b cpu 1", "F:1: quota user must be followed by the "
	    "name of a user, not \"a/b\"" },
	{ "quota group \"\" cpu 1", "F:1: quota group must be followed by the "
	    "name of a group, not \"\"" },
	{ "quota user a cpu 1\nquota group a cpu 1\nquota user a cpu 2",
	    "F:3: quota user a is already set in line 1" },
	{ "quota default cpu 1\nquota default bytes 1",
	    "F:2: quota default is already set in line 1" },
	/* macros */
	{ "port $x", "F:1: macro \"x\" is not defined: write x = \"VALUE\" "
	    "in a line above" },
	{ "port $-", "F:1: \"$\" must be followed by the name of a macro; "
	    "put a plain \"$\" into quotes" },
	{ "x = 1\n\nx = 2",
	    "F:3: macro \"x\" is already defined in line 1" },
	{ "port = 5", "F:1: \"port\" is a key, not a macro: write it without "
	    "\"=\"" },
	{ "max-sessions=5", "F:1: \"max-sessions\" is a key, not a macro: "
	    "write it without \"=\"" },
	{ "a-b = 5", "F:1: a macro's name must be of letters, digits and "
	    "\"_\", at most 63, not \"a-b\"" },
	{ "x =", "F:1: a macro is defined by NAME = \"VALUE\", with one "
	    "value" },
	{ "x = a b", "F:1: a macro is defined by NAME = \"VALUE\", with one "
	    "value" },
	{ "port 5 = 6",
	    "F:1: a macro is defined by NAME = \"VALUE\", with one value" },
	/* characters */
	{ "service-name \"x\nport 5", "F:1: the closing quote is missing in "
	    "this line" },
	{ "service-name 'x", "F:1: the closing quote is missing in this "
	    "line" },
	{ "service-name \"\\n\"", "F:1: a backslash in quotes must be "
	    "followed by a quote or a backslash" },
	{ "port \\ 5", "F:1: a backslash must be the last character of its "
	    "line, or stand in quotes" },
	{ "port 5 \\", "F:1: a backslash must be the last character of its "
	    "line, or stand in quotes" },
	{ "allow-sandbox { none", "F:1: \"{\" must stand in quotes" },
	{ "port 5\001", "F:1: byte 0x01 must not be in the file, which is "
	    "text" },
	{ "service-name \"a\tb\"", "F:1: byte 0x09 must not be in the file, "
	    "which is text" },
};

static void
test_errors(void **state)
{
	size_t	i;

	(void)state;
	for (i = 0; i < NITEMS(errors); i++)
		assert_parse_error(errors[i].text, errors[i].error);
}

static void
test_bad_addresses(void **state)
{
	static const char *const bad[] = {
		"host.example", "127.1", "0x7f.0.0.1", "1.2.3.4.5", "256.0.0.1",
		":::1", "1", "\"\"", "::ffff:127.0.0.1", "fe80::1", "fe80::1%",
		"::1%lo", "127.0.0.1%lo", "fe80::1%a/b",
		"fe80::1%sixteen-letters-", "127.0.0.1:80", "\"[::1]\"",
		"1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb",
	};
	struct errors	 e;
	struct conf	*c;
	char		 text[100];
	size_t		 i;

	(void)state;
	for (i = 0; i < NITEMS(bad); i++) {
		c = new_conf();
		snprintf(text, sizeof(text), "listen on %s\n", bad[i]);
		if (parse_bytes(c, text, strlen(text), &e) == 0)
			fail_msg("accepted: %s", text);
		assert_memory_equal(e.text[0], "F:1: listen on must be "
		    "followed by an IPv4 or IPv6 address", 56);
		conf_free(c);
	}
}

static void
test_nul_byte(void **state)
{
	struct errors	 e;
	struct conf	*c = new_conf();

	(void)state;
	assert_int_equal(parse_bytes(c, "port 5\0junk\n", 12, &e), -1);
	assert_string_equal(e.text[0], "F:1: byte 0x00 must not be in the "
	    "file, which is text");
	conf_free(c);
}

/* Each line is judged by itself, whatever the one before was. */
static void
test_all_errors_are_seen(void **state)
{
	static const char text[] =
	    "port x\nlisten\nport\n$y\n\"\nmdns 1\n{\nlisten on a b c\n"
	    "listen on ::1 auth none as lab port 7 port 8\nweb-port 9 9\n";
	static const char *const lines[] = {
		"F:1:", "F:2:", "F:3:", "F:4:", "F:5:", "F:6:", "F:7:",
		"F:8:", "F:9:", "F:10:",
	};
	struct errors	 e;
	struct conf	*c = new_conf();
	size_t		 i;

	(void)state;
	assert_int_equal(parse_bytes(c, text, strlen(text), &e), -1);
	assert_int_equal(e.n, NITEMS(lines));
	for (i = 0; i < NITEMS(lines); i++)
		assert_memory_equal(e.text[i], lines[i], strlen(lines[i]));
	conf_free(c);
}

static char *
repeated(const char *line, size_t times)
{
	size_t	len = strlen(line), i;
	char	*text = malloc(len * times + 1);

	assert_non_null(text);
	for (i = 0; i < times; i++)
		memcpy(text + i * len, line, len);
	text[len * times] = '\0';
	return text;
}

static void
test_at_most_20_errors(void **state)
{
	static const char *const lines[] = {
		"foo 1\n", "listen\n", "port $x\n", "\"\n", "listen on x\n",
		"\\ \n", "\001{}\001\n",
	};
	struct errors	 e;
	struct conf	*c;
	char		*text;
	size_t		 i;

	(void)state;
	for (i = 0; i < NITEMS(lines); i++) {
		c = new_conf();
		text = repeated(lines[i], 100);
		assert_int_equal(parse_bytes(c, text, strlen(text), &e), -1);
		assert_int_equal(e.n, CONF_MAX_ERRORS);
		free(text);
		conf_free(c);
	}
}

/* Sizes of everything are bounded. */
static void
test_bounds(void **state)
{
	char	*big = repeated("/", 4096), *text;

	(void)state;
	assert_int_not_equal(asprintf(&text, "audit-file %s\n", big + 1),
	    -1);
	conf_free(good(text));
	free(text);
	assert_int_not_equal(asprintf(&text, "audit-file %s\n", big), -1);
	assert_parse_error(text,
	    "F:1: a value must be at most 4095 bytes long");
	free(text);
	assert_int_not_equal(asprintf(&text, "socket %.107s\ngdbserver "
	    "%.255s\nstate-dir %.191s\n", big, big, big), -1);
	conf_free(good(text));
	free(text);
	assert_int_not_equal(asprintf(&text, "x = %.4000s\n"
	    "gdbserver $x$x$x\n", big), -1);
	assert_parse_error(text,
	    "F:2: a value must be at most 4095 bytes long");
	free(text);
	free(big);

	text = repeated("#2345678\n", 116508 + 1);
	text[(1 << 20)] = '\0';
	conf_free(good(text));
	text[(1 << 20)] = '#';
	assert_parse_error(text, "F:1: the file must not be larger than 1M");
	free(text);
}

static void
test_list_bounds(void **state)
{
	struct errors	 e;
	struct conf	*c = new_conf();
	char		 text[8000] = "";
	size_t		 i, len = 0;

	(void)state;
	for (i = 0; i < CONF_MAX_NAMES; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "allow-group g%zu\n", i);
	assert_int_equal(parse_bytes(c, text, len, &e), 0);
	assert_int_equal(c->allow_groups.n, CONF_MAX_NAMES);
	conf_free(c);
	snprintf(text + len, sizeof(text) - len, "allow-group last\n");
	assert_parse_error(text, "F:65: allow-group has more than 64 names");

	strcpy(text, "allow-group");
	for (i = 0; i < 1000; i++)
		strcat(text, " g");
	assert_parse_error(text, "F:1: allow-group has more than 64 values");

	for (i = len = 0; i <= CONF_MAX_LISTENS; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "listen on ::1 port %zu\n", i + 1);
	assert_parse_error(text, "F:33: more than 32 listen statements");

	for (i = len = 0; i <= CONF_MAX_QUOTAS; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "quota user u%zu cpu 1\n", i);
	assert_parse_error(text, "F:257: more than 256 quota statements");

	for (i = len = 0; i <= 256; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "m%zu = 1\n", i);
	assert_parse_error(text, "F:257: more than 256 macros");
}

static void
test_unreadable(void **state)
{
	struct errors	 e = { .n = 0 };
	struct conf	*c = new_conf();
	FILE		*f = fopen("/", "r");

	(void)state;
	assert_non_null(f);
	assert_int_equal(conf_parse(c, "/", f, on_error, &e), -1);
	assert_string_equal(e.text[0], "/:1: cannot be read: Is a directory");
	fclose(f);
	conf_free(c);
}

/* Listening */

static void
assert_addr(const struct sockaddr_storage *ss, const char *want)
{
	char	text[INET6_ADDRSTRLEN], full[80];
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)ss;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)ss;

	if (ss->ss_family == AF_INET) {
		inet_ntop(AF_INET, &sin->sin_addr, text, sizeof(text));
		snprintf(full, sizeof(full), "%s:%u", text,
		    ntohs(sin->sin_port));
	} else {
		inet_ntop(AF_INET6, &sin6->sin6_addr, text, sizeof(text));
		snprintf(full, sizeof(full), "[%s]:%u%%%u", text,
		    ntohs(sin6->sin6_port), sin6->sin6_scope_id);
	}
	assert_string_equal(full, want);
}

static void
test_listen(void **state)
{
	struct sockaddr_storage	 ss[2];
	struct conf		*c = good("port 9\nlisten on localhost\n"
	    "listen on * port 5 plain auth none as lab\n"
	    "listen on 0:0:0:0:0:0:0:1 port 6\nlisten on fe80::1%lo\n"
	    "listen on 127.1.2.3\n");

	(void)state;
	assert_int_equal(c->nlistens, 5);
	assert_int_equal(conf_listen_port(c, &c->listens[0]), 9);
	assert_int_equal(conf_listen_addrs(&c->listens[0], 9, ss), 2);
	assert_addr(&ss[0], "127.0.0.1:9");
	assert_addr(&ss[1], "[::1]:9%0");
	assert_true(conf_addr_is_loopback(&ss[0]));
	assert_true(conf_addr_is_loopback(&ss[1]));

	assert_int_equal(conf_listen_port(c, &c->listens[1]), 5);
	assert_string_equal(c->listens[1].user, "lab");
	assert_true(c->listens[1].plain);
	assert_int_equal(conf_listen_addrs(&c->listens[1], 5, ss), 2);
	assert_addr(&ss[0], "0.0.0.0:5");
	assert_addr(&ss[1], "[::]:5%0");
	assert_false(conf_addr_is_loopback(&ss[0]));
	assert_false(conf_addr_is_loopback(&ss[1]));

	assert_string_equal(c->listens[2].addr, "::1");
	assert_int_equal(conf_listen_addrs(&c->listens[3], 9, ss), 1);
	assert_addr(&ss[0], "[fe80::1]:9%1");
	assert_false(conf_addr_is_loopback(&ss[0]));
	assert_int_equal(conf_listen_addrs(&c->listens[4], 9, ss), 1);
	assert_true(conf_addr_is_loopback(&ss[0]));
	conf_free(c);
}

/* The web has its own: a statement of one kind leaves the other's default. */
static void
test_web_listen(void **state)
{
	const struct conf_listen	*l;
	struct conf			*c = good("listen on ::1");

	(void)state;
	l = conf_listen_at(c, 1);
	assert_true(l->web);
	assert_string_equal(l->addr, "localhost");
	assert_int_equal(conf_listen_port(c, l), 8080);
	assert_null(conf_listen_at(c, 2));
	assert_true(conf_web_is_default(c));
	conf_free(c);

	c = good("web-port 0");
	assert_null(conf_listen_at(c, 1));
	assert_false(conf_web_is_default(c));
	conf_free(c);

	c = good("web listen on ::1 port 81 auth none as web\n"
	    "web listen on * tls\nweb host listen, web\nweb host a.b");
	assert_int_equal(c->nlistens, 3);
	assert_false(conf_listen_at(c, 0)->web);
	assert_int_equal(conf_listen_port(c, conf_listen_at(c, 1)), 81);
	assert_int_equal(conf_listen_port(c, conf_listen_at(c, 2)), 8080);
	assert_true(conf_listen_at(c, 2)->tls);
	assert_null(conf_listen_at(c, 3));
	assert_int_equal(c->web_hosts.n, 3);
	assert_string_equal(c->web_hosts.v[2], "a.b");
	assert_false(conf_web_is_default(c));
	conf_free(c);
}

#define NOT_LOOPBACK \
	": not a loopback address, so tokens and programs would be sent in " \
	"clear; add the word tls, or plain if you trust this network"

/* Checks across keys: NULL where the text is right. */
static const struct {
	const char	*text;
	const char	*error;
} checks[] = {
	{ "", NULL },
	{ "listen on 127.9.9.9\nlisten on ::1", NULL },
	{ "listen on ::1 auth none as lab", NULL },
	{ "listen on 192.0.2.1 plain auth none as lab", NULL },
	{ "listen on * auth none as lab plain", NULL },
	{ "listen on * tls", NULL },
	{ "listen on * plain", NULL },
	{ "listen on 192.0.2.1 tls auth none as lab", NULL },
	{ "listen on ::1 tls\nlisten on ::1 port 5 plain", NULL },
	{ "\nlisten on 192.0.2.1", "F:2: listen on 192.0.2.1" NOT_LOOPBACK },
	{ "listen on * port 5", "F:1: listen on *" NOT_LOOPBACK },
	{ "listen on 0.0.0.0 auth none as lab",
	    "F:1: listen on 0.0.0.0" NOT_LOOPBACK },
	{ "listen on ::1\nlisten on * tls", "F:2: listen on * port 4444: "
	    "already taken by \"listen on ::1\" above" },
	{ "tls certificate /c\ntls key /k\ntls client-ca /a", NULL },
	{ "tls client-ca /a", NULL },
	{ "\ntls certificate /c", "F:2: tls certificate needs a tls key; "
	    "with neither of them both are made at the first start" },
	{ "tls certificate \"\"\ntls key /k", "F:2: tls key needs a tls "
	    "certificate; with neither of them both are made at the first "
	    "start" },
	{ "audit-file /var/log/a", NULL },
	{ "audit-file /dev/null", "F:1: audit-file must be a file that keeps "
	    "what is written, not /dev/null" },
	{ "listen on fe80::1%nosuch0 auth none as lab plain", "F:1: listen "
	    "on fe80::1%nosuch0: this host has no such interface" },
	{ "listen on ::1\nlisten on 0::1", "F:2: listen on ::1 port 4444: "
	    "already taken by \"listen on ::1\" above" },
	{ "listen on ::1\nlisten on ::1 port 4444", "F:2: listen on ::1 port "
	    "4444: already taken by \"listen on ::1\" above" },
	{ "listen on 127.0.0.1\nlisten on 0.0.0.0 auth none as lab plain",
	    "F:2: listen on 0.0.0.0 port 4444: already taken by \"listen on "
	    "127.0.0.1\" above" },
	{ "listen on :: auth none as lab plain\nlisten on ::1",
	    "F:2: listen on ::1 port 4444: already taken by \"listen on ::\" "
	    "above" },
	{ "listen on ::1\nlisten on ::1 port 4445", NULL },
	{ "listen on localhost\nlisten on 127.0.0.2", NULL },
	{ "web-port 4444", "F:1: web-port must differ from the port of the "
	    "control protocol, 4444" },
	{ "listen on ::1 port 80\nweb-port 80", "F:2: web-port must differ "
	    "from the port of the control protocol, 80" },
	{ "listen on ::1 port 80\nweb-port 4444", NULL },
	{ "web-port 4444\nweb listen on ::1 port 80", NULL },
	{ "web listen on 192.0.2.1", "F:1: web listen on 192.0.2.1"
	    NOT_LOOPBACK },
	{ "web-port 0\nweb listen on 192.0.2.1", NULL },
	{ "web listen on * tls\nweb listen on 192.0.2.1 plain", "F:2: web "
	    "listen on 192.0.2.1 port 8080: already taken by \"web listen on "
	    "*\" above" },
	{ "listen on ::1\nweb listen on ::1 port 4444", "F:2: web listen on "
	    "::1 port 4444: already taken by \"listen on ::1\" above" },
	{ "sandbox none\nallow-sandbox tmpfs", "F:2: allow-sandbox must "
	    "contain none, the configured sandbox" },
	{ "allow-sandbox tmpfs", "F:1: allow-sandbox must contain "
	    "namespaces, the configured sandbox" },
	{ "max-connections 10\nmax-connections-per-user 11", "F:2: "
	    "max-connections-per-user must be at most max-connections, 10, "
	    "not 11" },
	{ "max-connections 10", NULL },
	{ "max-connections-per-user 1100", NULL },
	{ "max-connections-per-user 1101", "F:1: max-connections-per-user "
	    "must be at most max-connections, 1100, not 1101" },
	{ "state-dir \"\"", "F:1: state-dir must be an absolute path in "
	    "system mode, not \"\"" },
	{ "run-dir \"\"", "F:1: run-dir must be an absolute path in system "
	    "mode, not \"\"" },
	{ "state-dir /run/debuglantern", "F:1: run-dir must differ from "
	    "state-dir, /run/debuglantern" },
};

static void
test_checks(void **state)
{
	struct errors	 e;
	struct conf	*c;
	size_t		 i;
	int		 ret;

	(void)state;
	for (i = 0; i < NITEMS(checks); i++) {
		c = good(checks[i].text);
		e.n = 0;
		ret = conf_check(c, on_error, &e);
		if (checks[i].error == NULL) {
			if (ret != 0)
				fail_msg("refused: %s", e.text[0]);
		} else {
			assert_int_equal(ret, -1);
			assert_string_equal(e.text[0], checks[i].error);
			assert_int_equal(e.n, 1);
		}
		conf_free(c);
	}
}

/* Settings that are allowed but draw a warning, in system and user mode. */
static const struct {
	const char	*text;
	const char	*warning;	/* NULL: none */
	bool		 system_only;
} warnings[] = {
	{ "", NULL, false },
	{ "listen on * tls\nlisten on 127.0.0.2 plain port 5", NULL, false },
	{ "\nlisten on * plain", "F:2: listen on * plain: whoever can read "
	    "this network reads the tokens that are sent; use tls", false },
	{ "listen on 192.0.2.1 plain auth none as lab", "F:1: listen on "
	    "192.0.2.1 plain: whoever can read this network reads everything "
	    "that is sent; use tls", false },
	{ "quota default sessions 31 bytes 511M", NULL, false },
	{ "max-sessions 8\nmax-total-bytes 1M\n"
	    "quota group lab sessions 8 bytes 1023K", "F:3: quota group lab: "
	    "one user may have all sessions of the daemon; say sessions less "
	    "than max-sessions, 8", true },
	{ "quota user ann sessions 1 cpu 5", "F:1: quota user ann: one user "
	    "may have all bytes of the daemon; say bytes less than "
	    "max-total-bytes, 512M", true },
};

static void
test_warnings(void **state)
{
	struct errors	 e;
	struct conf	*c;
	size_t		 i;
	int		 n;

	(void)state;
	for (i = 0; i < NITEMS(warnings); i++) {
		c = good(warnings[i].text);
		e.n = 0;
		assert_int_equal(conf_check(c, on_error, &e), 0);
		n = warnings[i].warning != NULL;
		assert_int_equal(conf_warn(c, on_error, &e), n);
		assert_int_equal(e.n, n);
		if (n == 1)
			assert_string_equal(e.text[0], warnings[i].warning);
		/* in user mode there is no other user to crowd out */
		c->system_mode = false;
		e.n = 0;
		conf_warn(c, on_error, &e);
		assert_int_equal(e.n, warnings[i].system_only ? 0 : n);
		conf_free(c);
	}
}

static void
test_adapters(void **state)
{
	struct conf	*c = good("adapter lldb-dap-22 command "
	    "\"/opt/llvm/bin/lldb-dap --x\"\nadapter b command command\n"
	    "timeout await 5\ndebugger idle 0\n");

	(void)state;
	assert_int_equal(c->nadapters, 2);
	assert_string_equal(c->adapters[0].name, "lldb-dap-22");
	assert_string_equal(c->adapters[0].command,
	    "/opt/llvm/bin/lldb-dap --x");
	assert_string_equal(c->adapters[1].command, "command");
	assert_int_equal(c->dap_await, 5);
	assert_int_equal(c->debugger_idle, 0);
	assert_true(prints_line(c, "adapter \"lldb-dap-22\" command "
	    "\"/opt/llvm/bin/lldb-dap --x\""));
	assert_true(prints_line(c, "timeout await 5"));
	conf_free(c);
}

static void
test_quota(void **state)
{
	struct conf	*c = good("quota default sessions 0 bytes 5K\n"
	    "quota user user processes 4 memory 1G\nn=lab\n"
	    "quota group $n cpu 60 \\\n sessions unlimited bytes 0\n");

	(void)state;
	assert_int_equal(c->nquotas, 3);
	assert_int_equal(c->quotas[0].kind, CONF_QUOTA_DEFAULT);
	assert_null(c->quotas[0].name);
	assert_int_equal(c->quotas[0].sessions, 0);
	assert_int_equal(c->quotas[0].bytes, 5 << 10);
	assert_true(c->quotas[0].cpu == CONF_UNLIMITED);
	assert_int_equal(c->quotas[1].kind, CONF_QUOTA_USER);
	assert_string_equal(c->quotas[1].name, "user");
	assert_int_equal(c->quotas[1].processes, 4);
	assert_int_equal(c->quotas[1].memory, 1 << 30);
	assert_int_equal(c->quotas[2].kind, CONF_QUOTA_GROUP);
	assert_string_equal(c->quotas[2].name, "lab");
	assert_int_equal(c->quotas[2].cpu, 60);
	assert_true(c->quotas[2].sessions == CONF_UNLIMITED);
	assert_int_equal(c->quotas[2].bytes, 0);
	assert_true(prints_line(c, "quota default sessions 0 bytes 5K cpu "
	    "unlimited memory unlimited processes unlimited"));
	assert_true(prints_line(c, "quota group \"lab\" sessions unlimited "
	    "bytes 0 cpu 60 memory unlimited processes unlimited"));
	conf_free(c);
}

/* A user's share of the sessions, from both settings; said 0 = not set. */
static void
test_fair_sessions(void **state)
{
	static const struct {
		uint32_t all, said, each;
	} v[] = { { 1, 0, 1 }, { 7, 0, 7 }, { 8, 0, 8 }, { 32, 0, 8 },
		{ 36, 0, 9 }, { 4096, 0, 1024 }, { 32, 3, 3 }, { 32, 32, 32 },
		{ 4, 4096, 4 } };
	struct errors	 e = { .n = 0 };
	struct conf	*c;
	char		 text[80];
	size_t		 i;

	(void)state;
	for (i = 0; i < NITEMS(v); i++) {
		snprintf(text, sizeof(text), "max-sessions %u", v[i].all);
		if (v[i].said != 0)
			snprintf(text, sizeof(text), "max-sessions %u\n"
			    "max-sessions-per-user %u", v[i].all, v[i].said);
		c = good(text);
		assert_int_equal(conf_check(c, on_error, &e), 0);
		assert_int_equal(c->max_sessions_per_user, v[i].each);
		conf_free(c);
	}
}

/* A user's default share of the connections. */
static void
test_fair_share(void **state)
{
	static const struct {
		uint32_t all, each;
	} v[] = { { 1, 1 }, { 31, 31 }, { 32, 32 }, { 100, 32 }, { 128, 32 },
		{ 132, 33 }, { 60000, 15000 } };
	struct errors	 e = { .n = 0 };
	struct conf	*c;
	char		 text[60];
	size_t		 i;

	(void)state;
	for (i = 0; i < NITEMS(v); i++) {
		snprintf(text, sizeof(text), "max-connections %u", v[i].all);
		c = good(text);
		assert_int_equal(conf_check(c, on_error, &e), 0);
		assert_int_equal(c->max_connections_per_user, v[i].each);
		conf_free(c);
	}
}

static void
test_check_fills(void **state)
{
	static const char *const words[] = { "none", "namespaces", "tmpfs" };
	static const uint32_t	 masks[] = { 7, 6, 4 };
	struct errors		 e = { .n = 0 };
	struct conf		*c;
	char			 text[60];
	size_t			 i;

	(void)state;
	for (i = 0; i < NITEMS(words); i++) {
		snprintf(text, sizeof(text), "sandbox %s\nmax-connections 3",
		    words[i]);
		c = good(text);
		assert_int_equal(conf_check(c, on_error, &e), 0);
		assert_int_equal(c->allow_sandbox, masks[i]);
		assert_int_equal(c->max_connections_per_user, 3);
		conf_free(c);
	}
}

static void
test_check_at_most_20_errors(void **state)
{
	struct errors	 e = { .n = 0 };
	char		*text = repeated("listen on 192.0.2.1\n", 30);
	struct conf	*c = good(text);

	(void)state;
	assert_int_equal(conf_check(c, on_error, &e), -1);
	assert_int_equal(e.n, CONF_MAX_ERRORS);
	conf_free(c);
	free(text);
}

/* The command line */

static void
test_command_line(void **state)
{
	struct errors	 e = { .n = 0 };
	struct conf	*c = good("port 5\nlisten on 127.0.0.2\nlimit as 1G\n"
	    "socket /a");
	char		 err[400];

	(void)state;
	assert_int_equal(conf_set(c, "port", "6", err, sizeof(err)), 0);
	assert_int_equal(conf_set(c, "limit as", "2G", err, sizeof(err)), 0);
	assert_int_equal(conf_set(c, "socket", "/b", err, sizeof(err)), 0);
	assert_int_equal(conf_set(c, "socket", "/c", err, sizeof(err)), 0);
	assert_int_equal(c->port, 6);
	assert_true(c->limit_as == 2ULL << 30);
	assert_string_equal(c->socket, "/c");
	assert_int_equal(conf_key_line(c, "port"), CONF_LINE_COMMAND);

	assert_int_equal(conf_set(c, "listen", "::1", err, sizeof(err)), 0);
	assert_int_equal(conf_set(c, "listen", "127.0.0.1", err,
	    sizeof(err)), 0);
	assert_int_equal(c->nlistens, 2);
	assert_string_equal(c->listens[0].addr, "::1");
	assert_int_equal(conf_check(c, on_error, &e), 0);

	assert_int_equal(conf_set(c, "prot", "1", err, sizeof(err)), -1);
	assert_string_equal(err, "unknown key \"prot\", perhaps \"port\"?");
	assert_int_equal(conf_set(c, "service-name", "a\nb", err,
	    sizeof(err)), -1);
	assert_non_null(strstr(err, ", not \"a?b\""));
	assert_int_equal(conf_set(c, "listen", "lab", err, sizeof(err)), -1);
	assert_string_equal(c->socket, "/c");
	assert_int_equal(c->nlistens, 2);

	assert_int_equal(conf_set(c, "listen", "192.0.2.1", err,
	    sizeof(err)), 0);
	assert_int_equal(conf_check(c, on_error, &e), -1);
	assert_memory_equal(e.text[0], "command line: listen on 192.0.2.1:",
	    34);
	conf_free(c);
}

static void
test_service_name(void **state)
{
	char		 name[64], host[65];
	struct conf	*c = good("service-name '%h: 100%% \xc3\xa9'");

	(void)state;
	conf_service_name(c, "rig", name);
	assert_string_equal(name, "rig: 100% \xc3\xa9");
	memset(host, 'x', 64);
	host[64] = '\0';
	conf_service_name(c, host, name);
	assert_int_equal(strlen(name), 63);
	/* 7 bytes of text, then a character of two: it fits or is left out */
	host[54] = '\0';
	conf_service_name(c, host, name);
	assert_int_equal(strlen(name), 63);
	assert_string_equal(name + 61, "\xc3\xa9");
	memset(host, 'x', 55);
	host[55] = '\0';
	conf_service_name(c, host, name);
	assert_int_equal(strlen(name), 62);
	conf_free(c);
}

/* SIGHUP: a second parse, good or bad, leaves the first conf alone. */
static void
test_two_parses(void **state)
{
	struct errors	 e;
	struct conf	*old = good("x = 7\nport $x\nstate-dir /old\n"
	    "listen on 127.0.0.2\nallow-group a"), *new = new_conf();
	char		*before = printed(old), *after;
	static const char bad[] = "port 8\nlisten on ::1\nstate-dir /new\n"
	    "allow-group b c\nweb-port $x\n";

	(void)state;
	/* The macro of the first parse is gone, and so is the line of port. */
	assert_int_equal(parse_bytes(new, bad, strlen(bad), &e), -1);
	assert_int_equal(e.n, 1);
	assert_string_equal(e.text[0], "F:5: macro \"x\" is not defined: "
	    "write x = \"VALUE\" in a line above");
	conf_free(new);
	after = printed(old);
	assert_string_equal(before, after);
	free(after);

	new = good("port 9");
	assert_int_equal(new->port, 9);
	assert_string_equal(new->state_dir, "/var/lib/debuglantern");
	after = printed(old);
	assert_string_equal(before, after);
	free(after);
	free(before);
	conf_free(new);
	conf_free(old);
}

static void
parse_all_errors(void)
{
	struct errors	 e;
	struct conf	*c;
	size_t		 i;

	for (i = 0; i < NITEMS(errors); i++) {
		c = new_conf();
		parse_bytes(c, errors[i].text, strlen(errors[i].text), &e);
		conf_free(c);
	}
}

/*
 * Under a sanitizer the allocator's figures read 0; then the check for leaks
 * at exit does the job.
 */
static void
test_no_leak(void **state)
{
	size_t	before;
	int	i;

	(void)state;
	/* malloc()'s caches take a while to settle */
	for (i = 0; i < 5; i++)
		parse_all_errors();
	before = mallinfo2().uordblks;
	for (i = 0; i < 20; i++)
		parse_all_errors();
	assert_int_equal(mallinfo2().uordblks, before);
}

/* Print and parse, over confs made at random within the table's ranges */

static uint64_t	seed;

static uint64_t
draw(uint64_t bound)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 20) % bound;
}

static void
draw_string(char *out, size_t max)
{
	static const char *const pieces[] = {
		"a", "Z", "0", " ", "#", "$x", "\"", "'", "\\", "=", ",",
		"{", "}", "%%", "%h", "\xc3\xa9", "\xf0\x9f\x8f\xae", "/", ".",
	};
	const char	*piece;
	size_t		 n = 0, want = draw(max) + 1;

	while (n < want) {
		piece = pieces[draw(NITEMS(pieces))];
		if (n + strlen(piece) > max)
			break;
		memcpy(out + n, piece, strlen(piece));
		n += strlen(piece);
	}
	if (n == 0)
		out[n++] = 'x';
	out[n] = '\0';
}

static void
draw_number(const struct conf_key *k, char *out, size_t size)
{
	uint64_t	v = k->min + draw(k->max - k->min + 1);

	switch (draw(4)) {
	case 0:
		v = k->min;
		break;
	case 1:
		v = k->max;
		break;
	case 2:		/* a number that has a suffix, if in range */
		if (v >> 20 << 20 >= k->min)
			v = v >> 20 << 20;
		break;
	}
	if (k->flags & CONF_F_POW2)
		v = k->min << draw(11);
	if ((k->flags & CONF_F_UNLIMITED) && draw(4) == 0)
		snprintf(out, size, "unlimited");
	else
		snprintf(out, size, "%llu", (unsigned long long)v);
}

static void
draw_words(const struct conf_key *k, char *out, size_t size)
{
	size_t	n = 0, first, i;

	while (k->words[n] != NULL)
		n++;
	first = draw(n);
	snprintf(out, size, "%s", k->words[first]);
	for (i = first + 1; k->type == CONF_SET && i < n; i++) {
		if (draw(2) == 0)
			snprintf(out + strlen(out), size - strlen(out), ",%s",
			    k->words[i]);
	}
}

static void
draw_value(const struct conf_key *k, char *out, size_t size)
{
	switch (k->type) {
	case CONF_BOOL:
		snprintf(out, size, "%s", draw(2) ? "yes" : "no");
		break;
	case CONF_WORD:
	case CONF_SET:
		draw_words(k, out, size);
		break;
	case CONF_PATH:
		out[0] = '/';
		draw_string(out + 1, 100);
		break;
	case CONF_SERVICE:
		draw_string(out, 63);
		break;
	case CONF_NAMES:
		snprintf(out, size, k->flags & CONF_F_HOST ? "g%d,h-%d.x" :
		    "g%d,h\"\\%d", (int)draw(1000), (int)draw(1000));
		break;
	default:
		draw_number(k, out, size);
		break;
	}
}

static void
draw_listens(struct conf *c)
{
	static const char *const addrs[] = {
		"*", "localhost", "::1", "192.0.2.1", "fe80::2%lo",
		"2001:db8::7",
	};
	static const char *const users[] = {
		"lab", "EX\\lab_\"x'", "$y", "none", "a#b",
	};
	struct conf_listen	l;
	char			err[400];
	size_t			i, n = draw(8);

	for (i = 0; i < n; i++) {
		l = (struct conf_listen){ .line = 1 };
		l.addr = strdup(addrs[draw(NITEMS(addrs))]);
		l.port = (uint16_t)(draw(2) ? draw(65536) : 0);
		l.user = draw(2) ? strdup(users[draw(NITEMS(users))]) : NULL;
		l.web = draw(3) == 0;
		l.plain = draw(2) == 1;
		l.tls = !l.plain && draw(2) == 1;
		if (conf_listen_add(c, &l, err, sizeof(err)) == -1)
			fail_msg("%s", err);
	}
}

static uint64_t
draw_limit(uint64_t min, uint64_t max)
{
	return draw(3) == 0 ? CONF_UNLIMITED : min + draw(max - min + 1);
}

static void
draw_quotas(struct conf *c)
{
	static const char *const names[] = {
		"lab", "EX\\lab_\"x'", "$y", "default", "a#b",
	};
	struct conf_quota	q = { .name = NULL };
	char			err[400];
	size_t			i, n = draw(NITEMS(names) + 1);

	for (i = 0; i < n; i++) {
		conf_quota_clear(&q);
		q.kind = (enum conf_quota_kind)draw(3);
		if (q.kind != CONF_QUOTA_DEFAULT)
			q.name = strdup(names[i]);
		else if (i > 0)		/* there may be one of these */
			continue;
		q.line = 1;
		q.sessions = draw_limit(0, 4096);
		q.bytes = draw_limit(0, 1 << 30);
		q.cpu = draw_limit(1, 1000);
		q.memory = draw_limit(1 << 20, 1 << 30);
		q.processes = draw_limit(4, 5000);
		if (conf_quota_add(c, &q, err, sizeof(err)) == -1)
			fail_msg("%s", err);
	}
}

static struct conf *
draw_conf(void)
{
	struct conf	*c = new_conf();
	char		 value[300], err[400];
	size_t		 i;

	for (i = 0; i < conf_nkeys; i++) {
		if (draw(3) == 0)
			continue;
		draw_value(&conf_keys[i], value, sizeof(value));
		if (conf_set(c, conf_keys[i].name, value, err,
		    sizeof(err)) == -1)
			fail_msg("%s", err);
	}
	draw_listens(c);
	draw_quotas(c);
	return c;
}

static void
test_round_trip(void **state)
{
	struct conf	*c, *again;
	char		*first, *second;
	int		 i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		seed = (uint64_t)i;
		c = draw_conf();
		first = printed(c);
		again = good(first);
		second = printed(again);
		assert_string_equal(first, second);
		if (!conf_equal(c, again))
			fail_msg("seed %d: not equal:\n%s", i, first);
		free(first);
		free(second);
		conf_free(c);
		conf_free(again);
	}
}

static char *
packed(const struct conf *c, size_t *len)
{
	char	*text = NULL;
	FILE	*f = open_memstream(&text, len);

	assert_non_null(f);
	conf_pack(c, f);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void
test_packed_and_unpacked_is_the_same(void **state)
{
	struct conf	*c, *again;
	char		*text;
	size_t		 len;
	int		 i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		seed = (uint64_t)i;
		c = draw_conf();
		text = packed(c, &len);
		again = conf_unpack(text, len, true, 0);
		if (again == NULL || !conf_equal(c, again))
			fail_msg("seed %d: not equal", i);
		assert_memory_equal(c->lines, again->lines,
		    conf_nkeys * sizeof(*c->lines));
		free(text);
		conf_free(c);
		conf_free(again);
	}
}

static void
test_packed_keeps_lines_and_the_name(void **state)
{
	struct conf	*c = good("port 5000\n\nlisten on ::1\n"
	    "adapter a command \"/bin/a b\"\nquota user a cpu 1\n"), *again;
	size_t		 len;
	char		*text = packed(c, &len);

	(void)state;
	again = conf_unpack(text, len, true, 0);
	assert_non_null(again);
	assert_string_equal(again->name, "F");
	assert_int_equal(conf_key_line(again, "port"), 1);
	assert_int_equal(again->listens[0].line, 3);
	assert_int_equal(again->adapters[0].line, 4);
	assert_string_equal(again->adapters[0].command, "/bin/a b");
	assert_int_equal(again->quotas[0].line, 5);
	conf_free(again);
	conf_free(c);
	free(text);
}

/* Values of a process that was taken over are checked, each of them. */
static void
test_unpack_refuses(void **state)
{
#define P(s)	{ s, sizeof(s) }
	static const struct {
		const char	*text;
		size_t		 len;
	} bad[] = {
		P(""), P("nothing"), P("end\0end"), { "end", 3 },
		P("key\0001\0port\00070000\0end"),
		P("key\0001\0nosuch\0001\0end"),
		P("key\0-2\0port\0005\0end"), P("key\0\0port\0005\0end"),
		P("key\0001x\0port\0005\0end"), P("key\0001\0port"),
		P("key\0001\0state-dir\0relative\0end"),
		P("listen\0001\0example.org\0005\0000\0\0end"),
		P("listen\0001\000::1\00065536\0000\0\0end"),
		P("listen\0001\000::1\0005\0008\0\0end"),
		P("listen\0001\000::1\0005\0006\0\0end"),
		P("listen\0001\000::1\0005\0000\0root\0end"),
		P("listen\0001\0\0005\0000\0\0end"),
		P("quota\0001\0003\0a\0\0end"),
		P("quota\0001\0001\0\0\0end"),
		P("quota\0001\0000\0a\0\0end"),
		P("quota\0001\0001\0a:b\0\0end"),
		P("quota\0001\0001\0a\0cpu\0000\0\0end"),
		P("quota\0001\0001\0a\0disk\0001\0\0end"),
		P("quota\0001\0001\0a\0cpu\0001"),
		P("adapter\0001\0A\0x\0end"), P("adapter\0001\0a\0\0end"),
		P("file\0a\0file\0b\0end"),
	};
#undef P
	struct conf	*c = conf_unpack("end", 4, true, 0);
	size_t		 i;

	(void)state;
	assert_non_null(c);
	conf_free(c);
	for (i = 0; i < NITEMS(bad); i++) {
		if (conf_unpack(bad[i].text, bad[i].len, true, 0) != NULL)
			fail_msg("number %zu was taken", i);
	}
}

static void
test_unpack_survives_anything(void **state)
{
	struct conf	*c, *again;
	size_t		 len, at;
	char		*text;

	(void)state;
	seed = 4;
	c = draw_conf();
	text = packed(c, &len);
	for (at = 0; at < len; at++)
		assert_null(conf_unpack(text, at, true, 0));
	for (at = 0; at < len; at++) {
		text[at] ^= (char)(1 << draw(8));
		again = conf_unpack(text, len, true, 0);
		conf_free(again);
	}
	free(text);
	conf_free(c);
}

static void
test_equal_sees_statements(void **state)
{
	static const char *const texts[] = {
		"listen on ::1", "listen on ::1 port 4444",
		"listen on ::1 plain", "listen on ::1 auth none as a",
		"listen on ::1 auth none as b", "listen on 127.0.0.1",
		"listen on ::1\nlisten on 127.0.0.1", "listen on ::1 tls",
		"quota default cpu 1", "quota default cpu 2",
		"quota user a cpu 1", "quota group a cpu 1",
		"quota user b cpu 1", "quota user b memory 1M",
		"quota user a cpu 1\nquota user b cpu 1",
		"quota user b cpu 1\nquota user a cpu 1",
	};
	struct conf	*a, *b;
	size_t		 i, j;

	(void)state;
	for (i = 0; i < NITEMS(texts); i++) {
		for (j = 0; j < NITEMS(texts); j++) {
			a = good(texts[i]);
			b = good(texts[j]);
			assert_int_equal(conf_equal(a, b), i == j);
			conf_free(a);
			conf_free(b);
		}
	}
}

/* The shipped configuration */

static char *
slurp_file(const char *path)
{
	char	*text = malloc(65536);
	FILE	*f = fopen(path, "r");
	size_t	 n;

	assert_non_null(text);
	if (f == NULL)
		fail_msg("cannot open %s", path);
	n = fread(text, 1, 65535, f);
	assert_true(n > 0 && n < 65535);
	text[n] = '\0';
	fclose(f);
	return text;
}

/* The file as it is, and with the lines that show defaults made active. */
static void
test_shipped_file(void **state)
{
	struct errors	 e = { .n = 0 };
	char		*text = slurp_file(TOPDIR "/etc/debuglantern.conf");
	struct conf	*defaults = new_conf(), *c = good(text);
	size_t		 i;
	char		*p;

	(void)state;
	assert_true(conf_equal(c, defaults));
	conf_free(c);
	for (p = text; (p = strstr(p, "\n#")) != NULL; p++) {
		if (p[2] >= 'a' && p[2] <= 'z')
			p[1] = ' ';
	}
	c = good(text);
	for (i = 0; i < conf_nkeys; i++) {
		if (conf_keys[i].type != CONF_NAMES &&
		    conf_key_line(c, conf_keys[i].name) <= 0)
			fail_msg("%s is not shown", conf_keys[i].name);
	}
	assert_int_equal(conf_check(defaults, on_error, &e), 0);
	assert_true(conf_equal(c, defaults));
	conf_free(c);
	conf_free(defaults);
	free(text);
}

/* The rest of the line that the manual has of a key. */
static void
synopsis_of(const struct conf_key *k, char *out, size_t size)
{
	static const char *const args[CONF_NTYPES] = {
		[CONF_BOOL] = "Cm yes | no", [CONF_NUMBER] = "Ar number",
		[CONF_SIZE] = "Ar size", [CONF_SET] = "Ar list",
		[CONF_PATH] = "Ar path", [CONF_SERVICE] = "Ar text",
		[CONF_NAMES] = "Ar list",
	};
	size_t	 i, n;

	if (k->type != CONF_WORD) {
		snprintf(out, size, "%s", k->flags & CONF_F_SECONDS ?
		    "Ar seconds" : k->flags & CONF_F_HOST ? "Ar name ..." :
		    args[k->type]);
		return;
	}
	n = (size_t)snprintf(out, size, "Cm");
	for (i = 0; k->words[i] != NULL; i++)
		n += (size_t)snprintf(out + n, size - n, "%s %s",
		    i == 0 ? "" : " |", k->words[i]);
}

/* The default depends on another key, or is said of several keys at once. */
static bool
is_in_other_words(const struct conf_key *k)
{
	return strcmp(k->name, "max-sessions-per-user") == 0 ||
	    strcmp(k->name, "max-connections-per-user") == 0 ||
	    strncmp(k->name, "weaken-", 7) == 0;
}

static void
test_manual_has_every_row(void **state)
{
	char	*text = slurp_file(TOPDIR "/man/debuglantern.conf.5");
	char	*at, *end, item[200], synopsis[100];
	size_t	 i, said = 0;

	(void)state;
	for (i = 0; i < conf_nkeys; i++) {
		synopsis_of(&conf_keys[i], synopsis, sizeof(synopsis));
		snprintf(item, sizeof(item), "\n.It Ic %s %s",
		    conf_keys[i].name, synopsis);
		if ((at = strstr(text, item)) == NULL)
			fail_msg("the manual has no%s", item);
		if (conf_keys[i].def == NULL || conf_keys[i].def[0] == '\0' ||
		    is_in_other_words(&conf_keys[i]))
			continue;
		at += strlen(item);
		if ((end = strstr(at, "\n.It Ic")) != NULL)
			*end = '\0';
		if (strstr(at, conf_keys[i].def) == NULL)
			fail_msg("the manual does not say that %s is %s by "
			    "default", conf_keys[i].name, conf_keys[i].def);
		if (end != NULL)
			*end = '\n';
		said++;
	}
	assert_true(said > 40);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_every_key_has_a_case),
		cmocka_unit_test(test_every_key_is_set),
		cmocka_unit_test(test_every_key_refuses),
		cmocka_unit_test(test_every_key_once),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_syntax),
		cmocka_unit_test(test_macros),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_bad_addresses),
		cmocka_unit_test(test_nul_byte),
		cmocka_unit_test(test_all_errors_are_seen),
		cmocka_unit_test(test_at_most_20_errors),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_list_bounds),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_listen),
		cmocka_unit_test(test_web_listen),
		cmocka_unit_test(test_checks),
		cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_quota),
		cmocka_unit_test(test_adapters),
		cmocka_unit_test(test_fair_sessions),
		cmocka_unit_test(test_fair_share),
		cmocka_unit_test(test_check_fills),
		cmocka_unit_test(test_check_at_most_20_errors),
		cmocka_unit_test(test_command_line),
		cmocka_unit_test(test_service_name),
		cmocka_unit_test(test_two_parses),
		cmocka_unit_test(test_no_leak),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_packed_and_unpacked_is_the_same),
		cmocka_unit_test(test_packed_keeps_lines_and_the_name),
		cmocka_unit_test(test_unpack_refuses),
		cmocka_unit_test(test_unpack_survives_anything),
		cmocka_unit_test(test_equal_sees_statements),
		cmocka_unit_test(test_shipped_file),
		cmocka_unit_test(test_manual_has_every_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
