/* SPDX-License-Identifier: ISC */
/* The user whom a client's certificate names. */
#ifndef DL_TLS_CERTNAME_H
#define DL_TLS_CERTNAME_H

#include <stddef.h>
#include <stdint.h>

/*
 * The subject's common name; where it has none, the first name in the subject
 * alternative names: a DNS name, or what stands before the @ of an address.
 * Takes the first certificate of a PEM text, which must have been verified.
 * -1, with name empty: there is none, or it could not be a user's name.
 */
int	certname(const uint8_t *pem, size_t len, char *name, size_t size);

#endif
