/* SPDX-License-Identifier: ISC */
/* Bytes between a client's gdb and gdbserver, both ways. */
#ifndef DL_NET_RELAY_H
#define DL_NET_RELAY_H

#include <stddef.h>

struct relay;
typedef void	(*relay_fn)(void *arg);

/*
 * Takes both fds.  first is what the client has sent already.  done is
 * called once, when both sides have ended or one of them has failed; the
 * relay has been freed then.  NULL (fds closed, done not called) without
 * memory.
 */
struct relay *relay_new(int client_fd, int wire_fd, const void *first,
    size_t len, relay_fn done, void *arg);
/* gdbserver has gone: the last bytes get a short while to reach gdb. */
void	 relay_over(struct relay *);
/* Ends without calling done. */
void	 relay_free(struct relay *);

#endif
