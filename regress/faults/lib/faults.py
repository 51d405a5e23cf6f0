# SPDX-License-Identifier: ISC
"""A daemon of roles that fail on order, and what must be true of it then."""
import atexit
import collections
import errno
import json
import mmap
import os
import shutil
import signal
import ssl
import struct
import sys
import tempfile
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../e2e/lib"))
import dl  # noqa: E402
from dl import alive, stat_of, status_of, wait_for  # noqa: E402
from mdns import browse  # noqa: E402
from tlsclient import TlsClient  # noqa: E402

# plan.h
PLAN_SIZE, PLAN_PATH = 4096, 128
MARK = b"the path of the plan of faults".ljust(PLAN_PATH, b"\0")
ACTION, CALLS, ERROR, HELD = range(0, 16, 4)
FIRST, LAST, EVERY, COUNT, STRUCK, CLOCK = range(16, 64, 8)
WHERE = slice(64, 96)
SIGNAL, PC = 96, 104
OBJECT, BLOCKS = slice(112, 208), 208
NOTHING, FAIL, SHORT, HOLD = range(4)
(MALLOC, OPEN, SOCKET, CLONE, MOUNT, WRITE, EPOLL, FD, READ, WAIT, MAP,
 MESSAGE) = (1 << i for i in range(12))
KINDS = {"malloc": (MALLOC, errno.ENOMEM), "open": (OPEN, errno.EMFILE),
         "socket": (SOCKET, errno.EMFILE), "clone": (CLONE, errno.EAGAIN),
         "mount": (MOUNT, errno.EPERM), "write": (WRITE, errno.ENOBUFS),
         "epoll": (EPOLL, errno.ENOSPC), "fd": (FD, errno.EMFILE),
         "map": (MAP, errno.ENOMEM), "message": (MESSAGE, errno.ENOBUFS)}
# libraries that are not larger are packed in no time
SMALL = 300000
# spawner/client/activity.c
EVENTS = 500
# all that a test may have to wait for here comes at once on a calm machine
LONG = 90

BUILD = os.path.join(os.environ.get("DL_BUILD", "build"), "regress/faulty")
ROLES = ("netproc", "spawner", "launcher", "idproc", "tlsproc", "acctproc",
         "announcer", "logger", "archiver", "debugger", "tracer", "symbols")
CGROUPS = "/sys/fs/cgroup"


class Plan:
    """The page that a role shares with us."""

    def __init__(self, path):
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        # whatever the umask is: roles run as many users
        os.fchmod(fd, 0o666)
        os.ftruncate(fd, PLAN_SIZE)
        self.m = mmap.mmap(fd, PLAN_SIZE)
        os.close(fd)

    def u32(self, at, v=None):
        if v is None:
            return struct.unpack_from("=I", self.m, at)[0]
        struct.pack_into("=I", self.m, at, v)

    def u64(self, at, v=None):
        if v is None:
            return struct.unpack_from("=Q", self.m, at)[0]
        struct.pack_into("=Q", self.m, at, v)

    def order(self, action, calls, first=1, last=None, every=0, error=0):
        """From now on, of these calls, those from the first to the last."""
        self.rest()
        for at, v in ((COUNT, 0), (STRUCK, 0), (FIRST, first),
                      (LAST, first if last is None else last),
                      (EVERY, every)):
            self.u64(at, v)
        self.m[WHERE] = bytes(32)
        self.m[OBJECT] = bytes(96)
        self.u32(SIGNAL, 0)
        self.u32(ERROR, error)
        self.u32(ACTION, action)
        self.u32(CALLS, calls)

    def rest(self):
        """Nothing fails any more, and nobody is held."""
        self.u32(CALLS, 0)
        self.u32(ACTION, NOTHING)

    def jump(self, ms):
        struct.pack_into("=q", self.m, CLOCK, ms)

    @property
    def count(self):
        return self.u64(COUNT)

    @property
    def struck(self):
        return self.u64(STRUCK)

    @property
    def blocks(self):
        """Of memory that its process has, beside those of its start."""
        return struct.unpack_from("=q", self.m, BLOCKS)[0]

    @property
    def held(self):
        """The process that waits, as it calls itself; 0 = none."""
        return self.u32(HELD)

    @property
    def crash(self):
        """(signal, where, in what) of one that died of a fault."""
        sig = self.u32(SIGNAL)
        return (sig, hex(self.u64(PC)), os.fsdecode(
            bytes(self.m[OBJECT]).split(b"\0")[0])) if sig else None

    @property
    def where(self):
        return bytes(self.m[WHERE]).split(b"\0")[0].decode()


