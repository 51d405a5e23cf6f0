/* SPDX-License-Identifier: ISC */
/* Aligned tables for people: columns as wide as their cells, the widest ones
 * shortened until a line fits the terminal. */
#include <err.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "safe.h"
#include "table.h"

#define GAP		2
#define SHORTEST	8

struct cell {
	char		*text;
	size_t		 width;
	enum colour	 colour;
};

struct table {
	const struct table_column *columns;
	size_t		 ncolumns;
	struct cell	*cells;
	size_t		 ncells;
};

struct table *
table_new(const struct table_column *columns, size_t n)
{
	struct table *t;

	if ((t = calloc(1, sizeof(*t))) == NULL)
		err(2, NULL);
	t->columns = columns;
	t->ncolumns = n;
	return t;
}

void
table_free(struct table *t)
{
	size_t i;

	if (t == NULL)
		return;
	for (i = 0; i < t->ncells; i++)
		free(t->cells[i].text);
	free(t->cells);
	free(t);
}

void
table_cell(struct table *t, const char *text, enum colour colour)
{
	struct cell *c;

	if (t->ncells % 64 == 0) {
		t->cells = reallocarray(t->cells, t->ncells + 64,
		    sizeof(*t->cells));
		if (t->cells == NULL)
			err(2, NULL);
	}
	c = &t->cells[t->ncells++];
	c->text = safe_string(text);
	c->width = safe_width(c->text);
	c->colour = colour;
}

static size_t
sum(const size_t *widths, size_t n)
{
	size_t i, total = 0;

	for (i = 0; i < n; i++)
		if (widths[i] > 0)
			total += widths[i] + GAP;
	return total > 0 ? total - GAP : 0;
}

/* A width of 0 means that the column is left out. */
static void
natural_widths(const struct table *t, size_t *widths)
{
	size_t i, col;

	memset(widths, 0, t->ncolumns * sizeof(*widths));
	for (i = 0; i < t->ncells; i++) {
		col = i % t->ncolumns;
		if (widths[col] < t->cells[i].width)
			widths[col] = t->cells[i].width;
	}
	for (col = 0; col < t->ncolumns; col++) {
		i = strlen(t->columns[col].title);
		if (widths[col] < i && !(t->columns[col].optional &&
		    widths[col] == 0))
			widths[col] = i;
	}
}

/* The column that fit() takes from next; ncolumns when none is left. */
static size_t
widest_column(const struct table *t, const size_t *widths)
{
	size_t col, widest = t->ncolumns;

	for (col = 0; col < t->ncolumns; col++)
		if (!t->columns[col].keep && widths[col] > SHORTEST &&
		    (widest == t->ncolumns || widths[col] > widths[widest]))
			widest = col;
	return widest;
}

static void
fit(const struct table *t, size_t *widths, size_t width)
{
	size_t col, total;

	if (width == 0)
		return;
	while ((total = sum(widths, t->ncolumns)) > width &&
	    (col = widest_column(t, widths)) < t->ncolumns)
		widths[col]--;
	/* A broken line is worse to read than one without its end. */
	for (col = t->ncolumns; total > width && col > 1; col--) {
		widths[col - 1] = 0;
		total = sum(widths, t->ncolumns);
	}
}

/* The first columns of text, with a mark when something is cut off. */
static void
print_cut(FILE *out, const char *text, size_t columns)
{
	mbstate_t state = { 0 };
	size_t n, used = 0;
	wchar_t wc;
	int w;

	while ((n = mbrtowc(&wc, text, MB_CUR_MAX, &state)) != 0 &&
	    n != (size_t)-1 && n != (size_t)-2) {
		w = wcwidth(wc);
		if (used + (w > 0 ? (size_t)w : 0) > columns - 1)
			break;
		used += w > 0 ? (size_t)w : 0;
		fwrite(text, 1, n, out);
		text += n;
	}
	fputs("~", out);
	for (used++; used < columns; used++)
		fputc(' ', out);
}

static void
print_cell(FILE *out, const struct cell *c, size_t width, int right,
    int last, int colours)
{
	int pad = c->width < width ? (int)(width - c->width) : 0;

	if (right)
		fprintf(out, "%*s", pad, "");
	if (colours && c->colour != PLAIN)
		fputs(term_colour(c->colour), out);
	if (c->width > width)
		print_cut(out, c->text, width);
	else
		fputs(c->text, out);
	if (colours && c->colour != PLAIN)
		fputs(term_colour(PLAIN), out);
	if (!right && !last)
		fprintf(out, "%*s", pad, "");
}

