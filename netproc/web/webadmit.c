/* SPDX-License-Identifier: ISC */
/*
 * The beginning of a request: whether its headers are those of one request
 * of one client of ours, and who that client is.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "netproc/cmd/keys.h"
#include "netproc/cmd/payload.h"
#include "webadmit.h"
#include "webanswer.h"
#include "webcheck.h"
#include "webcmd.h"
#include "webform.h"
#include "webpage.h"
#include "webup.h"
#include "wire/proto.h"
#include "wire/role.h"
#include "wire/settings.h"

#define TOKEN_BYTES	128

/* -- who asks ------------------------------------------------------------- */

static const char *
header(struct web_req *r, const char *name)
{
	return MHD_lookup_connection_value(r->mhd, MHD_HEADER_KIND, name);
}

static bool
is_cookie(const char *v)
{
	return strncmp(v, "dlc_", 4) == 0 && strlen(v) == KEY_TEXT;
}

/*
 * A cookie that is not of our form was planted by others (any port of the host
 * may do that).  It is not tried, as that would count as a wrong try of the
 * user's.
 */
static const char *
cookie_of(struct web_req *r)
{
	const char *v = MHD_lookup_connection_value(r->mhd, MHD_COOKIE_KIND,
	    "lantern");

	return v != NULL && is_cookie(v) ? v : NULL;
}

/* Takes a copy of what the client shows; false without memory. */
static bool
take_token(struct web_req *r)
{
	static const char bearer[] = "Bearer ";
	const char *v = header(r, MHD_HTTP_HEADER_AUTHORIZATION);

	if (r->route->flags & ROUTE_SOCKET &&
	    (r->token = webup_token(r)) != NULL)
		return true;
	if (v == NULL) {
		v = cookie_of(r);
		if (v == NULL)
			return true;
		r->by_cookie = true;
		csrf_text(v, r->csrf);
	} else {
		if (strncasecmp(v, bearer, sizeof(bearer) - 1) == 0)
			v += sizeof(bearer) - 1;
		v += strspn(v, " ");
		/* each has one place: this one needs no X-CSRF-Token */
		if (strlen(v) > TOKEN_BYTES || is_cookie(v))
			v = "";
	}
	r->token = strdup(v);
	return r->token != NULL;
}

/*
 * A client that shows something else than before, or nothing any more, is
 * somebody else: proxies send many users' requests by one connection.
 */
static bool
know_client(struct web_req *r)
{
	struct web *w = r->web;
	uint8_t hash[CRED_HASH] = { 0 };

	if (r->token != NULL)
		(void)crypto_generichash(hash, sizeof(hash),
		    (const uint8_t *)r->token, strlen(r->token), NULL, 0);
	if (sodium_memcmp(hash, w->cred, sizeof(hash)) != 0 &&
	    (w->authed || !sodium_is_zero(w->cred, sizeof(w->cred))) &&
	    !web_conn_new(w))
		return false;
	memcpy(w->cred, hash, sizeof(hash));
	if (w->authed && r->token != NULL) {
		explicit_bzero(r->token, strlen(r->token));
		free(r->token);
		r->token = NULL;
	}
	return true;
}

/* A login is always the first word of a conn. */
bool
web_req_know_login(struct web_req *r)
{
	struct web *w = r->web;

	if ((w->authed || !sodium_is_zero(w->cred, sizeof(w->cred))) &&
	    !web_conn_new(w))
		return false;
	(void)crypto_generichash(w->cred, sizeof(w->cred),
	    (const uint8_t *)r->token, strlen(r->token), NULL, 0);
	return true;
}

/* -- the beginning -------------------------------------------------------- */

struct count {
	const char	*name;
	unsigned int	 n;
};

static enum MHD_Result
count_one(void *arg, enum MHD_ValueKind kind, const char *key,
    const char *value)
{
	struct count *c = arg;

	(void)kind;
	(void)value;
	c->n += strcasecmp(key, c->name) == 0;
	return MHD_YES;
}

/* A blank after it makes it another header for some, and the same for others. */
static enum MHD_Result
check_name(void *arg, enum MHD_ValueKind kind, const char *key,
    const char *value)
{
	static const char other[] = "!#$%&'*+-.^_`|~";
	bool *wrong = arg;

	(void)kind;
	(void)value;
	*wrong |= *key == '\0';
	for (; *key != '\0'; key++)
		*wrong |= !(((*key | 0x20) >= 'a' && (*key | 0x20) <= 'z') ||
		    (*key >= '0' && *key <= '9') || strchr(other, *key));
	return MHD_YES;
}

static unsigned int
count(struct web_req *r, const char *name)
{
	struct count c = { name, 0 };

	(void)MHD_get_connection_values(r->mhd, MHD_HEADER_KIND, count_one,
	    &c);
	return c.n;
}

/*
 * Checks for what a proxy before us may have read in another way than
 * libmicrohttpd does: the end of such a request is uncertain.  NULL or what is
 * wrong.
 */
