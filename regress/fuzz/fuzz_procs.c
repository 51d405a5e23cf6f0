/* SPDX-License-Identifier: ISC */
/* links: launcher/base/ended.c launcher/observer/find.c launcher/observer/usage.c setup/cgfile.c */
/* covers: client/dapdial/main.c idproc/holders.c launcher/observer/find.c launcher/observer/usage.c setup/cgfile.c */
/*
 * Fuzz target of what is read in /proc and of cgroups.  The kernel writes it,
 * but what a process is called, whose children it has and where it is are its
 * own to choose.  The first byte says whether the files are the input's as they
 * are, or those of a few processes whose names are: then who descends from
 * whom, who has a socket and what is used in all must come out as it is.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "regress/fuzz/fuzz.h"

#include "launcher/base/ended.h"
#include "launcher/observer/find.h"
#include "launcher/observer/usage.h"
#include "setup/cgfile.h"
#include "wire/proto.h"
#include "wire/settings.h"

struct settings	 settings;	/* no cgroups of users */

#define DAEMON	10	/* of the processes that there may be */

static char	 top[256];	/* in place of /proc */
static char	*text;		/* of the next file that is no process's */
static size_t	 text_len;

static const char *fuzz_path(const char *);
static FILE	*fuzz_file(void);
static bool	 fuzz_fails(void);

#define getppid()		DAEMON
#define opendir(path)		(fuzz_fails() ? NULL : opendir(fuzz_path(path)))
#define fdopendir(fd)		(fuzz_fails() ? NULL : fdopendir(fd))
#define open(path, flags) \
	(fuzz_fails() ? -1 : open(fuzz_path(path), flags))
#define openat(fd, path, flags)	(fuzz_fails() ? -1 : openat(fd, path, flags))
#define reallocarray(p, n, size) \
	(fuzz_fails() ? NULL : reallocarray(p, n, size))
#define readlinkat(fd, path, buf, n)	readlinkat(fd, fuzz_path(path), buf, n)
#define parent_of		holders_parent_of
#define has_socket		holders_has_socket
#include "idproc/holders.c"
#undef has_socket
#undef fdopendir
#undef open
#undef openat
#undef reallocarray
#undef readlinkat
#undef getppid
int	dapdial_main(int, char **);
#define has_socket		dapdial_has_socket
#define main			dapdial_main
#define fopen(path, mode)	fuzz_file()
#include "client/dapdial/main.c"
#undef fopen
#undef main
#undef has_socket
#undef opendir

/* Calls that a look at processes needs until one fails; 0 = none fails. */
static unsigned int	fails_in;

static bool
fuzz_fails(void)
{
	errno = EMFILE;
	return fails_in > 0 && --fails_in == 0;
}

static const char *
fuzz_path(const char *path)
{
	static char there[512];

	if (strncmp(path, "/proc", 5) != 0)
		return path;
	(void)snprintf(there, sizeof(there), "%s%s", top, path + 5);
	return there;
}

static FILE *
fuzz_file(void)
{
	/* a file of no bytes is none for fmemopen */
	FILE *f = text == NULL ? NULL : text_len == 0 ? fopen("/dev/null",
	    "re") : fmemopen(text, text_len, "r");

	must(f != NULL || text == NULL);
	return f;
}

/* -- files ----------------------------------------------------------------- */

static const int pids[] = { DAEMON, 11, 12, 300, 4242 };
#define PIDS	(sizeof(pids) / sizeof(pids[0]))

static const char *const files[] = { "stat", "status", "statm",
	"task/1/children", "task/2/children" };
static const char *const links[] = { "fd/3", "fd/4", "ns/pid" };
static const char *const others[] = { "leaf/cgroup.procs", "leaf/cpu.stat",
	"leaf/memory.current", "self/fdinfo/7", "self/fdinfo/8" };
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static int	proc_fd = -1, leaf_fd = -1;
static bool	has_leaf;
/* what is in a file is in memory, and its name is a link to that */
static int	file_fds[PIDS + 1][COUNT(files)];
static char	link_to[PIDS][COUNT(links)][256];

static size_t
index_of(int pid)
{
	size_t i;

	for (i = 0; i < PIDS && pids[i] != pid; i++)
		continue;
	return i;
}

/* Writes a file of a process; of == PIDS: one of the others. */
static void
put(size_t of, size_t which, const void *p, size_t len)
{
	const int fd = file_fds[of][which];

	must(ftruncate(fd, 0) == 0 && pwrite(fd, p, len, 0) == (ssize_t)len);
}

