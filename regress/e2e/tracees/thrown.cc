// SPDX-License-Identifier: ISC
// A library that plugs.c loads: it throws what it catches itself.
#define APART __attribute__((noinline, noclone))

extern "C" APART int
thrower(int n)
{
	asm volatile("nop; nop; nop; nop; nop; nop");
	if (n > 0)
		throw n;
	return (n);
}

static void
throws()
{
	(void)thrower(7);
}

extern "C" int
plug_run(int n)
{
	try {
		return (thrower(n) + 1);
	} catch (int e) {
		return (-e);
	}
}

/* through a function of the program that knows of no exceptions */
extern "C" int
plug_lent(void (*call)(void (*)()))
{
	try {
		call(throws);
	} catch (int e) {
		return (-e);
	}
	return (0);
}
