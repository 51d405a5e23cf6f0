/* SPDX-License-Identifier: ISC */
/* Exports that wait to be read, piece by piece. */
#ifndef TRACER_EXPORTS_H
#define TRACER_EXPORTS_H

#include <stdint.h>

void	 exports_conn_gone(uint32_t conn);
void	 exports_drop_all(void);

#endif