static void
put_link(size_t of, size_t which, const char *to)
{
	char path[64];

	if (strcmp(link_to[of][which], to) == 0)
		return;
	must(strlen(to) < sizeof(link_to[of][which]));
	(void)strcpy(link_to[of][which], to);
	(void)snprintf(path, sizeof(path), "%d/%s", pids[of], links[which]);
	(void)unlinkat(proc_fd, path, 0);
	must(*to == '\0' || symlinkat(to, proc_fd, path) == 0);
}

static void
clear(void)
{
	size_t i, j;

	for (i = 0; i <= PIDS; i++)
		for (j = 0; j < COUNT(files); j++)
			must(ftruncate(file_fds[i][j], 0) == 0);
	for (i = 0; i < PIDS; i++)
		for (j = 0; j < COUNT(links); j++)
			put_link(i, j, "");
}

/* -- what is beside -------------------------------------------------------- */

static bool		missed;
static int		alive_fd = -1, ended_fd = -1;
static unsigned int	ended;		/* bits of pids */

void
origin_missed(void)
{
	missed |= origin_lacks();
}

/* Readable where the process has ended. */
int
pidfd_open(pid_t pid, unsigned int flags)
{
	const size_t i = index_of(pid);

	must(flags == 0);
	if (i == PIDS) {
		errno = ESRCH;
		return -1;
	}
	return fcntl(ended >> i & 1 ? ended_fd : alive_fd, F_DUPFD_CLOEXEC, 0);
}

int
leaf_open(const struct cgroup_leaf *leaf)
{
	must(leaf->uid == 7);
	return has_leaf ? fcntl(leaf_fd, F_DUPFD_CLOEXEC, 0) : -1;
}

int
leaf_open_user(uint32_t uid)
{
	(void)uid;
	errno = ENOENT;
	return -1;
}

static pid_t
find(int pid, bool any, int stub_fd)
{
	static const struct cgroup_leaf leaf = { .uid = 7 };
	pid_t inner = 0;
	int fd = find_process(proc_fd, pid, any ? NULL : &leaf, stub_fd,
	    &inner);

	must(fd == -1 || (inner > 0 && !has_ended(fd)));
	if (fd == -1)
		return 0;
	close(fd);
	return inner;
}

/* Where it says that it is, which is a file of the input's. */
static int
stub(unsigned int n, bool has_ended)
{
	const int fd = (int)(7 + n % 2U);

	must(fcntl(fd, F_GETFD) == -1);
	must(dup2(has_ended ? ended_fd : alive_fd, fd) == fd);
	return fd;
}

/* -- files as they are ----------------------------------------------------- */

static void
put_any(struct input *in)
{
	const uint8_t what = take_u8(in) % 16U;
	const size_t of = take_u8(in) % PIDS;
	struct input part = take_part(in, take_u8(in));
	char *to;

	if (what < COUNT(files))
		put(of, what, part.p, part.left);
	else if (what < COUNT(files) + COUNT(links)) {
		to = copy_of(part.p, part.left, true);
		put_link(of, what - COUNT(files), to);
		free(to);
	} else
		put(PIDS, what % COUNT(others), part.p, part.left);
}

/* Unchanged files give the same usage once more. */
static void
check_usage(int root)
{
	struct usage u, again;

	usage_of_tree(root, proc_fd, &u);
	usage_of_tree(root, proc_fd, &again);
	must(u.cpu_ns == again.cpu_ns && u.memory == again.memory);
	usage_of_leaf(leaf_fd, proc_fd, &u);
	usage_of_leaf(leaf_fd, proc_fd, &again);
	must(u.cpu_ns == again.cpu_ns && u.memory == again.memory);
}

static void
try_files(struct input in)
{
	const uint8_t how = take_u8(&in);
	enum holder h;
	int stub_fd;
	pid_t pid;
	size_t i;

	clear();
	has_leaf = (how & 0x80) != 0;
	ended = take_u8(&in);
	for (i = 0; i < 40 && in.left > 0; i++)
		put_any(&in);
	(void)holders_init();
	h = holders_find(geteuid(), 4242);
	must(h == HOLDER_OUTSIDE || h == HOLDER_SESSION || h == HOLDER_NONE);
	/* who was found last is found again, and by nobody else's uid */
	must(holders_find(geteuid(), 4242) == h);
	must(holders_find(geteuid() + 1, 4242) == HOLDER_NONE);
	check_usage(pids[how % PIDS]);
	stub_fd = stub(how, (how & 0x40) != 0);
	pid = find_pid(proc_fd, stub_fd);
	must(pid >= 0 && ((how & 0x40) == 0 || pid == 0));
	for (i = 0; i < PIDS; i++) {
		(void)holders_is_session(pids[i]);
		must(find(pids[i], false, stub_fd) == 0 ||
		    find(pids[i], true, stub_fd) != 0);
	}
	must(find(77, true, stub_fd) == 0);
	close(stub_fd);
}

