/* SPDX-License-Identifier: ISC */
/*
 * Options of the sanitizers' run time, linked into builds with SANITIZE=1.
 * Roles have no environment, so they cannot come from there.
 */

const char	*__asan_default_options(void);
const char	*__ubsan_default_options(void);

/*
 * Roles can neither be traced for a search for leaks, nor open the files of
 * a symbolizer, nor ask whether standard error is a terminal.
 */
#define COMMON	"symbolize=0:color=never:exitcode=99:"

const char *
__asan_default_options(void)
{
	return COMMON "detect_leaks=0:use_sigaltstack=0:handle_segv=0:"
	    "handle_sigbus=0:handle_sigfpe=0:quarantine_size_mb=8:"
	    "allocator_may_return_null=1:disable_coredump=0";
}

const char *
__ubsan_default_options(void)
{
	return COMMON "print_stacktrace=1";
}
