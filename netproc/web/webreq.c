/* SPDX-License-Identifier: ISC */
/* Requests: what they bring, and what becomes of them at their end. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "netproc/cmd/payload.h"
#include "webadmit.h"
#include "webanswer.h"
#include "webargs.h"
#include "webcmd.h"
#include "webform.h"
#include "webreq.h"
#include "webup.h"

/* Bytes that are read so that their sender reads why they are refused. */
#define WASTE_MAX	((uint64_t)1 << 20)
/* So much of an answer is waited for, to send it with its length. */
#define WHOLE_MAX	((size_t)64 * 1024)

/* -- the body ------------------------------------------------------------- */

/*
 * No command takes the body: reads on for a while, so that the connection can
 * be used again.  After that, the answer comes before the request has ended.
 */
static enum MHD_Result
waste(struct web_req *r, size_t *len)
{
	r->wasted += *len;
	*len = 0;
	if (r->wasted <= WASTE_MAX)
		return MHD_YES;
	web_req_last_word(r);
	return MHD_NO;
}

static enum MHD_Result
feed(struct web_req *r, const char *p, size_t *len)
{
	struct conn *c = r->web->conn;

	if (c == NULL || r->known)
		return waste(r, len);
	/* what it is for is being asked */
	if (!payload_is_taken(c)) {
		web_req_wait(r);
		return MHD_YES;
	}
	r->in = p;
	r->in_len = *len;
	conn_feed(c);
	*len = r->in_len;
	r->in_len = 0;
	if (*len > 0 && r->web->conn != NULL && !r->known)
		web_req_wait(r);
	return MHD_YES;
}

/* -- forms ---------------------------------------------------------------- */

static void
form_wrong(struct web_req *r, const char *why)
{
	if (r->known)
		return;
	web_conn_end(r->web);
	web_req_fail(r, ERR_INVALID_ARGUMENT, why);
}

/* A field is given in the form or in the query, not in both. */
static void
take_field(struct web_req *r)
{
	struct conn *c = r->web->conn;
	struct form *f = r->form;
	char **to = strcmp(f->name, "exec") == 0 ? &r->exec : &r->name;

	if (*to != NULL)
		form_wrong(r, "name and exec are given once");
	else if ((*to = strdup(f->value)) == NULL)
		form_wrong(r, "out of memory");
	else if (to == &r->name) {
		r->then = THEN_NAME;
		/* before the file it is looked at with the rest */
		if (f->has_file && c != NULL && !r->known &&
		    payload_is_taken(c) && webargs_refuse_name(c, r))
			conn_run(c);
	}
}

static void
begin_file(struct web_req *r)
{
	r->size = r->chunked ? UPLOAD_UNKNOWN : form_most(r->form, r->size);
	if (!r->known)
		web_req_ask(r);
}

static enum MHD_Result
feed_part(struct web_req *r, struct form_bytes *in,
    const struct form_bytes *data)
{
	size_t left = data->n;
	enum MHD_Result result = feed(r, data->p, &left);

	r->filled |= left < data->n;
	form_ate(r->form, in, data->n - left);
	return result;
}

/* The file of a form: what stands around it is for us. */
static enum MHD_Result
feed_form(struct web_req *r, const char *p, size_t *len)
{
	struct form_bytes in = { p, *len }, data;
	enum MHD_Result result = MHD_YES;
	enum form_event e = FORM_DATA;

	while (result == MHD_YES && !r->suspended && e != FORM_MORE &&
	    e != FORM_WRONG) {
		e = form_next(r->form, &in, &data);
		if (e == FORM_FIELD)
			take_field(r);
		else if (e == FORM_FILE)
			begin_file(r);
		else if (e == FORM_DATA)
			result = feed_part(r, &in, &data);
	}
	*len = in.n;
	if (e != FORM_WRONG)
		return result;
	form_wrong(r, r->form->why);
	return waste(r, len);
}

static void
end_form(struct web_req *r)
{
	const char *why = form_lacks(r->form);

	if (why == NULL && !r->filled)
		why = "the file in the form is empty";
	if (why != NULL)
		form_wrong(r, why);
}

/* -- the answer ----------------------------------------------------------- */

static bool
is_upgrade(const struct web_req *r)
{
	return r->err == ERR_OK && r->route != NULL &&
	    r->route->flags & ROUTE_SOCKET;
}

static bool
is_ready(const struct web_req *r)
{
	return r->known && (r->whole || r->failed || is_upgrade(r) ||
	    (r->err == ERR_OK && r->route->flags & ROUTE_EVENTS) ||
	    r->out.len >= WHOLE_MAX);
}

/* Answers, or waits until there is something to answer with. */
static enum MHD_Result
settle(struct web_req *r)
{
	if (r->web->closing)
		return MHD_NO;
	if (is_ready(r) && is_upgrade(r) && r->web->conn != NULL)
		return webup_respond(r);
	if (is_ready(r) && !is_upgrade(r))
		return web_req_respond(r);
	if (r->failed || r->web->conn == NULL)
		return web_req_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
		    r->web->err == ERR_OK ? ERR_TRY_AGAIN : r->web->err, NULL);
	web_req_wait(r);
	return MHD_YES;
}

/* -- its end -------------------------------------------------------------- */

/* All has come of what had no size. */
static void
end_payload(struct web_req *r)
{
	struct conn *c = r->web->conn;

	if (c == NULL || r->known || r->closed || !payload_is_taken(c))
		return;
	r->closed = true;
	payload_end(c);
	conn_run(c);
}

