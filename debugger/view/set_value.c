/* SPDX-License-Identifier: ISC */
/*
 * Assignment: under gdb by a function of its own, under lldb in steps of one
 * expression each: the kind of the target, its old value, the new one, the
 * assignment, and reading back.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <json-c/json.h>

#include "base/log.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/format.h"
#include "debugger/base/op.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/dialect.h"
#include "debugger/text/copy.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/text/memtext.h"
#include "debugger/text/scalar.h"
#include "memory.h"
#include "set_value.h"

#define ZEROED_MOST	65536	/* bytes of an array that text fills up */
#define COMPARED_MOST	64	/* of them are read back */

/* Properties of a type: TRAITS tells, times the size of a byte. */
enum trait {
	T_ARRAY		= 1 << 0,
	T_POINTER	= 1 << 1,
	T_FLOAT		= 1 << 2,
	T_INTEGER	= 1 << 3,
	T_ENUM		= 1 << 4,
	T_SIGNED	= 1 << 5,
	T_BOOL		= 1 << 6,
	T_CONST		= 1 << 7
};
#define T_SCALAR	(T_POINTER | T_FLOAT | T_INTEGER | T_ENUM)
#define TRAITS_SIZE	256
/* typeof has no references: of one it is what it refers to */
#define TRAITS \
	"({ typedef __typeof__(%s) dl_t; sizeof(dl_t) * 256 + " \
	"__is_array(dl_t) + __is_pointer(dl_t) * 2 + " \
	"__is_floating_point(dl_t) * 4 + __is_integral(dl_t) * 8 + " \
	"__is_enum(dl_t) * 16 + __is_signed(dl_t) * 32 + " \
	"__is_same(const volatile dl_t, const volatile bool) * 64 + " \
	"__is_const(dl_t) * 128; })"

struct job {
	struct op	*op;		/* held by each request; may be NULL */
	int64_t		 frame;
	uint64_t	 epoch;
	char		*target, *value;
	set_value_fn	 fn;
	void		*arg;
	dap_fn		 next;
	bool		 has_put;	/* it may have to be put back */
	unsigned int	 traits;
	size_t		 size;
	char		*old, *type;	/* as shown */
	char		*before;	/* as a number; NULL = not a scalar */
	char		*number;	/* the new one, as read */
	char		 literal[SCALAR_TEXT];	/* and as written */
	char		*text;		/* bytes to be put into an array */
	size_t		 len;
	unsigned int	 tried;		/* ways to read the value */
	char		*why;		/* what lldb said about the first */
};

static void
free_job(struct job *j)
{
	free(j->target);
	free(j->value);
	free(j->old);
	free(j->type);
	free(j->before);
	free(j->number);
	free(j->text);
	free(j->why);
	free(j);
}

static void	 fail(struct job *, const char *code, const char *, ...)
		    __attribute__((format(printf, 3, 4)));
static void	 ask(struct job *, dap_fn, const char *, ...)
		    __attribute__((format(printf, 3, 4)));

static void
fail(struct job *j, const char *code, const char *fmt, ...)
{
	char words[2048];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	j->fn(j->op, &(struct set_value) { .code = code, .why = words },
	    j->arg);
	free_job(j);
}

/* Another client may have let the program run since the step before. */
static void
on_step(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;

	if (dbg.epoch != j->epoch &&
	    (dbg.phase != PHASE_STOPPED || !j->has_put))
		fail(j, "not_stopped", "the program was resumed or changed "
		    "meanwhile: print %s to see what it has", j->target);
	else if (!a->ok && a->body == NULL && a->code != NULL &&
	    strcmp(a->code, "adapter_failed") != 0 &&
	    strcmp(a->code, "refused") != 0)
		fail(j, a->code, "%s", a->message);
	else
		j->next(op, a, j);
}

/*
 * lldb has a parser of its own for simple expressions, to which a reference is
 * its address.  It knows no commas.
 */
