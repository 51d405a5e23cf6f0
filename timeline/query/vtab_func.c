/* SPDX-License-Identifier: ISC */
/*
 * In the place of SQLite's functions of the same names: those whose time is
 * the product of two lengths.  SQLite looks at the clock between the steps of
 * its machine only, and a call is one step; these look at it first, and take
 * time in proportion to the text.
 */
#include <string.h>

#include "vtab_int.h"

#define TRIM_MOST	64	/* bytes of characters to trim */

#define TRIM_LEFT	1
#define TRIM_RIGHT	2

static bool
has_time(sqlite3_context *ctx)
{
	struct vtab_clock *c = sqlite3_user_data(ctx);

	if (!c->is_late(c->arg))
		return true;
	sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
	return false;
}

/* NULL, too, for what is no value. */
static const char *
text_of(sqlite3_value *v, size_t *len)
{
	const char *s = (const char *)sqlite3_value_text(v);

	*len = (size_t)sqlite3_value_bytes(v);
	return s;
}

static bool
is_inner(char c)
{
	return (c & 0xc0) == 0x80;
}

/* -- instr(text, part) ---------------------------------------------------- */
/* No character begins with an inner byte, but at the text's beginning. */
static const char *
find_text(const char *s, size_t len, const char *part, size_t n)
{
	if (n > 0 && is_inner(part[0]))
		return len >= n && memcmp(s, part, n) == 0 ? s : NULL;
	return memmem(s, len, part, n);
}

static sqlite3_int64
number_of(const char *s, const char *at)
{
	sqlite3_int64 n = 1;

	if (at == NULL)
		return 0;
	for (; at > s; at--)
		n += !is_inner(*at);
	return n;
}

static void
instr_bytes(sqlite3_context *ctx, sqlite3_value **argv)
{
	const char *s = sqlite3_value_blob(argv[0]), *at;
	const char *part = sqlite3_value_blob(argv[1]);
	size_t len = (size_t)sqlite3_value_bytes(argv[0]);
	size_t n = (size_t)sqlite3_value_bytes(argv[1]);

	/* an empty one has no address */
	at = n == 0 ? s : len == 0 ? NULL : memmem(s, len, part, n);
	sqlite3_result_int64(ctx, n == 0 ? 1 : at == NULL ? 0 : at - s + 1);
}

static void
instr(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const int a = sqlite3_value_type(argv[0]);
	const int b = sqlite3_value_type(argv[1]);
	const char *s, *part;
	size_t len, n;

	(void)argc;
	if (a == SQLITE_NULL || b == SQLITE_NULL || !has_time(ctx))
		return;
	if (a == SQLITE_BLOB && b == SQLITE_BLOB) {
		instr_bytes(ctx, argv);
		return;
	}
	if ((s = text_of(argv[0], &len)) == NULL ||
	    (part = text_of(argv[1], &n)) == NULL) {
		sqlite3_result_error_nomem(ctx);
		return;
	}
	sqlite3_result_int64(ctx, n == 0 ? 1 : number_of(s, find_text(s, len,
	    part, n)));
}

/* -- replace(text, part, by) ---------------------------------------------- */
static void
give_str(sqlite3_context *ctx, sqlite3_str *out)
{
	const int len = sqlite3_str_length(out), e = sqlite3_str_errcode(out);
	char *s = sqlite3_str_finish(out);

	if (e == SQLITE_TOOBIG)
		sqlite3_result_error_toobig(ctx);
	else if (e != SQLITE_OK)
		sqlite3_result_error_nomem(ctx);
	else if (s == NULL)
		sqlite3_result_text(ctx, "", 0, SQLITE_STATIC);
	else {
		sqlite3_result_text(ctx, s, len, sqlite3_free);
		return;
	}
	sqlite3_free(s);
}

static void
replace(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	size_t len, n, nby;
	const char *s = text_of(argv[0], &len), *part = text_of(argv[1], &n);
	const char *by = text_of(argv[2], &nby), *at;
	sqlite3_str *out;

	(void)argc;
	if (s == NULL || part == NULL || !has_time(ctx))
		return;
	if (part[0] == '\0') {
		sqlite3_result_value(ctx, argv[0]);
		return;
	}
	if (by == NULL)
		return;
	out = sqlite3_str_new(sqlite3_context_db_handle(ctx));
	while ((at = memmem(s, len, part, n)) != NULL &&
	    sqlite3_str_errcode(out) == SQLITE_OK) {
		sqlite3_str_append(out, s, (int)(at - s));
		sqlite3_str_append(out, by, (int)nby);
		len -= (size_t)(at - s) + n;
		s = at + n;
	}
	sqlite3_str_append(out, s, (int)len);
	give_str(ctx, out);
}

