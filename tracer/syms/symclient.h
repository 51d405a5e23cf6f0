/* SPDX-License-Identifier: ISC */
/*
 * Asking a symbols process about one binary.  The answers are as hostile as
 * the binary: an index is checked by symindex_open(), a description by
 * desc_open(), and capture programs by the code that runs them.
 */
#ifndef TRACER_SYMCLIENT_H
#define TRACER_SYMCLIENT_H

#include "symbols/index.h"
#include "timeline/values/shape.h"
#include "wire/msg.h"

/* Functions in one question for types. */
#define SYMCLIENT_TYPES_MAX	512

struct symclient_ops {
	/* id is its build id in hexadecimal, or empty; size in bytes. */
	void	(*opened)(void *, uint64_t size, const char *id);
	/* Takes fd. */
	void	(*index)(void *, int fd);
	void	(*typed)(void *, const struct sym_typed *);
	/* In place of an answer; why is a sentence. */
	void	(*failed)(void *, const char *code, const char *why);
	/* The process has gone, with whatever was asked. */
	void	(*gone)(void *, const char *why);
};

struct symclient {
	struct channel			 chan;
	const struct symclient_ops	*ops;
	void				*arg;
	uint64_t			 request;
};

/* Takes fd, the channel to it.  -1 with errno. */
int	 symclient_init(struct symclient *, int fd,
	    const struct symclient_ops *, void *arg);
void	 symclient_close(struct symclient *);
/*
 * Takes binary_fd, which must be open for reading only: a process that reads
 * hostile bytes gets nothing to write to.  -1 when it is not (EINVAL), or the
 * channel is closed.
 */
int	 symclient_open(struct symclient *, int binary_fd);
int	 symclient_scan(struct symclient *);
/* dies of index functions; n is 1 to SYMCLIENT_TYPES_MAX. */
int	 symclient_types(struct symclient *, const uint32_t *dies, size_t n);

#endif
