/* SPDX-License-Identifier: ISC */
/* Output of a program on its way to one of our own descriptors. These are
 * shared with other processes and so never made non-blocking: pieces are small
 * enough to fit whenever poll says that something does. */
#include <sys/stat.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "outbuf.h"

void
outbuf_init(struct outbuf *s, int out_fd, bool raw)
{
	struct stat st;

	memset(s, 0, sizeof(*s));
	s->out_fd = out_fd;
	s->filtered = !raw && isatty(out_fd);
	s->plain_file = fstat(out_fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* A stream that writes into the output buffer. */
static FILE *
begin(struct outbuf *s)
{
	outbuf_free(s);
	return open_memstream(&s->buf, &s->len);
}

int
outbuf_put(struct outbuf *s, const void *data, size_t len)
{
	FILE *out;

	if (s->broken)
		return 0;
	if ((out = begin(s)) == NULL)
		return -1;
	if (s->filtered)
		safe_filter_put(&s->filter, data, len, out);
	else
		fwrite(data, 1, len, out);
	return fclose(out) == 0 ? 0 : -1;
}

bool
outbuf_pending(const struct outbuf *s)
{
	return s->done < s->len;
}

int
outbuf_flush(struct outbuf *s)
{
	size_t len = s->len - s->done;
	ssize_t n;

	if (!s->plain_file && len > PIPE_BUF)
		len = PIPE_BUF;
	n = write(s->out_fd, s->buf + s->done, len);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n == -1) {
		s->broken = true;
		s->len = s->done = 0;
		return -1;
	}
	s->done += (size_t)n;
	return 0;
}

int
outbuf_end(struct outbuf *s)
{
	FILE *out;

	if (!s->filtered || s->broken)
		return 0;
	if ((out = begin(s)) == NULL)
		return -1;
	safe_filter_end(&s->filter, out);
	return fclose(out) == 0 ? 0 : -1;
}

void
outbuf_free(struct outbuf *s)
{
	free(s->buf);
	s->buf = NULL;
	s->len = s->done = 0;
}