/* -- processes that are called anything ------------------------------------ */

struct process {
	size_t		parent;		/* of pids; PIDS = init */
	unsigned int	ticks, pages, inner;
	bool		ns, socket;	/* another namespace; it has it */
	char		comm[16], shown[40];
};

/* As the kernel shows a name: a line's end and what escapes it are escaped. */
static void
take_comm(struct input *in, struct process *p)
{
	struct input part = take_part(in, take_u8(in) % sizeof(p->comm));
	size_t n = 0;

	for (; part.left > 0; n += strlen(p->shown + n)) {
		uint8_t c = take_u8(&part);

		if (c == '\n' || c == '\\')
			(void)snprintf(p->shown + n, sizeof(p->shown) - n,
			    "\\%c", c == '\n' ? 'n' : '\\');
		else if (c != '\0')
			(void)snprintf(p->shown + n, sizeof(p->shown) - n, "%c",
			    c);
	}
}

static void
put_process(const struct process *all, size_t i)
{
	const struct process *p = &all[i];
	const int pid = pids[i], ppid = p->parent == PIDS ? 1 :
	    pids[p->parent];
	char line[512], kids[2][64] = { "", "" }, to[32];
	size_t j, n, at[2] = { 0, 0 };

	n = (size_t)snprintf(line, sizeof(line), "%d (%s) S %d 2 3 4 5 6 7 8 "
	    "9 10 %u %u %u %u 20 0 1 0 100 4096 7\n", pid, p->shown, ppid,
	    p->ticks, p->ticks, p->ticks, p->ticks);
	put(i, 0, line, n);
	n = (size_t)snprintf(line, sizeof(line), "Name:\t%s\nUmask:\t0022\n"
	    "Pid:\t%d\nPPid:\t%d\nNSpid:\t%d\t%u\n", p->shown, pid, ppid, pid,
	    p->inner);
	put(i, 1, line, n);
	n = (size_t)snprintf(line, sizeof(line), "9999 %u 1 1 0 1 0\n",
	    p->pages);
	put(i, 2, line, n);
	for (j = 0; j < PIDS; j++)
		if (all[j].parent == i)
			at[j % 2] += (size_t)snprintf(kids[j % 2] + at[j % 2],
			    sizeof(kids[0]) - at[j % 2], "%d ", pids[j]);
	put(i, 3, kids[0], at[0]);
	put(i, 4, kids[1], at[1]);
	(void)snprintf(to, sizeof(to), "socket:[%d]", p->socket ? 4242 : 42424);
	put_link(i, 0, "/dev/null");
	put_link(i, 1, to);
	put_link(i, 2, p->ns ? "pid:[2]" : "pid:[1]");
}

static bool
descends(const struct process *all, size_t i, size_t from)
{
	while (i != PIDS && i != from)
		i = all[i].parent;
	return i == from;
}

/* The youngest that has it. */
static enum holder
holder_of(const struct process *all)
{
	size_t i;

	for (i = PIDS; i-- > 0;)
		if (all[i].socket)
			return all[i].ns || descends(all, i, 0) ?
			    HOLDER_SESSION : HOLDER_OUTSIDE;
	return HOLDER_NONE;
}

static void
check_processes(const struct process *all, size_t root)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE),
	    tick = 1000000000U / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t cpu = 0, memory = 0;
	char line[64];
	struct usage u;
	int stub_fd;
	size_t i, n;

	n = (size_t)snprintf(line, sizeof(line), "pos:\t0\nPid:\t%d\n",
	    pids[root]);
	put(PIDS, 3, line, n);
	stub_fd = stub(0, false);
	must(find_pid(proc_fd, stub_fd) == pids[root]);
	for (i = 0; i < PIDS; i++) {
		must(holders_is_session(pids[i]) == descends(all, i, 0));
		/* the stub itself is none of those below it */
		must(find(pids[i], false, stub_fd) == (i != root &&
		    descends(all, i, root) ? (int)all[i].inner : 0));
		must(find(pids[i], true, stub_fd) == (int)all[i].inner);
		if (descends(all, i, root)) {
			cpu += 4 * tick * all[i].ticks;
			memory += page * all[i].pages;
		}
	}
	close(stub_fd);
	usage_of_tree(pids[root], proc_fd, &u);
	must(u.cpu_ns == cpu && u.memory == memory);
	must(holders_find(geteuid(), 4242) == holder_of(all));
}

