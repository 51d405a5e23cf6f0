/* SPDX-License-Identifier: ISC */
/* links: netproc/web/webcheck.c netproc/web/webform.c common/base/json.c common/base/text.c netproc/text/text64.c netproc/text/line.c common/base/log.c common/base/base64.c common/base/utf8.c */
/* covers: netproc/web/webcheck.c netproc/web/webform.c netproc/conn/feed.c */
/*
 * Fuzz target of the web's own parsers: Host and Origin, and the form around a
 * file.  A form must give the same output in whatever pieces it comes, and no
 * boundary may be in a file.
 *
 * An input that begins with "\xff>" is changes of sessions, and of the clients
 * that watch the sessions as a stream of events: clients come, go, and come
 * back with the last event that they had, or with anything else.  A client that
 * has read all events must know the current state, however it got there, and
 * must not be told anything again for sessions that others saw going.
 */
#include <sys/random.h>

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "regress/fuzz/fuzz.h"

#include "netproc/web/webcheck.h"
#include "netproc/web/webform.h"

#define EPOCH	0x1f2e3dU

static ssize_t
fuzz_random(void *p, size_t n)
{
	const uint64_t same = EPOCH;

	must(n == sizeof(same));
	memcpy(p, &same, n);
	return (ssize_t)n;
}

#define getrandom(p, n, flags)	fuzz_random(p, n)
#include "netproc/conn/feed.c"
#undef getrandom

static void
names(const char *text)
{
	const char *other = text + strlen(text) / 2;

	(void)host_is_ours(text, "rig,lab.example.org");
	(void)host_is_ours("rig:80", text);
	/* an origin that is accepted begins with http */
	if (origin_is_same(text, other, false) &&
	    strncasecmp(text, "http", 4) != 0)
		abort();
	if (origin_is_same(text, other, true) &&
	    !origin_is_same(text, other, false))
		abort();
}

struct found {
	char		*file;
	size_t		 size;
	unsigned int	 fields;
	uint64_t	 most;
	bool		 ok;
};

/* As webreq.c does it; bytes of the file are taken a few at a time. */
static bool
read_piece(struct form *f, const char *p, size_t n, size_t take, size_t len,
    struct found *out)
{
	struct form_bytes in = { p, n }, data;
	enum form_event e;

	while ((e = form_next(f, &in, &data)) != FORM_MORE) {
		if (e == FORM_WRONG)
			return false;
		if (e == FORM_FIELD && (strlen(f->value) > FORM_FIELD_MAX ||
		    (strcmp(f->name, "name") != 0 &&
		    strcmp(f->name, "exec") != 0)))
			abort();
		out->fields += e == FORM_FIELD;
		if (e == FORM_FILE)
			out->most = form_most(f, len);
		if (e != FORM_DATA)
			continue;
		if (data.n > take)
			data.n = take;
		memcpy(out->file + out->size, data.p, data.n);
		out->size += data.n;
		form_ate(f, &in, data.n);
	}
	return true;
}

static void
read_form(const char *type, const char *body, size_t len, size_t step,
    size_t take, struct found *out)
{
	static struct form f;
	size_t at, n;

	*out = (struct found){ .file = malloc(len + 1) };
	if (out->file == NULL)
		abort();
	if (form_begin(&f, type) != NULL)
		return;
	for (at = 0; at < len; at += n) {
		n = len - at < step ? len - at : step;
		if (!read_piece(&f, body + at, n, take, len, out))
			return;
	}
	out->ok = form_lacks(&f) == NULL;
}

