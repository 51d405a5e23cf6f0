/* SPDX-License-Identifier: ISC */
/* Functions to stop at: each is called six times, with the same number. */
#include <stdio.h>

static int sum;

void
a1(int i)
{
	sum += i; /* in a1 */
}

void
b2(int i)
{
	sum += 2 * i; /* in b2 */
}

void
c3(int i)
{
	sum += 3 * i; /* in c3 */
}

void
d4(int i)
{
	sum += 4 * i; /* in d4 */
}

void
e5(int i)
{
	sum += 5 * i; /* in e5 */
}

int
main(void)
{
	int i;

	for (i = 0; i < 6; i++) {
		a1(i);
		b2(i);
		c3(i);
		d4(i);
		e5(i);
	}
	printf("%d\n", sum);
	return 0;
}
