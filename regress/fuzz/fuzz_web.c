/* SPDX-License-Identifier: ISC */
/* links: netproc/webcheck.c netproc/webform.c netproc/line.c common/utf8.c */
/* covers: netproc/webcheck.c netproc/webform.c */
/*
 * Fuzz target of what the web parses itself: Host and Origin, and the form
 * around a file.  What comes out of a form must be the same in whatever
 * pieces it comes, and no boundary may be in a file.
 */
#include <strings.h>

#include "regress/fuzz/fuzz.h"

#include "netproc/webcheck.h"
#include "netproc/webform.h"

static void
names(const char *text)
{
	const char *other = text + strlen(text) / 2;

	(void)host_is_ours(text, "rig,lab.example.org");
	(void)host_is_ours("rig:80", text);
	/* whoever has an origin of ours has a name of ours in it */
	if (origin_is_same(text, other, false) &&
	    strncasecmp(text, "http", 4) != 0)
		abort();
	if (origin_is_same(text, other, true) &&
	    !origin_is_same(text, other, false))
		abort();
}

struct found {
	char		*file;
	size_t		 size;
	unsigned int	 fields;
	uint64_t	 most;
	bool		 ok;
};

/* As webreq.c does it; bytes of the file are taken a few at a time. */
static bool
read_piece(struct form *f, const char *p, size_t n, size_t take, size_t len,
    struct found *out)
{
	struct form_bytes in = { p, n }, data;
	enum form_event e;

	while ((e = form_next(f, &in, &data)) != FORM_MORE) {
		if (e == FORM_WRONG)
			return false;
		if (e == FORM_FIELD && (strlen(f->value) > FORM_FIELD_MAX ||
		    (strcmp(f->name, "name") != 0 &&
		    strcmp(f->name, "exec") != 0)))
			abort();
		out->fields += e == FORM_FIELD;
		if (e == FORM_FILE)
			out->most = form_most(f, len);
		if (e != FORM_DATA)
			continue;
		if (data.n > take)
			data.n = take;
		memcpy(out->file + out->size, data.p, data.n);
		out->size += data.n;
		form_ate(f, &in, data.n);
	}
	return true;
}

static void
read_form(const char *type, const char *body, size_t len, size_t step,
    size_t take, struct found *out)
{
	static struct form f;
	size_t at, n;

	*out = (struct found){ .file = malloc(len + 1) };
	if (out->file == NULL)
		abort();
	if (form_begin(&f, type) != NULL)
		return;
	for (at = 0; at < len; at += n) {
		n = len - at < step ? len - at : step;
		if (!read_piece(&f, body + at, n, take, len, out))
			return;
	}
	out->ok = form_lacks(&f) == NULL;
}

static void
form(const char *text, size_t len)
{
	static const char type[] = "multipart/form-data; boundary=xyz";
	static const char mark[] = "\r\n--xyz";
	struct found a, b;
	char *p;

	read_form(type, text, len, len + 1, len + 1, &a);
	read_form(type, text, len, 3, 2, &b);
	if (a.ok != b.ok || (a.ok && (a.size != b.size ||
	    a.fields != b.fields || memcmp(a.file, b.file, a.size) != 0)))
		abort();
	/* no boundary is in a file, one follows it, and room was enough */
	p = a.ok ? memmem(text, len, a.file, a.size) : NULL;
	if (a.ok && (p == NULL || a.size > a.most ||
	    memmem(a.file, a.size, mark, sizeof(mark) - 1) != NULL))
		abort();
	free(a.file);
	free(b.file);
	/* the boundary is the client's, too */
	read_form(text, text, strlen(text), 7, 3, &a);
	free(a.file);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (text == NULL)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	names(text);
	form(text, size);
	free(text);
	return 0;
}
