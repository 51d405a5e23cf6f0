// SPDX-License-Identifier: ISC
// Types whose values debuggers write in their own ways.
#include <complex>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {
// lldb reads no file with a constant of 16 bytes
volatile __int128 one = 1;

enum class Colour : unsigned char { red = 1, green, blue = 200 };
enum class Far : long long { near = -1, far = 1LL << 40 };
enum Flags : unsigned { none, first = 1, second = 2, third = 4 };

struct Bits {
	unsigned a : 3;
	int b : 5;
	bool yes : 1;
	Colour colour : 8;
	unsigned long long wide : 40;
};

union Either {
	int i;
	float f;
	char text[4];
};

struct Point {
	int x, y;
	int sum(int more) const { return x + y + more; }
	static int origin;
};
int Point::origin = 3;

struct Named {
	Point at;
	const char *name;
	Point *next;
};

struct Left { int l; virtual ~Left() = default; };
struct Right { short r; };
struct Both : Left, Right { long both; };

// one function per kind: a stop looks at its arguments
__attribute__((noinline)) int
characters(char c, signed char s, unsigned char u, wchar_t w, char16_t c16,
    char32_t c32, bool yes)
{
	__asm__ volatile("" : : : "memory");
	return c + s + u + static_cast<int>(w) + c16 + static_cast<int>(c32) +
	    yes;
}

__attribute__((noinline)) int
numbers(float f, double d, long double ld, __int128 big, unsigned __int128 ubig,
    long long ll, unsigned short us)
{
	__asm__ volatile("" : : : "memory");
	return (f > 0) + (d > 0) + (ld > 0) + (big > 0) + (ubig > 0) +
	    (ll > 0) + us;
}

__attribute__((noinline)) int
references(int &i, const double &d, Point &p, const Named &n, char &c,
    wchar_t &w, Colour &e, int *&ptr, int (&array)[3], Bits &bits,
    long double &ld, bool &yes, Point &&moved)
{
	i++;
	p.x++;
	__asm__ volatile("" : : : "memory");
	return i + static_cast<int>(d) + p.y + n.at.x + c +
	    static_cast<int>(w) + static_cast<int>(e) + *ptr + array[1] +
	    static_cast<int>(bits.a) + static_cast<int>(ld) + yes + moved.x;
}

__attribute__((noinline)) int
enumerations(Colour colour, Far distance, Flags flags, Flags odd, Bits bits)
{
	__asm__ volatile("" : : : "memory");
	return static_cast<int>(colour) + (distance == Far::far) +
	    static_cast<int>(flags) + static_cast<int>(odd) + bits.b;
}

__attribute__((noinline)) int
members(int Point::*field, int (Point::*method)(int) const, Either either,
    int (*function)(int), const Point &p)
{
	__asm__ volatile("" : : : "memory");
	return p.*field + (p.*method)(1) + either.i + function(2);
}

__attribute__((noinline)) int
standard(const std::string &s, std::string copy, std::vector<int> &v,
    std::optional<int> some, std::optional<int> empty,
    std::unique_ptr<Point> &owned, std::complex<double> z)
{
	__asm__ volatile("" : : : "memory");
	return static_cast<int>(s.size() + copy.size() + v.size()) +
	    some.value_or(1) + empty.value_or(2) + owned->x +
	    static_cast<int>(z.real());
}

__attribute__((noinline)) int
bases(Both both, Left &left, Both *pointer)
{
	__asm__ volatile("" : : : "memory");
	return static_cast<int>(both.both) + left.l + pointer->r;
}

__attribute__((noinline)) int
twice(int n)
{
	__asm__ volatile("" : : : "memory");
	return n * 2;
}

__attribute__((noinline)) int
arrays(const char *const *names, int (*rows)[2], Point *points)
{
	__asm__ volatile("" : "+r"(names));
	const char *const first = names[0];
	Point here[2] = {points[0], points[1]};
	const wchar_t wide[4] = L"abc";
	const char16_t *const sixteen = u"sixteen";
	const char32_t thirty_two[3] = U"\u00e9\U0001f600";
	const unsigned char raw[4] = {0, 1, 200, 255};
	const bool yes[2] = {true, false};
	int &alias = here[1].x;
	const Point &there = here[0];
	int (*call)(int) = twice;
	__asm__ volatile("" : "+r"(call) : "r"(here), "r"(wide), "r"(raw), "r"(yes),
	    "r"(thirty_two) : "memory");
	return twice(first[0] + rows[1][1] + there.x + alias + call(1) +
	    sixteen[0]);
}
}

int
main()
{
	int i = 41, *ptr = &i, array[3] = {7, 8, 9}, rows[2][2] = {{1, 2}, {3, 4}};
	double d = -2.5;
	char c = 'c';
	wchar_t w = L'w';
	bool yes = true;
	long double ld = 1.25L;
	Colour colour = Colour::blue;
	Point p{1, 2}, points[2] = {{3, 4}, {5, 6}};
	Named n{{10, 20}, "named", &p};
	static Bits bits{5, -3, true, Colour::green, 1ULL << 39};
	Either either{};
	Both both;
	std::string s = "text";
	std::vector<int> v{1, 2, 3};
	auto owned = std::make_unique<Point>(Point{11, 12});
	const char *names[] = {"first", "second", nullptr};
	int sum = 0;

	either.f = 1.5f;
	both.l = 1;
	both.r = -2;
	both.both = 3;
	for (int round = 0; round < 2; round++) {
		sum += characters('a', -1, 200, L'\u20ac', u'\u00e9',
		    U'\U0001f600', round);
		sum += numbers(0.1f, 1e300, 3.25L + round,
		    -(one << 100),
		    ~static_cast<unsigned __int128>(one - 1), -5LL, 65535);
		sum += references(i, d, p, n, c, w, colour, ptr, array, bits,
		    ld, yes, Point{round, 0});
		sum += enumerations(Colour::red, Far::far,
		    static_cast<Flags>(first | third), static_cast<Flags>(64),
		    bits);
		sum += members(&Point::y, &Point::sum, either, twice, p);
		sum += standard(s, "a longer text than fits inside", v, 5,
		    std::nullopt, owned, {1.5, -2.5});
		sum += bases(both, both, &both);
		sum += arrays(names, rows, points);
	}
	std::printf("%d\n", sum + Point::origin);
	return 0;
}
