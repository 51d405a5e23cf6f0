/* SPDX-License-Identifier: ISC */
/* Refusals in words of this program. */
#ifndef CLIENT_CTL_REFUSED_H
#define CLIENT_CTL_REFUSED_H

#include <json-c/json.h>

struct client;

/* As client_refused(), for struct client. */
void	refused_report(const struct client *, struct json_object *answer);

#endif
