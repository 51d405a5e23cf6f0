/* SPDX-License-Identifier: ISC */
/*
 * Sets libarchive up and feeds it by pread(2).  Its own reader of fds would be
 * shorter, but seeks by the shared offset and asks for more system calls.
 */
#include <sys/stat.h>

#include <errno.h>
#include <iconv.h>
#include <langinfo.h>
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

/*
 * libarchive brings names into the locale's character set.  To a tar it is
 * to leave them alone: in the C locale it gives up on what is not ASCII and
 * hands out the bytes, in a UTF-8 one it would compose accents.  Zip has no
 * such way out, there names become "?" unless the locale is UTF-8.
 */
static void
prepare_names(struct source *s)
{
	iconv_t cd;

	s->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	/* libc reads its table of character sets now, as later it cannot */
	cd = iconv_open(nl_langinfo(CODESET), "UTF-8");
	if (cd != (iconv_t)-1)
		iconv_close(cd);
}

const char *
source_prepare(struct source *s)
{
	s->fd = -1;
	prepare_names(s);
	s->a = archive_read_new();
	if (s->a == NULL)
		return "no memory";
	/*
	 * Nothing but these.  A warning would mean that libarchive lacks the
	 * code and would run a program for it.  Zip only with its directory
	 * at the end: read as a stream, it could show other members to us
	 * than to the one who checked it elsewhere.
	 */
	if (archive_read_support_filter_gzip(s->a) != ARCHIVE_OK ||
	    archive_read_support_filter_xz(s->a) != ARCHIVE_OK ||
	    archive_read_support_filter_zstd(s->a) != ARCHIVE_OK ||
	    archive_read_support_format_tar(s->a) != ARCHIVE_OK ||
	    archive_read_support_format_zip_seekable(s->a) != ARCHIVE_OK)
		return archive_error_string(s->a);
	return NULL;
}

bool
source_begins(const struct source *s, const char *magic)
{
	char head[8];
	size_t len = strnlen(magic, sizeof(head));

	return pread(s->fd, head, len, 0) == (ssize_t)len &&
	    memcmp(head, magic, len) == 0;
}

int
source_open(struct source *s, int fd)
{
	struct stat st;

	s->fd = fd;
	s->at = 0;
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)) {
		archive_set_error(s->a, EINVAL, "fd 0 is not a regular file");
		s->size = -1;
		return ARCHIVE_FATAL;
	}
	s->size = st.st_size;
	if (s->utf8 != (locale_t)0 && source_begins(s, "PK"))
		(void)uselocale(s->utf8);
	if (archive_read_set_read_callback(s->a, source_read) != ARCHIVE_OK ||
	    archive_read_set_skip_callback(s->a, source_skip) != ARCHIVE_OK ||
	    archive_read_set_seek_callback(s->a, source_seek) != ARCHIVE_OK ||
	    archive_read_set_callback_data(s->a, s) != ARCHIVE_OK)
		return ARCHIVE_FATAL;
	return archive_read_open1(s->a);
}

void
source_free(struct source *s)
{
	archive_read_free(s->a);
	s->a = NULL;
	(void)uselocale(LC_GLOBAL_LOCALE);
	if (s->utf8 != (locale_t)0)
		freelocale(s->utf8);
	s->utf8 = (locale_t)0;
}
