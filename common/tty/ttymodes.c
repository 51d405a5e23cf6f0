/* SPDX-License-Identifier: ISC */
/*
 * The parser follows the state machine of DEC's terminals as xterm and
 * xterm.js have it, as far as sequences change how later bytes are shown.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ttymodes.h"

#define NELEM(a)	(sizeof(a) / sizeof((a)[0]))
#define BEL		0x07
#define SO		0x0e
#define SI		0x0f
#define CAN		0x18
#define SUB		0x1a
#define ESC		0x1b
#define DEL		0x7f
/* The first byte of C1 controls in UTF-8. */
#define C1_LEAD		0xc2
#define PARAM_MAX	65535
#define OVERLINE	53
#define OVERLINE_BIT	10
#define TITLES_MAX	10
#define AFTER_NUMBER	0x8000
#define USUAL_SET	'B'
/* Looked at at once: a byte that ends text often must not cost a long look. */
#define WINDOW		256

enum state {
	GROUND,
	LEAD,			/* C1_LEAD has come in the ground state */
	ESCAPE,
	ESCAPE_INTER,
	CSI,			/* nothing of it yet */
	CSI_PARAM,
	CSI_INTER,
	CSI_IGNORE,
	OSC_NUMBER,		/* a string that BEL ends, too: its number */
	OSC,
	OSC_LEAD,
	STRING,
	STRING_LEAD
};

/* Groups of modes: only one of a group is set; resetting any resets all. */
enum group { ALONE, MOUSE, ENCODING };

static const struct mode {
	uint16_t	 number;
	bool		 dec;		/* "?" before it */
	bool		 usual;		/* set from the beginning */
	bool		 hard;		/* stays at a soft reset */
	enum group	 group;
	bool		 varies;	/* from terminal to terminal: what no
					 * program has set stays as it is */
} modes[] = {
	{ 4, false, false, false, ALONE, false },	/* insert */
	{ 20, false, false, false, ALONE, false },	/* newline */
	{ 1, true, false, false, ALONE, false },	/* application cursor keys */
	{ 5, true, false, false, ALONE, false },	/* reverse video */
	{ 6, true, false, false, ALONE, false },	/* origin */
	{ 7, true, true, false, ALONE, false },	/* wraparound */
	{ 12, true, false, false, ALONE, false },	/* blinking cursor */
	{ 25, true, true, false, ALONE, false },	/* cursor is seen */
	{ 45, true, false, false, ALONE, false },	/* reverse wraparound */
	{ 9, true, false, true, MOUSE, false },
	{ 1000, true, false, true, MOUSE, false },
	{ 1002, true, false, true, MOUSE, false },
	{ 1003, true, false, true, MOUSE, false },
	{ 1004, true, false, false, ALONE, false },	/* focus */
	{ 1005, true, false, true, ENCODING, false },
	{ 1006, true, false, true, ENCODING, false },
	{ 1015, true, false, true, ENCODING, false },
	{ 1016, true, false, true, ENCODING, false },
	{ 1007, true, false, true, ALONE, true },	/* wheel is cursor keys */
	{ 2004, true, false, false, ALONE, false },	/* bracketed paste */
	{ 69, true, false, false, ALONE, false },	/* margins */
	{ 2026, true, false, true, ALONE, false },	/* synchronized output */
	{ 2027, true, false, true, ALONE, false },	/* clusters */
	{ 2031, true, false, true, ALONE, false },	/* dark or light */
	{ 2048, true, false, true, ALONE, false },	/* its own size */
};
#define MODE_ORIGIN	(1U << 4)
#define MODE_MARGINS	(1U << 20)

_Static_assert(NELEM(modes) <= 32, "modes are bits of a word");

/* -- the state ------------------------------------------------------------ */

static void
usual_sets(struct ttycharsets *c)
{
	memset(c->g, USUAL_SET, sizeof(c->g));
	c->gl = 0;
}

