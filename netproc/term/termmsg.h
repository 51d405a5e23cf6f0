/* SPDX-License-Identifier: ISC */
/*
 * The messages of attached terminals, in both forms: lantern.bin.v1 (a type
 * and integers in network order) and JSON (an object with a type, bytes in
 * base64).  Pure functions over untrusted bytes.
 */
#ifndef DL_NET_TERMMSG_H
#define DL_NET_TERMMSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

/* lantern.bin.v1: the first byte. */
enum {
	/* the client's */
	TERM_INPUT		= 0x00,	/* bytes */
	TERM_RESIZE		= 0x01,	/* u16 columns, u16 rows */
	TERM_TOKEN		= 0x02,	/* text */
	TERM_ACK		= 0x03,	/* u64 offset that has been shown */
	/* the server's */
	TERM_OUTPUT		= 0x80,	/* u64 offset, bytes */
	TERM_HISTORY		= 0x81,	/* u64 offset, u16 n, n bytes, bytes */
	TERM_EXIT		= 0x82,	/* i32 code, u32 signal */
	TERM_ERROR		= 0x83,	/* code, NUL, text */
	TERM_SIZE		= 0x84,	/* u16 columns, u16 rows */
	TERM_LOST		= 0x85,	/* u64 from, u64 to */
	TERM_PEOPLE		= 0x86,	/* JSON */
	TERM_LIVE		= 0x87	/* u64 offset */
};

/* Message of a client; p is borrowed until the next message is parsed. */
struct term_msg {
	uint8_t		 type;
	const char	*p;		/* INPUT, TOKEN */
	size_t		 len;
	const char	*session;	/* of TOKEN in JSON; NULL = not said */
	size_t		 session_len;
	uint32_t	 cols, rows;	/* RESIZE: 1 to 65535 */
	uint64_t	 offset;	/* ACK */
};

/* Makes json-c ready; before confinement. */
void	 termmsg_init(void);
/* NULL for "good", else a static string that says what is wrong. */
const char *termmsg_parse(const void *, size_t, struct term_msg *);
/* The same of JSON.  At most 64 KiB. */
const char *termmsg_parse_json(const char *, size_t, struct term_msg *);
/* A token that was parsed has been used. */
void	 termmsg_wipe(void);

/* -- lantern.bin.v1: heads, before their bytes; returns their length -- */
#define TERM_HEAD_MAX	32
size_t	 termmsg_bytes(uint8_t *, uint8_t type, uint64_t offset);
/* n bytes of a preamble follow, and then those of the session. */
size_t	 termmsg_history(uint8_t *, uint64_t offset, size_t n);
size_t	 termmsg_exit(uint8_t *, int32_t code, uint32_t signal);
size_t	 termmsg_size(uint8_t *, uint32_t cols, uint32_t rows);
size_t	 termmsg_lost(uint8_t *, uint64_t from, uint64_t to);
size_t	 termmsg_live(uint8_t *, uint64_t offset);

/* -- JSON: whole messages, put into an empty text -- */
/* type is "output" or "history"; the preamble comes before the bytes. */
void	 termjson_bytes(struct text *, const char *type, uint64_t offset,
	    const void *preamble, size_t npreamble, const void *, size_t);
void	 termjson_exit(struct text *, int32_t code, const char *signal);
void	 termjson_error(struct text *, const char *code, const char *message);
void	 termjson_size(struct text *, uint32_t cols, uint32_t rows);
void	 termjson_lost(struct text *, uint64_t from, uint64_t to);
void	 termjson_people(struct text *, const struct text *list);
void	 termjson_live(struct text *, uint64_t offset);

#endif