def planned(role, to):
    """A copy of the role at that path, which knows where its plan is."""
    path = to + ".plan"
    with open(f"{BUILD}/{role}", "rb") as f:
        data = f.read()
    if data.count(MARK) != 1 or len(path) >= PLAN_PATH:
        raise RuntimeError(f"{role} cannot be told of {path}")
    with open(to, "wb") as f:
        f.write(data.replace(MARK, path.encode().ljust(PLAN_PATH, b"\0")))
    os.chmod(to, 0o755)
    return Plan(path)


STAGED = {}


def stage():
    """A directory of its own with the daemon and all roles as they fail."""
    top = tempfile.mkdtemp(prefix="dl-faults-")
    atexit.register(shutil.rmtree, top, True)
    os.chmod(top, 0o755)
    shutil.copytree(dl.BIN, top + "/bin")
    libexec = top + "/libexec/debuglantern"
    os.makedirs(libexec)
    os.chmod(top + "/libexec", 0o755)
    os.chmod(libexec, 0o755)
    plans = {"setup": planned("setup", top + "/bin/debuglanternd")}
    for role in ("parent", *ROLES):
        plans[role] = planned(role, f"{libexec}/{role}")
    dl.BIN = top + "/bin"
    STAGED.update(plans)
    return plans


def rest(plans):
    for p in plans.values():
        p.rest()
        p.jump(0)


# --- what there is of a daemon -------------------------------------------

def fds_of(pid):
    """How many of each kind; of files, pipes and sockets only how many."""
    out = {}
    try:
        for n in os.listdir(f"/proc/{pid}/fd"):
            try:
                t = os.readlink(f"/proc/{pid}/fd/{n}")
            except OSError:
                continue
            kind = t.split(":")[0] if ":" in t else t
            out[kind] = out.get(kind, 0) + 1
    except OSError:
        pass
    return out


def mounts_of(pid):
    """Where something is mounted, as often as it is."""
    return collections.Counter(
        line.split()[4]
        for line in dl.read_proc(pid, "mountinfo").splitlines())


def cgroups_of(d):
    """The directories below the daemon's, of users and of sessions."""
    top = os.path.join(CGROUPS, "debuglantern", str(d.proc.pid))
    return sorted(os.path.join(at, x)[len(top):]
                  for at, dirs, _ in os.walk(top) for x in dirs)


# each is one process, and makes none that goes on as it is
FRUGAL = ("parent", "logger", "netproc", "spawner", "idproc", "tlsproc", "acctproc",
          "announcer")


def memory_of(roles):
    """{(role, process): blocks}"""
    return {(name, p): STAGED[name].blocks for name in FRUGAL
            for p in roles[name]}


def roles_of(d):
    """By one look at all processes: they are many, and looked at often."""
    found = d.children()
    return {name: {p: n for p, n in found.items() if n == name} for name in
            ("netproc", "spawner", "launcher", "idproc", "tlsproc",
             "acctproc", "announcer", "logger")}


def inventory(d):
    """All that must be as before when what was done is undone."""
    roles = roles_of(d)
    out = {name: len(pids) for name, pids in roles.items()}
    out["memory"] = memory_of(roles | {"parent": [d.proc.pid]})
    out["processes"] = sorted((stat_of(p) or ("",))[0]
                              for p in d.processes() if alive(p))
    out["mounts"] = mounts_of(d.proc.pid)
    out["cgroups"] = cgroups_of(d)
    out["fds"] = {"parent": fds_of(d.proc.pid)}
    for name, pids in roles.items():
        # two launchers: the one in reserve has less
        out["fds"][name] = sorted(sorted(fds_of(p).items()) for p in pids)
    return out


