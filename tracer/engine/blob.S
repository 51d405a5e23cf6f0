/* SPDX-License-Identifier: ISC */
/* The agent, as it is written into targets. */
#if defined(__x86_64__)
	.section .rodata
	.globl	agent_blob, agent_blob_end
	.p2align 4
agent_blob:
	.incbin	"agent.bin"
agent_blob_end:
#endif
	.section .note.GNU-stack,"",@progbits
