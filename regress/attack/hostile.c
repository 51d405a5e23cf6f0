/* SPDX-License-Identifier: ISC */
/* flags: -static */
/*
 * usage: hostile attack [argument ...]
 * Runs an attack of a session's program on what is around it, and prints the
 * results as "name=0" or "name=ERRNO" lines; the table is at the end.
 */
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE	4096
#define DEPTH_MAX	6

static void
say(const char *name, const char *what, long r)
{
	dprintf(STDOUT_FILENO, "%s%s%s=%s\n", name, what[0] == '\0' ? "" : ".",
	    what, r < 0 ? strerrorname_np(errno) : "0");
}

static void
sleep_on(void)
{
	dprintf(STDOUT_FILENO, "ready\n");
	for (;;)
		pause();
}

/* -- processes ------------------------------------------------------------ */

static void
look_at(const char *pid, const char *name, int flags)
{
	char path[PATH_SIZE], what[256];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
	(void)snprintf(what, sizeof(what), "%.16s.%.64s", pid, name);
	fd = open(path, flags | O_NONBLOCK);
	if (fd != -1) {
		say("opened", what, fd);
		close(fd);
	}
}

static void
enter(const char *pid)
{
	static const char *const names[] = { "user", "mnt", "pid", "net",
	    "ipc", "uts", "cgroup" };
	char path[PATH_SIZE];
	size_t i;
	int fd;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(path, sizeof(path), "/proc/%s/ns/%s", pid,
		    names[i]);
		fd = open(path, O_RDONLY);
		if (fd != -1 && setns(fd, 0) == 0)
			say("entered", path, 0);
	}
}

/* Everything that /proc shows beside this process. */
static void
walk(char **args)
{
	static const char *const files[] = { "mem", "environ", "exe", "maps",
	    "fd/0", "fd/3", "fd/4", "fd/5", "root/etc/hostname", "cwd",
	    "auxv", "syscall", "stack", "fdinfo/3" };
	struct dirent *e;
	DIR *dir = opendir("/proc");
	size_t i;
	long pid;

	(void)args;
	while (dir != NULL && (e = readdir(dir)) != NULL) {
		pid = strtol(e->d_name, NULL, 10);
		if (pid == 0 || pid == getpid())
			continue;
		dprintf(STDOUT_FILENO, "seen=%s\n", e->d_name);
		for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
			look_at(e->d_name, files[i], O_RDONLY);
		look_at(e->d_name, "mem", O_RDWR);
		look_at(e->d_name, "oom_score_adj", O_WRONLY);
		enter(e->d_name);
		say("seize", e->d_name, ptrace(PTRACE_SEIZE, (pid_t)pid, 0,
		    0));
	}
	dprintf(STDOUT_FILENO, "done\n");
}

/* Attacks, by pids from the host, processes that the sandbox may not reach. */
static void
others(char **args)
{
	for (; *args != NULL; args++) {
		pid_t pid = (pid_t)strtol(*args, NULL, 10);

		look_at(*args, "exe", O_RDONLY);
		look_at(*args, "environ", O_RDONLY);
		look_at(*args, "mem", O_RDWR);
		look_at(*args, "fd/0", O_RDONLY);
		look_at(*args, "fd/3", O_RDONLY);
		look_at(*args, "fd/5", O_RDONLY);
		enter(*args);
		say("seize", *args, ptrace(PTRACE_SEIZE, pid, 0, 0));
		say("kill", *args, kill(pid, SIGKILL));
		say("rt", *args, sigqueue(pid, SIGUSR1, (union sigval){ 0 }));
	}
	dprintf(STDOUT_FILENO, "done\n");
}

static void
kill_all(char **args)
{
	(void)args;
	say("kill", "all", kill(-1, SIGKILL));
	say("kill", "group0", kill(0, SIGCONT));
	say("kill", "init", kill(1, SIGKILL));
	sleep_on();
}

