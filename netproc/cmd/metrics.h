/* SPDX-License-Identifier: ISC */
/* Figures for Prometheus. */
#ifndef DL_NET_METRICS_H
#define DL_NET_METRICS_H

#include "netproc/text/line.h"

struct conn;
struct rsession;

/* A request was answered with this status. */
void	metrics_count(unsigned int status);
void	cmd_metrics(struct conn *, struct rsession *, const struct words *);

#endif
