/* SPDX-License-Identifier: ISC */
/*
 * The files that programs are made of, and the processes without rights that
 * read them.  A binary is known for as long as the tracer lives; there are at
 * most BINARIES_MAX.  All answers come from the event loop and are told as
 * binary_on_news() says.
 */
#ifndef TRACER_BINARY_H
#define TRACER_BINARY_H

#include <sys/queue.h>
#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/syms/symindex.h"

#define BINARIES_MAX	1024
#define BINARY_WHY	256

struct reader;

enum binary_state {
	BINARY_NEW,	/* nobody has asked for its functions */
	BINARY_READING,
	BINARY_READY,
	BINARY_BAD	/* why says so */
};

struct binary {
	TAILQ_ENTRY(binary) entry;
	dev_t	 dev;
	ino_t	 ino;
	off_t	 size;
	int64_t	 mtime_ns;
	char	*path;		/* as its program sees it; owned */
	int	 fd;		/* for reading only */
	bool	 dwarf;		/* it has debug information of its own */
	bool	 exe;		/* some program's own */
	enum binary_state state;
	char	 why[BINARY_WHY];
	char	 id[SYM_BUILD_ID * 2 + 1];	/* build id, once it was read */
	struct symindex ix;	/* BINARY_READY */
	uint32_t *fns;		/* function id + 1, by index; owned, or NULL */
	/* its debug information, if that is in a file of its own */
	int	 debug_fd;
	bool	 debug_tried;
	struct reader *reader;	/* who has it open; or NULL */
	bool	 wants_reader;
	bool	 lost;		/* nobody can say more of it than its index */
};

/*
 * The binary that is open there; takes fd, which must be for reading only.
 * NULL: it is no regular file, or there are too many.
 */
struct binary *binary_of(int fd, const char *path);
/* All that are known, the first after NULL. */
struct binary *binary_next(const struct binary *);
/* Its functions are wanted: BINARY_READING, and news when that is over. */
void	 binary_read(struct binary *);
/*
 * Asks for what function i takes and returns: fn_typed() of fn.h is called with
 * fn, in any case.  The binary is BINARY_READY.
 */
void	 binary_type(struct binary *, uint32_t i, uint32_t fn);
/* Sends what has been asked for since. */
void	 binary_type_all(void);
/* A process that reads is going to be needed. */
void	 binary_prepare(void);
/* Its last part: "libfoo.so.1". */
const char *binary_name(const struct binary *);
/* Whether debug information of it has been read, from wherever. */
bool	 binary_has_dwarf(const struct binary *);

/* Sets what is called once something has been read, or cannot be. */
void	 binary_on_news(void (*)(void));

/* From the link; see struct link_handlers. */
void	 trc_symbols(int fd);
void	 trc_symbols_failed(const char *why);

#endif
