/* SPDX-License-Identifier: ISC */
/* flags: -static */
/*
 * usage: thief prey name=NAME	 what a user runs who is to be left alone
 *        thief KEY=VALUE ...
 * thief tries each way to the prey that it knows and prints "way=0" where it
 * got through, "way=ERRNO" where not; the table is at the end.  The keys are
 * the members of struct mark.
 */
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE	1024
#define BUFFER		4096
#define PAGE		4096UL
/* one way must not hold up the others */
#define SECONDS		5
#define IOPRIO_BE_7	((2 << 13) | 7)

#ifndef SYS_process_madvise
#define SYS_process_madvise	440
#endif

/* The victim, and what is known about it. */
struct mark {
	const char	*pid, *secret, *name, *port, *key, *cgroup, *bundle;
	/* ways that begin like this are tried */
	const char	*only;
};

static struct mark	 m = { "0", "0", "none", "0", "0", "/none", "/none",
	"" };
static pid_t		 pid;

/* -- the prey -------------------------------------------------------------- */

static char	secret[64] = "secret of ";

static void
was_hit(int sig)
{
	dprintf(STDOUT_FILENO, "hit by %d\n", sig);
}

static key_t
key_of(const char *name)
{
	return (key_t)(0x51000000 + strtol(name, NULL, 10));
}

static void
path_of(char path[PATH_SIZE], const char *dir, const char *suffix)
{
	(void)snprintf(path, PATH_SIZE, "%s/prey-%s%s", dir, m.name, suffix);
}

static int
unix_socket(bool abstract, int type, bool listens)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(sun);
	char path[PATH_SIZE];
	int fd = socket(AF_UNIX, type, 0), r;

	path_of(path, abstract ? "" : "/tmp", type == SOCK_DGRAM ? ".d" :
	    ".s");
	(void)snprintf(sun.sun_path + abstract,
	    sizeof(sun.sun_path) - abstract, "%.90s", path);
	if (abstract)
		len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
		    strlen(path));
	if (!listens)
		return connect(fd, (void *)&sun, len);
	r = bind(fd, (void *)&sun, len);
	return r == 0 && type == SOCK_STREAM ? listen(fd, 100) : r;
}

static void
leave_files(void)
{
	static const char *const dirs[] = { "/tmp", "/dev/shm" };
	char path[PATH_SIZE];
	size_t i;
	int fd;

	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		path_of(path, dirs[i], "");
		fd = open(path, O_RDWR | O_CREAT, 0600);
		if (fd == -1 || write(fd, secret, sizeof(secret)) == -1)
			dprintf(STDOUT_FILENO, "no %s\n", path);
		close(fd);
	}
}

/* All that programs may have, each in the owner's hands alone. */
static void
prey(void)
{
	struct sigaction sa = { .sa_handler = was_hit,
	    .sa_flags = SA_RESTART };
	struct { long type; char text[8]; } msg = { 1, "message" };
	char path[PATH_SIZE];
	long key;
	int id;

	(void)umask(077);
	(void)strncat(secret, m.name, sizeof(secret) - 16);
	(void)sigaction(SIGURG, &sa, NULL);
	leave_files();
	(void)shmget(key_of(m.name), BUFFER, IPC_CREAT | 0600);
	(void)semget(key_of(m.name), 1, IPC_CREAT | 0600);
	id = msgget(key_of(m.name), IPC_CREAT | 0600);
	(void)msgsnd(id, &msg, sizeof(msg.text), IPC_NOWAIT);
	path_of(path, "", "");
	(void)mq_open(path, O_RDWR | O_CREAT, 0600, NULL);
	(void)unix_socket(true, SOCK_STREAM, true);
	(void)unix_socket(true, SOCK_DGRAM, true);
	(void)unix_socket(false, SOCK_STREAM, true);
	(void)unix_socket(false, SOCK_DGRAM, true);
	key = syscall(SYS_add_key, "user", path, secret, sizeof(secret),
	    KEY_SPEC_USER_KEYRING);
	dprintf(STDOUT_FILENO, "secret=%p\nkey=%ld\nready\n", (void *)secret,
	    key);
	for (;;)
		pause();
}

/* -- its files in /proc ---------------------------------------------------- */

static void
in_proc(char path[PATH_SIZE], const char *what)
{
	(void)snprintf(path, PATH_SIZE, "/proc/%s/%s", m.pid, what);
}

