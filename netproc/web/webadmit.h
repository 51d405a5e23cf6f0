/* SPDX-License-Identifier: ISC */
/* Whether a request is let in, by its headers. */
#ifndef DL_NET_WEBADMIT_H
#define DL_NET_WEBADMIT_H

#include <stdbool.h>

#include "webreq.h"

/* Looks at the headers; what they say no to has been answered then. */
enum MHD_Result web_req_begin(struct web_req *, const char *method,
    const char *url);
bool	 web_req_has_body(struct web_req *);
/* It waits for a word before it sends that. */
bool	 web_req_expects(struct web_req *);
/* Its body is wanted, as far as can be known before it comes. */
bool	 web_req_is_decided(const struct web_req *);
/* Its command is run as soon as it is known who asks. */
void	 web_req_ask(struct web_req *);
/* Its token is that of a login; false without a conn to log in on. */
bool	 web_req_know_login(struct web_req *);

#endif
