/* SPDX-License-Identifier: ISC */
/*
 * Captures in fewer bytes.  As the agent writes them each has a head of four
 * bytes, and fills four.  Nearly all are registers that could be read: these
 * are told by a code of three bits each, and zeros at their upper end are left
 * out.
 */
#ifndef TIMELINE_PACK_H
#define TIMELINE_PACK_H

#include <stdbool.h>
#include <stdint.h>

#define PACK_MOST	5U	/* captures */
#define PACK_BITS	15U	/* of the codes of so many */
#define PACK_WHOLE	(PACK_MOST * 12U) /* most bytes of what is unpacked */
#define PACK_SLACK	8U	/* that are written behind what is packed */

/*
 * Packs len bytes of captures to `to`, where there is room for as many and
 * PACK_SLACK more.  Returns the codes, the first one lowest, and in *packed
 * how many bytes they take; -1: it cannot be, as one is something else.
 */
int32_t	 pack(const uint8_t *captures, uint32_t len, uint8_t *to,
	    uint32_t *packed);
/* Whether they can be the codes of something. */
bool	 pack_sound(uint32_t codes);
/* How many bytes are packed by them, and how many they are unpacked. */
uint32_t pack_size(uint32_t codes);
uint32_t pack_whole(uint32_t codes);
/* Unpacks them, byte for byte what they were. */
void	 unpack(const uint8_t *packed, uint32_t codes,
	    uint8_t to[PACK_WHOLE]);

#endif
