/* SPDX-License-Identifier: ISC */
/* Answers of the web that no command gives. */
#include <string.h>

#include "assets.h"
#include "openapi.h"
#include "webanswer.h"
#include "webpage.h"
#include "webreq.h"
#include "wire/role.h"

enum MHD_Result
page_healthz(struct web_req *r)
{
	static const char ok[] = "ok\n";

	return web_req_static(r, MHD_HTTP_OK, "text/plain; charset=utf-8", ok,
	    sizeof(ok) - 1);
}

enum MHD_Result
page_openapi(struct web_req *r)
{
	static struct text t = { .max = (size_t)1 << 20 };

	if (t.len == 0)
		openapi_text(&t, settings.version);
	return web_req_static(r, MHD_HTTP_OK, "application/json", t.p, t.len);
}

/* Every browser takes gzip; a client that does not say so is told why not. */
static bool
takes_gzip(struct web_req *r)
{
	const char *v = MHD_lookup_connection_value(r->mhd, MHD_HEADER_KIND,
	    MHD_HTTP_HEADER_ACCEPT_ENCODING);

	return v != NULL && strstr(v, "gzip") != NULL;
}

static bool
has_it(struct web_req *r, const struct asset *a)
{
	const char *v = MHD_lookup_connection_value(r->mhd, MHD_HEADER_KIND,
	    MHD_HTTP_HEADER_IF_NONE_MATCH);

	return v != NULL && strstr(v, a->etag) != NULL;
}

static enum MHD_Result
send_asset(struct web_req *r, const struct asset *a, unsigned int status)
{
	bool old = status == MHD_HTTP_OK && has_it(r, a);
	struct MHD_Response *resp = MHD_create_response_from_buffer(
	    old ? 0 : a->len, (void *)(uintptr_t)a->gz,
	    MHD_RESPMEM_PERSISTENT);

	if (resp == NULL)
		return MHD_NO;
	if (status == MHD_HTTP_OK)
		(void)MHD_add_response_header(resp, MHD_HTTP_HEADER_ETAG,
		    a->etag);
	(void)MHD_add_response_header(resp, MHD_HTTP_HEADER_CONTENT_ENCODING,
	    "gzip");
	(void)MHD_add_response_header(resp, MHD_HTTP_HEADER_VARY,
	    MHD_HTTP_HEADER_ACCEPT ", " MHD_HTTP_HEADER_ACCEPT_ENCODING);
	return web_req_queue(r, old ? MHD_HTTP_NOT_MODIFIED : status,
	    a->type, "no-cache", resp);
}

/*
 * A person who mistyped an address, and not a program or a file that the page
 * wants: the person gets the page, which says so in words.
 */
static bool
is_lost(struct web_req *r, const char *method, const char *path)
{
	const char *v = MHD_lookup_connection_value(r->mhd, MHD_HEADER_KIND,
	    MHD_HTTP_HEADER_ACCEPT);

	return strcmp(path, "/api") != 0 && strncmp(path, "/api/", 5) != 0 &&
	    (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0) &&
	    v != NULL && strstr(v, "text/html") != NULL && takes_gzip(r);
}

enum MHD_Result
page_asset(struct web_req *r, const char *method, const char *path)
{
	const struct asset *a = asset_find(path), *page = asset_find("/");

	if (a == NULL && page != NULL && is_lost(r, method, path))
		return send_asset(r, page, MHD_HTTP_NOT_FOUND);
	if (a == NULL)
		return web_req_refuse(r, MHD_HTTP_NOT_FOUND, ERR_NOT_FOUND,
		    strcmp(path, "/") == 0 ? "this daemon was built without "
		    "a page; its routes are in /api/v1/openapi.json" :
		    "there is nothing of this name; the routes are in "
		    "/api/v1/openapi.json");
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return web_req_refuse_method(r, "GET, HEAD");
	if (!takes_gzip(r))
		return web_req_refuse(r, MHD_HTTP_NOT_ACCEPTABLE,
		    ERR_INVALID_ARGUMENT, "this file is there with "
		    "Content-Encoding: gzip alone; accept that");
	return send_asset(r, a, MHD_HTTP_OK);
}
