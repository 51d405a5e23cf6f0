/* SPDX-License-Identifier: ISC */
/*
 * Baseline for START: vfork and execveat of a memfd, or vfork and execv of a
 * command.  usage: spawn COUNT PROGRAM | spawn COUNT -- COMMAND [ARG ...]
 */
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample.h"

/* A memfd with the file's bytes, that nobody can write to: else ETXTBSY. */
static int
image(const char *path)
{
	char link[64];
	struct stat st;
	int fd, memfd, image_fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1 || fstat(fd, &st) == -1)
		err(1, "%s", path);
	memfd = memfd_create("image", MFD_CLOEXEC);
	if (memfd == -1 || fchmod(memfd, 0555) == -1 ||
	    sendfile(memfd, fd, NULL, (size_t)st.st_size) != st.st_size)
		err(1, "memfd");
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", memfd);
	if ((image_fd = open(link, O_RDONLY | O_CLOEXEC)) == -1)
		err(1, "%s", link);
	close(memfd);
	close(fd);
	return image_fd;
}

/* vfork returns in the parent when exec has happened. */
static __attribute__((noinline)) pid_t
spawn(int image_fd, char **argv)
{
	static char *const env[] = { NULL };
	pid_t pid = vfork();

	if (pid != 0)
		return pid;
	if (image_fd != -1)
		syscall(SYS_execveat, image_fd, "", argv, env, AT_EMPTY_PATH);
	else
		execv(argv[0], argv);
	_exit(127);
}

int
main(int argc, char **argv)
{
	struct sample exec = { .n = 0 }, gone = { .n = 0 };
	int i, count, status, image_fd = -1;
	uint64_t t, done;
	pid_t pid;

	if (argc < 3 || (strcmp(argv[2], "--") == 0 && argc < 4))
		errx(2, "usage: spawn COUNT PROGRAM | -- COMMAND [ARG ...]");
	count = atoi(argv[1]);
	argv += 2;
	if (strcmp(argv[0], "--") == 0)
		argv++;
	else
		image_fd = image(argv[0]);
	for (i = 0; i <= count; i++) {
		t = clock_ns();
		pid = spawn(image_fd, argv);
		done = clock_ns();
		if (pid == -1 || waitpid(pid, &status, 0) == -1)
			err(1, "vfork");
		if (status != 0)
			errx(1, "%s ended with status %#x", argv[0],
			    (unsigned int)status);
		/* the first warms the caches and does not count */
		if (i == 0)
			continue;
		sample_add(&exec, done - t);
		sample_add(&gone, clock_ns() - t);
	}
	printf("{");
	sample_print(&exec, "exec");
	printf(",");
	sample_print(&gone, "exit");
	printf("}\n");
	return 0;
}
