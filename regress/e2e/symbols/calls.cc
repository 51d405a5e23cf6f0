// Calls whose arguments and results are known, by all ways of passing them.
#include <string>
#include <string_view>
#include <cstdio>

#define APART __attribute__((noinline))

namespace geo {
class Shape {
public:
	virtual ~Shape() {}
	virtual int draw(int n) const;
	static int count();

private:
	int k = 1;
};

int APART Shape::draw(int n) const { return n + k; }
int APART Shape::count() { return 5; }

namespace {
int APART hidden(int a) { return a * 2; }
}

int APART call(int a) { return hidden(a) + 1; }
}

template <class T> T APART twice(T t) { return t + t; }

struct F {
	int operator()(int a);
	F operator+(const F &);
};
int APART F::operator()(int a) { return a + 1; }
F APART F::operator+(const F &) { return *this; }

enum class Level : short { Low = -1, High = 5 };
enum Old { A, B = 3 };
struct Settings { int level; };
struct Config {
	const char *name;
	Settings settings;
	int values[3];
	char tag[8];
	double ratio;
	std::string text;
	unsigned f : 3, g : 5;
	bool ok;
};
struct Small { int a; float b; };
struct Two { double x; long y; };
struct Doubles { double a, b; };
struct Empty {};
union Either { int i; float f; };

std::string APART
greet(const std::string &s, std::string t, std::string_view v)
{
	return s + t + std::string(v);
}

Config APART
config(Config c, int n, const char *none, Level l, Old o)
{
	c.values[0] = n + (none != nullptr) + (int)l + o;
	return c;
}

Small APART
small(Small s, Two t, Doubles d, Empty, Either u, bool b, char c,
    unsigned char uc)
{
	s.a += (int)t.x + (int)t.y + (int)d.a + (int)d.b + u.i + b + c + uc;
	s.b += 1;
	return s;
}

Two APART
two(int a, int b, int c, int d, int e, int f, int g, long double ld,
    __int128 w)
{
	return { (double)ld + a + b + c + d + e + f + g, (long)w };
}

double APART
floats(float a, double b, const char *s, int *p, void *v, float nan)
{
	return a + b + s[0] + *p + (v != nullptr) + (nan == nan);
}

int APART variadic(const char *fmt, ...) { return fmt[0]; }

const char *APART
text(const char *s, Level l)
{
	return l == Level::Low ? nullptr : s;
}

void APART bad(const char *s, char *out) { *out = s == nullptr; }

static inline __attribute__((always_inline)) int inlined(int a) { return a * 3; }

int
main(int argc, char **)
{
	geo::Shape s;
	F f;
	auto lambda = [&](int q) APART { return q + argc; };
	char out;

	f = f + f;
	printf("%d %d %d %d %s %d %f %d %d\n", s.draw(1), geo::call(argc),
	    lambda(3), f(2), greet("a", "b\xff\xc3\xa9", "view").c_str(),
	    twice(4), twice(2.5), inlined(argc), geo::Shape::count());
	Config c { "nm", { 4 }, { 1, 2, 3 }, "tag", 1.25, "sss", 5, 9, true };
	Config d = config(c, 77, nullptr, Level::High, B);
	Empty e;
	Either u { 3 };
	Small sm = small({ 1, 2.5f }, { 3.5, 4 }, { 5.5, 6.5 }, e, u, true,
	    'c', 200);
	Two t = two(1, 2, 3, 4, 5, 6, 7, 8.5L, 9);
	int i = 3;
	double x = floats(1.5f, 2.25, "q\n\"x", &i, nullptr,
	    __builtin_nanf(""));
	bad((const char *)16, &out);
	printf("%d %d %f %f %d %s %s %s\n", d.values[0], sm.a, t.x, x,
	    variadic("%d", 1), text("abc", Level::High), text(std::string(2000,
	    'z').c_str(), Level::High), text("abc", Level::Low) ? "" : "none");
	return 0;
}
