/*
 * Loads libraries, calls work() of each and unloads it, as often as the first
 * argument says; "keep" as the second leaves them loaded.  Built with WAITS it
 * waits for a line first.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
use(const char *path, int n, int keep)
{
	int (*work)(int);
	void *lib = dlopen(path, RTLD_NOW);	/* the load */
	int r;

	if (lib == NULL) {
		puts(dlerror());
		exit(2);
	}
	work = (int (*)(int))dlsym(lib, "work");
	r = work(n);	/* the call */
	if (!keep)
		dlclose(lib);
	return r;
}

int
main(int argc, char **argv)
{
	int i, n, keep = strcmp(argv[2], "keep") == 0, total = 0;

#ifdef WAITS
	puts("ready");
	fflush(stdout);
	(void)getchar();
#endif
	for (n = 1; n <= atoi(argv[1]); n++)
		for (i = 2 + keep; i < argc; i++)
			total += use(argv[i], n, keep);	/* the use */
	printf("%d\n", total);
	return 0;
}
