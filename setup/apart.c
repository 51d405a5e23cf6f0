/* SPDX-License-Identifier: ISC */
/*
 * The configuration is read in a process apart, which has no privilege: setup
 * opens the file, and gets back what has been set, value by value.
 */
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "again.h"
#include "caps.h"
#include "filter.h"
#include "setup.h"

/* The kernel's overflow id, which owns nothing: no user is needed for it. */
#define NO_ID		65534
/* more than all statements that a configuration may have */
#define PACKED_MAX	(4 * 1024 * 1024)

/* Beside memory and exit: interfaces of link-local addresses are looked up. */
static const struct filter_rule rules[] = {
	ALLOW_ARG(socket, FILTER_INT(0, AF_UNIX)),
	ALLOW_ARG(ioctl, FILTER_INT(1, SIOCGIFINDEX)),
	/* whether the file is a terminal, asked by stdio */
	ALLOW_ARG(ioctl, FILTER_INT(1, TCGETS)),
};

static const struct filter apart_filter = {
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

/* Closes what the starter left open: it is not for this process. */
static void
close_others(unsigned int a, unsigned int b)
{
	unsigned int low = a < b ? a : b, high = a < b ? b : a;

	(void)close_range(3, low - 1, 0);
	(void)close_range(low + 1, high - 1, 0);
	(void)close_range(high + 1, ~0U, 0);
}

/* False where there is no other id to be had, as in a user namespace. */
static bool
become_nobody(void)
{
	int r = setgroups(0, NULL);

	r |= setresgid(NO_ID, NO_ID, NO_ID);
	r |= setresuid(NO_ID, NO_ID, NO_ID);
	return r == 0;
}

/*
 * A start that lacks rights ends at the step that needs them, which says so,
 * as does a kernel without filters; here without capabilities must do.
 */
static bool
confine(void)
{
	if (geteuid() == 0)
		(void)become_nobody();
	return caps_set(0, 0) == 0 &&
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 &&
	    (filter_load(&apart_filter) == 0 || errno == EINVAL ||
	    errno == ENOSYS);
}

static void __attribute__((noreturn))
child(conf_reader reader, FILE *file, const char *name, int fd)
{
	FILE *out = fdopen(fd, "w");
	uid_t invoking = getuid();
	bool is_root = geteuid() == 0;
	struct conf *c;

	close_others((unsigned int)fd, file != NULL ?
	    (unsigned int)fileno(file) : (unsigned int)fd);
	if (out == NULL || !confine())
		_exit(1);
	c = reader(file, name, invoking, is_root, on_error, out);
	if (c != NULL)
		conf_pack(c, out);
	_exit(fflush(out) == 0 ? 0 : 1);
}

/* Returns the length, or -1 when there is more than room. */
static ssize_t
read_all(int fd, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while (len < size && (n = read_again(fd, buf + len, size - len)) > 0)
		len += (size_t)n;
	return len < size ? (ssize_t)len : -1;
}

/* A process that was taken over writes to a terminal by this. */
static void
tell(char *text, conf_error_fn fn)
{
	char *p;

	for (p = text; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	fn(NULL, text);
}

/* True if there were errors, which have been told. */
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

static struct conf *
take(char *said, ssize_t len, int status, conf_error_fn fn)
{
	struct conf *c;
	char text[128] = "the process that reads the configuration failed: no "
	    "memory, or a fault of ours";

	if (len > 0 && tell_errors(said, (size_t)len, fn))
		return NULL;
	c = len > 0 && status == 0 ? conf_unpack(said, (size_t)len,
	    d.mode == MODE_SYSTEM, getuid()) : NULL;
	if (c != NULL)
		return c;
	if (WIFSIGNALED(status))
		(void)snprintf(text, sizeof(text), "the process that reads "
		    "the configuration was ended by signal %d",
		    WTERMSIG(status));
	fn(NULL, text);
	return NULL;
}

struct conf *
apart_read(conf_reader reader, FILE *file, const char *name, conf_error_fn fn)
{
	char *said = calloc(1, PACKED_MAX + 1);
	struct conf *c;
	ssize_t len;
	int fds[2], status = -1;
	pid_t pid;

	if (said == NULL || pipe2(fds, O_CLOEXEC) == -1 || (pid = fork()) == -1)
		fatal("cannot start the process that reads the configuration");
	if (pid == 0)
		child(reader, file, name, fds[1]);
	close(fds[1]);
	len = read_all(fds[0], said, PACKED_MAX);
	close(fds[0]);
	(void)waitpid_again(pid, &status, 0);
	c = take(said, len, status, fn);
	free(said);
	return c;
}
