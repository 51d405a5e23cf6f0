/* SPDX-License-Identifier: ISC */
/*
 * State of a terminal after some output: modes, character sets,
 * colours, and whether it is in the middle of a sequence.  The contents of the
 * screen are not known here.  Nothing is allocated, any bytes will do.
 */
#ifndef DL_TTYMODES_H
#define DL_TTYMODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TTYMODES_PARAMS		32
/* No preamble is longer. */
#define TTYMODES_PREAMBLE	1280
#define TTYMODES_KEYS		8	/* a single digit: see ttykeys */

/* A colour: 0 = the usual one, or one of these with an index or RGB. */
#define TTY_COLOUR_INDEX	(1U << 24)
#define TTY_COLOUR_RGB		(2U << 24)

struct ttysgr {
	uint32_t	 attrs;		/* 1 << number, for 1 to 9 and 53 as 10 */
	uint32_t	 underline;	/* style after 4: , 0 = plain */
	uint32_t	 fg, bg, line;	/* colours */
};

struct ttycharsets {
	uint8_t		 g[4];		/* final bytes of G0 to G3 */
	uint8_t		 gl;		/* which of them is used */
};

/* State that DECSC saves, except the cursor's place. */
struct ttysaved {
	struct ttysgr	 sgr;
	struct ttycharsets sets;
	bool		 origin;
};

/*
 * Encoding of keys, in the terms of kitty's protocol: a stack whose lowest
 * entry is as the terminal was found.
 */
struct ttykeys {
	uint8_t		 depth;
	uint8_t		 flags[TTYMODES_KEYS];
};

/* Colours of the terminal itself that a program has changed. */
#define TTY_PALETTE	(1U << 0)
#define TTY_FOREGROUND	(1U << 1)
#define TTY_BACKGROUND	(1U << 2)
#define TTY_CURSOR	(1U << 3)

/* All that a preamble says, but for titles and colours. */
struct ttystate {
	uint32_t	 modes;		/* 1 << place in the table of modes */
	uint16_t	 top, bottom;	/* scroll region; 0 = none */
	uint8_t		 cursor;	/* its style, 0 = usual */
	uint8_t		 modify_keys;	/* level of modifyOtherKeys */
	bool		 keypad;	/* application keypad */
	bool		 bytes;		/* no UTF-8 */
	bool		 alternate;	/* screen */
	struct ttysgr	 sgr;
	struct ttycharsets sets;
	struct ttysaved	 saved[2];	/* of each screen */
	struct ttykeys	 keys[2];
	uint8_t		 titles;	/* that were put aside */
	uint8_t		 colours;	/* TTY_PALETTE ... */
};

struct ttymodes {
	struct ttystate	 now;
	uint8_t		 state;		/* of the parser */
	uint8_t		 prefix, inter;	/* of the sequence, 0 = none */
	uint8_t		 utf8_left;	/* bytes that a character lacks */
	bool		 too_long;	/* has what nobody knows */
	uint8_t		 nparams;
	uint16_t	 params[TTYMODES_PARAMS];
	uint32_t	 subs;		/* 1 << i: param i came after a colon */
	uint16_t	 command;	/* number of an OSC string, or a bit
					 * more: it is over */
};

/* As after the terminal was switched on. */
void	 ttymodes_init(struct ttymodes *);
void	 ttymodes_feed(struct ttymodes *, const void *, size_t);
/* The size has changed, which ends the scroll region. */
void	 ttymodes_resized(struct ttymodes *);
/* Neither in a sequence nor in a character. */
bool	 ttymodes_is_ground(const struct ttymodes *);
/*
 * Writes the sequence that puts any terminal of rows rows into that state, with
 * an empty screen.  Returns its length; buf has room for TTYMODES_PREAMBLE
 * bytes.
 */
size_t	 ttymodes_preamble(const struct ttystate *, unsigned int rows,
	    char *buf);
/*
 * The same in the middle of a string that has no end yet, such as a title:
 * what follows is taken for the rest of one.  Else empty.
 */
const char *ttymodes_string(const struct ttymodes *);

#endif
