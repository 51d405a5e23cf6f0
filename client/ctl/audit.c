/* SPDX-License-Identifier: ISC */
/* audit: who did what. A follower whose connection breaks comes back and goes
 * on where it was. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit.h"
#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/safe.h"
#include "commands.h"

#define RETRIES		5
#define WAIT_S		"30"	/* of one question; the next one follows */

struct audit {
	struct client	*client;
	bool		 started;	/* an answer has come */
	bool		 more;		/* ... and it had events in it */
	int64_t		 next;		/* number of the next event */
};

static void
print_event(struct json_object *e)
{
	static const char *const keys[] = {
		"time", "user", "door", "address", "session", "action",
		"result",
	};
	const char *value;
	char *text;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		value = reply_str(e, keys[i], "-");
		text = safe_string(*value != '\0' ? value : "-");
		printf("%s%s", i > 0 ? "  " : "", text);
		free(text);
	}
	putchar('\n');
}

/* Prints the events of an answer, one a line. An exit code. */
static int
print_events(struct audit *a, struct json_object *json)
{
	struct json_object *events, *e;
	int64_t first;
	size_t i;

	if (!json_object_object_get_ex(json, "events", &events) ||
	    !json_object_is_type(events, json_type_array)) {
		report("the answer to AUDIT has no events");
		return CTL_UNREACHABLE;
	}
	e = json_object_array_get_idx(events, 0);
	/* A reader that was away too long is told so. */
	if (a->started && e != NULL && reply_int(e, "seq", &first) &&
	    first > a->next)
		report("%" PRId64 " events are lost: the daemon keeps only "
		    "the latest", first - a->next);
	for (i = 0; i < json_object_array_length(events); i++) {
		e = json_object_array_get_idx(events, i);
		if (a->client->json)
			reply_print(e, stdout);
		else
			print_event(e);
	}
	a->started = reply_int(json, "next", &a->next);
	a->more = i > 0;
	return report_flush();
}

/* follow: waits for an event at or after the next one. */
static int
ask(struct audit *a, bool follow)
{
	struct client *c = a->client;
	struct json_object *json;
	char digits[24];
	int code;

	snprintf(digits, sizeof(digits), "%" PRId64, a->next);
	code = client_ask(c, &json, c->command->verb,
	    a->started ? digits : NULL, follow && a->started ? WAIT_S : NULL,
	    NULL);
	if (code != CTL_OK)
		return code;
	code = print_events(a, json);
	json_object_put(json);
	return code;
}

int
ctl_audit(struct client *c, int argc, char **argv)
{
	bool follow = opt_given(&c->opts, OPT_FOLLOW);
	struct audit a = { .client = c };
	int code, tries = 0;

	(void)argc;
	(void)argv;
	while ((code = ask(&a, follow)) == CTL_OK ||
	    (code == CTL_UNREACHABLE && a.started && tries < RETRIES)) {
		/* An answer holds so many events and no more. */
		if (!follow && (code != CTL_OK || !a.started || !a.more))
			break;
		tries = code == CTL_OK ? 0 : tries + 1;
		if (code == CTL_OK)
			continue;
		/* The log outlives what we read it through. */
		dconn_close(c->conn);
		c->conn = NULL;
		sleep(1);
	}
	return code;
}
