/* SPDX-License-Identifier: ISC */
/* Data for a program's standard input. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "input.h"
#include "report.h"

#define INPUT_PIECE	(32U << 10)

int
input_piece(struct client *c, const char *id, const char *buf, size_t len,
    struct json_object **jsonp)
{
	char digits[24];
	int code;

	json_object_put(*jsonp);
	*jsonp = NULL;
	snprintf(digits, sizeof(digits), "%zu", len);
	if ((code = client_send(c, "INPUT", id, digits, NULL)) != CTL_OK)
		return code;
	/* A refusal may come with a close: the answer tells more. */
	if (dconn_send(c->conn, buf, len) == -1 && errno != EPIPE &&
	    errno != ECONNRESET) {
		report("cannot send the input: %s", dconn_strerror(c->conn));
		return CTL_UNREACHABLE;
	}
	return client_answer(c, jsonp);
}

int
input_send(struct client *c, const char *id, const char *path, int in_fd,
    struct json_object **jsonp)
{
	char buf[INPUT_PIECE];
	int code = CTL_OK;
	ssize_t n;

	while (code == CTL_OK && (n = read(in_fd, buf, sizeof(buf))) != 0) {
		if (n == -1)
			return usage_error("%s: %s", path, strerror(errno));
		client_again(c);
		code = input_piece(c, id, buf, (size_t)n, jsonp);
	}
	return code;
}