static void
soft_reset(struct ttystate *t)
{
	size_t i;

	for (i = 0; i < NELEM(modes); i++) {
		if (modes[i].hard)
			continue;
		if (modes[i].usual)
			t->modes |= 1U << i;
		else
			t->modes &= ~(1U << i);
	}
	t->top = t->bottom = 0;
	t->keypad = false;
	memset(&t->sgr, 0, sizeof(t->sgr));
	usual_sets(&t->sets);
	memset(&t->saved[t->alternate], 0, sizeof(t->saved[0]));
	usual_sets(&t->saved[t->alternate].sets);
}

static void
hard_reset(struct ttystate *t)
{
	memset(t, 0, sizeof(*t));
	soft_reset(t);
	usual_sets(&t->saved[true].sets);
}

void
ttymodes_init(struct ttymodes *m)
{
	memset(m, 0, sizeof(*m));
	hard_reset(&m->now);
}

void
ttymodes_resized(struct ttymodes *m)
{
	m->now.top = m->now.bottom = 0;
}

static void
save_cursor(struct ttystate *t)
{
	t->saved[t->alternate] = (struct ttysaved){ t->sgr, t->sets,
	    (t->modes & MODE_ORIGIN) != 0 };
}

static void
restore_cursor(struct ttystate *t)
{
	const struct ttysaved *s = &t->saved[t->alternate];

	t->sgr = s->sgr;
	t->sets = s->sets;
	t->modes &= ~MODE_ORIGIN;
	if (s->origin)
		t->modes |= MODE_ORIGIN;
}

/* 47, 1047 and 1049 switch screens, 1048 and 1049 keep the cursor. */
static bool
switch_screen(struct ttystate *t, unsigned int number, bool set)
{
	bool keeps = number == 1048 || number == 1049;

	if (number != 47 && number != 1047 && !keeps)
		return false;
	if (set && keeps)
		save_cursor(t);
	if (number != 1048)
		t->alternate = set;
	if (!set && keeps)
		restore_cursor(t);
	return true;
}

static void
set_mode(struct ttystate *t, bool dec, unsigned int number, bool set)
{
	size_t i, j;

	if (dec && number == 66)
		t->keypad = set;
	if (dec && switch_screen(t, number, set))
		return;
	for (i = 0; i < NELEM(modes); i++)
		if (modes[i].dec == dec && modes[i].number == number)
			break;
	if (i == NELEM(modes))
		return;
	for (j = 0; modes[i].group != ALONE && j < NELEM(modes); j++)
		if (modes[j].group == modes[i].group)
			t->modes &= ~(1U << j);
	if (set)
		t->modes |= 1U << i;
	else
		t->modes &= ~(1U << i);
}

/* -- what keys send, titles, and the terminal's own colours --------------- */

static void
push_keys(struct ttykeys *k, uint8_t flags)
{
	/* the oldest makes room */
	if (k->depth == TTYMODES_KEYS - 1)
		memmove(k->flags, k->flags + 1, TTYMODES_KEYS - 1);
	else
		k->depth++;
	k->flags[k->depth] = flags;
}

static void
pop_keys(struct ttykeys *k, unsigned int n)
{
	if (n > k->depth)
		memset(k, 0, sizeof(*k));
	else
		k->depth = (uint8_t)(k->depth - n);
}

/* CSI > 1 u puts a set of flags on top, CSI < u takes it away, and CSI = 1 ; 2
 * u changes it: as a whole, by adding or by taking away. */
static void
set_keys(struct ttykeys *k, uint8_t how, const uint16_t *params,
    unsigned int nparams)
{
	uint8_t flags = params[0] & 31, *top = &k->flags[k->depth];
	unsigned int second = nparams > 1 ? params[1] : 1;

	if (how == '>')
		push_keys(k, flags);
	else if (how == '<')
		pop_keys(k, params[0] == 0 ? 1 : params[0]);
	else if (how == '=' && second <= 1)
		*top = flags;
	else if (how == '=' && second == 2)
		*top |= flags;
	else if (how == '=' && second == 3)
		*top &= (uint8_t)~flags;
}

static void
put_title_aside(struct ttystate *t, unsigned int what)
{
	if (what == 22 && t->titles < TITLES_MAX)
		t->titles++;
	else if (what == 23 && t->titles > 0)
		t->titles--;
}

