/* SPDX-License-Identifier: ISC */
/*
 * From a GET to a WebSocket.  A browser sends such a request for any page
 * that asks it to, so a cookie alone is not enough: the page must be ours.
 */
#include <fcntl.h>
#include <nettle/sha1.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/base64.h"
#include "http.h"
#include "netproc/cmd/auth.h"
#include "netproc/cmd/commands.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/replica.h"
#include "netproc/conn/termask.h"
#include "netproc/term/attach.h"
#include "webanswer.h"
#include "webup.h"

#define KEY_CHARS	24
#define BINARY		"lantern.bin.v1"
#define TOKEN		"lantern.token."
#define SIZE_MOST	65535

struct webup {
	struct ws_ask	 ask;
	const char	*why;		/* what is wrong with the query */
};

/* -- the handshake -------------------------------------------------------- */

bool
ws_accept(const char *key, char out[WS_ACCEPT_TEXT])
{
	static const uint8_t guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
	uint8_t raw[BASE64_ROOM(KEY_CHARS)], hash[SHA1_DIGEST_SIZE];
	struct sha1_ctx sha;
	size_t n;

	if (strlen(key) != KEY_CHARS ||
	    !base64_get(key, KEY_CHARS, raw, &n) || n != 16)
		return false;
	sha1_init(&sha);
	sha1_update(&sha, KEY_CHARS, (const uint8_t *)key);
	sha1_update(&sha, sizeof(guid) - 1, guid);
	sha1_digest(&sha, sizeof(hash), hash);
	base64_put(out, hash, sizeof(hash));
	out[WS_ACCEPT_TEXT - 1] = '\0';
	return true;
}

