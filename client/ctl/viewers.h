/* SPDX-License-Identifier: ISC */
/* People at a terminal, as the daemon tells each of them. */
#ifndef CLIENT_CTL_VIEWERS_H
#define CLIENT_CTL_VIEWERS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

struct viewers {
	struct json_object	*list;
	bool			 controller;	/* we are; so it is at first */
	bool			 read_only;	/* we are */
	unsigned int		 cols;		/* of the session; 0: unknown */
	unsigned int		 rows;
};

void	viewers_init(struct viewers *);
void	viewers_clear(struct viewers *);

/* Takes the JSON of a message; one that makes no sense changes nothing. */
void	viewers_set(struct viewers *, const void *json, size_t len);

/*
 * Text that "~?" shows, for a raw terminal; the caller frees it. NULL when
 * memory is short.
 */
char	*viewers_text(const struct viewers *, const char *id, int escape,
	    bool read_only);

#endif
