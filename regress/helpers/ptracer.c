/* SPDX-License-Identifier: ISC */
/* flags: -static */
/*
 * usage: ptracer pid ...
 * Tries to trace, read, signal and open each process that it is told, and
 * everything that its own /proc shows beside itself.
 */
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
say(const char *name, int pid, long r)
{
	printf("%s.%d=%s\n", name, pid, r == -1 ? strerrorname_np(errno) :
	    "0");
}

static void
try(int pid)
{
	char path[64];

	say("seize", pid, ptrace(PTRACE_SEIZE, pid, NULL, NULL));
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	say("mem", pid, open(path, O_RDWR));
	(void)snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	say("environ", pid, open(path, O_RDONLY));
	say("kill", pid, kill(pid, SIGUSR1));
	say("pidfd", pid, syscall(SYS_pidfd_open, pid, 0));
}

int
main(int argc, char **argv)
{
	struct dirent *e;
	DIR *dir;
	int i;

	for (i = 1; i < argc; i++)
		try(atoi(argv[i]));
	dir = opendir("/proc");
	while (dir != NULL && (e = readdir(dir)) != NULL)
		if (isdigit((unsigned char)e->d_name[0]))
			printf("proc=%s\n", e->d_name);
	return 0;
}
