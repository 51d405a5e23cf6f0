/* SPDX-License-Identifier: ISC */
/* Output as it is, and as a recording: for the web. */
#ifndef DL_NET_WEBOUTPUT_H
#define DL_NET_WEBOUTPUT_H

#include "netproc/text/line.h"

struct conn;
struct rsession;

void	cmd_output_raw(struct conn *, struct rsession *, const struct words *);
void	cmd_output_cast(struct conn *, struct rsession *,
	    const struct words *);

#endif
