/* SPDX-License-Identifier: ISC */
/* A library that plugs.c loads. */
int	plug_run(int);

__attribute__((noinline, noclone)) static int
plugged(int n)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop");
	return (n * 2);
}

__attribute__((constructor)) static void
early(void)
{
	(void)plugged(-1);
}

int
plug_run(int n)
{
	return (plugged(n) + plugged(n + 1));
}
