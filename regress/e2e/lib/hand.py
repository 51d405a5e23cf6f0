# SPDX-License-Identifier: ISC
"""A launcher by itself: parent and spawner are played by the test."""
import array
import ctypes
import os
import re
import select
import signal
import socket
import struct
import time

from dl import ALICE, LIBEXEC

HERE = os.path.dirname(os.path.abspath(__file__))
COMMON = os.path.join(HERE, "../../../common/wire")


def words(name, pattern):
    with open(os.path.join(COMMON, name)) as f:
        return re.findall(pattern, f.read(), re.M)


TYPES = {n: i + 1 for i, n in enumerate(words("msgs.def", r"^MSG\((\w+),"))}
NAMES = {v: k for k, v in TYPES.items()}
STEPS = {i + 1: n for i, n in
         enumerate(words("proto.h", r"^\tX\((\w+),\t"))}
# what roles are sent of each setting
FIELDS = [("STR" if kind in ("HOST_STR", "PATHNAME") else "NUM", name)
          for kind, name in
          words("settings.def", r"^(\w+)\((?:ROLES, )?(\w+)")
          if name != "SETUP"]
ROLES = words("roles.h", r"^\tX\((\w+),")
HEADER = struct.Struct("=IIQII16s")
UNLIMITED = 2**64 - 1
NONE, NAMESPACES, TMPFS = range(3)
STDIN, STDOUT, STDERR, STATUS, STUB, TARGET, EVENTS = range(7)
WIRE, ERRORS, DEBUGGER = range(3)
REPORT, RESULT, INIT, SPACE = range(4)
ONE, TREE_TERM, TREE_KILL, TREE_HUP = range(4)

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER = 0x10000000
SETGID, SETUID, KILL = 6, 7, 5
CAPS = 1 << SETGID | 1 << SETUID | 1 << KILL


def check(r):
    if r == -1:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e))
    return r


def make_fence(uids, gids):
    """A user namespace with only those ids: its fd."""
    up, down = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(down[1])
        check(libc.unshare(CLONE_NEWUSER))
        os.write(up[1], b"x")
        os.read(down[0], 1)
        os._exit(0)
    os.read(up[0], 1)
    for which, ids in (("uid_map", uids), ("gid_map", gids)):
        with open(f"/proc/{pid}/{which}", "w") as f:
            f.write("".join(f"{first} {first} {n}\n" for first, n in ids))
    fd = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    for p in (*up, *down):
        os.close(p)
    os.waitpid(pid, 0)
    return fd


def lend_caps():
    head = struct.pack("=Ii", 0x20080522, 0)
    data = struct.pack("=6I", CAPS, CAPS, CAPS, 0, 0, 0)
    check(libc.capset(head, data))
    for c in (SETGID, SETUID, KILL):
        check(libc.prctl(47, 2, c, 0, 0))


def pack_str(s):
    s = s.encode() if isinstance(s, str) else s
    return struct.pack("=I", len(s)) + s


def strings(items):
    return pack_str(b"".join(i.encode() + b"\0" for i in items))


class Msg:
    def __init__(self, data, fds):
        (t, _, self.request, self.conn, self.gen,
         self.session) = HEADER.unpack_from(data)
        self.name = NAMES[t]
        self.body = data[HEADER.size:]
        self.fds = fds

    def u32(self):
        n = len(self.body) // 4
        return struct.unpack_from(f"={n}I", self.body)

    def __repr__(self):
        return f"{self.name} {self.u32()[:3]} {len(self.fds)} fds"


class Chan:
    def __init__(self):
        self.s, self.theirs = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def send(self, name, body=b"", fd=None, request=0, sid=bytes(16), gen=0):
        data = HEADER.pack(TYPES[name], len(body), request, 1, gen, sid)
        anc = [] if fd is None else [(
            socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))]
        self.s.sendmsg([data + body], anc)

    def recv(self, seconds=10):
        self.s.settimeout(seconds)
        data, fds, _, _ = socket.recv_fds(self.s, 130000, 4)
        if not data:
            raise EOFError("the launcher has closed the channel")
        return Msg(data, fds)