/* Pipes have nothing to read now: that they open is enough. */
static long
read_it(const char *what)
{
	char path[PATH_SIZE], buf[BUFFER];
	ssize_t n;
	int fd;

	in_proc(path, what);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	if (fd == -1)
		return -1;
	n = read(fd, buf, sizeof(buf));
	return n == -1 && errno == EAGAIN ? 0 : n;
}

/* Inside a task's map: what is to be read starts at the secret. */
static long
peek(const char *what)
{
	char path[PATH_SIZE], buf[16];
	int fd;

	in_proc(path, what);
	fd = open(path, O_RDONLY);
	if (fd == -1)
		return -1;
	return pread(fd, buf, sizeof(buf), strtol(m.secret, NULL, 16));
}

static long
poke(const char *what)
{
	char path[PATH_SIZE];
	int fd;

	in_proc(path, what);
	fd = open(path, O_RDWR);
	if (fd == -1)
		return -1;
	return pwrite(fd, "S", 1, strtol(m.secret, NULL, 16));
}

static long
poke_task(const char *what)
{
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof(path), "task/%.16s/%.64s", m.pid, what);
	return poke(path);
}

static long
write_it(const char *what)
{
	char path[PATH_SIZE];

	in_proc(path, what);
	return open(path, O_WRONLY | O_NONBLOCK);
}

static long
list_it(const char *what)
{
	char path[PATH_SIZE];
	struct dirent *e;
	DIR *dir;

	in_proc(path, what);
	dir = opendir(path);
	if (dir == NULL)
		return -1;
	/* errno tells the end from a failure */
	errno = 0;
	while ((e = readdir(dir)) != NULL && e->d_name[0] == '.')
		continue;
	if (e == NULL && errno == 0)
		errno = ENOENT;
	return e == NULL ? -1 : 0;
}

static long
link_of(const char *what)
{
	char path[PATH_SIZE], to[PATH_SIZE];

	in_proc(path, what);
	return readlink(path, to, sizeof(to));
}

static long
watch_it(const char *what)
{
	char path[PATH_SIZE];

	in_proc(path, what);
	return inotify_add_watch(inotify_init1(0), path, IN_ALL_EVENTS);
}

static long
enter(const char *what)
{
	char path[PATH_SIZE];
	int fd;

	in_proc(path, what);
	fd = open(path, O_RDONLY);
	return fd == -1 ? -1 : setns(fd, 0);
}

/* The bundle has its own mounts: beneath its owner's root, or by its path. */
static long
bundle_by_root(const char *what)
{
	char path[PATH_SIZE + 8], full[PATH_SIZE];

	(void)snprintf(path, sizeof(path), "root%s/%s", m.bundle, what);
	in_proc(full, path);
	return open(full, O_RDONLY);
}

static long
bundle_by_cwd(const char *what)
{
	char path[PATH_SIZE], full[PATH_SIZE];

	(void)snprintf(path, sizeof(path), "cwd/%.100s", what);
	in_proc(full, path);
	return open(full, O_RDONLY);
}

static long
bundle_by_name(const char *what)
{
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof(path), "%.900s/%.100s", m.bundle, what);
	return open(path, O_RDONLY);
}

/* -- its process ----------------------------------------------------------- */

static long
seize(const char *what)
{
	(void)what;
	return ptrace(PTRACE_SEIZE, pid, 0, 0);
}

static long
attach(const char *what)
{
	(void)what;
	if (ptrace(PTRACE_ATTACH, pid, 0, 0) == -1 ||
	    waitpid(pid, NULL, 0) == -1)
		return -1;
	return ptrace(PTRACE_DETACH, pid, 0, 0);
}

static long
vm(const char *what)
{
	char c[1] = "S";
	struct iovec ours = { c, sizeof(c) };
	struct iovec his = { (void *)strtoul(m.secret, NULL, 16),
	    sizeof(c) };

	return what[0] == 'w' ? process_vm_writev(pid, &ours, 1, &his, 1, 0) :
	    process_vm_readv(pid, &ours, 1, &his, 1, 0);
}

