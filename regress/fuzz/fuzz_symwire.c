/* SPDX-License-Identifier: ISC */
/* links: tracer/syms/symclient.c symbols/ !symbols/main.c !symbols/serve.c !symbols/sysfilter.c common/wire/chan.c common/base/elfhdr.c common/base/errors.c common/wire/fdkind.c common/base/log.c common/base/loop.c common/wire/msg.c common/wire/roles.c common/base/utf8.c */
/* covers: symbols/serve.c tracer/syms/symclient.c */
/*
 * Fuzz target of what a tracer and its symbols process say to each other, from
 * either end: the first byte says which is the one that is not right, and how
 * many records follow, each a message or nearly one.  The rest is the binary.
 */
#include <sys/mman.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define FUZZ_LOOP
#include "regress/fuzz/fuzz.h"
#include "regress/fuzz/fuzz_chan.h"

#include "tracer/syms/symclient.h"

/* Here it does not end the process, but the conversation. */
#define _exit(code)	((void)(code), serve_ended = true)
static bool	serve_ended;
#include "symbols/serve.c"
#undef _exit

int	tracer_on_sym_opened(struct msg *);
int	tracer_on_sym_index(struct msg *);
int	tracer_on_sym_typed(struct msg *);
int	tracer_on_sym_failed(struct msg *);

const msg_handler	msg_handlers[MSG_COUNT] = {
	[MSG_SYM_OPEN] = sym_on_open,
	[MSG_SYM_SCAN] = sym_on_scan,
	[MSG_SYM_TYPES] = sym_on_types,
	[MSG_SYM_OPENED] = tracer_on_sym_opened,
	[MSG_SYM_INDEX] = tracer_on_sym_index,
	[MSG_SYM_TYPED] = tracer_on_sym_typed,
	[MSG_SYM_FAILED] = tracer_on_sym_failed,
};

static int
memfd_of(const struct input *in)
{
	int fd = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	must(fd != -1);
	must(in->left == 0 || write(fd, in->p, in->left) ==
	    (ssize_t)in->left);
	return fd;
}

/* The file on fd, for reading only; takes fd. */
static int
to_read(int fd)
{
	char path[64];
	int read_fd;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_fd = open(path, O_RDONLY | O_CLOEXEC);
	must(read_fd != -1);
	close(fd);
	return read_fd;
}

/* A message of one of these types, with as much right as the input leaves. */
static void
send_record(int end_fd, enum msg_type first, unsigned int n, struct input *in,
    int fd)
{
	struct msg_hdr h = { .request = 1, .generation = 0 };
	uint8_t how = take_u8(in);
	struct input payload;

	h.type = first + (how & 0x3f) % n;
	payload = take_part(in, take_u8(in) * 4U);
	h.length = (uint32_t)payload.left;
	if (how & 0x40)
		h.length += take_u8(in);
	(void)chan_put(end_fd, &h, payload.p, payload.left,
	    (msg_rows[h.type].fd != FD_NONE) != ((how & 0x80) != 0) ? fd : -1);
}

/* -- symbols, asked by a tracer that is not right -------------------------- */

static void
forget(void)
{
	if (has_dwarf)
		dwarf_close(&dwarf);
	if (is_open) {
		(void)munmap((void *)(uintptr_t)elf.map, elf.size);
		elf_close(&elf);
	}
	has_dwarf = is_open = false;
	chan_close(&chan);
}

/* Sizes that no input has: there is nothing, or far too much. */
enum { EMPTY = 0xd, HUGE_FILE = 0xe };

static void
ask(struct input *in, unsigned int records, unsigned int size)
{
	struct input list = take_part(in, records * 64U);
	int fd = memfd_of(in), fds[2];
	struct msg m;

	if (size == EMPTY || size == HUGE_FILE)
		must(ftruncate(fd, size == EMPTY ? 0 : (off_t)5 << 30) == 0);
	fd = to_read(fd);
	must(chan_pair(fds) == 0);
	serve_ended = false;
	serve_open(fds[0]);
	for (; records > 0 && !serve_ended; records--) {
		send_record(fds[1], MSG_SYM_OPEN, 3, &list, fd);
		turn(0);
		while (chan_hear(fds[1], &m)) {
			must(m.hdr.type >= MSG_SYM_OPENED &&
			    m.hdr.type <= MSG_SYM_FAILED);
			must(m.hdr.length <= msg_rows[m.hdr.type].max);
			if (m.fd != -1)
				close(m.fd);
		}
	}
	forget();
	close(fds[1]);
	close(fd);
}

/* -- a tracer, answered by symbols that are not right ---------------------- */

static bool	client_gone;

static void
opened(void *arg, uint64_t size, const char *id)
{
	(void)arg;
	(void)size;
	must(strlen(id) <= SYM_BUILD_ID * 2);
}

static void
got_index(void *arg, int fd)
{
	(void)arg;
	must(fd != -1);
	close(fd);
}

static void
typed(void *arg, const struct sym_typed *t)
{
	(void)arg;
	must(t->nenter <= CAPTURE_MAX && t->nleave <= CAPTURE_MAX);
	/* the receiver copies these */
	free(copy_of(t->enter, t->nenter * sizeof(struct capture), false));
	free(copy_of(t->leave, t->nleave * sizeof(struct capture), false));
	free(copy_of(t->desc, t->desc_len, false));
}

static void
got_failure(void *arg, const char *code, const char *why)
{
	(void)arg;
	must(strlen(code) < 64 && strlen(why) < 512);
}

static void
symbols_gone(void *arg, const char *why)
{
	(void)arg;
	(void)why;
	client_gone = true;
}

static void
say(struct input *in, unsigned int records)
{
	static const struct symclient_ops ops = { opened, got_index, typed,
	    got_failure, symbols_gone };
	struct symclient s;
	uint32_t dies[4] = { 1, 2, 3, 4 };
	int fds[2], fd = memfd_of(in);

	must(chan_pair(fds) == 0);
	must(symclient_init(&s, fds[0], &ops, NULL) == 0);
	client_gone = false;
	must(symclient_open(&s, dup(fd)) == -1);
	must(symclient_open(&s, to_read(dup(fd))) == 0);
	must(symclient_scan(&s) == 0 && symclient_types(&s, dies, 4) == 0);
	for (; records > 0 && !client_gone; records--) {
		send_record(fds[1], MSG_SYM_OPENED, 4, in, fd);
		turn(0);
	}
	symclient_close(&s);
	close(fds[1]);
	close(fd);
	turn(0);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	signal(SIGPIPE, SIG_IGN);
	quiet();
	must(loop_init() == 0);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	uint8_t how = take_u8(&in);

	if (how & 1)
		ask(&in, how / 2 % 8U, how >> 4);
	else
		say(&in, how / 2 % 16U);
	return 0;
}
