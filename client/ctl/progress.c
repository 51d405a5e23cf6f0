/* SPDX-License-Identifier: ISC */
/* A progress bar on stderr, only on a terminal, and only for transfers that
 * take long enough for anybody to wonder. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/lib/term.h"
#include "progress.h"

#define PATIENCE_MS	300
#define REDRAW_MS	100

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void
progress_start(struct progress *p, const char *title, uint64_t total)
{
	memset(p, 0, sizeof(*p));
	p->title = title;
	p->total = total;
	p->began_ms = now_ms();
	p->tty = isatty(STDERR_FILENO);
}

static void
draw(struct progress *p, uint64_t done, int64_t ms)
{
	char have[TERM_BYTES], all[TERM_BYTES], rate[TERM_BYTES];
	char left[TERM_BYTES], bar[41];
	size_t width = term_width(STDERR_FILENO), cells, full;
	double speed = (double)done * 1000 / (double)(ms > 0 ? ms : 1);

	cells = width > 100 ? 40 : width > 70 ? 20 : 10;
	full = p->total > 0 ?
	    (size_t)((double)done / (double)p->total * (double)cells) : cells;
	if (full > cells)
		full = cells;
	memset(bar, '.', cells);
	memset(bar, '#', full);
	bar[cells] = '\0';
	fprintf(stderr, "\r%s [%s] %s/%s %s/s %s left\033[K", p->title, bar,
	    term_bytes(done, have), term_bytes(p->total, all),
	    term_bytes((uint64_t)speed, rate), speed < 1 ? "?" :
	    term_duration((int64_t)((double)(p->total - done) / speed), left));
	p->drawn = true;
}

void
progress_update(struct progress *p, uint64_t done)
{
	int64_t now;

	if (!p->tty)
		return;
	now = now_ms();
	if (now - p->began_ms < PATIENCE_MS || now - p->drawn_ms < REDRAW_MS)
		return;
	p->drawn_ms = now;
	draw(p, done, now - p->began_ms);
}

void
progress_end(struct progress *p)
{
	if (p->drawn)
		fputs("\r\033[K", stderr);
	p->drawn = false;
}
