/* SPDX-License-Identifier: ISC */
/* Checks that the bundle holds the program it was uploaded for. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/elfhdr.h"
#include "beneath.h"
#include "execpath.h"
#include "paths.h"

int
execpath_check(struct job *job, const char *exec_path, size_t max)
{
	char clean[PATH_MAX], shown[JOB_NAME];
	const char *wrong;

	wrong = path_clean(clean, sizeof(clean), exec_path, max);
	if (wrong == NULL && clean[0] == '\0')
		wrong = "names no file";
	if (wrong == NULL)
		return 0;
	return job_fail(job, ERR_INVALID_EXEC_PATH, "exec path \"%s\" %s; "
	    "it must be relative to the bundle and stay inside it",
	    job_name(shown, exec_path), wrong);
}

static int
cannot_open(struct job *job, const char *shown, int error)
{
	const char *why;

	/* what the host lacks is not the path's fault */
	if (error == EMFILE || error == ENFILE || error == ENOMEM)
		return job_fail(job, ERR_INTERNAL, "open of \"%s\": %s", shown,
		    strerror(error));
	if (error == ENOENT)
		why = "is not in the bundle";
	else if (error == EXDEV)
		why = "leads out of the bundle";
	else if (error == ELOOP)
		why = "is a loop of symlinks";
	else if (error == ENOTDIR)
		why = "goes through something that is no directory";
	else
		why = strerror(error);
	return job_fail(job, ERR_INVALID_EXEC_PATH, "exec path \"%s\" %s",
	    shown, why);
}

int
execpath_ready(struct job *job, int root_fd, const char *exec_path,
    enum elf_32bit narrow)
{
	char shown[JOB_NAME], why[100];
	struct stat st;
	int fd;

	job_name(shown, exec_path);
	fd = beneath_open(root_fd, exec_path, O_RDONLY | O_NONBLOCK | O_NOCTTY,
	    0, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV);
	if (fd == -1)
		return cannot_open(job, shown, errno);
	if (fstat(fd, &st) == -1) {
		job_fail(job, ERR_INTERNAL, "fstat of \"%s\": %s", shown,
		    strerror(errno));
		goto fail;
	}
	if (!S_ISREG(st.st_mode)) {
		job_fail(job, ERR_INVALID_EXEC_PATH, "exec path \"%s\" is %s, "
		    "not a regular file", shown,
		    S_ISDIR(st.st_mode) ? "a directory" : "a special file");
		goto fail;
	}
	if (elf_check_fd(fd, narrow, why, sizeof(why)) == -1) {
		job_fail(job, ERR_INVALID_ELF, "\"%s\": %s", shown, why);
		goto fail;
	}
	if (fchmod(fd, (st.st_mode & 0777) | S_IXUSR) == -1) {
		job_fail(job, ERR_INTERNAL, "fchmod of \"%s\": %s", shown,
		    strerror(errno));
		goto fail;
	}
	close(fd);
	return 0;
fail:
	close(fd);
	return -1;
}
