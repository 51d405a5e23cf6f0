/* SPDX-License-Identifier: ISC */
/* flags: -static */
/*
 * usage: ttys attack [argument ...]
 * Attacks of a program on terminals, its own and others'.  The results are
 * printed as "name=0" or "name=ERRNO" lines; the table is at the end.
 */
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* the base system's headers keep it from programs */
#define LINUX_CONSOLE	0x541c
#define HIGH		(1UL << 32)

static void
say(const char *name, long r)
{
	dprintf(STDOUT_FILENO, "%s=%s\n", name, r < 0 ? strerrorname_np(errno) :
	    "0");
}

static void
sleep_on(void)
{
	dprintf(STDOUT_FILENO, "ready\n");
	for (;;)
		pause();
}

/* -- what is typed by nobody ---------------------------------------------- */

static void
push(char **argv)
{
	int fd = open("/dev/tty", O_RDWR);
	char c = 'x';

	(void)argv;
	say("tty", fd);
	say("sti", ioctl(STDIN_FILENO, TIOCSTI, &c));
	say("sti.tty", ioctl(fd, TIOCSTI, &c));
	/* the kernel looks at 32 bits of the command */
	say("sti.high", syscall(SYS_ioctl, STDIN_FILENO, TIOCSTI | HIGH, &c));
	say("linux", ioctl(STDIN_FILENO, LINUX_CONSOLE, &c));
	say("linux.high", syscall(SYS_ioctl, STDIN_FILENO,
	    LINUX_CONSOLE | HIGH, &c));
	say("console", ioctl(STDIN_FILENO, TIOCCONS));
	say("vhangup", vhangup());
}

/* -- others' terminals ---------------------------------------------------- */

static void
others(char **argv)
{
	DIR *dir = opendir("/dev/pts");
	char own[64] = "", path[300];
	struct dirent *de;
	int fd;

	(void)argv;
	(void)ttyname_r(STDIN_FILENO, own, sizeof(own));
	while (dir != NULL && (de = readdir(dir)) != NULL) {
		(void)snprintf(path, sizeof(path), "/dev/pts/%s", de->d_name);
		if (de->d_name[0] < '0' || de->d_name[0] > '9' ||
		    strcmp(path, own) == 0)
			continue;
		fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK);
		say(path, fd);
		if (fd != -1)
			(void)!write(fd, "INTRUDER", 8);
	}
	dprintf(STDOUT_FILENO, "done\n");
}

/* Fds of any process that can be seen and name a master. */
static void
masters(char **argv)
{
	char path[64], name[256];
	int pid, fd, found = 0;
	ssize_t n;

	(void)argv;
	for (pid = 1; pid < 64; pid++)
		for (fd = 0; fd < 64; fd++) {
			(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d",
			    pid, fd);
			n = readlink(path, name, sizeof(name) - 1);
			if (n <= 0)
				continue;
			name[n] = '\0';
			found += strstr(name, "ptmx") != NULL;
		}
	dprintf(STDOUT_FILENO, "masters=%d\n", found);
}

static void
many(char **argv)
{
	int n = 0;

	(void)argv;
	while (open("/dev/ptmx", O_RDWR | O_NOCTTY) != -1)
		n++;
	dprintf(STDOUT_FILENO, "opened=%d errno=%s\n", n,
	    strerrorname_np(errno));
	sleep_on();
}

/* Another session's controlling terminal, and its own anew. */
static void
steal(char **argv)
{
	int fd = argv[0] == NULL ? -1 : open(argv[0], O_RDWR | O_NOCTTY);

	say("ctty.own", ioctl(STDIN_FILENO, TIOCSCTTY, 1));
	if (fork() == 0) {
		say("setsid", setsid());
		say("ctty.stolen", ioctl(STDIN_FILENO, TIOCSCTTY, 1));
		if (fd != -1)
			say("ctty.other", ioctl(fd, TIOCSCTTY, 0));
		_exit(0);
	}
	sleep(1);
	dprintf(STDOUT_FILENO, "done\n");
}

/* -- who does not want to go ---------------------------------------------- */

static void
stay(char **argv)
{
	int i, sig;

	(void)argv;
	for (i = 0; i < 5; i++)
		if (fork() == 0) {
			if (i % 2 == 0)
				(void)setsid();
			for (sig = 1; sig < 32; sig++)
				(void)signal(sig, SIG_IGN);
			if (i == 4)
				(void)close_range(0, ~0U, 0);
			for (;;)
				pause();
		}
	dprintf(STDOUT_FILENO, "leaving\n");
	exit(9);
}

static void
flood(char **argv)
{
	static char buf[65536];

	(void)argv;
	memset(buf, 'f', sizeof(buf));
	for (;;)
		(void)!write(STDOUT_FILENO, buf, sizeof(buf));
}

/* Opens and closes its terminal as fast as it can. */
static void
flap(char **argv)
{
	char name[64];
	int fd, i;

	(void)argv;
	if (ttyname_r(STDIN_FILENO, name, sizeof(name)) != 0)
		exit(1);
	for (i = 0; i < 3; i++)
		(void)close(i);
	for (i = 0; i < 20000; i++) {
		fd = open(name, O_RDWR | O_NOCTTY);
		(void)!write(fd, "flap\n", 5);
		(void)close(fd);
	}
	exit(0);
}

static const struct {
	const char	*name;
	void		(*run)(char **);
} attacks[] = {
	{ "push", push }, { "others", others }, { "masters", masters },
	{ "many", many }, { "steal", steal }, { "stay", stay },
	{ "flood", flood }, { "flap", flap },
};

int
main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 1 && i < sizeof(attacks) / sizeof(attacks[0]); i++)
		if (strcmp(argv[1], attacks[i].name) == 0) {
			attacks[i].run(argv + 2);
			return 0;
		}
	return 2;
}
