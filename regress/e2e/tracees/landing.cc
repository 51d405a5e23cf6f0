// SPDX-License-Identifier: ISC
// Exceptions that leave several watched calls at once, with calls between
// them that nobody watches, destructors, and exceptions within a destructor.
#include <cstdio>
#include <stdexcept>

#define APART __attribute__((noinline))
#define KEEP(x) __asm__ volatile("" : "+r"(x) : : "memory")

extern "C" APART int
seen_leaf(int n)
{
	KEEP(n);
	return (n + 1);
}

static APART int
hidden_leaf(int n)
{
	volatile int room[40];

	room[7] = n;
	n = seen_leaf(room[7]);
	KEEP(n);
	return (n);
}

struct guard {
	int n;

	explicit guard(int i) : n(i) {}
	APART ~guard() { n = hidden_leaf(n); KEEP(n); }
};

static APART int hidden_deep(int);

extern "C" APART int
seen_deep(int n)
{
	int v;

	if (n == 0)
		throw std::runtime_error("bottom");
	v = n % 3 == 0 ? hidden_deep(n - 1) : seen_deep(n - 1);
	KEEP(v);
	return (v + n);
}

static APART int
hidden_deep(int n)
{
	volatile int room[8];
	int v;

	room[5] = n;
	v = seen_deep(n);
	KEEP(v);
	return (v + room[5]);
}

extern "C" APART int
seen_drop(int n)
{
	guard g(n);
	int v = hidden_deep(n);

	KEEP(v);
	return (v + g.n);
}

extern "C" APART int
seen_catch(int n)
{
	try {
		return (seen_deep(n));
	} catch (const std::exception &) {
		return (2 * n);
	}
}

extern "C" APART int
seen_catch_far(int n)
{
	try {
		return (hidden_deep(n));
	} catch (...) {
		return (3 * n);
	}
}

extern "C" APART int
seen_catch_drop(int n)
{
	try {
		guard g(n);
		int v = hidden_deep(n);

		KEEP(v);
		return (v + g.n);
	} catch (...) {
		return (4 * n);
	}
}

extern "C" APART int
seen_again(int n)
{
	try {
		return (seen_drop(n));
	} catch (...) {
		seen_leaf(n);
		throw;
	}
}

struct catcher {
	int n;

	explicit catcher(int i) : n(i) {}
	APART ~catcher()
	{
		try {
			n = seen_again(n);
		} catch (...) {
			n = 0;
		}
		KEEP(n);
	}
};

extern "C" APART int
seen_rest(int n)
{
	try {
		catcher c(n);
		int v = seen_drop(n);

		KEEP(v);
		return (v + c.n);
	} catch (...) {
		return (n);
	}
}

int
main()
{
	int sum = 0;

	for (int i = 0; i < 12; i++) {
		sum += seen_catch(i) + seen_catch_far(i) + seen_catch_drop(i);
		try {
			sum += seen_again(i);
		} catch (...) {
			sum += 5 * i;
		}
		sum += seen_rest(i) + seen_leaf(i);
	}
	std::printf("%d\n", sum);
	return (0);
}