/* Where something is lacking, that is known, or the answer is the same. */
static void
check_lacks(const struct process *all, uint8_t nth)
{
	const size_t i = nth % PIDS;
	enum holder h;
	bool yes;

	missed = false;
	last_holder = nth & 1 ? last_holder : 0;
	fails_in = 1U + nth / 2 % 32;
	h = holders_find(geteuid(), 4242);
	must(missed || h == holder_of(all));
	missed = false;
	fails_in = 1U + nth / 64;
	yes = holders_is_session(pids[i]);
	must(missed || yes == descends(all, i, 0));
	fails_in = 0;
}

static void
try_processes(struct input in)
{
	struct process all[PIDS];
	const size_t root = take_u8(&in) % PIDS;
	size_t i;

	memset(all, 0, sizeof(all));
	has_leaf = false;
	ended = 0;
	for (i = 0; i < PIDS; i++) {
		/* init is the daemon's parent; others' parents come earlier */
		all[i].parent = i == 0 ? PIDS : take_u8(&in) % (i + 1);
		if (all[i].parent == i)
			all[i].parent = PIDS;
		all[i].ticks = take_u8(&in);
		all[i].pages = take_u16(&in);
		all[i].inner = 1 + take_u8(&in);
		all[i].ns = i > 0 && all[i].inner % 4 == 3;
		all[i].socket = all[i].inner % 8 >= 6;
		take_comm(&in, &all[i]);
	}
	for (i = 0; i < PIDS; i++)
		put_process(all, i);
	must(holders_init() == 0);
	check_processes(all, root);
	check_lacks(all, take_u8(&in));
}

/* -- lists ----------------------------------------------------------------- */

/* The nth word of a line, as it is; "" = there are fewer. */
static struct input
word_of(struct input line, unsigned int n)
{
	const uint8_t *end;
	struct input word;

	for (;; n--) {
		end = line.left == 0 ? NULL : memchr(line.p, ' ', line.left);
		word = take_part(&line, end == NULL ? line.left :
		    (size_t)(end - line.p));
		if (n == 0 || line.left == 0)
			return n == 0 ? word : line;
		(void)take_u8(&line);
	}
}

static bool
is(struct input word, const char *what)
{
	return word.left == strlen(what) && memcmp(word.p, what,
	    word.left) == 0;
}

/* Returns the path in the first good line, by its words; "" = none is good. */
static struct input
expected(struct input in, bool mounts, size_t size)
{
	struct input line, word = { in.p, 0 }, rest;
	const uint8_t *p;

	while (in.left > 0) {
		p = memchr(in.p, '\n', in.left);
		line = take_part(&in, p == NULL ? in.left : (size_t)(p -
		    in.p));
		if (p != NULL)
			(void)take_u8(&in);
		if (mounts) {
			p = memmem(line.p, line.left, " - ", 3);
			if (p == NULL)
				continue;
			rest = line;
			(void)take_part(&rest, (size_t)(p - line.p) + 3);
			line.left = (size_t)(p - line.p);
			if (!is(word_of(rest, 0), "cgroup2"))
				continue;
			word = word_of(line, 4);
		} else {
			if (line.left < 3 || memcmp(line.p, "0::", 3) != 0)
				continue;
			word = line;
			(void)take_part(&word, 3);
		}
		if (word.left > 0 && *word.p == '/' && word.left < size)
			return word;
	}
	return (struct input){ in.p, 0 };
}

static void
check_line(bool mounts, size_t size)
{
	struct input in = { (const uint8_t *)text, text_len }, word;
	char *out = malloc(size);
	int found;

	must(out != NULL);
	word = expected(in, mounts, size);
	found = mounts ? cgfile_mount(fuzz_file(), out, size) :
	    cgfile_own(fuzz_file(), out, size);
	if (memchr(text, '\0', text_len) == NULL) {
		must((found == 0) == (word.left > 0));
		must(found == -1 || is(word, out));
	} else
		must(found == -1 || strlen(out) < size);
	free(out);
}

/* Bits of the words, as two halves have them. */
static void
check_words(void)
{
	char *whole = text, *blank = memchr(text, ' ', text_len);
	const size_t len = text_len;
	uint64_t all = cgfile_controllers(fuzz_file()), parts;

	must((all & ~(uint64_t)(CONTROLLER_MEMORY | CONTROLLER_PIDS)) == 0);
	must((all & CONTROLLER_PIDS) == 0 || memmem(text, len, "pids", 4));
	if (blank == NULL || memchr(text, '\0', text_len) != NULL)
		return;
	text_len = (size_t)(blank - text);
	parts = cgfile_controllers(fuzz_file());
	text = blank + 1;
	text_len = len - (size_t)(text - whole);
	parts |= cgfile_controllers(fuzz_file());
	text = whole;
	text_len = len;
	must(parts == all);
}