static const char *
framing(struct web_req *r)
{
	static const char *const once[] = { MHD_HTTP_HEADER_HOST,
		MHD_HTTP_HEADER_CONTENT_LENGTH,
		MHD_HTTP_HEADER_TRANSFER_ENCODING, MHD_HTTP_HEADER_ORIGIN,
		MHD_HTTP_HEADER_AUTHORIZATION, MHD_HTTP_HEADER_CONTENT_TYPE,
		"X-CSRF-Token", "MCP-Protocol-Version", "Mcp-Method",
		"Mcp-Name" };
	const char *te = header(r, MHD_HTTP_HEADER_TRANSFER_ENCODING);
	const char *cl = header(r, MHD_HTTP_HEADER_CONTENT_LENGTH);
	struct word w = { cl, cl == NULL ? 0 : strlen(cl) };
	bool wrong = false;
	size_t i;

	(void)MHD_get_connection_values(r->mhd, MHD_HEADER_KIND, check_name,
	    &wrong);
	if (wrong)
		return "the name of a header has a character in it that none "
		    "has";
	for (i = 0; i < sizeof(once) / sizeof(once[0]); i++)
		if (count(r, once[i]) > 1)
			return "a header that may come once came twice";
	if (te != NULL && cl != NULL)
		return "Content-Length and Transfer-Encoding exclude each "
		    "other";
	if (te != NULL && strcasecmp(te, "chunked") != 0)
		return "the only Transfer-Encoding is chunked";
	if (cl != NULL && number_parse(&w, INT64_MAX, &r->size) != NULL)
		return "Content-Length is not a number";
	return NULL;
}

/*
 * The library keeps no connection on which a request was answered before its
 * end, so one without a body is looked at when it has ended.
 */
