/* SPDX-License-Identifier: ISC */
/* Host and Origin headers of browsers, the routes, and the statuses. */
/* links: netproc/web/webcheck.c netproc/text/line.c common/base/errors.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/errors.h"
#include "netproc/web/webcheck.h"

static void
test_hosts(void **state)
{
	static const char *const good[] = {
		"127.0.0.1", "127.0.0.1:1", "10.1.2.3:65535", "localhost",
		"LOCALHOST:80", "[::1]", "[::1]:8080", "[2001:db8::1]:1",
		"rig", "Rig:80", "lab.example.org", "lab.example.org:8080",
	};
	static const char *const bad[] = {
		"", ":80", "evil.example", "127.0.0.1.evil.example",
		"localhost.evil.example", "lab", "lab.example.org.evil",
		"lab.example.org.", "rig:0", "rig:65536", "rig:", "rig:8x",
		"rig:80:80", "[::1", "[::1]x", "[::1]:", "[]", "[evil]",
		"::1", "rig,lab.example.org", "127.1", "0x7f.1", "[127.0.0.1]",
		"user@localhost", "localhost/", " localhost",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!host_is_ours(good[i], "rig,lab.example.org"))
			fail_msg("refused: %s", good[i]);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (host_is_ours(bad[i], "rig,lab.example.org"))
			fail_msg("taken: %s", bad[i]);
	assert_false(host_is_ours("rig", ""));
}

static void
test_long_host(void **state)
{
	char host[600];

	(void)state;
	memset(host, 'a', sizeof(host) - 1);
	host[sizeof(host) - 1] = '\0';
	assert_false(host_is_ours(host, host));
	host[0] = '[';
	host[500] = ']';
	assert_false(host_is_ours(host, "rig"));
}

static void
test_origins(void **state)
{
	static const struct {
		const char	*origin, *host;
		bool		 plain, tls;
	} rows[] = {
		{ "http://rig:8080", "rig:8080", true, false },
		{ "https://rig:8080", "rig:8080", true, true },
		{ "http://RIG:8080", "rig:8080", true, false },
		{ "http://rig", "rig:8080", false, false },
		{ "http://rig:8081", "rig:8080", false, false },
		{ "http://rig:8080.evil", "rig:8080", false, false },
		{ "http://rig:8080/", "rig:8080", false, false },
		{ "ftp://rig:8080", "rig:8080", false, false },
		{ "null", "rig:8080", false, false },
		{ "", "rig:8080", false, false },
		{ "rig:8080", "rig:8080", false, false },
		{ "http://", "", true, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (origin_is_same(rows[i].origin, rows[i].host, false) !=
		    rows[i].plain || origin_is_same(rows[i].origin,
		    rows[i].host, true) != rows[i].tls)
			fail_msg("%s at %s", rows[i].origin, rows[i].host);
}

/* No error is told as a success. */
static void
test_statuses(void **state)
{
	uint32_t err;

	(void)state;
	for (err = ERR_OK + 1; err < ERR_COUNT; err++)
		if (err_status(err) < 400 || err_status(err) > 599)
			fail_msg("%s: %u", err_code(err), err_status(err));
	assert_int_equal(err_status(ERR_NOT_FOUND), 404);
	assert_int_equal(err_status(ERR_AUTH_FAILED), 401);
	assert_int_equal(err_status(ERR_READ_ONLY), 403);
	assert_int_equal(err_status(ERR_MAX_CLIENTS), 429);
	assert_int_equal(err_status(ERR_INVALID_JSON), 400);
	assert_int_equal(err_status(ERR_TRY_AGAIN), 503);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_long_host),
		cmocka_unit_test(test_origins),
		cmocka_unit_test(test_statuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
