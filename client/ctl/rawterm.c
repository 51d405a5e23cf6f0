/* SPDX-License-Identifier: ISC */
/*
 * The user's own terminal. The state that restores the terminal is all in
 * static memory: a signal handler needs it after anything may have gone wrong.
 */
#include <sys/ioctl.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "rawterm.h"
#include "tty/ttymodes.h"

#define OUT_PIECE	32768U
#define LEAVE_MS	1000	/* for a terminal that takes nothing */

static struct rawterm	 term;
static struct termios	 before;
static volatile sig_atomic_t entered;
static volatile sig_atomic_t stuck;	/* nobody reads what we write */
static struct ttymodes	 modes;
/* Output being written: a signal may come before its modes are recorded. */
static const void *volatile coming;
static volatile size_t	 coming_len;

/*
 * Sequences that undo what a program may have left behind: alternate screen,
 * margins, keys that send something else, mouse, paste and focus reports,
 * character sets, colours, a hidden cursor. The cursor does not move, except
 * that it returns to its old place when the alternate screen is left.
 */
#define ENTER_SCREEN	"\033[?1049h"
#define LEAVE_SCREEN	"\033[?1049l"
#define UNDO		"\033[!p\0337\033[r\0338\033[?1l\033>" \
			"\033[?7h\033[?5l\033[4l\033[20l\033[?9l" \
			"\033[?1000l\033[?1002l\033[?1003l\033[?1004l" \
			"\033[?1005l\033[?1006l\033[?1015l\033[?1016l" \
			"\033[?45l\033[?69l\033[?2004l\033[?2026l" \
			"\033[?2027l\033[?2031l\033[?2048l\033(B\017" \
			"\033[>4m\033[0 q\033[0m\033[?25h"

static void
restore_modes(void)
{
	/* Flush the terminal's answers to the program: no shell wants them. */
	if (term.in)
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
}

/* A terminal that takes nothing gets nothing more. */
static void
put(const char *text)
{
	struct pollfd pfd = { .fd = term.out_fd, .events = POLLOUT };
	size_t done = 0, len = strlen(text);
	ssize_t n;

	while (term.out && !stuck && done < len) {
		n = poll(&pfd, 1, LEAVE_MS) == 1 ?
		    write(term.out_fd, text + done, len - done) : -1;
		if (n == -1)
			stuck = 1;
		else
			done += (size_t)n;
	}
}

/* As many of the stack go as came, so that what a shell has there stays. */
static void
undo_keys(const struct ttykeys *k)
{
	char pop[] = "\033[<0u";

	pop[3] = (char)('0' + k->depth);
	if (k->depth > 0)
		put(pop);
	if (k->flags[0] != 0)
		put("\033[=0u");
}

static void
undo_colours(unsigned int colours)
{
	static const char *const resets[] = {
		"\033]104\033\\", "\033]110\033\\", "\033]111\033\\",
		"\033]112\033\\",
	};
	size_t i;

	for (i = 0; i < sizeof(resets) / sizeof(resets[0]); i++)
		if (colours >> i & 1)
			put(resets[i]);
}

/* Nothing here may be what a signal handler must not do. */
static void
write_undo(void)
{
	const struct ttystate *t = &modes.now;
	unsigned int i;

	stuck = 0;
	/* too much is undone if it was written in part; else too little */
	if (coming != NULL)
		ttymodes_feed(&modes, coming, coming_len);
	coming = NULL;
	/* a sequence that has no end yet would take ours for its own */
	if (!ttymodes_is_ground(&modes))
		put("\030");
	if (t->alternate) {
		undo_keys(&t->keys[true]);
		put(LEAVE_SCREEN);
	}
	undo_keys(&t->keys[false]);
	undo_colours(t->colours);
	for (i = 0; i < t->titles; i++)
		put("\033[23;0t");
	put(UNDO);
}

/* Whether the terminal is as if nothing had been shown: people have cursors
 * and colours of their own, which to reset would take from them. */