static long
signal_it(const char *what)
{
	siginfo_t si = { .si_signo = SIGURG, .si_code = SI_QUEUE };

	if (strcmp(what, "kill") == 0)
		return kill(pid, SIGURG);
	if (strcmp(what, "tkill") == 0)
		return syscall(SYS_tkill, pid, SIGURG);
	if (strcmp(what, "tgkill") == 0)
		return syscall(SYS_tgkill, pid, pid, SIGURG);
	if (strcmp(what, "queue") == 0)
		return syscall(SYS_rt_sigqueueinfo, pid, SIGURG, &si);
	if (strcmp(what, "tgqueue") == 0)
		return syscall(SYS_rt_tgsigqueueinfo, pid, pid, SIGURG, &si);
	if (strcmp(what, "group") == 0)
		return kill(-pid, SIGURG);
	return syscall(SYS_pidfd_send_signal, pidfd_open(pid, 0), SIGURG,
	    NULL, 0);
}

/* Sends signals whose arrival the kernel does not report to the sender. */
static long
signal_unseen(const char *what)
{
	int s[2];

	if (what[0] == 'a') {
		(void)kill(-1, SIGURG);
	} else if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0) {
		(void)fcntl(s[0], F_SETOWN, pid);
		(void)fcntl(s[0], F_SETSIG, SIGURG);
		(void)fcntl(s[0], F_SETFL, O_ASYNC);
		(void)send(s[1], "x", 1, 0);
	}
	errno = EPERM;
	return -1;
}

static void *
page_of(void)
{
	return (void *)(strtoul(m.secret, NULL, 16) & ~(PAGE - 1));
}

static long
by_pidfd(const char *what)
{
	struct iovec his = { page_of(), PAGE };
	int fd = pidfd_open(pid, 0);

	if (fd == -1 || strcmp(what, "open") == 0)
		return fd;
	if (strcmp(what, "getfd") == 0)
		return pidfd_getfd(fd, 0, 0);
	if (strcmp(what, "madvise") == 0)
		return syscall(SYS_process_madvise, fd, &his, 1,
		    MADV_COLD, 0);
	return setns(fd, CLONE_NEWNS);
}

static long
limits_of(const char *what)
{
	struct rlimit rl;

	if (prlimit(pid, RLIMIT_CORE, NULL, &rl) == -1)
		return -1;
	return what[0] == 'g' ? 0 : prlimit(pid, RLIMIT_CORE, &rl, NULL);
}

static long
schedule(const char *what)
{
	struct sched_param sp = { 0 };
	cpu_set_t set;

	if (strcmp(what, "affinity") == 0)
		return sched_getaffinity(pid, sizeof(set), &set) == -1 ? -1 :
		    sched_setaffinity(pid, sizeof(set), &set);
	if (strcmp(what, "policy") == 0)
		return sched_setscheduler(pid, SCHED_OTHER, &sp);
	if (strcmp(what, "nice") == 0)
		return setpriority(PRIO_PROCESS, (id_t)pid, 1);
	return syscall(SYS_ioprio_set, 1, pid, IOPRIO_BE_7);
}

static long
pages(const char *what)
{
	unsigned long all = ~0UL;
	void *page = page_of();
	int node = 0, status;

	return what[0] == 'p' ? syscall(SYS_move_pages, pid, 1, &page, &node,
	    &status, 0) : syscall(SYS_migrate_pages, pid, 8, &all, &all);
}

static long
compare(const char *what)
{
	(void)what;
	return syscall(SYS_kcmp, pid, getpid(), KCMP_FILE, 0, 0);
}

static long
robust_list(const char *what)
{
	size_t len;
	void *p;

	(void)what;
	return syscall(SYS_get_robust_list, pid, &p, &len);
}

static long
count_events(const char *what)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(a), .config = PERF_COUNT_SW_TASK_CLOCK,
	    .exclude_kernel = 1, .exclude_hv = 1 };

	(void)what;
	return syscall(SYS_perf_event_open, &a, pid, -1, -1, 0);
}

/* -- what it shares -------------------------------------------------------- */

static long
shared_memory(const char *what)
{
	int id = shmget(key_of(m.name), 0, 0);

	if (id == -1 || strcmp(what, "remove") == 0)
		return id == -1 ? -1 : shmctl(id, IPC_RMID, NULL);
	return shmat(id, NULL, what[0] == 'r' ? SHM_RDONLY : 0) ==
	    (void *)-1 ? -1 : 0;
}

