/* SPDX-License-Identifier: ISC */
/* Commands that print what a program wrote: byte for byte into files and
 * pipes, made harmless on a terminal. A follower whose connection breaks
 * comes back and goes on where it was. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "follow.h"
#include "output.h"
#include "reply.h"
#include "report.h"
#include "safe.h"

#define RETRIES		5

struct printer {
	struct client		*client;
	const char		*id;
	struct safe_filter	 filter;
	bool			 filtered;
	bool			 started;	/* a byte has been seen */
	uint64_t		 next;		/* offset of the next byte */
};

static void
print_bytes(struct printer *p, const unsigned char *data, size_t len)
{
	if (p->filtered)
		safe_filter_put(&p->filter, data, len, stdout);
	else if (len > 0)
		fwrite(data, 1, len, stdout);
}

/* Tells of bytes that the daemon no longer had. */
static void
note_gap(struct printer *p, uint64_t offset, bool asked)
{
	if (offset > p->next && (p->started || asked))
		report("%" PRIu64 " bytes of output are lost: the daemon "
		    "keeps only the latest", offset - p->next);
}

/* The start of the last n lines. */
static size_t
tail_start(const unsigned char *data, size_t len, long long n)
{
	size_t i = len;

	/* The last line's own end does not count. */
	if (i > 0 && data[i - 1] == '\n')
		i--;
	for (; i > 0; i--)
		if (data[i - 1] == '\n' && --n <= 0)
			return i;
	return 0;
}

/* Asks with or without base64: as JSON people get the text. */
static int
ask_output(struct printer *p, uint64_t offset, struct json_object **jsonp)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, offset);
	return client_ask(p->client, jsonp, "OUTPUT", p->id, digits,
	    p->client->json_errors ? NULL : "base64", NULL);
}

/* Prints what the daemon holds; lines > 0: only so many. An exit code. */
static int
print_held(struct printer *p, long long lines)
{
	struct json_object *json;
	struct follow_event e;
	size_t skip = 0;
	int code;

	if ((code = ask_output(p, p->next, &json)) != CTL_OK)
		return code;
	if (p->client->json_errors) {
		reply_print(json, stdout);
		json_object_put(json);
		return report_flush();
	}
	code = follow_decode(json, &e) == -1 ? CTL_UNREACHABLE : CTL_OK;
	json_object_put(json);
	if (code != CTL_OK)
		return code;
	if (lines > 0)
		skip = tail_start(e.data, e.len, lines);
	else
		note_gap(p, e.offset, true);
	print_bytes(p, e.data + skip, e.len - skip);
	p->next = e.offset + e.len;
	p->started = true;
	follow_event_clear(&e);
	return report_flush();
}

/* One line of FOLLOW; *finalp when it was the last one. An exit code. */
static int
print_event(struct printer *p, struct json_object *json, bool *finalp)
{
	struct follow_event e;

	if (follow_decode(json, &e) == -1)
		return CTL_UNREACHABLE;
	*finalp = e.final;
	note_gap(p, e.offset, true);
	if (p->client->json_errors)
		reply_print(json, stdout);
	else
		print_bytes(p, e.data, e.len);
	if (e.has_data || e.final)
		p->next = e.offset + e.len;
	p->started = true;
	follow_event_clear(&e);
	return report_flush();
}

static int
follow_connection(struct printer *p, bool *finalp)
{
	struct client *c = p->client;
	struct json_object *json;
	char digits[24];
	int code;

	snprintf(digits, sizeof(digits), "%" PRIu64, p->next);
	code = client_send(c, "FOLLOW", p->id, digits,
	    c->json_errors ? NULL : "base64", NULL);
	while (code == CTL_OK && !*finalp) {
		if ((code = client_answer(c, &json)) != CTL_OK)
			break;
		code = print_event(p, json, finalp);
		json_object_put(json);
	}
	return code;
}

/*
 * Sessions outlive connections: a broken one is made anew, as long as every
 * new one brings something.
 */
static int
follow(struct printer *p)
{
	uint64_t before = p->next;
	int code, tries = 0;
	bool final = false;

	for (;;) {
		code = follow_connection(p, &final);
		if (code != CTL_UNREACHABLE || !p->started)
			break;
		if (p->next != before)
			tries = 0;
		before = p->next;
		if (++tries > RETRIES)
			break;
		conn_close(p->client->conn);
		p->client->conn = NULL;
		sleep(1);
	}
	return code;
}

static int
print_output(struct client *c, const char *id, bool to_end)
{
	struct printer p = { .client = c, .id = id };
	long long offset = 0, lines = 0;
	int code = CTL_OK;

	if (opt_given(&c->opts, OPT_OFFSET) && opt_number(&c->opts,
	    OPT_OFFSET, 0, LLONG_MAX, &offset) == -1)
		return CTL_USAGE;
	if (opt_given(&c->opts, OPT_TAIL) && opt_number(&c->opts, OPT_TAIL,
	    1, INT_MAX, &lines) == -1)
		return CTL_USAGE;
	if (lines > 0 && c->json_errors)
		return usage_error("--tail and --json cannot be combined");
	p.next = (uint64_t)offset;
	p.filtered = isatty(STDOUT_FILENO) && !opt_given(&c->opts, OPT_RAW);
	if (!to_end || lines > 0)
		code = print_held(&p, lines);
	if (code == CTL_OK && to_end)
		code = follow(&p);
	if (p.filtered)
		safe_filter_end(&p.filter, stdout);
	return code == CTL_OK ? report_flush() : code;
}

int
cmd_output(struct client *c, int argc, char **argv)
{
	(void)argc;
	return print_output(c, argv[0], opt_given(&c->opts, OPT_FOLLOW));
}

int
cmd_follow(struct client *c, int argc, char **argv)
{
	(void)argc;
	return print_output(c, argv[0], true);
}
