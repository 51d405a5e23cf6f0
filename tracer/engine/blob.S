/* SPDX-License-Identifier: ISC */
/* The agent, as it is written into targets: with FSGSBASE, and without. */
#if defined(__x86_64__)
	.section .rodata
	.globl	agent_blob, agent_blob_end
	.p2align 4
agent_blob:
	.incbin	"agent.bin"
agent_blob_end:
	.globl	agent_blob_plain, agent_blob_plain_end
	.p2align 4
agent_blob_plain:
	.incbin	"plain.bin"
agent_blob_plain_end:
#endif
	.section .note.GNU-stack,"",@progbits
