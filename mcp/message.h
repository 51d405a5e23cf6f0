/* SPDX-License-Identifier: ISC */
/* What an agent's client says. */
#ifndef CTL_MCP_MESSAGE_H
#define CTL_MCP_MESSAGE_H

#include <stddef.h>

/* One line of it: a message or a batch, or what is none.  NUL-terminated. */
void	 mcp_take(const char *line, size_t len);

#endif