/* -- trim(text, characters) and its kin ----------------------------------- */
struct trim_set {
	const char *s[TRIM_MOST];
	size_t	 len[TRIM_MOST], n;
};

static void
read_set(struct trim_set *set, const char *s)
{
	const char *first;

	for (set->n = 0; *s != '\0'; set->n++) {
		first = s++;
		while ((*first & 0xc0) == 0xc0 && is_inner(*s))
			s++;
		set->s[set->n] = first;
		set->len[set->n] = (size_t)(s - first);
	}
}

/* How long the character of the set is that s begins or ends with. */
static size_t
in_set(const struct trim_set *set, const char *s, size_t len, bool at_end)
{
	size_t i, n;
	const char *at;

	for (i = 0; i < set->n; i++) {
		if ((n = set->len[i]) > len)
			continue;
		at = at_end ? s + len - n : s;
		if (*at == *set->s[i] && memcmp(at, set->s[i], n) == 0)
			return n;
	}
	return 0;
}

static void
trim(sqlite3_context *ctx, sqlite3_value **argv, unsigned int sides)
{
	size_t len, nset, n;
	const char *s = text_of(argv[0], &len);
	const char *chars = text_of(argv[1], &nset);
	struct trim_set set;

	if (s == NULL || chars == NULL || !has_time(ctx))
		return;
	if (nset > TRIM_MOST) {
		sqlite3_result_error(ctx, "at most 64 bytes of characters can "
		    "be trimmed", -1);
		return;
	}
	read_set(&set, chars);
	while ((sides & TRIM_LEFT) && (n = in_set(&set, s, len, false)) > 0) {
		s += n;
		len -= n;
	}
	while ((sides & TRIM_RIGHT) && (n = in_set(&set, s, len, true)) > 0)
		len -= n;
	sqlite3_result_text(ctx, s, (int)len, SQLITE_TRANSIENT);
}

static void
trim_both(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	trim(ctx, argv, TRIM_LEFT | TRIM_RIGHT);
}

static void
trim_left(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	trim(ctx, argv, TRIM_LEFT);
}

static void
trim_right(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	trim(ctx, argv, TRIM_RIGHT);
}

/* -- LIKE and GLOB -------------------------------------------------------- */
/* The pattern comes first.  Its length has a limit, which is told here. */
static bool
pattern_and_text(sqlite3_context *ctx, sqlite3_value **argv,
    const char **pattern, const char **text)
{
	const int most = sqlite3_limit(sqlite3_context_db_handle(ctx),
	    SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
	size_t n, len;

	*pattern = text_of(argv[0], &n);
	*text = text_of(argv[1], &len);
	if (n > (size_t)most) {
		sqlite3_result_error(ctx, "LIKE or GLOB pattern too complex",
		    -1);
		return false;
	}
	return *pattern != NULL && *text != NULL && has_time(ctx);
}

static void
like(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *pattern, *text, *escape = "";
	size_t n;

	if (argc == 3) {
		if ((escape = text_of(argv[2], &n)) == NULL)
			return;
		if (n != 1 || strchr("%_", escape[0]) != NULL ||
		    (escape[0] & 0x80) != 0) {
			sqlite3_result_error(ctx, "ESCAPE expression must be a "
			    "single ASCII character, neither % nor _", -1);
			return;
		}
	}
	if (pattern_and_text(ctx, argv, &pattern, &text))
		sqlite3_result_int(ctx, sqlite3_strlike(pattern, text,
		    (unsigned char)escape[0]) == 0);
}

static void
glob(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *pattern, *text;

	(void)argc;
	if (pattern_and_text(ctx, argv, &pattern, &text))
		sqlite3_result_int(ctx, sqlite3_strglob(pattern, text) == 0);
}

int
vtab_functions(sqlite3 *db, struct vtab_clock *clock)
{
	static const struct {
		const char *name;
		int argc;
		void (*call)(sqlite3_context *, int, sqlite3_value **);
	} rows[] = {
		{ "instr", 2, instr }, { "replace", 3, replace },
		{ "trim", 2, trim_both }, { "ltrim", 2, trim_left },
		{ "rtrim", 2, trim_right }, { "like", 2, like },
		{ "like", 3, like }, { "glob", 2, glob },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (sqlite3_create_function_v2(db, rows[i].name, rows[i].argc,
		    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
		    clock, rows[i].call, NULL, NULL, NULL) != SQLITE_OK)
			return -1;
	return 0;
}
