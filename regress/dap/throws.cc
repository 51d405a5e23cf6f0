// SPDX-License-Identifier: ISC
// Exceptions of several types, the last of which nobody catches.
#include <cstdio>
#include <stdexcept>

namespace my {
struct oops : std::runtime_error {
	using runtime_error::runtime_error;
};
}

static void
thrower(int n)
{
	if (n == 1)
		throw std::out_of_range("one");
	if (n == 2)
		throw my::oops("two");
	if (n == 3)
		throw 42;
}

int
main(int argc, char **)
{
	for (int i = 0; i < 4; i++)
		try {
			thrower(i);
		} catch (const std::exception &e) {
			std::puts(e.what());
		} catch (int n) {
			std::printf("%d\n", n);
		}
	std::fflush(stdout);
	if (argc > 1)
		throw my::oops("last");
	return 0;
}
