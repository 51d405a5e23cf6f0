/* SPDX-License-Identifier: ISC */
/* Something to step through for as long as one likes. */

static volatile int total;

static int
twice(int i)
{
	return i * 2;
}

int
main(void)
{
	int x = 42;

	for (;;) {
		x = twice(total);
		total++;
		total += x & 1;
	}
}
