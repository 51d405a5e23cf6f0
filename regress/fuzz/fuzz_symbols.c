/* SPDX-License-Identifier: ISC */
/* links: symbols/abbrev.c symbols/abi.c symbols/build.c symbols/demangle.c symbols/form.c symbols/func.c symbols/image.c symbols/lines.c symbols/loc.c symbols/maker.c symbols/mem.c symbols/ranges.c symbols/scan.c symbols/strs.c symbols/symtab.c symbols/type.c symbols/typed.c symbols/unit.c tracer/syms/symindex.c timeline/values/desc.c timeline/values/render.c common/base/elfhdr.c common/base/log.c common/base/utf8.c */
/* covers: symbols/ !symbols/main.c !symbols/mem.c !symbols/serve.c !symbols/sysfilter.c */
/*
 * Fuzz target: any bytes as a binary, from its header to the values of its
 * functions.  The reader must take the index and every description, whatever
 * was read; no program may capture more than it is allowed to.
 */

#include <sys/mman.h>

#include <unistd.h>

#include "regress/fuzz/fuzz.h"

#include "build.h"
#include "syms/symindex.h"
#include "timeline/values/render.h"
#include "typed.h"

/* Maximum of functions per input whose types are checked. */
#define TYPED_MAX	64

/* As it is sent: its reader takes it, and finds in it what was found. */
static void
check_index(const struct elf_image *e, const struct found *f)
{
	int fd = memfd_create("index", MFD_CLOEXEC);
	struct symindex ix;
	char why[200];

	must(fd != -1 && build_write(e, f, fd) == 0);
	must(symindex_open(&ix, fd, why, sizeof(why)) == 0);
	must(ix.header->nfuncs == f->n && ix.header->flags == f->flags &&
	    ix.header->load_addr == e->load_addr &&
	    ix.header->build_id_len == e->build_id_len);
	symindex_close(&ix);
	close(fd);
}

static void
check_steps(const struct capture *c, size_t n)
{
	for (; n > 0; n--, c++)
		if (c->op == CAP_END || c->op >= CAP_OPS || c->len == 0 ||
		    c->len > CAPTURE_LEN_MAX || c->reg > 15)
			abort();
}

static void
check_typed(struct dwarf *d, uint32_t die, const uint8_t *data, size_t len)
{
	static struct typed t;
	struct render_out o = { 0 };
	struct desc desc;

	typed_make(d, die, &t);
	check_steps(t.enter, t.nenter);
	check_steps(t.leave, t.nleave);
	if (t.desc_len == 0)
		return;
	if (desc_open(&desc, t.desc, t.desc_len) == -1)
		abort();
	render_args(&desc, t.enter, t.nenter, data, len, &o);
	render_result(&desc, t.leave, t.nleave, data, len, &o);
	free(o.buf);
	desc_close(&desc);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct elf_image e;
	static struct dwarf d;
	static struct found f;
	char why[200];
	size_t i;

	if (elf_open(&e, data, len, why, sizeof(why)) == -1)
		return 0;
	dwarf_open(&d, &e);
	build_index(&e, &d, &f);
	check_index(&e, &f);
	for (i = 0; i < f.n && i < TYPED_MAX; i++)
		if (f.funcs[i].die != 0)
			check_typed(&d, f.funcs[i].die, data, len);
	found_free(&f);
	dwarf_close(&d);
	elf_close(&e);
	return 0;
}
