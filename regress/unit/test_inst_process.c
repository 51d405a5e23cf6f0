/* SPDX-License-Identifier: ISC */
/* links: debugger/sysfilter.c tracer/sysfilter.c debugger/base/hostpid.c */
/* An instrument's process: its first message, its filter, pids that it finds. */
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
#include "tracer/sysfilter.h"
#include "wire/insthello.h"

/* As a receiver has it. */
static struct msg
received(const struct msg_out *o)
{
	struct msg m = { .next = o->payload, .left = o->hdr.length,
	    .fd = -1 };

	return m;
}

static const char args[] = "a\0b c";
static const struct inst_hello session = { .user_mode = true, .target_pid = 7,
    .home = "/home/x", .session = "label", .id = "id", .program = "/p",
    .args = args, .args_len = sizeof(args) };

static void
same_session(const struct inst_hello *got)
{
	assert_true(got->user_mode);
	assert_int_equal(got->target_pid, 7);
	assert_string_equal(got->home, "/home/x");
	assert_string_equal(got->session, "label");
	assert_string_equal(got->id, "id");
	assert_string_equal(got->program, "/p");
	assert_int_equal(got->args_len, sizeof(args));
	assert_memory_equal(got->args, args, sizeof(args));
}

static struct dbg_hello dbg_got;
static struct trc_hello trc_got;

static int
get_dbg(struct msg_out *o)
{
	struct msg m = received(o);

	dbg_hello_get(&m, &dbg_got);
	return msg_end(&m);
}

static int
get_trc(struct msg_out *o)
{
	struct msg m = received(o);

	trc_hello_get(&m, &trc_got);
	return msg_end(&m);
}

/* Every message that is shorter is bad. */
static void
none_is_shorter(struct msg_out *o, int (*get)(struct msg_out *))
{
	for (o->hdr.length--; o->hdr.length > 0; o->hdr.length--)
		assert_int_equal(get(o), -1);
}

static void
debugger_hello_comes_as_it_went(void **state)
{
	struct dbg_hello h = { .inst = session, .on_tty = true,
	    .initialize_s = 1, .request_s = 2, .await_s = 3, .max_events = 4,
	    .max_bytes = UINT64_MAX, .nadapters = 2,
	    .adapters = { { "one", "/a/one --x" }, { "two", "two" } } };
	struct msg_out *o = msg_new(MSG_DBG_HELLO, NULL, 0, 0);

	(void)state;
	dbg_hello_put(o, &h);
	assert_int_equal(get_dbg(o), 0);
	same_session(&dbg_got.inst);
	assert_true(dbg_got.on_tty && !dbg_got.image && !dbg_got.narrow);
	assert_int_equal(dbg_got.initialize_s, 1);
	assert_int_equal(dbg_got.request_s, 2);
	assert_int_equal(dbg_got.await_s, 3);
	assert_int_equal(dbg_got.max_events, 4);
	assert_true(dbg_got.max_bytes == UINT64_MAX);
	assert_int_equal(dbg_got.nadapters, 2);
	assert_string_equal(dbg_got.adapters[0].command, "/a/one --x");
	assert_string_equal(dbg_got.adapters[1].name, "two");
	none_is_shorter(o, get_dbg);
}

static void
tracer_hello_comes_as_it_went(void **state)
{
	struct trc_hello h = { .inst = session, .made = true,
	    .nfiles = TRC_FILES, .started_ns = 1, .calls_bytes = 2,
	    .output_bytes = 3, .user_bytes = 4, .budget = UINT64_MAX,
	    .timeline = "it-2", .forget = true };
	struct msg_out *o = msg_new(MSG_TRC_HELLO, NULL, 0, 0);

	(void)state;
	trc_hello_put(o, &h);
	assert_int_equal(get_trc(o), 0);
	same_session(&trc_got.inst);
	assert_true(trc_got.made && !trc_got.resumed && trc_got.forget);
	assert_int_equal(trc_got.nfiles, TRC_FILES);
	assert_int_equal(trc_got.started_ns, 1);
	assert_int_equal(trc_got.calls_bytes, 2);
	assert_int_equal(trc_got.output_bytes, 3);
	assert_int_equal(trc_got.user_bytes, 4);
	assert_true(trc_got.budget == UINT64_MAX);
	assert_string_equal(trc_got.timeline, "it-2");
	none_is_shorter(o, get_trc);
}

