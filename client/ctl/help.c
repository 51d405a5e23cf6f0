/* SPDX-License-Identifier: ISC */
/* Help and the lists that the shells complete from, both made from the tables
 * of commands and options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/table.h"
#include "commands.h"
#include "help.h"

static void
print_all(FILE *out)
{
	const struct command *c;
	size_t i;

	fprintf(out, "usage: %s [OPTION ...] COMMAND [ARGUMENT ...]\n\n",
	    CTL_NAME);
	for (i = 0; i < ncommands; i++) {
		c = &commands[i];
		fprintf(out, "  %-17s%s%s%s%s\n", c->name, c->summary,
		    c->alias ? " (" : "", c->alias ? c->alias : "",
		    c->alias ? ")" : "");
	}
	fputs("\nOptions of all commands:\n", out);
	options_print(OPTS_GLOBAL, out);
	fprintf(out, "\n\"%s help COMMAND\" tells more, "
	    "%s(1) everything.\n", CTL_NAME, CTL_NAME);
}

/* The word of a command that comes next when before has been given; NULL:
 * none. */
static const char *
word_of(const struct command *c, const struct command *before)
{
	const char *blank = strchr(c->name, ' ');

	if (before == NULL)
		return blank == NULL ? c->name : NULL;
	return blank != NULL && strlen(before->name) == (size_t)(blank -
	    c->name) && strncmp(c->name, before->name,
	    strlen(before->name)) == 0 ? blank + 1 : NULL;
}

void
help_usage(const struct command *c, FILE *out)
{
	fprintf(out, "%s %s%s%s%s", CTL_NAME, c->name,
	    c->options ? " [OPTION ...]" : "", *c->usage ? " " : "",
	    c->usage);
}

bool
help_has_words(const struct command *c)
{
	size_t i;

	for (i = 0; i < ncommands; i++)
		if (word_of(&commands[i], c) != NULL)
			return true;
	return false;
}

void
help_words(const struct command *c, FILE *out)
{
	const char *word, *between = "";
	size_t i;

	for (i = 0; i < ncommands; i++)
		if ((word = word_of(&commands[i], c)) != NULL) {
			fprintf(out, "%s%s", between, word);
			between = ", ";
		}
}

void
help_print(const struct command *c, FILE *out)
{
	size_t i;

	if (c == NULL) {
		print_all(out);
		return;
	}
	fputs("usage: ", out);
	help_usage(c, out);
	fprintf(out, "\n%s\n", c->summary);
	if (c->alias != NULL)
		fprintf(out, "Also called %s.\n", c->alias);
	for (i = 0; i < ncommands; i++)
		if (word_of(&commands[i], c) != NULL)
			fprintf(out, "  %-17s%s\n", commands[i].name,
			    commands[i].summary);
	if (c->options & ~OPT(COMPLETION)) {
		fputs("\nOptions:\n", out);
		options_print(c->options, out);
	}
}

/* For the completion scripts: "command:summary" a line, or a command's
 * second words and options. */
static void
print_completion(const struct command *c)
{
	const char *word;
	size_t i;

	for (i = 0; i < ncommands; i++)
		if ((word = word_of(&commands[i], c)) != NULL)
			printf("%s:%s\n", word, commands[i].summary);
	options_complete(OPTS_GLOBAL | (c != NULL ? c->options : 0), stdout);
}

static void
print_daemon(struct json_object *json)
{
	static const struct table_column columns[] = {
		{ .title = "USAGE", .keep = 1 }, { .title = "DESCRIPTION" },
	};
	struct json_object *list, *o;
	struct table *t;
	size_t i;

	if (!json_object_object_get_ex(json, "commands", &list) ||
	    !json_object_is_type(list, json_type_array))
		return;
	t = table_new(columns, 2);
	for (i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		table_cell(t, reply_str(o, "usage", reply_str(o, "name",
		    "?")), PLAIN);
		table_cell(t, reply_str(o, "description", ""), PLAIN);
	}
	table_print(t, stdout, term_width(STDOUT_FILENO), 0,
	    term_colours(STDOUT_FILENO));
	table_free(t);
}

static int
daemon_help(struct client *c)
{
	struct json_object *json;
	int code;

	if ((code = client_ask(c, &json, c->command->verb, NULL)) != CTL_OK)
		return code;
	if (c->json)
		reply_print(json, stdout);
	else if (json_object_is_type(json, json_type_object))
		print_daemon(json);
	json_object_put(json);
	return report_flush();
}

int
ctl_help(struct client *c, int argc, char **argv)
{
	const struct command *about = NULL;
	int used = 0;

	if (argc > 0)
		about = ctl_command_find(argc, argv, &used);
	if (used < argc || (argc > 0 && about == NULL))
		return usage_error("no command \"%s%s%s\"; see \"%s help\"",
		    argv[0], argc > 1 ? " " : "", argc > 1 ? argv[1] : "",
		    CTL_NAME);
	if (opt_given(&c->opts, OPT_DAEMON))
		return daemon_help(c);
	if (opt_given(&c->opts, OPT_COMPLETION))
		print_completion(about);
	else
		help_print(about, stdout);
	return report_flush();
}
