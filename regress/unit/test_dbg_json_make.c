/* SPDX-License-Identifier: ISC */
/* A message is never sent in part for want of memory. */
/* links: debugger/text/json_make.c debugger/text/json_size.c debugger/text/copy.c debugger/text/clean.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/wait.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debugger/text/copy.h"
#include "debugger/text/json_make.h"

static bool	short_of_memory;

/* json-c's is this one, too. */
void *
realloc(void *p, size_t n)
{
	static void *(*next)(void *, size_t);

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "realloc");
	return short_of_memory && n >= 4096 ? NULL : next(p, n);
}

static struct json_object *
request(void)
{
	struct json_object *o = jone_str("command", "evaluate"), *args;
	char text[8192];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	args = jone_str("expression", text);
	jput_int(args, "frameId", 1);
	jput(o, "arguments", args);
	return o;
}

/* The exit code of who writes it. */
static int
write_it(struct json_object *o, bool poor)
{
	pid_t pid = fork();
	size_t len;
	int status;

	assert_int_not_equal(pid, -1);
	if (pid == 0) {
		(void)dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 2);
		short_of_memory = poor;
		_exit(strlen(jwrite(o, &len)) == len ? 0 : 99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
nothing_is_left_out(void **state)
{
	struct json_object *o = request();
	int code;

	(void)state;
	assert_int_equal(write_it(o, false), 0);
	code = write_it(o, true);
	assert_int_not_equal(code, 0);
	assert_int_not_equal(code, 99);
	json_object_put(o);
}

static void
copies(void **state)
{
	char *s = copy_part("abcdef", 3);

	(void)state;
	assert_string_equal(s, "abc");
	free(s);
	s = copy_text("abc");
	assert_string_equal(s, "abc");
	free(s);
	assert_null(copy_text(NULL));
}

/* An expression or command of a client's may be long. */
static void
formatted_text_is_whole(void **state)
{
	struct json_object *o = jobject();
	char text[8192], want[sizeof(text) + 8];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	(void)snprintf(want, sizeof(want), "&(%s)", text);
	jput_fmt(o, "expression", "&(%s)", text);
	assert_string_equal(json_object_get_string(
	    json_object_object_get(o, "expression")), want);
	json_object_put(o);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_left_out),
		cmocka_unit_test(copies),
		cmocka_unit_test(formatted_text_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
