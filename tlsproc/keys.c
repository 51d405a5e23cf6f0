/* SPDX-License-Identifier: ISC */
/*
 * Certificate and key: from the files of the configuration, or from one of
 * our own, made at the first start.  All of it happens before the root
 * directory is given up, and whatever is not as it should be ends the start:
 * a daemon without its key, or with one that others know, serves nobody.
 */
#include <sys/stat.h>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "keys.h"
#include "selfsigned.h"
#include "wire/proto.h"
#include "wire/role.h"

#define FILE_BYTES	(256 * 1024)
#define OWN_FILE	"server.pem"
#define OWN_FILE_NEW	"server.pem.new"
#define OWN_DIR		(sizeof(settings.state_dir) + 8)
#define OWN_PATH	(OWN_DIR + sizeof(OWN_FILE))
/* With forward secrecy and authenticated encryption, nothing else. */
#define CIPHERS		"ECDHE+AESGCM:ECDHE+CHACHA20"
#define CURVES		"X25519:P-256:P-384"

struct blob {
	uint8_t	*p;
	size_t	 len;
};

static struct tls	*server;
static char		 fingerprint[64];
static int64_t		 expiry;

static void
wipe(struct blob *b)
{
	if (b->p != NULL)
		explicit_bzero(b->p, b->len);
	free(b->p);
	*b = (struct blob){ 0 };
}

/* A few hundred KiB at most; dies otherwise.  Takes fd. */
static struct blob
read_all(int fd, const char *what, const char *path)
{
	struct blob b = { malloc(FILE_BYTES), 0 };
	ssize_t n = 1;

	if (b.p == NULL)
		fatal("%s", what);
	while (n > 0 && b.len < FILE_BYTES) {
		n = read(fd, b.p + b.len, FILE_BYTES - b.len);
		if (n > 0)
			b.len += (size_t)n;
	}
	if (n == -1)
		fatal("%s %s cannot be read", what, path);
	if (n > 0 || b.len == 0)
		fatalx("%s %s is %s; it must be a PEM file", what, path,
		    n > 0 ? "longer than 256 KiB" : "empty");
	close(fd);
	return b;
}

/*
 * By fd, so that what is checked is what is read.  Group access is for the
 * service user's group: a file of root's that only _dltls may read.
 */
static void
check_secret(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) == -1)
		fatal("tls key %s", path);
	if (!S_ISREG(st.st_mode))
		fatalx("tls key %s is not a file", path);
	if (st.st_uid != 0 && st.st_uid != geteuid())
		fatalx("tls key %s belongs to uid %u; give it to root or to "
		    "the user that reads it", path, st.st_uid);
	if ((st.st_mode & 077) != 0 && ((st.st_mode & 037) != 0 ||
	    (st.st_gid != getegid() && st.st_gid != 0)))
		fatalx("tls key %s can be read or written by others (mode %04o, "
		    "gid %u); %s", path, st.st_mode & 07777U, st.st_gid,
		    role_mode == MODE_SYSTEM ?
		    "chown root:_dltls and chmod 0640 it" : "chmod 0600 it");
}

static struct blob
read_named(const char *what, const char *path, bool secret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd == -1)
		fatal("%s %s cannot be opened%s", what, path,
		    errno == EACCES && role_mode == MODE_SYSTEM ?
		    " by _dltls (chgrp _dltls and chmod 0640 it, and let its "
		    "directories be searched)" : "");
	if (secret)
		check_secret(fd, path);
	return read_all(fd, what, path);
}

/* -- our own -------------------------------------------------------------- */

static int
open_own_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd == -1 || fstat(fd, &st) == -1)
		fatal("the directory of the own key, %s, cannot be opened",
		    path);
	if (st.st_uid != geteuid() || (st.st_mode & 077) != 0)
		fatalx("the directory of the own key, %s, must be of uid %u and "
		    "mode 0700 (it has uid %u, mode %04o)", path, geteuid(),
		    st.st_uid, st.st_mode & 07777U);
	return fd;
}

/* Whole or not at all: key and certificate are in one file, renamed last. */
static void
write_own(int dir_fd, const struct blob *b)
{
	int fd;

	(void)unlinkat(dir_fd, OWN_FILE_NEW, 0);
	fd = openat(dir_fd, OWN_FILE_NEW, O_WRONLY | O_CREAT | O_EXCL |
	    O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1 || write(fd, b->p, b->len) != (ssize_t)b->len ||
	    fsync(fd) == -1 || close(fd) == -1 ||
	    renameat(dir_fd, OWN_FILE_NEW, dir_fd, OWN_FILE) == -1 ||
	    fsync(dir_fd) == -1)
		role_cannot("write its new key", "the state directory must be "
		    "writable and have room");
}

static void
make_own(int dir_fd, struct blob *b)
{
	char host[HOST_NAME_MAX + 1] = "";
	const char *why = NULL;

	if (gethostname(host, sizeof(host) - 1) == -1 || host[0] == '\0')
		(void)strcpy(host, "localhost");
	b->p = selfsigned_make(host, &b->len, &why);
	if (b->p == NULL)
		fatalx("a key and certificate for %s cannot be made: %s", host,
		    why == NULL ? "unknown error" : why);
	write_own(dir_fd, b);
	log_info("made a key and a certificate for %s, good for ten years",
	    host);
}