/* The stub: stopped, killed, confused, traced. */
static void
against_stub(char **args)
{
	static const int sigs[] = { SIGSTOP, SIGKILL, SIGTERM, SIGUSR1,
	    SIGCHLD, SIGSEGV, SIGINT };
	pid_t stub = getppid();
	char pid[16];
	size_t i;

	(void)args;
	(void)snprintf(pid, sizeof(pid), "%d", stub);
	say("seize", "stub", ptrace(PTRACE_SEIZE, stub, 0, 0));
	look_at(pid, "fd/0", O_WRONLY);
	look_at(pid, "fd/1", O_RDONLY);
	look_at(pid, "mem", O_RDWR);
	for (i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
		(void)kill(stub, sigs[i]);
	sleep_on();
}

/* Forks children, then kills the parent that would reap them. */
static void
orphans(char **args)
{
	int i;

	(void)args;
	for (i = 0; i < 3; i++)
		if (fork() == 0) {
			(void)setsid();
			(void)prctl(PR_SET_PDEATHSIG, 0);
			for (;;)
				pause();
		}
	(void)kill(getppid(), SIGKILL);
	sleep_on();
}

/* Children that want to be found by nobody. */
static void
hide(char **args)
{
	int i, j;

	(void)args;
	for (i = 0; i < 8; i++) {
		if (fork() != 0)
			continue;
		(void)setsid();
		if (fork() != 0)
			_exit(0);
		for (j = 0; j < 3; j++)
			close(j);
		(void)prctl(PR_SET_DUMPABLE, 0);
		(void)prctl(PR_SET_NAME, "kworker/0:0");
		(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
		for (j = 1; j < NSIG; j++)
			(void)signal(j, SIG_IGN);
		for (;;)
			if (fork() > 0)
				_exit(0);
			else
				usleep(20000);
	}
	sleep_on();
}

static void
on_term(int sig)
{
	(void)!write(STDOUT_FILENO, "term\n", 5);
	(void)sig;
}

static void *
second_thread(void *arg)
{
	sleep_on();
	return arg;
}

/* The first thread ends, which makes the process look like a zombie. */
static void
leaderless(char **args)
{
	pthread_t t;

	(void)args;
	(void)signal(SIGTERM, on_term);
	if (pthread_create(&t, NULL, second_thread, NULL) == 0)
		pthread_exit(NULL);
}

/* Everything closed, every signal blocked, not dumpable. */
static void
deaf(char **args)
{
	sigset_t all;

	(void)args;
	dprintf(STDOUT_FILENO, "ready\n");
	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)prctl(PR_SET_PDEATHSIG, 0);
	(void)close_range(0, ~0U, 0);
	for (;;)
		pause();
}

static void
eat_memory(char **args)
{
	size_t n = 0, most = strtoul(args[0], NULL, 10) << 20;
	char *p;

	dprintf(STDOUT_FILENO, "ready\n");
	for (; n < most; n += 1 << 20) {
		p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			break;
		memset(p, 1, 1 << 20);
	}
	dprintf(STDOUT_FILENO, "ate %zu\n", n >> 20);
}

static void
eat_fds(char **args)
{
	int fds[2], n = 0, s[2];

	(void)args;
	/* also in flight, where they do not count as open */
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, s) == -1)
		return;
	while (pipe(fds) == 0)
		n += 2;
	dprintf(STDOUT_FILENO, "fds %d %s\n", n, strerrorname_np(errno));
	sleep_on();
}

/* -- what it may write to ------------------------------------------------- */

#define PIECE		((size_t)1 << 20)
#define KEPT		((size_t)32 << 20)

/* Empty files, until there can be no more; their number. */
static unsigned long
litter(const char *dir)
{
	char path[PATH_SIZE];
	unsigned long n;
	int fd;

	for (n = 0;; n++) {
		(void)snprintf(path, sizeof(path), "%.4000s/litter%lu", dir, n);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
		if (fd == -1)
			return n;
		close(fd);
	}
}

/* Bytes into the first of them, until no more fit. */
static unsigned long long
stuff(const char *dir)
{
	static char piece[PIECE];
	unsigned long long sum = 0;
	char path[PATH_SIZE];
	ssize_t n;
	int fd;

	memset(piece, 'x', sizeof(piece));
	(void)snprintf(path, sizeof(path), "%.4000s/litter0", dir);
	fd = open(path, O_WRONLY);
	while (fd != -1 && (n = write(fd, piece, sizeof(piece))) > 0)
		sum += (unsigned long long)n;
	return sum;
}