static void
ask(struct job *j, dap_fn next, const char *fmt, ...)
{
	struct json_object *args = jone_int("frameId", j->frame);
	char *text, *whole;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0 ||
	    asprintf(&whole, "%s(0, %s)", dialect()->expression_prefix == NULL ?
	    "" : dialect()->expression_prefix, text) < 0)
		fatal("expression");
	va_end(ap);
	jput_str(args, "expression", whole);
	jput_str(args, "context", dialect()->print_context);
	free(text);
	free(whole);
	j->next = next;
	adapter_ask("evaluate", args, j->op, on_step, j);
}

/* "error: <user expression 3>:1:8: words\n  1 | ...": the words. */
static char *
words_of(const struct dap_answer *a)
{
	const char *s = a->message == NULL ? "no reason given" :
	    memtext_error(a->message), *p;

	if (*s == '<' && (p = strstr(s, ">:")) != NULL &&
	    (p = strstr(p, ": ")) != NULL)
		s = p + 2;
	if (strncmp(s, "error: ", 7) == 0)
		s += 7;
	return copy_part(s, strcspn(s, "\n"));
}

static void
fail_lldb(struct job *j, const struct dap_answer *a)
{
	char *words = words_of(a);

	fail(j, "evaluate_failed", "%s was not set: %s", j->target, words);
	free(words);
}

/* The number of a value, without the text that a pointer points to. */
static char *
number_of(const struct dap_answer *a)
{
	const char *s = a->ok ? jget_str(a->body, "result") : NULL;

	return s == NULL ? NULL : copy_part(s, strcspn(s, " "));
}

static bool
is_scalar(const struct job *j)
{
	return (j->traits & T_SCALAR) != 0;
}

/* -- the end ------------------------------------------------------------ */
static void
on_shown(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;
	const char *value = a->ok ? jget_str(a->body, "result") : NULL;

	if (value == NULL) {
		fail_lldb(j, a);
		return;
	}
	j->fn(op, &(struct set_value) { .old = j->old, .value = value,
	    .type = j->type }, j->arg);
	free_job(j);
}

static void
show(struct job *j)
{
	ask(j, on_shown, "%s", j->target);
}

/* -- reading back ------------------------------------------------------- */
/* As a number: +x has neither names of enumerators nor characters. */
static void
ask_number(struct job *j, dap_fn next)
{
	ask(j, next, (j->traits & T_ENUM) != 0 ? "(long long)(%s)" : "+(%s)",
	    j->target);
}

static void
put(struct job *j, const char *literal, dap_fn next)
{
	j->has_put = true;
	/* C++ has its word against it, debuggers do it */
	ask(j, next, (j->traits & T_CONST) != 0 ?
	    "*(__remove_cv(__typeof__(%1$s)) *)&(%1$s) = "
	    "(__typeof__(%1$s))(%2$s)" :
	    "(%1$s) = (__typeof__(%1$s))(%2$s)", j->target, literal);
}

static void
on_field(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;

	(void)op;
	if (!a->ok && a->message != NULL && strstr(a->message, "bit-field"))
		fail(j, "evaluate_failed", "%s was not set: it is a bit field "
		    "with too few bits for %s; it still is %s", j->target,
		    j->number, j->before);
	else
		fail(j, "evaluate_failed", "%s was not set: optimised code "
		    "keeps no place for it here; it still is %s.  Build with "
		    "-O0, or set it where it is computed", j->target,
		    j->before);
}

static void
on_restored(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)op;
	(void)a;
	ask(arg, on_field, "sizeof(%s)", ((struct job *)arg)->target);
}

static bool
same(const struct job *j, const char *a, const char *b)
{
	struct scalar x, y;

	if (a == NULL || b == NULL)
		return false;
	if ((j->traits & T_FLOAT) != 0)
		return scalar_float_same(a, b, j->size);
	return scalar_parse(a, &x) && scalar_parse(b, &y) &&
	    scalar_same(&x, &y, j->size);
}