static long
semaphore(const char *what)
{
	struct sembuf up = { 0, 1, IPC_NOWAIT };
	int id = semget(key_of(m.name), 0, 0);

	if (id == -1)
		return -1;
	if (strcmp(what, "remove") == 0)
		return semctl(id, 0, IPC_RMID);
	return what[0] == 'g' ? semctl(id, 0, GETVAL) : semop(id, &up, 1);
}

static long
messages(const char *what)
{
	struct { long type; char text[8]; } msg = { 2, "message" };
	int id = msgget(key_of(m.name), 0);

	if (id == -1)
		return -1;
	if (strcmp(what, "remove") == 0)
		return msgctl(id, IPC_RMID, NULL);
	return what[0] == 's' ? msgsnd(id, &msg, sizeof(msg.text),
	    IPC_NOWAIT) : msgrcv(id, &msg, sizeof(msg.text), 1, IPC_NOWAIT);
}

static long
queue(const char *what)
{
	char path[PATH_SIZE];

	path_of(path, "", "");
	return what[0] == 'u' ? mq_unlink(path) :
	    mq_open(path, what[0] == 'r' ? O_RDONLY : O_WRONLY);
}

/* "way directory"; the last three take the name from its owner */
static long
file(const char *what)
{
	char path[PATH_SIZE], other[PATH_SIZE + 16];
	const char *dir = strchr(what, ' ') + 1;
	struct stat st;
	long r;

	path_of(path, dir, "");
	(void)snprintf(other, sizeof(other), "%s.%d", path, getpid());
	if (strncmp(what, "read", 4) == 0)
		return open(path, O_RDONLY);
	if (strncmp(what, "write", 5) == 0)
		return open(path, O_WRONLY | O_APPEND);
	if (strncmp(what, "watch", 5) == 0)
		return inotify_add_watch(inotify_init1(0), path, IN_ACCESS);
	if (strncmp(what, "chmod", 5) == 0)
		return chmod(path, 0600);
	if (strncmp(what, "link", 4) == 0) {
		r = link(path, other);
		(void)unlink(other);
		return r;
	}
	/* a symlink in its place, and back */
	if (strncmp(what, "replace", 7) == 0) {
		if (stat(path, &st) == -1 ||
		    symlink("/etc/hostname", other) == -1)
			return -1;
		r = rename(other, path);
		if (r == -1)
			(void)unlink(other);
		return r;
	}
	return unlink(path);
}

static long
talk(const char *what)
{
	return unix_socket(what[0] == 'a', what[1] == 's' ? SOCK_STREAM :
	    SOCK_DGRAM, false);
}

static long
keyring(const char *what)
{
	char buf[64], path[PATH_SIZE];
	long key = strtol(m.key, NULL, 10);

	path_of(path, "", "");
	if (strcmp(what, "search") == 0)
		return syscall(SYS_keyctl, KEYCTL_SEARCH,
		    KEY_SPEC_USER_KEYRING, "user", path, 0);
	if (strcmp(what, "read") == 0)
		return syscall(SYS_keyctl, KEYCTL_READ, key, buf,
		    sizeof(buf));
	if (strcmp(what, "describe") == 0)
		return syscall(SYS_keyctl, KEYCTL_DESCRIBE, key, buf,
		    sizeof(buf));
	return syscall(SYS_keyctl, KEYCTL_UPDATE, key, secret,
	    sizeof(secret));
}

static long
cgroup_file(const char *what)
{
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof(path), "%.900s/%.64s", m.cgroup, what);
	return open(path, O_WRONLY);
}

static long
cgroup_child(const char *what)
{
	char path[PATH_SIZE];
	long r;

	(void)snprintf(path, sizeof(path), "%.900s/%.64s", m.cgroup, what);
	r = mkdir(path, 0700);
	(void)rmdir(path);
	return r;
}

/* Does a debugger answer who does not own the session? */
static long
debug_port(const char *what)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
	    .sin_port = htons((in_port_t)strtol(m.port, NULL, 10)) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char c;

	(void)inet_pton(AF_INET, what, &sin.sin_addr);
	if (connect(fd, (void *)&sin, sizeof(sin)) == -1 ||
	    send(fd, "+$?#3f", 6, MSG_NOSIGNAL) == -1)
		return -1;
	errno = ECONNRESET;
	return recv(fd, &c, 1, 0) == 1 ? 0 : -1;
}