def differences(a, b):
    # others may unmount what is theirs
    more = b["mounts"] - a["mounts"]
    out = {"mounts": sorted(more.elements())} if more else {}
    # ... and one that has begun anew has what it has
    if more := {k: (a["memory"][k], n) for k, n in b["memory"].items()
                if n > a["memory"].get(k, n)}:
        out["memory"] = more
    return out | {k: (a[k], b[k]) for k in a if a[k] != b[k] and
                  k not in ("fds", "mounts", "memory")} | \
        {"fds of " + k: (a["fds"][k], b["fds"][k]) for k in a["fds"]
         if a["fds"][k] != b["fds"][k]}


# --- what is done with it -----------------------------------------------

# a failure says one of these, or the connection ends; nothing else is true
HONEST = {"try_again", "busy", "internal_error", "memfd_create_failed",
          "upload_write_failed", "extract_failed", "tmpdir_create_failed",
          "tmpfile_create_failed", "fork_failed", "exec_failed",
          "kill_failed", "debug_failed", "sysroot_failed",
          "max_connections_reached", "debugger_lost", "debugger_refused",
          "tracer_lost", "tracer_refused"}
# ... and these follow from one before
SO_THEN = {"not_running", "session_running", "not_found", "busy"}


class Script:
    """A life of sessions by one connection; .said is what went wrong."""

    def __init__(self, d, timeout=LONG):
        self.d, self.timeout = d, timeout
        self.said, self.c = [], None
        try:
            self.run()
        finally:
            if self.c is not None:
                self.c.close()

    def door(self):
        return self.d.client(timeout=self.timeout)

    def do(self, name, fn):
        """The answer, or None: then a new connection may be needed."""
        try:
            if self.c is None:
                self.c = self.door()
            r = fn(self.c)
        except (EOFError, ConnectionError, ssl.SSLError) as e:
            self.c = None
            self.said.append((name, "lost", str(e)))
            return None
        except ValueError as e:
            self.c = None
            self.said.append((name, "is no JSON", str(e)))
            return None
        except TimeoutError:
            self.c = None
            self.said.append((name, "hangs", ""))
            return None
        if isinstance(r, dict) and "error_code" in r:
            self.said.append((name, r["error_code"], r.get("message")))
            return None
        return r

    def cmd(self, line):
        return self.do(line.split()[0], lambda c: c.cmd(line))

    def output(self, sid):
        return self.do("OUTPUT", lambda c: c.cmd(f"OUTPUT {sid} 0"))

    def life(self, data, path):
        r = self.do("UPLOAD", lambda c: dict(c.upload(data, path)))
        if r is None:
            return
        sid = r["id"]
        self.cmd(f"ENV {sid} KEY=value")
        if self.cmd(f"START {sid}") is not None:
            self.ends_well(sid)
        self.cmd(f"DELETE {sid}")

    def ends_well(self, sid):
        s = self.cmd(f"WAIT {sid} 60")
        o = self.output(sid)
        # who ends well has said all that they had to say
        if s and o and (s.get("exit_code"), o.get("output")) != \
                (0, "Hello world\n"):
            self.said.append(("OUTPUT", "wrong", (s, o)))

    def terminal(self):
        r = self.cmd("NEW tty start=now -- /bin/cat")
        if r is None:
            return
        sid = r["id"]
        self.cmd(f"RESIZE {sid} 100 30")
        self.do("INPUT", lambda c: c.cmd(f"INPUT {sid} 3\nab"))
        self.cmd(f"KILL {sid}")
        self.cmd(f"DELETE {sid}")

    def run(self):
        self.cmd("VERSION")
        self.cmd("LIST")
        self.life(HELLO, None)
        self.life(BUNDLE, "run")
        self.terminal()

    def bad(self, also=()):
        """What no fault excuses, but these."""
        return [x for i, x in enumerate(self.said) if x[1] != "lost" and
                x[1] not in HONEST and x[1] not in also and
                not (i > 0 and x[1] in SO_THEN)]


