/* SPDX-License-Identifier: ISC */
/* Audit events, and the AUDIT command that shows them to administrators. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <uuid/uuid.h>

#include "answer.h"
#include "audit.h"
#include "base/log.h"
#include "base/utc.h"
#include "spawner/link/peers.h"
#include "spawner/session/session.h"
#include "wire/handlers.h"
#include "wire/role.h"

#define EVENTS		1000
#define RESULT_TEXT	256
/* Events of one AUDIT_LINES: each is below 700 bytes. */
#define PART_EVENTS	128
/* AUDITs that wait for an event. */
#define WAITING_MAX	32
#define WAIT_MAX_S	60

struct event {
	char		 when[UTC_TEXT];
	char		 user[USER_NAME_MAX];
	char		 door[12];	/* room for one that is escaped */
	char		 address[ADDRESS_TEXT];
	char		 session[SID_TEXT];
	char		 action[40];
	char		 result[RESULT_TEXT];
};

struct waiting {
	struct asker	 asker;		/* owner NULL = free */
	struct loop_timer timer;
};

static const struct sid	 no_session;
static struct event	 events[EVENTS];
static uint64_t		 made;		/* ever; numbers begin at 0 */
static struct waiting	 waiting[WAITING_MAX];

/* Escapes control characters as the log does; a quote would end the value. */
static void
copy(char *dst, size_t size, const char *src)
{
	char *p;

	log_escape(dst, size, src == NULL ? "" : src,
	    src == NULL ? 0 : strlen(src));
	for (p = dst; *p != '\0'; p++)
		if (*p == '"')
			*p = '\'';
}

static void
log_line(const struct event *e)
{
	log_audit("user=\"%s\" door=%s address=\"%s\" session=%s "
	    "action=\"%s\" result=\"%s\"", e->user, e->door, e->address,
	    e->session[0] == '\0' ? "-" : e->session, e->action, e->result);
	peers_limit();
}

static void
send_events(struct asker *a, uint64_t from)
{
	struct msg_out *o = answer_new(a, MSG_AUDIT_LINES, NULL);
	uint64_t oldest = made > EVENTS ? made - EVENTS : 0, n;
	const struct event *e;

	from = from < oldest ? oldest : from > made ? made : from;
	n = made - from < PART_EVENTS ? made - from : PART_EVENTS;
	msg_put_u64(o, from);
	msg_put_u32(o, (uint32_t)n);
	for (; n > 0; n--, from++) {
		e = &events[from % EVENTS];
		msg_put_str(o, e->when);
		msg_put_str(o, e->user);
		msg_put_str(o, e->door);
		msg_put_str(o, e->address);
		msg_put_str(o, e->session);
		msg_put_str(o, e->action);
		msg_put_str(o, e->result);
	}
	(void)answer_with(a, o, -1);
	a->owner = NULL;
}

static void
wake(uint64_t from)
{
	size_t i;

	for (i = 0; i < WAITING_MAX; i++)
		if (waiting[i].asker.owner != NULL) {
			loop_timer_unset(&waiting[i].timer);
			send_events(&waiting[i].asker, from);
		}
}

void
audit_write(const struct audit *a)
{
	struct event *e = &events[made % EVENTS];

	memset(e, 0, sizeof(*e));
	(void)utc_text(time(NULL), e->when);
	copy(e->user, sizeof(e->user), a->user);
	copy(e->door, sizeof(e->door), a->door == NULL ? "-" : a->door);
	copy(e->address, sizeof(e->address), a->address);
	copy(e->action, sizeof(e->action), a->action);
	copy(e->result, sizeof(e->result), a->result);
	if (a->session != NULL &&
	    memcmp(a->session, &no_session, sizeof(no_session)) != 0)
		uuid_unparse_lower(a->session->b, e->session);
	log_line(e);
	wake(made++);
}

void
audit_login(const struct client *c)
{
	const struct viewer *v = c->viewer;
	char how[USER_NAME_MAX + 32] = "ok";

	if (v->only != NULL)
		(void)snprintf(how, sizeof(how), "ok (guest of %s%s)",
		    c->maker->owner->name, v->most < ACCESS_USE ?
		    ", read-only" : "");
	else if (c->flags & PRINCIPAL_BY_TOKEN)
		(void)snprintf(how, sizeof(how), "ok (token %s%s)", c->token,
		    c->flags & PRINCIPAL_READ_ONLY ? ", read-only" : "");
	else if (c->flags & PRINCIPAL_BY_KEY)
		(void)strcpy(how, "ok (one-time key)");
	else if (c->flags & PRINCIPAL_BY_RULE)
		(void)strcpy(how, "ok (auth none)");
	else if (c->flags & PRINCIPAL_ADMIN)
		(void)strcpy(how, "ok (admin)");
	audit_write(&(struct audit){
	    .user = v->owner->name, .door = door_text(c->door),
	    .address = c->address, .action = "login", .result = how,
	    .session = v->only == NULL ? NULL : &v->only->id });
}

void
audit_refused(enum door door, const char *address, const char *why)
{
	char result[RESULT_TEXT];

	(void)snprintf(result, sizeof(result), "refused (%s)", why);
	audit_write(&(struct audit){ .door = door_text(door),
	    .address = address, .action = "login", .result = result });
}

void
audit_drop_waiting(uint32_t conn)
{
	size_t i;

	for (i = 0; i < WAITING_MAX; i++) {
		if (conn != 0 && waiting[i].asker.conn != conn)
			continue;
		loop_timer_unset(&waiting[i].timer);
		waiting[i].asker.owner = NULL;
	}
}

static void
on_wait_over(void *arg)
{
	struct waiting *w = arg;

	send_events(&w->asker, made);
}

static void
wait_for(struct asker *a, uint64_t seconds)
{
	struct waiting *w = waiting;

	while (w < waiting + WAITING_MAX && w->asker.owner != NULL)
		w++;
	if (w == waiting + WAITING_MAX) {
		answer(a, NULL, ERR_TRY_AGAIN, "%d administrators follow the "
		    "audit log already", WAITING_MAX);
		return;
	}
	w->asker = *a;
	loop_timer_set(&w->timer, seconds * 1000, on_wait_over, w);
}

int
spawn_on_audit(struct msg *m)
{
	uint64_t from = msg_get_u64(m);
	uint32_t seconds = msg_get_u32(m);
	struct asker a;

	if (msg_end(m) == -1 || seconds > WAIT_MAX_S ||
	    !asker_init(&a, m, NULL))
		return -1;
	if (!asker_is_admin(&a))
		answer(&a, NULL, ERR_NOT_PERMITTED, "the audit log is for "
		    "administrators (admin user NAME in the configuration)");
	else if (from >= made && seconds > 0)
		wait_for(&a, seconds);
	else
		send_events(&a, from);
	return 0;
}