/* A command that sets a colour, or takes it back, by its number. */
static void
change_colour(struct ttystate *t, unsigned int number)
{
	static const struct {
		uint16_t	 number;
		uint8_t		 colour;
	} which[] = {
		{ 4, TTY_PALETTE }, { 5, TTY_PALETTE },
		{ 10, TTY_FOREGROUND }, { 11, TTY_BACKGROUND },
		{ 12, TTY_CURSOR },
		{ 104, TTY_PALETTE }, { 110, TTY_FOREGROUND },
		{ 111, TTY_BACKGROUND }, { 112, TTY_CURSOR },
	};
	size_t i;

	for (i = 0; i < NELEM(which); i++) {
		if (which[i].number != number)
			continue;
		if (number < 100)
			t->colours |= which[i].colour;
		else
			t->colours &= (uint8_t)~which[i].colour;
	}
}

/* -- colours and attributes ----------------------------------------------- */

static bool
is_sub(const struct ttymodes *m, unsigned int i)
{
	return i < m->nparams && (m->subs >> i & 1);
}

/* The last of the sub-parameters that follow i; i when there is none. */
static unsigned int
last_sub(const struct ttymodes *m, unsigned int i)
{
	while (is_sub(m, i + 1))
		i++;
	return i;
}

static uint32_t
rgb(const uint16_t *p)
{
	return TTY_COLOUR_RGB | (uint32_t)(p[0] & 255) << 16 |
	    (uint32_t)(p[1] & 255) << 8 | (p[2] & 255);
}

/*
 * 38, 48 and 58: "5;n" or "2;r;g;b", with colons also "2:space:r:g:b".
 * Returns the last parameter that belongs to it.
 */
static unsigned int
extended_colour(const struct ttymodes *m, unsigned int i, uint32_t *colour)
{
	unsigned int end = last_sub(m, i), have;
	bool subs = end > i;
	const uint16_t *p = &m->params[i + 1];

	if (!subs)
		end = m->nparams - 1U;
	have = end - i;
	if (have >= 2 && p[0] == 5) {
		*colour = TTY_COLOUR_INDEX | (p[1] & 255);
		return subs ? end : i + 2;
	}
	if (have >= 4 && p[0] == 2) {
		*colour = rgb(subs && have >= 5 ? p + 2 : p + 1);
		return subs ? end : i + 4;
	}
	return subs ? end : i + (have < 1 ? 0 : 1);
}

/* Bits of the attributes that SGR n resets. */
static uint32_t
undone(unsigned int n)
{
	switch (n) {
	case 21:
		return 0;
	case 22:
		return 1U << 1 | 1U << 2;
	case 25:
		return 1U << 5 | 1U << 6;
	case 55:
		return 1U << OVERLINE_BIT;
	}
	return n >= 23 && n <= 29 ? 1U << (n - 20) : 0;
}

static void
plain_sgr(struct ttysgr *s, unsigned int n)
{
	if (n == 0)
		memset(s, 0, sizeof(*s));
	else if (n <= 9)
		s->attrs |= 1U << n;
	else if (n == OVERLINE)
		s->attrs |= 1U << OVERLINE_BIT;
	else if (n >= 30 && n <= 37)
		s->fg = TTY_COLOUR_INDEX | (n - 30);
	else if (n >= 40 && n <= 47)
		s->bg = TTY_COLOUR_INDEX | (n - 40);
	else if (n >= 90 && n <= 97)
		s->fg = TTY_COLOUR_INDEX | (n - 82);
	else if (n >= 100 && n <= 107)
		s->bg = TTY_COLOUR_INDEX | (n - 92);
	else if (n == 39)
		s->fg = 0;
	else if (n == 49)
		s->bg = 0;
	else if (n == 59)
		s->line = 0;
	else
		s->attrs &= ~undone(n);
}

static void
underline(struct ttysgr *s, unsigned int style)
{
	s->attrs &= ~(1U << 4);
	if (style != 0)
		s->attrs |= 1U << 4;
	s->underline = style > 1 && style <= 5 ? style : 0;
}

