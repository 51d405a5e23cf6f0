/* SPDX-License-Identifier: ISC */
/* Listening sockets that the parent opened, and who is let in by them. */
#ifndef DL_NET_LISTENER_H
#define DL_NET_LISTENER_H

#include <sys/socket.h>

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "wire/msg.h"

/* Takes fd of a browser; full: to be refused with max_connections. */
typedef void	(*listener_web_fn)(int fd, uint32_t listener_flags,
		    const struct sockaddr_storage *from, bool full);

/* Before the first listener. */
void	 listener_web(listener_web_fn);
/* How many connections there may be, with the fds that they may need. */
void	 listener_limit(void);
/* Stops accepting connections. */
void	 listener_end(void);
/* A JSON string for each listener that trusts its network. */
void	 listener_warnings(struct text *);

/* An address as 16 bytes, IPv4 mapped; zeros for other families. */
void	 listener_address(const struct sockaddr_storage *, struct in6_addr *);

int	 net_on_listener(struct msg *);
int	 net_on_listener_gone(struct msg *);

/* Connections that tlsproc accepted come over this channel; takes fd. */
void	 listener_tls_peer(int fd, uint32_t generation);
void	 listener_init(void);

int	 net_on_tls_door(struct msg *);
int	 net_on_tls_conn(struct msg *);

#endif
