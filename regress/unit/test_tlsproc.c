/* SPDX-License-Identifier: ISC */
/* Certificates: the names that are taken from one, and one that is made. */
/* links: tlsproc/certname.c tlsproc/selfsigned.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tlsproc/certname.h"
#include "tlsproc/selfsigned.h"

#define NAME_SIZE	64

struct alt {
	int		 type;		/* GEN_DNS, GEN_EMAIL, GEN_URI */
	const char	*text;
};

static void
add_alternatives(X509 *cert, const struct alt *alts)
{
	GENERAL_NAMES *names = GENERAL_NAMES_new();
	GENERAL_NAME *gn;
	ASN1_IA5STRING *s;

	for (; alts->text != NULL; alts++) {
		gn = GENERAL_NAME_new();
		s = ASN1_IA5STRING_new();
		assert_true(ASN1_STRING_set(s, alts->text, -1));
		GENERAL_NAME_set0_value(gn, alts->type, s);
		assert_true(sk_GENERAL_NAME_push(names, gn) > 0);
	}
	assert_int_equal(X509_add1_ext_i2d(cert, NID_subject_alt_name, names,
	    0, 0), 1);
	GENERAL_NAMES_free(names);
}

static void
add_common_name(X509 *cert, const char *text, int len)
{
	assert_int_equal(X509_NAME_add_entry_by_NID(
	    X509_get_subject_name(cert), NID_commonName, MBSTRING_UTF8,
	    (const unsigned char *)text, len, -1, 0), 1);
}

/* The name that is found in a certificate with these; NULL = none. */
static const char *
found(const char *cn, int cn_len, const char *second, const struct alt *alts)
{
	static char name[NAME_SIZE];
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = X509_new();
	BIO *bio = BIO_new(BIO_s_mem());
	char *pem;
	long len;
	int r;

	assert_int_equal(X509_set_pubkey(cert, key), 1);
	assert_non_null(X509_gmtime_adj(X509_getm_notBefore(cert), 0));
	assert_non_null(X509_gmtime_adj(X509_getm_notAfter(cert), 60));
	if (cn != NULL)
		add_common_name(cert, cn, cn_len);
	if (second != NULL)
		add_common_name(cert, second, -1);
	if (alts != NULL)
		add_alternatives(cert, alts);
	assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
	assert_int_equal(PEM_write_bio_X509(bio, cert), 1);
	len = BIO_get_mem_data(bio, &pem);
	memset(name, 'x', sizeof(name));
	r = certname((const uint8_t *)pem, (size_t)len, name, sizeof(name));
	BIO_free(bio);
	X509_free(cert);
	EVP_PKEY_free(key);
	if (r == 0)
		assert_true(name[0] != '\0');
	else
		assert_int_equal(name[0], '\0');
	return r == 0 ? name : NULL;
}

static const char *
common(const char *cn)
{
	return found(cn, -1, NULL, NULL);
}

