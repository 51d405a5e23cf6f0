/* SPDX-License-Identifier: ISC */
/* lantern.bin.v1 as a client speaks it: what an attached terminal and the
 * daemon tell each other. */
#ifndef CLIENT_CTL_TERMINAL_PROTO_H
#define CLIENT_CTL_TERMINAL_PROTO_H

#include <stddef.h>
#include <stdint.h>

#define TERMINAL_MAX	65536U	/* bytes of a message */
#define TERMINAL_HEAD	4U	/* its length stands before it */
#define TERMINAL_INPUT	16384U	/* bytes of input in one message */

enum terminal_msg_type {
	TERMINAL_C_INPUT = 0x00, TERMINAL_C_RESIZE, TERMINAL_C_TOKEN,
	TERMINAL_C_ACK,
	TERMINAL_OUTPUT = 0x80, TERMINAL_HISTORY, TERMINAL_EXIT, TERMINAL_ERROR,
	TERMINAL_SIZE, TERMINAL_LOST, TERMINAL_VIEWERS, TERMINAL_LIVE,
};

/* A message from the daemon; only members that its type has are set. */
struct terminal_msg {
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

/* The length that stands at p, TERMINAL_HEAD bytes. */
size_t	terminal_msg_length(const unsigned char *p);

/*
 * Decodes a message without its length. 0; 1 for a type that is not known,
 * to be passed over; -1 for what is none.
 */
int	terminal_msg_decode(struct terminal_msg *, const unsigned char *,
	    size_t);

/* These write a message with its length to p, and return its bytes. */
size_t	terminal_put_input(unsigned char *p, const void *data, size_t len);
size_t	terminal_put_resize(unsigned char *p, unsigned int cols,
	    unsigned int rows);
size_t	terminal_put_ack(unsigned char *p, uint64_t offset);

#endif
