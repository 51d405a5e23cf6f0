/* SPDX-License-Identifier: ISC */
/* Each user's last events: what others do pushes none of them out. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uuid/uuid.h>

#include "activity.h"
#include "audit.h"
#include "base/log.h"
#include "base/utc.h"
#include "wire/handlers.h"

#define EVENTS		500
#define EVENT_TEXT	400
/* Payload of one ACTIVITY_LINES; the longest event fits many times over. */
#define PART_MAX	(MSG_PAYLOAD_MAX - 1024)
/* Bytes of all users' lists: over a hundred can be full of usual lines. */
#define TOTAL_MAX	((size_t)8 * 1024 * 1024)

static const struct sid no_session;

struct event {
	STAILQ_ENTRY(event) next;
	time_t		 when;
	char		 text[];
};

static size_t		 total;

static size_t
event_size(const struct event *e)
{
	return sizeof(*e) + strlen(e->text) + 1;
}

static void
drop_oldest(struct events *list)
{
	struct event *e = STAILQ_FIRST(&list->head);

	STAILQ_REMOVE_HEAD(&list->head, next);
	list->n--;
	list->bytes -= event_size(e);
	total -= event_size(e);
	free(e);
}

/*
 * When all lists together are too long, cuts the longest: no user loses an
 * event while another user has more.
 */
static void
make_room(struct owner *owner, size_t size)
{
	struct events *most = &owner->events;
	struct owner *o;

	if (most->n == EVENTS)
		drop_oldest(most);
	while (total + size > TOTAL_MAX) {
		OWNER_FOREACH(o)
			if (o->events.bytes > most->bytes)
				most = &o->events;
		drop_oldest(most);
	}
}

/* Without memory for it the audit log has it still. */
static void
keep(struct owner *owner, const char *text)
{
	struct events *list = &owner->events;
	size_t len = strlen(text) + 1;
	struct event *e = malloc(sizeof(*e) + len);
	struct timespec ts;

	if (e == NULL)
		return;
	make_room(owner, sizeof(*e) + len);
	(void)clock_gettime(CLOCK_REALTIME, &ts);
	e->when = ts.tv_sec;
	memcpy(e->text, text, len);
	STAILQ_INSERT_TAIL(&list->head, e, next);
	list->n++;
	list->bytes += event_size(e);
	total += event_size(e);
}

static void
record(struct owner *owner, const char *text)
{
	char line[EVENT_TEXT];

	/* what a program or an archive said may be in it */
	log_escape(line, sizeof(line), text, strlen(text));
	keep(owner, line);
}

static void
activity_id_text(const struct sid *id, char text[SID_TEXT + 1])
{
	text[0] = '\0';
	if (id == NULL || memcmp(id, &no_session, sizeof(*id)) == 0)
		return;
	text[0] = ' ';
	uuid_unparse_lower(id->b, text + 1);
}

/* Adds the event to the lists of the acting user and the session's owner. */
static void
record_for(const struct asker *a, const struct sid *id, const char *text)
{
	const struct session *s = id == NULL ? NULL : session_find(id);
	bool others = s != NULL && s->owner != a->owner;
	bool guest = a->viewer->only != NULL;

	/* who is an administrator here may come by another way as none */
	if (!guest && (!others || !a->viewer->admin))
		record(a->owner, text);
	if (others && access_of(a->viewer, s) != ACCESS_NONE)
		record(s->owner, text);
}

void
activity_answer(const struct asker *a, const struct sid *id, enum err code,
    const char *message)
{
	char text[EVENT_TEXT], result[EVENT_TEXT / 2] = "ok";
	char session[SID_TEXT + 1];

	if (a->command == NULL)
		return;
	activity_id_text(id, session);
	if (code != ERR_OK)
		(void)snprintf(result, sizeof(result), "%s (%s)",
		    err_code(code), message[0] == '\0' ? err_text(code) :
		    message);
	else if (message[0] != '\0')
		(void)snprintf(result, sizeof(result), "ok (%s)", message);
	(void)snprintf(text, sizeof(text), "%s %s%s: %s", a->owner->name,
	    a->command, session, result);
	record_for(a, id, text);
	audit_write(&(struct audit){ .user = a->owner->name,
	    .door = door_text(a->door), .address = a->address,
	    .session = id, .action = a->command, .result = result });
}

void
activity_note(struct owner *owner, const struct sid *id,
    const char *what, ...)
{
	char text[EVENT_TEXT], detail[EVENT_TEXT / 2], session[SID_TEXT + 1];
	va_list ap;

	va_start(ap, what);
	(void)vsnprintf(detail, sizeof(detail), what, ap);
	va_end(ap);
	activity_id_text(id, session);
	(void)snprintf(text, sizeof(text), "%s session%s: %s", owner->name,
	    session, detail);
	record(owner, text);
	audit_write(&(struct audit){ .user = owner->name, .session = id,
	    .action = "session", .result = detail });
}

static size_t
wire_len(const struct event *e)
{
	return 2 * sizeof(uint32_t) + UTC_TEXT + strlen(e->text);
}

/* How many events from e on fit one message; *end is the first that did not. */
static uint32_t
count_part(struct event *e, struct event **end)
{
	size_t len = 0;
	uint32_t n = 0;

	for (; e != NULL; e = STAILQ_NEXT(e, next), n++) {
		len += wire_len(e);
		if (len > PART_MAX)
			break;
	}
	*end = e;
	return n;
}

/* -1 when netproc has gone, and with it perhaps what e points to. */
static int
send_part(struct asker *a, uint32_t n, const struct event *e,
    const struct event *end)
{
	struct msg_out *o = answer_new(a, MSG_ACTIVITY_LINES, NULL);
	char when[UTC_TEXT];

	msg_put_u32(o, n);
	for (; e != end; e = STAILQ_NEXT(e, next)) {
		utc_text(e->when, when);
		msg_put_str(o, when);
		msg_put_str(o, e->text);
	}
	msg_put_u32(o, end != NULL);
	return answer_with(a, o, -1);
}

int
spawn_on_activity(struct msg *m)
{
	struct event *from, *end;
	struct asker a;
	uint32_t n;

	if (!asker_init(&a, m, NULL))
		return -1;
	from = STAILQ_FIRST(&a.owner->events.head);
	for (;;) {
		n = count_part(from, &end);
		if (send_part(&a, n, from, end) == -1 || end == NULL)
			break;
		from = end;
	}
	return msg_end(m);
}