static void
sgr(struct ttymodes *m)
{
	struct ttysgr *s = &m->now.sgr;
	unsigned int i, n;

	for (i = 0; i < m->nparams; i++) {
		n = m->params[i];
		if (n == 38)
			i = extended_colour(m, i, &s->fg);
		else if (n == 48)
			i = extended_colour(m, i, &s->bg);
		else if (n == 58)
			i = extended_colour(m, i, &s->line);
		else if (n == 4 || n == 21 || n == 24) {
			underline(s, n == 21 ? 2 : n == 24 ? 0 :
			    is_sub(m, i + 1) ? m->params[i + 1] : 1);
			i = last_sub(m, i);
		} else {
			plain_sgr(s, n);
			i = last_sub(m, i);
		}
	}
}

/* -- sequences ------------------------------------------------------------ */

static void
begin_csi(struct ttymodes *m)
{
	m->state = CSI;
	m->prefix = m->inter = 0;
	m->too_long = false;
	m->nparams = 1;
	m->params[0] = 0;
	m->subs = 0;
}

static void
scroll_region(struct ttymodes *m)
{
	uint16_t top = m->params[0], bottom = m->nparams > 1 ? m->params[1] :
	    0;

	/* what makes no sense is ignored; no parameters mean all rows */
	if (bottom != 0 && (top == 0 ? 1 : top) >= bottom)
		return;
	m->now.top = top;
	m->now.bottom = bottom;
}

static void
plain_csi(struct ttymodes *m, uint8_t final)
{
	unsigned int i;

	switch (final) {
	case 'm':
		sgr(m);
		break;
	case 'r':
		scroll_region(m);
		break;
	case 's':
		if ((m->now.modes & MODE_MARGINS) == 0)
			save_cursor(&m->now);
		break;
	case 't':
		put_title_aside(&m->now, m->params[0]);
		break;
	case 'u':
		restore_cursor(&m->now);
		break;
	case 'h':
	case 'l':
		for (i = 0; i < m->nparams; i++)
			set_mode(&m->now, false, m->params[i], final == 'h');
		break;
	}
}

static void
end_csi(struct ttymodes *m, uint8_t final)
{
	unsigned int i;

	m->state = GROUND;
	if (m->too_long)
		return;
	if (m->prefix == 0 && m->inter == 0)
		plain_csi(m, final);
	else if (m->prefix == '?' && m->inter == 0 &&
	    (final == 'h' || final == 'l'))
		for (i = 0; i < m->nparams; i++)
			set_mode(&m->now, true, m->params[i], final == 'h');
	else if (m->prefix == 0 && m->inter == '!' && final == 'p')
		soft_reset(&m->now);
	else if (m->prefix == 0 && m->inter == ' ' && final == 'q')
		m->now.cursor = m->params[0] <= 6 ? (uint8_t)m->params[0] : 0;
	else if (m->prefix == '>' && m->inter == 0 && final == 'm' &&
	    m->params[0] == 4)
		m->now.modify_keys = m->nparams > 1 && m->params[1] <= 3 ?
		    (uint8_t)m->params[1] : 0;
	else if (m->prefix != 0 && m->inter == 0 && final == 'u')
		set_keys(&m->now.keys[m->now.alternate], m->prefix, m->params,
		    m->nparams);
}

/* Digits and separators. */
static void
param(struct ttymodes *m, uint8_t c)
{
	uint32_t v;

	m->state = CSI_PARAM;
	if (c == ';' || c == ':') {
		if (m->nparams == TTYMODES_PARAMS) {
			m->state = CSI_IGNORE;
			return;
		}
		if (c == ':')
			m->subs |= 1U << m->nparams;
		m->params[m->nparams++] = 0;
		return;
	}
	v = m->params[m->nparams - 1] * 10U + (c - '0');
	m->params[m->nparams - 1] = (uint16_t)(v > PARAM_MAX ? PARAM_MAX : v);
}

static void
in_csi(struct ttymodes *m, uint8_t c)
{
	if (c >= 0x40 && c < DEL) {
		if (m->state == CSI_IGNORE)
			m->too_long = true;
		end_csi(m, c);
	} else if (c > DEL)
		m->state = GROUND;
	else if (m->state == CSI_IGNORE || c == DEL)
		return;
	else if (c >= 0x3c) {
		if (m->state == CSI) {
			m->prefix = c;
			m->state = CSI_PARAM;
		} else
			m->state = CSI_IGNORE;
	} else if (c >= 0x30) {
		if (m->state == CSI_INTER)
			m->state = CSI_IGNORE;
		else
			param(m, c);
	} else {
		m->too_long |= m->inter != 0;
		m->inter = c;
		m->state = CSI_INTER;
	}
}

