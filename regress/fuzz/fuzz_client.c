/* SPDX-License-Identifier: ISC */
/* links: client/ctl/mdns.c client/lib/reply.c client/lib/report.c client/lib/safe.c client/ctl/store.c client/lib/target.c client/debugger/mark.c common/base/log.c common/base/utf8.c */
/* covers: client/ctl/known.c client/ctl/mdns.c client/debugger/mark.c */
/*
 * Fuzz target of what the clients believe: the file of known hosts and what a
 * person at a terminal answers, what anybody on the network announces, and the
 * files that say what has been seen of a session.  The first byte says which.
 * Avahi's daemon is played here.  A certificate is accepted by who said so, an
 * address is one that was announced, and what was kept is read again.
 */
#include <sys/socket.h>
#include <sys/stat.h>

#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/simple-watch.h>
#include <json-c/json.h>

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <unistd.h>

#define FUZZ_CLOCK
#include "regress/fuzz/fuzz.h"

#include "client/ctl/mdns.h"
#include "client/debugger/mark.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/target.h"

static int	 fuzz_tty(void);
static FILE	*nowhere;

#undef stderr
#define stderr			nowhere
#define open(path, flags)	fuzz_tty()
#include "client/ctl/known.c"
#undef open
#undef stderr

static char	home[256];

/* -- hosts that are known -------------------------------------------------- */

#define PRINT		"SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define OTHER_PRINT	"SHA256:BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

/* Input typed at the terminal, if there is one. */
static struct input	typed;
static bool		has_tty;
static int		tty_end = -1;	/* the user's end */
static unsigned int	dialogs;

static struct input
take_line(struct input *in)
{
	const uint8_t *nl = in->left == 0 ? NULL : memchr(in->p, '\n',
	    in->left);

	return take_part(in, nl == NULL ? in->left : (size_t)(nl - in->p) + 1);
}

/* A line at a time, as a terminal has it. */
static int
fuzz_tty(void)
{
	struct input in = typed, line;
	int fds[2];

	if (!has_tty) {
		errno = ENXIO;
		return -1;
	}
	dialogs++;
	must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0);
	while (in.left > 0) {
		line = take_line(&in);
		must(write(fds[1], line.p, line.left) == (ssize_t)line.left);
	}
	must(shutdown(fds[1], SHUT_WR) == 0);
	/* what is asked is read by nobody, and fits */
	tty_end = fds[1];
	return fds[0];
}

static void
put_known(struct input text)
{
	char path[STORE_PATH];
	int fd = open(store_path(KNOWN_HOSTS, path), O_WRONLY | O_CREAT |
	    O_TRUNC | O_CLOEXEC, 0600);

	must(fd != -1 && write(fd, text.p, text.left) == (ssize_t)text.left);
	close(fd);
}

/* The value of a host in the file, or ""; as long as it is good. */
static void
value_of(const struct target *t, char *value, size_t size)
{
	char key[TARGET_TEXT];
	const char *entry, *v;
	struct store s;

	*value = '\0';
	must(store_load(&s, KNOWN_HOSTS, 0) == CTL_OK);
	target_key(t, key);
	while (*value == '\0' && store_next(&s, &entry, &v))
		if (strcmp(entry, key) == 0)
			(void)snprintf(value, size, "%s", *v == '\0' ? " " : v);
	store_free(&s);
}

static void
check_port(const struct target *t)
{
	struct target any = *t, one = *t;
	bool known, same;

	any.port_given = false;
	must(known_port(&any, &known) == CTL_OK);
	must(known || strcmp(any.port, t->port) == 0);
	must(known_port(&one, &same) == CTL_OK && (!same || known));
	must(strcmp(one.port, t->port) == 0);
}

/* Whether the first line that is an answer is yes; its end does not count. */
static bool
says_yes(struct input in)
{
	char text[128];
	struct input line;

	while (in.left > 0) {
		line = take_line(&in);
		(void)snprintf(text, sizeof(text), "%.*s", (int)line.left,
		    line.p);
		text[strcspn(text, "\r\n")] = '\0';
		if (strcasecmp(text, "yes") == 0 || strcmp(text, PRINT) == 0)
			return true;
		if (strcasecmp(text, "no") == 0)
			return false;
	}
	return false;
}

