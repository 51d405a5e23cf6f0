/* SPDX-License-Identifier: ISC */
/*
 * SQLite on two files that are open already: the database and its log of
 * writes.  There is no third one (the lock is exclusive, temporary tables are
 * in memory) and no name, so a process that uses it needs neither a directory
 * nor the right to open a file.
 */
#include <sys/random.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store_int.h"

struct pair {
	struct pair *next;
	char	 name[32];
	int	 db_fd, wal_fd;
};

struct vfs_file {
	sqlite3_file base;
	int	 fd;
};

static struct pair *pairs;

/* The fd that a name stands for, -1 = none. */
static int
fd_of(const char *name)
{
	const struct pair *p;
	size_t len;

	for (p = pairs; name != NULL && p != NULL; p = p->next) {
		len = strlen(p->name);
		if (strncmp(name, p->name, len) != 0)
			continue;
		if (name[len] == '\0')
			return p->db_fd;
		if (strcmp(name + len, "-wal") == 0)
			return p->wal_fd;
	}
	return -1;
}

/* -- a file ------------------------------------------------------------- */
static int
fd_in(sqlite3_file *f)
{
	return ((struct vfs_file *)(void *)f)->fd;
}

static int
file_close(sqlite3_file *f)
{
	(void)f;
	return SQLITE_OK;
}

static int
file_read(sqlite3_file *f, void *to, int len, sqlite3_int64 at)
{
	ssize_t n;
	int have = 0;

	while (have < len) {
		n = pread(fd_in(f), (uint8_t *)to + have, (size_t)(len - have),
		    at + have);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return SQLITE_IOERR_READ;
		if (n == 0)
			break;
		have += (int)n;
	}
	memset((uint8_t *)to + have, 0, (size_t)(len - have));
	return have == len ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int
file_write(sqlite3_file *f, const void *data, int len, sqlite3_int64 at)
{
	ssize_t n;

	while (len > 0) {
		n = pwrite(fd_in(f), data, (size_t)len, at);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno != ENOSPC && errno != EDQUOT)
			return SQLITE_IOERR_WRITE;
		if (n <= 0)
			return SQLITE_FULL;
		data = (const uint8_t *)data + n;
		len -= (int)n;
		at += n;
	}
	return SQLITE_OK;
}

static int
file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	return ftruncate(fd_in(f), size) == -1 ? SQLITE_IOERR_TRUNCATE :
	    SQLITE_OK;
}

static int
file_sync(sqlite3_file *f, int flags)
{
	(void)flags;
	return fdatasync(fd_in(f)) == -1 ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int
file_size(sqlite3_file *f, sqlite3_int64 *size)
{
	struct stat sb;

	if (fstat(fd_in(f), &sb) == -1)
		return SQLITE_IOERR_FSTAT;
	*size = sb.st_size;
	return SQLITE_OK;
}

/* The store has locked the calls, and all go together. */
static int
file_lock(sqlite3_file *f, int level)
{
	(void)f;
	(void)level;
	return SQLITE_OK;
}

static int
file_reserved(sqlite3_file *f, int *is)
{
	(void)f;
	*is = 0;
	return SQLITE_OK;
}

static int
file_control(sqlite3_file *f, int op, void *arg)
{
	(void)f;
	(void)op;
	(void)arg;
	return SQLITE_NOTFOUND;
}

static int
file_sector(sqlite3_file *f)
{
	(void)f;
	return 4096;
}

static int
file_traits(sqlite3_file *f)
{
	(void)f;
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE |
	    SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN;
}

/* version 1: no shared memory, so SQLite must be in its exclusive mode */
static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_lock,
	.xCheckReservedLock = file_reserved,
	.xFileControl = file_control,
	.xSectorSize = file_sector,
	.xDeviceCharacteristics = file_traits,
};

