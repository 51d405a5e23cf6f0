/* SPDX-License-Identifier: ISC */
/*
 * Type and message of a C++ exception.  lldb says no more than "C++ Throw";
 * both are read from where the ABI has them, at the call of __cxa_throw(object,
 * type, ...).  Bytes are read, nothing is evaluated: expressions may hang for
 * ever in that function.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cxx_exception.h"
#include "debugger/base/op.h"
#include "debugger/dap/repl.h"
#include "debugger/text/json_get.h"
#include "debugger/text/memtext.h"

#define POINTER		8

/* type_info: a table of functions, the name, and the base if it has one */
#define TYPE_NAME	POINTER
#define TYPE_BASE	(2 * POINTER)
#define TYPE_SIZE	(3 * POINTER)

static struct cxx_exception	found;
static void		(*ready)(const struct cxx_exception *);
static int64_t		frame;
static unsigned int	pending;
static size_t		level;
static uint64_t		base;		/* the type_info of the next level */

static void	 read_type(uint64_t at);

/* Bases of the library that keep their message right behind the table. */
static bool
keeps_message(const char *name)
{
	static const char *const known[] = { "St13runtime_error",
		"St11logic_error", "St12out_of_range", "St16invalid_argument",
		"St12domain_error", "St12length_error", "St11range_error",
		"St14overflow_error", "St15underflow_error",
		"St12system_error" };
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(name, known[i]) == 0)
			return true;
	return false;
}

/* A name as the ABI spells it; behind a type without a base lies anything. */
static bool
good_name(const char *s, bool first)
{
	const char *p;

	if (!first && !isdigit((unsigned char)*s) && *s != 'N' && *s != 'S')
		return false;
	for (p = s; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && *p != '_')
			return false;
	return p - s >= (first ? 1 : 3);
}

static void
less(void)
{
	void (*fn)(const struct cxx_exception *) = ready;
	bool keeps = false;
	size_t i;

	if (--pending > 0)
		return;
	for (i = 0; i < CXX_TYPES; i++)
		keeps = keeps || keeps_message(found.names[i]);
	if (!keeps)
		found.message[0] = '\0';
	ready = NULL;
	fn(&found);
}

/* -- bytes -------------------------------------------------------------- */
static void
command(dap_fn fn, const char *words, uint64_t at, size_t count)
{
	if (count > 0)
		repl_ask(NULL, frame, fn, NULL, "%s --force --size 1 --format "
		    "x --count %zu 0x%" PRIx64, words, count, at);
	else
		repl_ask(NULL, frame, fn, NULL, "%s", words);
}

static void
peek(uint64_t at, size_t count, dap_fn fn)
{
	command(fn, "memory read", at, count);
}

static size_t
bytes_of(const struct dap_answer *a, uint8_t *out, size_t room)
{
	const char *text = a->ok ? jget_str(a->body, "result") : NULL;

	return text == NULL ? 0 : memtext_dump(text, out, room);
}

static bool
text_of(const struct dap_answer *a, char *out, size_t room)
{
	size_t n = bytes_of(a, (uint8_t *)out, room - 1);

	out[n] = '\0';
	return n > 0 && strlen(out) < n;
}

static uint64_t
pointer(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* -- the message -------------------------------------------------------- */
static void
on_message(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)op;
	(void)arg;
	text_of(a, found.message, sizeof(found.message));
	less();
}

static void
on_message_pointer(struct op *op, const struct dap_answer *a, void *arg)
{
	uint8_t bytes[POINTER];

	(void)op;
	(void)arg;
	if (bytes_of(a, bytes, sizeof(bytes)) == sizeof(bytes))
		peek(pointer(bytes), sizeof(found.message) - 1, on_message);
	else
		less();
}

/* -- the types ---------------------------------------------------------- */
static void
on_name(struct op *op, const struct dap_answer *a, void *arg)
{
	char *name = found.names[level];

	(void)op;
	(void)arg;
	if (!text_of(a, name, sizeof(found.names[0])) ||
	    !good_name(name, level == 0))
		name[0] = '\0';
	else if (++level < CXX_TYPES) {
		read_type(base);
		return;
	}
	less();
}

static void
on_type(struct op *op, const struct dap_answer *a, void *arg)
{
	uint8_t bytes[TYPE_SIZE];

	(void)op;
	(void)arg;
	if (bytes_of(a, bytes, sizeof(bytes)) < sizeof(bytes)) {
		less();
		return;
	}
	base = pointer(bytes + TYPE_BASE);
	peek(pointer(bytes + TYPE_NAME), sizeof(found.names[0]) - 1, on_name);
}

static void
read_type(uint64_t at)
{
	peek(at, TYPE_SIZE, on_type);
}

/* "rdi = 0x1", "rsi = 0x2 symbol": object and type, whatever the machine. */
static void
on_registers(struct op *op, const struct dap_answer *a, void *arg)
{
	const char *p = a->ok ? jget_str(a->body, "result") : NULL;
	uint64_t object;

	(void)op;
	(void)arg;
	if (p == NULL || (p = strstr(p, " = 0x")) == NULL) {
		less();
		return;
	}
	object = strtoull(p + 3, NULL, 16);
	if ((p = strstr(p + 3, " = 0x")) == NULL) {
		less();
		return;
	}
	pending++;
	peek(object + POINTER, POINTER, on_message_pointer);
	read_type(strtoull(p + 3, NULL, 16));
}

void
cxx_exception_read(int64_t at_frame, void (*done)(const struct cxx_exception *))
{
	found = (struct cxx_exception) { .message = "" };
	ready = done;
	frame = at_frame;
	level = 0;
	pending = 1;
	command(on_registers, "register read --format hex arg1 arg2", 0, 0);
}
