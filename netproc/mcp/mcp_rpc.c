/* SPDX-License-Identifier: ISC */
/* A message: JSON-RPC, the revision that applies to it, and its method. */
#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mcp.h"
#include "netproc/conn/conn.h"
#include "netproc/text/text64.h"

#define META		"io.modelcontextprotocol/"
/* Buffer for a value quoted in an error; longer values are not quoted. */
#define QUOTED		80
/* A list that never changes while a daemon runs may be kept so long. */
#define TTL_MS		3600000

static const char *const eras[MCP_ERAS] = {
	[MCP_2024_11_05] = "2024-11-05",
	[MCP_2025_03_26] = "2025-03-26",
	[MCP_2025_06_18] = "2025-06-18",
	[MCP_2025_11_25] = "2025-11-25",
	[MCP_2026_07_28] = "2026-07-28",
};

static const char instructions[] =
    "Trace functions of a native program (C, C++, Rust, Go; it need not be "
    "built anew) while it runs. 1. debug_launch starts it, with nothing traced "
    "yet. 2. debug_trace adds patterns of function names, few and narrow ones "
    "first. 3. Let the program do what is of interest. 4. debug_query tells "
    "what was called, and what it wrote; verbose shows arguments and return "
    "values. 5. debug_stop ends the tracing; the program goes on.";

const char *
mcp_era_text(enum mcp_era era)
{
	return eras[era];
}

bool
mcp_era_named(const char *s, enum mcp_era *era)
{
	size_t i;

	for (i = 0; i < MCP_ERAS; i++)
		if (strcmp(s, eras[i]) == 0) {
			*era = (enum mcp_era)i;
			return true;
		}
	return false;
}

bool
mcp_era_find(const struct word *v, enum mcp_era *era)
{
	char name[16];

	return json_unquote(v, name, sizeof(name)) != SIZE_MAX &&
	    mcp_era_named(name, era);
}

static bool
is_modern(const struct mcp *m)
{
	return m->era >= MCP_2026_07_28;
}

/* -- answers -------------------------------------------------------------- */

static void
open_answer(struct mcp *m)
{
	struct text *t = &m->out;

	json_open(t, '{');
	json_key(t, "jsonrpc");
	json_text(t, "2.0");
	json_key(t, "id");
	if (m->id.len > 0)
		text_put(t, m->id.p, m->id.len);
	else
		json_raw(t, "null");
}

static void
open_error(struct mcp *m, int code, unsigned int status, const char *words)
{
	char digits[16];

	(void)snprintf(digits, sizeof(digits), "%d", code);
	if (!m->batch)
		m->status = status;
	open_answer(m);
	json_key(&m->out, "error");
	json_open(&m->out, '{');
	json_key(&m->out, "code");
	json_raw(&m->out, digits);
	json_key(&m->out, "message");
	json_text(&m->out, words);
}