/* Fills every directory below dir_path, also on other file systems. */
static void
fill_below(const char *dir_path, int depth)
{
	unsigned long n = litter(dir_path);
	unsigned long long sum;
	char path[PATH_SIZE];
	struct dirent *e;
	DIR *dir;

	if (n > 0) {
		sum = stuff(dir_path);
		dprintf(STDOUT_FILENO, "filled.%s=%lu %llu %s\n", dir_path, n,
		    sum, strerrorname_np(errno));
	}
	dir = depth == 0 ? NULL : opendir(dir_path);
	while (dir != NULL && (e = readdir(dir)) != NULL) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.' ||
		    strcmp(e->d_name, "proc") == 0)
			continue;
		(void)snprintf(path, sizeof(path), "%.3000s/%.255s",
		    depth == 2 ? "" : dir_path, e->d_name);
		fill_below(path, depth - 1);
	}
	if (dir != NULL)
		closedir(dir);
}

/* All mounts are in the sandbox's own root, or one level below that. */
static void
fill(char **args)
{
	(void)args;
	fill_below("/", 2);
	sleep_on();
}

/* Its own files work, and say what it wrote, while others fill theirs. */
static void
keep(char **args)
{
	static char piece[PIECE], again[PIECE];
	size_t i, good = 0;
	int fd = open("/tmp/kept", O_RDWR | O_CREAT | O_EXCL, 0600);

	(void)args;
	memset(piece, 'k', sizeof(piece));
	for (i = 0; i < KEPT; i += PIECE)
		if (write(fd, piece, PIECE) != (ssize_t)PIECE)
			break;
	dprintf(STDOUT_FILENO, "ready\n");
	while (read(STDIN_FILENO, again, 1) == 1) {
		(void)lseek(fd, 0, SEEK_SET);
		for (good = 0, i = 0; i < KEPT; i += PIECE)
			good += read(fd, again, PIECE) == (ssize_t)PIECE &&
			    memcmp(piece, again, PIECE) == 0;
		dprintf(STDOUT_FILENO, "kept=%zu\n", good);
	}
}

/* -- the kernel and its files --------------------------------------------- */

static void
devices(char **args)
{
	static const char *const paths[] = { "/dev/mem", "/dev/kmem",
	    "/dev/port", "/proc/kcore", "/dev/sda", "/dev/vda", "/dev/nvme0n1",
	    "/dev/kvm", "/dev/loop-control", "/dev/kmsg",
	    "/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern",
	    "/proc/sys/kernel/modprobe", "/proc/sys/vm/drop_caches",
	    "/sys/kernel/uevent_helper", "/proc/1/mem", "/etc/shadow",
	    "/etc/passwd", "/usr/bin", "/etc" };
	size_t i;

	(void)args;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		say("write", paths[i], open(paths[i], O_WRONLY));
	say("create", "/usr", open("/usr/x", O_WRONLY | O_CREAT, 0600));
	say("create", "/etc", open("/etc/x", O_WRONLY | O_CREAT, 0600));
	say("create", "/proc", open("/proc/x", O_WRONLY | O_CREAT, 0600));
	say("read", "/dev/mem", open("/dev/mem", O_RDONLY));
	say("read", "/proc/kcore", open("/proc/kcore", O_RDONLY));
	say("read", "/etc/shadow", open("/etc/shadow", O_RDONLY));
	say("mknod", "", mknod("/tmp/node", S_IFCHR | 0600, makedev(1, 1)));
	say("mount", "bind", mount("/etc", "/tmp", NULL, MS_BIND, NULL));
	say("mount", "remount", mount(NULL, "/", NULL,
	    MS_REMOUNT | MS_BIND, NULL));
	say("unshare", "user", unshare(CLONE_NEWUSER));
	say("setuid", "0", setuid(0));
	say("setgid", "0", setgid(0));
	dprintf(STDOUT_FILENO, "done\n");
}

/* Each control group that can be found: leave for it, or make one in it. */
static void
cgroups(const char *dir_path, int depth)
{
	char path[PATH_SIZE], own[16];
	struct dirent *e;
	DIR *dir = opendir(dir_path);
	int fd, n = snprintf(own, sizeof(own), "%d", getpid());

	if (dir == NULL || depth > DEPTH_MAX)
		return;
	(void)snprintf(path, sizeof(path), "%.4000s/cgroup.procs", dir_path);
	fd = open(path, O_WRONLY);
	if (fd != -1 && write(fd, own, (size_t)n) == n)
		say("moved", dir_path, 0);
	(void)snprintf(path, sizeof(path), "%.4000s/pids.max", dir_path);
	fd = open(path, O_WRONLY);
	if (fd != -1 && write(fd, "max", 3) == 3)
		say("limit", dir_path, 0);
	(void)snprintf(path, sizeof(path), "%.4000s/mine", dir_path);
	if (mkdir(path, 0700) == 0)
		say("made", path, 0);
	while ((e = readdir(dir)) != NULL) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "%.3000s/%.255s", dir_path,
		    e->d_name);
		cgroups(path, depth + 1);
	}
	closedir(dir);
}

