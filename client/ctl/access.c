/* SPDX-License-Identifier: ISC */
/* Commands about who may do what: identity, sharing, quotas. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "access.h"
#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/safe.h"
#include "client/lib/table.h"
#include "commands.h"
#include "session.h"

#define NUMBER	24

int
ctl_whoami(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	int code;

	(void)argc;
	(void)argv;
	code = client_ask(c, &json, c->command->verb, NULL);
	/* It has the form of a session: members of plain values. */
	return code == CTL_OK ? client_show(c, json, session_print) : code;
}

/* share and unshare. */
int
ctl_share(struct client *c, int argc, char **argv)
{
	const char *access = strrchr(argv[1], ':');
	struct json_object *json;
	int code;

	(void)argc;
	if (access != NULL && strcmp(access, ":rw") != 0 &&
	    strcmp(access, ":ro") != 0)
		return usage_error("\"%s\": give USER, USER:ro or USER:rw",
		    argv[1]);
	code = client_ask(c, &json, c->command->verb, argv[0], argv[1], NULL);
	if (code != CTL_OK)
		return code;
	/* After the answer: of what did not happen nobody need be warned. */
	if (access != NULL && strcmp(access, ":rw") == 0 &&
	    strcmp(c->command->verb, "SHARE") == 0)
		report("warning: %.*s can now make this session do whatever "
		    "its owner's account may do, files included",
		    (int)(access - argv[1]), argv[1]);
	return client_show(c, json, session_print_line);
}

/*
 * Any command that names a session by its id accepts the share; this one
 * changes nothing else.
 */
int
ctl_share_accept(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	int code;

	(void)argc;
	code = client_ask(c, &json, c->command->verb, argv[0], NULL);
	return code == CTL_OK ? client_show(c, json, session_print_line) : code;
}

/* A member of a quota, "used" or "limit", in bytes or as it is. */
static const char *
figure(struct json_object *o, const char *quota, const char *which,
    bool bytes, char buf[NUMBER])
{
	struct json_object *q;
	int64_t n;

	buf[0] = '\0';
	if (!json_object_object_get_ex(o, quota, &q))
		return buf;
	if (reply_int(q, which, &n) && bytes && n >= 0)
		term_bytes((uint64_t)n, buf);
	else if (reply_int(q, which, &n))
		snprintf(buf, NUMBER, "%" PRId64, n);
	else if (strcmp(which, "limit") == 0)
		snprintf(buf, NUMBER, "-");
	return buf;
}

/* "3/10", "3/-" without a limit, or the limit alone. */
static void
quota_cell(struct table *t, struct json_object *o, const char *quota,
    bool bytes)
{
	char used[NUMBER], limit[NUMBER], text[2 * NUMBER + 2];

	figure(o, quota, "used", bytes, used);
	figure(o, quota, "limit", bytes, limit);
	snprintf(text, sizeof(text), "%s%s%s", used,
	    *used != '\0' ? "/" : "", limit);
	table_cell(t, text, PLAIN);
}

static void
print_quota(struct json_object *list, FILE *out)
{
	static const struct table_column columns[] = {
		{ "USER", .keep = 1 }, { "SESSIONS", .right = 1, .keep = 1 },
		{ "BYTES", .right = 1, .keep = 1 },
		{ "CPU", .right = 1, .keep = 1 },
		{ "MEMORY", .right = 1, .keep = 1 },
		{ "PROCESSES", .right = 1, .keep = 1 },
	};
	struct json_object *o;
	struct table *t;
	size_t i;

	if (json_object_array_length(list) == 0) {
		fputs("no user has sessions, tokens or limits\n", out);
		return;
	}
	t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	for (i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		table_cell(t, reply_str(o, "user", "?"), PLAIN);
		quota_cell(t, o, "sessions", false);
		quota_cell(t, o, "bytes", true);
		quota_cell(t, o, "cpu", false);
		quota_cell(t, o, "memory", true);
		quota_cell(t, o, "processes", false);
	}
	table_print(t, out, term_width(STDOUT_FILENO), 0,
	    term_colours(STDOUT_FILENO));
	table_free(t);
}

int
ctl_quota(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	int code;

	code = client_ask(c, &json, c->command->verb,
	    argc > 0 ? argv[0] : NULL, NULL);
	if (code != CTL_OK)
		return code;
	if (!json_object_is_type(json, json_type_array)) {
		report("the answer to QUOTA is not a list");
		json_object_put(json);
		return CTL_UNREACHABLE;
	}
	return client_show(c, json, print_quota);
}

int
ctl_fingerprint(struct client *c, int argc, char **argv)
{
	struct json_object *json, *tls = NULL;
	const char *print;
	char *text;
	int code;

	(void)argc;
	(void)argv;
	code = client_ask(c, &json, c->command->verb, NULL);
	if (code != CTL_OK)
		return code;
	json_object_object_get_ex(json, "tls", &tls);
	print = reply_str(tls, "fingerprint", NULL);
	if (print == NULL) {
		report("the daemon has no TLS; enable it with \"listen on "
		    "ADDRESS tls\" in its configuration");
		code = CTL_REFUSED;
	} else if (c->json)
		reply_print(tls, stdout);
	else {
		text = safe_string(print);
		puts(text);
		free(text);
	}
	json_object_put(json);
	return code == CTL_OK ? report_flush() : code;
}
