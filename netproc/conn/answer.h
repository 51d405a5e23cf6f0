/* SPDX-License-Identifier: ISC */
/* Answers: session objects, errors, and the times in them. */
#ifndef DL_NET_ANSWER_H
#define DL_NET_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors.h"
#include "base/json.h"
#include "wire/view.h"

struct conn;
struct rsession;
struct sid;

#define TIME_TEXT	32
#define ID_TEXT		37

/*
 * Text shared by all answers that are not kept: answer_begin() empties it,
 * answer_end() writes it to the connection as a whole answer, answer_event() as
 * one of several.
 */
struct text *answer_begin(void);
void	 answer_end(struct conn *);
void	 answer_event(struct conn *, uint64_t next);
/* Forgets the text, in which there was a secret. */
void	 answer_wipe(void);
/*
 * An answer in pieces: what comes between the two is written as it is.  All
 * answers go this way, as JSON requests have theirs wrapped.
 */
void	 answer_open(struct conn *);
void	 answer_piece(struct conn *);	/* what is in the text */
void	 answer_close(struct conn *);
/* A whole answer that was made before. */
void	 answer_text(struct conn *, const struct text *);

/* message NULL or empty = the text that belongs to the code. */
void	 answer_error(struct conn *, uint32_t err, const char *message);
void	 answer_errorf(struct conn *, uint32_t err, const char *, ...)
	    __attribute__((format(printf, 3, 4)));
/* The same with an object, made elsewhere, of what is told of the error. */
void	 answer_error_object(struct conn *, uint32_t err, const char *p,
	    size_t len);
/* The session object, or not_found when it has gone meanwhile. */
void	 answer_session(struct conn *, const struct sid *);

/* It without what its terminal does not show: variables, arguments, people. */
void	 answer_guest(struct conn *, const struct rsession *);

/*
 * Writes the session object (common shape of STATUS, LIST and others), with
 * the values of environment variables or without.
 */
void session_json(
    struct text *, const char *id, const struct session_view *, bool values);
const char *state_text(uint32_t state);
const char *sandbox_text(uint64_t sandbox);
/* An object of KEY=VALUE strings, each with its NUL; values may be null. */
void env_json(struct text *, const char *env, size_t len, bool values);
/* exit_code and signal, each null where there is none. */
void	 end_json(struct text *, const struct session_view *);

/* RFC 3339 in UTC; CLOCK_REALTIME in ns.  Returns buf. */
char	*time_text(int64_t ns, bool ms, char buf[TIME_TEXT]);
char	*id_text(const struct sid *, char buf[ID_TEXT]);

#endif
