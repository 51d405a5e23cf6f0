/* SPDX-License-Identifier: ISC */
/*
 * The channel to the spawner, as every instrument has it: requests of clients
 * and their answers, the session's output, the end.  A role adds its own
 * messages.  Upcalls come from the event loop, never from within a call
 * downwards.
 */
#ifndef INST_LINK_H
#define INST_LINK_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/msg.h"

/* A request of a client, as the spawner passed it on. */
struct ask {
	uint32_t	conn;		/* the client's connection */
	uint32_t	id;		/* of the request, on our channel */
	uint32_t	uid;
	bool		rw;		/* else only what looks */
};

/* -- upwards --------------------------------------------------------------- */
struct link_calls {
	/* json: an object with "command" and "args"; borrowed, no NUL needed. */
	void	(*ask)(const struct ask *, const char *json, size_t);
	void	(*conn_gone)(uint32_t conn);
	/* The output of a new run; takes fd (a sealed memfd). */
	void	(*ring)(int fd);
	/* Answers link_arm(): so much has been written. */
	void	(*output_notice)(uint64_t total);
	/*
	 * The order could not be carried out: an error code for clients, and a
	 * sentence that says why.
	 */
	void	(*run_failed)(const char *code, const char *why);
	/* link_is_full() no longer; NULL = nothing waits for that. */
	void	(*goes_on)(void);
};

/* -- downwards ------------------------------------------------------------- */
/*
 * So much waits for the spawner that answers which can wait should: the
 * channel ends when too much of it does.
 */
bool	 link_is_full(void);
/* The one answer to a request: an object, "result" or "error" by failed. */
void	 link_reply(const struct ask *, bool failed, const char *json, size_t);
/* The answer that is sent next is given when the instrument has gone. */
void	 link_reply_last(void);
/* Reports what a request will do, for the audit log: before its answer. */
void	 link_does(const struct ask *, uint32_t action);
/* output_notice() follows, once, as soon as the ring has more than that. */
void	 link_arm(uint64_t offset);
/* The instrument is done. */
void	 link_bye(void);

/* -- for the role's own messages ------------------------------------------- */
/* Takes fd, borrows the rest; dies when fd is no channel. */
void	 link_begin(int fd, enum role self, const struct link_calls *);
/* The greeting came; false = it is the second. */
bool	 link_greet(void);
bool	 link_is_greeted(void);
/* A copy of what a message holds that is to stay; NULL = empty. */
char	*link_keep(const char *, size_t);
void	 link_send(struct msg_out *);
/* A message without fields. */
void	 link_send_plain(enum msg_type);
/*
 * A vec of at most so many bytes.  False: the first that does not fit ended it.
 * Nothing may be logged before the message is sent: that is a message as well.
 */
bool	 link_put_vec(struct msg_out *, char *const *, size_t most);

#define LINK_VEC_MAX	((size_t)40 * 1024)	/* the greatest of such bounds */

#endif