class Packed(Script):
    """The system's libraries; a tree that is small, please."""

    def pack(self, c):
        line = c.recv_line() if c.send("SYSROOT\n") is None else b""
        if not line.startswith(b"SYSROOT "):
            return json.loads(line)
        n, z = int(line.split()[1]), zlib.decompressobj(31)
        while n > 0:
            data = c.recv_bytes(min(n, 1 << 16))
            z.decompress(data)
            n -= len(data)
        return {} if z.eof else {"error_code": "ends early"}

    def run(self):
        self.do("SYSROOT", self.pack)


class Unpacked(Script):
    def run(self):
        self.life(BUNDLE, "run")


class Sealed(Script):
    """By TLS."""

    def door(self):
        return TlsClient(self.d.tls_port, self.d.uid, timeout=self.timeout)

    def run(self):
        self.cmd("VERSION")
        self.life(HELLO, None)
        if self.c is not None:
            self.do("end", lambda c: c.end())


class Reloaded(Script):
    """Another configuration, in which that line is another one."""

    def reload(self, word, line):
        with open(self.d.conf_path) as f:
            lines = f.read().splitlines()
        self.d.write_conf("\n".join(
            [x for x in lines if not x.startswith(word)] + [line]) + "\n")
        self.d.proc.send_signal(signal.SIGHUP)

    def run(self):
        seen = len(self.d.log())
        # any other would do
        self.reload("stop-timeout", "stop-timeout 1")
        if not wait_for(lambda: "reloaded" in self.d.log()[seen:],
                        self.timeout):
            self.said.append(("HUP", "is not answered", ""))
        elif "was not reloaded" in self.d.log()[seen:]:
            self.said.append(("HUP", "try_again", ""))
        self.cmd("VERSION")


class Announced(Reloaded):
    """Taken back, and announced by another name and a new connection."""

    def told(self):
        """What is announced, and what the daemon says about it."""
        c = self.door()
        v = c.cmd("VERSION")
        c.close()
        txt = {"version": v["version"], "auth": "peer", "web": "",
               "tls": str(self.d.tls_port), "fp": v["tls"]["fingerprint"]}
        return browse(), txt, v["mdns"]

    def run(self):
        name = f"lamp {time.monotonic_ns()}"
        # by another name alone it would keep its connection
        self.reload("mdns", "mdns no")
        if not wait_for(lambda: self.told()[2].startswith("switched off"),
                        self.timeout, 0.1):
            self.said.append(("HUP", "is not taken back", ""))
        self.reload("service-name", f'service-name "{name}"')
        self.reload("mdns", "mdns yes")
        now = [None]

        def announced():
            seen, txt, state = now[0] = self.told()
            return state == "announced" and \
                seen == {name: (self.d.port, "127.0.0.1", txt)}
        if not wait_for(announced, self.timeout, 0.1):
            self.said.append(("HUP", "is not announced", now[0]))


class Instrument(Script):
    """A program that somebody looks into; its owner asks for all of it."""

    def tell(self, how, command, args):
        return self.cmd(f"{self.VERB} {how} " + json.dumps(
            {"command": command, "args": args}))

    def confined(self):
        """Whoever has answered has given away what they may not."""
        for p in self.d.processes():
            if (dl.stat_of(p) or ("",))[0] != self.VERB.lower():
                continue
            st = status_of(p)
            if st and [st["Seccomp"], st["NoNewPrivs"], int(
                    st["CapEff"], 16)] != ["2", "1", 0]:
                self.said.append((self.VERB, "not confined", st))

    def run(self):
        if self.tell("start name=t", *self.START) is None:
            return
        self.confined()
        for command, args in self.THEN:
            self.tell("t", command, args)
        self.meanwhile()
        for command, args in self.AFTERWARDS:
            self.tell("t", command, args)