static enum MHD_Result
keep(struct web_req *r, const char *p, size_t *len)
{
	if (r->body.bad || r->queued)
		return waste(r, len);
	text_put(&r->body, p, *len);
	*len = 0;
	return MHD_YES;
}

/* Its body says who it is; false when it has been refused. */
static bool
end_login(struct web_req *r)
{
	const char *why = login_take(r);

	if (why != NULL)
		(void)web_req_refuse(r, MHD_HTTP_BAD_REQUEST,
		    ERR_INVALID_ARGUMENT, why);
	else if (!web_req_know_login(r))
		(void)web_req_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
		    ERR_TRY_AGAIN, NULL);
	return !r->queued;
}

static enum MHD_Result
end(struct web_req *r)
{
	enum web_phase phase = r->phase == WEB_AUTH ? r->after_auth : r->phase;
	bool asks = phase == WEB_READ && !r->known;

	r->ended = true;
	if (asks && r->body.bad)
		return web_req_refuse(r, MHD_HTTP_CONTENT_TOO_LARGE,
		    ERR_INVALID_SIZE, "arguments are at most 65536 bytes");
	if (asks && r->route->flags & ROUTE_LOGIN && !end_login(r))
		return r->queued ? MHD_YES : MHD_NO;
	if (r->form != NULL)
		end_form(r);
	if (r->open)
		end_payload(r);
	else if (asks)
		web_req_ask(r);
	return settle(r);
}

/* -- libmicrohttpd's ------------------------------------------------------ */

static struct web_req *
req_new(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd,
	    MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct web *w = info == NULL ? NULL : info->socket_context;
	struct web_req *r = w == NULL ? NULL : calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->web = w;
	r->mhd = mhd;
	r->body.max = WEB_BODY_MAX;
	r->out.max = (size_t)1 << 20;
	w->req = r;
	return r;
}

/*
 * A client that is to be refused anyway is told before it sends the whole body,
 * or closes the connection for that.
 */
static enum MHD_Result
hold(struct web_req *r)
{
	struct conn *c = r->web->conn;

	if (c != NULL && !r->known && !web_req_is_decided(r)) {
		web_req_wait(r);
		return MHD_YES;
	}
	r->held = false;
	if ((c == NULL || r->known) && (r->size > WASTE_MAX || r->chunked ||
	    web_req_expects(r)))
		return settle(r);
	return MHD_YES;
}

static enum MHD_Result
begin(struct web_req *r, const char *method, const char *url)
{
	enum MHD_Result result;

	r->begun = true;
	result = web_req_begin(r, method, url);
	if (result == MHD_NO || !r->begun || r->queued)
		return result;
	if (r->ended)
		return end(r);
	r->held = true;
	return hold(r);
}

static enum MHD_Result
on_access(void *cls, struct MHD_Connection *mhd, const char *url,
    const char *method, const char *version, const char *upload,
    size_t *upload_size, void **ctx)
{
	struct web_req *r = *ctx;
	bool first = r == NULL;
	enum MHD_Result result;

	(void)cls;
	(void)version;
	if (first)
		*ctx = r = req_new(mhd);
	if (r == NULL)
		return MHD_NO;
	r->handling = true;
	r->ended |= !web_req_has_body(r);
	if (first && r->ended)
		result = MHD_YES;
	else if (!r->begun)
		result = begin(r, method, url);
	else if (r->held)
		result = hold(r);
	else if (*upload_size == 0)
		result = end(r);
	else if (r->form != NULL)
		result = feed_form(r, upload, upload_size);
	else if (r->route->flags & (ROUTE_UPLOAD | ROUTE_INPUT))
		result = feed(r, upload, upload_size);
	else
		result = keep(r, upload, upload_size);
	r->handling = false;
	return result;
}

static void
wipe(struct text *t)
{
	if (t->p != NULL)
		explicit_bzero(t->p, t->len);
}

static void
on_completed(void *cls, struct MHD_Connection *mhd, void **ctx,
    enum MHD_RequestTerminationCode code)
{
	struct web_req *r = *ctx;
	size_t i;

	(void)cls;
	(void)mhd;
	(void)code;
	if (r == NULL)
		return;
	*ctx = NULL;
	r->web->req = NULL;
	r->web->unread |= r->begun && !r->ended;
	loop_timer_unset(&r->turn);
	loop_timer_unset(&r->beat);
	/* the command goes on without anybody to answer: not by this conn */
	if (r->phase != WEB_READ && !r->whole)
		web_conn_end(r->web);
	/* nobody counts it any more; what is unread is for linger.c */
	if (r->web->conn == NULL && !r->web->unread)
		web_close(r->web);
	if (r->token != NULL)
		explicit_bzero(r->token, strlen(r->token));
	free(r->token);
	web_req_wipe_response(r);
	free(r->name);
	free(r->exec);
	free(r->form);
	for (i = 0; i < r->nheaders; i++) {
		explicit_bzero(r->headers[i].value,
		    strlen(r->headers[i].value));
		free(r->headers[i].value);
	}
	if (r->secret)
		wipe(&r->out);
	text_free(&r->out);
	text_free(&r->body);
	free(r);
}

void
web_req_init(void)
{
	static const struct http_requests requests = {
		.port = &web_port,
		.access = on_access,
		.completed = on_completed,
		.is_stream = web_req_is_stream,
		.last_word = web_req_last_word,
	};

	/* it opens its source of random bytes */
	if (sodium_init() == -1)
		fatalx("libsodium cannot be used");
	http_init(&requests);
}
