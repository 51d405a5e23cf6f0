/* SPDX-License-Identifier: ISC */
/* Features that this host offers to sessions: the rows of DEPS. */
#include <sys/prctl.h>
#include <sys/utsname.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "confine/confine.h"
#include "facts_read.h"
#include "launcher/base/facts.h"
#include "launcher/owner/user_limits.h"
#include "probe.h"
#include "wire/role.h"

#define LLVM_FIRST	18
#define LLVM_LAST	40
/* as many as tests that type at programs have at once */
#define TERMINALS_FEW	8
#define NELEM(a)	(sizeof(a) / sizeof((a)[0]))

/* Each says whether it is there, and in what form if that varies. */
struct row {
	const char	*name, *what, *remedy;
	bool		 required;
	bool		(*probe)(char *form, size_t size);
};

/* -1 when the kernel does not have it. */
static int
sysctl_digit(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char c = 0;
	ssize_t n;

	if (fd == -1)
		return -1;
	n = read_again(fd, &c, 1);
	close(fd);
	return n == 1 && c >= '0' && c <= '9' ? c - '0' : -1;
}

static bool
have_gdbserver(char *form, size_t size)
{
	(void)snprintf(form, size, "%s", settings.gdbserver);
	return access(settings.gdbserver, X_OK) == 0;
}

static bool
built_in(char *form, size_t size)
{
	(void)snprintf(form, size, "built in");
	return true;
}

static bool
have_userns(char *form, size_t size)
{
	const char *why = strerrordesc_np(facts.userns_errno);

	if (facts.userns_errno != 0)
		(void)snprintf(form, size, "%s", why == NULL ? "refused" :
		    why);
	else if (settings.weakened & WEAKEN_USERNS)
		(void)snprintf(form, size, "for sessions alone, roles have "
		    "none by weaken-userns");
	return facts.userns_errno == 0;
}

static bool
have_proc(char *form, size_t size)
{
	const char *why = strerrordesc_np(facts.proc_errno);

	if (facts.proc_errno != 0)
		(void)snprintf(form, size, "%s", why == NULL ? "refused" :
		    why);
	return facts.proc_errno == 0;
}

static bool
have_roots(char *form, size_t size)
{
	bool given_up = (settings.weakened & WEAKEN_CHROOT) != 0;

	if (given_up)
		(void)snprintf(form, size, "off by weaken-chroot");
	return !given_up;
}

static bool
have_landlock(char *form, size_t size)
{
	int abi = landlock_abi();

	if (abi > 0)
		(void)snprintf(form, size, "ABI %d%s%s", abi,
		    abi < LANDLOCK_TCP ? ": not from dialling by TCP" : "",
		    abi < LANDLOCK_TCP ? ", nor sessions from abstract sockets" :
		    abi < LANDLOCK_SCOPES ? ": sessions not from abstract "
		    "sockets" : "");
	return abi > 0;
}

static bool
have_seccomp(char *form, size_t size)
{
	if (settings.weakened & WEAKEN_SECCOMP) {
		(void)snprintf(form, size, "off by weaken-seccomp");
		return false;
	}
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2;
}

static bool
have_cgroup(char *form, size_t size)
{
	(void)snprintf(form, size, "%s", settings.cgroup);
	return settings.cgroup[0] != '\0';
}

static bool
have_controllers(char *form, size_t size)
{
	bool memory = settings.controllers & CONTROLLER_MEMORY;
	bool pids = settings.controllers & CONTROLLER_PIDS;

	if (memory != pids)
		(void)snprintf(form, size, "only %s", memory ? "memory" :
		    "processes");
	return memory && pids;
}

static bool
have_user_limits(char *form, size_t size)
{
	bool memory = settings.controllers & CONTROLLER_MEMORY;
	bool pids = settings.controllers & CONTROLLER_PIDS;

	(void)snprintf(form, size, "memory: of %s; processes: of %s",
	    memory ? "all sessions together" : "each process",
	    pids || role_mode == MODE_SYSTEM ? "all sessions together" :
	    "each session");
	return memory && pids;
}

