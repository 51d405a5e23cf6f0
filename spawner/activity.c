/* SPDX-License-Identifier: ISC */
/* The last events, each visible to the user that it is about. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <uuid/uuid.h>

#include "activity.h"
#include "handlers.h"
#include "log.h"
#include "peers.h"

#define EVENTS		500
#define EVENT_TEXT	400
#define TIME_TEXT	32
/* Payload of one ACTIVITY_LINES; the longest event fits many times over. */
#define PART_MAX	(MSG_PAYLOAD_MAX - 1024)

static const struct sid no_session;

struct event {
	uint32_t	 uid;
	time_t		 when;
	char		 text[EVENT_TEXT];
};

static struct event	 events[EVENTS];
static size_t		 made;		/* ever; the newest EVENTS are kept */

static void
record(const struct owner *owner, const char *text)
{
	struct event *e = &events[made++ % EVENTS];
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	e->uid = owner->uid;
	e->when = ts.tv_sec;
	/* what a program or an archive said may be in it */
	log_escape(e->text, sizeof(e->text), text, strlen(text));
	log_audit("%s", e->text);
	peers_pace();
}

static void
id_text(const struct sid *id, char text[SID_TEXT + 1])
{
	text[0] = '\0';
	if (id == NULL || memcmp(id, &no_session, sizeof(*id)) == 0)
		return;
	text[0] = ' ';
	uuid_unparse_lower(id->b, text + 1);
}

void
activity_answer(const struct asker *a, const struct sid *id, enum err code,
    const char *message)
{
	char text[EVENT_TEXT], session[SID_TEXT + 1];

	if (a->command == NULL)
		return;
	id_text(id, session);
	if (code == ERR_OK)
		(void)snprintf(text, sizeof(text), "%s %s%s: ok",
		    a->owner->name, a->command, session);
	else
		(void)snprintf(text, sizeof(text), "%s %s%s: %s (%s)",
		    a->owner->name, a->command, session, err_code(code),
		    message[0] == '\0' ? err_text(code) : message);
	record(a->owner, text);
}

void
activity_note(const struct owner *owner, const struct sid *id,
    const char *what, ...)
{
	char text[EVENT_TEXT], detail[EVENT_TEXT / 2], session[SID_TEXT + 1];
	va_list ap;

	va_start(ap, what);
	(void)vsnprintf(detail, sizeof(detail), what, ap);
	va_end(ap);
	id_text(id, session);
	(void)snprintf(text, sizeof(text), "%s session%s: %s", owner->name,
	    session, detail);
	record(owner, text);
}

static void
time_text(time_t when, char text[TIME_TEXT])
{
	struct tm tm;

	memset(&tm, 0, sizeof(tm));
	/* strftime() would look for the time zone's file */
	(void)gmtime_r(&when, &tm);
	(void)snprintf(text, TIME_TEXT, "%04u-%02u-%02uT%02u:%02u:%02uZ",
	    (unsigned int)(tm.tm_year + 1900) % 10000,
	    (unsigned int)(tm.tm_mon + 1) % 100, (unsigned int)tm.tm_mday % 100,
	    (unsigned int)tm.tm_hour % 100, (unsigned int)tm.tm_min % 100,
	    (unsigned int)tm.tm_sec % 100);
}

static size_t
wire_len(const struct event *e)
{
	return 2 * sizeof(uint32_t) + TIME_TEXT + strlen(e->text);
}

/* How many of uid's events from number i on fit one message; *end after. */
static uint32_t
count_part(uint32_t uid, size_t i, size_t *end)
{
	size_t len = 0;
	uint32_t n = 0;

	for (; i < made; i++) {
		if (events[i % EVENTS].uid != uid)
			continue;
		len += wire_len(&events[i % EVENTS]);
		if (len > PART_MAX)
			break;
		n++;
	}
	*end = i;
	return n;
}

static void
send_part(struct asker *a, uint32_t n, size_t from, size_t end)
{
	struct msg_out *o = answer_new(a, MSG_ACTIVITY_LINES, NULL);
	const struct event *e;
	char when[TIME_TEXT];

	msg_put_u32(o, n);
	for (; from < end; from++) {
		e = &events[from % EVENTS];
		if (e->uid != a->owner->uid)
			continue;
		time_text(e->when, when);
		msg_put_str(o, when);
		msg_put_str(o, e->text);
	}
	msg_put_u32(o, end < made);
	(void)answer_with(a, o, -1);
}

int
spawn_on_activity(struct msg *m)
{
	struct asker a;
	size_t from, end;
	uint32_t n;

	if (!asker_init(&a, m, NULL))
		return -1;
	from = made > EVENTS ? made - EVENTS : 0;
	do {
		n = count_part(a.owner->uid, from, &end);
		send_part(&a, n, from, end);
		from = end;
	} while (end < made);
	return msg_end(m);
}
