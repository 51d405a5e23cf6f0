/* SPDX-License-Identifier: ISC */
/*
 * A client that was answered before it had sent its whole request: closing
 * its socket at once would reset it, and the answer would be lost to it.
 */
#ifndef DL_NET_LINGER_H
#define DL_NET_LINGER_H

/* Borrows fd: its end is sent, and what comes is read for a while. */
void	 linger_begin(int fd);

#endif