static void
test_common_name(void **state)
{
	static const char *const good[] = { "alice", "Alice", "a", "_svc",
		"a-b.c_d", "0day",
		"a23456789012345678901234567890123456789012345678901234567890123" };
	static const char *const bad[] = { "al ice", "-alice", ".", "a/b",
		"../x", "a\nb", "al:ice", "root\\", "\xc3\xa9ve", "a@b",
		"a234567890123456789012345678901234567890123456789012345678901234"
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_string_equal(common(good[i]), good[i]);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_null(common(bad[i]));
}

static void
test_nul_and_two_names(void **state)
{
	const struct alt alts[] = { { GEN_DNS, "carol" }, { 0, NULL } };

	(void)state;
	assert_null(found("alice\0.evil", 11, NULL, NULL));
	assert_null(found("alice", -1, "bob", NULL));
	/* an unfit common name is not made up for by another name */
	assert_null(found("al ice", -1, NULL, alts));
	assert_string_equal(found("alice", -1, NULL, alts), "alice");
}

static void
test_alternative_names(void **state)
{
	const struct alt dns[] = { { GEN_URI, "urn:x" }, { GEN_DNS, "carol" },
		{ GEN_DNS, "dave" }, { 0, NULL } };
	const struct alt mail[] = { { GEN_EMAIL, "erin@example.org" },
		{ GEN_DNS, "dave" }, { 0, NULL } };
	const struct alt odd[] = { { GEN_EMAIL, "@example.org" }, { 0, NULL } };
	const struct alt first[] = { { GEN_DNS, "*.x" }, { GEN_DNS, "dave" },
		{ 0, NULL } };
	const struct alt uri[] = { { GEN_URI, "alice" }, { 0, NULL } };

	(void)state;
	assert_string_equal(found(NULL, 0, NULL, dns), "carol");
	assert_string_equal(found(NULL, 0, NULL, mail), "erin");
	assert_null(found(NULL, 0, NULL, odd));
	assert_null(found(NULL, 0, NULL, first));
	assert_null(found(NULL, 0, NULL, uri));
	assert_null(found(NULL, 0, NULL, NULL));
}

static void
test_not_a_certificate(void **state)
{
	char name[NAME_SIZE];
	static const char text[] = "-----BEGIN CERTIFICATE-----\nAAAA\n"
	    "-----END CERTIFICATE-----\n";

	(void)state;
	assert_int_equal(certname((const uint8_t *)text, sizeof(text) - 1,
	    name, sizeof(name)), -1);
	assert_string_equal(name, "");
	assert_int_equal(certname((const uint8_t *)"", 0, name, sizeof(name)),
	    -1);
}

/* -- one that is made -- */

static X509 *
made(const char *host, EVP_PKEY **key)
{
	const char *why = NULL;
	uint8_t *pem;
	size_t len;
	X509 *cert;
	BIO *bio;

	pem = selfsigned_make(host, &len, &why);
	assert_non_null(pem);
	bio = BIO_new_mem_buf(pem, (int)len);
	cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	assert_non_null(cert);
	BIO_free(bio);
	bio = BIO_new_mem_buf(pem, (int)len);
	*key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
	assert_non_null(*key);
	BIO_free(bio);
	free(pem);
	return cert;
}

static void
check_host(const char *host)
{
	GENERAL_NAMES *names;
	const ASN1_STRING *s;
	EVP_PKEY *key;
	X509 *cert = made(host, &key);
	time_t in_nine_years = time(NULL) + 9L * 365 * 86400;
	int type;

	assert_int_equal(X509_check_private_key(cert, key), 1);
	assert_int_equal(X509_verify(cert, key), 1);
	assert_int_equal(EVP_PKEY_get_bits(key), 256);
	assert_true(X509_cmp_current_time(X509_get0_notBefore(cert)) < 0);
	assert_true(X509_cmp_time(X509_get0_notAfter(cert), &in_nine_years) > 0);
	assert_int_equal(X509_check_ca(cert), 0);
	names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	/* exactly the host's name, whatever is in it */
	assert_int_equal(sk_GENERAL_NAME_num(names), 1);
	s = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, 0), &type);
	assert_int_equal(type, GEN_DNS);
	assert_int_equal(ASN1_STRING_length(s), strlen(host));
	assert_memory_equal(ASN1_STRING_get0_data(s), host, strlen(host));
	GENERAL_NAMES_free(names);
	X509_free(cert);
	EVP_PKEY_free(key);
}

static void
test_selfsigned(void **state)
{
	char host[254];

	(void)state;
	check_host("rig");
	check_host("rig-7.lab.example.org");
	check_host("a,DNS:evil.example");
	memset(host, 'h', sizeof(host) - 1);
	host[sizeof(host) - 1] = '\0';
	check_host(host);
}

static void
test_selfsigned_differ(void **state)
{
	EVP_PKEY *k1, *k2;
	X509 *a = made("rig", &k1), *b = made("rig", &k2);

	(void)state;
	assert_int_not_equal(ASN1_INTEGER_cmp(X509_get0_serialNumber(a),
	    X509_get0_serialNumber(b)), 0);
	assert_int_not_equal(EVP_PKEY_eq(k1, k2), 1);
	X509_free(a);
	X509_free(b);
	EVP_PKEY_free(k1);
	EVP_PKEY_free(k2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_common_name),
		cmocka_unit_test(test_nul_and_two_names),
		cmocka_unit_test(test_alternative_names),
		cmocka_unit_test(test_not_a_certificate),
		cmocka_unit_test(test_selfsigned),
		cmocka_unit_test(test_selfsigned_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
