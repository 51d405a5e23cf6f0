/* SPDX-License-Identifier: ISC */
/* Is this a program that this host's machine can run, judged by its header? */
#ifndef DL_ELFHDR_H
#define DL_ELFHDR_H

#include <stddef.h>

/* As much of an image as elf_check() looks at. */
#define ELF_CHECK_LEN	64

/* The verdict on a 32-bit program that this host's 64-bit kernel can run. */
enum elf_32bit {
	ELF_32BIT_WRONG,	/* only 64-bit ones can be used */
	ELF_32BIT_FORBIDDEN,	/* allow-32bit no */
	ELF_32BIT_GOOD
};

/*
 * hdr (borrowed) is the first len bytes of an image, any alignment; give at
 * least ELF_CHECK_LEN or all that there is.  0 when the header is that of an
 * 64-bit executable for this machine, else -1 and a sentence in why (size > 0).
 */
int	elf_check(const void *hdr, size_t len, char *why, size_t size);

/*
 * The same for an open file (fd borrowed, its offset is left alone), and its
 * program headers must lie within it.
 */
int	elf_check_fd(int fd, enum elf_32bit, char *why, size_t size);

#endif
