/* SPDX-License-Identifier: ISC */
/*
 * DEBUGGER and TRACER: a session may have a process beside it that is asked in
 * JSON.  Requests and answers are passed on unread: what it says is looked at
 * only so far that it cannot be taken for anything but one JSON object.
 */
#ifndef DL_NET_INSTRUMENT_H
#define DL_NET_INSTRUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netproc/conn/ask.h"
#include "netproc/text/line.h"
#include "wire/msg.h"
#include "wire/proto.h"
#include "wire/view.h"

struct text;

/* Words that not every one of the commands has. */
enum {
	INSTRUMENT_USE		= 1 << 0,	/* use */
	INSTRUMENT_IMAGE	= 1 << 1	/* image=ID */
};

struct instrument {
	const char	*verb;
	enum inst_type	 type;
	unsigned int	 words;		/* INSTRUMENT_* */
	size_t		 answer_max;	/* bytes of an answer */
	uint32_t	 refused;	/* goes with its own errors */
	/* The session has one; members of its row in the list. */
	bool		 (*has)(const struct session_view *);
	void		 (*state)(struct text *, const struct session_view *);
};

/* Fields of INST_START beside the request. */
struct instrument_start {
	uint32_t	 sandbox, network;
	const char	*name;		/* empty = none */
};

void	 instrument_command(struct conn *, const struct words *,
	    const struct instrument *);
/* Array of the sessions that have one. */
void	 instrument_list(struct conn *, const struct instrument *);

/*
 * Sends a request, which is borrowed, about a session or NULL; failed is called
 * with an error in place of an answer.
 */
void	 instrument_start(struct conn *, const struct instrument *,
	    const struct sid *, const struct instrument_start *,
	    const struct word *request, instrument_fn, ask_fn failed);
/* use: it becomes the asker's current one, of those that have INSTRUMENT_USE. */
void	 instrument_ask(struct conn *, const struct instrument *,
	    const struct sid *, bool use, const struct word *request,
	    instrument_fn, ask_fn failed);
int	 net_on_inst_answer(struct msg *);

#endif
