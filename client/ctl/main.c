/* SPDX-License-Identifier: ISC */
/* debuglanternctl, the command line client of the control protocol. */
#include <err.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/client.h"
#include "client/lib/report.h"
#include "client/lib/start.h"
#include "commands.h"
#include "help.h"
#include "known.h"
#include "login.h"
#include "refused.h"
#include "secret.h"

/* Commands that only look something up are not waited for any longer. */
#define QUICK_S		60

static int
set_target(struct client *c)
{
	const char *text = opt_value(&c->opts, OPT_TARGET);

	if (text == NULL || *text == '\0') {
		c->target.kind = TARGET_DEFAULT;
		return 0;
	}
	if (target_parse(&c->target, text) == 0)
		return 0;
	report("target \"%s\": " TARGET_FORMS, text);
	return -1;
}

static int
set_trust(struct client *c)
{
	struct trust *t = &c->trust;

	t->fingerprint = opt_value(&c->opts, OPT_FINGERPRINT);
	t->ca = opt_value(&c->opts, OPT_CA);
	t->cert = opt_value(&c->opts, OPT_CERT);
	t->key = opt_value(&c->opts, OPT_KEY);
	if (t->fingerprint != NULL && !fingerprint_valid(t->fingerprint)) {
		report("\"%s\" is no fingerprint: give SHA256: and 43 "
		    "characters of base64", t->fingerprint);
		return -1;
	}
	if ((t->cert == NULL) == (t->key == NULL))
		return 0;
	report("--cert and --key belong together");
	return -1;
}

static int
set_timeout(struct client *c)
{
	long long n = c->command->slow ? 0 : QUICK_S;

	if (opt_given(&c->opts, OPT_TIMEOUT) &&
	    opt_number(&c->opts, OPT_TIMEOUT, 1, INT_MAX / 1000, &n) == -1)
		return -1;
	c->timeout_s = (unsigned int)n;
	return 0;
}

static int
set_form(struct client *c)
{
	bool table = opt_given(&c->opts, OPT_TABLE);

	c->json_errors = opt_given(&c->opts, OPT_JSON);
	if (table && c->json_errors) {
		report("--json and --table cannot be combined");
		return -1;
	}
	c->json = c->json_errors || (!table && !isatty(STDOUT_FILENO));
	return 0;
}

static int
wrong_words(const struct command *cmd, int n)
{
	report("%s: too %s arguments; usage: %s %s %s", cmd->name,
	    n < cmd->min ? "few" : "many", CTL_NAME, cmd->name, cmd->usage);
	return CTL_USAGE;
}

/* words: those after the command's name, NULL terminated. */
static int
run_command(struct client *c, int n, char **words)
{
	const struct command *cmd = c->command;
	int literal = cmd->literal == LITERAL_COMMAND ? 0 :
	    (int)cmd->literal;

	/* "args ID -- ARGUMENTS": only the first "--" is ours. */
	if (literal > 0 && n > literal && strcmp(words[literal], "--") == 0) {
		memmove(words + literal, words + literal + 1,
		    (size_t)(n - literal) * sizeof(*words));
		n--;
	}
	if (opt_given(&c->opts, OPT_HELP)) {
		help_print(cmd, stdout);
		return report_flush();
	}
	if (n < cmd->min || (cmd->max != -1 && n > cmd->max))
		return wrong_words(cmd, n);
	if (set_target(c) == -1 || set_trust(c) == -1 ||
	    set_timeout(c) == -1 || set_form(c) == -1)
		return CTL_USAGE;
	return cmd->handler(c, n, words);
}

static int
without_command(const struct client *c)
{
	if (opt_given(&c->opts, OPT_VERSION))
		printf("%s %s\n", CTL_NAME, DL_VERSION);
	else if (opt_given(&c->opts, OPT_HELP))
		help_print(NULL, stdout);
	else {
		help_print(NULL, stderr);
		return CTL_USAGE;
	}
	return report_flush();
}

static int
client_main(struct client *c, int argc, char **argv)
{
	char **words, **rest;
	int code, n, used;

	words = calloc((size_t)argc + 1, sizeof(*words));
	rest = calloc((size_t)argc + 1, sizeof(*rest));
	if (words == NULL || rest == NULL)
		err(CTL_USAGE, NULL);
	code = CTL_USAGE;
	/* The command's name ends the options that are not its own. */
	n = options_parse(&c->opts, OPTS_GLOBAL, 1, argc - 1, argv + 1,
	    words);
	if (n == -1)
		goto done;
	if (n == 0 || opt_given(&c->opts, OPT_VERSION)) {
		code = without_command(c);
		goto done;
	}
	if ((c->command = ctl_command_find(n, words, &used)) == NULL) {
		report("no command \"%s\"; see \"%s help\"", words[0],
		    CTL_NAME);
		goto done;
	}
	n = options_parse(&c->opts, OPTS_GLOBAL | c->command->options,
	    c->command->literal == LITERAL_COMMAND ? 1 : c->command->literal,
	    n - used, words + used, rest);
	if (n == -1)
		code = report_usage(CTL_NAME, c->command->name,
		    c->command->usage);
	else if (opt_given(&c->opts, OPT_VERSION))
		code = without_command(c);
	else
		code = run_command(c, n, rest);
done:
	free(words);
	free(rest);
	return code;
}

int
main(int argc, char **argv)
{
	struct client client = { .open = login_open,
	    .refused = refused_report };
	int code;

	client_start();
	options_use(&ctl_switches);
	setlocale(LC_CTYPE, "");
	code = client_main(&client, argc, argv);
	dconn_close(client.conn);
	secret_wipe();
	options_clear(&client.opts);
	return code;
}
