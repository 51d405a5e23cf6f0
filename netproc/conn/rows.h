/* SPDX-License-Identifier: ISC */
/* Answers of any length: an array whose rows come in parts. */
#ifndef DL_NET_ROWS_H
#define DL_NET_ROWS_H

#include "base/json.h"
#include "conn.h"
#include "wire/msg.h"

/* Writes the next row of a message as JSON; a bad message is found later. */
typedef void	(*row_fn)(struct text *, struct msg *);

/* Sends the request; what it is answered by has rows that row reads. */
void	 rows_ask(struct conn *, struct msg_out *, row_fn row);
/*
 * Handles a part, which is u32 n, n rows, u32 whether more follow.  Returns
 * -1 when it is none, or has rows that were not asked for.
 */
int	 rows_part(struct msg *, row_fn row);

#endif
