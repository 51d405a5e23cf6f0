/* SPDX-License-Identifier: ISC */
/* JSON about a session's debugger and tracer. */
#ifndef DL_NET_INSTJSON_H
#define DL_NET_INSTJSON_H

#include "wire/view.h"

struct text;

/* A member that is null where the text is empty. */
void	 text_or_null(struct text *, const char *key, const char *);
/* Members of a debugger's row in the list, and of a tracer's. */
void	 debugger_state_json(struct text *, const struct session_view *);
void	 tracer_state_json(struct text *, const struct session_view *);
/* The session object's members "debugger" and "tracer"; null without one. */
void	 instruments_json(struct text *, const struct session_view *);

#endif
