/* SPDX-License-Identifier: ISC */
/*
 * A program with numbers in vector registers and, where the processor has
 * them, in tiles of AMX: debuggers save all of that for a call.
 */
#include <sys/syscall.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REQ_XCOMP_PERM	0x1023
#define TILE_DATA	18

typedef float four __attribute__((vector_size(16)));

static unsigned char config[64] __attribute__((aligned(64)));
static unsigned char data[1024], kept[1024];
static int tiles;

__attribute__((noinline)) double
mul(double a, double b)
{
	return a * b;
}

__attribute__((noinline)) float
mulf(float a, float b)
{
	return a * b;
}

__attribute__((noinline)) long double
mull(long double a, long double b)
{
	return a * b;
}

__attribute__((noinline)) float
dot(four a, four b)
{
	four c = a * b;

	return c[0] + c[1] + c[2] + c[3];
}

static void
tiles_load(void)
{
	size_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7);
#ifdef __x86_64__
	tiles = syscall(SYS_arch_prctl, REQ_XCOMP_PERM, TILE_DATA) == 0;
	config[0] = 1;
	config[16] = 64;
	config[48] = 16;
	if (tiles)
		__asm__ volatile("ldtilecfg (%0)\n\t"
		    "tileloadd (%1,%2), %%tmm0" : : "r"(config), "r"(data),
		    "r"(64L) : "memory");
#endif
}

static int
tiles_kept(void)
{
#ifdef __x86_64__
	if (tiles)
		__asm__ volatile("tilestored %%tmm0, (%0,%1)" : : "r"(kept),
		    "r"(64L) : "memory");
#endif
	return !tiles || memcmp(data, kept, sizeof(data)) == 0;
}

int
main(void)
{
	double x = 1.5;
	float f = 2.5f;
	long double l = 1.25L;
	four v = { 1, 2, 3, 4 };
	int ok;

	tiles_load();
	ok = v[3] > 3; /* the stop */
	ok += tiles_kept();
	printf("%g %g %g %g kept %d\n", mul(x, 2), (double)mulf(f, 2),
	    (double)mull(l, 2), (double)dot(v, v), ok);
	return 0;
}