/* Lists of everybody's: is its name there? */
static long
named_in(const char *what)
{
	char line[BUFFER], name[PATH_SIZE];
	FILE *f = fopen(what, "r");

	path_of(name, "", "");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strstr(line, name) != NULL)
			return 0;
	if (f != NULL)
		errno = ENOENT;
	return -1;
}

/* Ways that take something away stand last, as the others need it. */
static const struct {
	const char	*name;
	long		(*fn)(const char *);
	const char	*what;
} ways[] = {
	{ "proc.mem.read", peek, "mem" }, { "proc.mem.write", poke, "mem" },
	{ "proc.task.mem", poke_task, "mem" },
	{ "proc.exe", read_it, "exe" }, { "proc.environ", read_it, "environ" },
	{ "proc.maps", read_it, "maps" }, { "proc.smaps", read_it, "smaps" },
	{ "proc.auxv", read_it, "auxv" }, { "proc.pagemap", peek, "pagemap" },
	{ "proc.syscall", read_it, "syscall" },
	{ "proc.io", read_it, "io" },
	{ "proc.personality", read_it, "personality" },
	{ "proc.stdin", write_it, "fd/0" }, { "proc.stdout", read_it, "fd/1" },
	{ "proc.stdout.write", write_it, "fd/1" },
	{ "proc.stderr", read_it, "fd/2" },
	{ "proc.fdinfo", read_it, "fdinfo/0" },
	{ "proc.fd", list_it, "fd" }, { "proc.map_files", list_it, "map_files" },
	{ "proc.root", list_it, "root/" }, { "proc.cwd", list_it, "cwd/" },
	{ "proc.exe.link", link_of, "exe" }, { "proc.cwd.link", link_of, "cwd" },
	{ "proc.fd.link", link_of, "fd/0" },
	{ "proc.ns.link", link_of, "ns/mnt" },
	{ "proc.clear_refs", write_it, "clear_refs" },
	{ "proc.oom", write_it, "oom_score_adj" },
	{ "proc.coredump", write_it, "coredump_filter" },
	{ "proc.uid_map", write_it, "uid_map" },
	{ "proc.comm", write_it, "comm" },
	{ "proc.cmdline", read_it, "cmdline" },
	{ "proc.status", read_it, "status" },
	{ "watch.exe", watch_it, "exe" }, { "watch.fd", watch_it, "fd" },
	{ "watch.cwd", watch_it, "cwd/" }, { "watch.root", watch_it, "root/" },
	{ "enter.user", enter, "ns/user" }, { "enter.mnt", enter, "ns/mnt" },
	{ "enter.pid", enter, "ns/pid" }, { "enter.net", enter, "ns/net" },
	{ "enter.ipc", enter, "ns/ipc" }, { "enter.uts", enter, "ns/uts" },
	{ "enter.cgroup", enter, "ns/cgroup" },
	{ "bundle.root", bundle_by_root, "data" },
	{ "bundle.cwd", bundle_by_cwd, "data" },
	{ "bundle.name", bundle_by_name, "data" },
	{ "trace.attach", attach, "" }, { "trace.seize", seize, "" },
	{ "vm.read", vm, "read" }, { "vm.write", vm, "write" },
	{ "signal.kill", signal_it, "kill" },
	{ "signal.tkill", signal_it, "tkill" },
	{ "signal.tgkill", signal_it, "tgkill" },
	{ "signal.queue", signal_it, "queue" },
	{ "signal.tgqueue", signal_it, "tgqueue" },
	{ "signal.group", signal_it, "group" },
	{ "signal.pidfd", signal_it, "pidfd" },
	{ "unseen.all", signal_unseen, "all" },
	{ "unseen.async", signal_unseen, "owner" },
	{ "pidfd.open", by_pidfd, "open" }, { "pidfd.getfd", by_pidfd, "getfd" },
	{ "pidfd.madvise", by_pidfd, "madvise" },
	{ "pidfd.enter", by_pidfd, "enter" },
	{ "limits.get", limits_of, "get" }, { "limits.set", limits_of, "set" },
	{ "sched.affinity", schedule, "affinity" },
	{ "sched.policy", schedule, "policy" },
	{ "sched.nice", schedule, "nice" },
	{ "sched.ioprio", schedule, "ioprio" },
	{ "pages.move", pages, "page" }, { "pages.migrate", pages, "migrate" },
	{ "kcmp", compare, "" }, { "robust_list", robust_list, "" },
	{ "perf", count_events, "" },
	{ "shm.read", shared_memory, "read" },
	{ "shm.write", shared_memory, "write" },
	{ "sem.get", semaphore, "get" }, { "sem.up", semaphore, "up" },
	{ "msg.send", messages, "send" }, { "msg.receive", messages, "receive" },
	{ "mq.read", queue, "read" }, { "mq.write", queue, "write" },
	{ "tmp.read", file, "read /tmp" }, { "tmp.write", file, "write /tmp" },
	{ "tmp.watch", file, "watch /tmp" }, { "tmp.chmod", file, "chmod /tmp" },
	{ "tmp.link", file, "link /tmp" },
	{ "dev.read", file, "read /dev/shm" },
	{ "dev.write", file, "write /dev/shm" },
	{ "dev.watch", file, "watch /dev/shm" },
	{ "dev.chmod", file, "chmod /dev/shm" },
	{ "dev.link", file, "link /dev/shm" },
	{ "abstract.stream", talk, "as" }, { "abstract.datagram", talk, "ad" },
	{ "socket.stream", talk, "fs" }, { "socket.datagram", talk, "fd" },
	{ "net.unix", named_in, "/proc/net/unix" },
	{ "key.search", keyring, "search" }, { "key.read", keyring, "read" },
	{ "key.describe", keyring, "describe" },
	{ "key.update", keyring, "update" }, { "key.list", named_in, "/proc/keys" },
	{ "cgroup.procs", cgroup_file, "cgroup.procs" },
	{ "cgroup.threads", cgroup_file, "cgroup.threads" },
	{ "cgroup.kill", cgroup_file, "cgroup.kill" },
	{ "cgroup.freeze", cgroup_file, "cgroup.freeze" },
	{ "cgroup.control", cgroup_file, "cgroup.subtree_control" },
	{ "cgroup.child", cgroup_child, "mine" },
	{ "debug.port", debug_port, "127.0.0.1" },
	{ "shm.remove", shared_memory, "remove" },
	{ "sem.remove", semaphore, "remove" },
	{ "msg.remove", messages, "remove" }, { "mq.unlink", queue, "unlink" },
	{ "tmp.replace", file, "replace /tmp" },
	{ "tmp.unlink", file, "unlink /tmp" },
	{ "dev.replace", file, "replace /dev/shm" },
	{ "dev.unlink", file, "unlink /dev/shm" },
};

