#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# Hostile programs in sessions: what they can reach, and what is left of them
# once they are deleted.
import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from rogue import daemon
from dl import (AS_ROOT, MODES, Prober, alive, attempt, eq, helper, ok,
                pids, read_helper, read_proc, run_tests, session_processes,
                stat_of, status_of, tap, wait_for)
from tlsclient import with_tls

CONF = ("allow-sandbox none, namespaces, tmpfs\nstop-timeout 1\n"
        "gdbserver \"/usr/bin/gdbserver\"\n" + with_tls()[1])
KINDS = ("none", "namespaces", "tmpfs")
HOSTILE = read_helper("hostile")


def cgroup_of(d):
    """The directory of the sessions' control groups, if there are any."""
    pid = d.role_pid("launcher")
    for line in read_proc(pid, "cgroup").decode().splitlines():
        if line.startswith("0::"):
            own = line[3:]
    for root in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        path = root + os.path.dirname(own) + "/sessions"
        if os.path.isdir(path):
            return path
    return None


def owner_of(path):
    try:
        return os.lstat(path).st_uid
    except OSError:
        return None


class Watch:
    """What the daemon and the host look like without the session."""

    def __init__(self, d):
        self.d = d
        self.roles = {n: d.role_pid(n) for n in
                      ("netproc", "spawner", "launcher", "idproc")}
        self.before = self.look()

    def look(self):
        out = {"roles": {n: self.d.role_pid(n) for n in self.roles}}
        for n in ("spawner", "launcher"):
            out[n + " fds"] = len(os.listdir(f"/proc/{self.roles[n]}/fd")) \
                if AS_ROOT else 0
        out["processes"] = len(self.d.processes())
        # others may make and end network namespaces meanwhile
        out["mounts"] = len([m for m in read_proc(
            self.d.proc.pid, "mountinfo").split(b"\n") if m and
            b" /run/netns" not in m])
        cg = cgroup_of(self.d)
        out["cgroups"] = len([e for e in os.scandir(cg) if e.is_dir()]) \
            if cg else 0
        users = {self.d.alice, self.d.bob} - {None, 0}
        out["files"] = sorted(
            e for e in os.listdir("/tmp") if owner_of("/tmp/" + e) in users
            and "/tmp/" + e != self.d.dir)
        return out

    def check(self, name):
        wait_for(lambda: self.look() == self.before, 10)
        eq(self.look(), self.before, f"{name}: nothing is left")


