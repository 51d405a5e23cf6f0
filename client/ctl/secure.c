/* SPDX-License-Identifier: ISC */
/* TLS to a daemon. Daemons make their own certificates, which no authority
 * has signed: what counts is that it is the known one. It is compared after
 * the handshake, which proves that the daemon has its key, and before a byte
 * is sent. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tls.h>
#include <unistd.h>

#include "base/base64.h"
#include "client/lib/report.h"
#include "client/lib/stream.h"
#include "client/lib/target.h"
#include "known.h"
#include "secure.h"

static const struct cipher cipher = {
	tls_read, tls_write, tls_close, tls_free, tls_error,
};

/* libtls has "SHA256:" and hexadecimal digits; people compare shorter ones. */
static int
fingerprint(struct tls *tls, char out[FINGERPRINT_TEXT])
{
	const char *hash = tls_peer_cert_hash(tls);
	unsigned char bytes[32];
	size_t i;

	if (hash == NULL || strncmp(hash, "SHA256:", 7) != 0 ||
	    strlen(hash) != 7 + 64)
		return -1;
	for (i = 0; i < 32; i++)
		if (sscanf(hash + 7 + 2 * i, "%2hhx", &bytes[i]) != 1)
			return -1;
	memcpy(out, "SHA256:", 7);
	base64_put(out + 7, bytes, sizeof(bytes));
	/* ssh's have no padding either */
	out[FINGERPRINT_TEXT - 1] = '\0';
	return 0;
}

/* The caller frees it; NULL after a report. */
static struct tls_config *
configuration(const struct trust *trust)
{
	struct tls_config *config = tls_config_new();
	int r = 0;

	if (config == NULL) {
		report("out of memory");
		return NULL;
	}
	if (trust->ca != NULL)
		r = tls_config_set_ca_file(config, trust->ca);
	else {
		tls_config_insecure_noverifycert(config);
		tls_config_insecure_noverifyname(config);
	}
	if (r == 0 && trust->cert != NULL)
		r = tls_config_set_keypair_file(config, trust->cert,
		    trust->key);
	if (r == 0)
		return config;
	report("%s", tls_config_error(config));
	tls_config_free(config);
	return NULL;
}

/* The host without the interface of a link-local address. */
static void
server_name(const struct target *t, char *buf, size_t size)
{
	snprintf(buf, size, "%s", t->host);
	buf[strcspn(buf, "%")] = '\0';
}

/* A context that is ready for its handshake; NULL after a report. */
static struct tls *
context(int sock_fd, const struct target *t, const struct trust *trust)
{
	char name[sizeof(t->host)];
	struct tls_config *config;
	struct tls *tls;

	if ((config = configuration(trust)) == NULL)
		return NULL;
	server_name(t, name, sizeof(name));
	if ((tls = tls_client()) == NULL)
		report("out of memory");
	else if (tls_configure(tls, config) == -1 ||
	    tls_connect_socket(tls, sock_fd, name) == -1) {
		report("%s", tls_error(tls));
		tls_free(tls);
		tls = NULL;
	}
	tls_config_free(config);
	return tls;
}

/* A port without TLS stays silent, closes or answers something else. */
static int
handshake(struct stream *s, const struct target *t, int ms)
{
	char text[TARGET_TEXT];
	const char *why;
	int n;

	target_text(t, text);
	while ((n = tls_handshake(s->tls)) == TLS_WANT_POLLIN ||
	    n == TLS_WANT_POLLOUT) {
		if (stream_wait(s, n == TLS_WANT_POLLIN ? POLLIN :
		    POLLOUT, ms, NULL) == 0)
			continue;
		report("no TLS with %s: %s; does it speak TLS at that port?",
		    text, strerror(errno));
		return CTL_UNREACHABLE;
	}
	if (n == 0)
		return CTL_OK;
	why = tls_error(s->tls);
	if (why == NULL || strstr(why, "unexpected eof") != NULL)
		why = "it closed the connection; does it speak TLS at that "
		    "port?";
	report("no TLS with %s: %s", text, why);
	return CTL_UNREACHABLE;
}

int
secure_start(struct stream *s, int sock_fd, const struct target *t,
    const struct trust *trust, int ms, bool *asked)
{
	char print[FINGERPRINT_TEXT], text[TARGET_TEXT];
	struct tls *tls;
	int code;

	*asked = false;
	if ((tls = context(sock_fd, t, trust)) == NULL) {
		close(sock_fd);
		return CTL_USAGE;
	}
	stream_init(s, sock_fd);
	stream_encrypt(s, &cipher, tls);
	if ((code = handshake(s, t, ms)) != CTL_OK)
		goto fail;
	if (fingerprint(tls, print) == -1) {
		report("%s has shown no certificate", target_text(t, text));
		code = CTL_UNREACHABLE;
		goto fail;
	}
	if (trust->ca == NULL || trust->fingerprint != NULL)
		code = known_check(t, print, trust->fingerprint, asked);
	if (code == CTL_OK)
		return CTL_OK;
fail:
	stream_close(s);
	return code;
}
