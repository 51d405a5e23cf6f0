/* SPDX-License-Identifier: ISC */
/* Help and the lists that the shells complete from, both made from the tables
 * of commands and options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "client/lib/report.h"
#include "dbg.h"
#include "help.h"

/* Prints a line for each command, with its other names. */
static void
print_all(FILE *out)
{
	const struct dbg_command *c;
	size_t i;

	fprintf(out, "usage: " DBG_NAME " [OPTION ...] COMMAND "
	    "[ARGUMENT ...]\n\n");
	for (i = 0; i < dbg_ncommands; i++) {
		c = &dbg_commands[i];
		fprintf(out, "  %-20s%s%s%s%s\n", c->name, c->summary,
		    c->aliases ? " (" : "", c->aliases ? c->aliases : "",
		    c->aliases ? ")" : "");
	}
	fputs("\nOptions of all commands:\n", out);
	options_print(DOPTS_GLOBAL, out);
	fputs("\n\"" DBG_NAME " help COMMAND\" tells more, " DBG_NAME
	    "(1) everything.\n", out);
}

void
dbg_help_print(const struct dbg_command *c, FILE *out)
{
	if (c == NULL) {
		print_all(out);
		return;
	}
	fprintf(out, "usage: " DBG_NAME " %s%s%s%s\n%s\n", c->name,
	    c->options ? " [OPTION ...]" : "", *c->usage ? " " : "",
	    c->usage, c->summary);
	if (c->aliases != NULL)
		fprintf(out, "Also called %s.\n", c->aliases);
	if (c->waits)
		fputs("It waits for the program to stop; --timeout says how "
		    "long, and that it still\nruns then is an answer.\n",
		    out);
	if (c->options & ~DOPT(COMPLETION)) {
		fputs("\nOptions:\n", out);
		options_print(c->options, out);
	}
}

/* Half a name is met with those that begin so: "breakpoint" alone is none. */
int
dbg_help_unknown(int argc, char **argv)
{
	char *words = words_join(argc > 2 ? 2 : argc, argv), *like = NULL;
	size_t i, len = strlen(argv[0]), size;
	FILE *out = open_memstream(&like, &size);
	int n = 0;

	for (i = 0; out != NULL && i < dbg_ncommands; i++)
		if (strncmp(dbg_commands[i].name, argv[0], len) == 0)
			fprintf(out, "%s\"%s\"", n++ > 0 ? ", " : "",
			    dbg_commands[i].name);
	if (out != NULL)
		fclose(out);
	if (n > 0)
		report("no command \"%s\"; there is %s", words, like);
	else
		report("no command \"%s\"; see \"" DBG_NAME " help\"", words);
	free(words);
	free(like);
	return CTL_USAGE;
}

/* For the completion scripts: "command:summary" a line, or a command's
 * options. */
static void
print_completion(const struct dbg_command *c)
{
	size_t i;

	for (i = 0; c == NULL && i < dbg_ncommands; i++)
		printf("%s:%s\n", dbg_commands[i].name,
		    dbg_commands[i].summary);
	options_complete(DOPTS_GLOBAL | (c != NULL ? c->options : 0), stdout);
}

int
dbg_help(struct dbg *d, int argc, char **argv)
{
	const struct dbg_command *about = NULL;
	int used;

	if (argc > 0 && (about = dbg_command_find(argc, argv, &used)) == NULL)
		return dbg_help_unknown(argc, argv);
	if (opt_given(&d->client.opts, DOPT_COMPLETION))
		print_completion(about);
	else
		dbg_help_print(about, stdout);
	return report_flush();
}
