/* SPDX-License-Identifier: ISC */
/* People at a terminal, as the daemon tells each of them. */
#ifndef CLIENT_CTL_PEOPLE_H
#define CLIENT_CTL_PEOPLE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

struct people {
	struct json_object	*list;
	bool			 controller;	/* we are; so it is at first */
	bool			 read_only;	/* we are */
	unsigned int		 cols;		/* of the session; 0: unknown */
	unsigned int		 rows;
};

void	people_init(struct people *);
void	people_clear(struct people *);

/* Takes the JSON of a message; one that makes no sense changes nothing. */
void	people_set(struct people *, const void *json, size_t len);

/*
 * Text that "~?" shows, for a raw terminal; the caller frees it. NULL when
 * memory is short.
 */
char	*people_text(const struct people *, const char *id, int escape,
	    bool read_only);

#endif
