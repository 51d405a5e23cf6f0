/* Functions of which gcc sets a part aside, and one that lies between. */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

__attribute__((noinline)) int
leaf(int n)
{
	asm volatile("");
	return n + 1;
}

__attribute__((noinline)) int
whole(int n)
{
	int r = leaf(n);

	asm volatile("" : "+r"(r));
	return r * 2;
}

__attribute__((noinline)) int
split(int n)
{
	if (n > 2)
		throw std::runtime_error("too many");
	return leaf(n) * 2;
}

int
main(int argc, char **argv)
{
	int sum = whole(argc);

	for (int i = 0; i < 2; i++)
		sum += split(i);
	printf("%s %d\n", argv[0], sum);
}
