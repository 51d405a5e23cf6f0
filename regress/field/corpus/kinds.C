// SPDX-License-Identifier: ISC
// A variable of each kind that C++ adds, as argument and local.
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace shapes {
enum class Side : std::uint8_t { left = 1, right = 200 };
struct Base {
	int id;
	virtual ~Base() = default;
	virtual int area(int scale) const { return id * scale; }
};
struct Square : Base {
	double side;
	Square(int i, double s) : side(s) { id = i; }
	__attribute__((noinline)) int area(int scale) const override
	{
		int whole = static_cast<int>(side * side);
		__asm__ volatile("" : : "r"(&whole) : "memory");
		return whole * scale + id;
	}
};
}

template <typename T> struct Pair {
	T first, second;
	__attribute__((noinline)) T sum(T more) const
	{
		T all = first + second + more;
		__asm__ volatile("" : : "r"(&all) : "memory");
		return all;
	}
};

__attribute__((noinline)) static int
by_reference(int &r, const double &d, shapes::Base &b, int &&moved)
{
	r += static_cast<int>(d);
	__asm__ volatile("" : : : "memory");
	return r + moved + b.id;
}

__attribute__((noinline)) static int
scoped(shapes::Side side, bool yes, char16_t wide, wchar_t wider, long long n)
{
	__asm__ volatile("" : : : "memory");
	return static_cast<int>(side) + yes + wide + static_cast<int>(wider) +
	    static_cast<int>(n);
}

__attribute__((noinline)) static int
thrower(int n)
{
	if (n % 2 != 0)
		throw std::runtime_error("odd");
	return n;
}

__attribute__((noinline)) static int
catcher(int n)
{
	int got = -1;
	try {
		got = thrower(n);
	} catch (const std::exception &e) {
		got = e.what()[0];
	}
	return got;
}

int
main()
{
	shapes::Square square(4, 2.5);
	Pair<int> ints{1, 2};
	Pair<float> floats{0.5f, 0.25f};
	std::array<int, 3> arr{3, 2, 1};
	int v = 1, sum = 0;
	double d = 7.75;

	for (int i = 0; i < 3; i++) {
		sum += by_reference(v, d, square, i * 2);
		sum += square.area(i);
		sum += ints.sum(i) + static_cast<int>(floats.sum(1.5f));
		sum += scoped(i ? shapes::Side::right : shapes::Side::left, i > 1,
		    u'x', L'y', -5LL * i);
		sum += catcher(i) + arr[static_cast<unsigned>(i)];
	}
	std::printf("%d\n", sum);
	return 0;
}
