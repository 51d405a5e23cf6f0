/* SPDX-License-Identifier: ISC */
/* Commands about tokens: making them, and logging in by one. */
#include <bsd/stdlib.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/safe.h"
#include "client/lib/table.h"
#include "commands.h"
#include "login.h"
#include "resolve.h"
#include "secret.h"
#include "tokens.h"

/* "30d", "12h", "90m" or "600s" in seconds; -1 after a report. */
static long long
parse_time(const char *text)
{
	static const struct {
		char		unit;
		long long	seconds;
	} units[] = {
		{ 'w', 604800 }, { 'd', 86400 }, { 'h', 3600 }, { 'm', 60 },
		{ 's', 1 },
	};
	size_t i, digits = strspn(text, "0123456789");
	char number[16];
	long long n;

	if (digits > 0 && digits < sizeof(number)) {
		memcpy(number, text, digits);
		number[digits] = '\0';
		for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
			if (text[digits] != units[i].unit ||
			    text[digits + 1] != '\0')
				continue;
			n = strtonum(number, 1, INT_MAX / units[i].seconds,
			    NULL);
			if (n > 0)
				return n * units[i].seconds;
		}
	}
	report("--expires %s: give a number with a unit: s, m, h, d or w, such "
	    "as 30d, 12h, 90m or 600s", text);
	return -1;
}

static int
create_line(const struct client *c, struct line *l)
{
	const char *label = c->opts.value[OPT_LABEL];
	const char *user = c->opts.value[OPT_USER];
	const char *expires = c->opts.value[OPT_EXPIRES];
	long long seconds = 0;
	char word[300];

	/* Nothing is sent of a command line that is half right. */
	if (expires != NULL && (seconds = parse_time(expires)) == -1)
		return -1;
	if (line_word(l, c->command->verb) == -1 ||
	    line_word(l, "create") == -1)
		return -1;
	snprintf(word, sizeof(word), "user=%.200s", user != NULL ? user : "");
	if (user != NULL && line_word(l, word) == -1)
		return -1;
	if (opt_given(&c->opts, OPT_READ_ONLY) &&
	    line_word(l, "read-only") == -1)
		return -1;
	snprintf(word, sizeof(word), "expires=%lld", seconds);
	if (expires != NULL && line_word(l, word) == -1)
		return -1;
	snprintf(word, sizeof(word), "label=%.200s", label != NULL ? label :
	    "");
	return label != NULL ? line_word(l, word) : 0;
}

/* A member as text for people; null and what is missing as dflt. */
static void
cell(struct table *t, struct json_object *o, const char *key,
    const char *dflt)
{
	table_cell(t, reply_str(o, key, dflt), PLAIN);
}

static void
print_tokens(struct json_object *list, FILE *out)
{
	static const struct table_column columns[] = {
		{ "ID", .keep = 1 }, { "USER", .keep = 1 },
		{ "ACCESS", .keep = 1 }, { "CREATED", .keep = 1 },
		{ "EXPIRES", .keep = 1 }, { .title = "LABEL" },
	};
	struct json_object *o, *v;
	struct table *t;
	size_t i;

	t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	for (i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		cell(t, o, "id", "?");
		cell(t, o, "user", "?");
		table_cell(t, json_object_object_get_ex(o, "read_only",
		    &v) && json_object_get_boolean(v) ? "read-only" : "full",
		    PLAIN);
		cell(t, o, "created", "");
		cell(t, o, "expires", "never");
		cell(t, o, "label", "");
	}
	table_print(t, out, term_width(STDOUT_FILENO), 0,
	    term_colours(STDOUT_FILENO));
	table_free(t);
}

/* Nothing of the new token is left in our memory. Takes json. */
static void
forget(struct json_object *json)
{
	struct json_object *v;

	if (json_object_object_get_ex(json, "token", &v))
		explicit_bzero((void *)(uintptr_t)json_object_get_string(v),
		    (size_t)json_object_get_string_len(v));
	json_object_put(json);
}

static void
print_created(struct client *c, struct json_object *json)
{
	struct json_object *list;

	if (c->json && !opt_given(&c->opts, OPT_QUIET)) {
		reply_print(json, stdout);
		return;
	}
	/* The token has a line of its own, to be copied or piped on. */
	fwrite(reply_str(json, "token", ""), 1,
	    strlen(reply_str(json, "token", "")), stdout);
	putchar('\n');
	if (opt_given(&c->opts, OPT_QUIET))
		return;
	list = json_object_new_array();
	json_object_array_add(list, json_object_get(json));
	print_tokens(list, stdout);
	json_object_put(list);
	fputs("The token is not shown again.\n", stdout);
}

