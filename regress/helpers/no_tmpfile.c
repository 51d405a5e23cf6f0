/* SPDX-License-Identifier: ISC */
/* flags: -lseccomp */
/*
 * no_tmpfile PROGRAM [ARGUMENT ...]: no file system has files without a name,
 * as overlayfs before Linux 6.3 and NFS.
 */
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <unistd.h>

#define TMPFILE		(O_TMPFILE & ~O_DIRECTORY)

int
main(int argc, char *argv[])
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);

	if (argc < 2 || ctx == NULL ||
	    seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, 0) != 0 ||
	    seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EOPNOTSUPP), SCMP_SYS(openat),
	    1, SCMP_A2(SCMP_CMP_MASKED_EQ, TMPFILE, TMPFILE)) != 0 ||
	    seccomp_load(ctx) != 0)
		return 1;
	execvp(argv[1], argv + 1);
	return 1;
}
