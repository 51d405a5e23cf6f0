/* SPDX-License-Identifier: ISC */
/* Which file of the page an address is answered with. */
/* links: netproc/web/assets.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "netproc/web/assets.h"

/* in place of the table that the build makes */
const struct asset web_assets[] = {
	{ "/app.js", "text/javascript", "\"a\"", NULL, 0 },
	{ "/index.html", "text/html", "\"i\"", NULL, 0 },
	{ "/style.css", "text/css", "\"s\"", NULL, 0 },
};
const size_t web_nassets = sizeof(web_assets) / sizeof(web_assets[0]);

static void
test_files(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < web_nassets; i++)
		assert_ptr_equal(asset_find(web_assets[i].path),
		    &web_assets[i]);
}

static void
test_views(void **state)
{
	static const char *const paths[] = { "/", "/host", "/login",
		"/session/0b8f", "/terminal/0b8f" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_ptr_equal(asset_find(paths[i]), &web_assets[1]);
}

static void
test_neither(void **state)
{
	static const char *const paths[] = { "", "//", "/app.j", "/app.js/",
		"/app.jsx", "/hosts", "/login/", "/session", "/session/",
		"/session/a/b", "/session/../app.js", "app.js", "/../",
		"/api/v1/sessions", "/terminal" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_null(asset_find(paths[i]));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_neither),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