static int
token_create(struct client *c)
{
	struct json_object *json = NULL;
	struct line l = { 0 };
	const char *text;
	int code;

	if (create_line(c, &l) == -1) {
		free(l.text);
		return CTL_USAGE;
	}
	if ((code = client_send_line(c, &l)) == CTL_OK)
		code = client_answer(c, &json);
	/* not before: the daemon may have to look at us to know us */
	secret_hide();
	if (code != CTL_OK)
		return code;
	/* Check the token before it is printed unchanged. */
	text = reply_str(json, "token", "");
	if (strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	    "0123456789-_") != strlen(text) || *text == '\0') {
		report("the answer to TOKEN create has no token in it");
		code = CTL_UNREACHABLE;
	} else
		print_created(c, json);
	code = code == CTL_OK ? report_flush() : code;
	forget(json);
	return code;
}

static int
token_list(struct client *c)
{
	struct json_object *json;
	int code;

	code = client_ask(c, &json, c->command->verb, "list", NULL);
	if (code != CTL_OK)
		return code;
	if (!json_object_is_type(json, json_type_array)) {
		report("the answer to TOKEN list is not a list");
		code = CTL_UNREACHABLE;
	} else if (c->json)
		reply_print(json, stdout);
	else if (json_object_array_length(json) == 0)
		puts("no tokens");
	else
		print_tokens(json, stdout);
	json_object_put(json);
	return code == CTL_OK ? report_flush() : code;
}

static int
token_revoke(struct client *c, const char *id)
{
	struct json_object *json;
	int code;

	code = client_ask(c, &json, c->command->verb, "revoke", id, NULL);
	if (code != CTL_OK)
		return code;
	if (c->json)
		reply_print(json, stdout);
	else
		printf("%s is revoked\n", id);
	json_object_put(json);
	return report_flush();
}

int
ctl_token(struct client *c, int argc, char **argv)
{
	if (strcmp(argv[0], "create") == 0 && argc == 1)
		return token_create(c);
	if (strcmp(argv[0], "list") == 0 && argc == 1)
		return token_list(c);
	if (strcmp(argv[0], "revoke") == 0 && argc == 2)
		return token_revoke(c, argv[1]);
	return usage_error("usage: %s token create | list | revoke ID",
	    CTL_NAME);
}

static void
print_login(struct json_object *json, const char *target)
{
	char *user = safe_string(reply_str(json, "user", "?"));
	struct json_object *v;

	printf("logged in to %s as %s%s\n", target, user,
	    json_object_object_get_ex(json, "read_only", &v) &&
	    json_object_get_boolean(v) ? ", to look only" : "");
	free(user);
}

int
ctl_login(struct client *c, int argc, char **argv)
{
	struct json_object *json = NULL;
	char target[TARGET_TEXT];
	const char *token;
	int code;

	(void)argc;
	(void)argv;
	if ((code = secret_given(&c->opts, &token)) != CTL_OK ||
	    (code = client_connect(c)) != CTL_OK)
		return code;
	target_text(&c->target, target);
	if (token == NULL) {
		if ((code = secret_ask(target, &token)) != CTL_OK)
			return code;
		/* Connect again: the daemon does not wait long for a token. */
		dconn_close(c->conn);
		c->conn = NULL;
		if ((code = client_connect(c)) != CTL_OK)
			return code;
	}
	code = client_log_in(c, c->conn, token, &json);
	/* Keep only a token that the daemon accepts. */
	if (code == CTL_OK)
		code = secret_keep(target, token);
	if (code == CTL_OK && c->json)
		reply_print(json, stdout);
	else if (code == CTL_OK)
		print_login(json, target);
	json_object_put(json);
	return code == CTL_OK ? report_flush() : code;
}

int
ctl_logout(struct client *c, int argc, char **argv)
{
	char target[TARGET_TEXT];
	int code;

	(void)argc;
	(void)argv;
	/* Only a connection tells which daemon the default is. */
	code = c->target.kind == TARGET_DEFAULT ? client_connect(c) :
	    target_resolve(&c->target);
	if (code != CTL_OK)
		return code;
	code = secret_keep(target_text(&c->target, target), NULL);
	if (code == CTL_REFUSED)
		report("no token is kept for %s", target);
	return code;
}