static void
leave_cgroup(char **args)
{
	(void)args;
	cgroups("/sys/fs/cgroup", 0);
	dprintf(STDOUT_FILENO, "done\n");
	sleep_on();
}

static void
set_user_id(char **args)
{
	say("exec", "", execl(args[0], args[0], (char *)NULL));
}

static void
core(char **args)
{
	if (chdir(args[0]) == -1)
		say("chdir", args[0], -1);
	abort();
}

/* -- the daemon's doors --------------------------------------------------- */

static int
dial(const char *address, const char *port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6 };
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	in_port_t p = htons((in_port_t)strtol(port, NULL, 10));
	int fd = -1, r = -1;

	if (address[0] == '/') {
		(void)snprintf(sun.sun_path, sizeof(sun.sun_path), "%s",
		    address);
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		r = connect(fd, (void *)&sun, sizeof(sun));
	} else if (inet_pton(AF_INET, address, &sin.sin_addr) == 1) {
		sin.sin_port = p;
		fd = socket(AF_INET, SOCK_STREAM, 0);
		r = connect(fd, (void *)&sin, sizeof(sin));
	} else if (inet_pton(AF_INET6, address, &sin6.sin6_addr) == 1) {
		sin6.sin6_port = p;
		fd = socket(AF_INET6, SOCK_STREAM, 0);
		r = connect(fd, (void *)&sin6, sizeof(sin6));
	}
	return r == -1 ? -1 : fd;
}

static void
listen_to(const char *name, int fd)
{
	char buf[512];
	ssize_t n;

	(void)send(fd, "LIST\n", 5, MSG_NOSIGNAL);
	n = recv(fd, buf, sizeof(buf) - 1, 0);
	buf[n < 0 ? 0 : n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	dprintf(STDOUT_FILENO, "%s.%s\n", name, n <= 0 ? "closed" : buf);
	close(fd);
}

/* port address ... */
static void
doors(char **args)
{
	const char *port = *args++;
	int fd;

	for (; *args != NULL; args++) {
		fd = dial(*args, port);
		if (fd == -1)
			say("door", *args, -1);
		else
			listen_to(*args, fd);
	}
	dprintf(STDOUT_FILENO, "done\n");
}

static void
pass(int sock_fd, int fd)
{
	union {
		struct cmsghdr	hdr;
		char		buf[CMSG_SPACE(sizeof(int))];
	} ctl = { .hdr = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec iov = { (void *)(uintptr_t)"x", 1 };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = ctl.buf, .msg_controllen = sizeof(ctl.buf) };

	memcpy(CMSG_DATA(&ctl.hdr), &fd, sizeof(fd));
	if (sendmsg(sock_fd, &mh, 0) == -1)
		say("pass", "", -1);
}

static int
passed(int sock_fd)
{
	union {
		struct cmsghdr	hdr;
		char		buf[CMSG_SPACE(sizeof(int))];
	} ctl;
	char c;
	struct iovec iov = { &c, 1 };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = ctl.buf, .msg_controllen = sizeof(ctl.buf) };
	int fd = -1;

	if (recvmsg(sock_fd, &mh, 0) == 1 && CMSG_FIRSTHDR(&mh) != NULL)
		memcpy(&fd, CMSG_DATA(&ctl.hdr), sizeof(fd));
	return fd;
}

/* port address: the connection is in nobody's hands while it is looked up */
static void
in_flight(char **args)
{
	int s[2], fd, i;

	for (i = 0; i < 40; i++) {
		fd = dial(args[1], args[0]);
		if (fd == -1 || socketpair(AF_UNIX, SOCK_DGRAM, 0, s) == -1)
			continue;
		pass(s[0], fd);
		close(fd);
		usleep(i % 2 == 0 ? 0 : 30000);
		fd = passed(s[1]);
		close(s[0]);
		close(s[1]);
		listen_to("flight", fd);
	}
	dprintf(STDOUT_FILENO, "done\n");
}

