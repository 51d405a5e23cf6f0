/* Functions that compilers change, as no other file calls them. */
#include <stdio.h>

struct point { int x, y; };
typedef struct point point_t;
enum color { RED, GREEN = 7 };

static int __attribute__((noinline))
shrunk(int unused, int used, const char *s)
{
	(void)unused;
	return used + s[0];
}

static int __attribute__((noinline))
by_value(point_t p, enum color c, unsigned long long big, signed char sc)
{
	return p.x + p.y + (int)c + (int)big + sc;
}

int __attribute__((noinline))
add(int a, int b)
{
	return a + b;
}

/* what debug information does not tell of */
int plus(int, int) __attribute__((alias("add")));

static inline __attribute__((always_inline)) int
melted(int a)
{
	return a * 5;
}

/* In a register of the x87, which must be found as it was. */
__attribute__((noinline)) static long double
scaled(long double x, int by)
{
	volatile long double kept = x;

	return kept * by;
}

/* More than registers have; its first argument is always the same. */
__attribute__((noinline)) static long
crowded(int same, long a, long b, long c, long d, long e, long f, long g,
    long double h)
{
	__asm__ volatile("" : : : "memory");
	return same + a + b + c + d + e + f + g + (long)h;
}

int
main(int argc, char **argv)
{
	point_t p = { argc, 41 };

	printf("%d\n", shrunk(argc, argc + 1, argv[0]) +
	    shrunk(argc + 2, 3, "zz") + melted(argc));
	printf("%d %d\n", by_value(p, argc == 1 ? GREEN : RED, 1ULL << 40,
	    (signed char)-argc), add(argc, 2));
	printf("%ld\n", crowded(9, argc, argc + 1, 3, argc + 3, 5, 6, argc + 6,
	    argc + 1.5L) + crowded(9, 2, 3, 4, 5, 6, 7, argc + 7, 3.5L));
	if (scaled(1.25L, 3) + scaled(0.5L, 2) * 2 != 5.75L)
		return 9;
	return 0;
}
