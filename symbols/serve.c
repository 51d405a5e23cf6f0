/* SPDX-License-Identifier: ISC */
/* Questions about one binary. */
#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "build.h"
#include "serve.h"
#include "typed.h"
#include "wire/msg.h"

/* Lies behind offsets of 32 bits; and less than the limit of addresses. */
#define FILE_MOST	(4ULL << 30)
#define SEALS		(F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

#define MSG(name, from, to, min, max, fd, states, refusal, handler)	\
	int handler(struct msg *);
#include "wire/msgs.def"
#undef MSG

static struct channel	 chan;
static struct elf_image	 elf;
static struct dwarf	 dwarf;
static bool		 is_open, has_dwarf;

/* Without the tracer there is nobody who could ask. */
static void
gone(struct channel *c, const char *why)
{
	(void)c;
	_exit(why == NULL ? 0 : 1);
}

void
serve_open(int fd)
{
	chan_init(&chan, ROLE_SYMBOLS, ROLE_TRACER, gone, NULL);
	if (chan_open(&chan, fd, 0) == -1)
		fatalx("fd 3 is not a channel; symbols is started for a "
		    "tracer");
}

static int
failed(const struct msg *m, const char *code, const char *why)
{
	struct msg_out *o = msg_new(MSG_SYM_FAILED, NULL, 0, m->hdr.request);

	msg_put_str(o, code);
	msg_put_str(o, why);
	(void)chan_send(&chan, o, -1);
	return 0;
}

static int
open_image(int fd, char *why, size_t size)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st) == -1 || st.st_size <= 0) {
		(void)snprintf(why, size, "empty, not an ELF");
		return -1;
	}
	if ((uint64_t)st.st_size > FILE_MOST) {
		(void)snprintf(why, size, "it is larger than 4 GiB");
		return -1;
	}
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED) {
		(void)snprintf(why, size, "it cannot be mapped: %s",
		    strerrordesc_np(errno));
		return -1;
	}
	if (elf_open(&elf, p, (size_t)st.st_size, why, size) == 0)
		return 0;
	(void)munmap(p, (size_t)st.st_size);
	return -1;
}

int
sym_on_open(struct msg *m)
{
	char why[200], id[ELF_BUILD_ID_MAX * 2 + 1] = "";
	struct msg_out *o;
	size_t i;

	if (msg_end(m) == -1 || is_open)
		return -1;
	if (open_image(m->fd, why, sizeof(why)) == -1)
		return failed(m, "BAD_BINARY", why);
	is_open = true;
	for (i = 0; i < elf.build_id_len; i++)
		(void)snprintf(id + i * 2, 3, "%02x", elf.build_id[i]);
	o = msg_new(MSG_SYM_OPENED, NULL, 0, m->hdr.request);
	msg_put_u64(o, elf.size);
	msg_put_str(o, id);
	(void)chan_send(&chan, o, -1);
	return 0;
}

/* Unpacking and units are put off until something is asked for. */
static struct dwarf *
get_dwarf(void)
{
	if (!has_dwarf)
		dwarf_open(&dwarf, &elf);
	has_dwarf = true;
	return &dwarf;
}

static int
send_index(const struct msg *m, const struct found *f)
{
	int fd = memfd_create("index", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct msg_out *o;
	off_t size;

	if (fd == -1 || build_write(&elf, f, fd) == -1 ||
	    (size = lseek(fd, 0, SEEK_END)) == -1 ||
	    fcntl(fd, F_ADD_SEALS, SEALS) == -1) {
		if (fd != -1)
			close(fd);
		return failed(m, "INTERNAL", "there is no room for the index");
	}
	o = msg_new(MSG_SYM_INDEX, NULL, 0, m->hdr.request);
	msg_put_u64(o, (uint64_t)size);
	(void)chan_send(&chan, o, fd);
	return 0;
}

int
sym_on_scan(struct msg *m)
{
	struct found f;
	int r;

	if (msg_end(m) == -1 || !is_open)
		return -1;
	build_index(&elf, get_dwarf(), &f);
	r = send_index(m, &f);
	found_free(&f);
	return r;
}

static void
send_typed(const struct msg *m, uint32_t die)
{
	struct msg_out *o = msg_new(MSG_SYM_TYPED, NULL, 0, m->hdr.request);
	static struct typed t;

	typed_make(get_dwarf(), die, &t);
	msg_put_u32(o, die);
	msg_put_blob(o, t.enter, t.nenter * sizeof(t.enter[0]));
	msg_put_blob(o, t.leave, t.nleave * sizeof(t.leave[0]));
	msg_put_blob(o, t.desc, t.desc_len);
	(void)chan_send(&chan, o, -1);
}

int
sym_on_types(struct msg *m)
{
	uint32_t n = msg_get_u32(m), i, dies[SYM_TYPES_MAX];

	if (n == 0 || n > SYM_TYPES_MAX || !is_open)
		return -1;
	for (i = 0; i < n; i++)
		dies[i] = msg_get_u32(m);
	if (msg_end(m) == -1)
		return -1;
	for (i = 0; i < n; i++)
		send_typed(m, dies[i]);
	return 0;
}
