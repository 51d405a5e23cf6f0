/* SPDX-License-Identifier: ISC */
/*
 * All of the state that this processor has beside its general registers is
 * the same before and after a call: state.c [SECONDS] [go: like a Go program]
 *
 * XSAVE writes what there is, so that what a later processor adds is compared
 * as well: x87 and MMX, MXCSR, AVX, AVX-512, PKRU, AMX.
 */
#include <sys/syscall.h>

#include <cpuid.h>
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REQ_XCOMP_PERM	0x1023
#define TILE_DATA	18
#define AREA_MOST	65536
#define AVX		(1UL << 2)
#define AVX512		(7UL << 5)
#define PKRU		(1UL << 9)
#define TILES		(3UL << 17)

static uint8_t before[AREA_MOST] __attribute__((aligned(64)));
static uint8_t after[AREA_MOST] __attribute__((aligned(64)));
static uint8_t seed[1024] __attribute__((aligned(64)));

#ifdef LIKE_GO
/* by which the tracer knows what has small stacks */
__asm__(".section .note.go.buildid,\"a\",@note\n\t.long 0\n\t.previous");
#endif

int probed(long, double);

/* it leaves everything alone, and the compiler knows nothing of that */
__asm__(".text\n\t.globl probed\n\t.type probed, @function\n"
    "probed:\n\tleaq 1(%rdi), %rax\n\tnop\n\tret\n\t"
    ".size probed, . - probed");

static unsigned long
enabled(void)
{
	unsigned int a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (1U << 27)) == 0)
		return (0);
	return (_xgetbv(0));
}

static void
fill_x87(void)
{
	static const uint16_t control = 0x0c7f;
	static const uint32_t mxcsr = 0x7fa0;

	__asm__ volatile("fninit\n\tfldcw %0\n\tfldpi\n\tfld1\n\tfldl2e\n\t"
	    "fldlg2\n\tldmxcsr %1" : : "m"(control), "m"(mxcsr));
}

#define SSE(n)	"movdqu " #n "*16(%0), %%xmm" #n "\n\t"
#define YMM(n)	"vmovdqu " #n "*32(%0), %%ymm" #n "\n\t"
#define ZMM(n)	"vmovdqu64 " #n "*16(%0), %%zmm" #n "\n\t"
#define MASK(n)	"kmovw " #n "*2(%0), %%k" #n "\n\t"
#define LOW(f)	f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)
#define MIDDLE(f) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15)
#define HIGH(f)	f(16) f(17) f(18) f(19) f(20) f(21) f(22) f(23) f(24) f(25) \
		f(26) f(27) f(28) f(29) f(30) f(31)

static void
fill_vectors(unsigned long has)
{
	if ((has & AVX512) == AVX512)
		__asm__ volatile(LOW(ZMM) MIDDLE(ZMM) HIGH(ZMM) LOW(MASK)
		    : : "r"(seed) : "memory");
	else if (has & AVX)
		__asm__ volatile(LOW(YMM) MIDDLE(YMM) : : "r"(seed)
		    : "memory");
	else
		__asm__ volatile(LOW(SSE) MIDDLE(SSE) : : "r"(seed)
		    : "memory");
}

static void
fill_tiles(void)
{
	static uint8_t config[64] __attribute__((aligned(64)));
	int i;

	config[0] = 1;
	for (i = 0; i < 8; i++) {
		config[16 + 2 * i] = 64;
		config[48 + i] = 16;
	}
	__asm__ volatile("ldtilecfg (%0)\n\t"
	    "tileloadd (%1,%2), %%tmm0\n\ttileloadd 1(%1,%2), %%tmm1\n\t"
	    "tileloadd 2(%1,%2), %%tmm2\n\ttileloadd 3(%1,%2), %%tmm3\n\t"
	    "tileloadd 4(%1,%2), %%tmm4\n\ttileloadd 5(%1,%2), %%tmm5\n\t"
	    "tileloadd 6(%1,%2), %%tmm6\n\ttileloadd 7(%1,%2), %%tmm7"
	    : : "r"(config), "r"(seed), "r"(48L) : "memory");
}

static void
fill_keys(void)
{
	/* all keys but that of all memory are shut */
	__asm__ volatile("wrpkru" : : "a"(0x55555554), "c"(0), "d"(0));
}

/* Everything between the two looks is in registers that they do not use. */
static int
round_of(unsigned long has)
{
	int r;

	__asm__ volatile(
	    "movq %%rsp, %%rbx\n\tandq $-16, %%rsp\n\t"
	    "movl $-1, %%eax\n\tmovl $-1, %%edx\n\txsave64 (%1)\n\t"
	    "movl $41, %%edi\n\tcall probed\n\tmovl %%eax, %0\n\t"
	    "movl $-1, %%eax\n\tmovl $-1, %%edx\n\txsave64 (%2)\n\t"
	    "movq %%rbx, %%rsp"
	    : "=&r"(r) : "r"(before), "r"(after)
	    : "rax", "rbx", "rcx", "rdx", "rdi", "rsi", "r8", "r9", "r10",
	    "r11", "memory", "cc");
	if (has & TILES)
		__asm__ volatile("tilerelease");
	if (has & AVX)
		__asm__ volatile("vzeroupper");
	__asm__ volatile("fninit\n\tldmxcsr %0" : : "m"((uint32_t){ 0x1f80 }));
	return (r == 42 ? memcmp(before, after, sizeof(before)) != 0 : 1);
}

static unsigned long
rounds(unsigned long has)
{
	fill_x87();
	if (has & PKRU)
		fill_keys();
	if (has & TILES)
		fill_tiles();
	fill_vectors(has);
	return ((unsigned long)round_of(has));
}

int
main(int argc, char *argv[])
{
	time_t until = time(NULL) + (argc > 1 ? atoi(argv[1]) : 0);
	unsigned long has = enabled(), bad = 0, i;

	for (i = 0; i < sizeof(seed); i++)
		seed[i] = (uint8_t)(i * 7 + 1);
	if (has == 0)
		return (2);
	if ((has & TILES) != 0 &&
	    syscall(SYS_arch_prctl, REQ_XCOMP_PERM, TILE_DATA) != 0)
		has &= ~TILES;
	i = 0;
	do
		bad += rounds(has);
	while (++i < 1000 || time(NULL) < until);
	/* which of it there was is in the header */
	printf("bad %lu has %lx\n", bad,
	    *(unsigned long *)(void *)(before + 512));
	return (0);
}
