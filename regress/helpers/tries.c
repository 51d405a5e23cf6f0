/* SPDX-License-Identifier: ISC */
/* flags: -static */
/*
 * Tries system calls that a session must not have, and some that debuggers
 * need: "name=0" for those that worked, "name=ERRNO" for the others.
 */
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/mman.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
say(const char *name, long r)
{
	printf("%s=%s\n", name, r == -1 ? strerrorname_np(errno) : "0");
	fflush(stdout);
}

/* The high half of a flags word must not hide its low half. */
static long
clone_flags(unsigned long flags)
{
	long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		(void)waitpid((pid_t)pid, NULL, 0);
	return pid;
}

static void
debugging(void)
{
	int word = 7, status;
	struct iovec to, from;
	pid_t pid = fork();
	void *p;

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == -1)
			_exit(errno);
		raise(SIGSTOP);
		_exit(0);
	}
	(void)waitpid(pid, &status, 0);
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	say("ptrace_child", WIFSTOPPED(status) ? 0 : -1);
	from = (struct iovec){ &word, sizeof(word) };
	to = (struct iovec){ &status, sizeof(status) };
	say("process_vm_readv", process_vm_readv(pid, &to, 1, &from, 1, 0));
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, &status, 0);
	say("af_unix", socket(AF_UNIX, SOCK_STREAM, 0));
	say("af_inet", socket(AF_INET, SOCK_STREAM, 0));
	say("af_netlink", socket(AF_NETLINK, SOCK_RAW, 0));
	say("personality", personality(ADDR_NO_RANDOMIZE));
	say("memfd_create", memfd_create("x", 0));
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	say("mmap_exec", p == MAP_FAILED ? -1 : 0);
}

int
main(void)
{
	char c = 'x';

	say("unshare_user", unshare(CLONE_NEWUSER));
	say("unshare_net", unshare(CLONE_NEWNET));
	say("clone_user", clone_flags(CLONE_NEWUSER));
	say("clone_user_high", clone_flags(CLONE_NEWUSER | 1UL << 33));
	say("clone3", syscall(SYS_clone3, NULL, 0));
	say("setns", setns(0, 0));
	say("mount", mount("none", "/", "tmpfs", 0, NULL));
	say("umount", umount2("/proc", MNT_DETACH));
	say("pivot_root", syscall(SYS_pivot_root, ".", "."));
	say("chroot", chroot("/"));
	say("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/", 1));
	say("fsopen", syscall(SYS_fsopen, "tmpfs", 0));
	say("bpf", syscall(SYS_bpf, 0, NULL, 0));
	say("perf_event_open", syscall(SYS_perf_event_open, NULL, 0, 0, 0,
	    0));
	say("io_uring_setup", syscall(SYS_io_uring_setup, 1, NULL));
	say("userfaultfd", syscall(SYS_userfaultfd, 0));
	say("keyctl", syscall(SYS_keyctl, 0, 0, 0, 0, 0));
	say("add_key", syscall(SYS_add_key, "user", "x", "y", 1, -3));
	say("pidfd_getfd", syscall(SYS_pidfd_getfd, -1, 0, 0));
	say("open_by_handle_at", syscall(SYS_open_by_handle_at, -1, NULL,
	    0));
	say("tiocsti", ioctl(0, TIOCSTI, &c));
	/* syscall() passes the upper half on, ioctl() may not */
	say("tiocsti_high", syscall(SYS_ioctl, 0, TIOCSTI | 1UL << 32, &c));
#ifdef SYS_modify_ldt
	say("modify_ldt", syscall(SYS_modify_ldt, 0, NULL, 0));
#endif
	say("af_vsock", socket(AF_VSOCK, SOCK_STREAM, 0));
	say("af_alg", socket(AF_ALG, SOCK_SEQPACKET, 0));
	say("af_alg_high", syscall(SYS_socket, AF_ALG | 1UL << 32,
	    SOCK_SEQPACKET, 0));
	say("setuid0", setuid(0));
	say("setgid0", setgid(0));
	say("setuid_high", syscall(SYS_setuid, 1UL << 32));
	say("setgroups", syscall(SYS_setgroups, 0, NULL));
	say("kill_init", kill(1, SIGKILL));
	say("ptrace_init", ptrace(PTRACE_SEIZE, 1, NULL, NULL));
	say("reboot", syscall(SYS_reboot, 0, 0, 0, NULL));
	say("sethostname", sethostname("x", 1));
	debugging();
	return 0;
}
