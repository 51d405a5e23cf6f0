/* SPDX-License-Identifier: ISC */
/* links: tlsproc/certname.c */
/* covers: tlsproc/certname.c */
/*
 * Fuzz target: certname() on any bytes in place of a certificate.  A name that
 * it takes could be a user's, and nothing is left where there is none.
 */
#include <openssl/bio.h>
#include <openssl/pem.h>

#include "regress/fuzz/fuzz.h"

#include "tlsproc/certname.h"

#define LETTERS	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
		"0123456789_"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char name[64], *pem;
	long n;
	int r;

	/* an empty one cannot be written */
	if (bio == NULL || PEM_write_bio(bio, PEM_STRING_X509, "", data,
	    (long)len) <= 0) {
		BIO_free(bio);
		return 0;
	}
	n = BIO_get_mem_data(bio, &pem);
	memset(name, 'x', sizeof(name));
	r = certname((const uint8_t *)pem, (size_t)n, name, sizeof(name));
	if (memchr(name, '\0', sizeof(name)) == NULL)
		abort();
	if (r == -1 && name[0] != '\0')
		abort();
	if (r == 0 && (strspn(name, LETTERS) == 0 ||
	    strspn(name, LETTERS "-.") != strlen(name)))
		abort();
	BIO_free(bio);
	return 0;
}
