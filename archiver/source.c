/* SPDX-License-Identifier: ISC */
/*
 * Feeds libarchive by pread(2).  Its own reader of fds would be shorter, but
 * seeks by the shared offset and asks for more system calls.
 */
#include <sys/stat.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "source.h"

static la_ssize_t
source_read(struct archive *a, void *data, const void **buf)
{
	struct source *s = data;
	ssize_t n;

	do
		n = pread(s->fd, s->buf, sizeof(s->buf), s->at);
	while (n == -1 && errno == EINTR);
	if (n == -1) {
		archive_set_error(a, errno, "cannot read the archive: %s",
		    strerror(errno));
		return ARCHIVE_FATAL;
	}
	s->at += n;
	*buf = s->buf;
	return n;
}

static la_int64_t
source_skip(struct archive *a, void *data, la_int64_t n)
{
	struct source *s = data;

	(void)a;
	if (n < 0 || s->at >= s->size)
		return 0;
	if (n > s->size - s->at)
		n = s->size - s->at;
	s->at += n;
	return n;
}

static la_int64_t
source_seek(struct archive *a, void *data, la_int64_t offset, int whence)
{
	struct source *s = data;
	la_int64_t to;

	if (whence == SEEK_SET)
		to = 0;
	else if (whence == SEEK_CUR)
		to = s->at;
	else
		to = s->size;
	if (__builtin_add_overflow(to, offset, &to) || to < 0) {
		archive_set_error(a, EINVAL, "an offset outside the archive");
		return ARCHIVE_FATAL;
	}
	s->at = to;
	return to;
}

int
source_open(struct source *s, int fd, struct archive *a)
{
	struct stat st;

	s->fd = fd;
	s->at = 0;
	s->size = 0;
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)) {
		archive_set_error(a, EINVAL, "fd 0 is not a regular file");
		return ARCHIVE_FATAL;
	}
	s->size = st.st_size;
	if (archive_read_set_read_callback(a, source_read) != ARCHIVE_OK ||
	    archive_read_set_skip_callback(a, source_skip) != ARCHIVE_OK ||
	    archive_read_set_seek_callback(a, source_seek) != ARCHIVE_OK ||
	    archive_read_set_callback_data(a, s) != ARCHIVE_OK)
		return ARCHIVE_FATAL;
	return archive_read_open1(a);
}
