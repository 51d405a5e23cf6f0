/* SPDX-License-Identifier: ISC */
/* Log records: formatted and escaped here, written by the sink. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

static const char	*log_who = "debuglanternd";
static enum log_level	 log_most = LOG_L_INFO;
static log_sink_fn	 log_sink;

void
log_init(const char *who, enum log_level most, log_sink_fn sink)
{
	log_who = who;
	log_most = most;
	log_sink = sink;
}

void
log_set_level(enum log_level most)
{
	log_most = most;
}

char *
log_escape(char *dst, size_t size, const char *src, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	size_t i, o = 0;

	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)src[i];

		/* the longest form and the NUL must fit */
		if (o + 5 > size)
			break;
		if (c == '\\') {
			dst[o++] = '\\';
			dst[o++] = '\\';
		} else if (c < 0x20 || c >= 0x7f) {
			dst[o++] = '\\';
			dst[o++] = 'x';
			dst[o++] = hex[c >> 4];
			dst[o++] = hex[c & 15];
		} else
			dst[o++] = (char)c;
	}
	dst[o] = '\0';
	return dst;
}

static void
emit(enum log_level level, const char *line)
{
	char out[LOG_LINE_MAX + 64];
	int n;

	if (log_sink != NULL) {
		log_sink(level, line);
		return;
	}
	n = snprintf(out, sizeof(out), "%s: %s\n", log_who, line);
	if (n > 0 && write(STDERR_FILENO, out,
	    (size_t)n < sizeof(out) ? (size_t)n : sizeof(out) - 1) == -1)
		return;
}

static void __attribute__((format(printf, 3, 0)))
vlog(enum log_level level, int errnum, const char *fmt, va_list ap)
{
	char raw[LOG_LINE_MAX], line[LOG_LINE_MAX];
	size_t len;
	int n;

	if (level > log_most && level != LOG_L_AUDIT)
		return;
	n = vsnprintf(raw, sizeof(raw), fmt, ap);
	if (n < 0)
		return;
	len = (size_t)n < sizeof(raw) ? (size_t)n : sizeof(raw) - 1;
	/* strerror() would open message catalogues; the plain text needs none */
	if (errnum != 0 && len < sizeof(raw) - 1)
		(void)snprintf(raw + len, sizeof(raw) - len, ": %s",
		    strerrordesc_np(errnum) ? strerrordesc_np(errnum) :
		    "unknown error");
	log_escape(line, sizeof(line), raw, strlen(raw));
	emit(level, line);
}

#define LOG_BODY(level, errnum) do {					\
	int saved = errno;						\
	va_list ap;							\
	va_start(ap, fmt);						\
	vlog((level), (errnum), fmt, ap);				\
	va_end(ap);							\
	errno = saved;							\
} while (0)

void
log_error(const char *fmt, ...)
{
	LOG_BODY(LOG_L_ERROR, 0);
}

void
log_warn(const char *fmt, ...)
{
	LOG_BODY(LOG_L_WARN, saved);
}

void
log_warnx(const char *fmt, ...)
{
	LOG_BODY(LOG_L_WARN, 0);
}

void
log_info(const char *fmt, ...)
{
	LOG_BODY(LOG_L_INFO, 0);
}

void
log_debug(const char *fmt, ...)
{
	LOG_BODY(LOG_L_DEBUG, 0);
}

void
log_audit(const char *fmt, ...)
{
	char line[LOG_LINE_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	emit(LOG_L_AUDIT, line);
}

void
fatal(const char *fmt, ...)
{
	LOG_BODY(LOG_L_ERROR, saved);
	_exit(1);
}

void
fatalx(const char *fmt, ...)
{
	LOG_BODY(LOG_L_ERROR, 0);
	_exit(1);
}
