/* SPDX-License-Identifier: ISC */
// Functions that catch in a loop.  Compilers put handlers aside, where they
// are jumped to with the frame of their function.
#include <cstdio>
#include <stdexcept>
#include <string>

__attribute__((noinline)) static int
thrower(int n)
{
	if (n % 3 == 0)
		throw std::runtime_error("three");
	return n;
}

__attribute__((noinline)) int
catcher(int n)
{
	try {
		return thrower(n);
	} catch (const std::exception &e) {
		printf("%s %d\n", e.what(), n);
		return -1;
	}
}

struct guard {
	long &count;
	~guard()
	{
		count++;
	}
};

__attribute__((noinline)) int
cleaner(int n, long &count)
{
	guard g{count};
	std::string s(static_cast<size_t>(n % 40), 'x');

	return thrower(n + static_cast<int>(s.size())) + catcher(n);
}

int
main()
{
	long sum = 0, count = 0;

	for (int i = 0; i < 60; i++) {
		sum += static_cast<long>(catcher(i)) * (i + 1);
		try {
			sum += cleaner(i, count);
		} catch (const std::runtime_error &) {
			sum -= 1000;
		}
	}
	printf("%ld %ld\n", sum, count);
	return 0;
}
