/* SPDX-License-Identifier: ISC */
/*
 * Logging.  Roles hand their records to a sink that sends them to the
 * logger, which alone writes while it runs (syslog or stderr).  Nothing here
 * opens a file, so it works in an empty chroot under a filter.
 */
#ifndef DL_LOG_H
#define DL_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_L_ERROR, LOG_L_WARN, LOG_L_INFO, LOG_L_DEBUG, LOG_L_AUDIT };

#define LOG_LINE_MAX	1024

/* Takes a finished, escaped line without a newline. */
typedef void	(*log_sink_fn)(enum log_level, const char *line);

/* who is borrowed and must be static.  sink NULL = stderr. */
void	 log_init(const char *who, enum log_level most, log_sink_fn sink);
void	 log_set_level(enum log_level most);

/* log_warn and fatal add ": " and the text of errno; the x forms do not. */
void	 log_error(const char *, ...) __attribute__((format(printf, 1, 2)));
void	 log_warn(const char *, ...) __attribute__((format(printf, 1, 2)));
void	 log_warnx(const char *, ...) __attribute__((format(printf, 1, 2)));
void	 log_info(const char *, ...) __attribute__((format(printf, 1, 2)));
void	 log_debug(const char *, ...) __attribute__((format(printf, 1, 2)));
/*
 * The audit trail: never filtered by level.  The caller has passed any text in
 * it that is not our own through log_escape().
 */
void	 log_audit(const char *, ...) __attribute__((format(printf, 1, 2)));

/* Only for our own bugs and failures of set-up; never for peer data. */
void	 fatal(const char *, ...)
	    __attribute__((noreturn, format(printf, 1, 2)));
void	 fatalx(const char *, ...)
	    __attribute__((noreturn, format(printf, 1, 2)));

/*
 * Copies src into dst (NUL-terminated, size > 0), control characters and
 * bytes that are not ASCII as \xHH, backslash doubled.  Returns dst.
 */
char	*log_escape(char *dst, size_t size, const char *src, size_t len);

#endif