static void
form(const char *text, size_t len)
{
	static const char type[] = "multipart/form-data; boundary=xyz";
	static const char mark[] = "\r\n--xyz";
	struct found a, b;
	char *p;

	read_form(type, text, len, len + 1, len + 1, &a);
	read_form(type, text, len, 3, 2, &b);
	if (a.ok != b.ok || (a.ok && (a.size != b.size ||
	    a.fields != b.fields || memcmp(a.file, b.file, a.size) != 0)))
		abort();
	/* no boundary is in a file, one follows it, and room was enough */
	p = a.ok ? memmem(text, len, a.file, a.size) : NULL;
	if (a.ok && (p == NULL || a.size > a.most ||
	    memmem(a.file, a.size, mark, sizeof(mark) - 1) != NULL))
		abort();
	free(a.file);
	free(b.file);
	/* the boundary is the client's, too */
	read_form(text, text, strlen(text), 7, 3, &a);
	free(a.file);
}

/* -- events of changes ----------------------------------------------------- */

#define OWNERS		2
#define SESSIONS	4
#define CLIENTS		4
#define STEPS		300

static struct rsession	sessions[SESSIONS];
static uint64_t		versions[SESSIONS];
static struct owner	owners[OWNERS];
static struct visible_session	*visible[OWNERS][SESSIONS];
static uint64_t		went[OWNERS];

static struct client {
	struct conn	 conn;
	char		*got;		/* that was not looked at */
	size_t		 len;
	uint64_t	 last;		/* the event's number; 0 = none */
	uint64_t	 knows[SESSIONS];	/* a version; 0 = of none */
	bool		 unsure;	/* it has come with another's number */
	bool		 slow;
	bool		 entering;
	uint64_t	 read;		/* of what went, when it had read all */
} clients[CLIENTS];

static void		(*timer_fn)(void *);
static unsigned int	watchers;

static struct client *
client_of(struct conn *c)
{
	struct client *cl = (struct client *)(void *)((char *)c -
	    offsetof(struct client, conn));

	must(cl >= clients && cl < clients + CLIENTS);
	return cl;
}

void
loop_timer_set(struct loop_timer *t, uint64_t ms, loop_timer_fn fn, void *arg)
{
	must(t == &timer && ms == GATHER_MS && arg == NULL && timer_fn == NULL);
	timer_fn = fn;
	t->slot = 1;
}

void
usage_begin(struct usage_watcher *w)
{
	must(w == &usage && watchers++ == 0);
}

void
usage_end(struct usage_watcher *w)
{
	must(w == &usage && --watchers == 0);
}

const struct text *
replica_json(const struct conn *c, const struct rsession *s)
{
	(void)c;
	return &s->json;
}

void
usage_json(struct text *t, const struct rsession *s)
{
	json_key(t, "memory");
	json_u64(t, s->usage.memory);
}

static const struct replica_watcher *watcher;

void
replica_watch(const struct replica_watcher *w)
{
	watcher = w;
}

void
owner_unref(struct owner *o)
{
	must(o->refs-- > 1);
}

void
answer_error(struct conn *c, uint32_t err, const char *message)
{
	must(c == NULL && err == ERR_OK && message == NULL);
}

void
conn_enter(struct conn *c, const struct conn_mode *mode)
{
	must(c->mode == NULL);
	c->mode = mode;
}

size_t
conn_unsent(const struct conn *c)
{
	return ((const struct client *)(const void *)((const char *)c -
	    offsetof(struct client, conn)))->slow;
}

void
conn_write(struct conn *c, const void *p, size_t n)
{
	struct client *cl = client_of(c);

	cl->got = realloc(cl->got, cl->len + n + 1);
	must(cl->got != NULL);
	memcpy(cl->got + cl->len, p, n);
	cl->len += n;
	cl->got[cl->len] = '\0';
}

static uint64_t
went_of(const struct client *cl)
{
	return went[cl->conn.owner - owners];
}