static void
try_known(struct input in)
{
	static const char *const announced[] = { "", PRINT, OTHER_PRINT };
	const uint8_t how = take_u8(&in);
	struct target t = { .kind = TARGET_TLS, .port = "4444",
	    .port_given = true };
	char was[1024], now[1024];
	bool asked, again;
	int code;

	(void)snprintf(t.host, sizeof(t.host), "%s", how & 1 ? "::1" : "rig");
	(void)snprintf(t.announced, sizeof(t.announced), "%s",
	    announced[how / 2 % 3]);
	typed = take_part(&in, take_u8(&in));
	put_known(in);
	must(fingerprint_valid(PRINT) && !fingerprint_valid(PRINT "A"));
	report_hold();
	check_port(&t);
	value_of(&t, was, sizeof(was));
	has_tty = (how & 16) != 0;
	dialogs = 0;
	code = known_check(&t, PRINT, how & 32 ? OTHER_PRINT : NULL, &asked);
	has_tty = false;
	must(!asked || dialogs == 1);
	if (how & 32)
		must(code == CTL_UNREACHABLE && dialogs == 0);
	else if (*was != '\0')
		must(dialogs == 0 && (code == CTL_OK) ==
		    (strcmp(was, PRINT) == 0));
	else
		must((code == CTL_OK) == ((how & 16) != 0 &&
		    says_yes(typed)));
	value_of(&t, now, sizeof(now));
	must(code == CTL_OK && (how & 32) == 0 ? strcmp(now, PRINT) == 0 :
	    strcmp(was, now) == 0);
	/* who is known is not asked about, and is nobody else */
	if (strcmp(now, PRINT) == 0)
		must(known_check(&t, PRINT, NULL, &again) == CTL_OK && !again &&
		    known_check(&t, OTHER_PRINT, NULL, &again) ==
		    CTL_UNREACHABLE);
	must(known_check(&t, PRINT, PRINT, &again) == CTL_OK);
	free(report_release());
	if (tty_end != -1)
		close(tty_end);
	tty_end = -1;
}

/* -- what is announced ----------------------------------------------------- */

#define RESOLVERS	16

static struct input	events;
static uint8_t		refuses;	/* what the daemon does not do */
static AvahiServiceBrowserCallback browse;
static AvahiClientCallback tell;
static void		*browser_arg, *client_arg;
static struct {
	AvahiServiceResolverCallback fn;
	void	*arg;
} resolvers[RESOLVERS];
static size_t		nresolvers;
static unsigned int	nfound;
static char		seen[16384];	/* addresses, with spaces around */

/* Nothing is in them, here. */
#define A_POLL		((AvahiSimplePoll *)(void *)home)
#define A_CLIENT	((AvahiClient *)(void *)home)
#define A_BROWSER	((AvahiServiceBrowser *)(void *)home)

AvahiSimplePoll *
avahi_simple_poll_new(void)
{
	return refuses & 1 ? NULL : A_POLL;
}

const AvahiPoll *
avahi_simple_poll_get(AvahiSimplePoll *poll)
{
	must(poll == A_POLL);
	return NULL;
}

void
avahi_simple_poll_free(AvahiSimplePoll *poll)
{
	must(poll == A_POLL);
}

AvahiClient *
avahi_client_new(const AvahiPoll *poll, AvahiClientFlags flags,
    AvahiClientCallback fn, void *arg, int *error)
{
	(void)poll;
	(void)flags;
	*error = AVAHI_ERR_NO_DAEMON;
	tell = fn;
	client_arg = arg;
	return refuses & 2 ? NULL : A_CLIENT;
}

void
avahi_client_free(AvahiClient *avahi)
{
	must(avahi == A_CLIENT);
	nresolvers = 0;
}

