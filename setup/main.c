/* SPDX-License-Identifier: ISC */
/*
 * debuglanternd: setup.  It reads the configuration, makes what needs root,
 * gives root up, and executes the parent.  At a reload the parent starts it
 * once more, to read the configuration.
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "setup.h"

/* Each role needs about forty before it serves anybody. */
#define FILES_LEAST	128
/* Files in memory count: what a terminal has written is one. */
#define FILE_LEAST	(1024 * 1024)

/*
 * Opens /dev/null for standard fds that are closed.  Files that are opened
 * later would else take their numbers: lines that are meant for standard error
 * would be written into the audit file.
 */
static void
fill_standard_fds(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
		if (fd == -1)
			fatal("/dev/null");
	} while (fd <= STDERR_FILENO);
	close(fd);
}

static void
find_libexec(void)
{
	char exe[PATH_LEN];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (n == -1 || (size_t)n == sizeof(exe) - 1)
		fatal("cannot find the own executable (mount /proc)");
	exe[n] = '\0';
	/* .../bin/debuglanternd and .../libexec/debuglantern/ROLE */
	if ((slash = strrchr(exe, '/')) != NULL)
		*slash = '\0';
	if ((slash = strrchr(exe, '/')) != NULL)
		*slash = '\0';
	if (snprintf(d.libexec, sizeof(d.libexec), "%s/libexec/debuglantern",
	    exe) >= (int)sizeof(d.libexec) || access(d.libexec, X_OK) == -1)
		fatal("cannot find the other programs in %s (leave them there "
		    "by make, or by make install)", d.libexec);
}

static int
open_binary(const char *name)
{
	char path[PATH_LEN * 2];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", d.libexec, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		fatal("cannot open %s", path);
	return fd;
}

/* Opened as root: the tree may stand where _dlparent cannot look. */
static void
find_binaries(void)
{
	int i;

	for (i = ROLE_PARENT; i < ROLE_COUNT; i++)
		give(GIVEN_BINARY + i, open_binary(role_name((unsigned int)i)));
	give(GIVEN_ARCHIVER, open_binary("archiver"));
	for (i = ROLE_INSTRUMENT; i < ROLE_INSTRUMENT_END; i++)
		give(GIVEN_BINARY + i, open_binary(role_name((unsigned int)i)));
	give(GIVEN_SETUP, open("/proc/self/exe", O_PATH | O_CLOEXEC));
	give(GIVEN_NULL, open("/dev/null", O_RDWR | O_CLOEXEC));
	if (given(GIVEN_SETUP) == -1 || given(GIVEN_NULL) == -1)
		fatal("cannot open the own executable and /dev/null (mount "
		    "/proc)");
	/* here: the parent needs no more than to pass it on */
	give(GIVEN_LOG_KEPT, memfd_create("log", MFD_CLOEXEC));
	if (given(GIVEN_LOG_KEPT) == -1)
		fatal("cannot make memory for the log");
}

static void
raise_limit(int which, rlim_t least, const char *before, const char *after,
    const char *how)
{
	struct rlimit rl;

	if (getrlimit(which, &rl) == -1)
		return;
	if (rl.rlim_max < least)
		fatalx("%s %llu %s, and %llu are needed for anything "
		    "(raise the hard limit: %s)", before,
		    (unsigned long long)rl.rlim_max, after,
		    (unsigned long long)least, how);
	rl.rlim_cur = rl.rlim_max;
	(void)setrlimit(which, &rl);
}

static void
raise_limits(void)
{
	struct rlimit rl;

	/* connections, rings, pidfds: children need many fds */
	raise_limit(RLIMIT_NOFILE, FILES_LEAST, "at most", "files may be open",
	    "ulimit -n, LimitNOFILE=");
	raise_limit(RLIMIT_FSIZE, FILE_LEAST, "files may have at most", "bytes",
	    "ulimit -f, LimitFSIZE=");
	/* the hard limit is for sessions whose owner asks for core files */
	if (getrlimit(RLIMIT_CORE, &rl) == 0) {
		rl.rlim_cur = 0;
		(void)setrlimit(RLIMIT_CORE, &rl);
	}
}

/* For the parent: one that comes during the start must not end it. */
static void
block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) == -1)
		fatal("signals");
}

static void __attribute__((noreturn))
become_parent(char **argv)
{
	given_place();
	users_lend();
	(void)execveat(GIVEN_BINARY + ROLE_PARENT, "", argv, environ,
	    AT_EMPTY_PATH);
	fatal("cannot execute %s/%s (every user must be able to run it: chmod "
	    "a+rx, on a file system that is not mounted noexec)", d.libexec,
	    role_name(ROLE_PARENT));
}

static void
make_all(void)
{
	int fd;

	users_find();
	if (access_find(d.conf) == -1)
		exit(1);
	places_make();
	if (audit_find(d.conf) == -1 || listen_open(d.conf) == -1)
		exit(1);
	state_open();
	fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    NETLINK_SOCK_DIAG);
	if (fd == -1)
		fatal("cannot ask the kernel about sockets (it needs "
		    "CONFIG_INET_DIAG)");
	give(GIVEN_DIAG, fd);
	fence_make();
	find_binaries();
	acct_starter_make();
	settings_fill_host();
	settings_fill();
	plan_look();
}

int
main(int argc, char **argv)
{
	fill_standard_fds();
	/* ignored, as a starter may leave it, children's ends would be lost */
	(void)signal(SIGCHLD, SIG_DFL);
	d.reload = argc > 0 && strcmp(argv[0], role_name(ROLE_SETUP)) == 0;
	flags_parse(argc, argv);
	if (d.reload)
		reload_main();
	flags_begin();
	log_init("debuglanternd", LOG_L_WARN, NULL);
	if (close_range(3, ~0U, 0) == -1)
		fatal("close_range");
	raise_limits();
	find_libexec();
	notify_open();
	daemon_fork();
	make_all();
	if (loop_init() == -1)
		fatal("epoll");
	block_signals();
	terminal_find();
	users_drop();
	plan_start();
	become_parent(argv);
}
