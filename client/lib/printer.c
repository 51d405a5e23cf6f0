/* SPDX-License-Identifier: ISC */
/*
 * Writes a program's output to standard output: byte for byte into files and
 * pipes, made harmless on a terminal. A follower whose connection breaks
 * reconnects and continues where it was.
 */
#include <err.h>
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
/* So far back lines are looked for at a time: one answer has as much. */
#define TAIL_STEP	(128U << 10)

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

/* Asks for output from an offset on; UINT64_MAX asks for the total alone. */
static int
ask_output(struct printer *p, uint64_t offset, bool exact,
    struct json_object **jsonp, struct follow_event *e)
{
	char digits[24];
	int code;

	snprintf(digits, sizeof(digits), "%" PRIu64, offset);
	if ((code = client_ask(p->client, jsonp, "OUTPUT", p->id, digits,
	    exact ? "base64" : NULL, NULL)) != CTL_OK)
		return code;
	if (follow_decode(*jsonp, e) == 0)
		return CTL_OK;
	json_object_put(*jsonp);
	return CTL_UNREACHABLE;
}

/* The same in exact bytes, which are in the event. */
static int
ask_bytes(struct printer *p, uint64_t offset, struct follow_event *e)
{
	struct json_object *json;
	int code = ask_output(p, offset, true, &json, e);

	if (code == CTL_OK)
		json_object_put(json);
	return code;
}

int
printer_total(struct printer *p, uint64_t *totalp)
{
	struct follow_event e;
	int code = ask_bytes(p, UINT64_MAX, &e);

	if (code != CTL_OK)
		return code;
	*totalp = e.total;
	follow_event_clear(&e);
	return CTL_OK;
}

/*
 * Goes back over len bytes to the start of the line that *left counts down
 * to; false if that is further back.
 */
static bool
tail_start(const unsigned char *data, size_t len, long long *left,
    size_t *startp)
{
	size_t i;

	for (i = len; i > 0; i--)
		if (data[i - 1] == '\n' && --*left < 0) {
			*startp = i;
			return true;
		}
	return false;
}

/* Moves next to the start of the last lines of what is held up to end. */
static int
find_tail(struct printer *p, uint64_t end, long long lines)
{
	uint64_t high = end, low;
	struct follow_event e;
	size_t n, start = 0;
	bool found = false;
	int code;

	while (!found && high > p->next) {
		low = high - p->next > TAIL_STEP ? high - TAIL_STEP : p->next;
		if ((code = ask_bytes(p, low, &e)) != CTL_OK)
			return code;
		n = e.offset < high ? (size_t)(high - e.offset) : 0;
		if (n > e.len)
			n = e.len;
		/* the last line's own end does not count */
		if (high == end && (n == 0 || e.data[n - 1] != '\n'))
			lines--;
		found = tail_start(e.data, n, &lines, &start);
		high = found ? e.offset + start : e.offset;
		follow_event_clear(&e);
		/* the oldest have gone, which is said when next is asked for */
		if (!found && high > low)
			return CTL_OK;
	}
	p->next = high;
	return CTL_OK;
}

/* Output behind the end of the run that was looked at is another run's. */
static bool
is_anew(const struct printer *p, const struct follow_event *e)
{
	if (e->total >= p->next)
		return false;
	report("the program was restarted meanwhile; the rest of its earlier "
	    "output is lost");
	return true;
}

/* All from next to end, in as many answers as that takes. */
static int
print_range(struct printer *p, uint64_t end)
{
	struct follow_event e;
	int code;

	while (p->next < end) {
		if ((code = ask_bytes(p, p->next, &e)) != CTL_OK)
			return code;
		if (e.len == 0 || is_anew(p, &e)) {
			follow_event_clear(&e);
			break;
		}
		note_gap(p, e.offset, true);
		print_bytes(p, e.data, e.len);
		p->next = e.offset + e.len;
		p->started = true;
		follow_event_clear(&e);
	}
	return report_flush();
}

