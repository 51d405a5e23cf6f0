/* SPDX-License-Identifier: ISC */
/* Commands that move bytes: upload, sysroot, input. A transfer that breaks
 * leaves neither half a session nor half a file. */
#include <sys/socket.h>
#include <sys/stat.h>

#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atomic_file.h"
#include "basic.h"
#include "client/lib/client.h"
#include "client/lib/input.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/safe.h"
#include "commands.h"
#include "progress.h"
#include "session.h"
#include "transfer.h"

#define READ_PIECE	(128U << 10)

/* An open regular file and its size, or -1 after a report. */
static int
open_regular(const char *path, size_t *sizep)
{
	struct stat st;
	int file_fd;

	/* O_NONBLOCK: a FIFO must not hold us before we can refuse it. */
	file_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file_fd == -1 || fstat(file_fd, &st) == -1) {
		report("%s: %s", path, strerror(errno));
		goto fail;
	}
	if (!S_ISREG(st.st_mode)) {
		report("%s is not a regular file", path);
		goto fail;
	}
	*sizep = (size_t)st.st_size;
	return file_fd;
fail:
	if (file_fd != -1)
		close(file_fd);
	return -1;
}

static void
show_progress(void *arg, size_t done)
{
	progress_update(arg, done);
}

/* Sends the payload. CTL_OK when an answer is to be expected. */
static int
send_payload(struct client *c, const char *path, int file_fd, size_t size)
{
	struct progress bar;
	int error = 0;

	progress_start(&bar, "upload", size);
	if (dconn_send_file(c->conn, file_fd, size, show_progress,
	    &bar) == -1)
		error = errno;
	progress_end(&bar);
	if (error == 0)
		return CTL_OK;
	if (error == ENODATA) {
		report("%s became shorter while it was sent", path);
		return CTL_USAGE;
	}
	errno = error;
	report("cannot send %s: %s", path, dconn_strerror(c->conn));
	return CTL_UNREACHABLE;
}

/*
 * "file=PATH": the program gets its name, and finds itself there if the session
 * has a file of that path.  Words of a line have no white space in them, so a
 * path with some is sent as a name.  Empty for a daemon that would not
 * understand it.
 */
static int
file_word(struct client *c, const char *path, char *word, size_t size)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX] = "";
	bool has;
	int code = client_extends(c, "UPLOAD file", &has);
	char *p;

	word[0] = '\0';
	if (code != CTL_OK || !has)
		return code;
	while (strncmp(path, "./", 2) == 0)
		path += 2;
	if (path[0] != '/' && getcwd(dir, sizeof(dir)) != NULL &&
	    dir[0] == '/')
		(void)strlcat(dir, "/", sizeof(dir));
	if ((size_t)snprintf(word, size, "file=%s%s", dir, path) >= size ||
	    strpbrk(word, " \t\n\v\f\r") != NULL)
		(void)snprintf(word, size, "file=%s", slash == NULL ? path :
		    slash + 1);
	for (p = word; *p != '\0'; p++)
		if (isspace((unsigned char)*p) || iscntrl((unsigned char)*p))
			*p = '_';
	return CTL_OK;
}

/* The line of the upload of size bytes. */
static int
send_upload(struct client *c, const char *path, size_t size)
{
	const char *words[4] = { NULL };
	char digits[24], file[PATH_MAX + 16];
	size_t n = 0;
	int code = file_word(c, path, file, sizeof(file));

	if (code != CTL_OK)
		return code;
	(void)snprintf(digits, sizeof(digits), "%zu", size);
	words[n++] = digits;
	if (c->opts.value[OPT_BUNDLE] != NULL)
		words[n++] = c->opts.value[OPT_BUNDLE];
	if (file[0] != '\0')
		words[n++] = file;
	return client_send(c, "UPLOAD", words[0], words[1], words[2], NULL);
}

int
upload_file(struct client *c, const char *path, struct json_object **jsonp)
{
	const char *label = c->opts.value[OPT_NAME], *id;
	struct json_object *named;
	size_t size = 0;
	int code, file_fd;

	*jsonp = NULL;
	if ((file_fd = open_regular(path, &size)) == -1)
		return CTL_USAGE;
	if (size == 0) {
		close(file_fd);
		return usage_error("%s is empty: there is nothing to load",
		    path);
	}
	c->file = path;
	code = send_upload(c, path, size);
	if (code == CTL_OK)
		code = send_payload(c, path, file_fd, size);
	close(file_fd);
	if (code == CTL_OK)
		code = client_answer(c, jsonp);
	if (code != CTL_OK || label == NULL)
		return code;
	id = reply_str(*jsonp, "id", "");
	if ((code = client_ask(c, &named, "NAME", id, label, NULL)) == CTL_OK)
		json_object_put(named);
	else {
		/* Delete the session: without its name it is of no use. */
		if (client_ask(c, &named, "DELETE", id, NULL) == CTL_OK)
			json_object_put(named);
		json_object_put(*jsonp);
		*jsonp = NULL;
	}
	return code;
}