class Traced(Instrument):
    VERB = "TRACER"
    START = ("launch", {"command": dl.helper("hello"), "args": [],
                        "cwd": "/", "env": {}, "projectRoot": "/",
                        "trace": {"add": ["main"]}})
    THEN = ()
    AFTERWARDS = (("functions", {"pattern": "main"}),
                  ("query", {"verbose": True}), ("status", {}),
                  ("stop", {}))

    def meanwhile(self):
        # whatever becomes of its tracer
        self.ends_well("t")


class Debugged(Instrument):
    VERB = "DEBUGGER"
    START = ("start", {"program": dl.helper("hello"), "args": [],
                       "cwd": "/", "env": [], "adapter": "toy",
                       "stop_on_entry": True})
    THEN = (("status", {}), ("breakpoint_list", {}), ("continue", {}))
    AFTERWARDS = (("status", {}), ("stop", {}))

    def meanwhile(self):
        if self.said:
            return
        self.ends_well("t")
        # a debugger that had to end takes the program along that it started
        if self.said and self.tell("t", "status", {}) is None and \
                self.said[-1][1] == "no_session":
            del self.said[:-1]


HELLO = dl.read_helper("hello")
BUNDLE = dl.tar_of(("run", dl.helper("hello")))
STANDING = "standing"


def stand(d):
    """A session that must outlive what happens to the others."""
    c = d.client()
    r = c.cmd(f"NEW name={STANDING} start=now -- /bin/cat")
    c.close()
    return r["pid"]


def listed(c):
    r = c.cmd("LIST")
    if isinstance(r, dict):
        # nobody knows yet who asks
        raise RuntimeError(r["message"])
    return r


def tidied(c):
    """Deletes all but that; its id or None, and what there is beside it."""
    mine = None
    for s in listed(c):
        if s["name"] == STANDING:
            mine = s["id"]
            continue
        if s["state"] in ("RUNNING", "DEBUGGING"):
            c.cmd("KILL " + s["id"])
        c.cmd("DELETE " + s["id"])
    return mine, [s for s in listed(c) if s["name"] != STANDING]


def recovers(d, standing=True):
    """Everything works again; else what does not, in words."""
    why = [None]

    def once():
        try:
            c = d.client(timeout=LONG)
            try:
                mine, left = tidied(c)
                if left or standing and mine is None:
                    why[0] = left or "the session that stands has gone"
                    return False
                if standing:
                    before = c.output(mine)
                    c.send(f"INPUT {mine} 2\nx\n")
                    if "error_code" in c.json():
                        return False
                    c.until(mine, before + b"x\n", LONG)
            finally:
                c.close()
            why[0] = Script(d).said
            return not why[0]
        except (OSError, EOFError, KeyError, RuntimeError) as e:
            why[0] = repr(e)
            return False
    return None if wait_for(once, LONG, 0.05) else why[0] or "?"


def remember(d):
    """All that a spawner keeps of what a user did: from now on it drops an
    old event for each new one."""
    c = d.client(timeout=LONG)
    sid = c.upload(HELLO)["id"]
    c.send(f"ENV {sid} A=b\n" * EVENTS)
    for _ in range(EVENTS):
        c.json()
    c.cmd("DELETE " + sid)
    c.close()


class Baseline:
    """What there was, and whether it is so again.  Memory is for those who
    do the same before and after: what is done first may make what stays."""

    def __init__(self, d, standing=True, memory=True):
        self.d, self.memory = d, memory
        # whoever asks first makes what stays
        recovers(d, standing)
        if memory:
            remember(d)
        last = [None]

        def calm():
            now = self.inventory()
            same, last[0] = now == last[0], now
            return same
        wait_for(calm, LONG, 0.1)
        self.was = last[0]

    def inventory(self):
        out = inventory(self.d)
        return out if self.memory else out | {"memory": {}}

    def again(self):
        """{} or what is more or less than it was."""
        diff = [None]

        def same():
            diff[0] = differences(self.was, self.inventory())
            return not diff[0]
        wait_for(same, LONG, 0.1)
        return diff[0]
