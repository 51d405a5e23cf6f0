/* SPDX-License-Identifier: ISC */
/* From what an HTTP request says to the words of its command. */
#ifndef DL_NET_WEBARGS_H
#define DL_NET_WEBARGS_H

#include <stdbool.h>

#include "netproc/conn/conn.h"
#include "webreq.h"

/*
 * Answers what is wrong with the name that an upload shall have, if anything
 * is; conn_run() is to follow then.
 */
bool	webargs_refuse_name(struct conn *, const struct web_req *);
/* The command after the one that has just worked. */
void	webargs_next(struct web_req *);
/* Runs the command of the request's route, or answers what is wrong. */
void	webargs_run(struct conn *, struct web_req *);

#endif
