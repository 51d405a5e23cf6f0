/* SPDX-License-Identifier: ISC */
/* Service that avahi-daemon announces for as long as it is wanted. */
#ifndef DL_SERVICE_H
#define DL_SERVICE_H

#include <stdint.h>

enum {
	FAMILY_IPV4	= 1 << 0,
	FAMILY_IPV6	= 1 << 1
};

struct service {
	uint16_t	port;
	uint16_t	web_port;	/* 0 = none */
	uint16_t	tls_port;	/* 0 = none */
	uint32_t	families;	/* FAMILY_* */
	char		name[64];
	char		version[64];
	char		auth[32];
	char		fingerprint[64];	/* of the TLS certificate */
};

/* Told at every change; text is empty when the service is announced. */
typedef void	(*service_state_fn)(const char *text);

void	 service_init(service_state_fn);
/* Announces it in place of what was announced before.  Copied. */
void	 service_announce(const struct service *);
/* Takes it back and leaves D-Bus; harmless when nothing is announced. */
void	 service_withdraw(void);

#endif
