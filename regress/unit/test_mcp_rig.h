/* SPDX-License-Identifier: ISC */
/*
 * The Model Context Protocol without a daemon around it: what stands beside a
 * session is played here.  Included once, by a test or a fuzz target.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "netproc/cmd/command.h"
#include "netproc/cmd/instrument.h"
#include "netproc/cmd/params.h"
#include "netproc/cmd/instrument_kinds.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/replica.h"
#include "netproc/mcp/mcp.h"
#include "netproc/mcp/mcp_pending.h"

/* The answer, and its HTTP status; empty = none. */
static struct text	 said = { .max = 64 << 20 };
static unsigned int	 said_status;
static bool		 said_close;
/* The request to the tracer, its kind and its answer; NULL = it waits. */
static char		 asked[128 * 1024], asked_name[LABEL_MAX + 1];
static bool		 asked_start;
static const char	*will_answer;
static bool		 will_fail;
static uint32_t		 will_err;		/* in place of an answer */
static instrument_fn	 waits;
static ask_fn		 waits_failed;

static struct rsession	 the_session = { .id =
    "01234567-89ab-4cde-8f01-23456789abcd" };
static struct owner	 the_owner = { .uid = 1000 };
static const struct conn_mode the_mode = { .name = "rig" };
const struct instrument	 tracer = { .verb = "TRACER" };

static void
rig_status(struct conn *c, unsigned int status)
{
	(void)c;
	said_status = status;
}

static const struct conn_port rig_port = { .status = rig_status };
static struct conn	 the_conn = { .mode = &the_mode, .owner = &the_owner };

void
conn_write(struct conn *c, const void *p, size_t len)
{
	(void)c;
	text_put(&said, p, len);
}

void
answer_open(struct conn *c)
{
	(void)c;
	text_reset(&said, 1 << 16);
}

void
answer_close(struct conn *c)
{
	(void)c;
	said_close = true;
}

void
answer_error(struct conn *c, uint32_t err, const char *message)
{
	(void)c;
	text_reset(&said, 1 << 16);
	text_puts(&said, err_code(err));
	text_puts(&said, ": ");
	text_puts(&said, message == NULL ? "" : message);
	said_close = true;
}

/* Registered by mcp_init(). */
static const struct command *rig_row;
static void (*rig_end)(struct conn *);
const struct param params_mcp[] = { { .name = NULL } };

void
command_add(const struct command *row, size_t n)
{
	(void)n;
	rig_row = row;
}

void
conn_at_end(void (*fn)(struct conn *))
{
	rig_end = fn;
}

void
command_misused(struct conn *c, const struct words *ws, const char *what)
{
	(void)ws;
	answer_error(c, ERR_INVALID_ARGUMENT, what);
}

struct rsession *
replica_resolve(struct conn *c, const struct word *w, uint32_t *err)
{
	(void)c;
	if (word_is(w, "here"))
		return &the_session;
	*err = word_is(w, "two") ? ERR_AMBIGUOUS_ID : ERR_NOT_FOUND;
	return NULL;
}

const char *
replica_why(const struct conn *c, const struct word *w, uint32_t err)
{
	(void)c;
	(void)w;
	(void)err;
	return NULL;
}

/* -- the tracer ----------------------------------------------------------- */

/* Its answer comes: at once, or when the test says so. */
static void
rig_answer(struct conn *c)
{
	struct word json = { will_answer, 0 };
	struct ask none = { .fn = NULL };

	if (will_err != ERR_OK) {
		waits_failed(c, &none, will_err, "");
		return;
	}
	if (will_answer == NULL)
		return;
	json.len = strlen(will_answer);
	waits(c, &tracer, will_fail, NULL, &json);
}

static void
rig_asked(struct conn *c, const struct word *request, instrument_fn passed,
    ask_fn failed)
{
	(void)snprintf(asked, sizeof(asked), "%.*s", (int)request->len,
	    request->p);
	waits = passed;
	waits_failed = failed;
	rig_answer(c);
}

void
instrument_start(struct conn *c, const struct instrument *in,
    const struct sid *sid, const struct instrument_start *how,
    const struct word *request, instrument_fn passed, ask_fn failed)
{
	(void)in;
	(void)sid;
	asked_start = true;
	(void)snprintf(asked_name, sizeof(asked_name), "%s", how->name);
	rig_asked(c, request, passed, failed);
}

void
instrument_ask(struct conn *c, const struct instrument *in,
    const struct sid *sid, bool use, const struct word *request,
    instrument_fn passed, ask_fn failed)
{
	(void)in;
	(void)sid;
	(void)use;
	asked_start = false;
	asked_name[0] = '\0';
	rig_asked(c, request, passed, failed);
}

/* -- the doors ------------------------------------------------------------ */

static void
rig_reset(void)
{
	text_reset(&said, 1 << 16);
	said_status = 0;
	said_close = false;
	asked[0] = '\0';
}

/* MCP <request> */
static void
rig_line(const char *request, size_t len)
{
	struct words ws = { .n = 2, .end = request + len };

	rig_reset();
	ws.w[0] = (struct word){ "MCP", 3 };
	ws.w[1] = (struct word){ request, len };
	the_conn.port = NULL;
	if (rig_row == NULL)
		mcp_init();
	rig_row->run(&the_conn, NULL, &ws);
}

/* POST /mcp with these headers, NULL = not sent. */
static void
rig_post(const char *body, size_t len, const char *version,
    const char *method, const char *name)
{
	struct words ws = { .n = 5, .end = body + len };

	rig_reset();
	ws.w[0] = (struct word){ "WEBMCP", 6 };
	ws.w[1] = (struct word){ body, len };
	ws.w[2] = (struct word){ version, version == NULL ? 0 : strlen(version) };
	ws.w[3] = (struct word){ method, method == NULL ? 0 : strlen(method) };
	ws.w[4] = (struct word){ name, name == NULL ? 0 : strlen(name) };
	the_conn.port = &rig_port;
	cmd_mcp_web(&the_conn, NULL, &ws);
}
