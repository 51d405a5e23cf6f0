/* SPDX-License-Identifier: ISC */
/*
 * Followers that lose nothing: while one is behind, the spawner reads the
 * program's pipes no further than its ring has room.
 */
#ifndef DL_NET_HOLD_H
#define DL_NET_HOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conn;
struct ring;

/* Flow control of a follower. */
struct hold {
	bool		 on;
	uint64_t	 told;		/* the spawner: what the client has */
};

/*
 * Offset up to which a client surely has the output, even if this process dies
 * now: output was sent up to offset, unsent bytes are still here, and no line
 * is longer than longest bytes.
 */
uint64_t hold_taken(uint64_t offset, size_t unsent, size_t longest);
/* Whether the spawner has to be told that the client has so much. */
bool	 hold_is_news(const struct hold *, const struct ring *,
	    uint64_t taken);

/* Why the connection may not hold the session that it watches; ERR_OK. */
uint32_t hold_refused(const struct conn *, const char **why);
/* Tells the spawner that the client has what is before offset, or to let go. */
void	 hold_tell(struct conn *, struct hold *, uint32_t run, uint64_t offset);

#endif