/* A bit field cuts what it is given: it gets back what it had. */
static void
restore(struct job *j)
{
	char literal[SCALAR_TEXT], digits[SCALAR_TEXT];
	struct scalar n;

	if ((j->traits & T_FLOAT) != 0) {
		(void)scalar_float(j->before, j->type, digits, literal,
		    sizeof(literal));
		put(j, literal, on_restored);
	} else if (scalar_parse(j->before, &n)) {
		scalar_write(&n, literal, sizeof(literal));
		put(j, literal, on_restored);
	} else
		on_restored(j->op, NULL, j);
}

static void
on_read_back(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;
	char *after = number_of(a);

	(void)op;
	if (same(j, after, j->number))
		show(j);
	else if (same(j, after, j->before))
		on_restored(op, a, j);
	else
		restore(j);
	free(after);
}

static void
on_put(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;

	(void)op;
	if (!a->ok)
		fail_lldb(j, a);
	else if (is_scalar(j))
		ask_number(j, on_read_back);
	else
		show(j);
}

/* -- the new value of a scalar ------------------------------------------ */
/* A number stands for an address only where it is written as one. */
static bool
take_address(struct job *j, const char *type)
{
	const size_t len = type == NULL ? 0 : strlen(type);
	struct scalar n;

	if (scalar_parse(j->number, &n) && (n.size == 0 ||
	    (len > 0 && type[len - 1] == '*') ||
	    (type != NULL && strstr(type, "(*)") != NULL) ||
	    strncasecmp(j->value, "0x", 2) == 0)) {
		scalar_write(&n, j->literal, sizeof(j->literal));
		return true;
	}
	fail(j, "evaluate_failed", "%s was not set: it is a pointer, and %s is "
	    "no address: give one, 0x7ffe12345678 or &NAME, or set *%s, which "
	    "it points to", j->target, j->value, j->target);
	return false;
}

static bool
take_float(struct job *j, const char *type)
{
	char digits[SCALAR_TEXT];

	if (!scalar_float(j->number, type, digits, j->literal,
	    sizeof(j->literal))) {
		fail(j, "evaluate_failed", "%s was not set: %s is no number",
		    j->target, j->value);
		return false;
	}
	free(j->number);
	j->number = copy_text(digits);
	if (!scalar_float_beyond(j->number, j->size))
		return true;
	fail(j, "evaluate_failed", "%s was not set: %s is too large or too "
	    "small for its type, %s", j->target, j->value, j->type);
	return false;
}

static bool
take_integer(struct job *j)
{
	const bool is_signed = (j->traits & T_SIGNED) != 0;
	const bool either = (j->traits & T_ENUM) != 0;
	struct scalar n;
	char range[96];

	if (!scalar_parse(j->number, &n)) {
		fail(j, "evaluate_failed", "%s was not set: %s is no integer, "
		    "and its type is %s: give an integer, or cast it, "
		    "(long)(%s)", j->target, j->value, j->type, j->value);
		return false;
	}
	if ((j->traits & T_BOOL) != 0) {
		n = (struct scalar) { .size = n.size != 0 };
		free(j->number);
		j->number = copy_text(n.size != 0 ? "1" : "0");
	}
	if (scalar_fits(&n, j->size, is_signed) ||
	    (either && scalar_fits(&n, j->size, !is_signed))) {
		scalar_write(&n, j->literal, sizeof(j->literal));
		return true;
	}
	scalar_range(j->size, is_signed, range, sizeof(range));
	fail(j, "evaluate_failed", "%s was not set: %s does not fit into its "
	    "type, %s, which has %s", j->target, j->number, j->type, range);
	return false;
}

static void
take(struct job *j, const char *type)
{
	if ((j->traits & T_POINTER) != 0 ? take_address(j, type) :
	    (j->traits & T_FLOAT) != 0 ? take_float(j, type) :
					 take_integer(j))
		put(j, j->literal, on_put);
}

