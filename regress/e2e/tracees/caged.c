/* SPDX-License-Identifier: ISC */
/*
 * A system call filter of its own, that kills for a memfd, and threads that
 * are born behind it: caged.c THREADS CALLS, a millisecond between them.  With
 * a third argument it has no filter.
 */
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS_MOST	64

static int calls;

__attribute__((noinline, noclone)) int
each(int n)
{
	__asm__ volatile("" : : : "memory");
	return (n + 1);
}

static void *
run(void *arg)
{
	int i;

	for (i = 0; i < calls; i++) {
		(void)each(i);
		(void)usleep(1000);
	}
	return (arg);
}

int
main(int argc, char *argv[])
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };
	pthread_t threads[THREADS_MOST];
	int i, n = argc > 1 ? atoi(argv[1]) : 1;

	calls = argc > 2 ? atoi(argv[2]) : 100;
	if (n > THREADS_MOST || (argc <= 3 &&
	    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0)))
		return (1);
	for (i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			return (1);
	for (i = 0; i < n; i++)
		(void)pthread_join(threads[i], NULL);
	printf("done\n");
	return (0);
}
