/* SPDX-License-Identifier: ISC */
/* A variable of each kind that C has, as argument, result and local. */
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum colour { RED, GREEN = 5, BLUE = -3 };
struct point { int x, y; };
struct bits { unsigned a : 3; int b : 5; unsigned long long c : 40; bool d : 1; };
struct all {
	char c;
	signed char sc;
	unsigned char uc;
	short s;
	unsigned short us;
	long l;
	unsigned long ul;
	float f;
	double d;
	enum colour e;
	struct point p[2];
	struct bits b;
	union { int i; float f; } u;
	char text[12];
	void *v;
};

__attribute__((noinline)) static int
small(char c, signed char sc, unsigned char uc, short s, unsigned short us,
    bool yes, enum colour e, int i)
{
	__asm__ volatile("" : : : "memory");
	return c + sc + uc + s + us + yes + (int)e + i;
}

__attribute__((noinline)) static double
wide(long l, unsigned long ul, float f, double d, int64_t i64, uint8_t u8,
    long double ld)
{
	__asm__ volatile("" : : : "memory");
	return (double)l + (double)ul + f + d + (double)i64 + u8 + (double)ld;
}

__attribute__((noinline)) static struct point
by_value(struct point p, struct bits b, struct all a)
{
	struct point q = { p.x + (int)b.a + b.b, p.y + a.s };

	__asm__ volatile("" : : "r"(&q) : "memory");
	return q;
}

__attribute__((noinline)) static size_t
by_pointer(const struct all *a, const char *text, int (*fn)(const char *),
    struct point **pp, int n, int table[n])
{
	int copy[4] = { table[0], table[1], n, fn(text) };

	__asm__ volatile("" : : "r"(copy) : "memory");
	return (size_t)copy[3] + strlen(a->text) + (size_t)(*pp)->x;
}

__attribute__((noinline)) static int
many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j)
{
	__asm__ volatile("" : : : "memory");
	return a - b + c - d + e - f + g - h + i - j;
}

int
main(void)
{
	struct all a = { .c = 'x', .sc = -1, .uc = 200, .s = -300, .us = 60000,
		.l = -1L << 40, .ul = ~0UL, .f = 0.1f, .d = -2.5e300, .e = BLUE,
		.p = { { 1, 2 }, { 3, -4 } }, .b = { 5, -7, 1ULL << 39, true },
		.u.i = 1078530011, .text = "hello\n\"q\"", .v = NULL };
	struct point p = { 11, -12 }, *pp = &p;
	int table[3] = { 7, -8, 9 }, sum = 0, i;

	for (i = 0; i < 3; i++) {
		sum += small((char)('a' + i), (signed char)-i, 255,
		    (short)(i * 1000), 65535, i % 2 == 0, i ? GREEN : BLUE, i);
		sum += (int)wide(-i, ~0UL - (unsigned)i, (float)i / 3, 1.0 / 3,
		    INT64_MIN, (uint8_t)i, 1.5L) != 0;
		p = by_value(p, a.b, a);
		sum += (int)by_pointer(&a, "a text", puts, &pp, 3, table);
		sum += many(i, 2, 3, 4, 5, 6, 7, -8, 9, 1 << 30);
	}
	printf("%d\n", sum);
	return 0;
}