int
avahi_client_errno(AvahiClient *avahi)
{
	must(avahi == A_CLIENT);
	return AVAHI_ERR_DISCONNECTED;
}

AvahiServiceBrowser *
avahi_service_browser_new(AvahiClient *avahi, AvahiIfIndex ifindex,
    AvahiProtocol proto, const char *type, const char *domain,
    AvahiLookupFlags flags, AvahiServiceBrowserCallback fn, void *arg)
{
	(void)avahi;
	(void)ifindex;
	(void)proto;
	(void)domain;
	(void)flags;
	must(strcmp(type, "_mydebug._tcp") == 0);
	browse = fn;
	browser_arg = arg;
	return refuses & 4 ? NULL : A_BROWSER;
}

AvahiServiceResolver *
avahi_service_resolver_new(AvahiClient *avahi, AvahiIfIndex ifindex,
    AvahiProtocol proto, const char *name, const char *type,
    const char *domain, AvahiProtocol aprotocol, AvahiLookupFlags flags,
    AvahiServiceResolverCallback fn, void *arg)
{
	(void)ifindex;
	(void)proto;
	(void)type;
	(void)domain;
	(void)aprotocol;
	(void)flags;
	must(avahi == A_CLIENT && name != NULL);
	if (nresolvers == RESOLVERS)
		return NULL;
	resolvers[nresolvers].fn = fn;
	resolvers[nresolvers].arg = arg;
	return (AvahiServiceResolver *)(void *)&resolvers[nresolvers++];
}

int
avahi_service_resolver_free(AvahiServiceResolver *resolver)
{
	must((void *)resolver == (void *)resolvers);
	return 0;
}

char *
if_indextoname(unsigned int index, char *name)
{
	if (index == 0)
		return NULL;
	(void)snprintf(name, IF_NAMESIZE, "eth%u", index);
	return name;
}

static char *
take_text(struct input *in)
{
	struct input part = take_part(in, take_u8(in));

	return copy_of(part.p, part.left, true);
}

/* The address of one that is found, as it is shown. */
static void
note_address(const AvahiAddress *a, unsigned int index)
{
	char text[AVAHI_ADDRESS_STR_MAX];
	size_t len = strlen(seen);

	avahi_address_snprint(text, sizeof(text), a);
	(void)snprintf(seen + len, sizeof(seen) - len, "%s", text);
	len += strlen(text);
	if (a->proto == AVAHI_PROTO_INET6 && strncmp(text, "fe80:", 5) == 0)
		len += (size_t)snprintf(seen + len, sizeof(seen) - len,
		    index == 0 ? "%%?" : "%%eth%u", index);
	(void)snprintf(seen + len, sizeof(seen) - len, " ");
}

/* The oldest that is being resolved: found, or it has gone. */
static void
resolve(struct input *in)
{
	const uint8_t how = take_u8(in), n = take_u8(in) % 4;
	AvahiServiceResolverCallback fn = resolvers[0].fn;
	void *arg = resolvers[0].arg;
	AvahiStringList *txt = NULL;
	struct input part;
	AvahiAddress a;
	char *name, *host;
	unsigned int i;

	if (nresolvers == 0)
		return;
	memset(&a, 0, sizeof(a));
	a.proto = how & 1 ? AVAHI_PROTO_INET6 : AVAHI_PROTO_INET;
	take(in, &a.data, how & 1 ? 16 : 4);
	name = take_text(in);
	host = how & 2 ? take_text(in) : copy_of("rig.local", 9, true);
	for (i = 0; i < n; i++) {
		part = take_part(in, take_u8(in));
		txt = avahi_string_list_add_arbitrary(txt, part.p, part.left);
	}
	if (how & 4)
		txt = avahi_string_list_add(txt, "tls=4445");
	if (how & 16)
		txt = avahi_string_list_add(txt, "fp=" PRINT);
	if ((how & 8) == 0 && strlen(seen) < sizeof(seen) - 100) {
		note_address(&a, how >> 5);
		nfound++;
		fn((AvahiServiceResolver *)(void *)resolvers, (int)(how >> 5),
		    a.proto, AVAHI_RESOLVER_FOUND, name, "t", "d", host, &a,
		    how & 1 ? 4444 : take_u16(in), txt, 0, arg);
	} else
		fn((AvahiServiceResolver *)(void *)resolvers, 1, a.proto,
		    AVAHI_RESOLVER_FAILURE, name, "t", "d", NULL, NULL, 0, NULL,
		    0, arg);
	nresolvers--;
	memmove(resolvers, resolvers + 1, nresolvers * sizeof(resolvers[0]));
	avahi_string_list_free(txt);
	free(name);
	free(host);
}

