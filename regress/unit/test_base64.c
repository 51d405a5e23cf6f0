/* SPDX-License-Identifier: ISC */
/* Base64, by the vectors of RFC 4648 and beside libsodium's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"

#define MOST	300
#define TRIES	20000

static void
vectors_of_rfc_4648(void **state)
{
	static const char *const pairs[][2] = {
		{ "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" },
		{ "foo", "Zm9v" }, { "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" },
	};
	char text[16], bytes[16];
	size_t i, n, len;

	(void)state;
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		len = strlen(pairs[i][0]);
		base64_put(text, pairs[i][0], len);
		assert_int_equal(BASE64_LEN(len), strlen(pairs[i][1]));
		assert_memory_equal(text, pairs[i][1], BASE64_LEN(len));
		assert_true(base64_get(text, BASE64_LEN(len), bytes, &n));
		assert_int_equal(n, len);
		assert_memory_equal(bytes, pairs[i][0], n);
	}
}

static void
other_texts_are_refused(void **state)
{
	static const char *const wrong[] = {
		/* bits that belong to no byte */
		"AB==", "AP9=",
		/* padding */
		"A", "AA", "AAA", "A===", "====", "AA==AAAA", "AA=A", "=AAA",
		/* other characters: blanks, the alphabet of URLs */
		"AA A", " AAA", "AAA\n", "    AAAA", "A-_A", "\xff" "AAA",
	};
	char bytes[16];
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (base64_get(wrong[i], strlen(wrong[i]), bytes, &n))
			fail_msg("taken: %s", wrong[i]);
	assert_false(base64_get("AA\0A", 4, bytes, &n));
}

/* Text of random bytes, often with a wrong character. */
static size_t
make_text(char *text)
{
	/* bytes above 0x7f aside: libsodium 1.0.18 takes them for digits */
	static const char other[] = "=A/+-_ \n";
	uint8_t bytes[MOST];
	size_t len = randombytes_uniform(MOST), at;

	randombytes_buf(bytes, len);
	base64_put(text, bytes, len);
	len = BASE64_LEN(len);
	if (len > 0 && randombytes_uniform(2) == 0) {
		/* the end is where padding is */
		at = randombytes_uniform(2) == 0 ? len - 1 -
		    randombytes_uniform(len < 4 ? (uint32_t)len : 4) :
		    randombytes_uniform((uint32_t)len);
		text[at] = other[randombytes_uniform(sizeof(other))];
	}
	return len - (len > 0 && randombytes_uniform(16) == 0);
}

static void
is_as_libsodium_has_it(void **state)
{
	char text[BASE64_LEN(MOST)];
	uint8_t theirs[MOST], ours[MOST];
	size_t i, len, n, m, good = 0;
	bool ok;

	(void)state;
	assert_int_not_equal(sodium_init(), -1);
	for (i = 0; i < TRIES; i++) {
		len = make_text(text);
		ok = sodium_base642bin(theirs, sizeof(theirs), text, len, NULL,
		    &m, NULL, sodium_base64_VARIANT_ORIGINAL) == 0;
		good += ok;
		assert_int_equal(base64_get(text, len, ours, &n), ok);
		if (!ok)
			continue;
		assert_int_equal(n, m);
		assert_memory_equal(ours, theirs, n);
		/* in place */
		assert_true(base64_get(text, len, text, &n));
		assert_int_equal(n, m);
		assert_memory_equal(text, theirs, n);
	}
	assert_in_range(good, TRIES / 4, TRIES * 3 / 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_of_rfc_4648),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(is_as_libsodium_has_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
