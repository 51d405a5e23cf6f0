/* SPDX-License-Identifier: ISC */
/* DEPS: what the launcher finds on the host. */
#ifndef SPAWNER_DEPS_H
#define SPAWNER_DEPS_H

void	deps_launcher_lost(void);

#endif
