/* SPDX-License-Identifier: ISC */
/*
 * Rules for names, decided on the text alone.  Nothing here is relied on for
 * containment by itself: every open goes through openat2(RESOLVE_BENEATH).
 */
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "paths.h"

static bool
has_control(const char *s)
{
	for (; *s != '\0'; s++) {
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return true;
	}
	return false;
}

static bool
is_dot(const char *s, size_t len)
{
	return len == 1 && s[0] == '.';
}

static bool
is_dotdot(const char *s, size_t len)
{
	return len == 2 && s[0] == '.' && s[1] == '.';
}

const char *
path_clean(char *dst, size_t size, const char *src, size_t max)
{
	size_t len, o = 0, depth = 0;

	if (src[0] == '/')
		return "is an absolute path";
	if (has_control(src))
		return "has a control character in its name";
	for (; *src != '\0'; src += len + (src[len] == '/')) {
		len = strcspn(src, "/");
		if (len == 0 || is_dot(src, len))
			continue;
		if (is_dotdot(src, len))
			return depth == 0 ? "leaves the bundle" :
			    "has \"..\" in its path";
		if (len > NAME_MAX)
			return "has a component longer than 255 bytes";
		if (++depth > PATH_DEPTH_MAX)
			return "is more than 128 directories deep";
		if (o + (o > 0) + len > max || o + len + 2 > size)
			return "has too long a path";
		if (o > 0)
			dst[o++] = '/';
		memcpy(dst + o, src, len);
		o += len;
	}
	dst[o] = '\0';
	return NULL;
}

/*
 * ".." is taken only at the start of a target.  There it is applied to the
 * real directory that holds the link, whose depth is known (members below
 * links are refused).  After a name it could be applied to wherever another
 * link leads, and a chain of links, each harmless, could climb out.
 */
const char *
path_link_target(const char *at, const char *target, size_t max)
{
	size_t len, depth = 0;
	bool down = false;

	if (target[0] == '\0')
		return "is a symlink without a target";
	if (target[0] == '/')
		return "is a symlink to an absolute path";
	if (strlen(target) > max)
		return "is a symlink with too long a target";
	if (has_control(target))
		return "is a symlink with a control character in its target";
	for (; *at != '\0'; at++)
		depth += *at == '/';
	for (; *target != '\0'; target += len + (target[len] == '/')) {
		len = strcspn(target, "/");
		if (len == 0 || is_dot(target, len))
			continue;
		if (!is_dotdot(target, len)) {
			down = true;
			continue;
		}
		if (depth == 0)
			return "is a symlink that leaves the bundle";
		if (down)
			return "is a symlink with \"..\" after a name in its "
			    "target";
		depth--;
	}
	return NULL;
}
