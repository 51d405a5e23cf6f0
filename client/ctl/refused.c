/* SPDX-License-Identifier: ISC */
/* Refusals as people get them: a daemon speaks of its protocol, and they have
 * typed words of this program's. */
#include <bsd/string.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "commands.h"
#include "help.h"
#include "refused.h"
#include "switches.h"

#define USAGE	"usage: "

/* Messages of the daemon, by their beginning, and their replacements here. */
static const struct own {
	const char	*code;
	const char	*message;
	const char	*before;
	const char	*after;	/* the session; NULL: it is not said */
} texts[] = {
	{ "not_found", "session not found", "there is no session \"", "\"" },
	{ "not_found", "no such token", "there is no such token; \"" CTL_NAME
	    " token list\" shows those there are", NULL },
	{ "ambiguous_id", "more than one session begins with that",
	    "more than one session begins with \"", "\"; give more "
	    "characters" },
	{ "no_tracer", "", "the session has no tracer; \"" CTL_NAME " trace ",
	    " PATTERN\" gives it one" },
	{ "invalid_argument", "there is no such limit", "there is no such "
	    "limit; there are cpu, as, nofile, nproc and core", NULL },
	{ "invalid_argument", "<token-id> is", "an id is 8 hexadecimal "
	    "digits, as \"" CTL_NAME " token list\" shows them", NULL },
};

/* The line that was sent from its n-th word on, "" when it has none. */
static const char *
sent_from(const struct client *c, unsigned int n)
{
	const char *p = c->sent;

	/* a request in JSON has no words */
	if (*p == '{')
		return "";
	for (; n > 0; n--) {
		p += strcspn(p, " ");
		p += strspn(p, " ");
	}
	return p;
}

/* The session that was asked for; of tracers it is asked by its key. */
static void
asked_session(const struct client *c, char *buf, size_t size)
{
	const char *p = strstr(sent_from(c, 0), " session=");

	p = p != NULL ? p + strlen(" session=") : sent_from(c, 1);
	strlcpy(buf, p, size);
	buf[strcspn(buf, " ")] = '\0';
}

/* Prints the wrong argument, if it was sent as the user typed it. */
static void
put_given(const struct client *c, const char *code, FILE *out)
{
	const char *verb = c->command->verb, *given = NULL;
	size_t len = verb != NULL ? strlen(verb) : 0;

	if (strlen(c->sent) == sizeof(c->sent) - 1)
		return;
	if (strcmp(code, "invalid_elf") == 0)
		given = c->file;
	else if (strcmp(code, "invalid_name") == 0)
		given = opt_given(&c->opts, OPT_NAME) ?
		    c->opts.value[OPT_NAME] : sent_from(c, 2);
	else if (strcmp(code, "invalid_argument") == 0 && verb != NULL &&
	    strncmp(c->sent, verb, len) == 0 && c->sent[len] == ' ')
		given = sent_from(c, 2);
	if (given != NULL && *given != '\0')
		fprintf(out, "%s: ", given);
}

/* A mistyped subcommand is taken for a session; false: there are none. */
static bool
put_neither(const struct client *c, const char *id, FILE *out)
{
	if (!help_has_words(c->command))
		return false;
	fprintf(out, "\"%s\" is neither a session nor a subcommand of %s: ",
	    id, c->command->name);
	help_words(c->command, out);
	return true;
}

/* NULL: there are no own words for it. */
static const struct own *
own_words(const char *code, const char *message, const char *id)
{
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(code, texts[i].code) == 0 && strncmp(message,
		    texts[i].message, strlen(texts[i].message)) == 0 &&
		    (texts[i].after == NULL || *id != '\0'))
			return &texts[i];
	return NULL;
}

static void
put_message(const struct client *c, const char *code, const char *message,
    FILE *out)
{
	const char *usage = strstr(message, USAGE);
	const struct own *own;
	char id[160];

	asked_session(c, id, sizeof(id));
	own = own_words(code, message, id);
	if (own == &texts[0] && put_neither(c, id, out))
		return;
	if (own != NULL && own->after != NULL)
		fprintf(out, "%s%s%s", own->before, id, own->after);
	else if (own != NULL)
		fputs(own->before, out);
	else if (usage == NULL)
		fputs(message, out);
	else
		fwrite(message, 1, (size_t)(usage - message), out);
	if (usage == NULL)
		return;
	/* the daemon's would be that of its protocol */
	fputs(own != NULL ? "; " USAGE : USAGE, out);
	help_usage(c->command, out);
}

/* Prints a remedy that this program offers. */
static void
put_hint(const char *code, const char *message, FILE *out)
{
	if (strcmp(code, "invalid_elf") == 0 &&
	    strncmp(message, "a script", strlen("a script")) == 0)
		fputs("; \"" CTL_NAME " shell -- PATH\" runs one that the "
		    "target has", out);
}

void
refused_report(const struct client *c, struct json_object *answer)
{
	const char *code = reply_error(answer);
	const char *message = reply_str(answer, "message", "no reason given");
	struct json_object *own;
	char *text = NULL;
	size_t len;
	FILE *out;

	if (c->json_errors || c->command == NULL ||
	    (out = open_memstream(&text, &len)) == NULL) {
		reply_report(answer, c->json_errors);
		return;
	}
	put_given(c, code, out);
	put_message(c, code, message, out);
	put_hint(code, message, out);
	own = json_object_new_object();
	json_object_object_add(own, "ok", json_object_new_boolean(0));
	json_object_object_add(own, "error_code",
	    json_object_new_string(code));
	if (fclose(out) == 0)
		json_object_object_add(own, "message",
		    json_object_new_string(text));
	reply_report(own, false);
	json_object_put(own);
	free(text);
}
