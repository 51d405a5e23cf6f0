/* SPDX-License-Identifier: ISC */
/*
 * Checks of where a request comes from and goes to, by a browser's headers.
 * Pure functions over untrusted text.
 */
#ifndef DL_NET_WEBCHECK_H
#define DL_NET_WEBCHECK_H

#include <stdbool.h>

/*
 * Whether a Host header is one of ours: an address in digits, localhost, or
 * one of the names (separated by commas).  Names that others may point at
 * this host are not, so that no page of theirs can speak to it.
 */
bool	 host_is_ours(const char *host, const char *names);
/*
 * Whether an Origin header is that of a page that came by this Host: by
 * https, or where tls is not set also by http.
 */
bool	 origin_is_same(const char *origin, const char *host, bool tls);

#endif
