/* SPDX-License-Identifier: ISC */
/* Tracers' answers, shown to people. */
#ifndef CLIENT_CTL_TRC_SHOW_H
#define CLIENT_CTL_TRC_SHOW_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

/* For client_show(): what is watched after a change, */
void	trc_show_trace(struct json_object *, FILE *);
/* how a session's tracer stands, */
void	trc_show_status(struct json_object *, FILE *);
/* what a pattern stands for, */
void	trc_show_functions(struct json_object *, FILE *);
/* who is traced, */
void	trc_show_sessions(struct json_object *, FILE *);
/* and what has been collected. */
void	trc_show_stop(struct json_object *, FILE *);

/* Whether a launch's answer says that nothing of what was asked is watched. */
bool	trc_is_vain(struct json_object *);

/* Warnings on stderr of what an answer says is not there. */
void	trc_note_losses(struct json_object *);

#endif
