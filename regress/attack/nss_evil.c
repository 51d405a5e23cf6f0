/* SPDX-License-Identifier: ISC */
/* flags: -shared -fPIC */
/*
 * A directory service's module that is in an attacker's hands: it does what
 * the user's name says, in the process that asks for the user.
 */
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <errno.h>
#include <nss.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHANNEL	3

/* As common/wire/msg.h has it. */
struct hdr {
	uint32_t	type, length;
	uint64_t	request;
	uint32_t	conn, generation;
	uint8_t		session[16];
};

enum nss_status	_nss_dlevil_getpwnam_r(const char *, struct passwd *, char *,
		    size_t, int *);

/* Attempts against the parent must fail by the filter: EPERM. */
static void
refused(const char *name, long r)
{
	static char text[128];

	if (r != -1 || errno != EPERM) {
		(void)strcpy(text, "NOT REFUSED: ");
		(void)strncat(text, name, 64);
		(void)strcat(text, "\n");
		(void)!write(STDERR_FILENO, text, strlen(text));
	}
}

static void
against_the_parent(void)
{
	const pid_t parent = getppid();
	struct rlimit none = { 0, 0 };
	struct iovec iov = { &none, sizeof(none) };
	struct sched_param sp = { 0 };
	int pidfd = (int)syscall(SYS_pidfd_open, parent, 0);

	refused("kill", kill(parent, SIGKILL));
	refused("stop", kill(parent, SIGSTOP));
	refused("tgkill", syscall(SYS_tgkill, parent, parent, SIGKILL));
	refused("pidfd", syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL,
	    0));
	refused("pidfd_getfd", syscall(SYS_pidfd_getfd, pidfd, 8, 0));
	refused("limit", prlimit(parent, RLIMIT_NOFILE, &none, NULL));
	refused("trace", ptrace(PTRACE_SEIZE, parent, NULL, NULL));
	refused("memory", process_vm_readv(parent, &iov, 1, &iov, 1, 0));
	refused("nice", setpriority(PRIO_PROCESS, (id_t)parent, 19));
	refused("schedule", sched_setscheduler(parent, SCHED_IDLE, &sp));
	refused("fork", fork());
	refused("exec", execl("/bin/sh", "sh", "-c", "echo NOT REFUSED >&2",
	    (char *)NULL));
}

static void
say(uint32_t type, const void *p, uint32_t len)
{
	struct hdr h = { .type = type, .length = len };
	struct iovec iov[2] = { { &h, sizeof(h) },
	    { (void *)(uintptr_t)p, len } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };

	(void)sendmsg(CHANNEL, &m, MSG_NOSIGNAL);
}

/* Each type that there is, with nothing and with something in it. */
static void
babble(const char *first)
{
	static char junk[4096];
	uint32_t type = (uint32_t)strtoul(first, NULL, 10);

	memset(junk, 0xff, sizeof(junk));
	say(type, junk, 0);
	say(type, junk, sizeof(junk));
}

/* As many lines as one may wish to see in a log. */
static void
flood(const char *type)
{
	struct {
		uint32_t level, len;
		char text[8];
	} line = { 1, 8, "flooding" };
	int i;

	for (i = 0; i < 100000; i++)
		say((uint32_t)strtoul(type, NULL, 10), &line, sizeof(line));
}

enum nss_status
_nss_dlevil_getpwnam_r(const char *name, struct passwd *pw, char *buf,
    size_t size, int *error)
{
	(void)pw;
	(void)buf;
	(void)size;
	(void)error;
	if (strncmp(name, "evil-", 5) != 0)
		return NSS_STATUS_NOTFOUND;
	name += 5;
	if (strcmp(name, "parent") == 0)
		against_the_parent();
	else if (strcmp(name, "crash") == 0)
		abort();
	else if (strcmp(name, "exit") == 0)
		_exit(0);
	else if (strcmp(name, "hang") == 0)
		(void)poll(NULL, 0, -1);
	else if (strncmp(name, "flood", 5) == 0)
		flood(name + 5);
	else
		babble(name);
	return NSS_STATUS_NOTFOUND;
}
