/* SPDX-License-Identifier: ISC */
/* lantern.bin.v1 as a client speaks it: what an attached terminal and the
 * daemon tell each other. */
#ifndef CLIENT_CTL_LANTERN_H
#define CLIENT_CTL_LANTERN_H

#include <stddef.h>
#include <stdint.h>

#define LANTERN_MAX	65536U	/* bytes of a message */
#define LANTERN_HEAD	4U	/* its length stands before it */
#define LANTERN_INPUT	16384U	/* bytes of input in one message */

enum lantern_type {
	LANTERN_C_INPUT = 0x00, LANTERN_C_RESIZE, LANTERN_C_TOKEN,
	LANTERN_C_ACK,
	LANTERN_OUTPUT = 0x80, LANTERN_HISTORY, LANTERN_EXIT, LANTERN_ERROR,
	LANTERN_SIZE, LANTERN_LOST, LANTERN_PEOPLE, LANTERN_LIVE,
};

/* A message from the daemon; only members that its type has are set. */
struct lantern_msg {
	unsigned int		 type;
	uint64_t		 offset;	/* OUTPUT HISTORY LIVE LOST */
	uint64_t		 to;		/* LOST: the first one not lost */
	const unsigned char	*data;		/* OUTPUT HISTORY PEOPLE; borrowed */
	size_t			 len;
	size_t			 preamble;	/* HISTORY: bytes of data that are
						 * no output of the program */
	int32_t			 code;		/* EXIT; -1: none */
	uint32_t		 signal;	/* EXIT; 0: none */
	unsigned int		 cols;		/* SIZE */
	unsigned int		 rows;
	const char		*error;		/* ERROR; NUL terminated */
	const unsigned char	*text;		/* ERROR: not terminated */
	size_t			 text_len;
};

/* The length that stands at p, LANTERN_HEAD bytes. */
size_t	lantern_length(const unsigned char *p);

/*
 * Decodes a message without its length. 0; 1 for a type that is not known,
 * to be passed over; -1 for what is none.
 */
int	lantern_decode(struct lantern_msg *, const unsigned char *, size_t);

/* These write a message with its length to p, and return its bytes. */
size_t	lantern_put_input(unsigned char *p, const void *data, size_t len);
size_t	lantern_put_resize(unsigned char *p, unsigned int cols,
	    unsigned int rows);
size_t	lantern_put_ack(unsigned char *p, uint64_t offset);

#endif
