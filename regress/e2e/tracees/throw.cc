// SPDX-License-Identifier: ISC
// Exceptions through frames that are watched.
#include <cstdio>
#include <stdexcept>
#include <string>

#define APART __attribute__((noinline, noclone))

static int destroyed;

struct guard {
	APART ~guard() { destroyed++; asm volatile("" : : : "memory"); }
};

extern "C" APART int
deep(int n)
{
	guard g;

	if (n == 0)
		throw std::runtime_error("bottom");
	return (deep(n - 1) + 1);
}

extern "C" APART int
through(int n)
{
	guard g;
	int r = deep(n);

	asm volatile("" : : : "memory");
	return (r + 1);
}

extern "C" APART int
catcher(int n)
{
	int r = 0;

	try {
		r = through(n);
	} catch (const std::runtime_error &e) {
		r = -n;
	}
	asm volatile("" : : : "memory");
	return (r);
}

extern "C" APART int
rethrower(int n)
{
	try {
		return (through(n));
	} catch (...) {
		throw;
	}
}

extern "C" APART size_t
length(const std::string &s)
{
	asm volatile("" : : : "memory");
	return (s.size());
}

int
main()
{
	int sum = 0;

	for (int i = 0; i < 20; i++) {
		sum += catcher(i % 5);
		try {
			sum += rethrower(3);
		} catch (const std::exception &e) {
			sum += static_cast<int>(length(e.what()));
		}
	}
	std::printf("%d %d\n", sum, destroyed);
	return (0);
}