/* -- the file system ---------------------------------------------------- */
static int
vfs_open(sqlite3_vfs *v, sqlite3_filename name, sqlite3_file *f, int flags,
    int *out)
{
	struct vfs_file *vf = (struct vfs_file *)(void *)f;

	(void)v;
	vf->base.pMethods = NULL;
	if ((vf->fd = fd_of(name)) == -1)
		return SQLITE_CANTOPEN;
	vf->base.pMethods = &methods;
	if (out != NULL)
		*out = flags;
	return SQLITE_OK;
}

static int
vfs_delete(sqlite3_vfs *v, const char *name, int sync)
{
	int fd = fd_of(name);

	(void)v;
	(void)sync;
	return fd != -1 && ftruncate(fd, 0) == -1 ? SQLITE_IOERR_DELETE :
	    SQLITE_OK;
}

/* Tells SQLite that an empty file does not exist. */
static int
vfs_access(sqlite3_vfs *v, const char *name, int flags, int *is)
{
	int fd = fd_of(name);
	struct stat sb;

	(void)v;
	(void)flags;
	*is = fd != -1 && fstat(fd, &sb) == 0 && sb.st_size > 0;
	return SQLITE_OK;
}

static int
vfs_path(sqlite3_vfs *v, const char *name, int size, char *out)
{
	(void)v;
	return snprintf(out, (size_t)size, "%s", name) < size ? SQLITE_OK :
	    SQLITE_CANTOPEN;
}

static int
vfs_random(sqlite3_vfs *v, int len, char *out)
{
	(void)v;
	return (int)getrandom(out, (size_t)len, 0);
}

static int
vfs_sleep(sqlite3_vfs *v, int us)
{
	(void)v;
	return us;		/* nobody else has the lock: never waited for */
}

static int
vfs_time(sqlite3_vfs *v, sqlite3_int64 *ms)
{
	struct timespec ts;

	(void)v;
	clock_gettime(CLOCK_REALTIME, &ts);
	/* since noon in Greenwich on November 24, 4714 BC */
	*ms = INT64_C(210866760000000) + ts.tv_sec * 1000 +
	    ts.tv_nsec / 1000000;
	return SQLITE_OK;
}

static int
vfs_day(sqlite3_vfs *v, double *day)
{
	sqlite3_int64 ms;

	vfs_time(v, &ms);
	*day = (double)ms / 86400000.0;
	return SQLITE_OK;
}

static int
vfs_error(sqlite3_vfs *v, int size, char *out)
{
	(void)v;
	(void)size;
	(void)out;
	return errno;
}

static sqlite3_vfs vfs = {
	.iVersion = 2,
	.szOsFile = sizeof(struct vfs_file),
	.mxPathname = 64,
	.zName = VFS_NAME,
	.xOpen = vfs_open,
	.xDelete = vfs_delete,
	.xAccess = vfs_access,
	.xFullPathname = vfs_path,
	.xRandomness = vfs_random,
	.xSleep = vfs_sleep,
	.xCurrentTime = vfs_day,
	.xGetLastError = vfs_error,
	.xCurrentTimeInt64 = vfs_time,
};

int
vfs_register(int db_fd, int wal_fd, char name[32])
{
	static unsigned int serial;
	struct pair *p = calloc(1, sizeof(*p));

	/* the default one too: connections that are only in memory use it */
	if (p == NULL || sqlite3_vfs_register(&vfs, 1) != SQLITE_OK) {
		free(p);
		return -1;
	}
	snprintf(p->name, sizeof(p->name), "timeline%u.", ++serial);
	snprintf(name, 32, "%s", p->name);
	p->db_fd = db_fd;
	p->wal_fd = wal_fd;
	p->next = pairs;
	pairs = p;
	return 0;
}

void
vfs_unregister(const char *name)
{
	struct pair **p, *old;

	for (p = &pairs; *p != NULL; p = &(*p)->next)
		if (strcmp((*p)->name, name) == 0) {
			old = *p;
			*p = old->next;
			free(old);
			return;
		}
}
