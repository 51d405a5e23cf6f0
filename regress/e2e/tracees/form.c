/* SPDX-License-Identifier: ISC */
/* A form is submitted again and again, and refused for what is good. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct form {
	const char	*user;
	int		 age;
};

__attribute__((noinline)) int
form_validate(const struct form *f)
{
	return strlen(f->user) < 3 && f->age > 17;
}

__attribute__((noinline)) const char *
submit(struct form *f, double weight)
{
	f->age += weight > 2;
	return form_validate(f) ? "taken" : NULL;
}

int
main(int argc, char **argv)
{
	struct timespec step = { .tv_nsec = 20 * 1000 * 1000 };
	int i, rounds = argc > 1 ? atoi(argv[1]) : 3000;

	fprintf(stderr, "%s %s\n", argc > 2 ? argv[2] : "-",
	    getenv("FORM") == NULL ? "-" : getenv("FORM"));
	for (i = 0; i < rounds; i++) {
		struct form f = { "ada", 30 };

		printf("%d %s\n", i, submit(&f, 1.5) == NULL ? "refused" :
		    "taken");
		fflush(stdout);
		nanosleep(&step, NULL);
	}
	return 3;
}
