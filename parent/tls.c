/* SPDX-License-Identifier: ISC */
/*
 * The certificate, of which the parent knows the files' names, which files
 * setup found there, and the fingerprint that tlsproc tells.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "parent.h"

int	parent_on_tls_ready(struct msg *);

/* As in settings: a path, and what was found there when it was looked at. */
static struct file {
	char		path[PATH_LEN];
	struct tls_seen	was;
} files[TLS_FILES];

static char	fingerprint[64];
static uint64_t	expires;		/* s since 1970, 0 = not known */
static bool	forgotten;
static bool	news;			/* more than the certificate may be */
static bool	other;			/* and that is, as was tried */
/* The last that served, which others in the configuration do not end. */
static struct {
	char		certificate[PATH_LEN], key[PATH_LEN];
	char		client_ca[PATH_LEN];
} good;
static bool	unfit;			/* what the configuration names now */

static const char *
path_of(size_t i)
{
	const struct settings *s = &d.plan->settings;
	const char *const paths[TLS_FILES] = { s->tls_certificate, s->tls_key,
		s->tls_client_ca };

	return paths[i];
}

/* A file that could not be looked at, or that is gone, counts as unchanged. */
static bool
note(struct file *f, const char *path, const struct tls_seen *is)
{
	bool named_other = strcmp(f->path, path) != 0, changed;

	(void)snprintf(f->path, sizeof(f->path), "%s", path);
	if (!is->seen || path[0] == '\0')
		return named_other;
	changed = is->ino != f->was.ino || is->dev != f->was.dev ||
	    is->sec != f->was.sec || is->nsec != f->was.nsec;
	f->was = *is;
	return named_other || changed;
}

bool
tls_files_changed(void)
{
	const struct tls_seen *is = d.plan->tls;
	bool hidden = false;
	size_t i;

	news |= forgotten;
	forgotten = false;
	for (i = 0; i < TLS_FILES; i++) {
		news |= note(&files[i], path_of(i), &is[i]);
		news |= i == TLS_FILE_CA && !is[i].seen;
		hidden |= !is[i].seen;
	}
	return news || hidden;
}

/*
 * A key goes with its certificate: where only those could not be looked at,
 * the fingerprint tells.
 */
bool
tls_is_news(void)
{
	return news || other;
}

void
tls_forget_files(void)
{
	forgotten = true;
}

void
tls_note_files(void)
{
	size_t i;

	for (i = 0; i < TLS_FILES; i++)
		(void)note(&files[i], path_of(i), &d.plan->tls[i]);
}

void
tls_tried(bool is_good)
{
	unfit = !is_good;
	news = other = false;
}

/* Only names are kept: files that were replaced themselves are gone. */
const struct settings *
tls_settings(void)
{
	static struct settings s;

	s = d.plan->settings;
	if (!unfit)
		return &s;
	(void)snprintf(s.tls_certificate, sizeof(s.tls_certificate), "%s",
	    good.certificate);
	(void)snprintf(s.tls_key, sizeof(s.tls_key), "%s", good.key);
	(void)snprintf(s.tls_client_ca, sizeof(s.tls_client_ca), "%s",
	    good.client_ca);
	return &s;
}

static void
note_good(void)
{
	const struct settings *s = tls_settings();

	if (unfit)
		return;
	(void)snprintf(good.certificate, sizeof(good.certificate), "%s",
	    s->tls_certificate);
	(void)snprintf(good.key, sizeof(good.key), "%s", s->tls_key);
	(void)snprintf(good.client_ca, sizeof(good.client_ca), "%s",
	    s->tls_client_ca);
}

const char *
tls_fingerprint(void)
{
	return fingerprint;
}

void
tls_tell(void)
{
	struct msg_out *o = msg_new(MSG_TLS_FINGERPRINT, NULL, 0, 0);

	msg_put_u32(o, listen_tls_port());
	msg_put_u64(o, expires);
	msg_put_str(o, listen_tls_port() != 0 ? fingerprint : "");
	(void)child_send(ROLE_NETPROC, o, -1);
}

int
parent_on_tls_ready(struct msg *m)
{
	uint64_t end = msg_get_u64(m);
	char text[sizeof(fingerprint)];

	msg_get_str(m, text, sizeof(text));
	if (msg_end(m) == -1)
		return -1;
	/* one that only tries a certificate serves nobody by it */
	if (!child_serves(m->chan)) {
		other = strcmp(text, fingerprint) != 0;
		return 0;
	}
	note_good();
	if (strcmp(text, fingerprint) == 0)
		return 0;
	expires = end;
	memcpy(fingerprint, text, sizeof(fingerprint));
	log_info("the certificate's fingerprint is %s", fingerprint);
	if (d.started) {
		tls_tell();
		announce_send();
	}
	return 0;
}
