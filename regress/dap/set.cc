/* SPDX-License-Identifier: ISC */
/* One of each kind of variable; it prints all of them when it goes on. */
#include <cstdio>
#include <cstdint>
#include <string>
#include <map>
#include <vector>
enum Color { RED, GREEN = 5, BLUE };
enum class Shade : unsigned char { DARK = 1, LIGHT = 200 };
struct bits {
	unsigned a : 3;
	unsigned b : 5;
	int c : 4;
	bool d : 1;
	unsigned e : 19;
};
struct inner {
	int x;
	double d;
	short s;
	int &ref;
};
struct buf {
	char buf[16];
	unsigned char ub[8];
	int tail;
};
int v = 1;
const int cg = 7;
int
main()
{
	int &r = v;
	const int &cr = v;
	int *p = &v;
	int *&rp = p;
	int **pp = &p;
	struct bits b = {1, 2, -3, true, 99};
	struct inner in = {1, 2.5, 3, v};
	struct inner &rin = in;
	struct inner *pin = &in;
	int vi[4] = {1, 2, 3, 4};
	int m[2][3] = {{1, 2, 3}, {4, 5, 6}};
	struct buf bb = {"old value", {1, 2}, 77};
	char text[8] = "abc";
	char *cp = text;
	const char *cc = "const";
	std::string str = "old";
	std::vector<int> vec = {1, 2, 3};
	Color col = RED;
	Shade sh = Shade::DARK;
	bool t = true;
	float f = 1.5f;
	double d = 2.5;
	long double ld = 3.5L;
	int8_t i8 = 1;
	uint8_t u8 = 2;
	int16_t i16 = 3;
	uint16_t u16 = 4;
	int32_t i32 = 5;
	uint32_t u32 = 6;
	int64_t i64 = 7;
	uint64_t u64 = 8;
	__int128 i128 = 9;
	unsigned __int128 u128 = 10;
	char c = 'a';
	wchar_t w = L'w';
	char16_t c16 = u'x';
	int &&rr = 5;
	double &rd = d;
	float &rf = f;
	Color &rcol = col;
	bool &rt = t;
	uint8_t &ru8 = u8;
	int volatile vol = 3;
	const int ci = 4;
	int inner::*mp = &inner::x;
	void (*fn)(int) = nullptr;
	int(&ra)[4] = vi;
	std::string &rs = str;
	struct bits &rb = b;
	__int128 &r128 = i128;
	char(&rtext)[8] = text;
	union {
		int i;
		float f;
	} un = {1};
	struct {
		int q;
	} anon = {5};
	std::map<int, int> map = {{7, 70}, {9, 90}};
	struct bits ab[2] = {{1, 1, 1, false, 1}, {2, 2, 2, true, 2}};
	const struct inner *parr[2] = {&in, &in};
	struct buf bufs[2] = {{"one", {1}, 1}, {"two", {2}, 2}};
	fflush(stdout); /* the stop */
	printf("%d %d %d %d %d\n", r, cr, *p, *rp, **pp);
	printf("%d %d %d %d %d\n", b.a, b.b, b.c, b.d, b.e);
	printf("%d %g %d %d\n", rin.x, in.d, in.s, in.ref);
	printf("%d %d %d %d %d\n", vi[0], vi[1], vi[2], vi[3], m[1][1]);
	printf("%s %d %d %s\n", bb.buf, bb.ub[0], bb.tail, text);
	printf("%s %s %s %d\n", cp, cc, str.c_str(), vec[1]);
	printf("%d %d %d %g %g %Lg\n", col, (int)sh, t, f, d, ld);
	printf("%d %u %d %u %d %u %ld %lu %ld %ld %lu\n", i8, u8, i16, u16, i32,
	    u32, i64, u64, (long)i128, (long)(i128 >> 64), (unsigned long)u128);
	printf("%d %d %d %d %g %g %d %d %d\n", c, (int)w, (int)c16, rr, rd, rf,
	    rcol, rt, ru8);
	printf("%d %d %d %d %d %s %d %d %s %d %d\n", vol, ci, in.*mp,
	    fn == nullptr, ra[1], rs.c_str(), rb.a, (int)r128, rtext, un.i,
	    anon.q);
	printf(
	    "%d %d %d %d %zu\n", map[7], map[9], ab[1].a, ab[1].b, map.size());
	printf("%d %s %d %d\n", parr[0]->x, bufs[1].buf, bufs[1].tail,
	    bufs[0].tail);
	return 0;
}