/* path: to be filled with where it is. */
static struct blob
own_pair(char path[OWN_PATH])
{
	char dir[OWN_DIR];
	struct blob b = { 0 };
	int dir_fd, fd;

	(void)snprintf(dir, sizeof(dir), "%s/tls", settings.state_dir);
	(void)snprintf(path, OWN_PATH, "%s/%s", dir, OWN_FILE);
	dir_fd = open_own_dir(dir);
	fd = openat(dir_fd, OWN_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC |
	    O_NONBLOCK);
	if (fd == -1 && errno != ENOENT)
		fatal("tls key %s cannot be opened", path);
	if (fd == -1)
		make_own(dir_fd, &b);
	else {
		check_secret(fd, path);
		b = read_all(fd, "tls key", path);
	}
	close(dir_fd);
	return b;
}

/* -- what it is used for -------------------------------------------------- */

/* A day that no calendar has is one that has passed. */
static int64_t
expiry_of(const X509 *cert)
{
	struct tm tm;
	time_t t;

	if (!ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm))
		return 0;
	t = timegm(&tm);
	return t < 0 ? 0 : t;
}

static void
warn_of_expiry(const char *path)
{
	int64_t left = expiry - time(NULL);
	const char *again = settings.tls_certificate[0] != '\0' ?
	    "; put a new one in its place and send SIGHUP to debuglanternd" :
	    "; remove it while debuglanternd is stopped, which then makes "
	    "another, with another fingerprint";

	if (left <= 0)
		log_warnx("tls certificate %s has expired: clients refuse it%s",
		    path, again);
	else if (left < CERT_WARN_S)
		log_warnx("tls certificate %s expires in %lld days%s", path,
		    (long long)(left / (24 * 3600)), again);
}

static void
read_certificate(const struct blob *b, const char *path)
{
	BIO *bio = BIO_new_mem_buf(b->p, (int)b->len);
	X509 *cert = bio == NULL ? NULL :
	    PEM_read_bio_X509(bio, NULL, NULL, NULL);
	unsigned char hash[EVP_MAX_MD_SIZE], text[2 * EVP_MAX_MD_SIZE];
	unsigned int len;

	if (cert == NULL || !X509_digest(cert, EVP_sha256(), hash, &len))
		fatalx("tls certificate %s is not a certificate in PEM form",
		    path);
	(void)EVP_EncodeBlock(text, hash, (int)len);
	text[strcspn((char *)text, "=")] = '\0';
	(void)snprintf(fingerprint, sizeof(fingerprint), "SHA256:%.48s",
	    (char *)text);
	expiry = expiry_of(cert);
	warn_of_expiry(path);
	X509_free(cert);
	BIO_free(bio);
}

static void
config_step(struct tls_config *config, int r, const char *what)
{
	const char *why;

	if (r == 0)
		return;
	why = tls_config_error(config);
	fatalx("%s: %s", what, why == NULL ? "not accepted" : why);
}

static void
set_client_ca(struct tls_config *config)
{
	struct blob ca;

	if (settings.tls_client_ca[0] == '\0')
		return;
	ca = read_named("tls client-ca", settings.tls_client_ca, false);
	config_step(config, tls_config_set_ca_mem(config, ca.p, ca.len),
	    "tls client-ca");
	tls_config_verify_client_optional(config);
	wipe(&ca);
}

static void
configure(const struct blob *cert, const struct blob *key)
{
	struct tls_config *config = tls_config_new();

	server = tls_server();
	if (config == NULL || server == NULL)
		fatal("TLS");
	config_step(config, tls_config_set_protocols(config,
	    TLS_PROTOCOL_TLSv1_2 | TLS_PROTOCOL_TLSv1_3), "tls protocols");
	config_step(config, tls_config_set_ciphers(config, CIPHERS),
	    "tls ciphers");
	config_step(config, tls_config_set_ecdhecurves(config, CURVES),
	    "tls curves");
	tls_config_prefer_ciphers_server(config);
	config_step(config, tls_config_set_keypair_mem(config, cert->p,
	    cert->len, key->p, key->len), "tls certificate and key");
	set_client_ca(config);
	if (tls_configure(server, config) == -1)
		fatalx("tls certificate, key and client-ca do not fit: %s",
		    tls_error(server));
	tls_config_free(config);
}

void
keys_load(void)
{
	const char *path = settings.tls_certificate;
	static char own[OWN_PATH];
	struct blob cert, key = { 0 };

	if (tls_init() == -1)
		fatalx("the TLS library cannot be initialized");
	if (path[0] == '\0') {
		cert = own_pair(own);
		path = own;
	} else {
		cert = read_named("tls certificate", path, false);
		key = read_named("tls key", settings.tls_key, true);
	}
	read_certificate(&cert, path);
	configure(&cert, key.p == NULL ? &cert : &key);
	wipe(&cert);
	wipe(&key);
}

struct tls *
keys_server(void)
{
	return server;
}

int64_t
keys_expiry(void)
{
	return expiry;
}

const char *
keys_fingerprint(void)
{
	return fingerprint;
}
