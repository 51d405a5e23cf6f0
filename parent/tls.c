/* SPDX-License-Identifier: ISC */
/*
 * The certificate, of which the parent knows the files' names and the
 * fingerprint that tlsproc tells; it never reads one of them.
 */
#include <sys/stat.h>

#include <stdio.h>
#include <string.h>

#include "log.h"
#include "parent.h"

int	parent_on_tls_ready(struct msg *);

/* As in settings: a path, and what was found there when it was looked at. */
static struct file {
	char		path[PATH_LEN];
	struct stat	st;
} files[3];
#define NFILES	(sizeof(files) / sizeof(files[0]))

static char	fingerprint[64];

static const char *
path_of(size_t i)
{
	const struct settings *s = &d.settings;
	const char *const paths[NFILES] = { s->tls_certificate, s->tls_key,
		s->tls_client_ca };

	return paths[i];
}

/* One that _dlparent may not look at has not changed as far as it knows. */
static bool
note(struct file *f, const char *path)
{
	bool named_other = strcmp(f->path, path) != 0, changed;
	struct stat st = f->st;

	(void)snprintf(f->path, sizeof(f->path), "%s", path);
	if (path[0] != '\0')
		(void)stat(path, &st);
	changed = st.st_ino != f->st.st_ino || st.st_dev != f->st.st_dev ||
	    st.st_mtim.tv_sec != f->st.st_mtim.tv_sec ||
	    st.st_mtim.tv_nsec != f->st.st_mtim.tv_nsec;
	f->st = st;
	return named_other || changed;
}

bool
tls_files_changed(void)
{
	bool changed = false;
	size_t i;

	for (i = 0; i < NFILES; i++)
		changed |= note(&files[i], path_of(i));
	if (changed)
		log_info("the certificate is read again; connections over TLS "
		    "end");
	return changed;
}

void
tls_note_files(void)
{
	size_t i;

	for (i = 0; i < NFILES; i++)
		(void)note(&files[i], path_of(i));
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
	msg_put_str(o, listen_tls_port() != 0 ? fingerprint : "");
	(void)child_send(ROLE_NETPROC, o, -1);
}

int
parent_on_tls_ready(struct msg *m)
{
	char text[sizeof(fingerprint)];

	msg_get_str(m, text, sizeof(text));
	if (msg_end(m) == -1)
		return -1;
	if (strcmp(text, fingerprint) == 0)
		return 0;
	memcpy(fingerprint, text, sizeof(fingerprint));
	log_info("the certificate's fingerprint is %s", fingerprint);
	if (d.started) {
		tls_tell();
		announce_send();
	}
	return 0;
}
