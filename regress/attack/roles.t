#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Every role has been taken over after it started and confined itself: what
# docs/THREATS.md says that it cannot do is tried by it, one thing after the
# other.  TABLE has a row for each thing and a column for each role.
import ctypes
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from rogue import BY_NAME, HEADER, daemon
from inst import Local
from taken import ALL, HELD, KILLED, TRAP, Stage, datagram
from dl import (AS_ROOT, SANITIZED, alive, alone, eq, helper, ok, run_tests,
                runs_narrow, stat_of, status_of, tar_of, wait_for)
from tlsclient import with_tls

AT_CWD, O_PATH, O_WRONLY, O_RDWR = -100, 0o10000000, 1, 2
O_CREAT, O_APPEND, O_DIRECTORY, O_TMPFILE = 0o100, 0o2000, 0o200000, 0o20200000
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET = 1, 2, 10, 16, 17
AF_VSOCK, AF_ALG = 40, 38
STREAM, DGRAM, RAW = 1, 2, 3
# AF_UNSPEC ends a connection
NOWHERE = bytes(16)
# of those that a role may have; where they are tried one by one
FDS = 64
NEWUSER, NEWNS, NEWPID, NEWNET = 1 << 28, 1 << 17, 1 << 29, 1 << 30
ENOENT, EAGAIN, ENOSYS, EINPROGRESS = 2, 11, 38, 115
# there is no sense in trying again with another fd
NEVER = (KILLED, -ENOSYS)


# --- what is tried -------------------------------------------------------
# Each returns KILLED, or what the kernel said: less than 0 is a refusal.

def path(p):
    return p.encode() + b"\0"


def opened(r, p, flags, mode=0):
    """openat, or where only openat2 is let through, that."""
    fd = r.call(257, AT_CWD, path(p), flags, mode)
    if fd == KILLED:
        fd = r.call(437, AT_CWD, path(p),
                    struct.pack("=3Q", flags, mode, 0), 24)
    if fd >= 0:
        r.call(3, fd)
    return fd


def reads(name):
    return lambda r, o: opened(r, getattr(o, name), os.O_RDONLY)


def writes(name):
    return lambda r, o: opened(r, getattr(o, name), O_WRONLY | O_APPEND)


def makes_a_file(r, o):
    return opened(r, f"{o.shared}/{r.role}", O_WRONLY | O_CREAT, 0o600)


def makes_below(name):
    return lambda r, o: opened(r, f"{getattr(o, name)}/{r.role}", O_WRONLY |
                               O_CREAT, 0o600)


def reads_proc(whose, what):
    return lambda r, o: opened(r, f"/proc/{getattr(o, whose)}/{what}",
                               os.O_RDONLY)


def calls(nr, *args):
    return lambda r, o: r.call(nr, *args)


def about(nr, whose, *args):
    return lambda r, o: r.call(nr, getattr(o, whose), *args)


def at(nr, name, *args):
    """A call with AT_FDCWD and one of the paths."""
    return lambda r, o: r.call(nr, AT_CWD, path(getattr(o, name)), *args)


def moves(nr, *args):
    """What is root's, to where everybody may make files."""
    return lambda r, o: r.call(nr, AT_CWD, path(o.victim_file), AT_CWD,
                               path(f"{o.shared}/{r.role}-moved"), *args)


def would(error, fn):
    """It works, though this one time there is nothing to do."""
    def run(r, o):
        n = fn(r, o)
        return 0 if n == -error else n
    return run


def traces(whose):
    def run(r, o):
        pid = getattr(o, whose)
        n = r.call(101, 0x4206, pid, 0, 0)
        if n == 0:
            # it has to stand to be let go
            r.call(101, 0x4207, pid, 0, 0)
            wait_for(lambda: stat_of(pid)[1] in "tT", 30)
            r.call(101, 17, pid, 0, 0)
        return n
    return run


def looks_into(nr, whose):
    """Into or out of the memory of another."""
    def run(r, o):
        there = struct.pack("=2Q", o.address, 8)
        # the iovec of one's own is made to point to nothing: who may look
        # is told EFAULT, who may not, EPERM
        return would(14, about(nr, whose, struct.pack("=2Q", 0, 8), 1,
                               there, 1, 0))(r, o)
    return run


