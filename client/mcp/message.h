/* SPDX-License-Identifier: ISC */
/* Messages from an agent's client. */
#ifndef CLIENT_MCP_MESSAGE_H
#define CLIENT_MCP_MESSAGE_H

#include <stddef.h>

/* Takes one line: a message, a batch, or invalid text.  NUL-terminated. */
void	 mcp_take(const char *line, size_t len);

#endif
