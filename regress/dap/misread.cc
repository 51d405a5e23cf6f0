/*
 * A function that gcc splits, with variables in the stack, and functions
 * between its parts.
 */
#include <cstdio>
#include <stdexcept>

volatile int seed = 7;

__attribute__((noinline)) static void
fill(int *v, int n)
{
	for (int i = 0; i < n; i++)
		v[i] = seed + i;
}

__attribute__((noinline)) static int
sum(const int *v, int n)
{
	int own[2] = { seed * 6, n };

	asm volatile("" : : "r"(own) : "memory");
	return own[0] + v[n - 1];	/* between */
}

__attribute__((noinline)) int
work(int n)
{
	int kept, many[4];

	fill(many, 4);
	fill(&kept, 1);
	try {
		if (many[0] == 100)
			throw std::runtime_error("never");
		std::printf("%d %d\n", kept, many[3]); /* split */
	} catch (const std::exception &e) {
		std::printf("caught %s\n", e.what());
		kept = -1;
	}
	return sum(many, 4) + kept + n;
}

int
main(int argc, char **)
{
	int got = 0;

	for (int i = 0; i < 2; i++)
		got += work(argc + i);
	std::printf("got %d\n", got);
}
