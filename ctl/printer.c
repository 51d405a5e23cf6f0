/* SPDX-License-Identifier: ISC */
/* What a program wrote, on standard output: byte for byte into files and
 * pipes, made harmless on a terminal. A follower whose connection breaks
 * comes back and goes on where it was. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "client.h"
#include "follow.h"
#include "printer.h"
#include "reply.h"
#include "report.h"

#define RETRIES		5

static void
print_bytes(struct printer *p, const unsigned char *data, size_t len)
{
	if (p->filtered)
		safe_filter_put(&p->filter, data, len, stdout);
	else if (len > 0)
		fwrite(data, 1, len, stdout);
}

/* debugger's answers have a version, the daemon's own lines have none. */
static void
print_json(const struct printer *p, struct json_object *json)
{
	if (p->schema > 0 && json_object_is_type(json, json_type_object))
		args_number(json, "schema", p->schema);
	reply_print(json, stdout);
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

/*
 * As JSON the daemon's own answer is printed, which knows no lines: where the
 * last of them begin is found in an answer of bytes first.
 */
static int
find_tail(struct printer *p, long long lines)
{
	struct json_object *json;
	struct follow_event e;
	int code;

	if ((code = client_ask(p->client, &json, "OUTPUT", p->id, "0",
	    "base64", NULL)) != CTL_OK)
		return code;
	code = follow_decode(json, &e) == -1 ? CTL_UNREACHABLE : CTL_OK;
	json_object_put(json);
	if (code != CTL_OK)
		return code;
	p->next = e.offset + tail_start(e.data, e.len, lines);
	follow_event_clear(&e);
	return CTL_OK;
}

int
printer_held(struct printer *p, long long lines)
{
	struct json_object *json;
	struct follow_event e;
	size_t skip = 0;
	int64_t total;
	int code;

	if (lines > 0 && p->client->json_errors &&
	    (code = find_tail(p, lines)) != CTL_OK)
		return code;
	if ((code = ask_output(p, p->next, &json)) != CTL_OK)
		return code;
	if (p->client->json_errors) {
		if (reply_int(json, "total", &total) && total > 0)
			p->next = (uint64_t)total;
		print_json(p, json);
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
	if (p->most > 0 && e.len - skip > p->most) {
		report("%zu bytes are passed over: only the latest are shown",
		    e.len - skip - p->most);
		skip = e.len - p->most;
	}
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
		print_json(p, json);
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
	const char *hold = p->holds ? "hold" : NULL;
	char digits[24];
	int code;

	snprintf(digits, sizeof(digits), "%" PRIu64, p->next);
	code = client_send(c, "FOLLOW", p->id, digits,
	    c->json_errors ? hold : "base64",
	    c->json_errors ? NULL : hold, NULL);
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
int
printer_follow(struct printer *p)
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

void
printer_end(struct printer *p)
{
	if (p->filtered)
		safe_filter_end(&p->filter, stdout);
}
