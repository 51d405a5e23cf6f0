/* SPDX-License-Identifier: ISC */
/*
 * The end of a request, for tests of what is below one: it has no parameters,
 * and nothing is refused.  Include it last.
 */
#ifndef TEST_DBG_OP_H
#define TEST_DBG_OP_H

#include "debugger/base/op.h"

bool
op_int(struct op *op, const char *name, bool need, int64_t *value)
{
	(void)op;
	(void)name;
	(void)need;
	(void)value;
	return true;
}

void
op_fail(struct op *op, const char *code, const char *fmt, ...)
{
	(void)op;
	(void)fmt;
	fail_msg("refused: %s", code);
}

#endif
