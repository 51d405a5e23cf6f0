// SPDX-License-Identifier: ISC
// Throws, catches, and throws again.
#include <cstdio>
#include <stdexcept>
#include <vector>

static int
risky(int n)
{
	if (n > 2)
		throw std::runtime_error("too much");
	return n;
}

int
main()
{
	std::vector<int> numbers { 1, 2, 3 };
	int sum = 0;

	for (int n : numbers) {
		try {
			sum += risky(n);
		} catch (const std::exception &e) {
			std::printf("caught %s\n", e.what());
		}
	}
	return sum;
}