class Launcher:
    """mode system needs root; the launcher runs as uid 64000 there."""

    SERVICE = 64000

    def __init__(self, mode, state_dir, run_dir, uid=ALICE, **settings):
        self.mode, self.uid = mode, uid
        self.parent, self.spawner = Chan(), Chan()
        self.log = Chan()
        self.requests = 0
        self.caught = {}
        values = dict(sandbox=NAMESPACES, allow_sandbox=7, min_uid=1000,
                      max_sessions=32, sum_users=4,
                      rlimit_users=1,
                      run_uid=64001, run_gid=64001, gdbserver="/usr/bin/gdbserver",
                      daemon_uid=uid, log_level=3, state_dir=state_dir,
                      run_dir=run_dir)
        values.update(settings)
        self.settings = b"".join(
            struct.pack("=Q", values.get(n, 0)) if kind == "NUM"
            else pack_str(values.get(n, "")) for kind, n in FIELDS)
        self.fence = -1
        if mode == "system":
            ids = [(self.SERVICE, 2), (1000, 59001)]
            self.fence = make_fence(ids, ids)
        self.pid = self.begin()
        self.setup(self.parent)
        self.link(self.parent, self.spawner)

    def begin(self):
        pid = os.fork()
        if pid != 0:
            self.parent.theirs.close()
            return pid
        try:
            os.dup2(self.parent.theirs.fileno(), 3, inheritable=True)
            if self.mode == "system":
                check(libc.setns(self.fence, CLONE_NEWUSER))
                lend_caps()
            elif os.geteuid() == 0 and self.uid != 0:
                os.setgroups([])
                os.setresgid(self.uid, self.uid, self.uid)
                os.setresuid(self.uid, self.uid, self.uid)
            os.execv(os.path.join(LIBEXEC, "launcher"), ["launcher"])
        finally:
            os._exit(99)

    def setup(self, chan):
        system = self.mode == "system"
        ids = (1, self.SERVICE, self.SERVICE) if system else (
            2, self.uid, self.uid)
        chan.send("SETUP", struct.pack("=3I", *ids) + self.settings,
                  self.log.theirs.fileno())
        self.expect(chan, "READY")
        fd = os.open(os.path.join(LIBEXEC, "archiver"), os.O_RDONLY)
        chan.send("ARCHIVER", fd=fd)
        os.close(fd)

    def link(self, parent, spawner):
        parent.send("PEER", struct.pack("=2I", ROLES.index("SPAWNER"), 7),
                    fd=spawner.theirs.fileno())
        spawner.theirs.close()

    def expect(self, chan, name, seconds=10):
        m = chan.recv(seconds)
        if m.name != name:
            raise RuntimeError(f"{m!r} instead of {name}")
        return m

    def ask(self, name, body=b"", fd=None, sid=bytes(16), seconds=25):
        """Sends to the launcher; the fds by kind and the final answer."""
        self.requests += 1
        self.spawner.send(name, body, fd, self.requests, sid, 7)
        fds = {}
        while True:
            m = self.spawner.recv(seconds)
            assert m.request == self.requests and m.session == sid, m
            if not m.name.endswith("_FD"):
                return fds, m
            fds[m.u32()[0]] = m.fds[0]

    def owner(self, uid=None, gid=None, groups=()):
        uid = self.uid if uid is None else uid
        gid = uid if gid is None else gid
        return struct.pack(f"={3 + len(groups)}I", uid, gid, len(groups),
                           *groups)

    @staticmethod
    def limits(those):
        lim = [UNLIMITED] * 5
        lim[4] = 0
        for i, v in those:
            lim[i] = v
        return lim

    def run_body(self, argv=("image",), env=(), sandbox=NAMESPACES,
                 network=0, debug=0, split=0, bundle=0, control=0, watch=0,
                 file=0, command=0, adapter=0, tty=0, cols=80, rows=24, cwd="",
                 limits=(), owner=None, exec_path="", home="/",
                 memory=UNLIMITED, pids=UNLIMITED, user_memory=UNLIMITED,
                 user_pids=UNLIMITED):
        lim = self.limits(limits)
        return (owner or self.owner()) + struct.pack(
            "=13I9Q", sandbox, network, debug, split, bundle, control, watch,
            file, command, adapter, tty, cols, rows, *lim, memory, pids, user_memory,
            user_pids) + pack_str(exec_path) + pack_str(home) + \
            pack_str(cwd) + strings(argv) + strings(env)

    def attach_body(self, pid, gdbserver="/usr/bin/gdbserver", limits=()):
        return self.owner() + struct.pack("=2I", pid, 0) + strings(
            (gdbserver, "--once", "--attach", "-", str(pid))) + \
            strings(("PATH=/usr/bin:/bin",)) + \
            struct.pack("=6Q", UNLIMITED, *self.limits(limits))

    def run(self, image, *args, sid=bytes(16), **kw):
        return Run(self, *self.ask("RUN", self.run_body(*args, **kw), image,
                                   sid))

    def signal(self, fd, sig, whom=ONE, sid=bytes(16)):
        _, m = self.ask("SEND_SIGNAL", struct.pack("=3I", sig, whom, self.uid), fd,
                        sid)
        return m.u32()[0]

    def end(self):
        self.parent.s.close()
        self.spawner.s.close()
        os.waitpid(self.pid, 0)
        if self.fence != -1:
            os.close(self.fence)


class Run:
    """A start and what came of it."""

    def __init__(self, launcher, fds, answer):
        self.l, self.fds, self.answer = launcher, fds, answer
        self.failed = None
        if answer.name == "RAN":
            self.pid, self.inner = answer.u32()
        else:
            step, error = answer.u32()
            self.failed = (STEPS[step], error)

    def read(self, kind=STDOUT, seconds=10):
        """Everything until the end of the pipe."""
        out, end = b"", time.monotonic() + seconds
        while time.monotonic() < end:
            if not select.select([self.fds[kind]], [], [], 1)[0]:
                continue
            d = os.read(self.fds[kind], 65536)
            if not d:
                return out.decode(errors="replace")
            out += d
        raise RuntimeError(f"no end of the pipe; so far: {out!r}")

    def until(self, what, kind=STDOUT):
        out = b""
        while what.encode() not in out:
            d = os.read(self.fds[kind], 65536)
            if not d:
                raise RuntimeError(f"ended before {what!r}: {out!r}")
            out += d
        return out.decode()

    def lines(self):
        return dict(line.split("=", 1) for line in self.read().splitlines()
                    if "=" in line)

    def gone(self, seconds=10):
        return bool(select.select([self.fds[STUB]], [], [], seconds)[0])

    def report(self):
        """("exited", code) or ("signaled", number), after the tree's end."""
        if not self.gone():
            raise RuntimeError("the tree does not end")
        r = os.read(self.fds[STATUS], 8)
        what, value = struct.unpack("=2I", r)
        return {1: "exited", 2: "signaled"}[what], value

    def close(self):
        """What is left is killed; then the fds go."""
        if STUB in self.fds:
            try:
                signal.pidfd_send_signal(self.fds[STUB], signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.gone()
        for fd in self.fds.values():
            os.close(fd)
        self.fds = {}
