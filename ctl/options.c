/* SPDX-License-Identifier: ISC */
/* Command line options. A program's own arguments pass through here too, so
 * the parser is told from which word on nothing is an option any more. */
#include <bsd/stdlib.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "report.h"

const struct opt_spec opt_specs[OPT_MAX] = {
	[OPT_TARGET] = { "target", 't', "TARGET",
	    "daemon: HOST[:PORT], tls://, ssh:// or unix:",
	    "DEBUGLANTERN_TARGET" },
	[OPT_JSON] = { "json", 0, NULL, "print the daemon's JSON", NULL },
	[OPT_TABLE] = { "table", 0, NULL,
	    "print tables also where no terminal is", NULL },
	[OPT_TIMEOUT] = { "timeout", 0, "SECONDS",
	    "how long to wait for an answer", NULL },
	[OPT_HELP] = { "help", 'h', NULL, "show help and exit", NULL },
	[OPT_VERSION] = { "version", 'V', NULL,
	    "show the client's version and exit", NULL },
	[OPT_BUNDLE] = { "bundle", 0, "EXEC_PATH",
	    "FILE is an archive with this program", NULL },
	[OPT_NAME] = { "name", 0, "LABEL", "label of the session", NULL },
	[OPT_QUIET] = { "quiet", 'q', NULL, "print nothing but the id, or token",
	    NULL },
	[OPT_DEBUG] = { "debug", 0, NULL, "start it under gdbserver", NULL },
	[OPT_SPLIT] = { "split", 0, NULL,
	    "keep standard output and standard error apart", NULL },
	[OPT_SANDBOX] = { "sandbox", 0, "KIND",
	    "sandbox: none, namespaces or tmpfs", NULL },
	[OPT_NETWORK] = { "network", 0, "KIND",
	    "network: none or shared", NULL },
	[OPT_OFFSET] = { "offset", 0, "BYTES", "begin at this byte", NULL },
	[OPT_FOLLOW] = { "follow", 'f', NULL,
	    "go on until the end, if there is any", NULL },
	[OPT_TAIL] = { "tail", 0, "LINES", "only the last lines", NULL },
	[OPT_RAW] = { "raw", 0, NULL,
	    "pass control characters to the terminal", NULL },
	[OPT_EOF] = { "eof", 0, NULL, "close the program's input (after it)",
	    NULL },
	[OPT_OUTFILE] = { "output", 'o', "FILE", "where to write it", NULL },
	[OPT_ENV] = { "env", 'e', "KEY=VALUE", "environment variable", NULL },
	[OPT_SYMBOLS] = { "symbols", 0, "FILE",
	    "program with symbols, else the target's", NULL },
	[OPT_SYSROOT] = { "sysroot", 0, "DIR",
	    "libraries, else the target's own", NULL },
	[OPT_PORT] = { "port", 0, NULL,
	    "connect to the session's debug port", NULL },
	[OPT_DELAY] = { "delay", 'd', "SECONDS", "time between looks (2)",
	    NULL },
	[OPT_COUNT] = { "count", 'n', "COUNT", "how many looks", NULL },
	[OPT_DAEMON] = { "daemon", 0, NULL,
	    "list the commands of the daemon's protocol", NULL },
	[OPT_COMPLETION] = { "completion", 0, NULL, NULL, NULL },
	[OPT_CA] = { "ca", 0, "FILE", "trust the daemons that it signed",
	    "DEBUGLANTERN_CA" },
	[OPT_CERT] = { "cert", 0, "FILE", "certificate to show to the daemon",
	    "DEBUGLANTERN_CERT" },
	[OPT_KEY] = { "key", 0, "FILE", "key of that certificate",
	    "DEBUGLANTERN_KEY" },
	[OPT_FINGERPRINT] = { "fingerprint", 0, "SHA256:...",
	    "trust only the certificate with it",
	    "DEBUGLANTERN_FINGERPRINT" },
	[OPT_PLAIN] = { "plain", 0, NULL,
	    "send also without TLS, where all can read it",
	    "DEBUGLANTERN_PLAIN" },
	[OPT_TOKEN_FILE] = { "token-file", 0, "FILE",
	    "file with the token to log in by", "DEBUGLANTERN_TOKEN_FILE" },
	[OPT_USER] = { "user", 0, "USER", "whom the token stands for", NULL },
	[OPT_READ_ONLY] = { "read-only", 0, NULL,
	    "the token lets look, no more", NULL },
	[OPT_EXPIRES] = { "expires", 0, "TIME",
	    "how long it is good: 30d, 12h, 90m, 600s", NULL },
	[OPT_LABEL] = { "label", 0, "LABEL", "what the token is for", NULL },
};

