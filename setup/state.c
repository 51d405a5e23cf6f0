/* SPDX-License-Identifier: ISC */
/*
 * The files in the state directory that a role keeps open: opened and judged
 * once, while there is root, and handed to each new life of the role.
 */
#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "setup.h"
#include "wire/proto.h"

/* A daemon that was killed may have left roles that are just ending. */
#define LOCK_TRIES	40
#define LOCK_PAUSE_NS	(50 * 1000 * 1000)

static char	tokens_path[PATH_LEN + 16];

/* A new file has to be there after a power cut, too: so its name. */
static int
make(const char *path)
{
	int fd, dir_fd;

	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	    0600);
	if (fd == -1)
		return -1;
	dir_fd = open(d.state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd == -1 || fsync(dir_fd) == -1)
		log_warn("cannot sync %s", d.state_dir);
	if (dir_fd != -1)
		close(dir_fd);
	return fd;
}

static int
open_or_make(const char *path)
{
	/* a FIFO must not hold us up */
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
	    O_CLOEXEC);

	if (fd == -1 && errno == ENOENT)
		fd = make(path);
	if (fd == -1 && errno == ELOOP)
		fatalx("%s is a symbolic link; remove it", path);
	if (fd == -1 && errno == EISDIR)
		fatalx("%s is a directory; remove it", path);
	if (fd == -1)
		fatal("cannot open %s, which must be of uid %u and of mode "
		    "0600, or be removed", path, geteuid());
	return fd;
}

/*
 * Refuses a tokens file that others could have written or read: a writer could
 * have added a token of their own, and a reader knows which users have tokens.
 */
static void
judge(int fd, const char *path)
{
	uid_t spawner = d.role_id[ROLE_SPAWNER].uid;
	struct stat st;

	if (fstat(fd, &st) == -1)
		fatal("cannot look at %s", path);
	if (!S_ISREG(st.st_mode))
		fatalx("%s is not a regular file; remove it", path);
	if (st.st_nlink != 1)
		fatalx("%s has %lu names; remove it, and make new tokens",
		    path, (unsigned long)st.st_nlink);
	if (st.st_uid != geteuid() && st.st_uid != spawner)
		fatalx("%s belongs to uid %u, which may have written its own "
		    "tokens into it; remove it, and make new tokens", path,
		    st.st_uid);
	if ((st.st_mode & 07777) != 0600)
		fatalx("%s has mode %04o, so others may have changed it; "
		    "remove it and make new tokens, or, if you know that "
		    "nobody did, run: chmod 600 %s", path,
		    (unsigned int)st.st_mode & 07777, path);
}

/* Two daemons would write over each other's tokens. */
static void
lock(int fd, const char *path)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
	int tries;

	for (tries = 0; tries < LOCK_TRIES; tries++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return;
		if (errno != EWOULDBLOCK)
			break;
		(void)nanosleep(&pause, NULL);
	}
	if (errno == EWOULDBLOCK)
		fatalx("%s is in use by another daemon; end that, or name "
		    "another --state-dir", path);
	/* file systems that know no locks have to do without */
	log_warn("cannot lock %s", path);
}

void
state_open(void)
{
	int fd;

	(void)snprintf(tokens_path, sizeof(tokens_path), "%s/tokens",
	    d.state_dir);
	fd = open_or_make(tokens_path);
	judge(fd, tokens_path);
	lock(fd, tokens_path);
	give(GIVEN_TOKENS, fd);
}
