/* SPDX-License-Identifier: ISC */
/* The description of the HTTP interface, made from its tables. */
#ifndef DL_NET_OPENAPI_H
#define DL_NET_OPENAPI_H

#include "base/json.h"

/* Writes the document (OpenAPI 3.1). */
void	openapi_text(struct text *, const char *version);

#endif
