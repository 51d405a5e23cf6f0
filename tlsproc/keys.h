/* SPDX-License-Identifier: ISC */
/* The certificate, its key, and what handshakes are made with them. */
#ifndef DL_TLS_KEYS_H
#define DL_TLS_KEYS_H

#include <stdint.h>
#include <tls.h>

/*
 * Reads the files that the configuration names, or what an earlier start
 * made, or makes it.  Does not return when one of them is unfit.
 */
void		 keys_load(void);
/* TLS context that accepts connections; borrowed. */
struct tls	*keys_server(void);
/* "SHA256:" and the base64 of the certificate's hash, without padding. */
const char	*keys_fingerprint(void);
/* When the certificate expires, in s since 1970. */
int64_t		 keys_expiry(void);

#endif