static bool
have_terminals(char *form, size_t size)
{
	unsigned int pipes, tty;

	facts_read();
	pipes = user_limits_terminals(false);
	tty = user_limits_terminals(true);
	(void)snprintf(form, size, "%u of a session, %u of one on a terminal",
	    pipes, tty);
	return pipes >= TERMINALS_FEW;
}

static bool
have_memfd(char *form, size_t size)
{
	int v = sysctl_digit("/proc/sys/vm/memfd_noexec");

	if (v != -1)
		(void)snprintf(form, size, "vm.memfd_noexec=%d", v);
	return v < 2;
}

static bool
have_ptrace(char *form, size_t size)
{
	int v = sysctl_digit("/proc/sys/kernel/yama/ptrace_scope");

	if (v == -1)
		(void)snprintf(form, size, "no Yama");
	else
		(void)snprintf(form, size, "kernel.yama.ptrace_scope=%d", v);
	return v < 2;
}

/* The tracer's code in programs is for one processor. */
static bool
have_tracer(char *form, size_t size)
{
	struct utsname u;

	(void)snprintf(form, size, "%s", uname(&u) == 0 ? u.machine : "?");
#ifdef __x86_64__
	return true;
#else
	return false;
#endif
}

/* Debian has one for each version of LLVM, and perhaps one that is meant. */
static bool
have_lldb_dap(char *form, size_t size)
{
	int v, i;

	(void)snprintf(form, size, "/usr/bin/lldb-dap");
	if (access(form, X_OK) == 0)
		return true;
	for (v = LLVM_LAST; v >= LLVM_FIRST; v--)
		for (i = 0; i < 2; i++) {
			(void)snprintf(form, size, i == 0 ?
			    "/usr/bin/lldb-dap-%d" :
			    "/usr/lib/llvm-%d/bin/lldb-dap", v);
			if (access(form, X_OK) == 0)
				return true;
		}
	form[0] = '\0';
	return false;
}

static bool
first_of(const char *const *paths, char *form, size_t size)
{
	for (; *paths != NULL; paths++)
		if (access(*paths, X_OK) == 0) {
			(void)snprintf(form, size, "%s", *paths);
			return true;
		}
	return false;
}

static bool
have_delve(char *form, size_t size)
{
	static const char *const paths[] = { "/usr/local/bin/dlv",
	    "/usr/bin/dlv", NULL };

	return first_of(paths, form, size);
}

static bool
have_debugpy(char *form, size_t size)
{
	static const char *const paths[] = {
	    "/usr/lib/python3/dist-packages/debugpy", NULL };

	return first_of(paths, form, size);
}

/* A gdb that speaks DAP has a Python package for it. */
static bool
have_gdb(char *form, size_t size)
{
	static const char *const at[] = { "/usr/local", "/usr" };
	size_t i;

	for (i = 0; i < NELEM(at); i++) {
		(void)snprintf(form, size, "%s/share/gdb/python/gdb/dap",
		    at[i]);
		if (access(form, X_OK) == -1)
			continue;
		(void)snprintf(form, size, "%s/bin/gdb", at[i]);
		if (access(form, X_OK) == 0)
			return true;
	}
	form[0] = '\0';
	return false;
}

/* Else it is in the homes of those who use it, which nobody looks into. */
static bool
have_codelldb(char *form, size_t size)
{
	if (strstr(settings.debugger_adapters, "codelldb") == NULL)
		return false;
	(void)snprintf(form, size, "as the configuration's adapter says");
	return true;
}

