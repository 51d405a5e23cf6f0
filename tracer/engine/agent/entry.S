/* SPDX-License-Identifier: ISC */
/*
 * Ways into the agent.  A stub says which probe it is and calls; every
 * register and the flags are as they were when the function begins or the
 * caller goes on.  Offsets on the stack below: 0 registers in DWARF's order,
 * 128 flags, 136 where the stub goes on, 144 the probe, 152 the return
 * address of the function (enter) or the caller's stack (leave).
 */
	.section .header, "ax"
	.globl agent_header
agent_header:
	.quad	0x31746e656761746c
	.long	2, agent_end
	.long	enter, enter_small, leave, gadget
	.long	agent_fixups, agent_fixups_end

	.text
	.macro SAVE
	lea	-136(%rsp), %rsp
	mov	%rax, 0(%rsp)
	mov	%rdx, 8(%rsp)
	mov	%rcx, 16(%rsp)
	mov	%rbx, 24(%rsp)
	mov	%rsi, 32(%rsp)
	mov	%rdi, 40(%rsp)
	mov	%rbp, 48(%rsp)
	mov	%r8, 64(%rsp)
	mov	%r9, 72(%rsp)
	mov	%r10, 80(%rsp)
	mov	%r11, 88(%rsp)
	mov	%r12, 96(%rsp)
	mov	%r13, 104(%rsp)
	mov	%r14, 112(%rsp)
	mov	%r15, 120(%rsp)
	lahf
	seto	%al
	mov	%rax, 128(%rsp)
	lea	152(%rsp), %rax
	mov	%rax, 56(%rsp)
	.endm

	/* what C may have changed; the rest it has kept itself */
	.macro RESTORE
	mov	128(%rsp), %rax
	add	$0x7f, %al
	sahf
	mov	8(%rsp), %rdx
	mov	16(%rsp), %rcx
	mov	32(%rsp), %rsi
	mov	40(%rsp), %rdi
	mov	64(%rsp), %r8
	mov	72(%rsp), %r9
	mov	80(%rsp), %r10
	mov	88(%rsp), %r11
	mov	0(%rsp), %rax
	.endm

	/*
	 * Bases of segments, or what stands there (agent.c).  Without the
	 * instructions a fault has to be mended: IF_MENDED jumps to \else if
	 * nobody is there for it.
	 */
#ifdef __FSGSBASE__
	.macro READ_BASE segment, reg
	rd\segment\()base %r\reg
	.endm
	.macro IF_MENDED reg, else
	.endm
#else
	.macro READ_BASE segment, reg
	xor	%e\reg, %e\reg
91:	mov	%\segment:0, %r\reg
92:
	.pushsection .fixups, "a"
	.long	91b, 92b, 0
	.popsection
	.endm
	.macro IF_MENDED reg, else
	mov	agent_live(%rip), %r\reg
	test	%r\reg, %r\reg
	jz	\else
	mov	agent_control(%rip), %e\reg
	test	%e\reg, %e\reg
	jz	\else
	test	$0x40000000, %e\reg
	jnz	\else
	.endm
#endif

	.p2align 6
enter:
	SAVE
	mov	%rsp, %rdi
	mov	144(%rsp), %esi
	call	agent_enter
	test	%rax, %rax
	jnz	1f
	/* the stub goes on with its call, which fills the same place */
	mov	136(%rsp), %rax
	mov	%rax, 152(%rsp)
	RESTORE
	lea	152(%rsp), %rsp
	ret
1:	/* the return is left alone */
	mov	%rax, 144(%rsp)
	RESTORE
	lea	144(%rsp), %rsp
	ret

	.p2align 6
leave:
	SAVE
	mov	%rsp, %rdi
	mov	144(%rsp), %esi
	call	agent_leave
	mov	%rax, 144(%rsp)
	RESTORE
	lea	136(%rsp), %rsp
	ret

	/*
	 * For programs whose stacks are small: what does not fit into a few
	 * words is done on a stack of the agent.  Offsets of struct
	 * agent_state: self 0, fs 8, alt_top 16, alt_busy 24.
	 */
	.p2align 6
enter_small:
	lea	-24(%rsp), %rsp
	mov	%rax, 16(%rsp)
	mov	%rdx, 8(%rsp)
	lahf
	seto	%al
	mov	%rax, 0(%rsp)
	IF_MENDED ax, 1f
	READ_BASE gs, ax
	test	%rax, %rax
	jz	1f
	cmp	%rax, 0(%rax)
	jne	1f
	READ_BASE fs, dx
	cmp	%rdx, 8(%rax)
	jne	1f
	cmpq	$0, 24(%rax)
	jne	1f
	movq	$1, 24(%rax)
	mov	%rsp, %rdx
	mov	16(%rax), %rsp
	/* as if the stub had been on this stack */
	mov	%rdx, -16(%rsp)
	lea	-16(%rsp), %rsp
	lea	-136(%rsp), %rsp
	mov	16(%rdx), %rax
	mov	%rax, 0(%rsp)
	mov	8(%rdx), %rax
	mov	%rax, 8(%rsp)
	mov	%rcx, 16(%rsp)
	mov	%rbx, 24(%rsp)
	mov	%rsi, 32(%rsp)
	mov	%rdi, 40(%rsp)
	mov	%rbp, 48(%rsp)
	lea	40(%rdx), %rax
	mov	%rax, 56(%rsp)
	mov	%r8, 64(%rsp)
	mov	%r9, 72(%rsp)
	mov	%r10, 80(%rsp)
	mov	%r11, 88(%rsp)
	mov	%r12, 96(%rsp)
	mov	%r13, 104(%rsp)
	mov	%r14, 112(%rsp)
	mov	%r15, 120(%rsp)
	mov	0(%rdx), %rax
	mov	%rax, 128(%rsp)
	mov	%rsp, %rdi
	mov	32(%rdx), %esi
	call	agent_enter_open
	mov	136(%rsp), %rdx
	mov	%rax, 32(%rdx)
	RESTORE
	/* first off this stack: the next signal may begin to use it */
	mov	136(%rsp), %rsp
	READ_BASE gs, ax
	movq	$0, 24(%rax)
	/* rdx and rax are still where they were saved first */
	mov	8(%rsp), %rdx
	mov	16(%rsp), %rax
	lea	32(%rsp), %rsp
	ret
1:	mov	0(%rsp), %rax
	add	$0x7f, %al
	sahf
	mov	8(%rsp), %rdx
	mov	16(%rsp), %rax
	lea	24(%rsp), %rsp
	jmp	enter

	/* where the engine makes system calls in the target's name */
	.p2align 4
gadget:
	syscall
	int3
