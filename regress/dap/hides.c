/* Variables that others of their names hide. */
#include <stdio.h>

struct pair {
	int a, b;
};

static int
inner(int x, struct pair q)
{
	int y = x;

	{
		int x = 2;
		struct pair q = {3, 4};

		y += x + q.a;
		{
			int x = 5;

			printf("%d %d %d\n", x, q.a, y); /* here */
		}
	}
	return y;
}

int
main(void)
{
	struct pair q = {8, 9};

	return inner(7, q) == 0;
}