int
ctl_upload(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	int code;

	(void)argc;
	if ((code = upload_file(c, argv[0], &json)) != CTL_OK)
		return code;
	return print_new(c, json);
}

/* Copies size bytes of the connection to a file. An exit code. */
static int
receive(struct client *c, struct atomic_file *w, uint64_t size)
{
	static char buf[READ_PIECE];
	struct progress bar;
	uint64_t done = 0;
	int code = CTL_OK;
	ssize_t n;

	progress_start(&bar, "sysroot", size);
	while (done < size && code == CTL_OK) {
		n = dconn_read(c->conn, buf, size - done < sizeof(buf) ?
		    (size_t)(size - done) : sizeof(buf));
		if (n <= 0) {
			progress_end(&bar);
			report("%" PRIu64 " of %" PRIu64 " bytes came: %s",
			    done, size, n == 0 ? "connection closed" :
			    dconn_strerror(c->conn));
			code = CTL_UNREACHABLE;
		} else if (atomic_file_write(w, buf, (size_t)n) == -1) {
			progress_end(&bar);
			code = atomic_file_failed(w);
		} else {
			done += (uint64_t)n;
			progress_update(&bar, done);
		}
	}
	progress_end(&bar);
	return code;
}

/* The size in "SYSROOT <size>"; CTL_OK, or an exit code after a report. */
static int
sysroot_size(struct client *c, uint64_t *sizep)
{
	struct json_object *json;
	const char *digits;
	char *text;
	size_t len;

	if ((text = dconn_line(c->conn, &len)) == NULL)
		return CTL_UNREACHABLE;
	digits = text + strlen("SYSROOT ");
	if (strncmp(text, "SYSROOT ", strlen("SYSROOT ")) == 0 &&
	    *digits != '\0' && strlen(digits) < 19 &&
	    digits[strspn(digits, "0123456789")] == '\0') {
		*sizep = strtoull(digits, NULL, 10);
		return CTL_OK;
	}
	json = reply_parse(text, len);
	if (json == NULL || reply_error(json) == NULL) {
		report("the answer to SYSROOT is neither a size nor an error");
		json_object_put(json);
		return CTL_UNREACHABLE;
	}
	client_refused(c, json);
	json_object_put(json);
	return CTL_REFUSED;
}

/*
 * Makes close() reset the connection.  To the daemon a client that closes looks
 * like a client that has only sent its last command, and the daemon would go on
 * packing; a client that resets the connection has gone.
 */
static void
reset_at_end(struct client *c)
{
	const struct linger now = { .l_onoff = 1, .l_linger = 0 };

	(void)setsockopt(dconn_fd(c->conn), SOL_SOCKET, SO_LINGER, &now,
	    sizeof(now));
}

static int
fetch_sysroot(struct client *c, struct atomic_file *w, uint64_t *sizep)
{
	int code;

	if ((code = client_send(c, "SYSROOT", NULL)) != CTL_OK)
		return code;
	reset_at_end(c);
	if ((code = sysroot_size(c, sizep)) != CTL_OK)
		return code;
	return receive(c, w, *sizep);
}

int
ctl_sysroot(struct client *c, int argc, char **argv)
{
	const char *path = c->opts.value[OPT_OUTFILE];
	uint64_t size = 0;
	struct atomic_file w;
	int code, named;

	(void)argc;
	(void)argv;
	if (path == NULL)
		path = isatty(STDOUT_FILENO) ? "sysroot.tar.gz" : "-";
	if ((code = client_connect(c)) != CTL_OK)
		return code;
	/* before the daemon packs for a minute what cannot be written */
	if (atomic_file_begin(&w, path) == -1)
		return CTL_USAGE;
	code = fetch_sysroot(c, &w, &size);
	named = atomic_file_end(&w, code == CTL_OK);
	if (code != CTL_OK || (code = named) != CTL_OK)
		return code;
	if (isatty(STDOUT_FILENO) && strcmp(path, "-") != 0)
		printf("%s  %" PRIu64 " bytes\n", path, size);
	return report_flush();
}

int
ctl_input(struct client *c, int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "-";
	bool eof = opt_given(&c->opts, OPT_EOF);
	struct json_object *json = NULL;
	int code = CTL_OK, in_fd = STDIN_FILENO;

	if (argc > 1 || !eof) {
		if (strcmp(path, "-") != 0 &&
		    (in_fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
			return usage_error("%s: %s", path, strerror(errno));
		code = input_send(c, argv[0], path, in_fd, &json);
		if (in_fd != STDIN_FILENO)
			close(in_fd);
	}
	if (code == CTL_OK && (eof || json == NULL)) {
		json_object_put(json);
		json = NULL;
		code = eof ? client_ask(c, &json, "INPUT", argv[0], "eof",
		    NULL) : client_ask(c, &json, "STATUS", argv[0], NULL);
	}
	if (code == CTL_OK && c->json)
		reply_print(json, stdout);
	else if (code == CTL_OK)
		session_print_line(json, stdout);
	json_object_put(json);
	return code == CTL_OK ? report_flush() : code;
}
