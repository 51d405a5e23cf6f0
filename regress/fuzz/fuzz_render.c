/* SPDX-License-Identifier: ISC */
/* links: timeline/values/desc.c timeline/values/render.c timeline/values/inverse.c tracer/syms/symindex.c tracer/syms/match.c common/base/utf8.c */
/* covers: timeline/values/desc.c timeline/values/render.c timeline/values/inverse.c tracer/syms/symindex.c tracer/syms/match.c */
/*
 * Fuzz target: a hostile description with hostile bytes, a hostile index, and
 * any pattern on any name.  The rendered text must be printable ASCII or UTF-8
 * with balanced quotes, and within its bound; a search for the value that the
 * text is in JSON must not rule it out.
 */
#include <sys/mman.h>

#include <json-c/json.h>

#include <unistd.h>

#include "regress/fuzz/fuzz.h"

#include "syms/match.h"
#include "syms/symindex.h"
#include "timeline/values/inverse.h"
#include "timeline/values/render.h"

static void
check_text(const struct render_out *o)
{
	size_t i;
	bool in = false;

	if (o->len > RENDER_MAX)
		abort();
	for (i = 0; i < o->len; i++) {
		if ((unsigned char)o->buf[i] < 0x20)
			abort();
		if (o->buf[i] == '\\')
			i++;
		else if (o->buf[i] == '"')
			in = !in;
	}
	if (in && !o->bad)
		abort();
}

/* As query_value.c has it: what is shown so is not ruled out. */
static void
look_for(const struct desc *d, const struct capture *steps, size_t nsteps,
    struct store_value v)
{
	static struct store_inverse inv;

	inverse_of(d, steps, nsteps, &v, &inv);
	must(inv.found != FOUND_NEVER);
}

/* Looks for a string of JSON, as a client gives it in a query. */
static void
look_for_text(const struct desc *d, const struct capture *steps,
    size_t nsteps, const char *shown)
{
	struct json_object *o = json_tokener_parse(shown);

	must(o != NULL);
	look_for(d, steps, nsteps, (struct store_value){ .type = STORE_STRING,
	    .s = json_object_get_string(o),
	    .len = (size_t)json_object_get_string_len(o) });
	json_object_put(o);
}

/* Looks for the value shown; "<unreadable>" and its like have no key. */
static void
try_shown(const struct desc *d, const struct capture *steps, size_t nsteps,
    const struct render_out *o)
{
	struct store_value v = {.type = STORE_STRING};
	char *s = copy_of(o->buf, o->len, true), *end;

	if (o->bad || o->len == 0 || s[1] == '<') {
		free(s);
		return;
	}
	if (s[0] == '"') {
		look_for_text(d, steps, nsteps, s);
	} else if (s[0] == '-' || (s[0] >= '0' && s[0] <= '9')) {
		v.negative = s[0] == '-' && strcmp(s, "-0") != 0;
		v.integer = v.negative ? (uint64_t)strtoll(s, &end, 10)
				       : strtoull(s, &end, 10);
		v.real = strtod(s, NULL);
		v.type =
		    *end == '\0' && strlen(s) < 20 ? STORE_INTEGER : STORE_REAL;
		look_for(d, steps, nsteps, v);
	} else if (strcmp(s, "true") == 0 || strcmp(s, "false") == 0) {
		v.type = STORE_BOOL;
		v.truth = s[0] == 't';
		look_for(d, steps, nsteps, v);
	}
	free(s);
}

