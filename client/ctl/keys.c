/* SPDX-License-Identifier: ISC */
/* Keys that others, or a browser, come in by. They are printed, and nowhere
 * else: what starts a browser does not have one among its arguments. */
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/safe.h"
#include "commands.h"
#include "keys.h"

#define LOOPBACK	"127.0.0.1"
#define BROWSER_S	30U	/* for a browser to read a file */

static void
print_member(struct json_object *o, const char *what, const char *key)
{
	char *text = safe_string(reply_str(o, key, ""));

	printf("%s%s\n", what, text);
	free(text);
}

/* Prints the answer, as JSON or the member that matters. Takes json. */
static int
print_key(const struct client *c, struct json_object *json, const char *key)
{
	if (c->json)
		reply_print(json, stdout);
	else
		print_member(json, "", key);
	json_object_put(json);
	return report_flush();
}

int
ctl_ticket(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	int code;

	if (argc > 1 && strcmp(argv[1], "ro") != 0)
		return usage_error("\"%s\": give ro for a ticket to watch "
		    "with, or nothing", argv[1]);
	code = client_ask(c, &json, c->command->verb, argv[0],
	    argc > 1 ? argv[1] : NULL, NULL);
	return code == CTL_OK ? print_key(c, json, "ticket") : code;
}

int
ctl_keys(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	int code;

	(void)argc;
	code = client_ask(c, &json, c->command->verb, argv[0],
	    opt_given(&c->opts, OPT_ROTATE) ? "rotate" : NULL, NULL);
	if (code != CTL_OK)
		return code;
	report("warning: anyone who has the first key can make the session "
	    "do whatever its owner's account may do");
	if (c->json)
		reply_print(json, stdout);
	else {
		print_member(json, "read-write  ", "token");
		print_member(json, "read-only   ", "read_only_token");
	}
	json_object_put(json);
	return report_flush();
}

/* Where the daemon's page is; the caller frees it. NULL after a report, with
 * *code. */
static char *
page_address(struct client *c, const char *key, int *code)
{
	struct json_object *json, *web = NULL;
	const char *host;
	char *address = NULL;
	int64_t port = 0;

	if ((*code = client_ask(c, &json, "VERSION", NULL)) != CTL_OK)
		return NULL;
	json_object_object_get_ex(json, "web", &web);
	host = reply_str(web, "address", LOOPBACK);
	if (web == NULL || !reply_int(web, "port", &port) || port < 1 ||
	    port > 65535) {
		report("the daemon serves no web page; enable it with "
		    "\"web-port 8080\" in its configuration");
		*code = CTL_REFUSED;
	} else if (asprintf(&address, "http%s://%s%s%s:%" PRId64 "/login#%s",
	    reply_true(web, "tls") ? "s" : "", strchr(host, ':') ? "[" : "",
	    host, strchr(host, ':') ? "]" : "", port, key) == -1) {
		*code = usage_error("out of memory");
		address = NULL;
	}
	json_object_put(json);
	return address;
}

/* A page that leads to the address, for this user's eyes only; path is a
 * template for mkstemps(3). */
static int
write_page(char *path, const char *address)
{
	int page_fd = mkostemps(path, 5, O_CLOEXEC);

	if (page_fd == -1)
		return usage_error("%s: %s", path, strerror(errno));
	if (dprintf(page_fd, "<!doctype html><meta charset=utf-8>"
	    "<meta name=referrer content=no-referrer>"
	    "<meta http-equiv=refresh content=\"0;url=%s\">"
	    "<title>debuglantern</title>\n", address) < 0) {
		report("%s: %s", path, strerror(errno));
		close(page_fd);
		unlink(path);
		return CTL_USAGE;
	}
	close(page_fd);
	return CTL_OK;
}

/* Browsers are slow to read and quick to return. */
static void
unlink_later(const char *path)
{
	if (fork() != 0)
		return;
	setsid();
	close_range(0, ~0U, 0);
	sleep(BROWSER_S);
	unlink(path);
	_exit(0);
}

static int
start_browser(const char *path)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		execlp("xdg-open", "xdg-open", path, (char *)NULL);
		_exit(127);
	}
	if (pid == -1 || waitpid(pid, &status, 0) == -1 || status != 0) {
		report("xdg-open did not open a browser; open the address "
		    "that is printed");
		unlink(path);
		return CTL_USAGE;
	}
	unlink_later(path);
	return CTL_OK;
}

/*
 * An address among the arguments of a program is there for everybody on this
 * host to read: the browser gets a file.
 */
static int
open_browser(const char *address)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	char path[4096];
	int code;

	if (address[strcspn(address, "\"<>&")] != '\0')
		return usage_error("the daemon's address cannot be opened");
	snprintf(path, sizeof(path), "%s/debuglantern-XXXXXX.html",
	    dir != NULL && *dir == '/' ? dir : "/tmp");
	code = write_page(path, address);
	return code == CTL_OK ? start_browser(path) : code;
}

/* Tells a user of ssh how to reach the page, which is on the other host. */
static void
tell_way(const struct client *c, const char *address)
{
	const struct target *t = &c->target;
	const char *port = strrchr(address, ':') + 1;

	if (t->kind != TARGET_SSH)
		return;
	report("that address is on the daemon's host; forward it with: "
	    "ssh -N -L %.*s:" LOOPBACK ":%.*s %s%s%s",
	    (int)strcspn(port, "/"), port, (int)strcspn(port, "/"), port,
	    t->user, *t->user != '\0' ? "@" : "", t->host);
}

int
ctl_web(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	char *address, *safe;
	int code;

	(void)argc;
	(void)argv;
	if ((code = client_ask(c, &json, c->command->verb, "link",
	    NULL)) != CTL_OK)
		return code;
	if (!json_object_is_type(json, json_type_object)) {
		json_object_put(json);
		report("the answer to LOGIN is not an object");
		return CTL_UNREACHABLE;
	}
	address = page_address(c, reply_str(json, "key", ""), &code);
	if (address != NULL && c->json_errors) {
		json_object_object_add(json, "address",
		    json_object_new_string(address));
		reply_print(json, stdout);
	} else if (address != NULL) {
		safe = safe_string(address);
		puts(safe);
		free(safe);
		tell_way(c, address);
	}
	json_object_put(json);
	if (address != NULL)
		code = report_flush();
	if (code == CTL_OK && opt_given(&c->opts, OPT_OPEN))
		code = open_browser(address);
	free(address);
	return code;
}