/* The next of a list with commas, without the blanks around it; 0 = the end. */
static size_t
next_item(const char **p)
{
	const char *end;

	*p += strspn(*p, ", \t");
	end = *p + strcspn(*p, ",");
	while (end > *p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (size_t)(end - *p);
}

bool
ws_is_offered(const char *offered, const char *name)
{
	size_t n, len = strlen(name);

	for (; (n = next_item(&offered)) > 0; offered += n)
		if (n == len && strncasecmp(offered, name, n) == 0)
			return true;
	return false;
}

bool
ws_offered_token(const char *offered, char *out, size_t size)
{
	size_t n, skip = sizeof(TOKEN) - 1;

	for (; (n = next_item(&offered)) > 0; offered += n)
		if (n > skip && n - skip < size &&
		    memcmp(offered, TOKEN, skip) == 0) {
			memcpy(out, offered + skip, n - skip);
			out[n - skip] = '\0';
			return true;
		}
	return false;
}

static const char *
header(struct web_req *r, const char *name)
{
	const char *v = MHD_lookup_connection_value(r->mhd, MHD_HEADER_KIND,
	    name);

	return v == NULL ? "" : v;
}

bool
webup_asked(struct web_req *r)
{
	return ws_is_offered(header(r, MHD_HTTP_HEADER_UPGRADE),
	    "websocket") && ws_is_offered(header(r,
	    MHD_HTTP_HEADER_CONNECTION), "upgrade");
}

const char *
webup_check(struct web_req *r)
{
	char accept[WS_ACCEPT_TEXT];

	if (r->head)
		return "a WebSocket begins with GET";
	if (!webup_asked(r))
		return "this address is for WebSockets: Upgrade: websocket";
	if (strcmp(header(r, "Sec-WebSocket-Version"), "13") != 0)
		return "the version of WebSockets spoken here is 13";
	if (!ws_accept(header(r, "Sec-WebSocket-Key"), accept))
		return "Sec-WebSocket-Key is 16 bytes in base64";
	return NULL;
}

char *
webup_token(struct web_req *r)
{
	const char *v = MHD_lookup_connection_value(r->mhd,
	    MHD_GET_ARGUMENT_KIND, "token");
	char text[AUTH_MAX + 1], *copy;

	if (v != NULL && v[0] != '\0')
		return strdup(strlen(v) > AUTH_MAX ? "" : v);
	if (!ws_offered_token(header(r, "Sec-WebSocket-Protocol"), text,
	    sizeof(text)))
		return NULL;
	copy = strdup(text);
	explicit_bzero(text, sizeof(text));
	return copy;
}

/* -- what is asked for ---------------------------------------------------- */

static const char *
take_size(const struct word *w, uint32_t *size)
{
	uint64_t n;

	if (number_parse(w, SIZE_MOST, &n) != NULL)
		return "cols and rows are numbers up to 65535";
	*size = (uint32_t)n;
	return NULL;
}

static const char *
take_role(const struct word *w, struct term_ask *t)
{
	t->read_only = word_is(w, "ro");
	return t->read_only || word_is(w, "rw") ? NULL : "role is rw or ro";
}

static enum MHD_Result
add_query(void *arg, enum MHD_ValueKind kind, const char *key,
    const char *value)
{
	struct webup *u = arg;
	struct term_ask *t = &u->ask.term;
	struct word w = { value, value == NULL ? 0 : strlen(value) };
	const char *why = NULL;

	(void)kind;
	if (strcmp(key, "cols") == 0)
		why = take_size(&w, &t->cols);
	else if (strcmp(key, "rows") == 0)
		why = take_size(&w, &t->rows);
	else if (strcmp(key, "role") == 0)
		why = take_role(&w, t);
	else if (strcmp(key, "from") == 0) {
		t->resume = true;
		if (number_parse(&w, UINT64_MAX, &t->from) != NULL)
			why = "from is an offset in the output";
	} else if (strcmp(key, "token") != 0)
		why = "the query has token, cols, rows, role and from";
	if (u->why == NULL)
		u->why = why;
	return MHD_YES;
}

static void
ask_of(struct web_req *r, struct webup *u)
{
	memset(u, 0, sizeof(*u));
	(void)MHD_get_connection_values(r->mhd, MHD_GET_ARGUMENT_KIND,
	    add_query, u);
	u->ask.term.form = ws_is_offered(header(r, "Sec-WebSocket-Protocol"),
	    BINARY) ? TERM_WS_BINARY : TERM_WS_JSON;
	if (r->parts[0].len >= sizeof(u->ask.session))
		u->why = "no session has so long a name";
	else
		memcpy(u->ask.session, r->parts[0].value, r->parts[0].len);
}

static void
try_session(struct conn *c, struct rsession *s, const struct words *ws)
{
	const char *why;
	uint32_t err = attach_refuses(c, s, &why);

	(void)ws;
	if (err != ERR_OK)
		answer_error(c, err, why);
	else
		c->port->answer(c, ERR_OK);
}

void
webup_run(struct conn *c, struct web_req *r)
{
	static const char verb[] = "ATTACH";
	struct words ws = { .n = 2 };
	struct webup u;

	ask_of(r, &u);
	if (u.why != NULL) {
		answer_error(c, ERR_INVALID_ARGUMENT, u.why);
		return;
	}
	/* the client's first message has to authenticate it */
	if (c->unauthenticated) {
		c->port->answer(c, ERR_OK);
		return;
	}
	ws.w[0] = (struct word){ verb, sizeof(verb) - 1 };
	ws.w[1] = (struct word){ u.ask.session, strlen(u.ask.session) };
	ws.end = ws.w[1].p + ws.w[1].len;
	command_row(c, command_find(verb), try_session, &ws);
}

/* -- the socket changes hands --------------------------------------------- */

/* The library shuts the socket down when it lets go of it: not before. */
static void
on_done(void *arg)
{
	(void)MHD_upgrade_action(arg, MHD_UPGRADE_ACTION_CLOSE);
	http_soon();
}

static void
on_upgrade(void *cls, struct MHD_Connection *mhd, void *ctx,
    const char *extra, size_t n, MHD_socket sock,
    struct MHD_UpgradeResponseHandle *urh)
{
	struct web_req *r = cls;
	struct conn *c = r->web->conn;
	int fd = fcntl(sock, F_DUPFD_CLOEXEC, 0);
	int flags = fd == -1 ? -1 : fcntl(fd, F_GETFL);
	struct webup u;

	(void)mhd;
	(void)ctx;
	if (c != NULL && flags != -1 &&
	    fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0) {
		ask_of(r, &u);
		r->web->conn = NULL;
		web_give_away(r->web);
		c->port = NULL;
		c->port_arg = NULL;
		u.ask.done = on_done;
		u.ask.arg = urh;
		ws_begin(c, fd, extra, n, &u.ask);
		return;
	}
	if (fd != -1)
		close(fd);
	on_done(urh);
}

enum MHD_Result
webup_respond(struct web_req *r)
{
	struct MHD_Response *resp = MHD_create_response_for_upgrade(
	    on_upgrade, r);
	char accept[WS_ACCEPT_TEXT];
	const char *why = webup_check(r);

	if (why != NULL) {
		if (resp != NULL)
			MHD_destroy_response(resp);
		/* it is attached already; the answer says that it closes */
		web_conn_end(r->web);
		return web_req_refuse(r, MHD_HTTP_BAD_REQUEST,
		    ERR_INVALID_ARGUMENT, why);
	}
	if (resp == NULL || !ws_accept(header(r, "Sec-WebSocket-Key"),
	    accept))
		return MHD_NO;
	(void)MHD_add_response_header(resp, MHD_HTTP_HEADER_UPGRADE,
	    "websocket");
	(void)MHD_add_response_header(resp, "Sec-WebSocket-Accept", accept);
	/* a token that was offered beside it is not said back */
	if (ws_is_offered(header(r, "Sec-WebSocket-Protocol"), BINARY))
		(void)MHD_add_response_header(resp, "Sec-WebSocket-Protocol",
		    BINARY);
	return web_req_queue_plain(r, MHD_HTTP_SWITCHING_PROTOCOLS, resp);
}
