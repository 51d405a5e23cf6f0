/* SPDX-License-Identifier: ISC */
/* Trust on first use: whose certificate was accepted once is known by its
 * fingerprint, and another one in its place is refused. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/report.h"
#include "client/lib/target.h"
#include "known.h"
#include "store.h"

#define KNOWN_HOSTS	"known_hosts"
#define BASE64		"ABCDEFGHIJKLMNOPQRSTUVWXYZ" \
			"abcdefghijklmnopqrstuvwxyz0123456789+/"

bool
fingerprint_valid(const char *s)
{
	return strncmp(s, "SHA256:", 7) == 0 &&
	    strlen(s) == FINGERPRINT_TEXT - 1 &&
	    strspn(s + 7, BASE64) == strlen(s + 7);
}

int
known_port(struct target *t, bool *known)
{
	char key[TARGET_TEXT], *colon;
	const char *entry, *value;
	struct store s;
	size_t len;
	int code;

	*known = false;
	if ((code = store_load(&s, KNOWN_HOSTS, 0)) != CTL_OK)
		return code;
	target_key(t, key);
	if (!t->port_given && (colon = strrchr(key, ':')) != NULL)
		colon[1] = '\0';
	len = strlen(key);
	while (!*known && store_next(&s, &entry, &value)) {
		if (strncmp(entry, key, len) != 0 ||
		    (t->port_given && entry[len] != '\0'))
			continue;
		*known = true;
		if (!t->port_given)
			snprintf(t->port, sizeof(t->port), "%s",
			    entry + len);
	}
	store_free(&s);
	return CTL_OK;
}

static void
report_changed(const struct target *t, const char *seen, const char *known,
    int line)
{
	char key[TARGET_TEXT], path[STORE_PATH];

	fputs("@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n"
	    "@   WARNING: THE CERTIFICATE OF THE DAEMON HAS CHANGED!   @\n"
	    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n"
	    "Somebody may be sitting between you and it, reading and "
	    "changing everything,\nor it was given a new certificate. "
	    "Ask who runs it.\n", stderr);
	report("%s: the certificate is %s, known is %s in line %d of %s; "
	    "nothing was sent. If the change is right, remove that line",
	    target_key(t, key), seen, known, line,
	    store_path(KNOWN_HOSTS, path));
}

/*
 * Reads a line that the user types, without its end; -1 at the end of the
 * input.  The rest of a line that is too long is read as well: if it were left
 * there, no further question could be asked.
 */
static int
ask(FILE *tty, const char *question, char *buf, size_t size)
{
	size_t n = 0;
	int c;

	fputs(question, tty);
	fflush(tty);
	while ((c = getc(tty)) != EOF && c != '\n')
		if (n + 1 < size)
			buf[n++] = (char)c;
	buf[n] = '\0';
	buf[strcspn(buf, "\r")] = '\0';
	return c == EOF && n == 0 ? -1 : 0;
}

static bool
accepted(FILE *tty, const struct target *t, const char *fingerprint)
{
	const char *question = "Is it the right one (yes/no/FINGERPRINT)? ";
	char answer[128], key[TARGET_TEXT];

	fprintf(tty, "The daemon at %s is not known yet.\n"
	    "Its certificate has the fingerprint %s.\n",
	    target_key(t, key), fingerprint);
	if (*t->announced != '\0')
		fputs(strcmp(t->announced, fingerprint) == 0 ?
		    "The same one is announced on the local network, where "
		    "anybody can announce.\n" :
		    "ANOTHER ONE is announced on the local network.\n", tty);
	while (ask(tty, question, answer, sizeof(answer)) == 0) {
		if (strcasecmp(answer, "yes") == 0 ||
		    strcmp(answer, fingerprint) == 0)
			return true;
		if (strcasecmp(answer, "no") == 0)
			return false;
		question = fingerprint_valid(answer) ?
		    "That is another fingerprint. (yes/no/FINGERPRINT) " :
		    "Type yes, no or the fingerprint: ";
	}
	return false;
}

static int
first_use(const struct target *t, const char *fingerprint, bool *asked)
{
	char key[TARGET_TEXT];
	FILE *tty;
	int tty_fd;

	target_key(t, key);
	/* Standard input may be what is to be sent. */
	tty_fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (tty_fd == -1 || (tty = fdopen(tty_fd, "r+")) == NULL) {
		if (tty_fd != -1)
			close(tty_fd);
		report("the daemon at %s is not known, and there is no "
		    "terminal to ask on; compare its certificate, %s, with "
		    "\"debuglanternctl fingerprint\" over there and give it "
		    "with --fingerprint or $DEBUGLANTERN_FINGERPRINT", key,
		    fingerprint);
		return CTL_UNREACHABLE;
	}
	*asked = accepted(tty, t, fingerprint);
	fclose(tty);
	if (*asked)
		return store_set(KNOWN_HOSTS, key, fingerprint);
	report("the certificate of %s was not accepted; nothing was sent",
	    key);
	return CTL_UNREACHABLE;
}

int
known_check(const struct target *t, const char *fingerprint,
    const char *given, bool *asked)
{
	const char *entry, *value = NULL;
	char key[TARGET_TEXT];
	bool known = false;
	struct store s;
	int code;

	*asked = false;
	target_key(t, key);
	/* A fingerprint that the user gives overrides the known one. */
	if (given != NULL) {
		if (strcmp(given, fingerprint) == 0)
			return CTL_OK;
		report("%s: the certificate is %s, not %s as was given; "
		    "nothing was sent", key, fingerprint, given);
		return CTL_UNREACHABLE;
	}
	if ((code = store_load(&s, KNOWN_HOSTS, 0)) != CTL_OK)
		return code;
	while (!known && store_next(&s, &entry, &value))
		known = strcmp(entry, key) == 0;
	if (known && strcmp(value, fingerprint) != 0) {
		report_changed(t, fingerprint, value, s.line);
		code = CTL_UNREACHABLE;
	}
	store_free(&s);
	return known ? code : first_use(t, fingerprint, asked);
}
