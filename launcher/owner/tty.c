/* SPDX-License-Identifier: ISC */
/*
 * Pseudo terminals.  The slave is opened through the master and never by a
 * name, so that it cannot be another's, whatever is mounted where.
 */
#include <sys/ioctl.h>

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include "steps.h"
#include "tty.h"

#define MASTER	"/dev/ptmx"

int
tty_open(const struct run_spec *r, int *slave_fd)
{
	struct winsize ws = { .ws_col = (unsigned short)r->cols,
	    .ws_row = (unsigned short)r->rows };
	struct termios t;
	int unlock = 0;
	int fd = open(MASTER, O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd == -1 || ioctl(fd, TIOCSPTLCK, &unlock) == -1)
		child_die(STEP_TTY);
	*slave_fd = ioctl(fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*slave_fd == -1 || tcgetattr(*slave_fd, &t) == -1)
		child_die(STEP_TTY);
	/* else erasing a character leaves half of it in the line */
	t.c_iflag |= IUTF8;
	if (tcsetattr(*slave_fd, TCSANOW, &t) == -1 ||
	    ioctl(*slave_fd, TIOCSWINSZ, &ws) == -1)
		child_die(STEP_TTY);
	return fd;
}

void
tty_control(void)
{
	if (ioctl(STDIN_FILENO, TIOCSCTTY, 0) == -1)
		child_die(STEP_TTY);
}