const char *
opt_value(const struct options *o, enum opt opt)
{
	const char *value = o->value[opt];

	if (value == NULL && opt_specs[opt].env != NULL)
		value = getenv(opt_specs[opt].env);
	else if (value != NULL)
		return value;
	return value != NULL && *value != '\0' ? value : NULL;
}

int
options_export(const struct options *o)
{
	enum opt opt;

	for (opt = 0; opt < OPT_MAX; opt++) {
		if (opt_specs[opt].env == NULL || opt == OPT_TARGET ||
		    o->value[opt] == NULL)
			continue;
		if (setenv(opt_specs[opt].env, *o->value[opt] != '\0' ?
		    o->value[opt] : "1", 1) == -1)
			return -1;
	}
	return 0;
}

bool
opt_given(const struct options *o, enum opt opt)
{
	return o->value[opt] != NULL;
}

int
opt_number(const struct options *o, enum opt opt, long long min,
    long long max, long long *np)
{
	const char *s = o->value[opt], *bad = NULL;

	if (*s == '\0' || s[strspn(s, "0123456789")] != '\0')
		bad = "not a whole number";
	else
		*np = strtonum(s, min, max, &bad);
	if (bad == NULL)
		return 0;
	report("--%s %s: %s; give %lld to %lld", opt_specs[opt].name, s, bad,
	    min, max);
	return -1;
}

/* Finds an option by its long name (len bytes of it) or its letter. */
static enum opt
find(uint64_t allowed, const char *name, size_t len, char letter)
{
	const struct opt_spec *s;
	enum opt opt;

	for (opt = 0; opt < OPT_MAX; opt++) {
		s = &opt_specs[opt];
		if (!(allowed >> opt & 1))
			continue;
		if (name != NULL ? strncmp(s->name, name, len) == 0 &&
		    s->name[len] == '\0' : letter == s->letter)
			break;
	}
	return opt;
}

static void
store(struct options *o, enum opt opt, const char *value)
{
	o->value[opt] = value;
	if (opt != OPT_ENV)
		return;
	o->env = reallocarray(o->env, o->nenv + 1, sizeof(*o->env));
	if (o->env == NULL)
		err(CTL_USAGE, NULL);
	o->env[o->nenv++] = value;
}

/* "--name", "--name=value" or "--name value"; next is NULL at the end. */
static int
parse_long(struct options *o, uint64_t allowed, const char *arg,
    const char *next)
{
	size_t len = strcspn(arg + 2, "=");
	enum opt opt = find(allowed, arg + 2, len, 0);
	const char *value = arg[2 + len] == '=' ? arg + 3 + len : NULL;

	if (opt == OPT_MAX) {
		report("unknown option %s", arg);
		return -1;
	}
	if (opt_specs[opt].arg == NULL) {
		if (value != NULL) {
			report("--%s takes no value", opt_specs[opt].name);
			return -1;
		}
		store(o, opt, "");
		return 0;
	}
	if (value == NULL && next == NULL) {
		report("%s needs a value: %s", arg, opt_specs[opt].arg);
		return -1;
	}
	store(o, opt, value != NULL ? value : next);
	return value == NULL;
}

/* "-f", "-fx", "-n5", "-n 5". As parse_long: 1 when next was used up. */
static int
parse_short(struct options *o, uint64_t allowed, const char *arg,
    const char *next)
{
	enum opt opt;

	for (arg++; *arg != '\0'; arg++) {
		if ((opt = find(allowed, NULL, 0, *arg)) == OPT_MAX) {
			report("unknown option -%c", *arg);
			return -1;
		}
		if (opt_specs[opt].arg == NULL) {
			store(o, opt, "");
			continue;
		}
		if (arg[1] == '\0' && next == NULL) {
			report("-%c needs a value: %s", *arg,
			    opt_specs[opt].arg);
			return -1;
		}
		store(o, opt, arg[1] != '\0' ? arg + 1 : next);
		return arg[1] == '\0';
	}
	return 0;
}

int
options_parse(struct options *o, uint64_t allowed, size_t literal_after,
    int argc, char **argv, char **words)
{
	int i, used, nwords = 0;
	bool literal = false;
	const char *next;

	for (i = 0; i < argc; i++) {
		if (literal_after > 0 && (size_t)nwords >= literal_after)
			literal = true;
		if (literal || argv[i][0] != '-' || argv[i][1] == '\0') {
			words[nwords++] = argv[i];
			continue;
		}
		if (strcmp(argv[i], "--") == 0) {
			literal = true;
			continue;
		}
		next = i + 1 < argc ? argv[i + 1] : NULL;
		used = (argv[i][1] == '-' ? parse_long : parse_short)(o,
		    allowed, argv[i], next);
		if (used == -1)
			return -1;
		i += used;
	}
	return nwords;
}