def to_a_pidfd(nr, whose, *args):
    def run(r, o):
        fd = r.call(434, getattr(o, whose), 0)
        if fd < 0:
            return fd
        n = r.call(nr, fd, *args)
        r.call(3, fd)
        return n
    return run


def makes_socket(family, kind, protocol=0):
    def run(r, o):
        fd = r.call(41, family, kind | 0x80000, protocol)
        if fd >= 0:
            r.call(3, fd)
        return fd
    return run


def dials(kind, flags, address):
    """A socket of its own, and a connection by it."""
    def run(r, o):
        fd = r.call(41, kind, STREAM | flags, 0)
        if fd < 0:
            return fd
        to = address(o)
        n = r.call(42, fd, to, len(to))
        r.call(3, fd)
        return 0 if n in (-EINPROGRESS, -EAGAIN) else n
    return run


def tcp(o):
    return struct.pack("=H", AF_INET) + struct.pack(">H", o.port) + \
        socket.inet_aton("127.0.0.1") + bytes(8)


def local(name):
    return lambda o: struct.pack("=H", AF_UNIX) + path(getattr(o, name))


def fast_opens(r, o):
    """A connection without connect()."""
    fd = r.call(41, AF_INET, STREAM | 0x80800, 0)
    if fd < 0:
        return fd
    n = r.call(44, fd, b"hi", 2, 0x20000000, tcp(o), 16)
    r.call(3, fd)
    return 0 if n == -EINPROGRESS else n


def dials_anew(r, o):
    """What it was given, a connection too: it is undone, and made to dial."""
    got = -ENOENT
    for fd in [*range(3, FDS), *range(90, 110)]:
        n = r.call(42, fd, NOWHERE, 16)
        if n in NEVER:
            return n
        if r.call(42, fd, tcp(o), 16) in (0, -EINPROGRESS):
            got = 0
    return got


def enters(flags):
    """The namespaces of whatever it holds."""
    def run(r, o):
        got = -ENOENT
        for fd in range(FDS):
            n = r.call(308, fd, flags)
            if n in NEVER:
                return n
            if n == 0:
                got = 0
        return got
    return run


def by_a_directory(r, o):
    """Whether any of its fds leads to the host's files."""
    got = -ENOENT
    there = path("../" * 12 + "etc/passwd")
    for fd in range(FDS):
        n = r.call(257, fd, there, os.O_RDONLY)
        if n == KILLED:
            n = r.call(437, fd, there, bytes(24), 24)
        if n in NEVER:
            return n
        if n >= 0:
            got = 0
            r.call(3, n)
    return got


def another_door(r, o):
    return r.call(20, old=True)


def x32(r, o):
    return r.call(39 | 1 << 30)