/* Updates a browser's sessions by an event. */
static void
learn(struct client *cl, const char *event, uint64_t change, const char *data)
{
	unsigned int i = SESSIONS;
	uint64_t version = 0;

	if (strcmp(event, "reset") == 0) {
		must(change == 0 && strcmp(data, "{}") == 0);
		must(cl->entering || went_of(cl) - cl->read > GONE_MAX);
		memset(cl->knows, 0, sizeof(cl->knows));
		cl->unsure = false;
		cl->last = 0;
		return;
	}
	must(change > cl->last || cl->unsure);
	cl->last = change;
	if (strcmp(event, "gone") == 0)
		must(sscanf(data, "{\"id\":\"%u\"}", &i) == 1);
	else
		must(strcmp(event, "session") == 0 &&
		    sscanf(data, "{%u:%" SCNu64 "}", &i, &version) == 2);
	/* one more there has never been, but for a moment */
	must(i < SESSIONS || version == 0);
	if (i < SESSIONS)
		cl->knows[i] = version;
}

static void
look_at_events(struct client *cl)
{
	static const char used[] = "event: usage\ndata: {\"id\":";
	char *p = cl->got, *end, event[16], data[256];
	unsigned int ep;
	uint64_t change;

	for (; p != NULL && *p != '\0'; p = end + 2) {
		end = strstr(p, "\n\n");
		must(end != NULL);
		*end = '\0';
		if (strncmp(p, used, sizeof(used) - 1) == 0)
			continue;
		must(sscanf(p, "event: %15[a-z]\nid: %x-%" SCNu64 "\ndata: "
		    "%255[^\n]", event, &ep, &change, data) == 4);
		must(ep == EPOCH);
		learn(cl, event, change, data);
	}
	free(cl->got);
	cl->got = NULL;
	cl->len = 0;
}

void
conn_run(struct conn *c)
{
	if (c->mode == NULL || client_of(c)->slow)
		return;
	while (c->mode->step(c))
		continue;
	look_at_events(client_of(c));
	client_of(c)->entering = false;
	client_of(c)->read = went_of(client_of(c));
}

static void
leave_feed(struct client *cl)
{
	if (cl->conn.mode == NULL)
		return;
	look_at_events(cl);
	cl->conn.mode->leave(&cl->conn);
	cl->conn.mode = NULL;
	*feed_state(&cl->conn) = NULL;
	cl->slow = false;
}

/* With its last event, with that of another, or with what the input says. */
static void
enter_feed(struct client *cl, uint8_t how, struct input *in)
{
	struct input part = take_part(in, how & 2 ? take_u8(in) : 0);
	struct words ws = { .n = how & 1 ? 2 : 1 };
	char id[48], *copy;

	leave_feed(cl);
	(void)snprintf(id, sizeof(id), "%x-%" PRIu64, EPOCH, how & 4 ?
	    clients[how / 8 % CLIENTS].last : cl->last);
	copy = how & 2 ? copy_of(part.p, part.left, false) :
	    copy_of(id, strlen(id), false);
	ws.w[1] = (struct word){ copy, how & 2 ? part.left : strlen(id) };
	cl->unsure |= (how & 6) != 0;
	cl->entering = true;
	cmd_feed(&cl->conn, NULL, &ws);
	free(copy);
	conn_run(&cl->conn);
}

static void
set_json(unsigned int i)
{
	char text[64];

	versions[i]++;
	(void)snprintf(text, sizeof(text), "{%u:%" PRIu64 "}", i, versions[i]);
	text_reset(&sessions[i].json, 64);
	text_puts(&sessions[i].json, text);
}

static struct visible_session *
visible_new(struct owner *o, struct rsession *s)
{
	struct visible_session *g = calloc(1, sizeof(*g));

	must(g != NULL);
	g->owner = o;
	g->session = s;
	watcher->seen(g);
	LIST_INSERT_HEAD(&s->visible, g, by_session);
	return g;
}

static void
access_end(struct visible_session *g)
{
	went[g->owner - owners]++;
	watcher->gone(g);
	LIST_REMOVE(g, by_session);
	free(g);
}

/* Others' sessions come and go, until nobody remembers which. */
static void
come_and_go(struct owner *o, unsigned int n)
{
	struct rsession other = { .id = "9" };

	for (; n > 0; n--)
		access_end(visible_new(o, &other));
}

