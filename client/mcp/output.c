/* SPDX-License-Identifier: ISC */
/* Lines to standard output, which is never waited for: a client may send all
 * that it has to say before it reads. */
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "mcp.h"

static char	*buf;
static size_t	 start, end, size;

void
mcp_put(const char *p, size_t len)
{
	if (len + 1 > size - end) {
		if (start > 0)
			memmove(buf, buf + start, end - start);
		end -= start;
		start = 0;
		if (len + 1 > size - end) {
			size = end + len + 1 + size / 2;
			if ((buf = realloc(buf, size)) == NULL)
				err(CTL_USAGE, NULL);
		}
	}
	memcpy(buf + end, p, len);
	buf[end + len] = '\n';
	end += len + 1;
}

void
mcp_put_json(struct json_object *o)
{
	size_t len;
	char *text = reply_text(o, &len);

	if (text == NULL)
		err(CTL_USAGE, NULL);
	mcp_put(text, len);
	free(text);
	json_object_put(o);
}

struct json_object *
mcp_error(struct json_object *id, int code, const char *words)
{
	struct json_object *o = json_object_new_object();
	struct json_object *error = json_object_new_object();

	json_object_object_add(o, "jsonrpc", json_object_new_string("2.0"));
	json_object_object_add(o, "id", json_object_get(id));
	json_object_object_add(error, "code", json_object_new_int(code));
	json_object_object_add(error, "message",
	    json_object_new_string(words));
	json_object_object_add(o, "error", error);
	return o;
}

void
mcp_put_error(struct json_object *id, int code, const char *words)
{
	mcp_put_json(mcp_error(id, code, words));
}

size_t
mcp_unsent(void)
{
	return end - start;
}

bool
mcp_flush(void)
{
	struct pollfd pfd = { .fd = STDOUT_FILENO, .events = POLLOUT };
	size_t len;
	ssize_t n;

	/* so much a pipe that can be written to takes without blocking */
	while (mcp_unsent() > 0 && poll(&pfd, 1, 0) == 1) {
		len = mcp_unsent() < PIPE_BUF ? mcp_unsent() : PIPE_BUF;
		n = write(STDOUT_FILENO, buf + start, len);
		if (n == -1 && (errno == EINTR || errno == EAGAIN))
			return true;
		if (n == -1) {
			if (errno != EPIPE)
				report("standard output: %s",
				    strerror(errno));
			return false;
		}
		start += (size_t)n;
	}
	if (start == end)
		start = end = 0;
	return true;
}
