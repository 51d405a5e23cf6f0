/* SPDX-License-Identifier: ISC */
/* Commands that only the web has: logging in and out. */
#include <json-c/json.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netproc/cmd/auth.h"
#include "netproc/cmd/keys.h"
#include "netproc/cmd/metrics.h"
#include "netproc/cmd/params.h"
#include "netproc/cmd/request.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/feed.h"
#include "netproc/conn/output.h"
#include "netproc/conn/replica.h"
#include "netproc/mcp/mcp.h"
#include "webcmd.h"
#include "weboutput.h"
#include "webreq.h"
#include "wire/proto.h"

#define END	{ NULL, PARAM_WORD, PARAM_MAY, NULL }

static void	logout_run(struct conn *, struct rsession *,
		    const struct words *);

static const struct param params_login_web[] = {
	{ "token", PARAM_SECRET, PARAM_MUST, " " },
	{ "key", PARAM_SECRET, PARAM_OR, " " }, END
};
static const struct param params_output_web[] = {
	{ "session", PARAM_WORD, PARAM_MUST, " " },
	{ "offset", PARAM_NUMBER, PARAM_MAY, " offset=" },
	{ "tail", PARAM_NUMBER, PARAM_MAY, " tail=" },
	{ "format", PARAM_WORD, PARAM_MAY, " format=" }, END
};

static const struct param params_feed[] = {
	{ "last_event", PARAM_WORD, PARAM_MAY, " " }, END
};

const struct command web_commands[] = {
	{ "WEBLOGIN", 0, 1, false, true, ACCESS_SEE, false, params_login_web,
	    "", "", login_run },
	{ "WEBLOGOUT", 0, 0, false, true, ACCESS_SEE, false, params_none,
	    "", "", logout_run },
	{ "WEBOUTPUT", 1, 4, true, true, ACCESS_SEE, false, params_output_web,
	    "", "", cmd_output_raw },
	/* who asks for a page keeps no program waiting: there is no hold */
	{ "WEBSTREAM", 1, 3, true, true, ACCESS_SEE, false, params_range,
	    "", "", cmd_follow },
	{ "WEBCAST", 1, 1, true, true, ACCESS_SEE, false, params_session,
	    "", "", cmd_output_cast },
	{ "WEBMETRICS", 0, 0, false, true, ACCESS_SEE, false, params_none,
	    "", "", cmd_metrics },
	/* its words are put together by webargs.c: the body, three headers */
	{ "WEBMCP", 4, 4, false, true, ACCESS_SEE, false, params_none,
	    "", "", cmd_mcp_web },
	{ "WEBEVENTS", 0, 1, false, true, ACCESS_SEE, false, params_feed,
	    "", "", cmd_feed },
};
const size_t nweb_commands = sizeof(web_commands) / sizeof(web_commands[0]);

void
csrf_text(const char *cookie, char out[CSRF_TEXT])
{
	static const uint8_t purpose[] = "a form of this page and no other";
	uint8_t hash[(CSRF_TEXT - 1) / 2];

	(void)crypto_generichash(hash, sizeof(hash), (const uint8_t *)cookie,
	    strlen(cookie), purpose, sizeof(purpose) - 1);
	(void)sodium_bin2hex(out, CSRF_TEXT, hash, sizeof(hash));
}

const char *
login_take(struct web_req *r)
{
	static char why[320];
	struct request q;
	struct json_object *body = request_object(r->body.p == NULL ? "" :
	    r->body.p, r->body.len, &q);

	if (body != NULL)
		request_from(&q, &web_commands[0], body);
	if (q.err == ERR_OK && q.words.n == 2)
		r->token = strndup(q.words.w[1].p, q.words.w[1].len);
	(void)snprintf(why, sizeof(why), "%s", q.why);
	request_wipe(&q);
	json_object_put(body);
	if (r->body.p != NULL)
		explicit_bzero(r->body.p, r->body.len);
	return r->token != NULL ? NULL : why[0] != '\0' ? why :
	    "give a token, or the key of a login link";
}

static void
cookie_made(struct conn *c, struct ask *a, const struct key_answer *k)
{
	char csrf[CSRF_TEXT], cookie[256];
	struct text *t;

	(void)a;
	if (k->err != ERR_OK) {
		answer_error(c, k->err, k->msg);
		return;
	}
	(void)snprintf(cookie, sizeof(cookie), "lantern=%s; HttpOnly; "
	    "SameSite=Strict; Path=/%s", k->key,
	    c->listener_flags & LISTENER_TLS ? "; Secure" : "");
	c->port->header(c, "Set-Cookie", cookie);
	explicit_bzero(cookie, sizeof(cookie));
	csrf_text(k->key, csrf);
	t = answer_begin();
	json_open(t, '{');
	identity_json(t, c);
	json_key(t, "csrf");
	json_text(t, csrf);
	json_close(t, '}');
	answer_end(c);
}

void
login_run(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)s;
	(void)ws;
	key_ask(c, KEY_COOKIE, NULL, ACCESS_USE, false, cookie_made);
}

static void
logged_out(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	struct text *t;

	(void)a;
	if (err != ERR_OK) {
		answer_error(c, err, msg);
		return;
	}
	c->port->header(c, "Set-Cookie", WEB_NO_COOKIE);
	t = answer_begin();
	json_open(t, '{');
	json_key(t, "ok");
	json_raw(t, "true");
	json_close(t, '}');
	answer_end(c);
}

static void
logout_run(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)s;
	(void)ws;
	key_end_ask(c, logged_out);
}
