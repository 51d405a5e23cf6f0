/* SPDX-License-Identifier: ISC */
/* Differences of adapters in what they are asked about a stopped program. */
#ifndef DEBUGGER_DAP_DIALECT_H
#define DEBUGGER_DAP_DIALECT_H

#include <stdbool.h>

struct dialect {
	/* a relative path binds to every file that ends so */
	bool		 suffix_paths;
	/* a command that lists the program's files by pattern; or NULL */
	const char	*sources_command;
	/* before the number in hitCondition: "from this hit on" */
	const char	*hit_format;
	/* it counts from 0 again whenever it is sent the list, and takes the
	 * number for hits to pass over */
	bool		 counts_anew;
	/* it forgets the condition of a breakpoint that has no place yet */
	bool		 loses_conditions;
	/* it puts words of its own before the messages of log points */
	bool		 marks_logs;
	/* before what evaluate is to take for a command; NULL = it has none */
	const char	*command_prefix;
	/* contexts of evaluate: to look, and to run code */
	const char	*print_context;
	const char	*eval_context;
	/* before an expression that is to be evaluated as C++, by lldb */
	const char	*expression_prefix;
	/* lldb's commands can stand in for requests that are missing */
	bool		 lldb_commands;
	/* parameters come first in the scope, but are not marked: the
	 * declaration in the source tells how many */
	bool		 params_by_source;
	/* registers are in no groups, whatever they have in them */
	bool		 flat_registers;
	/* asked for a thread that is not there, it shows another one */
	bool		 any_thread;
	/* a command that prints what is thrown; or NULL */
	const char	*thrown_command;
	/* of Python, sets the first of two texts to the second; or NULL */
	const char	*set_function;
	/* assignments are expressions */
	bool		 assigns;
	/* and statements: they have no value, and errors are told for them
	 * alone */
	bool		 statements;
	/* variables of the innermost frame only can be set */
	bool		 sets_innermost;
	/* before a call of a function, where it must be said; or NULL */
	const char	*call_word;
	/* it watches memory, by addresses of expressions */
	bool		 watches;
	/* exception filters, by our kinds; NULL = there is none */
	const char	*throw_filter;
	const char	*panic_filter;
	/* where a panic passes through; NULL = nowhere */
	const char	*panic_function;
	/* and what it was called with there, an expression; or NULL */
	const char	*panic_value;
};

/* That of the present adapter; before there is one, of the most careful. */
const struct dialect *dialect(void);

#endif
