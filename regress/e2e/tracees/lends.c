/* SPDX-License-Identifier: ISC */
/* Lends a function to a library: lends LIBRARY. */
#include <dlfcn.h>
#include <stdio.h>

static volatile int after;

/* its first bytes hold the call */
__attribute__((noinline, noclone)) void
lent(void (*call)(void))
{
	call();
	after++;
}

int
main(int argc, char *argv[])
{
	void *lib = dlopen(argv[argc - 1], RTLD_NOW);
	int (*run)(void (*)(void (*)(void)));

	if (lib == NULL) {
		puts(dlerror());
		return (1);
	}
	run = (int (*)(void (*)(void (*)(void))))dlsym(lib, "plug_lent");
	printf("%d\n", run(lent));
	return (0);
}
