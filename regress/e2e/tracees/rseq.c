/* SPDX-License-Identifier: ISC */
/*
 * Restartable sequences: the kernel sends a thread that was interrupted in one
 * to its abort handler.  Runs until SIGTERM, then prints how many sequences
 * were aborted, and how many were lost: the kernel had forgotten them while
 * the thread was still inside.
 */
#include <sys/rseq.h>

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define STR2(x)	#x
#define STR(x)	STR2(x)

enum { DONE, ABORTED, LOST };

static volatile sig_atomic_t stop;

static void
end(int signo)
{
	(void)signo;
	stop = 1;
}

__attribute__((noinline, noclone)) int
beat(int n)
{
	__asm__ volatile("" : : : "memory");
	return (n * 3 + 1);
}

/* The kernel wipes rseq_cs when it has sent the thread to label 4. */
__attribute__((noinline, noclone)) static int
sequence(struct rseq *rs, long n)
{
	int how = DONE;

	__asm__ volatile(
	    ".pushsection __rseq_cs, \"aw\"\n\t.balign 32\n"
	    "3:\t.long 0, 0\n\t.quad 1f, 2f - 1f, 4f\n\t.popsection\n\t"
	    "leaq 3b(%%rip), %%rax\n\tmovq %%rax, %c[cs](%[rs])\n"
	    "1:\tcmpq $0, %c[cs](%[rs])\n\tjz 5f\n\tdecq %[n]\n\tjnz 1b\n"
	    "2:\tmovq $0, %c[cs](%[rs])\n\tjmp 6f\n\t"
	    ".byte 0x0f, 0xb9, 0x3d\n\t.long " STR(RSEQ_SIG) "\n"
	    "4:\tmovl %[aborted], %[how]\n\tjmp 6f\n"
	    "5:\tmovl %[lost], %[how]\n"
	    "6:"
	    : [how] "+r"(how), [n] "+r"(n)
	    : [rs] "r"(rs), [cs] "i"(offsetof(struct rseq, rseq_cs)),
	    [aborted] "i"(ABORTED), [lost] "i"(LOST)
	    : "rax", "memory", "cc");
	return (how);
}

int
main(void)
{
	struct rseq *rs = (void *)((char *)__builtin_thread_pointer() +
	    __rseq_offset);
	long count[3] = { 0 };
	int bad = 0;

	if (__rseq_size == 0)
		return (2);
	(void)signal(SIGTERM, end);
	while (!stop) {
		count[sequence(rs, 100000000)]++;
		bad += beat(7) != 22;
	}
	printf("bad %d aborted %s lost %ld\n", bad,
	    count[ABORTED] > 0 ? "some" : "none", count[LOST]);
	return (0);
}
