/* SPDX-License-Identifier: ISC */
/* flags: -static -Icommon */
/*
 * A helper that has been taken over.  As gdbserver it behaves as the end of
 * its name says (garbage-exit, garbage-flood ...), as archiver as the
 * EXEC_PATH of the bundle says.
 */
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "wire/jobreport.h"

#define ATTACHED	"Attached; pid = 2\n"

static pid_t	target;

static void
put(int fd, const void *p, size_t n)
{
	if (write(fd, p, n) == -1)
		_exit(1);
}

static void
linger(void)
{
	for (;;)
		pause();
}

static void
fill(int fd)
{
	static char junk[65536];
	size_t i;

	for (i = 0; i < sizeof(junk); i++)
		junk[i] = (char)(i * 7919 >> 3);
	for (;;)
		put(fd, junk, sizeof(junk));
}

/* -- as gdbserver: 0 and 1 are the wire, 2 is read for its words ---------- */

static void
g_exit(void)
{
	_exit(0);
}

static void
g_words(void)
{
	put(2, "no\x1b[2J\x07way\0\xff\r\n\"}{\\", 20);
	_exit(1);
}

/* Whether it has really attached is looked at: who only says so waits. */
static void
attach(void)
{
	if (ptrace(PTRACE_ATTACH, target, 0, 0) == -1)
		_exit(1);
	(void)waitpid(target, NULL, __WALL);
	put(2, ATTACHED, sizeof(ATTACHED) - 1);
}

static void
g_attached(void)
{
	put(2, ATTACHED, sizeof(ATTACHED) - 1);
	_exit(1);
}

static void
g_liar(void)
{
	put(2, ATTACHED, sizeof(ATTACHED) - 1);
	linger();
}

static void
g_flood(void)
{
	attach();
	if (fork() == 0)
		fill(2);
	fill(1);
}

static void
g_closes(void)
{
	close(0);
	close(1);
	close(2);
	linger();
}

static void
g_deaf(void)
{
	attach();
	linger();
}

/* Descendants that should not outlive the session. */
static void
g_children(void)
{
	int i;

	for (i = 0; i < 5; i++)
		if (fork() == 0) {
			(void)setsid();
			for (i = 1; i < NSIG; i++)
				(void)signal(i, SIG_IGN);
			linger();
		}
	attach();
	linger();
}

/* -- as archiver: 1 is read for reports ----------------------------------- */

static void
report(uint32_t kind, uint32_t code, uint64_t bytes, const char *text)
{
	struct jobreport r = { .kind = kind, .code = code, .bytes = bytes,
	    .members = bytes };
	size_t i;

	for (i = 0; text[i] != '\0'; i++)
		r.text[i] = text[i];
	put(1, &r, sizeof(r));
}

static void
a_half(void)
{
	put(1, "half", 4);
}

static void
a_escapes(void)
{
	report(JOBREPORT_FAILED, ERR_EXTRACT_FAILED, 0, "\x1b[2J\x07\n");
}

static void
a_kinds(void)
{
	report(77, 0, 0, "");
	report(JOBREPORT_DONE, ERR_COUNT + 9, 0, "");
}

static void
a_nothing(void)
{
	report(JOBREPORT_DONE, 0, 0, "");
}

static void
a_huge(void)
{
	report(JOBREPORT_PROGRESS, 0, UINT64_MAX, "");
	report(JOBREPORT_DONE, 0, UINT64_MAX, "");
}

static void
a_twice(void)
{
	report(JOBREPORT_DONE, 0, 10, "");
	report(JOBREPORT_FAILED, ERR_EXTRACT_FAILED, 10, "after all");
}

static void
a_reports(void)
{
	int i;

	for (i = 0; i < 200000; i++)
		report(JOBREPORT_PROGRESS, 0, 1, "");
	report(JOBREPORT_FAILED, ERR_EXTRACT_FAILED, 0, "enough");
}

/* The file that is to be started is not there, or is something else. */
static void
a_fifo(void)
{
	if (mkfifo("fifo", 0777) == -1)
		_exit(1);
	report(JOBREPORT_DONE, 0, 10, "");
}

static void
a_link(void)
{
	if (symlink("/bin/sh", "link") == -1)
		_exit(1);
	report(JOBREPORT_DONE, 0, 10, "");
}

static void
a_fill(void)
{
	static char zeros[65536];
	FILE *f = fopen("fill", "w");
	uint64_t n = 0;

	while (f != NULL && fwrite(zeros, 1, sizeof(zeros), f) ==
	    sizeof(zeros) && n < (uint64_t)1 << 30)
		n += sizeof(zeros);
	report(JOBREPORT_DONE, 0, 1, "");
}

static const struct {
	const char	*name;
	void		(*fn)(void);
} modes[] = {
	{ "exit", g_exit }, { "words", g_words }, { "attached", g_attached },
	{ "liar", g_liar }, { "flood", g_flood }, { "closes", g_closes }, { "deaf", g_deaf },
	{ "children", g_children },
	{ "half", a_half }, { "escapes", a_escapes }, { "kinds", a_kinds },
	{ "nothing", a_nothing }, { "huge", a_huge }, { "twice", a_twice },
	{ "reports", a_reports }, { "fifo", a_fifo }, { "link", a_link },
	{ "fill", a_fill },
};

int
main(int argc, char **argv)
{
	const char *mode = strrchr(argv[0], '-');
	size_t i;

	target = argc > 1 ? atoi(argv[argc - 1]) : 0;
	if (argc == 7 && strcmp(argv[1], "unpack") == 0)
		mode = argv[5];
	else if (mode != NULL)
		mode++;
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (mode != NULL && strcmp(mode, modes[i].name) == 0)
			modes[i].fn();
	return 0;
}
