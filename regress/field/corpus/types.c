/* SPDX-License-Identifier: ISC */
/* Types whose values debuggers write in their own ways. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <uchar.h>
#include <wchar.h>

/* lldb reads no file with a constant of 16 bytes */
static volatile __int128 one = 1;

#define BARRIER() __asm__ volatile("" : : : "memory")

enum colour { RED = 1, GREEN, BLUE = 200, NEGATIVE = -7 };
enum flags { READ = 1, WRITE = 2, RUN = 4 };

struct bits {
	unsigned int	 a : 3;
	int		 b : 5;
	bool		 yes : 1;
	enum colour	 colour : 10;
	unsigned long long wide : 40;
};

union either {
	int		 i;
	float		 f;
	unsigned char	 bytes[4];
};

struct inner {
	struct {
		int	 x, y;
	};
	union {
		int	 whole;
		short	 half[2];
	} u;
};

struct flexible {
	int		 n;
	int		 rest[];
};

struct node {
	struct node	*next;
	int		(*call)(int);
	const char	*name;
	void		*any;
};

__attribute__((noinline)) static int
characters(char c, signed char s, unsigned char u, wchar_t w, char16_t c16,
    char32_t c32, _Bool yes)
{
	BARRIER();
	return c + s + u + (int)w + c16 + (int)c32 + yes;
}

__attribute__((noinline)) static int
numbers(float f, double d, long double ld, __int128 big,
    unsigned __int128 ubig, size_t size, ptrdiff_t diff, int8_t i8,
    uint8_t u8, unsigned short us)
{
	BARRIER();
	return (f > 0) + (d > 0) + (ld > 0) + (big > 0) + (ubig > 0) +
	    (size > 1) + (int)diff + i8 + u8 + us;
}

__attribute__((noinline)) static int
aggregates(struct bits bits, union either either, struct inner inner,
    const struct flexible *flexible, enum colour colour, enum flags flags,
    enum flags odd)
{
	BARRIER();
	return (int)bits.a + either.i + inner.x + flexible->rest[1] +
	    (int)colour + (int)flags + (int)odd;
}

__attribute__((noinline)) static int
twice(int n)
{
	BARRIER();
	return n * 2;
}

__attribute__((noinline)) static int
pointers(const struct node *node, int (*call)(int), const char **names,
    int (*rows)[3], void *any, const wchar_t *wide, char *none)
{
	struct node local = *node;
	const char *some[2] = { names[1], NULL };
	int (*calls[2])(int) = { call, NULL };
	wchar_t text[4] = L"xyz";
	char16_t text16[3] = u"é";
	unsigned char raw[3] = { 0, 200, 10 };
	volatile int counted = 3;
	float halves[2] = { 0.5f, -0.25f };
	struct inner list[2] = { { .x = 1, .y = 2, .u.whole = 3 } };

	__asm__ volatile("" : : "r"(&local), "r"(some), "r"(calls), "r"(text),
	    "r"(text16), "r"(raw), "r"(halves), "r"(list) : "memory");
	return twice(local.name[0] + rows[1][2] + (int)wide[0] + counted +
	    (any == none) + list[1].x);
}

int
main(void)
{
	struct bits bits = { 5, -3, true, NEGATIVE, 1ULL << 39 };
	union either either = { .f = 1.5f };
	struct inner inner = { .x = 1, .y = -2, .u.whole = 0x10002 };
	struct flexible *flexible = malloc(sizeof(*flexible) +
	    2 * sizeof(int));
	struct node second = { NULL, NULL, "second", NULL };
	struct node first = { &second, twice, "first", &first };
	const char *names[3] = { "a", "bc", NULL };
	int rows[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
	int sum = 0, i;

	flexible->n = 2;
	flexible->rest[0] = 8;
	flexible->rest[1] = 9;
	for (i = 0; i < 2; i++) {
		sum += characters('a', -1, 200, L'\u20ac', u'\u00e9',
		    U'\U0001f600', i);
		sum += numbers(0.1f, 1e300, 3.25L + i, -(one << 100),
		    ~(unsigned __int128)(one - 1), (size_t)-1, -3, -128, 255, 65535);
		sum += aggregates(bits, either, inner, flexible, BLUE,
		    READ | RUN, 64);
		sum += pointers(&first, twice, names, rows, &inner, L"wide",
		    NULL);
	}
	printf("%d\n", sum);
	free(flexible);
	return 0;
}
