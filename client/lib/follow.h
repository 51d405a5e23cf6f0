/* SPDX-License-Identifier: ISC */
/* The answers of OUTPUT and FOLLOW, decoded. */
#ifndef CLIENT_LIB_FOLLOW_H
#define CLIENT_LIB_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

struct follow_event {
	uint64_t	 offset;	/* of the first byte of data */
	uint64_t	 next;		/* of the byte behind them */
	uint64_t	 total;		/* bytes written since the start */
	bool		 has_data;
	unsigned char	*data;
	size_t		 len;
	bool		 to_stderr;	/* "stream":"err" */
	bool		 final;
	int		 exit_code;	/* as a shell has it: 128 + signal */
	char		 signal[24];	/* what ended it, "" for none */
	bool		 out_of_memory;	/* why that was SIGKILL */
};

/*
 * Decodes an answer that is no error; 0, or -1 after a report when it is not
 * of the expected form. follow_event_clear() frees what it holds.
 */
int	follow_decode(struct json_object *, struct follow_event *);
void	follow_event_clear(struct follow_event *);

/* The number of a signal's name, 0 when it is none. */
int	signal_number(const char *name);

#endif
