/* SPDX-License-Identifier: ISC */
/* Making a certificate by OpenSSL's X509 interface. */
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <stdlib.h>
#include <string.h>

#include "selfsigned.h"

#define DAYS		3650
/* Clocks of lab hosts are often a little behind. */
#define DAYS_BEFORE	1
#define DAY_S		(24 * 60 * 60)
#define COMMON_NAME_MAX	64		/* ub-common-name, RFC 5280 */
#define SERIAL_BYTES	16

static int
set_serial(X509 *cert)
{
	unsigned char raw[SERIAL_BYTES];
	BIGNUM *bn;
	int ok;

	if (RAND_bytes(raw, sizeof(raw)) != 1)
		return 0;
	/* positive, and of full length */
	raw[0] = (unsigned char)((raw[0] & 0x3f) | 0x40);
	bn = BN_bin2bn(raw, sizeof(raw), NULL);
	ok = bn != NULL &&
	    BN_to_ASN1_INTEGER(bn, X509_get_serialNumber(cert)) != NULL;
	BN_free(bn);
	return ok;
}

static int
set_names(X509 *cert, const char *host)
{
	X509_NAME *name = X509_get_subject_name(cert);
	size_t len = strlen(host);

	if (len > COMMON_NAME_MAX)
		len = COMMON_NAME_MAX;
	return X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_ASC,
	    (const unsigned char *)host, (int)len, -1, 0) &&
	    X509_set_issuer_name(cert, name);
}

/* By structure: a host's name must not be read as the syntax of a list. */
static int
add_alternative_name(X509 *cert, const char *host)
{
	GENERAL_NAMES *names = GENERAL_NAMES_new();
	GENERAL_NAME *gn = GENERAL_NAME_new();
	ASN1_IA5STRING *text = ASN1_IA5STRING_new();
	int ok = 0;

	if (names == NULL || gn == NULL || text == NULL ||
	    !ASN1_STRING_set(text, host, -1))
		goto out;
	GENERAL_NAME_set0_value(gn, GEN_DNS, text);
	text = NULL;
	if (sk_GENERAL_NAME_push(names, gn) == 0)
		goto out;
	gn = NULL;
	ok = X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, 0) == 1;
out:
	ASN1_IA5STRING_free(text);
	GENERAL_NAME_free(gn);
	GENERAL_NAMES_free(names);
	return ok;
}

static int
add_extension(X509 *cert, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *ext;
	int ok;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, cert, cert, NULL, NULL, 0);
	ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	ok = ext != NULL && X509_add_ext(cert, ext, -1);
	X509_EXTENSION_free(ext);
	return ok;
}

static int
fill(X509 *cert, EVP_PKEY *key, const char *host)
{
	return X509_set_version(cert, X509_VERSION_3) && set_serial(cert) &&
	    X509_gmtime_adj(X509_getm_notBefore(cert),
	    -DAYS_BEFORE * DAY_S) != NULL &&
	    X509_time_adj_ex(X509_getm_notAfter(cert), DAYS, 0, NULL) != NULL &&
	    X509_set_pubkey(cert, key) && set_names(cert, host) &&
	    add_extension(cert, NID_basic_constraints, "critical,CA:FALSE") &&
	    add_extension(cert, NID_key_usage, "critical,digitalSignature") &&
	    add_extension(cert, NID_ext_key_usage, "serverAuth") &&
	    add_extension(cert, NID_subject_key_identifier, "hash") &&
	    add_alternative_name(cert, host) &&
	    X509_sign(cert, key, EVP_sha256()) > 0;
}

static uint8_t *
copy(BIO *bio, size_t *len)
{
	char *p;
	long n = BIO_get_mem_data(bio, &p);
	uint8_t *out = n > 0 ? malloc((size_t)n) : NULL;

	if (out == NULL)
		return NULL;
	memcpy(out, p, (size_t)n);
	OPENSSL_cleanse(p, (size_t)n);
	*len = (size_t)n;
	return out;
}

uint8_t *
selfsigned_make(const char *host, size_t *len, const char **why)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = X509_new();
	BIO *bio = BIO_new(BIO_s_mem());
	uint8_t *pem = NULL;

	if (key != NULL && cert != NULL && bio != NULL &&
	    fill(cert, key, host) && PEM_write_bio_X509(bio, cert) &&
	    PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL))
		pem = copy(bio, len);
	if (pem == NULL)
		*why = ERR_reason_error_string(ERR_peek_last_error());
	BIO_free(bio);
	X509_free(cert);
	EVP_PKEY_free(key);
	return pem;
}