/* Takes an event of the input; if none is left, ms pass without one. */
int
avahi_simple_poll_iterate(AvahiSimplePoll *poll, int ms)
{
	static const AvahiBrowserEvent said[] = { AVAHI_BROWSER_NEW,
		AVAHI_BROWSER_ALL_FOR_NOW, AVAHI_BROWSER_FAILURE,
		AVAHI_BROWSER_REMOVE, AVAHI_BROWSER_CACHE_EXHAUSTED };
	uint8_t what;

	must(poll == A_POLL && ms > 0);
	if (events.left == 0) {
		fake_ms += (uint64_t)ms;
		return 0;
	}
	what = take_u8(&events);
	if (what % 8 < 5)
		browse(A_BROWSER, 1, AVAHI_PROTO_INET, said[what % 8], "name",
		    "t", "d", 0, browser_arg);
	else if (what % 8 < 7)
		resolve(&events);
	else if (what == 0xff)
		return 1;
	else if (what == 0xf7)
		tell(A_CLIENT, AVAHI_CLIENT_FAILURE, client_arg);
	else
		tell(A_CLIENT, AVAHI_CLIENT_S_RUNNING, client_arg);
	fake_ms += what >> 4;
	return 0;
}

/* A listed daemon can be given as a target, if it has a port. */
static void
check_found(struct json_object *found)
{
	struct json_object *o, *txt;
	struct target t;
	size_t i, n = json_object_array_length(found);
	int64_t port;

	must(n == nfound);
	for (i = 0; i < n; i++) {
		o = json_object_array_get_idx(found, i);
		must(reply_int(o, "port", &port) && port >= 0 && port < 65536);
		must(json_object_object_get_ex(o, "txt", &txt));
		if (port == 0 && strncmp(reply_str(o, "target", ""), "tls:", 4))
			continue;
		must(target_parse(&t, reply_str(o, "target", "")) == 0);
		must(strcmp(t.host, reply_str(o, "address", "")) == 0);
		must(t.kind == TARGET_TLS || (int64_t)strtol(t.port, NULL,
		    10) == port);
	}
}

/* Each of them is a whole one that was announced. */
static void
check_addresses(const char *text)
{
	size_t len, n;
	const char *p;

	for (; *text != '\0'; text += len + 1) {
		len = strcspn(text, " ");
		must(text[len] == ' ');
		for (p = seen; *p != '\0'; p += n + 1) {
			n = strcspn(p, " ");
			if (n == len && memcmp(p, text, len) == 0)
				break;
		}
		must(*p != '\0');
	}
}

static void
try_announced(struct input in)
{
	const uint8_t how = take_u8(&in);
	struct json_object *found = NULL;
	struct target t = { .kind = TARGET_HOST, .host = "rig", .port = "1" };
	const struct target before = t;
	int code;

	refuses = how < 8 ? how : 0;
	nfound = 0;
	seen[0] = '\0';
	nresolvers = 0;
	events = in;
	report_hold();
	if (how & 32) {
		code = mdns_search(&found, 3000);
		must((code == CTL_OK) == (found != NULL));
		if (found != NULL)
			check_found(found);
		json_object_put(found);
	} else if (mdns_lookup(&t, (how & 64) != 0)) {
		must(t.kind == TARGET_TLS || (t.kind == TARGET_PLAIN &&
		    (how & 64) == 0));
		must(*t.addresses != '\0');
		must(strspn(t.port, "0123456789") == strlen(t.port));
		check_addresses(t.addresses);
		must(strlen(t.announced) < sizeof(t.announced));
	} else
		must(memcmp(&t, &before, sizeof(t)) == 0);
	free(report_release());
}