/* In a process of its own: some ways lead somewhere else for good. */
static void
try_way(size_t i)
{
	long r;
	pid_t child = fork();

	if (child == 0) {
		(void)alarm(SECONDS);
		r = ways[i].fn(ways[i].what);
		dprintf(STDOUT_FILENO, "%s=%s\n", ways[i].name, r == -1 ?
		    strerrorname_np(errno) : "0");
		_exit(0);
	}
	while (waitpid(child, NULL, 0) == -1 && errno == EINTR)
		continue;
}

static void
learn(const char *arg)
{
	static const struct {
		const char	*key;
		const char	**value;
	} keys[] = {
		{ "pid=", &m.pid }, { "secret=", &m.secret },
		{ "name=", &m.name }, { "port=", &m.port },
		{ "key=", &m.key }, { "cgroup=", &m.cgroup },
		{ "bundle=", &m.bundle }, { "only=", &m.only },
	};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strncmp(arg, keys[i].key, strlen(keys[i].key)) == 0)
			*keys[i].value = arg + strlen(keys[i].key);
}

int
main(int argc, char **argv)
{
	size_t n;
	int i;

	for (i = 1; i < argc; i++)
		learn(argv[i]);
	if (argc > 1 && strcmp(argv[1], "prey") == 0)
		prey();
	(void)signal(SIGURG, SIG_IGN);
	pid = (pid_t)strtol(m.pid, NULL, 10);
	for (n = 0; n < sizeof(ways) / sizeof(ways[0]); n++)
		if (strncmp(ways[n].name, m.only, strlen(m.only)) == 0)
			try_way(n);
	dprintf(STDOUT_FILENO, "done\n");
	return 0;
}