static void
designate(struct ttymodes *m, uint8_t final)
{
	static const char into[] = "()*+", wide[] = "-./";
	const char *at;

	if (m->too_long)
		return;
	if ((at = strchr(into, m->inter)) != NULL)
		m->now.sets.g[at - into] = final;
	else if ((at = strchr(wide, m->inter)) != NULL)
		m->now.sets.g[at - wide + 1] = USUAL_SET;
	else if (m->inter == '%' && (final == 'G' || final == '@'))
		m->now.bytes = final == '@';
}

/* ESC and one byte, also as the C1 control of that byte. */
static void
escape(struct ttymodes *m, uint8_t c)
{
	m->state = GROUND;
	switch (c) {
	case '[':
		begin_csi(m);
		break;
	case ']':
		m->state = OSC_NUMBER;
		m->command = 0;
		break;
	case 'P':
	case 'X':
	case '^':
	case '_':
		m->state = STRING;
		break;
	case 'c':
		hard_reset(&m->now);
		break;
	case '7':
		save_cursor(&m->now);
		break;
	case '8':
		restore_cursor(&m->now);
		break;
	case '=':
	case '>':
		m->now.keypad = c == '=';
		break;
	case 'n':
	case 'o':
		m->now.sets.gl = c == 'n' ? 2 : 3;
		break;
	}
}

static void
in_escape(struct ttymodes *m, uint8_t c)
{
	if (c == DEL)
		return;
	if (c > DEL)
		m->state = GROUND;
	else if (c < 0x30) {
		m->too_long = m->state == ESCAPE_INTER;
		m->inter = c;
		m->state = ESCAPE_INTER;
	} else if (m->state == ESCAPE_INTER) {
		m->state = GROUND;
		designate(m, c);
	} else
		escape(m, c);
}

/*
 * The number of a command, and what its data begins with, but for numbers: a
 * "?" asks for a colour and changes none.
 */
static void
in_number(struct ttymodes *m, uint8_t c)
{
	uint16_t number = m->command & (AFTER_NUMBER - 1);

	if (c >= '0' && c <= '9') {
		if (number == m->command && number < 1000)
			m->command = (uint16_t)(number * 10 + (c - '0'));
	} else if (c == ';')
		m->command |= AFTER_NUMBER;
	else {
		if (c != '?')
			change_colour(&m->now, number);
		m->state = OSC;
	}
}

static void
in_string(struct ttymodes *m, uint8_t c)
{
	bool osc = m->state == OSC || m->state == OSC_LEAD;
	bool lead = m->state == OSC_LEAD || m->state == STRING_LEAD;

	m->state = osc ? OSC : STRING;
	if (c == BEL && osc)
		m->state = GROUND;
	else if (c == 0x9c && (lead || m->now.bytes))
		m->state = GROUND;
	else if (c == C1_LEAD && !m->now.bytes)
		m->state = osc ? OSC_LEAD : STRING_LEAD;
}

static void
in_ground(struct ttymodes *m, uint8_t c)
{
	bool lead = m->state == LEAD;

	m->state = GROUND;
	if (c == C1_LEAD && !m->now.bytes)
		m->state = LEAD;
	else if (c >= 0x80 && c < 0xa0 && (lead || m->now.bytes))
		escape(m, c - 0x40);
}

/* C0 controls are obeyed wherever they come, but for inside of strings. */
static bool
control(struct ttymodes *m, uint8_t c)
{
	if (m->state == OSC_NUMBER)
		in_number(m, c);
	if (c == ESC)
		m->state = ESCAPE;
	else if (c == CAN || c == SUB)
		m->state = GROUND;
	else if (m->state >= OSC_NUMBER)
		return false;
	if (c == SO || c == SI)
		m->now.sets.gl = c == SO;
	if (m->state == LEAD)
		m->state = GROUND;
	return true;
}

