/* SPDX-License-Identifier: ISC */
/* Commands whose line is followed by bytes: UPLOAD and INPUT. */
#ifndef DL_NET_PAYLOAD_H
#define DL_NET_PAYLOAD_H

#include "line.h"
#include "msg.h"

struct conn;
struct rsession;

void	cmd_upload(struct conn *, struct rsession *, const struct words *);
void	cmd_input(struct conn *, struct rsession *, const struct words *);

/* Answers the error, and reads as many bytes without using them. */
void	payload_refuse(struct conn *, uint32_t err, const char *why,
	    uint64_t left);

int	net_on_room(struct msg *);
int	net_on_input_fd(struct msg *);

#endif
