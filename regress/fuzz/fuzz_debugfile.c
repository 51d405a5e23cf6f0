/* SPDX-License-Identifier: ISC */
/* links: common/base/elffile.c common/base/log.c */
/* covers: tracer/binary/debugfile.c common/base/elffile.c */
/*
 * Fuzz target of the look for debug information in a file of its own: a
 * binary's path, the build id that it says it has, and the file that lies where
 * such a one would.
 */
#include <sys/mman.h>

#include <errno.h>
#include <unistd.h>

#include "regress/fuzz/fuzz.h"

static int	 fuzz_open(const char *);

#define open(path, flags)	fuzz_open(path)
#include "tracer/binary/debugfile.c"
#undef open

static struct input	 image;
static unsigned int	 tries, wanted;	/* the one that is there; 0 = none */

/* Opens a new file at the wanted try; the caller closes it. */
static int
fuzz_open(const char *path)
{
	size_t len = strlen(path);
	int fd;

	must(path[0] == '/' && len > strlen(".debug") && len < PATH_MAX + 32);
	if (++tries != wanted) {
		errno = ENOENT;
		return -1;
	}
	fd = memfd_create("debug", MFD_CLOEXEC);
	must(fd != -1);
	must(write(fd, image.p, image.left) == (ssize_t)image.left);
	return fd;
}

/* A file accepted as debug information must name it somewhere. */
static void
look(void)
{
	int fd;

	tries = 0;
	wanted = 1;
	fd = fuzz_open("/x.debug");
	if (debugfile_is_one(fd))
		must(memmem(image.p, image.left, "debug_info", 11) != NULL);
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	uint8_t how = take_u8(&in);
	char path[256] = "", id[8] = "";
	int fds = count_fds(), fd;
	size_t n = take_u8(&in);

	n = n < in.left ? n : in.left;
	memcpy(path, in.p, n);
	image = (struct input){ in.p + n, in.left - n };
	(void)snprintf(id, sizeof(id), "%.*x", how >> 5, how * 0x01010101U);
	look();
	tries = 0;
	wanted = how & 7;
	fd = debugfile_open(path, id);
	must(fd == -1 || (wanted != 0 && strlen(id) >= 4));
	must(tries <= 4 && (tries <= 1 || path[0] == '/'));
	if (fd != -1)
		close(fd);
	must(count_fds() == fds);
	return 0;
}