class Session:
    """hostile, uploaded and started; deleted at the end of the block."""

    def __init__(self, d, args, kind="namespaces", uid=None, limits="",
                 image=HOSTILE, until=None, seconds=20):
        self.d, self.c = d, d.client(d.alice if uid is None else uid)
        self.id = self.c.upload(image)["id"]
        self.c.cmd(f"ARGS {self.id} {args}")
        if limits:
            r = self.c.cmd(f"LIMITS {self.id} {limits}")
            if "error_code" in r:
                self.__exit__()
                raise RuntimeError(r)
        r = self.c.cmd(f"START {self.id} --sandbox {kind}")
        # who ends its own stub at once has never been started, as told
        self.failed = "error_code" in r
        if self.failed and until is not None:
            self.__exit__()
            raise RuntimeError(str(r))
        self.pid = r.get("pid")
        if until is not None:
            self.c.until(self.id, until, seconds)

    def wait(self, seconds=20):
        return self.c.cmd(f"WAIT {self.id} {seconds}")

    def out(self):
        return self.c.output(self.id).decode(errors="replace")

    def values(self):
        return dict(line.rpartition("=")[::2] for line in
                    self.out().splitlines() if "=" in line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        k = self.c.cmd("KILL " + self.id)
        r = self.c.cmd("DELETE " + self.id)
        ok(r.get("state") == "DELETED", "it is deleted", (k, r))
        ok(wait_for(lambda: not session_processes(self.id)),
           "and its processes are gone", session_processes(self.id))
        self.c.close()


def on_each(*tests):
    def run():
        for mode in MODES:
            tap.prefix = mode + ": "
            with daemon(mode, CONF) as d:
                # the first session may be looked up for the first time
                with Session(d, "walk", until=b"done"):
                    pass
                w = Watch(d)
                for t in tests:
                    if os.environ.get("DL_ONLY", "") not in t.__name__:
                        continue
                    seen = len(d.log())
                    attempt(t.__name__, t, d)
                    w.check(t.__name__)
                    if tap.failed:
                        print("# " + "\n# ".join(
                            d.log()[seen:].splitlines()[-8:]))
            tap.prefix = ""
    run.__name__ = "on_each"
    run.chooses = True
    return run


def each_kind(fn):
    def run(d):
        for kind in KINDS:
            before = tap.prefix
            tap.prefix += kind + ": "
            attempt(fn.__name__, fn, d, kind)
            tap.prefix = before
    run.__name__ = fn.__name__
    return run


def lines(text, *starts):
    return [x for x in text.splitlines() if x.startswith(starts)]


# --- what can be seen and reached ----------------------------------------

@each_kind
def walk_of_proc(d, kind):
    """Also a sibling of the same owner, and one of another owner."""
    with Session(d, "deaf", until=b"ready") as near, \
            Session(d, "deaf", uid=d.bob, until=b"ready") as far, \
            Session(d, "walk", kind, until=b"done") as s:
        out = s.out()
        seen = set(re.findall(r"^seen=(\d+)$", out, re.M))
        if kind != "none":
            # one's own stub is there, and is closed
            eq(seen, {"1"}, "/proc shows the stub alone")
            eq(lines(out, "opened", "entered"), [], "and nothing of it opens")
        elif d.mode == "system":
            daemon_pids = {str(p) for p in d.processes()}
            bad = [x for x in lines(out, "opened.", "entered", "seize.")
                   if x.endswith("=0") and
                   any(f".{p}" in x.replace("=", ".") for p in daemon_pids
                       if p not in (str(near.pid),)) and
                   "cwd" not in x]
            eq(bad, [], "no process of the daemon opens")
        eq(alive(near.pid) and alive(far.pid), True, "the others live")
        # where it may trace a sibling, it does so until it ends
        s.wait()
        st = status_of(near.pid)
        eq(st["TracerPid"], "0", "and nobody traces them")


def others_by_number(d):
    """A program that is told the host's pids."""
    for kind in KINDS:
        with Session(d, "deaf", uid=d.bob, until=b"ready") as far, \
                Session(d, "deaf", until=b"ready") as near:
            stubs = [int(status_of(x.pid)["PPid"]) for x in (far, near)]
            roles = [p for n in ("logger", "netproc", "spawner", "launcher",
                                 "idproc", "announcer", "tlsproc", "acctproc",
                                 "acctgate")
                     for p in d.children(n)]
            targets = roles + [d.proc.pid, 1, far.pid, near.pid] + stubs
            if kind == "none" and d.mode == "user":
                # there nothing stands between processes of one user
                targets = [1]
            elif kind == "none":
                targets = roles + [d.proc.pid, 1, far.pid, stubs[0]]
            with Session(d, "others " + " ".join(map(str, targets)), kind,
                         until=b"done") as s:
                bad = [x for x in s.out().splitlines() if x.endswith("=0")]
                # in its own namespace its stub has the number 1
                bad = [x for x in bad if kind == "none" or not
                       re.match(r"(kill|rt)\.[12]=", x)]
                eq(bad, [], f"{kind}: nothing of others by their numbers")
                ok(all(map(alive, [far.pid, near.pid] + stubs)),
                   f"{kind}: the others live")


def shared_memory_and_names(d):
    for kind in ("namespaces", "tmpfs"):
        with Session(d, "offer", kind, until=b"ready") as s, \
                Session(d, "find", kind, until=b"done") as t:
            eq(s.values().get("shm.made"), "0", f"{kind}: memory to share")
            eq(t.values().get("shm.found"), "ENOENT",
               f"{kind}: no session finds another's shared memory")


@each_kind
def devices_and_files(d, kind):
    with Session(d, "devices", kind, until=b"done") as s:
        v = s.values()
        # without a sandbox there may be namespaces; the fence has no root
        harmless = {"unshare.user"} if kind == "none" else set()
        eq([k for k, r in v.items() if r == "0" and k not in harmless], [],
           "no device, no file of the host, no mount, no id")
        ok(len(v) > 20, "all of them were tried", v)


@each_kind
def leaving_the_cgroup(d, kind):
    path = cgroup_of(d)
    with Session(d, "cgroup", kind, until=b"ready") as s:
        group = read_proc(s.pid, "cgroup")
        if path or d.mode == "system":
            ok(path and s.id.encode() in group,
               "it runs in its own control group", group)
        bad = lines(s.out(), "moved", "limit", "made")
        if d.mode == "system":
            eq(bad, [], "it cannot leave it, change it or make one")


@each_kind
def set_user_id_programs(d, kind):
    if not AS_ROOT:
        return
    path = os.path.join(d.dir, "suid")
    shutil.copy(helper("euid"), path)
    os.chmod(path, 0o6755)
    said = subprocess.check_output([path], user=d.alice, group=d.alice,
                                   extra_groups=[])
    eq(said, b"euid=0\negid=0\n", "a set-user-id program works outside")
    with Session(d, "suid " + path, kind) as s:
        s.wait()
        v = s.values()
        if kind == "tmpfs":
            eq(v.get("exec"), "ENOENT", "it is not there")
        else:
            ok(v.get("euid") not in ("0", None) and
               v.get("egid") not in ("0", None),
               "it gains nothing in a session", v)
    os.unlink(path)


def core_dumps(d):
    path = os.path.join(d.dir, "cores")
    os.mkdir(path)
    os.chmod(path, 0o777)
    for kind in KINDS:
        with Session(d, "core " + path, kind) as s:
            eq(s.wait().get("signal"), "SIGABRT", f"{kind}: it aborts")
    eq(os.listdir(path), [], "no core is left")
    os.rmdir(path)


# --- namespaces, by whatever leads to one --------------------------------

def lend(path, pids):
    """The namespaces of processes, and these, to who listens; how many."""
    fds = []
    for pid in pids:
        for name in sorted(os.listdir("/proc/self/ns")):
            try:
                fds.append(os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY))
            except OSError:
                pass            # who is not root may open those of their own
        fds.append(os.pidfd_open(pid))
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(60)
        s.connect(path)
        for fd in fds:
            socket.send_fds(s, [b"x"], [fd])
            os.close(fd)
    return len(fds)


