/* SPDX-License-Identifier: ISC */
/* Description of a program for the launcher. */
#ifndef SPAWNER_RUNSPEC_H
#define SPAWNER_RUNSPEC_H

#include "spawner/policy/quota.h"
#include "spawner/session/session.h"
#include "wire/msg.h"
#include "wire/run.h"

/* The most that a session of a user with this quota may have of each LIMIT_. */
void	runspec_most(const struct quota *, uint64_t most[LIMIT_COUNT]);
/* Do sessions run as root, whose processes RLIMIT_NPROC does not count? */
bool	 runspec_is_root(void);
/* argv and envp point into static memory, good until the next call. */
void	runspec_fill(struct run_spec *, const struct session *,
	    const struct account *);

/* The same of an adapter's: only its arguments and variables. */
void	runspec_adapter(struct run_spec *, const struct session *,
	    const struct adapter_order *, const struct account *);

/* Is the image a file in that sandbox, and not only an fd? */
bool	 runspec_has_file(const struct session *, enum sandbox);

/* Where the image is in the session that was started last, or nothing. */
void	runspec_put_path(struct msg_out *, const struct session *);

/* The end of an ATTACH: what may be used beside the session's program. */
void	runspec_put_limits(struct msg_out *, const struct session *);

#endif
