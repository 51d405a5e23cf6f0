/* SPDX-License-Identifier: ISC */
/* Output that is shown again. A sequence is kept back until its last byte
 * tells what it is. Control sequences pass unless they are known to ask
 * something, strings do only when they are known to be harmless. */
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "escape_filter.h"

#define ESC	0x1b
#define BEL	0x07
#define ENQ	0x05
#define CAN	0x18
#define SUB	0x1a

enum state {
	GROUND,
	ESCAPE,		/* ESC and intermediates are held */
	CONTROL,	/* CSI is */
	COMMAND,	/* OSC is */
	COMMAND_END,	/* ... and an ESC */
	SWALLOW,	/* a string that does not pass */
	SWALLOW_END,
	LATIN,		/* C2, behind which C1 characters begin */
};

struct feed {
	struct escape_filter	*q;
	unsigned char	*out;
	size_t		 n;
};

void
escape_filter_init(struct escape_filter *q, bool utf8)
{
	memset(q, 0, sizeof(*q));
	q->utf8 = utf8;
	q->on = true;
	q->state = GROUND;
}

static void
emit(struct feed *f, unsigned char c)
{
	f->out[f->n++] = c;
}

/* Controls that terminals obey in the middle of a sequence. */
static void
emit_control(struct feed *f, unsigned char c)
{
	if (c != ENQ && c != 0x7f)
		emit(f, c);
}

static void
hold(struct escape_filter *q, unsigned char c)
{
	if (q->n < sizeof(q->held))
		q->held[q->n++] = c;
}

/* The sequence is over, and passes or not. */
static void
finish(struct feed *f, bool pass)
{
	struct escape_filter *q = f->q;

	if (pass && q->n < sizeof(q->held)) {
		memcpy(f->out + f->n, q->held, q->n);
		f->n += q->n;
	}
	q->n = 0;
	q->state = GROUND;
}

static void
begin(struct escape_filter *q, enum state state, unsigned char c)
{
	q->state = state;
	q->n = 0;
	hold(q, c);
}

/* Control sequences that are answered, or resize, print, and the like. */
static bool
control_asks(const struct escape_filter *q)
{
	/* the final byte; behind it the prefixes or intermediates with which
	 * it asks, none for: always; "-" stands for neither of them */
	static const char *const asking[] = {
		"c", "n", "t", "i", "y", "x-+", "p$+", "q>", "u?$&", "w$'",
		"S?#", "m?", "|'#", "R#", "v\"",
	};
	unsigned char final = q->held[q->n - 1];
	char marks[ESCAPE_FILTER_HELD];
	size_t i, n = 0;

	for (i = 2; i < q->n - 1; i++)
		if (q->held[i] < '0' || q->held[i] > ';')
			marks[n++] = (char)q->held[i];
	marks[n] = '\0';
	for (i = 0; i < sizeof(asking) / sizeof(asking[0]); i++) {
		if ((unsigned char)asking[i][0] != final)
			continue;
		if (asking[i][1] == '\0' || (n == 0 && asking[i][1] == '-') ||
		    (n > 0 && strpbrk(marks, asking[i] + 1) != NULL))
			return true;
	}
	return false;
}

/* Whether a string of an operating system command is one of those that only
 * change what is seen: titles, colours, links, marks. */
static bool
command_harmless(const struct escape_filter *q)
{
	static const struct {
		unsigned int	number;
		bool		colour;	/* "?" in it would ask */
	} known[] = {
		{ 0, false }, { 1, false }, { 2, false }, { 4, true },
		{ 5, true }, { 8, false }, { 10, true }, { 11, true },
		{ 12, true }, { 17, true }, { 19, true }, { 104, true },
		{ 105, true }, { 110, true }, { 111, true }, { 112, true },
		{ 117, true }, { 119, true }, { 133, false },
	};
	unsigned int number = 0;
	size_t i, j;
	uint32_t cp;

	for (i = 2; i < q->n && q->held[i] >= '0' && q->held[i] <= '9' &&
	    number < 1000; i++)
		number = number * 10 + q->held[i] - '0';
	for (j = 0; j < sizeof(known) / sizeof(known[0]); j++)
		if (known[j].number == number)
			break;
	if (i == 2 || j == sizeof(known) / sizeof(known[0]) ||
	    (known[j].colour && memchr(q->held, '?', q->n) != NULL))
		return false;
	/* An 8-bit terminal would find the string's end in C1. */
	for (; i < q->n; i += j) {
		j = utf8_decode(q->held + i, q->n - i, &cp);
		if (j == 0 || j == UTF8_INCOMPLETE ||
		    (cp >= 0x80 && cp < 0xa0))
			return false;
	}
	return true;
}

