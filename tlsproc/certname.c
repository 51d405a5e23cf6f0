/* SPDX-License-Identifier: ISC */
/* Names in certificates: only what could be a user's is let through. */
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "certname.h"

static bool
is_name_char(unsigned char c, bool first)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	    (c >= '0' && c <= '9'))
		return true;
	return !first && (c == '-' || c == '.');
}

/* Refuses a name with a NUL in it: a look-up would end there. */
static int
take(const unsigned char *p, int len, char *name, size_t size)
{
	int i;

	if (len <= 0 || (size_t)len >= size)
		return -1;
	for (i = 0; i < len; i++)
		if (!is_name_char(p[i], i == 0))
			return -1;
	memcpy(name, p, (size_t)len);
	name[len] = '\0';
	return 0;
}

/* 0 = has none, 1 = taken, -1 = unfit.  Two names would be one too many. */
static int
from_subject(X509 *cert, char *name, size_t size)
{
	const X509_NAME *subject = X509_get_subject_name(cert);
	unsigned char *utf8 = NULL;
	int at, len, r;

	at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
	if (at == -1)
		return 0;
	if (at < 0 ||
	    X509_NAME_get_index_by_NID(subject, NID_commonName, at) != -1)
		return -1;
	len = ASN1_STRING_to_UTF8(&utf8,
	    X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
	if (len < 0)
		return -1;
	r = take(utf8, len, name, size);
	OPENSSL_free(utf8);
	return r == 0 ? 1 : -1;
}

static int
from_alternative(X509 *cert, char *name, size_t size)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name,
	    NULL, NULL);
	const unsigned char *p, *mark;
	int i, len, type, r = -1;
	bool found = false;

	for (i = 0; !found && i < sk_GENERAL_NAME_num(names); i++) {
		const ASN1_STRING *s = GENERAL_NAME_get0_value(
		    sk_GENERAL_NAME_value(names, i), &type);

		if (type != GEN_DNS && type != GEN_EMAIL)
			continue;
		found = true;
		p = ASN1_STRING_get0_data(s);
		len = ASN1_STRING_length(s);
		mark = type == GEN_EMAIL ? memchr(p, '@', (size_t)len) : NULL;
		if (mark != NULL)
			len = (int)(mark - p);
		r = take(p, len, name, size);
	}
	GENERAL_NAMES_free(names);
	return r;
}

int
certname(const uint8_t *pem, size_t len, char *name, size_t size)
{
	BIO *bio = len > INT_MAX ? NULL : BIO_new_mem_buf(pem, (int)len);
	X509 *cert = NULL;
	int r = -1;

	name[0] = '\0';
	if (bio == NULL)
		return -1;
	cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	BIO_free(bio);
	if (cert == NULL)
		return -1;
	r = from_subject(cert, name, size);
	if (r == 0)
		r = from_alternative(cert, name, size);
	X509_free(cert);
	return r < 0 ? -1 : 0;
}
