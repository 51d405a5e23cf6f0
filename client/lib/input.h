/* SPDX-License-Identifier: ISC */
/* Data for a program's standard input. */
#ifndef CLIENT_LIB_INPUT_H
#define CLIENT_LIB_INPUT_H

#include <json-c/json.h>
#include <stddef.h>

struct client;

/*
 * Sends bytes to a session's input. *jsonp is put and becomes the answer, the
 * caller's to put; as client_answer().
 */
int	input_piece(struct client *, const char *id, const char *buf,
	    size_t len, struct json_object **jsonp);

/* The same of all that can be read; path is for messages. */
int	input_send(struct client *, const char *id, const char *path,
	    int in_fd, struct json_object **jsonp);

#endif
