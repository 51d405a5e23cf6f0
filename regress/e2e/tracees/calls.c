/* SPDX-License-Identifier: ISC */
/* Calls of every shape, with results that show whether they were disturbed. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART	__attribute__((noinline, noclone))

struct big { long a, b, c, d; };
struct pair { long x; double y; };

int	fact(int);

/* so that it is not made a loop */
static int (*volatile again)(int) = fact;

APART int
fact(int n)
{
	return (n <= 1 ? 1 : n * again(n - 1));
}

APART double
floats(double a, float b, long i)
{
	__asm__ volatile("" : : : "memory");
	return (a + (double)b + (double)i);
}

APART struct big
make_big(long a)
{
	struct big b = { a, a + 1, a + 2, a + 3 };

	__asm__ volatile("" : : : "memory");
	return (b);
}

APART struct pair
make_pair(long x)
{
	struct pair p = { x, (double)x / 2 };

	__asm__ volatile("" : : : "memory");
	return (p);
}

APART long
many(long a, long b, long c, long d, long e, long f, long g, long h)
{
	__asm__ volatile("" : : : "memory");
	return (a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h);
}

APART double
variadic(int n, ...)
{
	va_list ap;
	double sum = 0;
	int i;

	va_start(ap, n);
	for (i = 0; i < n; i++)
		sum += i % 2 == 0 ? va_arg(ap, double) : va_arg(ap, int);
	va_end(ap);
	return (sum);
}

APART size_t
text(const char *s)
{
	__asm__ volatile("" : : "r"(s) : "memory");
	return (s == NULL || s == (char *)0x123456789000 ||
	    s == (char *)0x80000000000000 ||
	    s == (char *)0x8000000000000000 ? 0 : strlen(s));
}

APART int
second(int n)
{
	__asm__ volatile("" : : : "memory");
	return (n * 7);
}

/* ends in a jump where the compiler optimizes */
APART int
first(int n)
{
	__asm__ volatile("" : : : "memory");
	return (second(n + 1));
}

/* shorter than a jump, and padded */
APART int
same(int n)
{
	return (n);
}

APART int
by_pointer(int (*f)(int), int n)
{
	return (f(n) + 1);
}

static int
compare(const void *a, const void *b)
{
	return (*(const int *)a - *(const int *)b);
}

/* Every register that a caller may count on, and some that it may not. */
APART long
registers(void)
{
	/* none of them is left for its address, and the calls use the stack */
	static long bad;

	bad = 0;
	__asm__ volatile(
	    "movq $0x11, %%rbx\n\tmovq $0x22, %%r12\n\tmovq $0x33, %%r13\n\t"
	    "movq $0x44, %%r14\n\tmovq $0x55, %%r15\n\tmovq $0x66, %%r10\n\t"
	    "movq $0x77, %%r11\n\tmovl $5, %%edi\n\tcall same\n\t"
	    "subq $5, %%rax\n\tsubq $0x11, %%rbx\n\tsubq $0x22, %%r12\n\t"
	    "subq $0x33, %%r13\n\tsubq $0x44, %%r14\n\tsubq $0x55, %%r15\n\t"
	    "subq $0x66, %%r10\n\tsubq $0x77, %%r11\n\t"
	    "orq %%rbx, %%rax\n\torq %%r12, %%rax\n\torq %%r13, %%rax\n\t"
	    "orq %%r14, %%rax\n\torq %%r15, %%rax\n\torq %%r10, %%rax\n\t"
	    "orq %%r11, %%rax\n\tmovq %%rax, %0\n\t"
	    /* flags */
	    "stc\n\tmovl $5, %%edi\n\tcall same\n\tsbbq %%rax, %%rax\n\t"
	    "incq %%rax\n\torq %%rax, %0"
	    : "+m"(bad) : : "rax", "rbx", "rdi", "rsi", "rdx", "rcx", "r8",
	    "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
	return (bad);
}

int
main(int argc, char *argv[])
{
	int v[] = { 3, 1, 2 }, rounds = argc > 1 ? atoi(argv[1]) : 1, i;
	struct big b;
	struct pair p;

	for (i = 0; i < rounds; i++) {
		b = make_big(10);
		p = make_pair(9);
		qsort(v, 3, sizeof(v[0]), compare);
		printf("%d %.2f %ld %.1f %ld %.1f %zu %zu %d %d %d %d%d%d %ld\n",
		    fact(5), floats(1.5, 2.25f, 3), b.a + b.b + b.c + b.d,
		    (double)p.x + p.y, many(1, 2, 3, 4, 5, 6, 7, 8),
		    variadic(4, 1.5, 2, 2.5, 3), text("sixteen bytes or"),
		    text(NULL) + text((char *)0x123456789000) +
		    text((char *)0x80000000000000) +
		    text((char *)0x8000000000000000), first(2), same(4),
		    by_pointer(same, 6), v[0], v[1], v[2], registers());
	}
	return (0);
}
