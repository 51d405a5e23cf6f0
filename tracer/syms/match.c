/* SPDX-License-Identifier: ISC */
/*
 * Matching without backtracking: all places in the pattern at which a match
 * could be are bits of a set, and one step over a character moves all of
 * them at once.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "match.h"

#define WORDS	((PATTERN_MAX + 64) / 64)
#define FILE_WORD	"@file:"
#define USER_WORD	"@usercode"

enum kind {
	BY_NAME,
	BY_FILE,
	BY_ROOT
};

struct set {
	uint64_t w[WORDS];
};

struct pattern {
	enum kind	 kind;
	char		 text[PATTERN_MAX + 1];
	char		*root;		/* BY_ROOT; clean, "" for all */
	size_t		 root_len;
	size_t		 n, words;	/* places, the last one accepts */
	bool		 absolute;	/* BY_FILE: from the path's beginning */
	struct set	 on[256];	/* places that a byte leads on from */
	struct set	 star, any;	/* `*` and `**` */
	struct set	 start;
};

/* -- making one ----------------------------------------------------------- */

static void
set_bit(struct set *s, size_t i)
{
	s->w[i / 64] |= 1ULL << (i % 64);
}

/* A star may also stand for nothing. */
static void
pass_stars(const struct pattern *p, struct set *s)
{
	uint64_t stars, carry = 0;
	size_t i;

	for (i = 0; i < p->words; i++) {
		stars = s->w[i] & (p->star.w[i] | p->any.w[i]);
		s->w[i] |= stars << 1 | carry;
		carry = stars >> 63;
	}
}

static void
compile(struct pattern *p, const char *glob)
{
	for (; *glob != '\0'; glob++, p->n++) {
		if (*glob != '*')
			set_bit(&p->on[(unsigned char)*glob], p->n);
		else if (glob[1] == '*') {
			set_bit(&p->any, p->n);
			glob++;
		} else
			set_bit(&p->star, p->n);
	}
	p->words = p->n / 64 + 1;
	set_bit(&p->start, 0);
	pass_stars(p, &p->start);
}

static const char *
check_bytes(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len = strlen(text);

	if (len == 0)
		return "it is empty; \"**\" means every function";
	if (len > PATTERN_MAX)
		return "it is longer than 512 bytes";
	if (isspace(s[0]) || isspace(s[len - 1]))
		return "it begins or ends with a space";
	for (; *s != '\0'; s++)
		if (*s < 0x20 || *s == 0x7f)
			return "it has control characters";
	if (strstr(text, "***") != NULL)
		return "\"***\" means nothing; \"*\" stops at \"::\", \"**\" "
		    "does not";
	return NULL;
}

/* Colons outside of brackets come in twos, between two parts of a name. */
static const char *
check_colons(const char *text)
{
	size_t i, run;
	int depth = 0;

	for (i = 0; text[i] != '\0'; i += run > 0 ? run : 1) {
		run = strspn(text + i, ":");
		if (strchr("(<[{", text[i]) != NULL)
			depth++;
		else if (strchr(")>]}", text[i]) != NULL && depth > 0)
			depth--;
		if (run == 0 || depth > 0)
			continue;
		if (run != 2)
			return "parts of a name are separated by \"::\"";
		if (i == 0)
			return "names do not begin with \"::\"";
		if (text[i + 2] == '\0')
			return "it ends with \"::\"; \"::*\" means everything "
			    "directly there";
	}
	return NULL;
}

/*
 * Takes `.`, `..` and needless slashes out, as paths of sources have none.
 * The length; 0 is the directory of all.
 */
static size_t
clean_path(char *path)
{
	size_t len = 0, n;
	char *part = path;

	for (; *part != '\0'; part += n) {
		part += strspn(part, "/");
		n = strcspn(part, "/");
		if (n == 2 && strncmp(part, "..", 2) == 0) {
			while (len > 0 && path[--len] != '/')
				;
		} else if (n > 0 && !(n == 1 && *part == '.')) {
			path[len++] = '/';
			memmove(path + len, part, n);
			len += n;
		}
	}
	path[len] = '\0';
	return len;
}

static const char *
set_root(struct pattern *p, const char *root)
{
	if (root == NULL || root[0] != '/')
		return "\"" USER_WORD "\" needs a projectRoot that is an "
		    "absolute path";
	if ((p->root = strdup(root)) != NULL)
		p->root_len = clean_path(p->root);
	return p->root == NULL ? "there is not enough memory" : NULL;
}

static const char *
set_file(struct pattern *p, const char *glob)
{
	size_t len = strlen(glob);
	char buf[PATTERN_MAX + 1];

	while (len > 1 && glob[len - 1] == '/')
		len--;
	if (len == 0)
		return "\"" FILE_WORD "\" needs a path, as in "
		    "\"@file:src/parser.c\"";
	memcpy(buf, glob, len);
	buf[len] = '\0';
	p->absolute = buf[0] == '/';
	compile(p, buf);
	return NULL;
}

