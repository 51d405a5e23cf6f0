/*
 * Functions that gcc splits, with prologues of several lengths; an exception
 * leaves each of them once, and runs its .cold part.
 */
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

static long total;

__attribute__((noinline)) static void
use(const std::string &s, int n)
{
	total += (long)s.size() * n;
	if (n == 3)
		throw std::runtime_error(s);
}

__attribute__((noinline)) int
few(int n)
{
	std::string s(n, 'f');

	use(s, n);
	return n;
}

__attribute__((noinline)) int
many(const std::string &a, int b, const std::vector<int> &c, long d, char e,
    int n, int g, int h)
{
	std::string s(a), t(b, e);
	std::vector<int> v(c);

	v.push_back(h);
	use(s + t, n);
	use(t, n);
	return (int)(v.size() * (size_t)d) + g;
}

int
main(int argc, char **)
{
	for (int n = 1; n <= 4; n++) {
		try {
			total += few(n);
		} catch (const std::exception &e) {
			total += 1000;
		}
		try {
			total += many("many", n, { n, 2 }, 3, 'x', n, 5, 6);
		} catch (const std::exception &e) {
			total += 2000;
		}
	}
	printf("%d %ld\n", argc, total);
}
