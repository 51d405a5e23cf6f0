/* SPDX-License-Identifier: ISC */
/* Calls one function without end, another now and then. */
__attribute__((noinline, noclone)) int
hot(int n)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop");
	return (n + 1);
}

__attribute__((noinline, noclone)) int
cool(int n)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop");
	return (n + 1);
}

int
main(void)
{
	int i, j;

	for (j = 0;; j++) {
		for (i = 0; i < 1000000; i++)
			(void)hot(i);
		(void)cool(j);
	}
}
