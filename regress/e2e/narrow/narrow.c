/* SPDX-License-Identifier: ISC */
/*
 * A 32-bit program without a C library, so that no package is needed for it:
 * it says what it is called, and what the kernel answers to system calls.
 * Each argument is one, as NUMBER[:ARGUMENT...]; "vsock" and "alg" ask for a
 * socket by socketcall, "read" waits for a byte of input, "spin" never ends,
 * "crash" ends by SIGSEGV.
 */
#define SYS_exit	1
#define SYS_read	3
#define SYS_write	4
#define SYS_socketcall	102
#define SYS_prctl	172
#define PR_GET_NAME	16
#define NARGS		5

static volatile unsigned int turns;

static long
call(long nr, const long *a)
{
	long r;

	__asm__ volatile("int $0x80" : "=a" (r) : "a" (nr), "b" (a[0]),
	    "c" (a[1]), "d" (a[2]), "S" (a[3]), "D" (a[4]) : "memory");
	return r;
}

static void
put(const char *s)
{
	long a[NARGS] = { 1, (long)s, 0, 0, 0 };

	while (s[a[2]] != '\0')
		a[2]++;
	(void)call(SYS_write, a);
}

static void
put_number(long v)
{
	char text[16], *p = text + sizeof(text) - 1;
	unsigned long u = v < 0 ? -(unsigned long)v : (unsigned long)v;

	*p = '\0';
	do
		*--p = (char)('0' + u % 10);
	while ((u /= 10) != 0);
	if (v < 0)
		*--p = '-';
	put(p);
}

static int
same(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static long
by_socketcall(long family)
{
	long socket[3] = { family, 1, 0 };
	long a[NARGS] = { 1, (long)socket, 0, 0, 0 };

	return call(SYS_socketcall, a);
}

static long
by_number(const char *s)
{
	long v[NARGS + 1] = { 0 };
	unsigned int n = 0;

	for (; *s != '\0'; s++)
		if (*s == ':' && n < NARGS)
			n++;
		else
			v[n] = v[n] * 10 + (*s - '0');
	return call(v[0], v + 1);
}

int	spin(int);
void	begin(int, char **);

int __attribute__((noinline))
spin(int more)
{
	turns += (unsigned int)more;
	return (int)turns;
}

static long
one(const char *s)
{
	char byte;
	long a[NARGS] = { 0, (long)&byte, 1, 0, 0 };

	if (same(s, "vsock"))
		return by_socketcall(40);
	if (same(s, "alg"))
		return by_socketcall(38);
	if (same(s, "read"))
		return call(SYS_read, a);
	if (same(s, "crash"))
		*(volatile int *)8 = 1;
	while (same(s, "spin"))
		(void)spin(1);
	return by_number(s);
}

void
begin(int argc, char **argv)
{
	char name[16];
	long a[NARGS] = { PR_GET_NAME, (long)name, 0, 0, 0 };
	int i;

	(void)call(SYS_prctl, a);
	put("argv0=");
	put(argv[0]);
	put("\ncomm=");
	put(name);
	put("\n");
	for (i = 1; i < argc; i++) {
		put(argv[i]);
		put("=");
		put_number(one(argv[i]));
		put("\n");
	}
	a[0] = 7;
	(void)call(SYS_exit, a);
}

__asm__(".globl _start\n_start:\n\tmovl (%esp), %eax\n\tleal 4(%esp), %edx\n"
    "\tandl $-16, %esp\n\tsubl $8, %esp\n\tpushl %edx\n\tpushl %eax\n"
    "\tcall begin\n");
