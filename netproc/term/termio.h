/* SPDX-License-Identifier: ISC */
/*
 * Messages to and from the clients of terminals, in the form that each wants.
 */
#ifndef DL_NET_TERMIO_H
#define DL_NET_TERMIO_H

#include <stddef.h>
#include <stdint.h>

#include "term.h"
#include "termmsg.h"

/* Bytes of output in one message. */
#define TERMIO_PIECE	((size_t)32 * 1024)

void	 termio_output(struct term_client *, uint64_t offset, const void *,
    size_t);
/* Begins with the preamble, if there is one; that is given back. */
void	 termio_history(struct term_client *, uint64_t offset, const void *,
    size_t);
void	 termio_lost(struct term_client *, uint64_t from, uint64_t to);
void	 termio_live(struct term_client *, uint64_t offset);
void	 termio_size(struct term_client *, uint32_t cols, uint32_t rows);
void	 termio_people(struct term_client *);
/* Says how the run ended. */
void	 termio_exit(struct term_client *);
void	 termio_error(struct term_client *, uint32_t err, const char *message);

/*
 * Reads what has come: client_heard() is called for each message, and
 * client_broken() for what is none or not one of this form.
 */
void	 termio_read(struct term_client *);
/* A message of a WebSocket. */
void	 termio_message(struct term_client *, bool binary, const void *,
    size_t);

#endif
