/* SPDX-License-Identifier: ISC */
/*
 * How adapters differ in what they are asked about a stopped program.  The
 * rows are found by the profile's name.
 */
#include <stddef.h>
#include <string.h>

#include "debugger/base/debuggee.h"
#include "dialect.h"
#include "profile.h"

static const struct dialect dialects[] = {
	{
		.name = "lldb-dap", .suffix_paths = true, .hit_format = "",
		/* its repl takes short names for commands: `b` is one */
		.command_prefix = "`", .print_context = "watch",
		.eval_context = "watch", .lldb_commands = true,
		.expression_prefix = "", .assigns = true, .watches = true,
		.throw_filter = "cpp_throw", .panic_function = "rust_panic",
	}, {
		.name = "codelldb", .suffix_paths = true, .hit_format = ">= ",
		.command_prefix = "`", .print_context = "watch",
		.eval_context = "watch", .lldb_commands = true,
		.expression_prefix = "/nat ", .assigns = true, .watches = true,
		.throw_filter = "cpp_throw", .panic_function = "rust_panic",
	}, {
		.name = "delve", .sources_command = "dlv sources ",
		.hit_format = ">= ", .command_prefix = "dlv ",
		.marks_logs = true,
		.print_context = "watch", .eval_context = "repl",
		.params_by_source = true, .sets_innermost = true,
		.call_word = "call ",
		.panic_function = "runtime.gopanic", .panic_value = "e",
	}, {
		.name = "debugpy", .hit_format = ">= ",
		.print_context = "watch", .eval_context = "repl",
		.params_by_source = true, .assigns = true,
		.statements = true, .sets_innermost = true,
		.throw_filter = "raised", .panic_filter = "uncaught",
	}, {
		.name = "gdb", .suffix_paths = true, .counts_anew = true,
		.loses_conditions = true,
		.hit_format = "", .flat_registers = true,
		.any_thread = true,
		.thrown_command = "python dl_thrown()",
		.set_function = "dl_set",
		.command_prefix = "", .print_context = "watch",
		.eval_context = "watch", .assigns = true, .watches = true,
		.throw_filter = "throw", .panic_function = "rust_panic",
	}, {
		.name = "", .hit_format = "", .print_context = "watch",
		.eval_context = "repl",
	}
};

const struct dialect *
dialect(void)
{
	const char *name = dbg.profile == NULL ? "" : dbg.profile->name;
	const struct dialect *d = dialects;

	while (d->name[0] != '\0' && strcmp(d->name, name) != 0)
		d++;
	return d;
}
