/* SPDX-License-Identifier: ISC */
/* Code that walks along frame pointers, and loops in its first bytes: no jump
 * can be put there. */
#include <stdio.h>

const void *tight(int);

__asm__(".text\n"
	".globl tight\n"
	".type tight, @function\n"
	"tight:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 6, -16\n"
	"	mov %rsp, %rbp\n"
	"	.cfi_def_cfa_register 6\n"
	"1:	mov 0(%rbp), %rax\n"
	"	dec %edi\n"
	"	jnz 1b\n"
	"	mov 8(%rax), %rax\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa 7, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size tight, . - tight\n");

__attribute__((noinline, noclone)) int
outer(int n)
{
	return (tight(n) != NULL);
}

int
main(void)
{
	printf("%d\n", outer(3));
	(void)getchar();
	return (0);
}