static void
step(struct ttymodes *m, uint8_t c)
{
	if (c < 0x20 && control(m, c))
		return;
	if (m->state == OSC_NUMBER)
		in_number(m, c);
	if (m->state >= OSC)
		in_string(m, c);
	else if (m->state == OSC_NUMBER)
		return;
	else if (m->state >= CSI)
		in_csi(m, c);
	else if (m->state >= ESCAPE)
		in_escape(m, c);
	else
		in_ground(m, c);
}

/* -- feeding -------------------------------------------------------------- */

/* Cuts n at the next such byte. */
static size_t
before(const uint8_t *p, size_t n, int c)
{
	const uint8_t *at = memchr(p, c, n);

	return at == NULL ? n : (size_t)(at - p);
}

/* How many bytes of text come first, which change nothing. */
static size_t
text(const struct ttymodes *m, const uint8_t *p, size_t n)
{
	if (m->now.bytes || m->state == LEAD)
		return 0;
	n = before(p, n < WINDOW ? n : WINDOW, ESC);
	if (m->state == OSC || m->state == STRING) {
		n = before(p, n, CAN);
		n = before(p, n, SUB);
		n = before(p, n, C1_LEAD);
		return before(p, n, BEL);
	}
	if (m->state != GROUND)
		return 0;
	n = before(p, n, C1_LEAD);
	n = before(p, n, SO);
	return before(p, n, SI);
}

static uint8_t
utf8_need(uint8_t c)
{
	if (c < 0xc2 || c > 0xf4)
		return 0;
	return c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
}

/* How many bytes are missing of a character that began near the end. */
static uint8_t
utf8_left(const struct ttymodes *m, const uint8_t *p, size_t n)
{
	uint8_t need;
	size_t back;

	if (m->now.bytes || n == 0)
		return 0;
	for (back = 1; back <= 3 && back <= n; back++) {
		if ((p[n - back] & 0xc0) == 0x80)
			continue;
		need = utf8_need(p[n - back]);
		return need >= back ? (uint8_t)(need - (back - 1)) : 0;
	}
	return n < 3 && m->utf8_left > n ? (uint8_t)(m->utf8_left - n) : 0;
}

void
ttymodes_feed(struct ttymodes *m, const void *buf, size_t len)
{
	const uint8_t *p = buf, *end = p + len;

	size_t n;

	while (p < end) {
		n = text(m, p, (size_t)(end - p));
		if (n == 0)
			step(m, *p++);
		else
			p += n;
	}
	m->utf8_left = utf8_left(m, buf, len);
}

bool
ttymodes_is_ground(const struct ttymodes *m)
{
	return m->state == GROUND && m->utf8_left == 0;
}

const char *
ttymodes_string(const struct ttymodes *m)
{
	if (m->state < OSC_NUMBER)
		return "";
	/* both kinds are thrown away by who does not know them */
	return m->state <= OSC_LEAD ? "\033]9999;" : "\033_";
}

/* -- the preamble --------------------------------------------------------- */

struct writer {
	char	*p;
	size_t	 len;
};

static void __attribute__((format(printf, 2, 3)))
say(struct writer *w, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(w->p + w->len, TTYMODES_PREAMBLE - w->len, fmt, ap);
	va_end(ap);
	/* all that can be said fits, which the tests look after */
	if (n > 0 && (size_t)n < TTYMODES_PREAMBLE - w->len)
		w->len += (size_t)n;
}

static void
say_colour(struct writer *w, unsigned int code, uint32_t colour)
{
	if (colour & TTY_COLOUR_RGB)
		say(w, ";%u;2;%u;%u;%u", code, colour >> 16 & 255,
		    colour >> 8 & 255, colour & 255);
	else if (colour & TTY_COLOUR_INDEX)
		say(w, ";%u;5;%u", code, colour & 255);
}

static void
say_sgr(struct writer *w, const struct ttysgr *s)
{
	unsigned int i;

	say(w, "\033[0");
	for (i = 1; i <= 9; i++)
		if (s->attrs >> i & 1 && (i != 4 || s->underline == 0))
			say(w, ";%u", i);
	if (s->attrs >> OVERLINE_BIT & 1)
		say(w, ";%u", OVERLINE);
	say_colour(w, 38, s->fg);
	say_colour(w, 48, s->bg);
	say_colour(w, 58, s->line);
	say(w, "m");
	/* apart: who does not know colons must not lose the rest */
	if (s->attrs >> 4 & 1 && s->underline != 0)
		say(w, "\033[4:%um", s->underline);
}