@each_kind
def leaving_by_fds(d, kind):
    """Also by those that root has handed to it."""
    place = os.path.join(d.dir, "lent")
    os.mkdir(place)
    os.chmod(place, 0o777)
    path = "/tmp/lent" if kind == "tmpfs" else place + "/lent"
    with Session(d, "deaf", uid=d.bob, until=b"ready") as far, \
            Session(d, "deaf", until=b"ready") as near:
        stubs = [int(status_of(x.pid)["PPid"]) for x in (far, near)]
        roles = [p for n in ("logger", "netproc", "spawner", "launcher",
                             "idproc", "tlsproc", "acctproc", "acctgate") for p in d.children(n)]
        targets = [1, os.getpid(), d.proc.pid, far.pid, stubs[0]] + roles
        if kind != "none":
            targets += [near.pid, stubs[1]]
        elif d.mode == "user":
            # there nothing stands between processes of one user
            targets = [1]
        with Session(d, f"spaces {path} " + " ".join(map(str, targets)),
                     kind, until=b"ready") as s:
            n = lend(f"/proc/{s.pid}/root{path}", targets)
            s.c.until(s.id, b"done", 60)
            out, v = s.out(), s.values()
            ok(int(v["lent"]) == n >= len(targets) and
               int(v["held"]) > n + 10, "it holds them, and its own", out)
            # without a sandbox those of others are below its own, and shown
            eq(lines(out, "entered", "moved",
                     *(["led"] if kind != "none" else [])), [],
               "no fd leads to another namespace")
            eq([x for x in lines(out, "taken") if x.endswith("=0")], [],
               "and no process gives it an fd")
            eq(v.get("unshare.user"), "0" if kind == "none" else "EPERM",
               "it has tried with all rights that it can get")
    shutil.rmtree(place)


# --- the daemon's doors --------------------------------------------------

def addresses():
    """Every address of this host that the daemon may be reached by."""
    out = ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "0.0.0.0",
           "::"]
    # a host may have a name that nothing resolves
    with contextlib.suppress(socket.gaierror):
        for info in socket.getaddrinfo(socket.gethostname(), None):
            out.append(info[4][0])
    return sorted(set(out))


def served(text):
    """The lines with an answer that is no refusal."""
    return [x for x in text.splitlines() if '"id":"' in x or ".[" in x or
            '":true' in x]


