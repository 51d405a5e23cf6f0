/* SPDX-License-Identifier: ISC */
/* Arguments of editors' requests, by the schema of the protocol. */
#ifndef DEBUGGER_EDITOR_DAPCHECK_H
#define DEBUGGER_EDITOR_DAPCHECK_H

#include <stdbool.h>
#include <stddef.h>

struct json_object;

/*
 * Are these (NULL = none) the arguments of that request?  If not, words say
 * which member is wrong, and what it must be.  Members that are null are taken
 * out, as if they had not been sent.  A request that is not known is good.
 */
bool	 dapcheck(const char *command, struct json_object *args, char *words,
	    size_t room);

#endif
