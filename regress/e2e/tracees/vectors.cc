// SPDX-License-Identifier: ISC
// Arguments and results in every kind of register that compilers use, for
// whatever processor it is compiled for (-march=native).
#include <complex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stdexcept>

#define APART __attribute__((noinline, noclone))
#ifdef __clang__
#undef APART
#define APART __attribute__((noinline))
#endif

typedef double two __attribute__((vector_size(16)));
typedef double four __attribute__((vector_size(32)));
typedef double eight __attribute__((vector_size(64)));
typedef int sixteen __attribute__((vector_size(64)));

struct mixed {
	double	d;
	long	l;
};

APART two
add2(two a, two b)
{
	return a + b;
}

APART four
add4(four a, four b, int n)
{
	return a * b + (double)n;
}

APART eight
add8(eight a, eight b, eight c, eight d, eight e, eight f, eight g, eight h,
    eight on_stack)
{
	return a + b + c + d + e + f + g + h + on_stack;
}

APART sixteen
masks(sixteen a, sixteen b)
{
	return (a > b) & b;
}

APART long double
extended(long double a, long double b)
{
	return a * b;
}

APART _Complex long double
both(long double a)
{
	_Complex long double c;

	__real__ c = a;
	__imag__ c = a / 3;
	return c;
}

APART mixed
pair(mixed m)
{
	return mixed{ m.d * 2, m.l * 3 };
}

APART double
sum(int n, ...)
{
	double s = 0;
	va_list ap;

	va_start(ap, n);
	while (n-- > 0)
		s += va_arg(ap, double);
	va_end(ap);
	return s;
}

APART eight
throws(eight a, int n)
{
	if (n % 3 == 0)
		throw std::runtime_error("third");
	return a + (double)n;
}

APART eight
caught(eight a, int n)
{
	try {
		return throws(a, n) * 2.0;
	} catch (const std::exception &) {
		return a;
	}
}

// Neighbours of the calls above live in registers over them.
APART double
work(int n)
{
	eight v = { 1, 2, 3, 4, 5, 6, 7, 8 }, w = v * (double)n;
	four q = { 1.5, 2.5, 3.5, (double)n };
	two p = { 1.25, (double)n };
	sixteen s = { n, 1, n, 2, n, 3, n, 4, n, 5, n, 6, n, 7, n, 8 };
	mixed m = pair(mixed{ n * 0.5, n });
	_Complex long double c = both((long double)n / 7);
	double r = 0;
	int i;

	w = add8(v, w, v, w, v, w, v, w, v) + caught(w, n);
	q = add4(q, q, n);
	p = add2(p, p);
	s = masks(s, s - n + 3);
	for (i = 0; i < 8; i++)
		r += w[i] + q[i % 4] + p[i % 2] + s[2 * i + 1];
	return r + m.d + (double)m.l + sum(5, 1.0, 2.0, r, 3.0, 4.0) +
	    (double)extended(__real__ c, 1.5L) + (double)__imag__ c;
}

int
main()
{
	double r = 0;
	int i;

	for (i = 1; i <= 500; i++)
		r += work(i);
	printf("%.17g\n", r);
	return 0;
}