/* port address command ...: said and gone, before anybody has looked */
static void
hit_and_run(char **args)
{
	char line[1024] = "";
	size_t len = 0;
	int i, fd;

	for (i = 2; args[i] != NULL; i++)
		len += (size_t)snprintf(line + len, sizeof(line) - len,
		    "%s%s", i > 2 ? " " : "", args[i]);
	line[len++] = '\n';
	for (i = 0; i < 20; i++) {
		fd = dial(args[1], args[0]);
		(void)send(fd, line, len, MSG_NOSIGNAL);
		if (i % 3 == 1)
			close(fd);
		if (i % 3 == 2)
			(void)shutdown(fd, SHUT_WR);
	}
	dprintf(STDOUT_FILENO, "hit\n");
	_exit(0);
}

/* -- other sessions ------------------------------------------------------- */

#define SHM_KEY		0x64c1

static int
abstract(bool listens)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)snprintf(sun.sun_path + 1, sizeof(sun.sun_path) - 1,
	    "dl-hostile");
	if (!listens)
		return connect(fd, (void *)&sun, sizeof(sun));
	if (bind(fd, (void *)&sun, sizeof(sun)) == -1)
		return -1;
	return listen(fd, 1);
}

static void
ipc_offer(char **args)
{
	(void)args;
	say("shm", "made", shmget(SHM_KEY, 4096, IPC_CREAT | 0666));
	say("abstract", "made", abstract(true));
	sleep_on();
}

static void
ipc_find(char **args)
{
	(void)args;
	say("shm", "found", shmget(SHM_KEY, 0, 0));
	say("abstract", "found", abstract(false));
	dprintf(STDOUT_FILENO, "done\n");
}

/* -- namespaces ----------------------------------------------------------- */

#define HELD_MAX	512
#define NAME_SIZE	64

static const char *const spaces[] = { "user", "mnt", "pid",
    "pid_for_children", "net", "ipc", "uts", "cgroup", "time",
    "time_for_children" };
#define SPACES		(sizeof(spaces) / sizeof(spaces[0]))

/* Each may lead to a namespace; asked of another one, pidfds have more. */
static const struct {
	const char	*name;
	unsigned long	 request;
} ways[] = {
	{ "userns", _IO(0xb7, 1) }, { "parent", _IO(0xb7, 2) },
	{ "next", _IOR(0xb7, 11, char[16]) },
	{ "prev", _IOR(0xb7, 12, char[16]) },
	{ "pidfd.cgroup", _IO(0xff, 1) }, { "pidfd.ipc", _IO(0xff, 2) },
	{ "pidfd.mnt", _IO(0xff, 3) }, { "pidfd.net", _IO(0xff, 4) },
	{ "pidfd.pid", _IO(0xff, 5) }, { "pidfd.time", _IO(0xff, 7) },
	{ "pidfd.user", _IO(0xff, 9) }, { "pidfd.uts", _IO(0xff, 10) },
};

static struct {
	int	fd;
	char	name[NAME_SIZE];
} held[HELD_MAX];
static size_t nheld;
static char own[SPACES][NAME_SIZE];

static void
hold(int fd, const char *from, const char *what)
{
	if (fd == -1 || nheld == HELD_MAX)
		return;
	held[nheld].fd = fd;
	(void)snprintf(held[nheld++].name, NAME_SIZE, "%.30s.%.30s", from,
	    what);
}

/* As "mnt:[4026531840]"; "" for what is no link. */
static void
link_of(const char *path, char *buf)
{
	ssize_t n = readlink(path, buf, NAME_SIZE - 1);

	buf[n > 0 ? n : 0] = '\0';
}

static void
own_spaces(char to[SPACES][NAME_SIZE])
{
	char path[PATH_SIZE];
	size_t i;

	for (i = 0; i < SPACES; i++) {
		(void)snprintf(path, sizeof(path), "/proc/self/ns/%s",
		    spaces[i]);
		link_of(path, to[i]);
	}
}

static void
hold_spaces(const char *pid)
{
	char path[PATH_SIZE];
	size_t i;

	for (i = 0; i < SPACES; i++) {
		(void)snprintf(path, sizeof(path), "/proc/%s/ns/%s", pid,
		    spaces[i]);
		hold(open(path, O_RDONLY), pid, spaces[i]);
	}
	hold((int)syscall(SYS_pidfd_open, strcmp(pid, "self") == 0 ? getpid() :
	    (pid_t)strtol(pid, NULL, 10), 0), pid, "pidfd");
}

