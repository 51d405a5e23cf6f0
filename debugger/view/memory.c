/* SPDX-License-Identifier: ISC */
/*
 * Bytes of the program.  Where the adapter has no request for them, lldb's
 * own commands do it, and their text is read.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/base64.h"
#include "base/log.h"
#include "debugger/base/command.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/format.h"
#include "debugger/base/op.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/dialect.h"
#include "debugger/dap/profile.h"
#include "debugger/dap/repl.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/text/memtext.h"
#include "looks.h"
#include "memory.h"
#include "view.h"

#define COUNT_DEFAULT	64
#define COUNT_MOST	65536
#define WRITE_MOST	256

struct span {
	uint64_t	 address;
	int64_t		 count;		/* bytes to be read */
	int64_t		 asked;		/* that the client wanted */
	int64_t		 frame;
	void		(*then)(struct op *);
	uint8_t		 bytes[WRITE_MOST];	/* to be written */
};

static void
unsupported(struct op *op, const char *what)
{
	op_fail(op, "unsupported", "the adapter %s cannot %s memory",
	    dbg.profile == NULL ? "" : dbg.profile->name, what);
}

/* -- where -------------------------------------------------------------- */
static void
on_address(struct op *op, const struct dap_answer *a, void *arg)
{
	struct span *m = op->data;
	const char *value = a->ok ? jget_str(a->body, "result") : NULL;
	int64_t n;

	(void)arg;
	if (!a->ok) {
		op_fail(op, "evaluate_failed", "that is no address: %.1500s",
		    a->message);
		return;
	}
	if (value != NULL && format_address(value, &m->address)) {
		m->then(op);
	} else if (value != NULL && format_number(value, &n)) {
		m->address = (uint64_t)n;
		m->then(op);
	} else
		op_fail(op, "evaluate_failed", "%s is no address: give one, "
		    "0x7ffe12345678, or an expression that has one, &name",
		    value == NULL ? "nothing" : value);
}

static void
on_place(struct op *op, const struct view *v, const char *code,
    const char *why, void *arg)
{
	struct span *m = op->data;
	const char *text = NULL;
	struct json_object *args;
	char *end;

	(void)arg;
	(void)op_string(op, "address", true, &text);
	if (code != NULL || !view_frame_id(v, &m->frame)) {
		op_fail(op, code == NULL ? "no_such" : code, "%s",
		    why == NULL ? "there is no frame to look in" : why);
		return;
	}
	m->address = strtoull(text, &end, 0);
	if (isdigit((unsigned char)text[0]) && *end == '\0') {
		m->then(op);
		return;
	}
	args = jone_int("frameId", m->frame);
	jput_str(args, "expression", text);
	jput_str(args, "context", dialect()->print_context);
	adapter_ask("evaluate", args, op, on_address, NULL);
}

static void
locate(struct op *op, void (*then)(struct op *))
{
	struct span *m = op->data;
	const char *text = NULL;

	m->then = then;
	if (op_string(op, "address", true, &text))
		view_ask(op, VIEW_PLACE, on_place, NULL);
}

static struct span *
new_span(struct op *op)
{
	struct span *m = calloc(1, sizeof(*m));

	if (m == NULL)
		op_fail(op, "internal_error", "out of memory");
	op->data = m;
	op->free_data = free;
	return m;
}

/* Where the adapter has no request for it: a command of lldb's. */
static void
run_command(struct op *op, const char *command, dap_fn then)
{
	const struct span *m = op->data;

	repl_ask(op, m->frame, then, NULL, "%s", command);
}