static void
in_escape(struct feed *f, unsigned char c)
{
	struct escape_filter *q = f->q;

	if (c < 0x20 || c == 0x7f) {
		emit_control(f, c);
		return;
	}
	hold(q, c);
	if (c < 0x30)
		return;
	if (q->n == 2 && strchr("[]PX^_", c) != NULL)
		q->state = c == '[' ? CONTROL : c == ']' ? COMMAND : SWALLOW;
	else
		/* DECID, and the end of a string that there is none of any
		 * more; and what takes a terminal out of UTF-8 */
		finish(f, c < 0x80 && !(q->n == 2 && strchr("Z\\", c)) &&
		    !(q->n > 2 && (q->held[1] == '%' || q->held[1] == ' ')));
}

static void
in_control(struct feed *f, unsigned char c)
{
	struct escape_filter *q = f->q;

	if (c < 0x20 || c == 0x7f) {
		emit_control(f, c);
		return;
	}
	hold(q, c);
	if (c >= 0x40)
		finish(f, c < 0x7f && (!q->on || !control_asks(q)));
}

static void
in_command(struct feed *f, unsigned char c)
{
	struct escape_filter *q = f->q;
	bool pass = c == BEL && (!q->on || command_harmless(q));

	hold(q, c);
	if (c == BEL)
		finish(f, pass);
}

/* An ESC ends a string, and whatever else it stands in. */
static void
on_escape(struct feed *f)
{
	struct escape_filter *q = f->q;

	q->need = 0;
	if (q->state == COMMAND)
		q->state = COMMAND_END;
	else if (q->state == SWALLOW)
		q->state = SWALLOW_END;
	else
		begin(q, ESCAPE, ESC);
}

/* Behind an ESC in a string: its end, or something else begins. */
static void
in_end(struct feed *f, unsigned char c)
{
	struct escape_filter *q = f->q;
	bool pass = q->state == COMMAND_END && c == '\\' &&
	    (!q->on || command_harmless(q));

	if (pass) {
		hold(q, ESC);
		hold(q, c);
	}
	finish(f, pass);
	if (c == '\\')
		return;
	begin(q, ESCAPE, ESC);
	if (c != ESC)
		in_escape(f, c);
}

/* How many bytes of a character go with its first one. */
static size_t
behind(unsigned char c)
{
	if (c < 0xc3 || c > 0xf4)
		return 0;
	return c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
}

static void
in_ground(struct feed *f, unsigned char c)
{
	struct escape_filter *q = f->q;
	bool latin = q->state == LATIN, c1 = c >= 0x80 && c < 0xa0;

	q->state = GROUND;
	if (latin && c1)
		return;
	if (latin)
		emit(f, 0xc2);
	if (c == 0xc2 && q->utf8) {
		q->need = 0;
		q->state = LATIN;
		return;
	}
	if (q->need > 0 && c >= 0x80 && c < 0xc0) {
		q->need--;
		emit(f, c);
		return;
	}
	/* Where no character goes on, these are C1. */
	q->need = q->utf8 ? behind(c) : 0;
	if (c != ENQ && !c1)
		emit(f, c);
}

static void
step(struct feed *f, unsigned char c)
{
	struct escape_filter *q = f->q;

	/* Nothing that begins C1 after all. */
	if (q->state == LATIN && c < 0x80) {
		emit(f, 0xc2);
		q->state = GROUND;
	}
	if (c == CAN || c == SUB) {
		finish(f, false);
		emit(f, c);
	} else if (q->state == COMMAND_END || q->state == SWALLOW_END)
		in_end(f, c);
	else if (c == ESC)
		on_escape(f);
	else if (q->state == ESCAPE)
		in_escape(f, c);
	else if (q->state == CONTROL)
		in_control(f, c);
	else if (q->state == COMMAND)
		in_command(f, c);
	else if (q->state == SWALLOW)
		q->state = c == BEL ? GROUND : SWALLOW;
	else
		in_ground(f, c);
}

size_t
escape_filter_feed(struct escape_filter *q, const unsigned char *in, size_t len,
    unsigned char *out)
{
	struct feed f = { .q = q, .out = out };
	size_t i;

	for (i = 0; i < len; i++) {
		if (!q->on && q->state == GROUND) {
			memcpy(out + f.n, in + i, len - i);
			return f.n + len - i;
		}
		step(&f, in[i]);
	}
	return f.n;
}
