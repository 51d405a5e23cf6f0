/* SPDX-License-Identifier: ISC */
/* Code that all requests share. */
#ifndef CLIENT_DEBUGGER_REQUEST_H
#define CLIENT_DEBUGGER_REQUEST_H

#include <json-c/json.h>

struct dbg;

/* Adds the command's options to its arguments; -1 after a report. */
int	dbg_request_options(struct dbg *, struct json_object *args);

/* Asks what the command's row says, and prints it. An exit code. */
int	dbg_request_run(struct dbg *, int argc, char **argv);

#endif
