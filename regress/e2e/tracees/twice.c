/* SPDX-License-Identifier: ISC */
/* Has a library mapped whole right below where it is loaded: twice LIBRARY. */
#define _GNU_SOURCE	/* dladdr() */
#include <sys/mman.h>
#include <sys/stat.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define PAGE	4096UL

static int
below(const char *path, const void *base)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	size_t len;
	void *at;

	if (fd == -1 || fstat(fd, &st) == -1)
		return (-1);
	len = ((size_t)st.st_size + PAGE - 1) & ~(PAGE - 1);
	at = (void *)((uintptr_t)base - len);
	return (mmap(at, len, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd,
	    0) == at ? 0 : -1);
}

int
main(int argc, char *argv[])
{
	void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*run)(int);
	Dl_info info;

	if (lib == NULL)
		return (1);
	run = (int (*)(int))dlsym(lib, "plug_run");
	if (dladdr((void *)run, &info) == 0 ||
	    below(argv[1], info.dli_fbase) == -1)
		return (2);
	puts("ready");
	fflush(stdout);
	for (;;) {
		(void)run(20);
		usleep(10000);
	}
}