static void
say_sets(struct writer *w, const struct ttycharsets *c)
{
	static const char into[] = "()*+";
	static const char *const shifts[] = { "\017", "\016", "\033n",
	    "\033o" };
	unsigned int i;

	for (i = 0; i < 4; i++)
		say(w, "\033%c%c", into[i], c->g[i]);
	say(w, "%s", shifts[c->gl & 3]);
}

/*
 * Writes the modes that differ from the default, or resets them all except
 * those that vary from terminal to terminal.
 */
static void
say_modes(struct writer *w, uint32_t now, bool reset)
{
	size_t i;
	bool set;

	for (i = 0; i < NELEM(modes); i++) {
		set = reset ? modes[i].usual : (now >> i & 1) != 0;
		if (reset ? !modes[i].varies : set != modes[i].usual)
			say(w, "\033[%s%u%c", modes[i].dec ? "?" : "",
			    modes[i].number, set ? 'h' : 'l');
	}
}

static void
say_keys(struct writer *w, const struct ttykeys *k)
{
	unsigned int i;

	if (k->flags[0] != 0)
		say(w, "\033[=%uu", k->flags[0]);
	for (i = 1; i <= k->depth; i++)
		say(w, "\033[>%uu", k->flags[i]);
}

static bool
is_usual(const struct ttysaved *s)
{
	static const struct ttysgr none;
	struct ttycharsets sets;

	usual_sets(&sets);
	return memcmp(&s->sgr, &none, sizeof(none)) == 0 && !s->origin &&
	    memcmp(&s->sets, &sets, sizeof(sets)) == 0;
}

static void
say_saved(struct writer *w, const struct ttysaved *s)
{
	if (is_usual(s))
		return;
	say_sgr(w, &s->sgr);
	say_sets(w, &s->sets);
	say(w, "\033[?6%c\0337\033[?6l", s->origin ? 'h' : 'l');
}

/* Saves the default cursor, as if no program had saved one. */
static void
say_usual(struct writer *w)
{
	struct ttycharsets sets;

	usual_sets(&sets);
	say(w, "\033[m");
	say_sets(w, &sets);
	say(w, "\0337");
}

/* Takes away more than can be there. */
#define NO_KEYS	"\033[<9u"

/* Out of whatever it was in, without a hard reset, which people would see. */
static void
say_reset(struct writer *w)
{
	say(w, "\030\033%%G\033[!p\033[?1049l");
	say_modes(w, 0, true);
	say(w, "\033>\033[r\033[0 q\033[>4m" NO_KEYS);
	say(w, "\033[m\033[H\033[2J");
	say_usual(w);
}

size_t
ttymodes_preamble(const struct ttystate *t, unsigned int rows, char *buf)
{
	struct writer w = { buf, 0 };

	say_reset(&w);
	/* of the other screen, for when it comes back */
	if (t->alternate) {
		say_saved(&w, &t->saved[false]);
		say_keys(&w, &t->keys[false]);
		say(&w, "\033[?1047h" NO_KEYS "\033[m\033[H\033[2J");
		say_usual(&w);
	}
	say_saved(&w, &t->saved[t->alternate]);
	/* the region first: both send the cursor home */
	if (t->top > 1 || (t->bottom != 0 && t->bottom != rows))
		say(&w, t->bottom == 0 ? "\033[%ur" : "\033[%u;%ur",
		    t->top == 0 ? 1U : t->top, t->bottom);
	say_modes(&w, t->modes, false);
	if (t->keypad)
		say(&w, "\033=");
	if (t->cursor != 0)
		say(&w, "\033[%u q", t->cursor);
	if (t->modify_keys != 0)
		say(&w, "\033[>4;%um", t->modify_keys);
	say_keys(&w, &t->keys[t->alternate]);
	say_sgr(&w, &t->sgr);
	say_sets(&w, &t->sets);
	if (t->bytes)
		say(&w, "\033%%@");
	return w.len;
}