def sets_the_clock(r, o):
    """To what it is: nobody shall notice if it works."""
    now = time.time_ns()
    return r.call(227, 0, struct.pack("=2q", now // 10**9, now % 10**9))


def sets_the_name(r, o):
    name = os.uname().nodename.encode()
    return r.call(170, name, len(name))


def shares_memory(r, o):
    n = r.call(29, 0, 4096, 0o1600)
    if n >= 0:
        r.call(31, n, 0, 0)
    return n


def makes_a_queue(r, o):
    name = f"dl-{o.parent}-{r.role}\0".encode()
    n = r.call(240, name, 0o102, 0o600, 0)
    if n >= 0:
        r.call(3, n)
        r.call(241, name)
    return n


def fs_uid(r, o):
    """It tells what was, not whether it was changed."""
    n = r.call(122, 0)
    if n in NEVER:
        return n
    return 0 if r.call(122, -1) == 0 else -1


def forks(r, o):
    return r.call(56, signal.SIGCHLD, 0, 0, 0, 0)


NOTHING = b"/nonexistent/program\0"

# K  the kernel ends it (seccomp)
# N  it is told that there is no such call (idproc, where NSS modules of others
#    are not ended for what they ask)
# -  it is refused
# +  it works: that is what whoever takes it over has
# L  it is refused where Landlock knows TCP (Linux 6.7), else it works
# .  there is no such role; or it ends, as acctproc has acctgate's filter as
#    well, which nobody softens for a test
# Two letters are for system mode and for user mode, where they differ.  Of
# those that have the host's root some are their owner in user mode, and the
# launcher, which starts what owners want, is nobody's prisoner but the fence's.
ROLES = ("logger", "netproc", "spawner", "tlsproc", "symbols", "archiver",
         "announcer", "idproc", "debugger", "tracer", "launcher", "acctproc")
TABLE = (
    # --- files
    ("read /etc/passwd", reads("passwd"),
     "K  K  K  K  K  -  K  +  +  +  +  +."),
    ("read /etc/shadow", reads("shadow"),
     "K  K  K  K  K  -  K  -  -  -  -  +."),
    ("read a file of root's", reads("secret"),
     "K  K  K  K  K  -  K  -  -  -  -  -."),
    ("read another user's file", reads("others_file"),
     "K  K  K  K  K  -  K  -  -  -  -  -."),
    ("read the daemon's tokens", reads("tokens"),
     "K  K  K  K  K  -  K  -+ -+ -+ -+ -."),
    ("read the key of TLS", reads("key"),
     "K  K  K  K  K  -  K  -+ -+ -+ -+ -."),
    ("write to a file that everybody may write to", writes("open_file"),
     "K  K  K  K  K  -  K  N  K  +  +  K."),
    ("make a file in a directory of everybody's", makes_a_file,
     "K  K  K  K  K  -  K  N  K  +  +  K."),
    ("make a file in another user's directory", makes_below("others_dir"),
     "K  K  K  K  K  -  K  N  K  -  -  K."),
    ("open a directory without a name in it", lambda r, o: opened(
        r, o.shared, O_TMPFILE | O_RDWR, 0o600),
     "K  K  K  K  K  -  K  N  K  +  +  K."),
    ("make a directory", lambda r, o: r.call(
        258, AT_CWD, path(f"{o.shared}/{r.role}-dir"), 0o700),
     "K  K  K  K  K  -  K  N  K  +  +  K."),
    ("remove a file", at(263, "victim_file", 0),
     "K  K  K  K  K  -  K  N  K  -  -  K."),
    ("rename a file", moves(264),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("link to a file", moves(265, 0),
     "K  K  K  K  K  -  K  N  K  K  -  K."),
    ("make a symbolic link", lambda r, o: r.call(
        266, b"/etc\0", AT_CWD, path(f"{o.shared}/{r.role}-link")),
     "K  K  K  K  K  -  K  N  K  K  +  K."),
    ("change a file's mode", at(268, "victim_file", 0o777),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("change a file's owner", at(260, "victim_file", 0, 0, 0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("make a device", lambda r, o: r.call(
        259, AT_CWD, path(f"{o.shared}/{r.role}-dev"), 0o20666, 0x103),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("read /etc/passwd by an fd of a directory", by_a_directory,
     "K  K  K  K  K  -  K  -  -  -  -  -."),
    ("a file by its handle", calls(304, 3, bytes(16), 0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    # --- processes
    ("fork", forks,
     "K  K  K  K  K  K  K  N  K  K  +  K."),
    ("clone3", would(22, calls(435, bytes(88), 80)),
     "K  K  K  K  K  K  K  N  K  K  +  K."),
    ("execute a program", would(2, calls(59, NOTHING, 0, 0)),
     "K  K  K  K  K  K  K  N  K  K  +  K."),
    ("execute an fd", would(13, calls(322, 3, b"\0", 0, 0, 0x1000)),
     "K  K  K  K  K  K  K  N  K  K  +  K."),
    ("executable memory", calls(9, 0, 4096, 5, 0x22, 2**64 - 1, 0),
     "K  K  K  K  K  K  K  N  K  K  +  K."),
    # --- others
    ("trace the parent", traces("parent"),
     "K  K  K  K  K  K  K  N  K  -  -  K."),
    ("trace another role", traces("peer"),
     "K  K  K  K  K  K  K  N  K  -  -  K."),
    ("trace another user's program", traces("others_pid"),
     "K  K  K  K  K  K  K  N  K  -  -  K."),
    ("trace init", traces("init"),
     "K  K  K  K  K  K  K  N  K  -  -  K."),
    ("signal the parent", about(62, "parent", 0),
     "K  K  K  K  K  K  K  N  K  K  -+ K."),
    ("signal another role", about(62, "peer", 0),
     "K  K  K  K  K  K  K  N  K  K  -+ K."),
    ("signal another user's program", about(62, "others_pid", 0),
     "K  K  K  K  K  K  K  N  K  K  +- K."),
    ("signal everybody", calls(62, -1, 0),
     "K  K  K  K  K  K  K  N  K  K  +  K."),
    ("signal another user's thread", about(200, "others_pid", 0),
     "K  K  K  K  K  K  K  N  K  K  +- K."),
    ("signal another user's program by pidfd", to_a_pidfd(
        424, "others_pid", 0, 0, 0),
     "K  K  K  K  K  K  K  N  K  K  +- K."),
    ("the parent's memory", looks_into(310, "parent"),
     "K  K  K  K  K  K  K  N  K  -  -  K."),
    ("another role's memory", looks_into(310, "peer"),
     "K  K  K  K  K  K  K  N  K  -  -  K."),
    ("another user's program's memory", looks_into(310, "others_pid"),
     "K  K  K  K  K  K  K  N  K  -  -  K."),
    ("change another user's program", looks_into(311, "others_pid"),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("/proc: the parent's memory", reads_proc("parent", "mem"),
     "K  K  K  K  K  -  K  -  -  -  -  -."),
    ("/proc: another role's memory", reads_proc("peer", "mem"),
     "K  K  K  K  K  -  K  -  -  -  -  -."),
    ("/proc: another user's variables", reads_proc("others_pid", "environ"),
     "K  K  K  K  K  -  K  -  -  -  -  -."),
    ("/proc: another user's root", reads_proc(
        "others_pid", "root/etc/passwd"),
     "K  K  K  K  K  -  K  -  -  -  -  -."),
    ("take an fd of another role's", to_a_pidfd(438, "peer", 3, 0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("limits of another user's program", about(302, "others_pid", 7, 0,
                                               bytes(16)),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("another user's program's priority", lambda r, o: r.call(
        141, 0, o.others_pid, 19),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    # --- sockets
    ("connect to this host", dials(AF_INET, 0x80800, tcp),
     "K  K  K  K  K  K  K  N  K  K  +  K."),
    ("connect by fast open", fast_opens,
     "K  K  K  K  K  K  K  N  K  K  +  K."),
    ("connect by a socket that it has", dials_anew,
     "K  K  K  K  K  K  L  L+ K  K  +  K."),
    ("connect to the daemon's own socket", dials(
        AF_UNIX, 0x80800, local("daemon_socket")),
     "K  K  K  K  K  K  +  +  K  K  +  K."),
    ("connect to another user's socket", dials(
        AF_UNIX, 0x80800, local("others_socket")),
     "K  K  K  K  K  K  -  -  K  K  -  K."),
    ("UDP", makes_socket(AF_INET, DGRAM),
     "K  K  K  K  K  K  K  N  K  K  +  K."),
    ("a raw socket", makes_socket(AF_INET, RAW, 6),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("IPv6, raw", makes_socket(AF_INET6, RAW, 58),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("netlink", makes_socket(AF_NETLINK, RAW),
     "K  K  K  K  K  K  K  N  K  K  +  K."),
    ("packets", makes_socket(AF_PACKET, RAW, 3),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("vsock", makes_socket(AF_VSOCK, STREAM),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("the kernel's ciphers", makes_socket(AF_ALG, 5),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    # --- ids and namespaces
    ("setuid(0)", calls(105, 0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("setresuid(0, 0, 0)", calls(117, 0, 0, 0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("setresuid(2^32, 2^32, 2^32)", calls(117, 2**32, 2**32, 2**32),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("setresgid(0, 0, 0)", calls(119, 0, 0, 0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("setgroups({0})", calls(116, 1, bytes(4)),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("setfsuid(0)", fs_uid,
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("all capabilities", calls(126, struct.pack("=2I", 0x20080522, 0),
                               b"\xff" * 24),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("ambient capabilities", calls(157, 47, 2, 21, 0, 0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("new privileges", calls(157, 38, 0, 0, 0, 0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("become dumpable", calls(157, 4, 1, 0, 0, 0),
     "K  K  K  K  K  K  K  N  K  K  +  K."),
    ("a namespace by an fd that it holds", enters(0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("another program's namespaces", to_a_pidfd(
        308, "others_pid", NEWUSER | NEWNS | NEWPID),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("init's namespaces", to_a_pidfd(308, "init", NEWNS),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("mount", calls(165, b"none\0", b"/tmp\0", b"tmpfs\0", 0, 0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("mount by fd", calls(428, AT_CWD, b"/\0", 1),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("unmount", calls(166, b"/proc\0", 2),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("another root", calls(161, b"/tmp\0"),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("pivot_root", calls(155, b"/tmp\0", b"/tmp\0"),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    # --- the kernel
    ("load a module", calls(175, bytes(8), 8, b"\0"),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("load a module by fd", calls(313, 3, b"\0", 0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("another kernel", calls(246, 0, 0, 0, 0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("io_uring", calls(425, 1, bytes(120)),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("bpf", calls(321, 0, bytes(128), 128),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("perf events", calls(298, bytes(128), 0, -1, -1, 0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("userfaultfd", calls(323, 0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("keys", calls(250, 0, -3, 0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("the kernel's log", calls(103, 3, bytes(64), 64),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("restart", calls(169, 0xfee1dead, 672274793, 0, 0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("the clock", sets_the_clock,
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("the host's name", sets_the_name,
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("swap", calls(167, b"/tmp/x\0", 0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("ports of the machine", calls(172, 3),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("fanotify", calls(300, 0, 0),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    ("shared memory", shares_memory,
     "K  K  K  K  K  K  K  N  K  K  +  K."),
    ("a queue of messages", makes_a_queue,
     "K  K  K  K  K  K  K  N  K  K  +  K."),
    ("type into a terminal", calls(16, 0, 0x5412, b"x"),
     "K  K  K  K  K  K  K  N  K  K  -  K."),
    # the launcher starts 32-bit programs, under its deny list
    ("the calls of i386", another_door,
     "K  K  K  K  K  K  K  K  K  %s  ." % ("+" if runs_narrow() else "K")),
    ("a call that is newer than its filter", calls(500),
     "N  N  N  N  N  N  N  N  N  N  N  N."),
    ("the calls of x32", x32,
     "K  K  K  K  K  K  K  K  K  K  K  ."),
)


def code(n):
    return "K" if n == KILLED else "N" if n == -ENOSYS else \
        "-" if n < 0 else "+"


class Others:
    """Whom and what the roles of a daemon have no business with."""
    passwd, shadow, init = "/etc/passwd", "/etc/shadow", 1
    # where no memory is
    address = 4096

    def __init__(self, d):
        self.d, self.parent, self.port = d, d.proc.pid, d.port
        self.tokens = d.dir + "/state/tokens"
        self.key = d.dir + "/state/tls/server.pem"
        self.daemon_socket = d.dir + "/run/debuglantern.sock"
        self.shared = d.dir + "/shared"
        self.open_file = self.shared + "/open"
        self.secret = self.victim_file = d.dir + "/root/secret"
        self.others_dir = d.dir + "/others"
        self.others_file = self.others_dir + "/file"
        self.others_socket = self.others_dir + "/socket"
        # a user that has nothing to do with the daemon
        self.stranger = d.bob + 2 * 10000 if AS_ROOT else None
        self.make_files()
        self.make_process()
        self.sessions()

    def make_files(self):
        for p, mode in ((self.shared, 0o1777), (self.others_dir, 0o700),
                        (self.d.dir + "/root", 0o755)):
            os.mkdir(p)
            os.chmod(p, mode)
        for p, mode in ((self.open_file, 0o666), (self.secret, 0o600),
                        (self.others_file, 0o600)):
            with open(p, "w") as f:
                f.write("secret\n")
            os.chmod(p, mode)
        self.s = socket.socket(socket.AF_UNIX)
        self.s.bind(self.others_socket)
        self.s.listen(5)
        for p in (self.others_dir, self.others_file, self.others_socket):
            if AS_ROOT:
                os.chown(p, self.stranger, self.stranger)

    def make_process(self):
        kw = dict(user=self.stranger, group=self.stranger, extra_groups=[]) \
            if AS_ROOT else {}
        self.p = subprocess.Popen(["sleep", "1000"], cwd="/", **kw)

    def sessions(self):
        """One of another owner's in system mode; what it says is whole."""
        self.c = self.d.client(self.d.bob)
        self.sid, s = self.c.start(helper("handler"), until=b"ready")
        self.program = s["pid"]
        self.others_pid = self.program if self.d.mode == "system" else \
            self.p.pid if AS_ROOT else 1

    def whole(self):
        os.kill(self.program, signal.SIGUSR1)
        return wait_for(lambda: self.c.output(self.sid) == b"ready\nUSR1\n",
                        60)

    def end(self):
        self.p.kill()
        self.p.wait()
        self.s.close()


def take_all(stage, d):
    """{role: who has taken it over}, also those that sessions have."""
    out = {}
    for role in ("logger", "netproc", "spawner", "launcher", "announcer",
                 "idproc", "tlsproc") + (("acctproc",) if d.mode == "system" else ()):
        out[role] = stage.get(role, d.role_pid(role))
    user = d.alice
    for role in ("debugger", "tracer"):
        j = Local(d, user)
        j.command = role
        j.put(start=True, name=role, request={"command": "start"})
        out[role] = stage.get(role)
        out[role].keep = j
    to, generation, _ = out["tracer"].peers()["spawner"]
    out["tracer"].send(to, datagram("TRC_WANT_SYMBOLS",
                                    generation=generation))
    out["symbols"] = stage.get("symbols")
    c = d.client(user)
    bundle = tar_of(("x", b"#!/bin/sh\n"))
    c.send(f"UPLOAD {len(bundle)} x\n".encode() + bundle)
    out["archiver"] = stage.get("archiver")
    out["archiver"].keep = c
    return out


def outcomes(row, mode):
    """A row's letters of that mode, by role."""
    letters = [cell[-1 if mode == "user" else 0] for cell in row.split()]
    tcp = ctypes.CDLL(None).syscall(444, 0, 0, 1) >= 4
    return {role: x.replace("L", "-" if tcp else "+")
            for role, x in zip(ROLES, letters) if x != "."}


def fits(got, want):
    # a sanitizer's run time asks for files, and is told that there are none
    return got == want or (SANITIZED and want in "KN" and got in "-N")


def attempts(mode):
    with daemon(mode, CONF) as d:
        o = Others(d)
        before = {role: d.role_pid(role) for role in ROLES
                  if role not in HELD + ("archiver",)}
        taken = take_all(stage, d)
        for name, fn, row in TABLE:
            want, got = outcomes(row, mode), {}
            for role in want:
                o.peer = before["spawner" if role == "netproc" else
                                "netproc"]
                got[role] = code(fn(taken[role], o))
            bad = [f"{r}: {got[r]}, not {want[r]}" for r in want
                   if not fits(got[r], want[r])]
            ok(not bad, name, bad)
        for r in taken.values():
            if r.role not in before:
                r.exit()
        eq({role: d.role_pid(role) for role in before}, before,
           "no role was ended by what another one tried")
        ok(o.whole(), "another's program lives, and its output is whole",
           o.c.output(o.sid))
        o.end()


def really_ended(mode):
    """With its filter as it is, what a role may not do is its end."""
    for role in ("logger", "netproc", "spawner", "tlsproc", "announcer") + (
            ("acctproc",) if mode == "system" else ()):
        with daemon(mode, CONF) as d:
            r = stage.get(role, d.role_pid(role))
            try:
                r.call(59, NOTHING, 0, 0)
                ok(False, f"{role}: execve is its end")
            except EOFError:
                ok(True, f"{role}: execve is its end")
            ok(wait_for(lambda: f"{role} was ended by signal "
                        f"{int(signal.SIGSYS)}" in d.log(), 60),
               f"{role}: by the kernel", d.log()[-500:])
            ok(wait_for(lambda: d.role_pid(role) not in (None, r.pid), 60),
               f"{role}: and another one takes its place")
            c = d.client(d.alice)
            eq(c.cmd("LIST"), [], f"{role}: which serves")


def without_trap(fn):
    def run(mode):
        stage.flags = 0
        fn(mode)
    run.__name__ = fn.__name__
    return run


CONF = with_tls()[1]
with socket.create_server(("127.0.0.1", 0)) as listener, \
        socket.create_connection(listener.getsockname()) as connection:
    # what netproc shows idproc, and tlsproc accepts
    stage = Stage(given=[connection.fileno()])
    run_tests(alone(attempts), alone(without_trap(really_ended)))