/* -- reading it --------------------------------------------------------- */
/* Ways to read a value; the words of the first are what is told. */
enum way {
	WAY_NUMBER,		/* +x: characters and enumerators as numbers */
	WAY_ENUMERATOR,		/* its bare name, for which C++ wants a type */
	WAY_CAST,		/* an enumerator of a class */
	WAY_NONE
};

static void	 read_value(struct job *);

static void
on_value(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;

	(void)op;
	if ((j->number = number_of(a)) != NULL) {
		take(j, jget_str(a->body, "type"));
		return;
	}
	if (j->why == NULL)
		j->why = words_of(a);
	j->tried++;
	read_value(j);
}

/* The name after the last "::"; NULL: it is no name. */
static const char *
bare_name(const char *s)
{
	const char *p;

	for (p = s; (p = strstr(s, "::")) != NULL;)
		s = p + 2;
	for (p = s; isalnum((unsigned char)*p) || *p == '_'; p++)
		;
	return p == s || *p != '\0' || isdigit((unsigned char)*s) ? NULL : s;
}

static void
read_value(struct job *j)
{
	const char *name = bare_name(j->value);

	if (j->tried == WAY_ENUMERATOR &&
	    ((j->traits & T_ENUM) == 0 || name == NULL))
		j->tried++;
	if (j->tried == WAY_NUMBER)
		ask(j, on_value, "+(%s)", j->value);
	else if (j->tried == WAY_ENUMERATOR)
		ask(j, on_value, "({ typedef __typeof__(%s) dl_t; "
		    "(long long)dl_t::%s; })", j->target, name);
	else if (j->tried == WAY_CAST &&
	    strstr(j->why, "to unary expression") != NULL)
		ask(j, on_value, "(long long)(%s)", j->value);
	else
		fail(j, "evaluate_failed", "%s was not set: %s", j->target,
		    j->why);
}

static bool
octal(const char *s)
{
	s += *s == '-' || *s == '+' ? 1 : 0;
	return s[0] == '0' && isdigit((unsigned char)s[1]);
}

/* Values that are no expressions of C++, or not by themselves. */
static bool
has_own_words(struct job *j)
{
	char digits[SCALAR_TEXT];
	struct scalar n;

	if ((j->traits & T_POINTER) != 0 &&
	    (strcmp(j->value, "nullptr") == 0 ||
		strcmp(j->value, "NULL") == 0))
		j->number = copy_text("0");
	else if ((j->traits & T_FLOAT) != 0 &&
	    scalar_float(j->value, "", digits, j->literal,
		sizeof(j->literal)) &&
	    strstr(j->literal, "builtin") != NULL)
		j->number = copy_text(j->value);
	else if ((j->traits & T_INTEGER) != 0 && !octal(j->value) &&
	    scalar_parse(j->value, &n))
		/* the least of a type, and more than 64 bits */
		j->number = copy_text(j->value);
	else
		return false;
	take(j, "");
	return true;
}

/* -- text --------------------------------------------------------------- */
static void
on_compared(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;
	const char *value = a->ok ? jget_str(a->body, "result") : NULL;

	(void)op;
	if (value != NULL && strcmp(value, "true") == 0)
		show(j);
	else
		fail(j, "evaluate_failed", "%s was not set: optimised code "
		    "keeps no place for it here.  Build with -O0", j->target);
}

/* lldb has a copy of what is in registers, and says nothing of it. */
static void
compare(struct job *j)
{
	const size_t n = j->len < COMPARED_MOST ? j->len : COMPARED_MOST;
	char *text = copy_text("true"), *more;
	size_t i;

	for (i = 0; i < n; i++) {
		if (asprintf(&more, "%s && (unsigned char)(%s)[%zu] == %u",
		    text, j->target, i, (unsigned char)j->text[i]) < 0)
			fatal("expression");
		free(text);
		text = more;
	}
	ask(j, on_compared, "%s", text);
	free(text);
}

