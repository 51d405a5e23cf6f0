/* SPDX-License-Identifier: ISC */
/*
 * Where a terminal's output can be shown from: places in the ring at which
 * the terminal's state is known, and no sequence or character is cut.
 */
#ifndef SPAWNER_TTYMARK_H
#define SPAWNER_TTYMARK_H

#include <stddef.h>
#include <stdint.h>

#include "tty/ttymodes.h"
#include "wire/ring.h"

#define TTY_MARKS	40

struct ttymark {
	uint64_t	 offset;
	uint16_t	 cols, rows;
	struct ttystate	 state;
};

struct ttymarks {
	struct ttymodes	 modes;
	uint16_t	 cols, rows;
	uint64_t	 made;		/* ever; the newest are kept */
	struct ttymark	 v[TTY_MARKS];
};

/* At the start of a run, on a terminal of that size. */
void	 ttymarks_init(struct ttymarks *, uint32_t cols, uint32_t rows);
void	 ttymarks_resized(struct ttymarks *, uint32_t cols, uint32_t rows);
/* The last n bytes of the ring are new. */
void	 ttymarks_feed(struct ttymarks *, const struct ring *, size_t n);
/*
 * The oldest place that the ring still holds; *string is what the replay
 * needs before it beside the preamble.  When it holds none, the place is its
 * end.
 */
struct ttymark ttymarks_oldest(const struct ttymarks *, const struct ring *,
	    const char **string);

#endif