@each_kind
def doors(d, kind):
    sock = os.path.join(d.dir, "run/debuglantern.sock")
    with Session(d, f"doors {d.port} {' '.join(addresses())} {sock}", kind,
                 until=b"done") as s:
        got = s.out()
        eq(served(got), [], "no door opens to a session")
        ok("door" in got or "closed" in got or "not_permitted" in got,
           "it has tried", got)


@each_kind
def connection_in_flight(d, kind):
    with Session(d, f"flight {d.port} 127.0.0.1", kind, until=b"done",
                 seconds=60) as s:
        out = s.out()
        eq(served(out), [], "a socket that nobody holds is not served")
        ok(out.count("flight.") == 40, "forty were tried", out)


@each_kind
def hit_and_run(d, kind):
    """Commands of a program that has gone before it is looked up."""
    with Session(d, "deaf", until=b"ready") as near:
        for _ in range(3):
            with Session(d, f"hit {d.port} 127.0.0.1 KILL {near.id}",
                         kind) as s:
                s.wait()
        ok(alive(near.pid) and near.c.cmd("STATUS " + near.id)["state"] ==
           "RUNNING", "its last words have no effect")


# --- those that want to stay ---------------------------------------------

@each_kind
def killing_everybody(d, kind):
    if kind == "none":
        # all of a user's processes are one another's to kill there
        return
    with Session(d, "deaf", uid=d.bob, until=b"ready") as far:
        near = Session(d, "deaf", until=b"ready")
        with near, Session(d, "killall", kind) as s:
            s.c.until(s.id, b"ready")
            ok(alive(near.pid), "a sibling lives")
            eq(s.c.cmd("STATUS " + s.id)["state"], "RUNNING",
               "and so does its own stub")
            ok(alive(far.pid), "sessions of others live")


@each_kind
def against_its_stub(d, kind):
    with Session(d, "stub", kind) as s:
        if kind == "none":
            # the stub is of the same user there, and a victim of SIGKILL
            s.wait(10)
            return
        s.c.until(s.id, b"ready")
        v = s.values()
        eq((v.get("seize.stub"), lines(s.out(), "opened")),
           ("EPERM", []), "the stub cannot be traced or opened")
        stub = int(status_of(s.pid)["PPid"])
        # it may have woken up to look at its children
        wait_for(lambda: stat_of(stub)[1] == "S")
        eq(stat_of(stub)[1], "S", "the stub is not stopped")
        eq(s.c.cmd("STOP " + s.id).get("state"), "STOPPED", "STOP ends it")


@each_kind
def orphans_without_a_stub(d, kind):
    """Children that have got rid of the stub as soon as there is one."""
    if kind == "none" and d.mode == "user" and not cgroup_of(d):
        return
    for _ in range(5):
        with Session(d, "orphans", kind) as s:
            s.wait(3)
            s.c.cmd("KILL " + s.id)
        ok(wait_for(lambda: not session_processes(s.id)),
           "DELETE leaves none of them", session_processes(s.id))


@each_kind
def hidden_children(d, kind):
    with Session(d, "hide", kind, limits="nproc=200", until=b"ready") as s:
        ok(wait_for(lambda: len(session_processes(s.id)) >= 5),
           "they are there")
        r = s.c.cmd("STOP " + s.id)
        eq(r.get("state"), "STOPPED", "STOP ends children that hide")
        eq(session_processes(s.id), [], "all of them")


@each_kind
def without_a_leader(d, kind):
    """Its first thread is a zombie, the other one goes on."""
    with Session(d, "leaderless", kind, until=b"ready") as s:
        ok(wait_for(lambda: stat_of(s.pid)[1] == "Z"), "it looks dead")
        s.c.cmd("SIGNAL " + s.id + " TERM")
        s.c.until(s.id, b"term")
        r = s.c.cmd("STOP " + s.id)
        eq((r.get("state"), r.get("signal")), ("STOPPED", "SIGKILL"),
           "STOP ends it")
        ok(not alive(s.pid), "all of it")


@each_kind
def deaf_programs(d, kind):
    with Session(d, "deaf", kind, until=b"ready") as s:
        r = s.c.cmd("DEBUG " + s.id)
        ok("debug_port" in r or "error_code" in r,
           "a program that is not dumpable: DEBUG works or says why", r)
        eq(s.c.cmd("STOP " + s.id).get("state"), "STOPPED", "STOP ends it")


