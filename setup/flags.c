/* SPDX-License-Identifier: ISC */
/* The command line, and the configuration below it. */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "setup.h"

#define SYSTEM_CONF	"/etc/debuglantern.conf"
/* seconds, of a daemon that was started because somebody needed one */
#define LOCAL_IDLE	1800

static const char usage_text[] =
    "usage: debuglanternd [-dhnVv] [-f file] [--bind address] [--local]\n"
    "                     [--max-sessions n] [--max-total-bytes n] [--port n]\n"
    "                     [--service-name name]\n"
    "                     [--socket path] [--state-dir directory] [--user]\n"
    "                     [--web-port n]\n"
    "debuglanternd(8) tells what they are, debuglantern.conf(5) what the file "
    "says.\n";

/* Each of these sets one key of the configuration over the file's value. */
static const struct {
	const char	*flag;
	const char	*key;
} key_flags[] = {
	{ "port",		"port" },
	{ "bind",		"listen" },
	{ "web-port",		"web-port" },
	{ "service-name",	"service-name" },
	{ "max-sessions",	"max-sessions" },
	{ "max-total-bytes",	"max-total-bytes" },
	{ "socket",		"socket" },
	{ "state-dir",		"state-dir" },
};
#define NKEYS	(sizeof(key_flags) / sizeof(key_flags[0]))
#define MAX_SET	32

static struct {
	const char	*key, *value;
} set[MAX_SET];
static size_t nset;

static void __attribute__((noreturn))
usage(void)
{
	fputs(usage_text, stderr);
	exit(2);
}

/* Answers what has been asked for. */
static void __attribute__((noreturn))
answer_and_exit(const char *text)
{
	fputs(text, stdout);
	exit(fflush(stdout) == 0 ? 0 : 1);
}

static void
on_conf_error(void *arg, const char *text)
{
	(void)arg;
	if (!d.reload)
		fprintf(stderr, "debuglanternd: %s\n", text);
	else
		log_error("%s", text);
}

static void
on_conf_warning(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "debuglanternd: warning: %s\n", text);
}

void
flags_warn(conf_error_fn fn, void *arg)
{
	(void)conf_warn(d.conf, fn, arg);
}

static const char *
default_file(void)
{
	static char path[PATH_LEN];
	const char *home = getenv("XDG_CONFIG_HOME");

	if (d.mode == MODE_SYSTEM)
		return SYSTEM_CONF;
	if (home != NULL && home[0] == '/')
		(void)snprintf(path, sizeof(path),
		    "%s/debuglantern/debuglantern.conf", home);
	else
		(void)snprintf(path, sizeof(path),
		    "%s/.config/debuglantern/debuglantern.conf",
		    getenv("HOME") != NULL ? getenv("HOME") : "");
	return path;
}

/* No file in the usual place means the defaults; one that is named must be. */
static int
open_file(const char *name, FILE **f)
{
	char text[PATH_LEN * 2];

	*f = fopen(name, "re");
	if (*f != NULL || (d.opt.file == NULL && errno == ENOENT))
		return 0;
	(void)snprintf(text, sizeof(text), "%s: %s", name, strerror(errno));
	on_conf_error(NULL, text);
	return -1;
}

/* Sets what the command line says, over the file. */
static int
set_flags(struct conf *c)
{
	char why[256];
	size_t i;

	/* nobody has said that it is to be there for others */
	if (d.opt.local) {
		c->mdns = false;
		if (c->exit_idle == 0)
			c->exit_idle = LOCAL_IDLE;
	}
	for (i = 0; i < nset; i++) {
		if (conf_set(c, set[i].key, set[i].value, why,
		    sizeof(why)) == -1) {
			on_conf_error(NULL, why);
			return -1;
		}
	}
	return 0;
}

/* The configuration before the file is read. */
static struct conf *
defaults(void)
{
	struct conf *c = conf_default(d.mode == MODE_SYSTEM, getuid());

	/*
	 * Sessions of root's user mode are uid 0 to the host's files: unless
	 * the file says otherwise they do not see them.  Sessions of a local
	 * daemon are its user's own programs, which are where the user has
	 * them.
	 */
	if (c != NULL && d.mode == MODE_USER && geteuid() == 0 && !d.opt.local)
		c->sandbox = CONF_SANDBOX_TMPFS;
	return c;
}

struct conf *
flags_load(void)
{
	const char *name = d.opt.file != NULL ? d.opt.file : default_file();
	struct conf *c;
	FILE *f;

	if (open_file(name, &f) == -1)
		return NULL;
	c = defaults();
	if (c != NULL && f != NULL)
		c = conf_child_parse(c, f, name, on_conf_error);
	if (f != NULL)
		fclose(f);
	if (c == NULL)
		return NULL;
	if (set_flags(c) == 0 && conf_check(c, on_conf_error, NULL) == 0 &&
	    (d.opt.local || listen_check(c, on_conf_error, NULL) == 0))
		return c;
	conf_free(c);
	return NULL;
}

enum { OPT_KEY = 256, OPT_USER = OPT_KEY + NKEYS, OPT_LOCAL };

void
flags_parse(int argc, char **argv)
{
	struct option longs[NKEYS + 5];
	size_t i;
	int ch;

	memset(longs, 0, sizeof(longs));
	for (i = 0; i < NKEYS; i++) {
		longs[i].name = key_flags[i].flag;
		longs[i].has_arg = required_argument;
		longs[i].val = OPT_KEY + (int)i;
	}
	longs[NKEYS].name = "user";
	longs[NKEYS].val = OPT_USER;
	longs[NKEYS + 1].name = "local";
	longs[NKEYS + 1].val = OPT_LOCAL;
	longs[NKEYS + 2].name = "help";
	longs[NKEYS + 2].val = 'h';
	longs[NKEYS + 3].name = "version";
	longs[NKEYS + 3].val = 'V';

	while ((ch = getopt_long(argc, argv, "df:hnVv", longs, NULL)) != -1) {
		if (ch >= OPT_KEY && ch < OPT_USER) {
			if (nset == MAX_SET)
				errx(2, "too many options");
			set[nset].key = key_flags[ch - OPT_KEY].key;
			set[nset++].value = optarg;
		} else if (ch == 'd')
			d.opt.foreground = true;
		else if (ch == 'f')
			d.opt.file = optarg;
		else if (ch == 'n')
			d.opt.check = true;
		else if (ch == 'v')
			d.opt.verbose = true;
		else if (ch == OPT_USER)
			d.opt.user = true;
		else if (ch == OPT_LOCAL)
			d.opt.local = true;
		else if (ch == 'h')
			answer_and_exit(usage_text);
		else if (ch == 'V')
			answer_and_exit("debuglanternd " DL_VERSION "\n");
		else
			usage();
	}
	if (optind == argc)
		return;
	fprintf(stderr, "debuglanternd: \"%s\": unexpected argument; there are "
	    "only options\n", argv[optind]);
	usage();
}

void
flags_begin(void)
{
	d.mode = geteuid() == 0 && !d.opt.user ? MODE_SYSTEM : MODE_USER;
	d.conf = flags_load();
	if (d.conf == NULL)
		exit(1);
	if (d.opt.check) {
		if (users_check(d.conf) == -1 || access_find(d.conf) == -1)
			exit(1);
		flags_warn(on_conf_warning, NULL);
		if (d.opt.verbose)
			conf_print(d.conf, stdout);
		else
			fputs("configuration OK\n", stderr);
		exit(fflush(stdout) == 0 ? 0 : 1);
	}
}
