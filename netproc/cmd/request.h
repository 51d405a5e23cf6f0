/* SPDX-License-Identifier: ISC */
/*
 * A request in JSON: parsed, checked against what its command takes, and
 * turned into the words that the same command would have as a line.
 */
#ifndef DL_NET_REQUEST_H
#define DL_NET_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netproc/conn/reply.h"
#include "netproc/text/line.h"

struct command;
struct json_object;

/* Bytes of an id that is a string. */
struct request {
	struct reply	 reply;
	const struct command *cmd;
	struct words	 words;		/* good until the next request */
	uint32_t	 err;		/* ERR_OK, or why it is refused ... */
	char		 why[320];	/* empty = the code says it all */
	/* ... and what follows it nevertheless: bytes that are no commands */
	enum {
		FOLLOWS_NOTHING,
		FOLLOWS_SIZE,		/* so many as size says */
		FOLLOWS_UNKNOWN
	}		 follows;
	uint64_t	 size;
};

/* Makes json-c ready; before confinement. */
void	 request_init(void);
/* Looks at one line without its end. */
void	 request_parse(const char *, size_t, struct request *);
/*
 * The same of arguments that are an object already, or NULL for none; they
 * are borrowed.
 */
void	 request_from(struct request *, const struct command *,
	    struct json_object *args);
/* Parses a strict object, owned by the caller; NULL with err and why set. */
struct json_object *request_object(const char *, size_t, struct request *);
/* The words are gone after this. */
void	 request_wipe(struct request *);

#endif
