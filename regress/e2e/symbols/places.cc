// Arguments that a sum of sizes does not place.
#include <stdexcept>

#define APART __attribute__((noinline))

// what does nothing need not be called
volatile long seen;

namespace place {
struct Odd { char c; int a : 10; short s; };
struct Header { unsigned short type; unsigned len : 24; unsigned flags : 8; };
struct Flags { bool dirty; unsigned id : 7; unsigned gen : 16; };
struct Mixed { float f; unsigned a : 12; double d; };
struct Across { unsigned a : 20; unsigned b : 20; unsigned long c : 50; };

Odd APART
bits(Odd o, Header h, Flags f, Mixed m, Across a, long n)
{
	seen = h.type + h.flags + f.dirty + f.id + (long)m.f + m.a + a.a + a.b;
	o.s = (short)(o.s + h.len + f.gen + a.c + n + (long)m.d);
	return o;
}

struct Written {
	int a;
	Written(int n) : a(n) {}
	Written(const Written &o) : a(o.a) {}
};
struct Moved {
	int a;
	Moved(int n) : a(n) {}
	Moved(Moved &&o) : a(o.a) {}
};
struct Outside {
	int a;
	Outside(int n) : a(n) {}
	Outside(const Outside &);
};
Outside::Outside(const Outside &) = default;
struct Fixed {
	int a;
	Fixed(int n) : a(n) {}
	Fixed(const Fixed &) = delete;
};

Written APART
copied(Written w, Moved m, Outside o, Fixed f, long n)
{
	seen = n;
	return Written((int)n + w.a + m.a + o.a + f.a);
}

struct Inner { Written m; };
struct Row { Written m[1]; };
struct Derived : Written { long b; };
template <class T> struct Box {
	T v;
	Box(T n) : v(n) {}
	Box(const Box &o) : v(o.v) {}
};

long APART
within(Inner i, Row r, Derived d, Box<int> b, long n)
{
	seen = n;
	return n + i.m.a + r.m[0].a + d.b + b.v;
}

struct Error : std::runtime_error {
	int code;
	Error(int n) : std::runtime_error("error"), code(n) {}
};

std::runtime_error APART
unseen(std::runtime_error r, Error e, long n)
{
	seen = n + e.code;
	return r;
}

struct Kept {
	int a;
	Kept(int n) : a(n) {}
	Kept(const Kept &) = default;
};
struct Away {
	int a;
	Away(int n) : a(n) {}
	Away(Away &&) = default;
	Away(const Away &) = delete;
};
struct Any {
	int a;
	Any(int n) : a(n) {}
	template <class T> Any(T &&o) : a(o.a + 1) {}
};
struct Between {
	int a;
	Between(int n) : a(n) {}
	Between(const Between &from, const Between &to) : a(to.a - from.a) {}
};

Kept APART
kept(Kept k, Away w, Any a, Between b, long n)
{
	seen = n;
	return Kept((int)n + k.a + w.a + a.a + b.a);
}

struct Target {
	long pad;
	char x;
	int get(int n) const { return n + x; }
};
typedef int (Target::*method)(int) const;
struct Holder { method m; };
struct Table { method m[2]; };

method APART
members(method m, char Target::*p, Holder h, long n, Table w)
{
	Target t { n, 1 };

	seen = n;
	return (t.*m)(t.*p) + (t.*h.m)(0) > 0 && w.m[0] != nullptr ? m :
	    w.m[1];
}

long APART
last(int a, int b, int c, int d, int e, method m, long n)
{
	seen = n;
	return a + b + c + d + e + n + (m != nullptr);
}

__float128 APART
quads(__float128 q, long double l, long n, double d)
{
	seen = n;
	return q + l + n + d;
}

struct Quad { __float128 q; };

Quad APART
quad(long double l, Quad q, long n, double d)
{
	seen = n;
	return { q.q + l + n + d };
}
}

using namespace place;

int
main()
{
	Any any(7), other(any);

	bits({ 'a', -5, 300 }, { 1, 2, 3 }, { true, 5, 600 }, { 1.5f, 9, 2.5 },
	    { 11, 22, 33 }, 42);
	copied(1, 2, 3, 4, 42);
	within({ 5 }, { { 6 } }, { 7, 8 }, 9, 42);
	unseen(std::runtime_error("r"), 7, 42);
	kept(1, 2, other, Between(3, 7), 42);
	members(&Target::get, &Target::x, { &Target::get }, 42,
	    { { &Target::get, nullptr } });
	last(1, 2, 3, 4, 5, nullptr, 42);
	quads(1.5, 3.5L, 42, 4.5);
	quad(3.5L, { 2.5 }, 42, 4.5);
	return 0;
}
