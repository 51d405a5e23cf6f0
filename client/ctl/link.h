/* SPDX-License-Identifier: ISC */
/* A connection that has become a terminal's: messages both ways, none of
 * which is ever waited for. */
#ifndef CLIENT_CTL_LINK_H
#define CLIENT_CTL_LINK_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "terminal_proto.h"

struct client;
struct link;

struct link_how {
	const char	*from;		/* offset to begin at; NULL: history */
	bool		 read_only;
	unsigned int	 cols;		/* 0: the session keeps its size */
	unsigned int	 rows;
};

/*
 * Attaches to a session by the client's connection, which is the link's from
 * then on. *sessionp, the session object, is the caller's to put. An exit
 * code, after a report unless it is CTL_OK. link_free() ends it.
 */
int	link_attach(struct client *, const char *id, const struct link_how *,
	    struct link **, struct json_object **sessionp);
void	link_free(struct link *);

/* For poll: a borrowed descriptor, and the events that matter. */
int	link_fd(const struct link *);
short	link_events(const struct link *, bool reading);

/* Whether a whole message is here. */
bool	link_ready(const struct link *);

/* Whether link_turn() has something to receive whatever poll says. */
bool	link_buffered(const struct link *);

/*
 * Takes one. 1 with a message, borrowed until the next call on this link; 0
 * when none is here; -1 after a report when what came is no message.
 */
int	link_take(struct link *, struct terminal_msg *);

/* Receives and sends what can be; -1 after a report, the link is broken. */
int	link_turn(struct link *, bool reading);

/* How many bytes of input there is room for. */
size_t	link_room(const struct link *);

/* Queues input, no more than there is room for. */
void	link_input(struct link *, const void *data, size_t len);

/* These always have room. */
void	link_resize(struct link *, unsigned int cols, unsigned int rows);
void	link_ack(struct link *, uint64_t offset);

#endif