/* Looks for the value that was shown, and for others. */
static void
try_inverse(const struct desc *d, const struct capture *steps,
    const struct render_out *o, const uint8_t *data, size_t len)
{
	static struct store_inverse inv;
	struct store_value v = { .type = STORE_STRING, .s = o->buf,
		.len = o->len };
	size_t nsteps = 0;
	uint32_t type;

	while (nsteps < CAPTURE_MAX && steps[nsteps].op != CAP_END)
		nsteps++;
	try_shown(d, steps, nsteps, o);
	for (type = STORE_NULL; type <= STORE_COMPOUND; type++) {
		v = (struct store_value){ .type = type,
			.s = (const char *)data, .len = len };
		memcpy(&v.integer, data, len < 8 ? len : 8);
		memcpy(&v.real, data, len < 8 ? len : 8);
		v.negative = (int64_t)v.integer < 0;
		inverse_of(d, steps, nsteps, &v, &inv);
		must(inv.found != FOUND_BYTES || inv.len <= STORE_BYTES_MAX);
		inverse_of(NULL, steps, nsteps, &v, &inv);
	}
}

static void
try_desc(const uint8_t *data, size_t len)
{
	struct capture steps[CAPTURE_MAX];
	struct render_out o = { 0 };
	struct desc d;
	size_t n = len / 2;

	if (n < sizeof(steps))
		return;
	memcpy(steps, data, sizeof(steps));
	if (desc_open(&d, data + sizeof(steps), n - sizeof(steps)) == -1)
		return;
	render_args(&d, steps, CAPTURE_MAX, data + n, len - n, &o);
	check_text(&o);
	o.len = 0;
	o.bad = false;
	render_result(&d, steps, CAPTURE_MAX, data + n, len - n, &o);
	check_text(&o);
	try_inverse(&d, steps, &o, data + n, len - n);
	free(o.buf);
	desc_close(&d);
}

/* All of it is there; a function is found by its first address, if it has
 * one, or another that begins at the same. */
static void
check_found(const struct symindex *ix)
{
	const struct sym_func *f;
	uint32_t i;

	for (i = 0; i < ix->header->nfuncs; i++) {
		(void)strlen(symindex_str(ix, ix->funcs[i].name));
		(void)symindex_at(ix, ix->funcs[i].addr + 1);
		f = symindex_at(ix, ix->funcs[i].addr);
		must(ix->funcs[i].addr == 0
			 ? f == NULL
			 : f != NULL && f->addr == ix->funcs[i].addr);
	}
	must(*symindex_str(ix, ix->header->strs_len) == '\0');
}

/* A file of it, which is mapped if it is sealed, says the same. */
static void
try_file(const void *p, size_t len, bool sealed, bool good)
{
	int fd = memfd_create("index", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct symindex ix;
	char why[200];
	bool opened;

	must(fd != -1 && write(fd, p, len) == (ssize_t)len);
	if (sealed)
		must(fcntl(fd, F_ADD_SEALS,
			 F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0);
	opened = symindex_open(&ix, fd, why, sizeof(why)) == 0;
	must(opened == good && (opened || why[0] != '\0'));
	must(!opened || ix.mapped == sealed);
	if (opened)
		check_found(&ix);
	symindex_close(&ix);
	close(fd);
}

static void
try_index(const uint8_t *data, size_t len)
{
	char why[200], *p = copy_of(data, len, false);
	struct symindex ix;
	bool good;

	good = symindex_check(&ix, p, len, why, sizeof(why)) == 0;
	if (good)
		check_found(&ix);
	try_file(p, len, false, good);
	try_file(p, len, true, good);
	free(p);
}

static void
try_match(const uint8_t *data, size_t len)
{
	char *p = malloc(len + 1), *name, why[200];
	struct pattern *pat;

	if (p == NULL)
		abort();
	memcpy(p, data, len);
	p[len] = '\0';
	name = p + strlen(p);
	if (name < p + len)
		name++;
	pat = pattern_new(p, "/app", why, sizeof(why));
	if (pat != NULL)
		(void)pattern_matches(pat, name, "", name);
	else if (why[0] == '\0')
		abort();
	pattern_free(pat);
	free(p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (len == 0)
		return 0;
	switch (data[0]) {
	case 'D':
		try_desc(data + 1, len - 1);
		break;
	case 'I':
		try_index(data + 1, len - 1);
		break;
	default:
		try_match(data, len);
		break;
	}
	return 0;
}
