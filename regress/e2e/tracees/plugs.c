/* SPDX-License-Identifier: ISC */
/* Loads a library and closes it: plugs LIBRARY TIMES.  A line before each. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char *argv[])
{
	int i, n = argc > 2 ? atoi(argv[2]) : 1;
	int (*run)(int);
	void *lib;

	for (i = 0; i < n; i++) {
		lib = dlopen(argv[1], RTLD_NOW);
		if (lib == NULL) {
			puts(dlerror());
			return (1);
		}
		run = (int (*)(int))dlsym(lib, "plug_run");
		printf("%d\n", run(20));
		(void)dlclose(lib);
	}
	return (0);
}
