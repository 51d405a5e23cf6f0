/* SPDX-License-Identifier: ISC */
/* Which names and link targets a bundle may hold. */
/* links: archiver/paths.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <string.h>

#include "archiver/paths.h"

struct name {
	const char *in;
	const char *out;	/* clean, or NULL */
	const char *wrong;	/* or NULL */
};

static const struct name names[] = {
	{ "a", "a", NULL },
	{ "./a", "a", NULL },
	{ "././/a/./b//c/", "a/b/c", NULL },
	{ "a..b/..c/d../...", "a..b/..c/d../...", NULL },
	{ ".", "", NULL },
	{ "./", "", NULL },
	{ "", "", NULL },
	{ "\303\251\377", "\303\251\377", NULL },
	{ " a b ", " a b ", NULL },
	{ "/a", NULL, "is an absolute path" },
	{ "//", NULL, "is an absolute path" },
	{ "..", NULL, "leaves the bundle" },
	{ "../../etc/passwd", NULL, "leaves the bundle" },
	{ "./../a", NULL, "leaves the bundle" },
	{ "a/..", NULL, "has \"..\" in its path" },
	{ "a/../b", NULL, "has \"..\" in its path" },
	{ "a\nb", NULL, "has a control character in its name" },
	{ "a\177", NULL, "has a control character in its name" },
	{ "\033[2J", NULL, "has a control character in its name" },
};

static void
clean_names(void **state)
{
	char out[256];
	const char *wrong;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		wrong = path_clean(out, sizeof(out), names[i].in, 200);
		if (names[i].wrong != NULL) {
			assert_non_null(wrong);
			assert_string_equal(wrong, names[i].wrong);
			continue;
		}
		assert_null(wrong);
		assert_string_equal(out, names[i].out);
	}
}

static void
lengths(void **state)
{
	char in[1024], out[1024];

	(void)state;
	memset(in, 'x', sizeof(in));
	in[255] = '\0';
	assert_null(path_clean(out, sizeof(out), in, 255));
	assert_string_equal(path_clean(out, sizeof(out), in, 254),
	    "has too long a path");
	in[255] = 'x';
	in[256] = '\0';
	assert_string_equal(path_clean(out, sizeof(out), in, 1000),
	    "has a component longer than 255 bytes");
	/* the limit is for the clean path, and the buffer's own one holds too */
	assert_null(path_clean(out, sizeof(out), "./abc/./def/", 7));
	assert_string_equal(path_clean(out, sizeof(out), "abc/def", 6),
	    "has too long a path");
	assert_null(path_clean(out, 8, "abc/def", 100));
	assert_string_equal(path_clean(out, 7, "abc/def", 100),
	    "has too long a path");
}

static void
depth(void **state)
{
	char in[1024], out[1024];
	size_t i;

	(void)state;
	for (i = 0; i < PATH_DEPTH_MAX + 1; i++)
		memcpy(in + 2 * i, "a/", 2);
	in[2 * PATH_DEPTH_MAX] = '\0';
	assert_null(path_clean(out, sizeof(out), in, 1000));
	in[2 * PATH_DEPTH_MAX] = 'a';
	in[2 * PATH_DEPTH_MAX + 1] = '\0';
	assert_string_equal(path_clean(out, sizeof(out), in, 1000),
	    "is more than 128 directories deep");
}

struct link {
	const char *at;
	const char *target;
	const char *wrong;
};

static const struct link links[] = {
	{ "l", "a", NULL },
	{ "l", "a/b/c", NULL },
	{ "l", ".", NULL },
	{ "l", "./a", NULL },
	{ "a/l", "..", NULL },
	{ "a/l", "./../b", NULL },
	{ "a/b/l", "../../c/d", NULL },
	{ "a/b/l", "a..b/..c", NULL },
	{ "l", "..", "is a symlink that leaves the bundle" },
	{ "l", "../a", "is a symlink that leaves the bundle" },
	{ "a/l", "../..", "is a symlink that leaves the bundle" },
	{ "a/l", "../../a/x", "is a symlink that leaves the bundle" },
	{ "a/b/l", "x/..",
	    "is a symlink with \"..\" after a name in its target" },
	{ "a/b/l", "../x/../y",
	    "is a symlink with \"..\" after a name in its target" },
	{ "l", "x/..", "is a symlink that leaves the bundle" },
	{ "l", "/bin/ls", "is a symlink to an absolute path" },
	{ "l", "/", "is a symlink to an absolute path" },
	{ "l", "", "is a symlink without a target" },
	{ "l", "a\nb",
	    "is a symlink with a control character in its target" },
	{ "l", "123456789012345678901",
	    "is a symlink with too long a target" },
};

static void
link_targets(void **state)
{
	const char *wrong;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		wrong = path_link_target(links[i].at, links[i].target, 20);
		if (links[i].wrong == NULL) {
			assert_null(wrong);
			continue;
		}
		assert_non_null(wrong);
		assert_string_equal(wrong, links[i].wrong);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean_names),
		cmocka_unit_test(lengths),
		cmocka_unit_test(depth),
		cmocka_unit_test(link_targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
