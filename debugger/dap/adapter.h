/* SPDX-License-Identifier: ISC */
/* The adapter: its pipes, requests on their way, what it can. */
#ifndef DEBUGGER_DAP_ADAPTER_H
#define DEBUGGER_DAP_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/op.h"

struct json_object;

/* Events of the adapter, for the engine (engine.c). */
struct adapter_hooks {
	void	(*event)(const char *name, struct json_object *body);
	/* It wrote its last, or what cannot be read, or reads no more; why is
	 * words.  May be called from within adapter_ask(), and again. */
	void	(*lost)(const char *why);
};

void	 adapter_init(const struct adapter_hooks *, uint32_t initialize_s,
	    uint32_t request_s);
/* Takes the fds: its stdin, stdout, stderr. */
void	 adapter_open(int in_fd, int out_fd, int err_fd);
/* No more is sent and read; what is on its way stays unanswered. */
void	 adapter_shut(void);
/* Shuts; pending requests fail with adapter_exited and these words. */
void	 adapter_gone(const char *why);
bool	 adapter_up(void);
/*
 * Sends a request.  Takes args (NULL = none).  fn is called exactly once and
 * never before this returns: with the answer, or with "unsupported" (this
 * adapter must not be asked that), "timeout", "adapter_exited".  op may be
 * NULL; it is held meanwhile.
 */
void	 adapter_ask(const char *request, struct json_object *args,
	    struct op *, dap_fn, void *arg);
/* May that request be sent?  By capabilities and what is known of it. */
bool	 adapter_takes(const char *request);
/* An announced capability, "supportsConditionalBreakpoints". */
bool	 adapter_can(const char *capability);
/* The announced capabilities; borrowed; NULL before they are. */
struct json_object *adapter_capabilities(void);
/* How long it has for a request. */
uint64_t adapter_limit_ms(void);
/* The request that it is at, for so many ms; static.  NULL = none. */
const char *adapter_busy(uint64_t *ms);
/* The last line of its stderr that says something, "" = none. */
const char *adapter_complaint(void);
/* An event "capabilities". */
void	 adapter_merge(struct json_object *capabilities);

#endif