/* The stretches of streams of a further answer, behind those before. */
static void
join_chunks(struct json_object *all, struct json_object *more)
{
	struct json_object *to, *from, *last, *one;
	size_t i, n;

	if (!json_object_object_get_ex(all, "chunks", &to) ||
	    !json_object_object_get_ex(more, "chunks", &from))
		return;
	for (i = 0; i < json_object_array_length(from); i++) {
		one = json_object_array_get_idx(from, i);
		n = json_object_array_length(to);
		last = n == 0 ? NULL : json_object_array_get_idx(to, n - 1);
		/* one that goes on is no new one */
		if (last == NULL || !json_object_equal(
		    json_object_array_get_idx(last, 1),
		    json_object_array_get_idx(one, 1)))
			json_object_array_add(to, json_object_get(one));
	}
}

/* Puts an answer, which is taken, behind those that came before it. */
static void
join_answer(struct json_object **allp, FILE *text, struct json_object *json,
    const struct follow_event *e, bool lost)
{
	/* a line does not go on behind lost bytes */
	if (lost) {
		json_object_put(*allp);
		*allp = NULL;
		rewind(text);
	}
	fwrite(e->data, 1, e->len, text);
	if (*allp == NULL) {
		*allp = json;
		return;
	}
	join_chunks(*allp, json);
	json_object_put(json);
}

/* Asks for all from next to end; the text is written, the rest is in *allp. */
static int
ask_range(struct printer *p, uint64_t end, FILE *text,
    struct json_object **allp)
{
	struct json_object *json;
	struct follow_event e;
	uint64_t before;
	int64_t next;
	bool more;
	int code;

	do {
		if ((code = ask_output(p, p->next, false, &json, &e)) !=
		    CTL_OK)
			return code;
		if (*allp != NULL && is_anew(p, &e)) {
			follow_event_clear(&e);
			json_object_put(json);
			return CTL_OK;
		}
		more = reply_int(json, "next", &next);
		before = p->next;
		p->next = more ? (uint64_t)next : e.total;
		join_answer(allp, text, json, &e, *allp != NULL &&
		    e.offset > before);
		follow_event_clear(&e);
	} while (more && p->next < end && p->next > before);
	return CTL_OK;
}

/* The daemon's answers as one, with how many bytes before it are not in it. */
static int
print_range_json(struct printer *p, uint64_t end, uint64_t passed)
{
	struct json_object *all = NULL;
	uint64_t from = p->next;
	char *bytes = NULL;
	size_t len = 0;
	FILE *text = open_memstream(&bytes, &len);
	int64_t offset;
	int code;

	if (text == NULL)
		err(CTL_USAGE, NULL);
	code = ask_range(p, end, text, &all);
	if (fclose(text) != 0)
		err(CTL_USAGE, NULL);
	if (code == CTL_OK) {
		json_object_object_add(all, "output",
		    json_object_new_string_len(bytes, (int)len));
		json_object_object_del(all, "next");
		args_number(all, "total", (long long)p->next);
		if (reply_int(all, "offset", &offset) &&
		    (uint64_t)offset > from)
			args_number(all, "output_lost",
			    offset - (int64_t)from);
		if (passed > 0)
			args_number(all, "output_left_out",
			    (long long)passed);
		print_json(p, all);
		code = report_flush();
	}
	json_object_put(all);
	free(bytes);
	return code;
}

/* Moves next so that no more than most bytes are shown; how many are not. */
static uint64_t
pass_over(struct printer *p, uint64_t total)
{
	uint64_t passed;

	if (p->most == 0 || total < p->next || total - p->next <= p->most)
		return 0;
	passed = total - p->next - p->most;
	p->next += passed;
	return passed;
}

int
printer_held(struct printer *p, long long lines)
{
	uint64_t end, passed;
	int code;

	if ((code = printer_total(p, &end)) != CTL_OK)
		return code;
	if (lines > 0 && (code = find_tail(p, end, lines)) != CTL_OK)
		return code;
	passed = pass_over(p, end);
	if (p->client->json_errors)
		return print_range_json(p, end, passed);
	if (passed > 0)
		report("%" PRIu64 " bytes are passed over: only the latest "
		    "are shown; --all shows what is kept", passed);
	return print_range(p, end);
}

/* Prints a line of FOLLOW; sets *finalp if it is the last. An exit code. */
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
		p->next = e.next;
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
		dconn_close(p->client->conn);
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
