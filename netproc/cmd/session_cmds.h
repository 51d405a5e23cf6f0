/* SPDX-License-Identifier: ISC */
/* Commands about sessions; all fit the run field of struct command. */
#ifndef DL_NET_SESSION_CMDS_H
#define DL_NET_SESSION_CMDS_H

#include <stdint.h>

#include "netproc/text/line.h"

struct ask;
struct conn;
struct rsession;

void	cmd_start(struct conn *, struct rsession *, const struct words *);
void	cmd_args(struct conn *, struct rsession *, const struct words *);
void	cmd_env(struct conn *, struct rsession *, const struct words *);
void	cmd_envdel(struct conn *, struct rsession *, const struct words *);
void	cmd_envlist(struct conn *, struct rsession *, const struct words *);
void	cmd_stop(struct conn *, struct rsession *, const struct words *);
void	cmd_kill(struct conn *, struct rsession *, const struct words *);
void	cmd_list(struct conn *, struct rsession *, const struct words *);
void	cmd_usage(struct conn *, struct rsession *, const struct words *);
void	cmd_status(struct conn *, struct rsession *, const struct words *);
void	cmd_delete(struct conn *, struct rsession *, const struct words *);
void	cmd_wait(struct conn *, struct rsession *, const struct words *);
void	cmd_signal(struct conn *, struct rsession *, const struct words *);
void	cmd_name(struct conn *, struct rsession *, const struct words *);
void	cmd_share(struct conn *, struct rsession *, const struct words *);
void	cmd_unshare(struct conn *, struct rsession *, const struct words *);
void	cmd_limits(struct conn *, struct rsession *, const struct words *);

/* Answers what DELETE is answered; an ask_fn whose ask names the session. */
void	delete_done(struct conn *, struct ask *, uint32_t err, const char *msg);

#endif