/* -- memory_read -------------------------------------------------------- */
static void
reply_bytes(struct op *op, const uint8_t *bytes, size_t n)
{
	const struct span *m = op->data;
	struct json_object *o = jobject();
	struct bound b;
	char *hex;
	size_t i;

	if (!bound_init(&b, op) || (hex = malloc(2 * n + 1)) == NULL) {
		json_object_put(o);
		return;
	}
	for (i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	hex[2 * n] = '\0';
	jput_fmt(o, "address", "0x%" PRIx64, m->address);
	jput_int(o, "count", (int64_t)n);
	jput_str(o, "hex", hex);
	free(hex);
	if ((int64_t)n < m->count)
		jput_int(o, "unreadable", m->count - (int64_t)n);
	if (m->count < m->asked)
		bound_cut(&b, "memory", (int64_t)n, m->asked, NULL,
		    (int64_t)n);
	bound_done(&b, o);
	op_reply(op, o);
}

static void
on_memory(struct op *op, const struct dap_answer *a, void *arg)
{
	const struct span *m = op->data;
	const char *data = a->ok ? jget_str(a->body, "data") : NULL;
	size_t len, n;
	uint8_t *bytes;

	(void)arg;
	if (!a->ok || data == NULL) {
		op_fail(op, "evaluate_failed", "0x%" PRIx64 " cannot be "
		    "read%s%.1500s", m->address,
		    a->message == NULL ? "" : ": ",
		    a->message == NULL ? "" : a->message);
		return;
	}
	len = strlen(data);
	if ((bytes = malloc(BASE64_ROOM(len) + 1)) == NULL)
		fatal("memory");
	if (!base64_get(data, len, bytes, &n))
		op_fail(op, "adapter_failed", "the adapter's answer is no "
		    "base64");
	else if (n > (size_t)m->count)
		op_fail(op, "adapter_failed", "the adapter's answer has more "
		    "bytes than were asked for");
	else
		reply_bytes(op, bytes, n);
	free(bytes);
}

static void
on_dump(struct op *op, const struct dap_answer *a, void *arg)
{
	const struct span *m = op->data;
	const char *text = a->ok ? jget_str(a->body, "result") : NULL;
	uint8_t *bytes = NULL;
	size_t n = 0;

	(void)arg;
	if (text != NULL && (bytes = malloc((size_t)m->count)) != NULL)
		n = memtext_dump(text, bytes, (size_t)m->count);
	if (n > 0)
		reply_bytes(op, bytes, n);
	else
		op_fail(op, "evaluate_failed", "0x%" PRIx64 " cannot be "
		    "read: %.1500s", m->address,
		    text == NULL ? a->message : memtext_error(text));
	free(bytes);
}

static void
do_read(struct op *op)
{
	const struct span *m = op->data;
	struct json_object *args;
	char command[128];

	if (adapter_takes("readMemory")) {
		args = jobject();
		jput_fmt(args, "memoryReference", "0x%" PRIx64, m->address);
		jput_int(args, "offset", 0);
		jput_int(args, "count", m->count);
		adapter_ask("readMemory", args, op, on_memory, NULL);
		return;
	}
	(void)snprintf(command, sizeof(command), "memory read --force --size 1 "
	    "--format x --count %" PRId64 " 0x%" PRIx64, m->count, m->address);
	run_command(op, command, on_dump);
}

static void
memory_read(struct op *op)
{
	struct span *m = new_span(op);
	int64_t count = COUNT_DEFAULT;
	struct bound b;

	if (m == NULL || !op_int(op, "count", false, &count) ||
	    !bound_init(&b, op))
		return;
	if (count < 1 || count > COUNT_MOST) {
		op_fail(op, "invalid_argument", "count is %" PRId64 ": from 1 "
		    "to %d bytes are read at once", count, COUNT_MOST);
		return;
	}
	if (!adapter_takes("readMemory") && !dialect()->lldb_commands) {
		unsupported(op, "read");
		return;
	}
	m->asked = m->count = count;
	/* two digits a byte */
	if ((size_t)count > bound_left(&b) / 2 - 64)
		m->count = (int64_t)bound_left(&b) / 2 - 64;
	locate(op, do_read);
}

/* -- memory_write ------------------------------------------------------- */
static void
on_written(struct op *op, const struct dap_answer *a, void *arg)
{
	const struct span *m = op->data;
	const char *text = a->ok ? jget_str(a->body, "result") : NULL;
	struct json_object *o;

	(void)arg;
	if (!a->ok || (text != NULL && strstr(text, "error: ") != NULL)) {
		op_fail(op, "evaluate_failed", "0x%" PRIx64 " cannot be "
		    "written: %.1500s", m->address,
		    a->ok ? memtext_error(text) : a->message);
		return;
	}
	o = jobject();
	jput_fmt(o, "address", "0x%" PRIx64, m->address);
	jput_int(o, "count", m->count);
	op_reply(op, o);
	debuggee_touched();
}

void
memory_poke(struct op *op, int64_t frame, uint64_t address,
    const uint8_t *bytes, size_t count, dap_fn fn, void *arg)
{
	struct json_object *args;
	char *text;
	size_t n = 0, i, room = 1 + count * 5;

	if (adapter_takes("writeMemory")) {
		args = jobject();
		jput_fmt(args, "memoryReference", "0x%" PRIx64, address);
		text = format_base64(bytes, count);
		jput_str(args, "data", text);
		free(text);
		adapter_ask("writeMemory", args, op, fn, arg);
		return;
	}
	if ((text = malloc(room)) == NULL)
		fatal("memory");
	text[0] = '\0';
	for (i = 0; i < count; i++)
		n += (size_t)snprintf(text + n, room - n, " 0x%02x", bytes[i]);
	repl_ask(op, frame, fn, arg, "memory write --size 1 0x%" PRIx64 "%s",
	    address, text);
	free(text);
}

static void
do_write(struct op *op)
{
	const struct span *m = op->data;

	memory_poke(op, m->frame, m->address, m->bytes, (size_t)m->count,
	    on_written, NULL);
}

static void
memory_write(struct op *op)
{
	struct span *m = new_span(op);
	const char *hex = NULL;

	if (m == NULL || !op_string(op, "hex", true, &hex))
		return;
	m->count = memtext_unhex(hex, m->bytes, sizeof(m->bytes));
	if (m->count < 1)
		op_fail(op, "invalid_argument", "%.80s is not what to write: "
		    "pairs of hex digits, up to %d bytes", hex, WRITE_MOST);
	else if (!adapter_takes("writeMemory") && !dialect()->lldb_commands)
		unsupported(op, "write");
	else
		locate(op, do_write);
}

const struct command memory_commands[] = {
	{ "memory_read", false, ON_STOPPED, memory_read },
	{ "memory_write", false, ON_STOPPED, memory_write },
	{ NULL, false, 0, NULL }
};
