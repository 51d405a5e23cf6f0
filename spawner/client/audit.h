/* SPDX-License-Identifier: ISC */
/*
 * The audit log: who did what, by which way, with what result.  Each event is
 * one line to the parent, and the last of them are kept for AUDIT.
 */
#ifndef SPAWNER_AUDIT_H
#define SPAWNER_AUDIT_H

#include "client.h"
#include "wire/msg.h"
#include "wire/proto.h"

/* All borrowed; NULL where there is none.  Text need not be printable. */
struct audit {
	const char	*user, *door, *address;
	const struct sid *session;
	const char	*action;	/* "START", "login" */
	const char	*result;	/* "ok", or an error code and its reason */
};

void	 audit_write(const struct audit *);
/* A connection of a known user. */
void	 audit_login(const struct client *);
/* A connection that was closed; why is text for people. */
void	 audit_refused(enum door, const char *address, const char *why);
/* That connection has gone, or all (0): they wait for events no more. */
void	 audit_drop_waiting(uint32_t conn);

#endif
