/* SPDX-License-Identifier: ISC */
/* links: common/base/elffile.c common/base/log.c */
/* covers: tracer/engine/objsym.c common/base/elffile.c */
/*
 * Fuzz target of the names that the tracer itself looks for in a process: the
 * input is its program's file, or the memory of an object that is loaded
 * somewhere.  Both are the process's to make up, while they are read as well.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <elf.h>
#include <stdio.h>
#include <unistd.h>

#include "regress/fuzz/fuzz.h"

static int	 fuzz_open(void);

#define open(path, flags)	fuzz_open()
#include "tracer/engine/objsym.c"
#undef open

#define SOUGHT		"__cxa_throw"	/* by a hook, for one */

static struct input	 image;		/* what is in the file, or in memory */
static uint64_t		 start;		/* ... from there on */
static bool		 changing;	/* what is read again is other */
static unsigned int	 reads, found;

/* Opens the program's file; the caller closes it. */
static int
fuzz_open(void)
{
	int fd = memfd_create("exe", MFD_CLOEXEC);

	must(fd != -1);
	must(write(fd, image.p, image.left) == (ssize_t)image.left);
	return fd;
}

pid_t
maps_task(pid_t pid)
{
	return pid;
}

bool
mem_read(const struct target *t, uint64_t addr, void *buf, size_t len)
{
	uint64_t off = addr - start;

	must(t == NULL);
	if (off > image.left || len > image.left - off)
		return false;
	memcpy(buf, image.p + off, len);
	if (changing && ++reads % 3 == 0 && len > 0)
		((uint8_t *)buf)[reads % len] ^= (uint8_t)reads;
	return true;
}

bool
arch_runs(uint16_t machine)
{
	return machine == EM_X86_64;
}

static bool
any(const char *name)
{
	return name[0] != '\0';
}

static bool
sought(const char *name)
{
	must(strlen(name) < NAME_MOST);
	return strcmp(name, SOUGHT) == 0;
}

static void
count(const char *name, uint64_t addr, uint64_t size, void *arg)
{
	char copy[NAME_MOST];

	(void)addr;
	(void)size;
	must(arg == &found && strlen(name) < sizeof(copy));
	/* each byte of it is there */
	(void)snprintf(copy, sizeof(copy), "%s", name);
	found++;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	uint8_t how = take_u8(&in);
	objsym_want want = how & 1 ? sought : any;
	struct exe_facts f;
	bool elf;
	char *copy;
	int fds = count_fds();

	start = how & 2 ? 0x7f0000400000 : 0;
	if (how & 4)
		start = take_u64(&in);
	changing = (how & 8) != 0;
	reads = found = 0;
	copy = copy_of(in.p, in.left, false);
	image = (struct input){ (uint8_t *)copy, in.left };
	if (how & 16)
		objsym_dynamic(NULL, start, want, count, &found);
	else {
		elf = objsym_exe(1, start, &f, want, count, &found);
		must(elf == f.elf64 && (f.symtab || found == 0));
	}
	/* a symbol is as long as 24 bytes, and is told once */
	must(found <= in.left / sizeof(Elf64_Sym));
	free(copy);
	must(count_fds() == fds);
	return 0;
}
