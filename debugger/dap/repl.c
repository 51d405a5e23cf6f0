/* SPDX-License-Identifier: ISC */
/* Commands of an adapter's own. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "adapter.h"
#include "base/log.h"
#include "debugger/base/op.h"
#include "debugger/text/json_make.h"
#include "dialect.h"
#include "repl.h"

void
repl_ask(struct op *op, int64_t frame, dap_fn fn, void *arg, const char *fmt,
    ...)
{
	struct json_object *args = jobject();
	char *words;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&words, fmt, ap) < 0)
		fatal("memory");
	va_end(ap);
	jput_fmt(args, "expression", "%s%s", dialect()->command_prefix, words);
	jput_str(args, "context", "repl");
	if (frame != REPL_NO_FRAME)
		jput_int(args, "frameId", frame);
	adapter_ask("evaluate", args, op, fn, arg);
	free(words);
}
