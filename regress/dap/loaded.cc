/*
 * A library of functions that gcc splits, with prologues of several lengths;
 * an exception leaves each of them at every third call.
 */
#include <cstdio>
#include <stdexcept>
#include <string>

static int sum;

__attribute__((noinline)) static void
note(const std::string &s, int n)
{
	sum += (int)s.size() * n;
	if (n % 3 == 0)
		throw std::runtime_error(s);
}

extern "C" {

__attribute__((noinline)) void
few(int n)
{
	std::string s((size_t)n, 'x');

	note(s, n);
}

__attribute__((noinline)) void
many(int n, int a)
{
	std::string s((size_t)(n + 1), 'x');

	note(s, n);
	sum += a;
}

int
work(int n)
{
	for (int i = 2 * n; i < 2 * n + 2; i++) {
		try {
			few(i);
		} catch (const std::exception &) {
			sum ^= 5;
		}
		try {
			many(i, i);
		} catch (const std::exception &) {
			sum ^= 7;
		}
	}
	return sum;
}

}