/* -- what has been seen ---------------------------------------------------- */

/* In place of a mark, or of the directory that it is in. */
static void
make_odd(uint8_t how, const struct mark *m, struct input text)
{
	char dir[sizeof(m->path)];
	int fd;

	(void)snprintf(dir, sizeof(dir), "%s", m->path);
	*strrchr(dir, '/') = '\0';
	if (how % 4 == 1)
		fd = open(dir, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	else {
		must(mkdir(dir, 0700) == 0 || errno == EEXIST);
		if (how % 4 == 2)
			(void)symlink("/dev/null", m->path);
		fd = how % 4 == 2 ? -1 : open(m->path, O_WRONLY | O_CREAT |
		    O_CLOEXEC, 0600);
	}
	if (fd != -1 && how % 4 != 1)
		must(write(fd, text.p, text.left) == (ssize_t)text.left);
	if (fd != -1)
		close(fd);
}

static void
remove_marks(const struct mark *m)
{
	char path[sizeof(m->path)], *slash;

	(void)snprintf(path, sizeof(path), "%s", m->path);
	(void)unlink(path);
	if ((slash = strrchr(path, '/')) != NULL)
		*slash = '\0';
	(void)unlink(path);
	(void)rmdir(path);
}

static void
set(const char *name, const char *value)
{
	must((value == NULL ? unsetenv(name) : setenv(name, value, 1)) == 0);
}

static void
try_mark(struct input in)
{
	const uint8_t how = take_u8(&in);
	char *client = take_text(&in), *id = take_text(&in),
	    *run = take_text(&in);
	const uint64_t offset = take_u64(&in);
	struct mark m, again;
	const char *name;

	set("DEBUGGER_CLIENT", how & 1 ? client : NULL);
	set("XDG_RUNTIME_DIR", how & 2 ? home : how & 4 ? "no/path" : NULL);
	set("HOME", how & 8 ? "no/path" : how & 16 ? NULL : home);
	report_hold();
	must(mark_load(&m, id, run) == CTL_OK && m.offset == 0);
	must(strncmp(m.run, run, sizeof(m.run) - 1) == 0);
	if (*m.path != '\0') {
		name = strrchr(m.path, '/') + 1;
		must(strncmp(m.path, home, strlen(home)) == 0);
		must(strncmp(name, id, strlen(id)) == 0);
		if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
			make_odd(how >> 6, &m, in);
	}
	must(mark_load(&m, id, run) == CTL_OK);
	must(m.offset == 0 || *m.path != '\0');
	if (mark_save(&m, offset) == CTL_OK && *m.path != '\0') {
		must(mark_load(&again, id, run) == CTL_OK);
		must(again.offset == offset);
		must(mark_load(&again, id, "another") == CTL_OK);
		must(again.offset == 0 || strcmp(m.run, "another") == 0);
	}
	free(report_release());
	remove_marks(&m);
	free(client);
	free(id);
	free(run);
}

/* -- the input ------------------------------------------------------------- */

static void
leave(void)
{
	char path[STORE_PATH];

	(void)unlink(store_path(KNOWN_HOSTS, path));
	(void)rmdir(store_path("", path));
	(void)snprintf(path, sizeof(path), "%s/.cache", home);
	(void)rmdir(path);
	(void)rmdir(home);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char path[STORE_PATH];

	(void)argc;
	(void)argv;
	nowhere = fopen("/dev/null", "we");
	fuzz_room(home, sizeof(home));
	must(nowhere != NULL);
	must(setenv("XDG_CONFIG_HOME", home, 1) == 0);
	must(mkdir(store_path("", path), 0700) == 0);
	atexit(leave);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static void (*const targets[])(struct input) = {
		try_known, try_announced, try_mark,
	};

	fuzz_one_of(targets, sizeof(targets) / sizeof(targets[0]), data, len);
	return 0;
}