static const struct row rows[] = {
	{ "gdbserver", "attaches debuggers to sessions",
	    "apt install gdbserver", true, have_gdbserver },
	{ "tar", "unpacks bundles and packs the sysroot", "", true, built_in },
	{ "gzip", "unpacks bundles and packs the sysroot", "", true,
	    built_in },
	{ "user-namespaces", "isolates sessions (sandbox namespaces, tmpfs)",
	    "sysctl user.max_user_namespaces=15000; where they exist also "
	    "kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_"
	    "unprivileged_userns=0", false, have_userns },
	{ "proc", "shows sessions their own processes (sandbox namespaces, "
	    "tmpfs)", "in a container, let it have all of /proc: docker run "
	    "--security-opt systempaths=unconfined, podman run "
	    "--security-opt unmask=ALL; or set sandbox none", false,
	    have_proc },
	{ "seccomp", "denies system calls to sessions and roles",
	    "a kernel with CONFIG_SECCOMP_FILTER and no weaken-seccomp",
	    false, have_seccomp },
	{ "empty-roots", "shows no file to roles that need none",
	    "no weaken-chroot", false, have_roots },
	{ "landlock", "keeps roles away from files",
	    "boot with lsm=landlock,... on a kernel with "
	    "CONFIG_SECURITY_LANDLOCK", false, have_landlock },
	{ "cgroup", "tells a session's processes from others, and ends them "
	    "together", "start it by systemd with Delegate=yes, or as root on "
	    "a host with cgroup2", false, have_cgroup },
	{ "cgroup-controllers", "limit a session's memory and processes as a "
	    "whole", "let cgroup2 have the controllers memory and pids "
	    "(cgroup_no_v1=memory,pids at boot), and delegate them to the "
	    "daemon", false, have_controllers },
	{ "quotas", "keep a user's sessions from the memory and processes of "
	    "others", "as for cgroup-controllers: only cgroups limit the sum of "
	    "a user's sessions", false, have_user_limits },
	{ "terminals", "gives sessions pseudo terminals of their own",
	    "sysctl kernel.pty.max=65536, or fewer sessions (max-sessions)",
	    false, have_terminals },
	{ "user-parts", "keep a user's sessions from using up what the host has "
	    "for all users", "sysctl fs.inotify.max_user_instances=1024 "
	    "fs.inotify.max_user_watches=524288 user.max_user_namespaces=15000; "
	    "then start the daemon again, as root with CAP_SYS_RESOURCE and a "
	    "/proc/sys that can be written to", false, facts_users_part },
	{ "memfd", "runs images from memory", "sysctl vm.memfd_noexec=1",
	    false, have_memfd },
	{ "ptrace", "lets gdbserver attach",
	    "sysctl kernel.yama.ptrace_scope=1", false, have_ptrace },
	{ "tracer", "traces functions of programs that run (trace)",
	    "use a host with a processor that it knows: x86-64", false,
	    have_tracer },
	{ "lldb-dap", "debugs C, C++ and Rust programs (debugger)",
	    "apt install lldb, of version 18 or later", false,
	    have_lldb_dap },
	{ "delve", "debugs Go programs (debugger)", "apt install delve",
	    false, have_delve },
	{ "debugpy", "debugs Python programs (debugger)",
	    "apt install python3-debugpy", false, have_debugpy },
	{ "gdb", "debugs C, C++ and Rust programs (debugger)",
	    "gdb 14 or later with Python; Debian 12 has 13", false, have_gdb },
	{ "codelldb", "debugs C, C++ and Rust programs (debugger)",
	    "found in ~/.vscode/extensions of a user; for all users: adapter "
	    "codelldb command \"PATH\" in the configuration", false,
	    have_codelldb },
};

void
probe_put(struct msg_out *o)
{
	char form[256], what[512];
	bool there;
	size_t i;

	msg_put_u32(o, NELEM(rows));
	for (i = 0; i < NELEM(rows); i++) {
		form[0] = '\0';
		there = rows[i].probe(form, sizeof(form));
		(void)snprintf(what, sizeof(what), form[0] == '\0' ? "%s" :
		    "%s (%s)", rows[i].what, form);
		msg_put_str(o, rows[i].name);
		msg_put_str(o, what);
		msg_put_u32(o, there);
		msg_put_u32(o, rows[i].required);
		msg_put_str(o, there ? "" : rows[i].remedy);
	}
}
