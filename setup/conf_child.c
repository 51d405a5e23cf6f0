/* SPDX-License-Identifier: ISC */
/*
 * A child without privilege parses the configuration: setup opens the file and
 * receives each value that the file and the command line set.
 */
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "confine/caps.h"
#include "confine/filter.h"
#include "setup.h"

/* The kernel's overflow id: it owns nothing and needs no passwd(5) entry. */
#define NO_ID		65534
/* Bytes; a configuration with every statement allowed takes less. */
#define PACKED_MAX	(4 * 1024 * 1024)

/* stdio asks whether the file is a terminal */
static const struct filter_rule rules[] = {
	ALLOW_ARG(ioctl, FILTER_INT(1, TCGETS)),
};

static const struct filter child_filter = {
	.otherwise = SCMP_ACT_KILL_PROCESS,
	.matched = SCMP_ACT_ALLOW,
	.rules = rules,
	.nrules = sizeof(rules) / sizeof(rules[0]),
	.with_base = 1,
};

static void
on_error(void *arg, const char *text)
{
	conf_pack_text("error", arg);
	conf_pack_text(text, arg);
}

/* Closes descriptors that the starter left open, but for these two. */
static void
close_others(int a, int b)
{
	unsigned int low = (unsigned int)(a < b ? a : b);
	unsigned int high = (unsigned int)(a < b ? b : a);

	(void)close_range(3, low - 1, 0);
	(void)close_range(low + 1, high - 1, 0);
	(void)close_range(high + 1, ~0U, 0);
}

/* False if other ids are not available, as in some user namespaces. */
static bool
become_nobody(void)
{
	int r = setgroups(0, NULL);

	r |= setresgid(NO_ID, NO_ID, NO_ID);
	r |= setresuid(NO_ID, NO_ID, NO_ID);
	return r == 0;
}

/*
 * Missing rights and kernels without filters are reported by the later step of
 * the start that needs them.  Here dropping all capabilities is enough.
 */
static bool
confine(void)
{
	if (geteuid() == 0)
		(void)become_nobody();
	return caps_set(0, 0) == 0 &&
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 &&
	    (filter_load(&child_filter) == 0 || errno == EINVAL ||
	    errno == ENOSYS);
}

static void __attribute__((noreturn))
child(struct conf *c, FILE *file, const char *name, int fd)
{
	FILE *out = fdopen(fd, "w");

	close_others(fd, fileno(file));
	if (out == NULL || !confine())
		_exit(1);
	if (conf_parse(c, name, file, on_error, out) == 0)
		conf_pack(c, out);
	_exit(fflush(out) == 0 ? 0 : 1);
}

/* Returns the length, or -1 if the answer does not fit. */
static ssize_t
read_all(int fd, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while (len < size && (n = read_again(fd, buf + len, size - len)) > 0)
		len += (size_t)n;
	return len < size ? (ssize_t)len : -1;
}

/* Replaces control characters: the text may be shown on a terminal. */
static void
tell(char *text, conf_error_fn fn)
{
	char *p;

	for (p = text; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	fn(NULL, text);
}

/* Reports the errors that the child sent; true if there were any. */
static bool
tell_errors(char *said, size_t len, conf_error_fn fn)
{
	static const char what[] = "error";
	const char *end = said + len;
	char *text;
	int n = 0;

	/* the last byte is a NUL: one stands after the array, too */
	while (end - said > (ssize_t)sizeof(what) &&
	    memcmp(said, what, sizeof(what)) == 0 && n++ < CONF_MAX_ERRORS) {
		text = said + sizeof(what);
		tell(text, fn);
		said = text + strlen(text) + 1;
	}
	return n > 0;
}

/* The child's answer; NULL if it is not a configuration, which was reported. */
static struct conf *
take(const struct conf *before, char *said, ssize_t len, int status,
    conf_error_fn fn)
{
	struct conf *c;
	char text[128] = "the process that parses the configuration failed: no "
	    "memory, or a bug of debuglanternd";

	if (len > 0 && tell_errors(said, (size_t)len, fn))
		return NULL;
	c = len > 0 && status == 0 ? conf_unpack(said, (size_t)len,
	    before->system_mode, before->invoking) : NULL;
	if (c != NULL)
		return c;
	if (WIFSIGNALED(status))
		(void)snprintf(text, sizeof(text), "the process that parses "
		    "the configuration was ended by signal %d",
		    WTERMSIG(status));
	fn(NULL, text);
	return NULL;
}

struct conf *
conf_child_parse(struct conf *before, FILE *file, const char *name,
    conf_error_fn fn)
{
	char *said = calloc(1, PACKED_MAX + 1);
	struct conf *c;
	ssize_t len;
	int fds[2], status = -1;
	pid_t pid;

	if (said == NULL || pipe2(fds, O_CLOEXEC) == -1 || (pid = fork()) == -1)
		fatal("cannot start the process that parses the configuration");
	if (pid == 0)
		child(before, file, name, fds[1]);
	close(fds[1]);
	len = read_all(fds[0], said, PACKED_MAX);
	close(fds[0]);
	(void)waitpid_again(pid, &status, 0);
	c = take(before, said, len, status, fn);
	free(said);
	conf_free(before);
	return c;
}