static void
print_row(const struct table *t, FILE *out, const struct cell *cells,
    const size_t *widths, int colours)
{
	size_t col, last = t->ncolumns;
	int first = 1;

	while (last > 0 && widths[last - 1] == 0)
		last--;
	for (col = 0; col < last; col++) {
		if (widths[col] == 0)
			continue;
		if (!first)
			fprintf(out, "%*s", GAP, "");
		first = 0;
		print_cell(out, &cells[col], widths[col],
		    t->columns[col].right, col + 1 == last, colours);
	}
	fputc('\n', out);
}

/* The titles as a row, and how wide the columns are: the caller's. */
static struct cell *
lay_out(const struct table *t, size_t width, size_t **widthsp)
{
	struct cell *titles;
	size_t col;

	titles = calloc(t->ncolumns, sizeof(*titles));
	*widthsp = calloc(t->ncolumns, sizeof(**widthsp));
	if (titles == NULL || *widthsp == NULL)
		err(2, NULL);
	natural_widths(t, *widthsp);
	fit(t, *widthsp, width);
	for (col = 0; col < t->ncolumns; col++) {
		/* Titles are ours and ASCII; nobody writes through this. */
		titles[col].text = (char *)(uintptr_t)t->columns[col].title;
		titles[col].width = strlen(t->columns[col].title);
		titles[col].colour = BOLD;
	}
	return titles;
}

void
table_print(const struct table *t, FILE *out, size_t width, size_t max_rows,
    int colours)
{
	size_t row, *widths;
	struct cell *titles;

	if (t->ncolumns == 0)
		return;
	titles = lay_out(t, width, &widths);
	print_row(t, out, titles, widths, colours);
	for (row = 0; row < t->ncells / t->ncolumns; row++) {
		if (max_rows > 0 && row == max_rows)
			break;
		print_row(t, out, t->cells + row * t->ncolumns, widths,
		    colours);
	}
	free(titles);
	free(widths);
}

/* -- with lines around everything ------------------------------------------ */

struct box {
	const char	*across, *down;
	const char	*ends[3][3];	/* of lines: left, between, right */
};

enum edge { EDGE_TOP, EDGE_MIDDLE, EDGE_BOTTOM };

static const struct box ascii_box = {
	"-", "|", { { "+", "+", "+" }, { "+", "+", "+" }, { "+", "+", "+" } },
};
static const struct box utf8_box = {
	"\u2500", "\u2502", {
		{ "\u250c", "\u252c", "\u2510" },
		{ "\u251c", "\u253c", "\u2524" },
		{ "\u2514", "\u2534", "\u2518" },
	},
};

static void
box_line(const struct table *t, FILE *out, const size_t *widths,
    const struct box *b, enum edge edge)
{
	const char *end = b->ends[edge][0];
	size_t col, i;

	for (col = 0; col < t->ncolumns; col++) {
		if (widths[col] == 0)
			continue;
		fputs(end, out);
		end = b->ends[edge][1];
		for (i = 0; i < widths[col] + 2; i++)
			fputs(b->across, out);
	}
	fprintf(out, "%s\n", b->ends[edge][2]);
}

static void
box_row(const struct table *t, FILE *out, const struct cell *cells,
    const size_t *widths, const struct box *b, int colours)
{
	size_t col;

	for (col = 0; col < t->ncolumns; col++) {
		if (widths[col] == 0)
			continue;
		fprintf(out, "%s ", b->down);
		print_cell(out, &cells[col], widths[col],
		    t->columns[col].right, 0, colours);
		fputc(' ', out);
	}
	fprintf(out, "%s\n", b->down);
}

void
table_box(const struct table *t, FILE *out, size_t width, int utf8,
    int colours)
{
	const struct box *b = utf8 ? &utf8_box : &ascii_box;
	/* a blank more on both sides, and one line more than there are gaps */
	size_t row, *widths, frame = t->ncolumns + 3;
	struct cell *titles;

	if (t->ncolumns == 0)
		return;
	titles = lay_out(t, width > frame ? width - frame : width, &widths);
	box_line(t, out, widths, b, EDGE_TOP);
	box_row(t, out, titles, widths, b, colours);
	box_line(t, out, widths, b, EDGE_MIDDLE);
	for (row = 0; row < t->ncells / t->ncolumns; row++)
		box_row(t, out, t->cells + row * t->ncolumns, widths, b,
		    colours);
	box_line(t, out, widths, b, EDGE_BOTTOM);
	free(titles);
	free(widths);
}
