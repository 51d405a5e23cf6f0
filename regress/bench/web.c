/* SPDX-License-Identifier: ISC */
/*
 * The least that HTTP costs: libmicrohttpd, as the daemon is built on it,
 * answering whatever is asked with the same bytes, and doing nothing else.
 * usage: web SIZE
 */
#include <err.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loopback.h"

static char		*answer;
static size_t		 answer_len;

static enum MHD_Result
on_request(void *cls, struct MHD_Connection *c, const char *url,
    const char *method, const char *version, const char *body, size_t *len,
    void **ctx)
{
	static int seen;
	struct MHD_Response *r;
	enum MHD_Result result;

	(void)cls;
	(void)url;
	(void)method;
	(void)version;
	(void)body;
	if (*ctx == NULL) {
		*ctx = &seen;
		return MHD_YES;
	}
	if (*len > 0) {
		*len = 0;
		return MHD_YES;
	}
	r = MHD_create_response_from_buffer(answer_len, answer,
	    MHD_RESPMEM_PERSISTENT);
	if (r == NULL)
		return MHD_NO;
	(void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
	    "application/json");
	result = MHD_queue_response(c, MHD_HTTP_OK, r);
	MHD_destroy_response(r);
	return result;
}

int
main(int argc, char **argv)
{
	int fd;

	if (argc != 2 || atoi(argv[1]) < 1)
		errx(2, "usage: web SIZE");
	answer_len = (size_t)atoi(argv[1]);
	if ((answer = malloc(answer_len)) == NULL)
		err(1, "answer");
	memset(answer, 'x', answer_len);
	fd = loopback_listen();
	/* a thread of its own, whose CPU is counted like ours */
	if (MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_INTERNAL_POLLING_THREAD,
	    0, NULL, NULL, on_request, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
	    MHD_OPTION_END) == NULL)
		errx(1, "libmicrohttpd cannot be used");
	for (;;)
		pause();
}
