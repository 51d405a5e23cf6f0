/* SPDX-License-Identifier: ISC */
/* The files of timelines in their owner's home directory. */
#ifndef TRACER_TIMEFILES_H
#define TRACER_TIMEFILES_H

#include <stdbool.h>

#include "timeline/store/store.h"
#include "wire/insthello.h"

#define TIMEFILES_DIR	".local/state/debuglantern/timelines"

/* New ones; -1: there is no home that could be written to. */
int	 timefiles_make(const struct trc_hello *, struct store_files *);
/* Opens the files that a predecessor has named; -1: there are none. */
int	 timefiles_find(const struct trc_hello *, struct store_files *);
/* Their path without suffixes; NULL = there are none. */
const char *timefiles_path(void);
/* The last part of it. */
const char *timefiles_name(void);
/* Where they are, made if need be; borrowed.  -1: there is no such place. */
int	 timefiles_dir(const struct trc_hello *);
void	 timefiles_remove(void);
/* Removes those that it names, of a session that was deleted. */
void	 timefiles_forget(const struct trc_hello *);
/* A file without a name on the same disk, else in memory; -1 with errno. */
int	 timefiles_temporary(bool *in_memory);

#endif