bool
web_req_has_body(struct web_req *r)
{
	const char *cl = header(r, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return header(r, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL ||
	    (cl != NULL && strcmp(cl, "0") != 0);
}

bool
web_req_expects(struct web_req *r)
{
	return header(r, MHD_HTTP_HEADER_EXPECT) != NULL;
}

bool
web_req_is_decided(const struct web_req *r)
{
	if (r->route->flags & (ROUTE_UPLOAD | ROUTE_INPUT) && r->form == NULL)
		return payload_is_taken(r->web->conn);
	return r->phase != WEB_AUTH && r->token == NULL;
}

void
web_req_ask(struct web_req *r)
{
	if (r->phase == WEB_AUTH)
		r->after_auth = WEB_ASK;
	else
		r->phase = WEB_ASK;
	if (r->web->conn != NULL)
		conn_run(r->web->conn);
}

static bool
is_json(struct web_req *r)
{
	const char *type = header(r, MHD_HTTP_HEADER_CONTENT_TYPE);

	return type != NULL && strncasecmp(type, JSON_TYPE,
	    sizeof(JSON_TYPE) - 1) == 0;
}

static bool
changes(const char *method)
{
	return strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0;
}

/* Refuses what a page of another host could have made a browser send. */
static const char *
foreign(struct web_req *r, const char *method)
{
	const char *host = header(r, MHD_HTTP_HEADER_HOST);
	const char *origin = header(r, MHD_HTTP_HEADER_ORIGIN);

	if (origin == NULL || (!changes(method) &&
	    !(r->route->flags & (ROUTE_SOCKET | ROUTE_USE))))
		return NULL;
	return origin_is_same(origin, host,
	    (r->web->flags & LISTENER_TLS) != 0) ? NULL :
	    "the request comes from a page of another origin";
}

static enum MHD_Result
refuse_body(struct web_req *r)
{
	const char *te = header(r, MHD_HTTP_HEADER_TRANSFER_ENCODING);

	if (!(r->route->flags & (ROUTE_UPLOAD | ROUTE_INPUT)) &&
	    (r->size > 0 || te != NULL) && !is_json(r))
		return web_req_refuse(r, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
		    ERR_INVALID_JSON, "arguments are an object with "
		    "Content-Type: application/json");
	if (!(r->route->flags & (ROUTE_UPLOAD | ROUTE_INPUT)) &&
	    r->size > WEB_BODY_MAX)
		return web_req_refuse(r, MHD_HTTP_CONTENT_TOO_LARGE,
		    ERR_INVALID_SIZE, "arguments are at most 65536 bytes");
	return MHD_YES;
}

/* A page of another host can send our cookie, but cannot know this. */
static bool
lacks_csrf(struct web_req *r, const char *method)
{
	const char *v = header(r, "X-CSRF-Token");

	return r->by_cookie && changes(method) && (v == NULL ||
	    strlen(v) != strlen(r->csrf) ||
	    sodium_memcmp(v, r->csrf, strlen(r->csrf)) != 0);
}

static enum MHD_Result
begin_form(struct web_req *r)
{
	const char *why;

	r->form = malloc(sizeof(*r->form));
	if (r->form == NULL)
		return web_req_refuse(r, MHD_HTTP_INTERNAL_SERVER_ERROR,
		    ERR_INTERNAL, "out of memory");
	why = form_begin(r->form, header(r, MHD_HTTP_HEADER_CONTENT_TYPE));
	r->open = true;
	return why == NULL ? MHD_YES : web_req_refuse(r,
	    MHD_HTTP_BAD_REQUEST, ERR_INVALID_ARGUMENT, why);
}

/* A client without a token is known by the listener's rule, or not at all. */
static enum MHD_Result
web_admit(struct web_req *r, const char *method)
{
	if (r->route->flags & ROUTE_LOGIN)
		return MHD_YES;
	if (!take_token(r))
		return web_req_refuse(r, MHD_HTTP_INTERNAL_SERVER_ERROR,
		    ERR_INTERNAL, "out of memory");
	if (r->token == NULL && !(r->web->flags & LISTENER_AUTH_NONE) &&
	    !(r->route->flags & ROUTE_SOCKET))
		return web_req_refuse(r, MHD_HTTP_UNAUTHORIZED,
		    ERR_AUTH_REQUIRED, "log in at /login, or send "
		    "Authorization: Bearer and a token");
	/* no program but a browser has the cookie, and that says Origin */
	if (r->by_cookie && r->route->flags & ROUTE_SOCKET &&
	    webup_asked(r) && header(r, MHD_HTTP_HEADER_ORIGIN) == NULL)
		return web_req_refuse(r, MHD_HTTP_FORBIDDEN,
		    ERR_NOT_PERMITTED, "with a cookie this needs an Origin");
	r->head = strcmp(method, "HEAD") == 0;
	if (lacks_csrf(r, method))
		return web_req_refuse(r, MHD_HTTP_FORBIDDEN,
		    ERR_NOT_PERMITTED, "with a cookie this needs the header "
		    "X-CSRF-Token, with what login and whoami call csrf");
	if (!know_client(r))
		return web_req_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
		    ERR_TRY_AGAIN, NULL);
	r->admitted = true;
	return MHD_YES;
}

/* Evaluates the headers of a payload, before its first byte. */
static enum MHD_Result
await(struct web_req *r)
{
	r->chunked = header(r, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL;
	if (!(r->route->flags & (ROUTE_UPLOAD | ROUTE_INPUT)))
		conn_run(r->web->conn);
	else if (r->route->flags & ROUTE_UPLOAD &&
	    form_is(header(r, MHD_HTTP_HEADER_CONTENT_TYPE))) {
		/* whether it is a bundle a part of it may say */
		if (begin_form(r) == MHD_NO || r->queued)
			return r->queued ? MHD_YES : MHD_NO;
		conn_run(r->web->conn);
	} else {
		r->open = r->chunked;
		if (r->chunked)
			r->size = UPLOAD_UNKNOWN;
		/* room is asked for before its bytes come */
		web_req_ask(r);
	}
	return MHD_YES;
}

/* The conn has ended already: why is what this request is told. */
static enum MHD_Result
refused_before(struct web_req *r)
{
	uint32_t err = r->web->err == ERR_OK ? ERR_TRY_AGAIN : r->web->err;

	return r->known ? web_req_respond(r) :
	    web_req_refuse(r, err_status(err), err, NULL);
}

enum MHD_Result
web_req_begin(struct web_req *r, const char *method, const char *url)
{
	const char *host = header(r, MHD_HTTP_HEADER_HOST);
	const char *why = framing(r);
	char methods[64];

	if (why != NULL) {
		web_conn_end(r->web);
		return web_req_refuse(r, MHD_HTTP_BAD_REQUEST,
		    ERR_INVALID_ARGUMENT, why);
	}
	if (r->web->conn == NULL)
		return refused_before(r);
	/* a session's program gets nothing here, and no file of the page */
	if (r->web->conn->owner == NULL) {
		r->begun = false;
		web_req_wait(r);
		return MHD_YES;
	}
	if (host == NULL || !host_is_ours(host, settings.web_hosts))
		return web_req_refuse(r, MHD_HTTP_MISDIRECTED_REQUEST,
		    ERR_NOT_PERMITTED, "this daemon does not go by that name; "
		    "\"web host NAME\" in its configuration would say so");
	r->route = route_find(method, url, is_json(r), r->parts, methods,
	    sizeof(methods));
	if (r->route == NULL && methods[0] != '\0')
		return web_req_refuse_method(r, methods);
	if (r->route == NULL)
		return page_asset(r, method, url);
	why = foreign(r, method);
	if (why != NULL)
		return web_req_refuse(r, MHD_HTTP_FORBIDDEN,
		    ERR_NOT_PERMITTED, why);
	/* a page is not told why no WebSocket came about; it may ask plainly */
	why = r->route->flags & ROUTE_SOCKET && webup_asked(r) ?
	    webup_check(r) : NULL;
	if (why != NULL)
		return web_req_refuse(r, MHD_HTTP_BAD_REQUEST,
		    ERR_INVALID_ARGUMENT, why);
	if (r->route->flags & ROUTE_OPEN)
		return r->route->page(r);
	if (refuse_body(r) == MHD_NO || r->queued)
		return r->queued ? MHD_YES : MHD_NO;
	if (web_admit(r, method) == MHD_NO || r->queued)
		return r->queued ? MHD_YES : MHD_NO;
	/* a login's body says who it is */
	return r->route->flags & ROUTE_LOGIN ? MHD_YES : await(r);
}
