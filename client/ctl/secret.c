/* SPDX-License-Identifier: ISC */
/* The token that we log in by: where it comes from, and that it stays out of
 * everything but the connection. It is never an argument: everybody can read
 * those. */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <bsd/readpassphrase.h>
#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/report.h"
#include "secret.h"
#include "store.h"
#include "switches.h"

#define TOKENS		"tokens"
#define VARIABLE	"DEBUGLANTERN_TOKEN"
#define ALPHABET	"ABCDEFGHIJKLMNOPQRSTUVWXYZ" \
			"abcdefghijklmnopqrstuvwxyz0123456789-_"

static char secret[TOKEN_TEXT];
static bool from_environment;

static void
no_core(void)
{
	struct rlimit core = { 0, 0 };

	getrlimit(RLIMIT_CORE, &core);
	core.rlim_cur = 0;
	setrlimit(RLIMIT_CORE, &core);
}

void
secret_hide(void)
{
	no_core();
	prctl(PR_SET_DUMPABLE, 0);
}

void
secret_expose(void)
{
	prctl(PR_SET_DUMPABLE, 1);
}

void
secret_wipe(void)
{
	explicit_bzero(secret, sizeof(secret));
}

/* Takes a text that ends with NUL or a line's end. */
static int
take(const char *text, const char *where)
{
	/* the last three are a session's, whose guest one is by them */
	static const char *const kinds[] = { "dlt_", "dls_", "dlv_", "dlk_" };
	size_t i, len = strcspn(text, "\r\n");

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(text, kinds[i], 4) == 0)
			break;
	if (len != TOKEN_TEXT - 1 || i == sizeof(kinds) / sizeof(kinds[0]) ||
	    strspn(text + 4, ALPHABET) != len - 4) {
		/* Do not print the text: it may still be a secret. */
		report("%s holds no token; a token is \"dlt_\" and 43 letters, "
		    "digits, - and _", where);
		return CTL_USAGE;
	}
	memcpy(secret, text, len);
	secret[len] = '\0';
	return CTL_OK;
}

/* A pipe will do, for tokens that another program hands out. */
static int
check_file(const char *path, int file_fd)
{
	struct stat st;

	if (fstat(file_fd, &st) == -1)
		return usage_error("%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
		return usage_error("%s is no file with a token in it", path);
	if (st.st_uid != geteuid())
		return usage_error("%s belongs to uid %u, not to you; it is "
		    "not used", path, st.st_uid);
	if ((st.st_mode & 077) != 0)
		return usage_error("%s can be read by others (mode %04o); "
		    "correct it: chmod 600 %s", path, st.st_mode & 07777,
		    path);
	return CTL_OK;
}

static int
read_file(const char *path)
{
	char text[TOKEN_TEXT + 3] = "";
	size_t len = 0;
	ssize_t n = 1;
	int code, file_fd = open(path, O_RDONLY | O_CLOEXEC);

	if (file_fd == -1)
		return usage_error("%s: %s", path, strerror(errno));
	if ((code = check_file(path, file_fd)) != CTL_OK)
		goto done;
	for (; len < sizeof(text) - 1 && n > 0; len += (size_t)n)
		if ((n = read(file_fd, text + len, sizeof(text) - 1 -
		    len)) == -1) {
			code = usage_error("%s: %s", path, strerror(errno));
			goto done;
		}
	code = take(text, path);
done:
	explicit_bzero(text, sizeof(text));
	close(file_fd);
	return code;
}

static int
read_environment(char *value)
{
	int code = take(value, "$" VARIABLE);

	/* It would stand there for programs of ours to show. */
	explicit_bzero(value, strlen(value));
	unsetenv(VARIABLE);
	from_environment = code == CTL_OK;
	return code;
}

void
secret_export(void)
{
	if (from_environment)
		setenv(VARIABLE, secret, 1);
}

int
secret_given(const struct options *o, const char **tokenp)
{
	const char *path = opt_value(o, OPT_TOKEN_FILE);
	char *value = getenv(VARIABLE);
	int code = CTL_OK;

	*tokenp = NULL;
	/* An option says more than what happens to be set. */
	if (value != NULL && *value == '\0')
		value = NULL;
	if (path == NULL && value == NULL && *secret == '\0')
		return CTL_OK;
	if (*secret == '\0') {
		no_core();
		code = path != NULL && (value == NULL ||
		    opt_given(o, OPT_TOKEN_FILE)) ? read_file(path) :
		    read_environment(value);
	}
	if (code == CTL_OK)
		*tokenp = secret;
	return code;
}

int
secret_for(const struct options *o, const char *target, const char **tokenp)
{
	const char *key, *value;
	struct store s;
	int code;

	if ((code = secret_given(o, tokenp)) != CTL_OK || *tokenp != NULL)
		return code;
	if ((code = store_load(&s, TOKENS, 1)) != CTL_OK)
		return code;
	while (code == CTL_OK && *tokenp == NULL &&
	    store_next(&s, &key, &value)) {
		if (strcmp(key, target) != 0)
			continue;
		no_core();
		code = take(value, "~/.config/debuglantern/" TOKENS);
		*tokenp = code == CTL_OK ? secret : NULL;
	}
	store_free(&s);
	return code;
}

int
secret_keep(const char *target, const char *token)
{
	return store_set(TOKENS, target, token);
}

int
secret_ask(const char *target, const char **tokenp)
{
	char prompt[512], text[256] = "";
	int code;

	*tokenp = NULL;
	secret_hide();
	snprintf(prompt, sizeof(prompt), "Token for %.400s: ", target);
	/* Without a terminal it is the first line of standard input. */
	if (readpassphrase(prompt, text, sizeof(text), RPP_ECHO_OFF |
	    (isatty(STDIN_FILENO) ? RPP_REQUIRE_TTY : RPP_STDIN)) == NULL)
		code = usage_error("no token was given: %s", strerror(errno));
	else
		code = take(text, "the line");
	explicit_bzero(text, sizeof(text));
	if (code == CTL_OK)
		*tokenp = secret;
	return code;
}
