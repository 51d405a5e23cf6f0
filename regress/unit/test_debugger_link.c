/* SPDX-License-Identifier: ISC */
/* The debugger's hello message, its system call filter, and host pids. */
/* links: debugger/sysfilter.c debugger/base/hostpid.c */
#include <sys/socket.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/wire/msg_out.h"
#include "confine/filter.h"
#include "debugger/base/hostpid.h"
#include "debugger/sysfilter.h"
#include "wire/dbghello.h"

/* As a receiver has it. */
static struct msg
received(const struct msg_out *o)
{
	struct msg m = { .next = o->payload, .left = o->hdr.length,
	    .fd = -1 };

	return m;
}

static void
hello_comes_as_it_went(void **state)
{
	static const char args[] = "a\0b c";
	struct dbg_hello h = { .user_mode = true, .on_tty = true,
	    .target_pid = 7, .initialize_s = 1, .request_s = 2, .await_s = 3,
	    .max_events = 4, .max_bytes = UINT64_MAX, .home = "/home/x",
	    .session = "label", .id = "id", .program = "/p", .args = args,
	    .args_len = sizeof(args), .nadapters = 2,
	    .adapters = { { "one", "/a/one --x" }, { "two", "two" } } };
	struct msg_out *o = msg_new(MSG_DBG_HELLO, NULL, 0, 0);
	static struct dbg_hello got;
	struct msg m;

	(void)state;
	dbg_hello_put(o, &h);
	m = received(o);
	dbg_hello_get(&m, &got);
	assert_int_equal(msg_end(&m), 0);
	assert_true(got.user_mode && got.on_tty && !got.image);
	assert_int_equal(got.target_pid, 7);
	assert_int_equal(got.await_s, 3);
	assert_true(got.max_bytes == UINT64_MAX);
	assert_string_equal(got.program, "/p");
	assert_int_equal(got.args_len, sizeof(args));
	assert_memory_equal(got.args, args, sizeof(args));
	assert_int_equal(got.nadapters, 2);
	assert_string_equal(got.adapters[0].command, "/a/one --x");
	assert_string_equal(got.adapters[1].name, "two");
	/* every shorter one is bad */
	for (o->hdr.length--; o->hdr.length > 0; o->hdr.length--) {
		m = received(o);
		dbg_hello_get(&m, &got);
		assert_int_equal(msg_end(&m), -1);
	}
}

static void
hello_with_too_many(void **state)
{
	struct dbg_hello h = { .nadapters = 0 };
	struct msg_out *o = msg_new(MSG_DBG_HELLO, NULL, 0, 0);
	uint32_t many = HELLO_ADAPTERS + 1;
	static struct dbg_hello got;
	struct msg m;

	(void)state;
	dbg_hello_put(o, &h);
	memcpy(o->payload + o->hdr.length - sizeof(many), &many,
	    sizeof(many));
	m = received(o);
	dbg_hello_get(&m, &got);
	assert_int_equal(msg_end(&m), -1);
	assert_int_equal(got.nadapters, 0);
}

/* It starts nothing, speaks to nobody else and changes nothing. */
static void
filter_lacks_what_it_must(void **state)
{
	static const int never[] = { SCMP_SYS(execve), SCMP_SYS(execveat),
	    SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(clone),
	    SCMP_SYS(clone3), SCMP_SYS(socket), SCMP_SYS(connect),
	    SCMP_SYS(bind), SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv),
	    SCMP_SYS(process_vm_writev), SCMP_SYS(openat2), SCMP_SYS(creat),
	    SCMP_SYS(unlink), SCMP_SYS(unlinkat), SCMP_SYS(rename),
	    SCMP_SYS(truncate), SCMP_SYS(kill), SCMP_SYS(tgkill),
	    SCMP_SYS(pidfd_getfd), SCMP_SYS(pidfd_send_signal),
	    SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(mount),
	    SCMP_SYS(bpf), SCMP_SYS(io_uring_setup), SCMP_SYS(keyctl) };
	size_t i, j;

	(void)state;
	for (i = 0; i < debugger_filter.nrules; i++)
		for (j = 0; j < sizeof(never) / sizeof(never[0]); j++)
			assert_int_not_equal(debugger_filter.rules[i].nr,
			    never[j]);
}

static void
pids_of_the_same_namespace(void **state)
{
	(void)state;
	assert_int_equal(hostpid(getpid(), 4711), 4711);
	/* of a process that is not there nothing can be known */
	assert_int_equal(hostpid(0x3fffff, 1), 0);
}

static void
pids_of_another_namespace(void **state)
{
	pid_t child, init;
	int status, r;

	(void)state;
	child = fork();
	if (child == 0) {
		/* the next child is pid 1 of a namespace of its own */
		if (unshare(CLONE_NEWUSER | CLONE_NEWPID) == -1 ||
		    (init = fork()) == -1)
			_exit(77);
		if (init == 0)
			for (;;)
				pause();
		r = hostpid(init, 1) == init && hostpid(init, 99) == 0;
		(void)kill(init, SIGKILL);
		_exit(r ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();		/* no user namespaces here */
	assert_int_equal(WEXITSTATUS(status), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello_comes_as_it_went),
		cmocka_unit_test(hello_with_too_many),
		cmocka_unit_test(filter_lacks_what_it_must),
		cmocka_unit_test(pids_of_the_same_namespace),
		cmocka_unit_test(pids_of_another_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