static const char *
read_pattern(struct pattern *p, const char *text, const char *root)
{
	const char *wrong = check_bytes(text);

	if (wrong != NULL)
		return wrong;
	memcpy(p->text, text, strlen(text));
	if (strcmp(text, USER_WORD) == 0) {
		p->kind = BY_ROOT;
		return set_root(p, root);
	}
	if (strncmp(text, FILE_WORD, sizeof(FILE_WORD) - 1) == 0) {
		p->kind = BY_FILE;
		return set_file(p, text + sizeof(FILE_WORD) - 1);
	}
	if (text[0] == '@')
		return "after \"@\" there are only \"@usercode\" and "
		    "\"@file:PATH\"";
	wrong = check_colons(text);
	if (wrong == NULL)
		compile(p, text);
	return wrong;
}

struct pattern *
pattern_new(const char *text, const char *root, char *why, size_t size)
{
	struct pattern *p = calloc(1, sizeof(*p));
	const char *wrong;

	wrong = p == NULL ? "there is not enough memory" :
	    read_pattern(p, text, root);
	if (wrong == NULL)
		return p;
	(void)snprintf(why, size, "%s", wrong);
	pattern_free(p);
	return NULL;
}

void
pattern_free(struct pattern *p)
{
	if (p == NULL)
		return;
	free(p->root);
	free(p);
}

const char *
pattern_text(const struct pattern *p)
{
	return p->text;
}

/* -- using it ------------------------------------------------------------- */

/* False when nothing can match any more. */
static bool
advance(const struct pattern *p, struct set *s, unsigned char c, bool border)
{
	uint64_t go, carry = 0, left = 0, next;
	size_t i;

	for (i = 0; i < p->words; i++) {
		go = s->w[i] & p->on[c].w[i];
		next = go << 1 | carry | (s->w[i] & p->any.w[i]);
		carry = go >> 63;
		if (!border)
			next |= s->w[i] & p->star.w[i];
		s->w[i] = next;
		left |= next;
	}
	pass_stars(p, s);
	return left != 0;
}

static bool
accepts(const struct pattern *p, const struct set *s)
{
	return (s->w[p->n / 64] >> (p->n % 64) & 1) != 0;
}

static bool
is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c > 127;
}

/* "operator->" and its kin: these brackets enclose nothing. */
static size_t
operator_length(const char *name, size_t i)
{
	static const char word[] = "operator";
	size_t n = sizeof(word) - 1;

	if (name[i] != 'o' || strncmp(name + i, word, n) != 0 ||
	    (i > 0 && is_word(name[i - 1])))
		return 0;
	return n + strspn(name + i + n, "<>()[]-=!+*/%^&|~,");
}

/* How deep in brackets one is after a character. */
static int
depth_after(const char *name, size_t i, int depth)
{
	switch (name[i]) {
	case '<':
	case '(':
	case '[':
	case '{':
		return depth + 1;
	case '>':
		if (i > 0 && name[i - 1] == '-')
			return depth;
		/* FALLTHROUGH */
	case ')':
	case ']':
	case '}':
		return depth > 0 ? depth - 1 : 0;
	default:
		return depth;
	}
}

/*
 * Whether template arguments or an ABI tag follow, and no more.  Looks no
 * farther than to their end, so that all looks together are one pass.
 */
static bool
is_tail(const char *rest)
{
	size_t i = strncmp(rest, "::<", 3) == 0 ? 2 : 0;
	int depth = 0;

	if (rest[i] != '<' && strncmp(rest, "[abi:", 5) != 0)
		return false;
	for (; rest[i] != '\0'; i++) {
		depth = depth_after(rest, i, depth);
		if (depth == 0)
			return rest[i + 1] == '\0' || is_tail(rest + i + 1);
	}
	return false;
}

static bool
name_matches(const struct pattern *p, const char *name)
{
	size_t i, border = 0, plain = 0;
	struct set s = p->start;
	int depth = 0;

	for (i = 0; name[i] != '\0'; i++) {
		if (i >= plain)
			plain = i + operator_length(name, i);
		if (i >= plain && i > 0 && depth == 0 && accepts(p, &s) &&
		    is_tail(name + i))
			return true;
		if (depth == 0 && i >= border && name[i] == ':' &&
		    name[i + 1] == ':' && name[i + 2] != '<')
			border = i + 2;
		if (i >= plain)
			depth = depth_after(name, i, depth);
		if (!advance(p, &s, (unsigned char)name[i], i < border))
			return false;
	}
	return accepts(p, &s);
}

/* From one slash on to the end, to a directory, or to the last suffix. */
static bool
path_matches(const struct pattern *p, const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *dot = strrchr(slash == NULL ? file : slash, '.');
	struct set s = { { 0 } };
	size_t i, w;

	for (i = 0; file[i] != '\0'; i++) {
		if ((i == 0 && (p->absolute || file[0] != '/')) ||
		    (!p->absolute && i > 0 && file[i - 1] == '/'))
			for (w = 0; w < p->words; w++)
				s.w[w] |= p->start.w[w];
		if (i > 0 && accepts(p, &s) &&
		    (file[i] == '/' || file + i == dot))
			return true;
		(void)advance(p, &s, (unsigned char)file[i], file[i] == '/');
	}
	return accepts(p, &s);
}

bool
pattern_matches(const struct pattern *p, const char *name, const char *raw,
    const char *file)
{
	if (p->kind == BY_NAME)
		return name_matches(p, name) || strcmp(p->text, raw) == 0;
	if (file == NULL || file[0] == '\0')
		return false;
	if (p->kind == BY_FILE)
		return path_matches(p, file);
	return strncmp(file, p->root, p->root_len) == 0 &&
	    file[p->root_len] == '/';
}
