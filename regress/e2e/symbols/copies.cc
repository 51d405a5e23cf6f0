// SPDX-License-Identifier: ISC
// A copy of a function for constants, functions in two parts, and integers of
// 128 bits.
#include <cstdio>

__attribute__((noinline)) static int
scaled(int n, int by, long far, double part, const char *none, bool yes)
{
	__asm__ volatile("");
	return yes && none == nullptr ?
	    n * by + static_cast<int>(far >> 38) + static_cast<int>(part) : 0;
}

__attribute__((noinline)) static int
even(int n)
{
	if (n % 2 != 0)
		throw n;
	return n;
}

__attribute__((noinline)) __int128
wide(__int128 least, unsigned __int128 more, __int128 minus)
{
	__asm__ volatile("");
	return least + static_cast<__int128>(more) + minus;
}

int
main(int argc, char **)
{
	int sum = 0;

	for (int i = 0; i < 2; i++)
		sum += scaled(i + argc, 7, -1L << 40, 2.5, nullptr, true);
	try {
		sum += even(argc + 3);
	} catch (int n) {
		sum -= n;
	}
	unsigned __int128 one = static_cast<unsigned>(argc);
	__int128 least = -static_cast<__int128>(one << 126) * 2;
	sum += wide(least, one << 64, -5) < 0;
	std::printf("%d\n", sum);
	return 0;
}