void
mcp_refuse(struct mcp *m, int code, unsigned int status, const char *fmt, ...)
{
	char words[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	open_error(m, code, status, words);
	json_close(&m->out, '}');
	json_close(&m->out, '}');
}

static void
versions_json(struct text *t)
{
	size_t i;

	json_open(t, '[');
	/* the newest first: it is the best */
	for (i = MCP_ERAS; i > 0; i--)
		json_text(t, eras[i - 1]);
	json_close(t, ']');
}

static void
refuse_version(struct mcp *m, const char *asked)
{
	struct text *t = &m->out;

	open_error(m, MCP_NO_VERSION, MHD_HTTP_BAD_REQUEST,
	    "Unsupported protocol version");
	json_key(t, "data");
	json_open(t, '{');
	json_key(t, "supported");
	versions_json(t);
	json_key(t, "requested");
	json_text(t, asked);
	json_close(t, '}');
	json_close(t, '}');
	json_close(t, '}');
}

static void
server_json(struct text *t, bool title)
{
	json_open(t, '{');
	json_key(t, "name");
	json_text(t, "debuglantern");
	if (title) {
		json_key(t, "title");
		json_text(t, "debuglantern, function tracing");
	}
	json_key(t, "version");
	json_text(t, DL_VERSION);
	json_close(t, '}');
}

struct text *
mcp_result(struct mcp *m)
{
	struct text *t = &m->out;

	open_answer(m);
	json_key(t, "result");
	json_open(t, '{');
	if (is_modern(m)) {
		json_key(t, "resultType");
		json_text(t, "complete");
	}
	return t;
}

void
mcp_result_end(struct mcp *m)
{
	struct text *t = &m->out;

	if (is_modern(m)) {
		json_key(t, "_meta");
		json_open(t, '{');
		json_key(t, META "serverInfo");
		server_json(t, true);
		json_close(t, '}');
	}
	json_close(t, '}');
	json_close(t, '}');
}

/* Members of a result that is the same for every client. */
static void
cacheable(struct mcp *m)
{
	if (!is_modern(m))
		return;
	json_key(&m->out, "ttlMs");
	json_u64(&m->out, TTL_MS);
	json_key(&m->out, "cacheScope");
	json_text(&m->out, "public");
}

static void
abilities(struct text *t)
{
	json_key(t, "capabilities");
	json_raw(t, "{\"tools\":{\"listChanged\":false}}");
	json_key(t, "instructions");
	json_text(t, instructions);
}

/* -- methods -------------------------------------------------------------- */

static void
initialize(struct conn *c, const struct word *params)
{
	struct mcp *m = c->mcp;
	enum mcp_era era = MCP_2025_11_25;
	struct word version;
	struct text *t;

	if (m->batch) {
		mcp_refuse(m, MCP_INVALID_REQUEST, MHD_HTTP_BAD_REQUEST,
		    "initialize must not be part of a batch");
		return;
	}
	if (json_member(params, "protocolVersion", &version) != JSON_ONE ||
	    json_kind(&version) != '"') {
		mcp_refuse(m, MCP_INVALID_PARAMS, MHD_HTTP_OK, "initialize "
		    "needs protocolVersion, such as \"%s\"",
		    eras[MCP_2025_11_25]);
		return;
	}
	/* of a revision that has no handshake it would be a lie */
	if (!mcp_era_find(&version, &era) || era > MCP_2025_11_25)
		era = MCP_2025_11_25;
	m->era = era;
	t = mcp_result(m);
	json_key(t, "protocolVersion");
	json_text(t, eras[era]);
	abilities(t);
	json_key(t, "serverInfo");
	server_json(t, era >= MCP_2025_06_18);
	mcp_result_end(m);
}

static void
ping(struct conn *c, const struct word *params)
{
	(void)params;
	(void)mcp_result(c->mcp);
	mcp_result_end(c->mcp);
}

static void
discover(struct conn *c, const struct word *params)
{
	struct text *t = mcp_result(c->mcp);

	(void)params;
	json_key(t, "supportedVersions");
	versions_json(t);
	abilities(t);
	cacheable(c->mcp);
	mcp_result_end(c->mcp);
}

static void
tools_list(struct conn *c, const struct word *params)
{
	struct mcp *m = c->mcp;
	struct word cursor;
	struct text *t;

	if (json_member(params, "cursor", &cursor) != JSON_NONE &&
	    json_kind(&cursor) != 'n') {
		mcp_refuse(m, MCP_INVALID_PARAMS, MHD_HTTP_OK, "there is no "
		    "such cursor: all tools are on the first page");
		return;
	}
	t = mcp_result(m);
	json_key(t, "tools");
	mcp_tools_json(t, m->era);
	cacheable(m);
	mcp_result_end(m);
}

static const struct {
	const char	*name;
	enum mcp_era	 from, to;
	void		(*run)(struct conn *, const struct word *params);
} methods[] = {
	{ "initialize", MCP_2024_11_05, MCP_2026_07_28, initialize },
	{ "ping", MCP_2024_11_05, MCP_2025_11_25, ping },
	{ "server/discover", MCP_2026_07_28, MCP_2026_07_28, discover },
	{ "tools/list", MCP_2024_11_05, MCP_2026_07_28, tools_list },
	{ "tools/call", MCP_2024_11_05, MCP_2026_07_28, mcp_call },
};

/* Quotes a string that the client has sent, or as much of it as is short. */
static const char *
quoted(const struct word *v)
{
	static char buf[QUOTED];

	if (json_unquote(v, buf, sizeof(buf)) == SIZE_MAX)
		(void)snprintf(buf, sizeof(buf), "that");
	return buf;
}

static void
run(struct conn *c, const struct word *method, const struct word *params)
{
	struct mcp *m = c->mcp;
	size_t i;

	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (m->era >= methods[i].from && m->era <= methods[i].to &&
		    json_says(method, methods[i].name)) {
			methods[i].run(c, params);
			return;
		}
	mcp_refuse(m, MCP_NO_METHOD, is_modern(m) ? MHD_HTTP_NOT_FOUND :
	    MHD_HTTP_OK, "Method not found: %s", quoted(method));
}

/* -- the revision --------------------------------------------------------- */

/* A value of a header that is no plain ASCII comes as =?base64?...?= */
static bool
header_says(const char *header, const struct word *string)
{
	static const char mark[] = "=?base64?";
	struct text t = { .max = 1024 };
	char plain[512];
	size_t len, n = strlen(header);
	bool same;

	len = json_unquote(string, plain, sizeof(plain));
	if (len == SIZE_MAX)
		return false;
	if (strncmp(header, mark, sizeof(mark) - 1) != 0 ||
	    n < sizeof(mark) + 1 || strcmp(header + n - 2, "?=") != 0)
		return strcmp(header, plain) == 0;
	text_base64(&t, plain, len);
	same = t.len == n - (sizeof(mark) - 1) - 2 &&
	    memcmp(t.p, header + sizeof(mark) - 1, t.len) == 0;
	text_free(&t);
	return same;
}

/* Checks headers against the message: proxies have acted on the headers. */
static bool
headers_agree(struct mcp *m, const struct word *method,
    const struct word *params)
{
	struct word name;
	const char *wrong = NULL;

	if (m->version == NULL ? is_modern(m) :
	    strcmp(m->version, eras[m->era]) != 0)
		wrong = "MCP-Protocol-Version";
	else if (!is_modern(m))
		return true;
	else if (m->method == NULL || !header_says(m->method, method))
		wrong = "Mcp-Method";
	else if (json_says(method, "tools/call") &&
	    json_member(params, "name", &name) == JSON_ONE &&
	    (m->name == NULL || !header_says(m->name, &name)))
		wrong = "Mcp-Name";
	if (wrong != NULL)
		mcp_refuse(m, MCP_HEADER_MISMATCH, MHD_HTTP_BAD_REQUEST,
		    "Header mismatch: %s must be there and say what the "
		    "message says", wrong);
	return wrong == NULL;
}

/* A request that says its revision itself; false when it is refused. */
static bool
take_modern(struct mcp *m, const struct word *meta, const struct word *method,
    const struct word *params)
{
	struct word version, can;

	if (json_member(meta, META "protocolVersion", &version) != JSON_ONE ||
	    json_kind(&version) != '"') {
		mcp_refuse(m, MCP_INVALID_PARAMS, MHD_HTTP_BAD_REQUEST,
		    "params._meta needs " META "protocolVersion, such as "
		    "\"%s\"", eras[MCP_2026_07_28]);
		return false;
	}
	if (!mcp_era_find(&version, &m->era)) {
		refuse_version(m, quoted(&version));
		return false;
	}
	if (is_modern(m) && (json_member(meta, META "clientCapabilities",
	    &can) != JSON_ONE || json_kind(&can) != '{')) {
		mcp_refuse(m, MCP_INVALID_PARAMS, MHD_HTTP_BAD_REQUEST,
		    "params._meta needs " META "clientCapabilities, an "
		    "object");
		return false;
	}
	return !m->web || headers_agree(m, method, params);
}

/*
 * Sets the revision of a request: by default the one that the handshake agreed
 * on.  Where the revision has no handshake, each request must name it.
 */
static bool
take_era(struct mcp *m, const struct word *method, const struct word *params)
{
	struct word meta, version;

	m->era = m->agreed;
	(void)json_member(params, "_meta", &meta);
	if (json_says(method, "initialize"))
		m->era = MCP_2025_11_25;
	else if (m->agreed >= MCP_2026_07_28 ||
	    json_says(method, "server/discover") || json_member(&meta,
	    META "protocolVersion", &version) != JSON_NONE)
		return take_modern(m, &meta, method, params);
	return true;
}

/* -- the message ---------------------------------------------------------- */

/* A string or a whole number; everything else is no id. */
static bool
take_id(struct mcp *m, const struct word *message, enum json_found *found)
{
	struct word id;
	char kind;

	m->id.len = 0;
	*found = json_member(message, "id", &id);
	kind = json_kind(&id);
	if (*found == JSON_ONE && (kind == '"' || (kind == '0' &&
	    memchr(id.p, '.', id.len) == NULL &&
	    memchr(id.p, 'e', id.len) == NULL &&
	    memchr(id.p, 'E', id.len) == NULL)))
		m->id = id;
	return *found == JSON_NONE || m->id.len > 0;
}

static void
request(struct conn *c, const struct word *message, const struct word *method)
{
	struct mcp *m = c->mcp;
	struct word version, params;
	enum json_found found = json_member(message, "params", &params);

	if (json_member(message, "jsonrpc", &version) != JSON_ONE ||
	    !json_says(&version, "2.0"))
		mcp_refuse(m, MCP_INVALID_REQUEST, MHD_HTTP_BAD_REQUEST,
		    "jsonrpc must be \"2.0\"");
	else if (found == JSON_TWICE || (found == JSON_ONE &&
	    json_kind(&params) != '{'))
		mcp_refuse(m, MCP_INVALID_PARAMS, MHD_HTTP_OK, "params must "
		    "be an object");
	else if (take_era(m, method, &params))
		run(c, method, &params);
}

/* An answer to nothing: servers ask nothing here. */
static bool
is_response(const struct word *message)
{
	struct word v;

	return json_member(message, "result", &v) != JSON_NONE ||
	    json_member(message, "error", &v) != JSON_NONE;
}

void
mcp_message(struct conn *c, const struct word *message)
{
	struct mcp *m = c->mcp;
	enum json_found has_id, has_method;
	struct word method;
	bool good_id;

	m->id.len = 0;
	if (json_kind(message) != '{') {
		mcp_refuse(m, MCP_INVALID_REQUEST, MHD_HTTP_BAD_REQUEST,
		    "a message is an object");
		return;
	}
	good_id = take_id(m, message, &has_id);
	has_method = json_member(message, "method", &method);
	if (has_method == JSON_NONE && is_response(message))
		return;
	if (has_method != JSON_ONE || json_kind(&method) != '"')
		mcp_refuse(m, MCP_INVALID_REQUEST, MHD_HTTP_BAD_REQUEST,
		    "method must be a string, such as \"tools/list\"");
	else if (has_id == JSON_NONE)
		return;
	else if (!good_id)
		mcp_refuse(m, MCP_INVALID_REQUEST, MHD_HTTP_BAD_REQUEST,
		    "id must be a string or a whole number, once");
	else
		request(c, message, &method);
}

void
mcp_unsupported(struct mcp *m, const struct word *message)
{
	enum json_found found;

	(void)take_id(m, message, &found);
	refuse_version(m, m->version);
}