static void
hold_inherited(void)
{
	char name[16];
	int fd;

	for (fd = 0; fd < HELD_MAX; fd++) {
		(void)snprintf(name, sizeof(name), "%d", fd);
		if (fcntl(fd, F_GETFD) != -1)
			hold(fd, "inherited", name);
	}
}

/* Holds the descriptors that a client sends, until it sends no more. */
static void
hold_lent(const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int listen_fd = socket(AF_UNIX, SOCK_STREAM, 0), sock_fd, fd;
	char name[16];
	size_t n = 0;

	(void)snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	umask(0);
	if (bind(listen_fd, (void *)&sun, sizeof(sun)) == -1 ||
	    listen(listen_fd, 1) == -1)
		say("listen", path, -1);
	dprintf(STDOUT_FILENO, "ready\n");
	sock_fd = accept(listen_fd, NULL, NULL);
	close(listen_fd);
	while ((fd = passed(sock_fd)) != -1) {
		(void)snprintf(name, sizeof(name), "%zu", n++);
		hold(fd, "lent", name);
	}
	dprintf(STDOUT_FILENO, "lent=%zu\n", n);
}

static bool
is_own(int fd)
{
	char path[PATH_SIZE], link[NAME_SIZE];
	size_t i;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	link_of(path, link);
	for (i = 0; i < SPACES; i++)
		if (strcmp(link, own[i]) == 0)
			return true;
	return false;
}

/* Where it leads is held as well, and tried in its turn. */
static void
follow(size_t i)
{
	char info[64] = { 16 };
	size_t k;
	int fd;

	for (k = 0; k < sizeof(ways) / sizeof(ways[0]); k++) {
		fd = ioctl(held[i].fd, ways[k].request, info);
		if (fd < 3)
			continue;
		if (is_own(fd)) {
			close(fd);
			continue;
		}
		say("led", held[i].name, 0);
		hold(fd, held[i].name, ways[k].name);
	}
}

/* Tries each kind of namespace, and all at once for a pidfd. */
static void
enter_held(size_t i)
{
	static const int kinds[] = { 0, CLONE_NEWUSER, CLONE_NEWNS,
	    CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS,
	    CLONE_NEWCGROUP, 0x80, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID |
	    CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP };
	size_t k;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		if (setns(held[i].fd, kinds[k]) == 0)
			say("entered", held[i].name, 0);
	say("taken", held[i].name, syscall(SYS_pidfd_getfd, held[i].fd, 0, 0));
}

static void
try_held(void)
{
	char now[SPACES][NAME_SIZE];
	size_t i;

	own_spaces(own);
	for (i = 0; i < nheld; i++) {
		follow(i);
		enter_held(i);
	}
	own_spaces(now);
	for (i = 0; i < SPACES; i++)
		if (strcmp(own[i], now[i]) != 0)
			say("moved", spaces[i], 0);
}

/* socket-to-listen-at pid ...; once more with what may be all rights */
static void
leave_spaces(char **args)
{
	hold_inherited();
	hold_spaces("self");
	hold_lent(*args++);
	for (; *args != NULL; args++)
		hold_spaces(*args);
	try_held();
	say("unshare", "user", unshare(CLONE_NEWUSER));
	try_held();
	dprintf(STDOUT_FILENO, "held=%zu\ndone\n", nheld);
}

static const struct {
	const char	*name;
	void		(*fn)(char **);
} attacks[] = {
	{ "walk", walk }, { "others", others }, { "killall", kill_all },
	{ "stub", against_stub }, { "orphans", orphans }, { "hide", hide },
	{ "leaderless", leaderless }, { "deaf", deaf },
	{ "memory", eat_memory }, { "fds", eat_fds }, { "devices", devices },
	{ "cgroup", leave_cgroup }, { "suid", set_user_id }, { "core", core },
	{ "doors", doors }, { "flight", in_flight }, { "hit", hit_and_run },
	{ "offer", ipc_offer }, { "find", ipc_find },
	{ "fill", fill }, { "keep", keep }, { "spaces", leave_spaces },
};

int
main(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++)
		if (argc > 1 && strcmp(argv[1], attacks[i].name) == 0)
			attacks[i].fn(argv + 2);
	return 0;
}
