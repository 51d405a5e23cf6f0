/* SPDX-License-Identifier: ISC */
/* The arguments of a request in JSON. */
#ifndef CLIENT_LIB_ARGS_H
#define CLIENT_LIB_ARGS_H

#include <json-c/json.h>
#include <stdbool.h>

/* Whether JSON can hold a text. */
bool	args_is_text(const char *);

/* All of these: 0, or -1 after a report when JSON cannot hold the text. */
int	args_check(const char *);

/* Nothing is added when the text is NULL. */
int	args_text(struct json_object *, const char *key, const char *text);

/* An array of strings, the last one NULL. */
int	args_list(struct json_object *, const char *key, char **list);

void	args_number(struct json_object *, const char *key, long long);
void	args_true(struct json_object *, const char *key);

#endif
