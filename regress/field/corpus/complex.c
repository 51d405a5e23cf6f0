/* SPDX-License-Identifier: ISC */
/* Complex numbers, which lldb cannot put together from constant parts. */
#include <complex.h>
#include <stdio.h>

__attribute__((noinline)) static int
complexes(float complex z, double complex w, long double complex l)
{
	__asm__ volatile("" : : : "memory");
	return (int)crealf(z) + (int)cimag(w) + (int)creall(l);
}

int
main(void)
{
	printf("%d\n", complexes(1.5f + 2.0f * I, -0.5 - 1.0 * I, 3.0L));
	return 0;
}
