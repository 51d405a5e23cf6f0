/* SPDX-License-Identifier: ISC */
/*
 * Resources that the processes of a session use, read anew for each request, so
 * that nothing is held or counted while no client asks.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "launcher/base/leaf.h"
#include "usage.h"

/*
 * So many are looked at; a session that has more shows less than it uses,
 * and starts of others wait a millisecond or two for it.
 */
#define PROCS_MAX	256
#define TASKS_MAX	512
#define NS		1000000000ULL
/* utime, stime, cutime and cstime in /proc/PID/stat, counted after the name */
#define STAT_UTIME	11
#define STAT_CSTIME	14

/* A file of the kernel's as text, cut to size; empty when there is none. */
static bool
read_text(int dir_fd, const char *name, char *buf, size_t size)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd == -1 ? -1 : read_again(fd, buf, size - 1);

	if (fd != -1)
		close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static void
add(uint64_t *sum, uint64_t v)
{
	*sum = *sum == USAGE_UNKNOWN ? v : *sum + v;
}

static uint64_t
number_after(const char *text, const char *key)
{
	const char *p = strstr(text, key);

	return p == NULL ? USAGE_UNKNOWN :
	    strtoull(p + strlen(key), NULL, 10);
}

static void
add_memory(int proc_fd, pid_t pid, struct usage *u)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned long long resident;
	char name[32], text[128];

	(void)snprintf(name, sizeof(name), "%d/statm", pid);
	if (read_text(proc_fd, name, text, sizeof(text)) &&
	    sscanf(text, "%*u %llu", &resident) == 1)
		add(&u->memory, resident * page);
}

/* -- of a cgroup ---------------------------------------------------------- */

/*
 * Without the controller: each process's own; what they share counts twice.
 * Where /proc hides processes (hidepid) the sum would lack some.
 */
static void
memory_of_procs(int leaf_fd, int proc_fd, struct usage *u)
{
	char text[PROCS_MAX * 8], *p = text, *end;
	int n;
	long pid;

	if (!read_text(proc_fd, "1/statm", text, sizeof(text)) ||
	    !read_text(leaf_fd, "cgroup.procs", text, sizeof(text)))
		return;
	for (n = 0; n < PROCS_MAX; n++, p = end) {
		pid = strtol(p, &end, 10);
		/* a number that was cut off is another's */
		if (end == p || *end != '\n')
			return;
		if (pid > 0)
			add_memory(proc_fd, (pid_t)pid, u);
	}
}

void
usage_of_leaf(int leaf_fd, int proc_fd, struct usage *u)
{
	char text[512];
	uint64_t usec = USAGE_UNKNOWN;

	*u = (struct usage){ USAGE_UNKNOWN, USAGE_UNKNOWN };
	if (read_text(leaf_fd, "cpu.stat", text, sizeof(text)))
		usec = number_after(text, "usage_usec ");
	if (usec != USAGE_UNKNOWN)
		u->cpu_ns = usec * 1000;
	if (read_text(leaf_fd, "memory.current", text, sizeof(text)))
		u->memory = strtoull(text, NULL, 10);
	else
		memory_of_procs(leaf_fd, proc_fd, u);
}

/* -- of a tree ------------------------------------------------------------ */

struct walk {
	int	 proc_fd;
	pid_t	 pids[PROCS_MAX];
	size_t	 n;		/* found so far */
	size_t	 tasks;		/* threads looked at */
};

/*
 * Also adds the time of children that the process has waited for, so that no
 * time is lost when a child ends.
 */