static void
tell_all(void)
{
	void (*fn)(void *) = timer_fn;
	unsigned int i;

	timer_fn = NULL;
	timer.slot = 0;
	if (fn != NULL)
		fn(NULL);
	for (i = 0; i < CLIENTS; i++)
		conn_run(&clients[i].conn);
}

static void
check_knowledge(void)
{
	const struct client *cl;
	unsigned int i;

	for (cl = clients; cl < clients + CLIENTS; cl++)
		for (i = 0; i < SESSIONS && cl->conn.mode != NULL &&
		    !cl->slow && !cl->unsure; i++)
			must(cl->knows[i] == (visible[(cl - clients) %
			    OWNERS][i] == NULL ? 0 : versions[i]));
}

static void
happen(struct input *in)
{
	const uint8_t what = take_u8(in), which = take_u8(in);
	const unsigned int i = which % SESSIONS, o = which / 4 % OWNERS;
	struct client *cl = &clients[which % CLIENTS];

	switch (what % 8) {
	case 0:
		set_json(i);
		watcher->changed(&sessions[i]);
		break;
	case 1:
		if (visible[o][i] == NULL)
			visible[o][i] = visible_new(&owners[o], &sessions[i]);
		break;
	case 2:
		if (visible[o][i] != NULL)
			access_end(visible[o][i]);
		visible[o][i] = NULL;
		break;
	case 3:
		enter_feed(cl, which / 4, in);
		break;
	case 4:
		leave_feed(cl);
		break;
	case 5:
		tell_all();
		check_knowledge();
		break;
	case 6:
		if (which & 128)
			come_and_go(&owners[o], 300);
		else
			cl->slow = (which & 64) != 0 && cl->conn.mode != NULL;
		break;
	case 7:
		sessions[i].usage.known = (which & 64) != 0;
		sessions[i].view.state = which & 32 ? STATE_RUNNING :
		    STATE_STOPPED;
		if (watchers > 0)
			usage.fn(&sessions[i], usage.arg);
		break;
	}
}

static void
forget_all(void)
{
	unsigned int i, o;

	for (i = 0; i < CLIENTS; i++)
		leave_feed(&clients[i]);
	tell_all();
	for (i = 0; i < SESSIONS; i++) {
		for (o = 0; o < OWNERS; o++)
			if (visible[o][i] != NULL)
				access_end(visible[o][i]);
		text_free(&sessions[i].json);
	}
	must(LIST_EMPTY(&with_news) && nfeeds == 0 && watchers == 0);
	memset(visible, 0, sizeof(visible));
	memset(clients, 0, sizeof(clients));
	memset(versions, 0, sizeof(versions));
	memset(went, 0, sizeof(went));
	for (o = 0; o < OWNERS; o++)
		free(owners[o].gone);
	last = 0;
}

static void
stream(struct input in)
{
	unsigned int i;

	feed_init();
	for (i = 0; i < OWNERS; i++) {
		owners[i] = (struct owner){ .uid = 1000, .refs = 1,
		    .eyes = i == 0 ? EYES_OWN : EYES_ADMIN };
		TAILQ_INIT(&owners[i].changed);
		LIST_INIT(&owners[i].feeds);
	}
	for (i = 0; i < SESSIONS; i++) {
		sessions[i] = (struct rsession){ .json.max = 64 };
		(void)snprintf(sessions[i].id, sizeof(sessions[i].id), "%u", i);
		LIST_INIT(&sessions[i].visible);
		set_json(i);
	}
	for (i = 0; i < CLIENTS; i++)
		clients[i].conn.owner = &owners[i % OWNERS];
	for (i = 0; i < STEPS && in.left > 0; i++)
		happen(&in);
	for (i = 0; i < CLIENTS; i++)
		clients[i].slow = false;
	tell_all();
	check_knowledge();
	forget_all();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size >= 2 && memcmp(data, "\xff>", 2) == 0) {
		stream((struct input){ data + 2, size - 2 });
		return 0;
	}
	text = malloc(size + 1);

	if (text == NULL)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	names(text);
	form(text, size);
	free(text);
	return 0;
}