static bool
is_untouched(void)
{
	char usual[TTYMODES_PREAMBLE + 1], now[TTYMODES_PREAMBLE + 1];
	struct ttymodes fresh;

	ttymodes_init(&fresh);
	usual[ttymodes_preamble(&fresh.now, 0, usual)] = '\0';
	now[ttymodes_preamble(&modes.now, 0, now)] = '\0';
	return ttymodes_is_ground(&modes) && strcmp(usual, now) == 0 &&
	    modes.now.titles == 0 && modes.now.colours == 0;
}

void
rawterm_leave(void)
{
	if (!entered)
		return;
	entered = 0;
	if (!is_untouched())
		write_undo();
	restore_modes();
}

/* Restores the terminal once, on any crash, and raises the signal again. */
static void
on_crash(int signo)
{
	/* what is_untouched() does, a signal handler must not */
	if (entered) {
		entered = 0;
		write_undo();
		restore_modes();
	}
	raise(signo);
}

static void
catch_crashes(void)
{
	static const int crashes[] = {
		SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGXCPU,
	};
	struct sigaction sa = { .sa_handler = on_crash,
	    .sa_flags = (int)SA_RESETHAND };
	size_t i;

	for (i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &sa, NULL);
}

/*
 * Opens the terminal again for output. Its descriptors are shared with the
 * process that started us, which would not expect its own to become
 * non-blocking.
 */
static void
open_out(void)
{
	char name[PATH_MAX];
	int fd = -1;

	term.out = isatty(STDOUT_FILENO);
	term.out_fd = STDOUT_FILENO;
	term.piece = PIPE_BUF;
	if (term.out && ttyname_r(STDOUT_FILENO, name, sizeof(name)) == 0)
		fd = open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		return;
	term.out_fd = fd;
	term.piece = OUT_PIECE;
}

const struct rawterm *
rawterm_begin(void)
{
	open_out();
	ttymodes_init(&modes);
	term.in = tcgetattr(STDIN_FILENO, &before) == 0;
	catch_crashes();
	atexit(rawterm_leave);
	return &term;
}

void
rawterm_enter(void)
{
	struct termios raw = before;

	cfmakeraw(&raw);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	entered = 1;
	/* Keep type-ahead: it is meant for the program. */
	if (term.in)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

void
rawterm_suspend(void)
{
	rawterm_leave();
	raise(SIGSTOP);
	/* the shell may have changed them while we slept */
	if (term.in)
		tcgetattr(STDIN_FILENO, &before);
	rawterm_enter();
}

bool
rawterm_size(unsigned int *cols, unsigned int *rows)
{
	struct winsize ws;

	if ((ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == -1 &&
	    ioctl(STDIN_FILENO, TIOCGWINSZ, &ws) == -1) || ws.ws_col == 0 ||
	    ws.ws_row == 0)
		return false;
	*cols = ws.ws_col;
	*rows = ws.ws_row;
	return true;
}

void
rawterm_showing(const void *buf, size_t len)
{
	coming_len = len;
	coming = buf;
}

void
rawterm_shown(const void *buf, size_t len)
{
	ttymodes_feed(&modes, buf, len);
	coming = NULL;
}

bool
rawterm_alternate(void)
{
	return modes.now.alternate;
}

char *
rawterm_again(void)
{
	char usual[TTYMODES_PREAMBLE + 1], again[TTYMODES_PREAMBLE + 1];
	unsigned int cols, rows = 0;
	struct ttymodes fresh;
	char *text;
	size_t i;

	rawterm_size(&cols, &rows);
	ttymodes_init(&fresh);
	usual[ttymodes_preamble(&fresh.now, rows, usual)] = '\0';
	again[ttymodes_preamble(&modes.now, rows, again)] = '\0';
	/*
	 * Skip the common beginning: it has been done, and would clear the
	 * shell's screen; the cursor's place there is kept.
	 */
	for (i = 0; usual[i] != '\0' && usual[i] == again[i]; i++)
		;
	while (i > 0 && again[i] != '\033')
		i--;
	return asprintf(&text, "%s%s", modes.now.alternate ? ENTER_SCREEN :
	    "", again + i) == -1 ? NULL : text;
}
