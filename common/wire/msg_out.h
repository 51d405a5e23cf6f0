/* SPDX-License-Identifier: ISC */
/*
 * The message being written: shared by encoder, channel, and the launcher's
 * observer, by nobody else.
 */
#ifndef DL_MSG_OUT_H
#define DL_MSG_OUT_H

#include "msg.h"

/* header and payload are adjacent: one send of both */
struct msg_out {
	struct msg_hdr	hdr;
	uint8_t		payload[MSG_PAYLOAD_MAX];
	bool		bad;
};

_Static_assert(offsetof(struct msg_out, payload) == sizeof(struct msg_hdr),
    "the payload must follow the header without a gap");

#endif
