/* SPDX-License-Identifier: ISC */
/* flags: -static */
/*
 * How the world looks from inside of a session: a line "key=value" each for
 * fds, credentials, namespaces, limits, directory, signals and environment.
 * With paths as arguments, also what stat and readdir say of each.
 */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/utsname.h>

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static void
fds(void)
{
	char path[64], text[256];
	struct stat st;
	ssize_t n;
	int fd;

	for (fd = 0; fd < 4096; fd++) {
		if (fstat(fd, &st) == -1)
			continue;
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, text, sizeof(text) - 1);
		text[n < 0 ? 0 : n] = '\0';
		printf("fd%d=%s\n", fd, text);
	}
}

static void
status(void)
{
	char line[4096], *colon;
	FILE *f = fopen("/proc/self/status", "r");

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		colon = strchr(line, ':');
		if (colon == NULL)
			continue;
		*colon++ = '\0';
		while (*colon == '\t' || *colon == ' ')
			colon++;
		printf("status.%s=%s\n", line, colon);
	}
	if (f != NULL)
		fclose(f);
}

static void
namespaces(void)
{
	static const char *const names[] = {
		"user", "pid", "mnt", "ipc", "uts", "net", "cgroup"
	};
	char path[64], text[128];
	size_t i;
	ssize_t n;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(path, sizeof(path), "/proc/self/ns/%s",
		    names[i]);
		n = readlink(path, text, sizeof(text) - 1);
		text[n < 0 ? 0 : n] = '\0';
		printf("ns.%s=%s\n", names[i], text);
	}
}

static void
limits(void)
{
	static const struct {
		const char	*name;
		int		 which;
	} all[] = {
		{ "cpu", RLIMIT_CPU }, { "as", RLIMIT_AS },
		{ "nofile", RLIMIT_NOFILE }, { "nproc", RLIMIT_NPROC },
		{ "core", RLIMIT_CORE },
	};
	struct rlimit rl;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (getrlimit(all[i].which, &rl) == 0)
			printf("limit.%s=%lld,%lld\n", all[i].name,
			    (long long)rl.rlim_cur, (long long)rl.rlim_max);
}

static void
signals(void)
{
	struct sigaction sa;
	int i;

	for (i = 1; i < 32; i++)
		if (sigaction(i, NULL, &sa) == 0 && sa.sa_handler != SIG_DFL)
			printf("signal%d=not default\n", i);
}

static void
look(const char *path)
{
	struct statfs fs;
	struct stat st;
	struct dirent *e;
	DIR *dir;
	int n = 0;

	if (stat(path, &st) == -1) {
		printf("path.%s=%s\n", path, strerror(errno));
		return;
	}
	printf("path.%s=%o\n", path, st.st_mode);
	if (statfs(path, &fs) == 0)
		printf("fstype.%s=%lx\n", path, (unsigned long)fs.f_type);
	dir = opendir(path);
	if (dir == NULL)
		return;
	while ((e = readdir(dir)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0)
			continue;
		printf("entry.%s=%s\n", path, e->d_name);
		n++;
	}
	printf("entries.%s=%d\n", path, n);
	closedir(dir);
}

int
main(int argc, char **argv)
{
	char cwd[4096];
	struct utsname u;
	mode_t mask = umask(0);
	int i;

	fds();
	status();
	namespaces();
	limits();
	signals();
	printf("cwd=%s\n", getcwd(cwd, sizeof(cwd)) == NULL ? "?" : cwd);
	printf("umask=%o\n", mask);
	printf("nice=%d\n", getpriority(PRIO_PROCESS, 0));
	printf("pid=%d\nppid=%d\n", getpid(), getppid());
	printf("uid=%u\ngid=%u\n", getuid(), getgid());
	printf("scheduler=%d\n", sched_getscheduler(0));
	if (uname(&u) == 0)
		printf("hostname=%s\n", u.nodename);
	printf("argv0=%s\n", argv[0]);
	for (i = 0; environ[i] != NULL; i++)
		printf("env.%s\n", environ[i]);
	for (i = 1; i < argc; i++)
		look(argv[i]);
	return 0;
}