static void
hellos_with_too_many(void **state)
{
	struct dbg_hello d = { .nadapters = 0 };
	struct trc_hello t = { .nfiles = TRC_FILES + 1 };
	struct msg_out *o = msg_new(MSG_DBG_HELLO, NULL, 0, 0);
	uint32_t many = HELLO_ADAPTERS + 1;

	(void)state;
	dbg_hello_put(o, &d);
	memcpy(o->payload + o->hdr.length - sizeof(many), &many,
	    sizeof(many));
	assert_int_equal(get_dbg(o), -1);
	assert_int_equal(dbg_got.nadapters, 0);
	o = msg_new(MSG_TRC_HELLO, NULL, 0, 0);
	trc_hello_put(o, &t);
	assert_int_equal(get_trc(o), -1);
}

static void
lacks(const struct filter *f, const int *never, size_t n)
{
	size_t i, j;

	for (i = 0; i < f->nrules; i++)
		for (j = 0; j < n; j++)
			assert_int_not_equal(f->rules[i].nr, never[j]);
}

/*
 * It starts nothing, speaks to nobody else and writes to no other memory; a
 * debugger changes nothing besides.
 */
static void
filters_lack_what_they_must(void **state)
{
	static const int both[] = { SCMP_SYS(execve), SCMP_SYS(execveat),
	    SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(clone),
	    SCMP_SYS(clone3), SCMP_SYS(socket), SCMP_SYS(connect),
	    SCMP_SYS(bind), SCMP_SYS(process_vm_writev), SCMP_SYS(rename),
	    SCMP_SYS(renameat2), SCMP_SYS(linkat), SCMP_SYS(symlinkat),
	    SCMP_SYS(fchmod), SCMP_SYS(fchown), SCMP_SYS(tkill),
	    SCMP_SYS(pidfd_getfd), SCMP_SYS(pidfd_send_signal),
	    SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(mount),
	    SCMP_SYS(bpf), SCMP_SYS(io_uring_setup), SCMP_SYS(keyctl),
	    SCMP_SYS(userfaultfd), SCMP_SYS(perf_event_open) },
	    debugger[] = { SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv),
	    SCMP_SYS(openat2), SCMP_SYS(creat), SCMP_SYS(unlink),
	    SCMP_SYS(unlinkat), SCMP_SYS(truncate), SCMP_SYS(kill),
	    SCMP_SYS(tgkill) };

	(void)state;
	lacks(&debugger_filter, both, sizeof(both) / sizeof(both[0]));
	lacks(&debugger_filter, debugger,
	    sizeof(debugger) / sizeof(debugger[0]));
	lacks(&tracer_filter, both, sizeof(both) / sizeof(both[0]));
}

/* A tracer gives signals back to the program that it took them from. */
static void
tracers_send_two_signals(void **state)
{
	const struct filter_rule *r = tracer_filter.rules;

	(void)state;
	for (; r < tracer_filter.rules + tracer_filter.nrules; r++)
		if (r->nr == SCMP_SYS(tgkill))
			assert_true(r->nargs == 1 && r->args[0].arg == 2 &&
			    (r->args[0].datum_b == SIGSTOP ||
			    r->args[0].datum_b == SIGTRAP));
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
		cmocka_unit_test(debugger_hello_comes_as_it_went),
		cmocka_unit_test(tracer_hello_comes_as_it_went),
		cmocka_unit_test(hellos_with_too_many),
		cmocka_unit_test(filters_lack_what_they_must),
		cmocka_unit_test(tracers_send_two_signals),
		cmocka_unit_test(pids_of_the_same_namespace),
		cmocka_unit_test(pids_of_another_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