@each_kind
def memory_bomb(d, kind):
    with Prober(d, d.alice) as others:
        with Session(d, "memory 400", kind, limits="as=100000000") as s:
            r = s.wait()
            ok(r["exit_code"] == 0 and "ate " in s.out() and
               int(s.out().split("ate ")[1]) < 110, "it meets its limit",
               (r, s.out()))
        others.check("nobody else waits", 3)


def shared_memory():
    """The host's, files in memory among it; in bytes."""
    with open("/proc/meminfo") as f:
        return int(re.search(r"^Shmem: *(\d+)", f.read(), re.M)[1]) << 10


def file_bomb(d):
    """Whatever a root of its own lets it write to; with others, /tmp is the
    host's.  What one leaves behind would be seen after several of them."""
    most, rounds = 256 << 20, 3
    before = shared_memory()
    with Session(d, "keep", "tmpfs", uid=d.bob, until=b"ready") as far, \
            Session(d, "keep", "tmpfs", until=b"ready") as near, \
            Session(d, "262144 65536", "tmpfs", uid=d.bob,
                    image=read_helper("flood")) as writer, \
            Prober(d, d.alice) as others:
        for _ in range(rounds):
            with Session(d, "fill", "tmpfs", until=b"ready",
                         seconds=300) as s:
                got = re.findall(r"^filled\.(\S+)=(\d+) (\d+) (\w+)$",
                                 s.out(), re.M)
                eq({x[3] for x in got}, {"ENOSPC"}, "it meets its limit")
                ok(sum(int(x[1]) for x in got) <= 65536 and
                   most // 2 < sum(int(x[2]) for x in got) <= most,
                   "of files and of bytes", got)
                with Session(d, "keep", "tmpfs", until=b"ready") as late:
                    keeps(late, "who comes then has room")
                # as long as the kernel takes to let go of the files
                wait_for(lambda: s.c.cmd("KILL " + s.id).get("state") ==
                         "STOPPED" or s.c.cmd("STATUS " + s.id)["state"] ==
                         "STOPPED", 120)
        keeps(far, "another owner's files are as they were")
        keeps(near, "and a sibling's")
        others.check("nobody else waits", 3)
        writer.wait(60)
        eq(writer.out(), "".join(f"{i:015}\n" for i in range(16384)),
           "output of others is whole")
    wait_for(lambda: shared_memory() < before + rounds * most // 2, 60)
    ok(shared_memory() < before + rounds * most // 2,
       "what it took is free again", (before, shared_memory()))


def keeps(s, name):
    s.c.cmd(f"INPUT {s.id} 1\nx")
    s.c.until(s.id, b"kept=")
    eq(s.values().get("kept"), "32", name)


@each_kind
def fd_bomb(d, kind):
    with Session(d, "fds", kind, limits="nofile=200", until=b"ready") as s:
        ok("EMFILE" in s.out(), "it meets its limit", s.out())
        with Session(d, "walk", kind, until=b"done"):
            ok(True, "others start")


@each_kind
def output_flood(d, kind):
    with Session(d, "0 0", kind, image=read_helper("flood")) as s:
        with Prober(d, d.alice) as others:
            with Session(d, "walk", kind, until=b"done"):
                pass
            wait_for(lambda: others.asked > 50, 10)
            others.check("LIST answers while others flood", 3)
        rss = status_of(d.role_pid("spawner"))["VmRSS"].split()[0]
        ok(int(rss) < 64 * 1024, "the spawner does not grow", rss)
        eq(s.c.cmd("KILL " + s.id).get("state"), "STOPPED", "KILL ends it")


@each_kind
def fork_bombs(d, kind):
    with Session(d, "", kind, image=read_helper("bomb"),
                 limits="nproc=60", until=b"ready") as s:
        with Prober(d, d.alice) as others:
            wait_for(lambda: len(session_processes(s.id)) > 10)
            r = s.c.cmd("STOP " + s.id)
            eq(r.get("state"), "STOPPED", "STOP ends it")
            others.check("nobody else waits", 3)


run_tests(on_each(
    walk_of_proc, others_by_number, shared_memory_and_names,
    devices_and_files, leaving_the_cgroup, set_user_id_programs, core_dumps,
    doors, connection_in_flight, hit_and_run, killing_everybody,
    against_its_stub, orphans_without_a_stub, hidden_children,
    without_a_leader, deaf_programs,
    memory_bomb, file_bomb, fd_bomb, output_flood, fork_bombs,
    leaving_by_fds))