static void
add_cpu(int proc_fd, pid_t pid, struct usage *u)
{
	const uint64_t tick = NS / (uint64_t)sysconf(_SC_CLK_TCK);
	char name[32], text[512], *p, *next;
	int field;

	(void)snprintf(name, sizeof(name), "%d/stat", pid);
	/* the name of the program may have anything in it, a ')' too */
	if (!read_text(proc_fd, name, text, sizeof(text)) ||
	    (p = strrchr(text, ')')) == NULL)
		return;
	p = strchr(p, ' ');
	for (field = 0; p != NULL && field <= STAT_CSTIME; field++, p = next) {
		next = strchr(p + 1, ' ');
		if (field >= STAT_UTIME)
			add(&u->cpu_ns, strtoull(p + 1, NULL, 10) * tick);
	}
}

static void
add_children(struct walk *w, int task_fd, const char *tid)
{
	char name[64], text[PROCS_MAX * 8], *p = text, *end;
	long pid;

	(void)snprintf(name, sizeof(name), "%.20s/children", tid);
	if (!read_text(task_fd, name, text, sizeof(text)))
		return;
	for (; w->n < PROCS_MAX; p = end) {
		pid = strtol(p, &end, 10);
		if (end == p || *end != ' ')
			return;
		w->pids[w->n++] = (pid_t)pid;
	}
}

/* Any thread may have made children. */
static void
descend(struct walk *w, pid_t pid)
{
	char name[32];
	struct dirent *e;
	DIR *dir;
	int fd;

	(void)snprintf(name, sizeof(name), "%d/task", pid);
	fd = openat(w->proc_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd == -1 ? NULL : fdopendir(fd);
	if (dir == NULL) {
		if (fd != -1)
			close(fd);
		return;
	}
	while (w->tasks < TASKS_MAX && (e = readdir(dir)) != NULL)
		if (e->d_name[0] != '.') {
			w->tasks++;
			add_children(w, fd, e->d_name);
		}
	closedir(dir);
}

void
usage_of_tree(pid_t root, int proc_fd, struct usage *u)
{
	struct walk w = { .proc_fd = proc_fd, .pids = { root }, .n = 1 };
	size_t i;

	*u = (struct usage){ USAGE_UNKNOWN, USAGE_UNKNOWN };
	for (i = 0; i < w.n; i++) {
		add_cpu(proc_fd, w.pids[i], u);
		add_memory(proc_fd, w.pids[i], u);
		descend(&w, w.pids[i]);
	}
}

/* -- of users ------------------------------------------------------------- */

static uint64_t
number_in(int dir_fd, const char *file)
{
	int fd = openat(dir_fd, file, O_RDONLY | O_CLOEXEC);
	char text[24];
	ssize_t n;

	if (fd == -1)
		return USAGE_UNKNOWN;
	n = read_again(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return USAGE_UNKNOWN;
	text[n] = '\0';
	return strtoull(text, NULL, 10);
}

/* 1 when that user has sessions, or had some lately; 0 otherwise. */
static size_t
use_of(uint32_t uid, struct user_use *u)
{
	int dir_fd = leaf_open_user(uid);

	if (dir_fd == -1)
		return 0;
	u->uid = uid;
	u->memory = number_in(dir_fd, "memory.current");
	u->pids = number_in(dir_fd, "pids.current");
	close(dir_fd);
	return 1;
}

/* USER_ALL for what is no user's. */
static uint32_t
uid_of(const struct dirent *e)
{
	unsigned long n;
	char *end;

	if (e->d_type != DT_DIR || e->d_name[0] != 'u')
		return USER_ALL;
	n = strtoul(e->d_name + 1, &end, 10);
	return *end == '\0' && n < USER_ALL ? (uint32_t)n : USER_ALL;
}

size_t
usage_of_users(uint32_t uid, struct user_use *u, size_t max)
{
	struct dirent *e;
	size_t n = 0;
	DIR *dir;

	if (uid != USER_ALL)
		return use_of(uid, u);
	if (settings.cgroup[0] == '\0' ||
	    (dir = opendir(settings.cgroup)) == NULL)
		return 0;
	while (n < max && (e = readdir(dir)) != NULL)
		if (uid_of(e) != USER_ALL)
			n += use_of(uid_of(e), &u[n]);
	closedir(dir);
	return n;
}