static void
on_text_written(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;

	const char *said = a->ok ? jget_str(a->body, "result") : NULL;

	(void)op;
	if (!a->ok || (said != NULL && strstr(said, "error: ") != NULL))
		fail(j, "evaluate_failed", "%s was not set: %.1500s",
		    j->target, memtext_error(a->ok ? said : a->message));
	else if ((j->traits & T_ARRAY) != 0)
		compare(j);
	else
		put(j, j->literal, on_put);
}

static void
write_text(struct job *j, const char *address)
{
	uint64_t at;

	if (!format_address(address, &at) || at == 0) {
		fail(j, "evaluate_failed", "%s was not set: the program has "
		    "no memory for the text", j->target);
		return;
	}
	j->next = on_text_written;
	memory_poke(j->op, j->frame, at, (const uint8_t *)j->text, j->len,
	    on_step, j);
}

static void
on_place(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;
	char *number = number_of(a);

	(void)op;
	if (number == NULL && (j->traits & T_POINTER) != 0) {
		j->why = words_of(a);
		fail(j, "evaluate_failed", "%s was not set: its text needs "
		    "memory of the program's malloc(), and that could not be "
		    "called: %s", j->target, j->why);
	} else if (number == NULL)
		fail_lldb(j, a);
	else {
		if ((j->traits & T_POINTER) != 0) {
			j->number = copy_text(number);
			(void)snprintf(j->literal, sizeof(j->literal), "%s",
			    number);
		}
		write_text(j, number);
	}
	free(number);
}

/* The rest of an array becomes zeros, as in its declaration. */
static void
fill_array(struct job *j)
{
	char *all;

	if (j->len > j->size) {
		fail(j, "evaluate_failed", "%s was not set: it has room for "
		    "%zu bytes, and the text has %zu with the NUL at its end",
		    j->target, j->size, j->len);
		return;
	}
	if (j->size <= ZEROED_MOST) {
		if ((all = calloc(1, j->size)) == NULL)
			fatal("text");
		memcpy(all, j->text, j->len);
		free(j->text);
		j->text = all;
		j->len = j->size;
	}
	ask(j, on_place, "&(%s)", j->target);
}

static void
on_element(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;
	const char *value = a->ok ? jget_str(a->body, "result") : NULL;

	(void)op;
	if (value == NULL || strtoul(value, NULL, 10) != 1 * 2 + 1)
		fail(j, "evaluate_failed", "%s was not set: text can be put "
		    "into arrays of char and pointers to char, and its type "
		    "is %s", j->target, j->type);
	else if ((j->traits & T_ARRAY) != 0)
		fill_array(j);
	else
		ask(j, on_place, "(char *)malloc(%zu)", j->len);
}

/* -- the beginning ------------------------------------------------------ */
static void
start_value(struct job *j)
{
	if (j->text != NULL && (j->traits & (T_ARRAY | T_POINTER)) != 0)
		ask(j, on_element, "sizeof((%1$s)[0]) * 2 + __is_integral("
		    "__typeof__((%1$s)[0]))", j->target);
	else if ((j->traits & T_ARRAY) != 0)
		fail(j, "evaluate_failed", "%s was not set: it is an array: "
		    "set one element of it, %s[0]", j->target, j->target);
	else if (j->text != NULL && is_scalar(j))
		fail(j, "evaluate_failed", "%s was not set: its type is %s, "
		    "and %.200s is text", j->target, j->type, j->value);
	else if (!is_scalar(j))
		ask(j, on_put, "(%s) = (%s)", j->target, j->value);
	else if (!has_own_words(j))
		read_value(j);
}

static void
on_before(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;

	(void)op;
	if ((j->before = number_of(a)) == NULL)
		fail_lldb(j, a);
	else
		start_value(j);
}

static void
on_old(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;

	(void)op;
	if (!a->ok) {
		fail_lldb(j, a);
		return;
	}
	j->old = copy_text(jget_str(a->body, "result"));
	j->type = copy_text(jget_str(a->body, "type"));
	if (is_scalar(j))
		ask_number(j, on_before);
	else
		start_value(j);
}

