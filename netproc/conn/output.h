/* SPDX-License-Identifier: ISC */
/* OUTPUT and FOLLOW: what programs wrote, from their rings. */
#ifndef DL_NET_OUTPUT_H
#define DL_NET_OUTPUT_H

#include "netproc/text/line.h"

struct conn;
struct rsession;

void	cmd_output(struct conn *, struct rsession *, const struct words *);
void	cmd_follow(struct conn *, struct rsession *, const struct words *);

#endif
