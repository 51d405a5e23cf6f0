/* SPDX-License-Identifier: ISC */
/* Answers to requests: their headers, and their bytes as they are made. */
#include <sys/socket.h>

#include <stdio.h>
#include <string.h>

#include "http.h"
#include "netproc/cmd/metrics.h"
#include "webanswer.h"
#include "webreq.h"

#define BLOCK		((size_t)32 * 1024)
#define BEAT_MS		15000
#define HOLD_KEEP	((size_t)64 * 1024)
#define STREAM_KEEP	((size_t)1024)

/* -- answers -------------------------------------------------------------- */

static const struct {
	const char	*name, *value;
} headers[] = {
	{ "Content-Security-Policy", "default-src 'none'; script-src 'self'; "
	    "style-src 'self'; connect-src 'self'; img-src 'self' data:; "
	    "font-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
	    "form-action 'self'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
};

enum MHD_Result
web_req_queue_plain(struct web_req *r, unsigned int status,
    struct MHD_Response *resp)
{
	enum MHD_Result result;

	r->queued = true;
	metrics_count(status);
	result = MHD_queue_response(r->mhd, status, resp);
	/* the library's copy of a cookie is wiped when it has been sent */
	if (r->nheaders > 0)
		r->resp = resp;
	else
		MHD_destroy_response(resp);
	return result;
}

enum MHD_Result
web_req_queue(struct web_req *r, unsigned int status, const char *type,
    const char *cache, struct MHD_Response *resp)
{
	size_t i;

	for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		(void)MHD_add_response_header(resp, headers[i].name,
		    headers[i].value);
	(void)MHD_add_response_header(resp, MHD_HTTP_HEADER_CONTENT_TYPE,
	    type);
	(void)MHD_add_response_header(resp, MHD_HTTP_HEADER_CACHE_CONTROL,
	    cache);
	if (status == MHD_HTTP_UNAUTHORIZED && r->by_cookie)
		(void)MHD_add_response_header(resp,
		    MHD_HTTP_HEADER_SET_COOKIE, WEB_NO_COOKIE);
	else if (status == MHD_HTTP_UNAUTHORIZED)
		(void)MHD_add_response_header(resp,
		    MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	/* without a conn nobody counts it: the next request needs another */
	if (r->web->conn == NULL || r->web->conn->mode == &mode_linger)
		(void)MHD_add_response_header(resp,
		    MHD_HTTP_HEADER_CONNECTION, "close");
	for (i = 0; i < r->nheaders; i++)
		(void)MHD_add_response_header(resp, r->headers[i].name,
		    r->headers[i].value);
	return web_req_queue_plain(r, status, resp);
}

void
web_req_wipe_response(struct web_req *r)
{
	const char *v;

	if (r->resp == NULL)
		return;
	v = MHD_get_response_header(r->resp, MHD_HTTP_HEADER_SET_COOKIE);
	if (v != NULL)
		explicit_bzero((void *)(uintptr_t)v, strlen(v));
	MHD_destroy_response(r->resp);
	r->resp = NULL;
}

enum MHD_Result
web_req_static(struct web_req *r, unsigned int status, const char *type,
    const void *p, size_t len)
{
	struct MHD_Response *resp = MHD_create_response_from_buffer(len,
	    (void *)(uintptr_t)p, MHD_RESPMEM_PERSISTENT);

	return resp == NULL ? MHD_NO :
	    web_req_queue(r, status, type, "no-store", resp);
}

static void
put_error(struct text *t, uint32_t err, const char *message)
{
	json_open(t, '{');
	json_key(t, "apiVersion");
	json_text(t, "1.0");
	json_key(t, "error");
	json_open(t, '{');
	json_key(t, "code");
	json_text(t, err_code(err));
	json_key(t, "message");
	json_text(t, message == NULL ? err_text(err) : message);
	json_close(t, '}');
	json_close(t, '}');
	text_puts(t, "\n");
}

static struct MHD_Response *
error_response(uint32_t err, const char *message)
{
	struct MHD_Response *resp;
	struct text t = { .max = 4096 };

	put_error(&t, err, message);
	resp = MHD_create_response_from_buffer(t.len, t.p,
	    MHD_RESPMEM_MUST_COPY);
	text_free(&t);
	return resp;
}

enum MHD_Result
web_req_refuse(struct web_req *r, unsigned int status, uint32_t err,
    const char *message)
{
	struct MHD_Response *resp = error_response(err, message);

	return resp == NULL ? MHD_NO :
	    web_req_queue(r, status, JSON_TYPE, "no-store", resp);
}

enum MHD_Result
web_req_refuse_method(struct web_req *r, const char *allowed)
{
	struct MHD_Response *resp;
	char why[128];

	(void)snprintf(why, sizeof(why), "this path takes %s", allowed);
	resp = error_response(ERR_INVALID_ARGUMENT, why);
	if (resp == NULL)
		return MHD_NO;
	(void)MHD_add_response_header(resp, MHD_HTTP_HEADER_ALLOW, allowed);
	return web_req_queue(r, MHD_HTTP_METHOD_NOT_ALLOWED, JSON_TYPE,
	    "no-store", resp);
}

void
web_req_fail(struct web_req *r, uint32_t err, const char *message)
{
	text_reset(&r->out, HOLD_KEEP);
	r->out_pos = 0;
	put_error(&r->out, err, message);
	r->err = err;
	r->known = r->whole = true;
}

/*
 * The library answers at the end of a request or at its beginning, and this
 * is between them; nothing but a "100 Continue" has been sent before.
 */
void
web_req_last_word(struct web_req *r)
{
	struct text t = { .max = 8192 };
	char head[256];
	unsigned int status;

	if (!r->known && r->body.bad)
		web_req_fail(r, ERR_INVALID_SIZE, "arguments are at most "
		    "65536 bytes");
	else if (!r->whole)
		web_req_fail(r, ERR_TRY_AGAIN, NULL);
	status = r->body.bad ? MHD_HTTP_CONTENT_TOO_LARGE : err_status(r->err);
	(void)snprintf(head, sizeof(head), "HTTP/1.1 %u %s\r\nContent-Type: "
	    JSON_TYPE "\r\nX-Content-Type-Options: nosniff\r\n"
	    "Cache-Control: no-store\r\nConnection: close\r\n"
	    "Content-Length: %zu\r\n\r\n", status,
	    MHD_get_reason_phrase_for(status), r->out.len);
	text_puts(&t, head);
	text_put(&t, r->out.p, r->out.len);
	/* where the socket is full of another answer there is no room for it */
	if (!t.bad && send(r->web->fd, t.p, t.len, MSG_DONTWAIT |
	    MSG_NOSIGNAL) == (ssize_t)t.len)
		metrics_count(status);
	text_free(&t);
	r->queued = true;
}

/* The next bytes of an answer that comes in pieces. */
static ssize_t
read_piece(void *cls, uint64_t pos, char *buf, size_t max)
{
	struct web_req *r = cls;
	size_t n = r->out.len - r->out_pos;

	(void)pos;
	if (n == 0 && r->whole)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (n == 0 && (r->failed || r->web->closing))
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (n == 0) {
		web_req_wait(r);
		return 0;
	}
	if (n > max)
		n = max;
	memcpy(buf, r->out.p + r->out_pos, n);
	r->out_pos += n;
	if (r->out_pos < r->out.len)
		return (ssize_t)n;
	r->out_pos = 0;
	/* a stream is silent most of the time, and there may be many */
	text_reset(&r->out, web_req_is_stream(r) ? STREAM_KEEP : HOLD_KEEP);
	/* there is room again, for what conn holds back */
	if (r->web->conn != NULL && !r->whole)
		r->web->conn->port->want(r->web->conn, r->wants);
	return (ssize_t)n;
}

/* So that proxies keep the connection, and we notice when nobody is there. */
static void
on_beat(void *arg)
{
	struct web_req *r = arg;

	loop_timer_set(&r->beat, BEAT_MS, on_beat, r);
	if (r->out.len > 0 || r->web->conn == NULL ||
	    conn_unsent(r->web->conn) > 0)
		return;
	text_puts(&r->out, ":\n\n");
	web_req_wake(r->web);
}

bool
web_req_is_stream(const struct web_req *r)
{
	return r->queued && r->route != NULL && r->route->flags & ROUTE_EVENTS;
}

enum MHD_Result
web_req_respond(struct web_req *r)
{
	struct MHD_Response *resp;
	unsigned int status = r->err != ERR_OK ? err_status(r->err) :
	    r->status != 0 ? r->status : r->route->flags & ROUTE_CREATED ?
	    MHD_HTTP_CREATED : MHD_HTTP_OK;
	const char *type = r->err == ERR_OK && r->route->type != NULL &&
	    !r->enveloped ? r->route->type : JSON_TYPE;

	if (!r->whole && r->route != NULL && r->route->flags & ROUTE_EVENTS)
		loop_timer_set(&r->beat, BEAT_MS, on_beat, r);
	/* the library would send the end of a body that comes in pieces */
	if (r->head && !r->whole) {
		text_reset(&r->out, 0);
		web_conn_end(r->web);
	}
	/* the buffer lives as long as the request */
	resp = r->whole || r->head ? MHD_create_response_from_buffer(r->out.len,
	    r->out.p, MHD_RESPMEM_PERSISTENT) :
	    MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK,
	    read_piece, r, NULL);
	return resp == NULL ? MHD_NO :
	    web_req_queue(r, status, type, "no-store", resp);
}