/* Finds the socket between two ports of the loopback address. */
static unsigned long
inode_between(unsigned int port, unsigned int peer)
{
	struct sockaddr_in here = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) }, there = here;

	there.sin_port = htons((uint16_t)peer);
	return inode_of(&here, &there);
}

/* Sockets of this host: what is found stands in a line with both ports. */
static void
check_sockets(unsigned int port, unsigned int peer)
{
	const unsigned long inode = inode_between(port, peer);
	char want[32];

	if (inode == 0)
		return;
	(void)snprintf(want, sizeof(want), "%lu", inode);
	must(memmem(text, text_len, want, strlen(want)) != NULL ||
	    inode == ULONG_MAX);
	put_link(1, 0, "pipe:[1]");
	put_link(1, 1, "pipe:[2]");
	must(!dapdial_has_socket(pids[1], inode));
	(void)snprintf(want, sizeof(want), "socket:[%lu]", inode);
	put_link(1, 1, want);
	must(dapdial_has_socket(pids[1], inode));
	must(!dapdial_has_socket(pids[1], inode ^ 1));
	must(!dapdial_has_socket(77, inode));
}

static void
try_lists(struct input in)
{
	const uint8_t how = take_u8(&in);
	const unsigned int port = take_u16(&in), peer = take_u16(&in);

	text = copy_of(in.p, in.left, false);
	text_len = in.left;
	if (how % 4 == 0)
		check_line(true, 1U + (how & 0x80 ? 8 : 255));
	else if (how % 4 == 1)
		check_line(false, 1U + (how & 0x80 ? 8 : 255));
	else if (how % 4 == 2)
		check_words();
	else
		check_sockets(port, peer);
	free(text);
	text = NULL;
	must(cgfile_mount(NULL, NULL, 0) == -1 && cgfile_own(NULL, NULL,
	    0) == -1 && cgfile_controllers(NULL) == 0);
	must(inode_between(1, 2) == 0);
}

/* -- the input ------------------------------------------------------------- */

static void
leave(void)
{
	char command[300];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", top);
	(void)!system(command);
}

static void
make(const char *name)
{
	must(mkdirat(proc_fd, name, 0700) == 0);
}

/* Out of the way of those that say where a stub is. */
static int
keep(int fd)
{
	const int kept = fcntl(fd, F_DUPFD_CLOEXEC, 20);

	must(kept != -1);
	close(fd);
	return kept;
}

static void
make_files(void)
{
	char path[300], to[64];
	size_t i, j;

	for (i = 0; i <= PIDS; i++)
		for (j = 0; j < COUNT(files); j++) {
			file_fds[i][j] = keep(memfd_create("file",
			    MFD_CLOEXEC));
			(void)snprintf(to, sizeof(to), "/proc/self/fd/%d",
			    file_fds[i][j]);
			if (i < PIDS)
				(void)snprintf(path, sizeof(path), "%d/%s",
				    pids[i], files[j]);
			must(symlinkat(to, proc_fd, i < PIDS ? path :
			    others[j]) == 0);
		}
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const char *const below[] = { "", "/task", "/task/1",
		"/task/2", "/fd", "/ns" };
	char path[300];
	size_t i, j;
	int fds[2];

	(void)argc;
	(void)argv;
	fuzz_room(top, sizeof(top));
	atexit(leave);
	proc_fd = keep(open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	for (i = 0; i < PIDS; i++)
		for (j = 0; j < COUNT(below); j++) {
			(void)snprintf(path, sizeof(path), "%d%s", pids[i],
			    below[j]);
			make(path);
		}
	make("self");
	make("self/fdinfo");
	make("self/ns");
	make("leaf");
	must(symlinkat("pid:[1]", proc_fd, "self/ns/pid") == 0);
	make_files();
	leaf_fd = keep(openat(proc_fd, "leaf", O_RDONLY | O_DIRECTORY |
	    O_CLOEXEC));
	/* what is at the end of one that stays open has not ended */
	must(pipe2(fds, O_CLOEXEC) == 0);
	alive_fd = keep(fds[0]);
	(void)keep(fds[1]);
	must(pipe2(fds, O_CLOEXEC) == 0);
	ended_fd = keep(fds[0]);
	close(fds[1]);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static void (*const targets[])(struct input) = {
		try_files, try_processes, try_lists,
	};

	last_holder = 0;
	fuzz_one_of(targets, sizeof(targets) / sizeof(targets[0]), data, len);
	return 0;
}