static void
on_traits(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;
	const char *value = a->ok ? jget_str(a->body, "result") : NULL;
	unsigned long long n;

	(void)op;
	if (value == NULL) {
		fail_lldb(j, a);
		return;
	}
	n = strtoull(value, NULL, 10);
	j->traits = (unsigned int)(n % TRAITS_SIZE);
	j->size = (size_t)(n / TRAITS_SIZE);
	ask(j, on_old, "%s", j->target);
}

/* It is evaluated more than once: what it does would be done again. */
static bool
changes(const char *target)
{
	const char *s;

	if (strstr(target, "++") != NULL || strstr(target, "--") != NULL)
		return true;
	for (s = target; (s = strchr(s, '=')) != NULL; s++) {
		if (s[1] == '=')
			s++;
		else if (s == target || strchr("!<>", s[-1]) == NULL)
			return true;
	}
	return false;
}

static void
on_refused(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;

	(void)op;
	(void)a;
	fail(j, "invalid_argument", "%s changes something itself: give the "
	    "name of what to set, and do the rest by eval", j->target);
}

/* -- gdb ---------------------------------------------------------------- */
static void
on_function(struct op *op, const struct dap_answer *a, void *arg)
{
	struct job *j = arg;
	const char *said = a->ok ? jget_str(a->body, "result") : NULL;
	struct json_object *o = said == NULL ? NULL :
	    json_tokener_parse(said);
	struct set_value done = { .old = jget_str(o, "old"),
		.value = jget_str(o, "value"), .type = jget_str(o, "type") };

	if (done.value != NULL) {
		j->fn(op, &done, j->arg);
		free_job(j);
	} else if (jget_str(o, "why") != NULL)
		fail(j, "evaluate_failed", "%s was not set: %.1500s",
		    j->target, jget_str(o, "why"));
	else
		fail(j, "evaluate_failed", "%s was not set: %.1500s",
		    j->target, said != NULL ? said : a->message == NULL ?
		    "no reason given" : memtext_error(a->message));
	json_object_put(o);
}

static char *
hexadecimal(const char *s)
{
	size_t i, n = strlen(s);
	char *out = calloc(n + 1, 2);

	if (out == NULL)
		fatal("set");
	for (i = 0; i < n; i++)
		(void)snprintf(out + 2 * i, 3, "%02x", (unsigned char)s[i]);
	return out;
}

static void
call_function(struct job *j)
{
	struct json_object *args = jone_int("frameId", j->frame);
	char *target = hexadecimal(j->target), *value = hexadecimal(j->value);

	jput_fmt(args, "expression", "python %s('%s', '%s')",
	    dialect()->set_function, target, value);
	jput_str(args, "context", "repl");
	free(target);
	free(value);
	j->next = on_function;
	adapter_ask("evaluate", args, j->op, on_step, j);
}

bool
set_value_can(void)
{
	return dialect()->expression_prefix != NULL ||
	    dialect()->set_function != NULL;
}

void
set_value(struct op *op, int64_t frame, const char *target, const char *value,
    set_value_fn fn, void *arg)
{
	struct job *j = calloc(1, sizeof(*j));
	size_t len;

	if (j == NULL)
		fatal("set");
	*j = (struct job) { .op = op, .frame = frame, .fn = fn, .arg = arg,
		.epoch = dbg.epoch, .target = copy_text(target) };
	value += strspn(value, " \t");
	for (len = strlen(value); len > 0 && strchr(" \t", value[len - 1]);)
		len--;
	j->value = copy_part(value, len);
	if ((j->text = scalar_text(j->value, &j->len)) != NULL)
		j->len++;
	if (changes(target))
		/* the answer comes later, as every other does */
		ask(j, on_refused, "0");
	else if (dialect()->set_function != NULL)
		call_function(j);
	else
		ask(j, on_traits, TRAITS, j->target);
}
