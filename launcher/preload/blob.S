/* SPDX-License-Identifier: ISC */
/* The library that is loaded into gdbserver, xstate.c. */
	.section .rodata
	.globl	preload_blob, preload_blob_end
	.p2align 4
preload_blob:
	.incbin	"xstate.so"
preload_blob_end:
	.section .note.GNU-stack,"",@progbits
