/* SPDX-License-Identifier: ISC */
/* Labels go into command lines, addresses and file names without quotes. */
#include <stdio.h>
#include <string.h>

#include "base/utc.h"
#include "base/utf8.h"
#include "label.h"
#include "proto.h"

static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-";

static bool
is_one_of(char c, const char *others)
{
	return (c >= '0' && c <= '9') || (c != '\0' && strchr(others, c));
}

bool
label_is_good(const char *label, size_t len)
{
	bool like_an_id = len >= LABEL_ID_MIN;
	size_t i;

	if (len > LABEL_MAX)
		return false;
	for (i = 0; i < len; i++) {
		if (!is_one_of(label[i], letters))
			return false;
		like_an_id &= is_one_of(label[i], "abcdefABCDEF-");
	}
	/* it would hide the session that has such an id */
	return !like_an_id;
}

void
label_for_program(const char *path, time_t when, char *label)
{
	/* room for the time, and for "-9999" behind it */
	const int most = LABEL_MAX - 17 - 5;
	const char *slash = strrchr(path, '/');
	char utc[UTC_TEXT], *p;

	if (slash != NULL)
		path = slash + 1;
	(void)utc_text(when, utc);
	(void)snprintf(label, LABEL_MAX + 1, "%.*s-%.10s-%.2sh%.2s", most,
	    *path == '\0' ? "program" : path, utc, utc + 11, utc + 14);
	for (p = label; *p != '\0'; p++)
		if (!is_one_of(*p, letters))
			*p = '_';
}

/* C0, DEL and C1: terminals act on them. */
static bool
is_control(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0);
}

void
label_file_name(const char *path, size_t len, char *name)
{
	/* an upload without a name has none to look into */
	const char *slash = len > 0 ? memrchr(path, '/', len) : NULL;
	size_t n, out = 0;
	uint32_t cp;

	if (slash != NULL) {
		len -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	for (; len > 0; path += n, len -= n) {
		n = utf8_sequence(path, len);
		if (n > FILE_NAME_LEN - out)
			break;
		if (n > 0 && utf8_decode(path, len, &cp) == n &&
		    !is_control(cp)) {
			memcpy(name + out, path, n);
			out += n;
			continue;
		}
		if (out == FILE_NAME_LEN)
			break;
		name[out++] = '_';
		n = n == 0 ? 1 : n;
	}
	name[out] = '\0';
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		name[0] = '\0';
}

static bool
is_clean(const char *p, size_t len)
{
	size_t n;
	uint32_t cp;

	for (; len > 0; p += n, len -= n) {
		n = utf8_sequence(p, len);
		if (n == 0 || utf8_decode(p, len, &cp) != n || is_control(cp))
			return false;
	}
	return true;
}

void
label_file(const char *path, size_t len, char *file)
{
	char name[FILE_NAME_LEN + 1];
	size_t n;

	label_file_name(path, len, name);
	n = strlen(name);
	/* a name that was cut or replaced is that of no file */
	if (n > 0 && len < EXEC_PATH_MAX && path[0] == '/' &&
	    path[len - n - 1] == '/' && is_clean(path, len)) {
		memcpy(file, path, len);
		file[len] = '\0';
	} else
		memcpy(file, name, n + 1);
}
