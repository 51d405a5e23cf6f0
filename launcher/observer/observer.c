/* SPDX-License-Identifier: ISC */
/* The observer's life: give up rights, try the host, answer. */
#include <sys/prctl.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "confine/caps.h"
#include "confine/confine.h"
#include "facts_read.h"
#include "find.h"
#include "launcher/base/child.h"
#include "launcher/base/facts.h"
#include "observer.h"
#include "probe.h"
#include "sysfilter.h"
#include "trials.h"
#include "usage.h"
#include "wire/fdpass.h"
#include "wire/msg_out.h"
#include "wire/role.h"

/* As many users as the spawner knows; all of them fit into one message. */
#define USERS_MAX	4096

static int	proc_fd = -1;

static struct msg_out *
answer_to(const struct msg *m, enum msg_type type)
{
	return msg_new(type, &m->hdr.session, m->hdr.conn, m->hdr.request);
}

/* Borrows fd, -1 = none.  Ends the process on failure. */
static void
observer_answer(struct msg_out *o, int fd)
{
	struct iovec iov = { o, sizeof(o->hdr) + o->hdr.length };

	if (o->bad || fdpass_send(UP_SOCK, &iov, 1, &fd, fd != -1, 0) == -1)
		_exit(1);
}

static void
tell_facts(void)
{
	struct msg_out *o = msg_new(MSG_NONE, NULL, 0, 0);

	facts_read();
	msg_put_bytes(o, &facts, sizeof(facts));
	observer_answer(o, -1);
}

static void
sample(struct msg *m)
{
	const struct cgroup_leaf leaf = { msg_get_u32(m), m->hdr.session,
	    LEAF_SESSION };
	struct usage u = { USAGE_UNKNOWN, USAGE_UNKNOWN };
	int leaf_fd = leaf_open(&leaf);
	pid_t pid = leaf_fd == -1 ? find_pid(proc_fd, m->fd) : 0;
	struct msg_out *o = answer_to(m, MSG_SAMPLED);

	if (leaf_fd != -1) {
		usage_of_leaf(leaf_fd, proc_fd, &u);
		close(leaf_fd);
	} else if (pid > 0)
		usage_of_tree(pid, proc_fd, &u);
	msg_put_u64(o, u.cpu_ns);
	msg_put_u64(o, u.memory);
	observer_answer(o, -1);
}

/* The launcher has looked whether any process may be meant. */
static void
find(struct msg *m)
{
	pid_t pid = (pid_t)msg_get_u32(m), inner = 0;
	const struct cgroup_leaf leaf = { msg_get_u32(m), m->hdr.session,
	    LEAF_SESSION };
	bool any = msg_get_u32(m) != 0;
	int found_fd = find_process(proc_fd, pid, any ? NULL : &leaf, m->fd,
	    &inner);
	struct msg_out *o = answer_to(m, found_fd == -1 ? MSG_NOT_FOUND :
	    MSG_FOUND);

	if (found_fd != -1)
		msg_put_u32(o, (uint32_t)inner);
	observer_answer(o, found_fd);
	if (found_fd != -1)
		close(found_fd);
}

static void
users(struct msg *m)
{
	static struct user_use use[USERS_MAX];
	size_t n = usage_of_users(msg_get_u32(m), use, USERS_MAX), i;
	struct msg_out *o = answer_to(m, MSG_USER_USED);

	msg_put_u32(o, (uint32_t)n);
	for (i = 0; i < n; i++) {
		msg_put_u32(o, use[i].uid);
		msg_put_u64(o, use[i].memory);
		msg_put_u64(o, use[i].pids);
	}
	observer_answer(o, -1);
}

static void
host(struct msg *m)
{
	struct msg_out *o;

	tell_facts();
	o = answer_to(m, MSG_PROBED);
	probe_put(o);
	observer_answer(o, -1);
}

static void
take_settings(struct msg *m)
{
	if (m->left == sizeof(settings))
		memcpy(&settings, m->next, sizeof(settings));
}

static const struct task {
	enum msg_type	 type;
	void		(*fn)(struct msg *);
} tasks[] = {
	{ MSG_SAMPLE, sample }, { MSG_FIND, find }, { MSG_USER_USE, users },
	{ MSG_PROBE, host }, { MSG_SETTINGS, take_settings },
};

static void
serve_one(void)
{
	static uint8_t payload[MSG_PAYLOAD_MAX];
	struct msg m = { .next = payload, .fd = -1 };
	struct iovec iov[] = { { &m.hdr, sizeof(m.hdr) },
	    { payload, sizeof(payload) } };
	int fds[FDPASS_MAX];
	size_t n, i;
	ssize_t len = fdpass_recv(UP_SOCK, iov, 2, fds, &n, NULL, 0);

	if (len == -1 && errno == EINTR)
		return;
	/* the launcher has ended */
	if (len < (ssize_t)sizeof(m.hdr))
		_exit(0);
	m.left = (size_t)len - sizeof(m.hdr);
	m.fd = n > 0 ? fds[0] : -1;
	for (i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++)
		if (tasks[i].type == m.hdr.type)
			tasks[i].fn(&m);
	while (n > 0)
		close(fds[--n]);
}

static void
give_up_rights(void)
{
	struct sigaction sa = { .sa_handler = SIG_DFL };

	if (caps_set(0, 0) == -1)
		_exit(1);
	/* the trials wait for their processes */
	(void)sigaction(SIGCHLD, &sa, NULL);
	(void)prctl(PR_SET_NAME, "observer", 0, 0, 0);
}

static void
confine(void)
{
	void *prog = NULL;
	size_t n = 0;

	/* compiling writes to a memfd, which RLIMIT_FSIZE would forbid */
	if (!(settings.weakened & WEAKEN_SECCOMP) &&
	    filter_compile(&observer_filter, &prog, &n) == -1)
		_exit(1);
	if (confine_landlock(LANDLOCK_READONLY) == -1 ||
	    confine_rlimits(0, 0, false) == -1 ||
	    (prog != NULL && filter_install(prog, n) == -1))
		_exit(1);
	free(prog);
}

void
observer_main(void)
{
	give_up_rights();
	trials_run();
	facts_read_rlimits();
	proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	confine();
	tell_facts();
	for (;;)
		serve_one();
}
