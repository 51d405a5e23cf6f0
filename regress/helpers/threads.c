/* SPDX-License-Identifier: ISC */
/* flags: -static -pthread */
/* The main thread ends first; another one writes and exits with 5. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *
second(void *arg)
{
	(void)arg;
	usleep(100000);
	if (write(STDOUT_FILENO, "second\n", 7) != 7)
		_exit(1);
	exit(5);
}

int
main(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, second, NULL) != 0)
		return 1;
	pthread_exit(NULL);
}
