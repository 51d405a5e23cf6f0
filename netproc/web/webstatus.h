/* SPDX-License-Identifier: ISC */
/* The HTTP status that goes with an error code. */
#ifndef DL_NET_WEBSTATUS_H
#define DL_NET_WEBSTATUS_H

#include <stdint.h>

unsigned int	 web_status(uint32_t err);

#endif
