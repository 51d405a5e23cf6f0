/* SPDX-License-Identifier: ISC */
/* links: common/base/elfhdr.c */
/* covers: common/base/elfhdr.c */
/*
 * Fuzz target: elf_check() on any bytes.  A verdict comes with a sentence,
 * the sentence is printable, and nothing shorter than a header passes.
 */

#include "regress/fuzz/fuzz.h"

#include "base/elfhdr.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char why[160], tiny[8];
	size_t i;
	int verdict;

	memset(why, 0, sizeof(why));
	verdict = elf_check(data, len, why, sizeof(why));
	if (verdict == 0 && len < ELF_CHECK_LEN)
		abort();
	if (verdict == -1 && why[0] == '\0')
		abort();
	for (i = 0; why[i] != '\0'; i++) {
		if (why[i] < 0x20 || why[i] > 0x7e)
			abort();
	}
	/* a short buffer changes the sentence only */
	if (elf_check(data, len, tiny, sizeof(tiny)) != verdict)
		abort();
	return 0;
}
