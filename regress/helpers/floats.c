/* SPDX-License-Identifier: ISC */
/* flags: -O1 -g */
/* Numbers that live in vector registers where gdb stops. */
#include <stdio.h>

volatile int	rounds;

double __attribute__((noinline))
square(double x)
{
	return x * x;
}

/* Leaves nothing in them as it was. */
void __attribute__((noinline))
clobber(void)
{
#ifdef __x86_64__
	__asm__ volatile("pcmpeqd %%xmm0, %%xmm0\n\t"
	    "pcmpeqd %%xmm1, %%xmm1\n\tpcmpeqd %%xmm2, %%xmm2\n\t"
	    "pcmpeqd %%xmm3, %%xmm3\n\tpcmpeqd %%xmm4, %%xmm4\n\t"
	    "pcmpeqd %%xmm5, %%xmm5\n\tpcmpeqd %%xmm6, %%xmm6"
	    ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6");
#endif
}

static double __attribute__((noinline))
mix(double a, double b)
{
	int i;

	for (i = 0; i < 8; i++) {
		a = a * 0.75 + b;
		b = b * 1.25 - a;
		rounds++;	/* stop */
		a -= b;
	}
	return a + b;
}

int
main(void)
{
	printf("%.17g %.17g\n", mix(1.5, 2.25), square(1.5));
	clobber();
	return 0;
}
