#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# What each process of the daemon may do, as the kernel tells it, in both
# modes, at the start and after kill -9 of every one of them.
import ctypes
import os
import re
import signal
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (AS_ROOT, Daemon, alone, connect, eq, helper, ok,
                read_proc, run_tests, service_uid, stat_of, status_of,
                tar_of, wait_for)
from tlsclient import with_tls

SETGID, SETUID, KILL, SYS_CHROOT = 1 << 6, 1 << 7, 1 << 5, 1 << 18
CLONE_NEWUSER = 0x10000000

# role: user, effective and permitted rights, whether its root is empty
TABLE = {
    "debuglanternd": ("_dlparent", SETUID | SETGID | SYS_CHROOT | KILL,
                      False),
    "logger": ("_dllog", 0, True),
    "netproc": ("_dlnet", 0, True),
    "spawner": ("_dlspawn", 0, True),
    "launcher": ("_dllaunch", SETUID | SETGID | KILL, False),
    "observer": ("_dllaunch", 0, False),
    "announcer": ("_dlmdns", 0, False),
    "idproc": ("_dlid", 0, False),
    "tlsproc": ("_dltls", 0, True),
    "acctproc": ("_dlacct", 0, False),
    "acctgate": ("_dlacct", 0, False),
}
# these are for system mode, have the group of /etc/shadow and no right to lend
OF_ACCOUNTS = ("acctproc", "acctgate")

# what the fds of a role may be, beside 0, 1 and 2
USUAL = r"socket:\[\d+\]|anon_inode:\[(eventpoll|signalfd|timerfd|eventfd)\]"
TMP = re.escape(tempfile.gettempdir())
FDS = {
    "debuglanternd": USUAL + r"|anon_inode:\[pidfd\]|pidfd:\[\d+\]|"
                     r"user:\[\d+\]|/memfd:log \(deleted\)|/dev/null|.*/libexec/debuglantern/\w+|"
                     r"/sys/fs/cgroup/.*|" + TMP + r"/.*",
    # where the log of a test's daemon goes
    "logger": USUAL + r"|" + TMP + r"/.*/log",
    "netproc": USUAL + r"|/memfd:\w+ \(deleted\)|pipe:\[\d+\]",
    "spawner": USUAL + r"|/memfd:\w+ \(deleted\)|pipe:\[\d+\]|"
               r"anon_inode:\[pidfd\]|pidfd:\[\d+\]|mnt:\[\d+\]|" +
               TMP + r"/.*/state/tokens",
    "launcher": USUAL + r"|.*/libexec/debuglantern/"
                r"(launcher|archiver|debugger|tracer|symbols)|pipe:\[\d+\]|"
                r"anon_inode:\[pidfd\]|pidfd:\[\d+\]",
    "observer": r"socket:\[\d+\]|/proc",
    "announcer": USUAL,
    "idproc": USUAL + r"|/proc|/etc/.*",
    "tlsproc": USUAL,
    "acctproc": USUAL,
    "acctgate": USUAL + r"|/dev/null|.*/libexec/debuglantern/acctproc",
}


def table(d):
    return {r: x for r, x in TABLE.items()
            if d.mode == "system" or r not in OF_ACCOUNTS}


def roles(d):
    """{pid: role}; the launcher's reserve is a launcher, each with an observer."""
    out = {d.proc.pid: "debuglanternd"}
    out.update({p: n for p, n in d.children().items() if n in TABLE})
    for pid in d.processes():
        st = stat_of(pid)
        if st and st[0] == "observer" and out.get(st[2]) == "launcher":
            out[pid] = "observer"
    return out


def bits(st, name):
    return int(st[name], 16)


def check(d, when):
    found = roles(d)
    eq(sorted(found.values()), sorted(list(table(d)) +
                                       ["launcher", "observer"]),
       f"{when}: every role, and a launcher in reserve, with its observer")
    for pid, role in found.items():
        user, caps, empty = TABLE[role]
        st = status_of(pid)
        if d.mode == "system":
            uid = service_uid(user)
        else:
            uid, caps = (d.uid if d.uid is not None else os.getuid()), 0
        gid = os.stat("/etc/shadow").st_gid if role in OF_ACCOUNTS else uid
        eq((st["Uid"].split(), st["Gid"].split(), st["Groups"].split()),
           ([str(uid)] * 4, [str(gid)] * 4,
            [] if AS_ROOT else st["Groups"].split()),
           f"{when}: {role}: uid, gid and no group")
        eq((bits(st, "CapEff"), bits(st, "CapPrm"), bits(st, "CapAmb")),
           (caps, caps, 0), f"{when}: {role}: rights")
        eq(bits(st, "CapInh") & ~caps, 0,
           f"{when}: {role}: nothing to inherit but its own rights")
        if d.mode == "system" and role not in ("launcher", "observer"):
            eq(bits(st, "CapBnd"), 0 if role in OF_ACCOUNTS else
               SETUID | SETGID | SYS_CHROOT | KILL,
               f"{when}: {role}: bounding set")
        eq((st["NoNewPrivs"], st["Seccomp"]), ("1", "2"),
           f"{when}: {role}: no_new_privs and a filter")
        limits = read_proc(pid, "limits").decode()
        # sessions may raise theirs, so it is not 0 for good everywhere
        ok(re.search(r"Max core file size +0 ", limits),
           f"{when}: {role}: no core dump")
        if AS_ROOT:
            places(pid, role, empty, when)


def places(pid, role, empty, when):
    if empty:
        eq(os.listdir(f"/proc/{pid}/root/"), [],
           f"{when}: {role}: its root is an empty directory")
        eq(os.listdir(f"/proc/{pid}/cwd/"), [],
           f"{when}: {role}: and so is where it stands")
    fds = {}
    for n in os.listdir(f"/proc/{pid}/fd"):
        try:
            fds[int(n)] = os.readlink(f"/proc/{pid}/fd/{n}")
        except OSError:
            pass
    eq([f"{n}: {x}" for n, x in sorted(fds.items())
        if n > 2 and not re.fullmatch(FDS[role], x)], [],
       f"{when}: {role}: no fd that it has no use for")
    dirs = [x for n, x in fds.items() if n > 2 and
            os.path.isdir(f"/proc/{pid}/fd/{n}") and x != "/proc"]
    eq(dirs, [], f"{when}: {role}: no directory is open")
    if role in ("debuglanternd", "logger", "netproc", "spawner", "observer",
                "tlsproc",
                *OF_ACCOUNTS):
        # the owner of its files in /proc is root when it is not dumpable
        eq(os.stat(f"/proc/{pid}/environ").st_uid, 0,
           f"{when}: {role}: cannot be traced or dumped")


def every_role(mode, conf="", **kw):
    """A daemon with a listener for each of them."""
    return Daemon(mode, with_tls(conf)[1], **kw)


def at_the_start(mode):
    with every_role(mode) as d:
        check(d, "at the start")
        nobody_is_root(d, "at the start")


def with_sessions(mode):
    with every_role(mode) as d:
        c = d.client()
        c.start(helper("family"), "2", until=b"ready")
        sid, _ = c.start(helper("target"), until=b"target")
        c.cmd("DEBUG " + sid)
        b = c.upload(tar_of(("run", helper("sleeper"))), "run")["id"]
        c.cmd("START " + b)
        follower = d.client()
        follower.send(f"FOLLOW {sid}\n")
        follower.recv_line()
        c.send(f"INPUT {sid} 5\nhello")
        c.json()
        check(d, "with sessions")
        nobody_is_root(d, "with sessions")


def nobody_is_root(d, when):
    bad = []
    for pid in d.processes():
        st = status_of(pid)
        if not st or stat_of(pid) is None:
            continue
        if "0" in st["Uid"].split() + st["Gid"].split() + \
                st["Groups"].split():
            bad.append((pid, st["Name"]))
    eq(bad, [], f"{when}: no process has uid, gid or group 0")


def after_kill(mode):
    with every_role(mode, "stop-timeout 1\n") as d:
        c = d.client()
        c.start(helper("sleeper"), until=b"ready")
        for role in ("netproc", "spawner", "launcher", "idproc",
                     "announcer", "tlsproc", "acctproc", "logger"):
            if role not in table(d):
                continue
            old = d.role_pid(role)
            n = len(d.children(role))
            os.kill(old, signal.SIGKILL)
            wait_for(lambda: old not in d.children(role) and
                     len(d.children(role)) == n)
        # confined and serving: the last thing that a role does is to lock
        # itself in

        def settled():
            return all(status_of(p).get("Seccomp") == "2"
                       for p in roles(d)) and \
                len(roles(d)) == len(table(d)) + 1
        wait_for(settled)

        def served():
            try:
                return d.client().cmd("LIST") == []
            except (OSError, EOFError):
                return False
        ok(wait_for(served), "after kill -9 of all: served again")
        sid, s = d.client().start(helper("sleeper"), until=b"ready")
        check(d, "after kill -9 of all")
        nobody_is_root(d, "after kill -9 of all")
        eq(status_of(s["pid"])["CapEff"], "0" * 16,
           "after kill -9 of all: nor has a session rights")


def groups_of_the_starter(mode):
    """Root's groups reach neither the roles nor the sessions."""
    with every_role(mode, "allow-sandbox none, namespaces, tmpfs\n", wrapper=[
            "setpriv", "--groups", "0,4,24"]) as d:
        check(d, "started with groups")
        c = d.client()
        for kind in ("none", "namespaces", "tmpfs"):
            sid, s = c.start(helper("sleeper"), flags=f"--sandbox {kind}",
                             until=b"ready")
            st = status_of(s["pid"])
            eq([g for g in st["Groups"].split() if g in ("0", "4", "24")],
               [], f"{kind}: no group of the starter's")
            c.cmd("KILL " + sid)


def in_the_fence(d, fn):
    """Runs fn in the launchers' user namespace with all rights there."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            fd = os.open(f"/proc/{d.role_pid('launcher')}/ns/user",
                         os.O_RDONLY)
            if libc.setns(fd, CLONE_NEWUSER) == -1:
                os.write(w, b"cannot enter")
            else:
                os.write(w, str(fn(libc)).encode())
        except BaseException as e:
            os.write(w, repr(e).encode())
        finally:
            os._exit(0)
    os.close(w)
    with os.fdopen(r) as f:
        out = f.read()
    os.waitpid(pid, 0)
    return out


def errno_of(fn, *args):
    try:
        fn(*args)
        return 0
    except OSError as e:
        return e.errno


def fence_has_no_root(mode):
    """With all rights in the fence there is no way to uid 0."""
    with Daemon(mode) as d:
        pid = d.role_pid("launcher")
        for which in ("uid_map", "gid_map"):
            rows = [tuple(map(int, x.split())) for x in
                    read_proc(pid, which).decode().splitlines()]
            eq([r for r in rows if r[1] == 0 or r[0] == 0], [],
               f"the fence's {which} holds no 0")
            ok(all(r[1] + r[2] <= 60001 for r in rows),
               f"the fence's {which} ends at 60000", rows)
        launcher = service_uid("_dllaunch")
        spawner = service_uid("_dlspawn")
        eq(in_the_fence(d, lambda _: errno_of(os.setresuid, 0, 0, 0)), "22",
           "setresuid(0) in the fence: there is no such user")
        eq(in_the_fence(d, lambda _: errno_of(os.setresgid, 0, 0, 0)), "22",
           "setresgid(0) in the fence: there is no such group")
        eq(in_the_fence(d, lambda _: errno_of(os.setgroups, [0])), "22",
           "setgroups({0}) in the fence: there is no such group")
        eq(in_the_fence(d, lambda _: errno_of(os.setresuid, spawner, spawner,
                                              spawner)), "22",
           "no other service user either")
        eq(in_the_fence(d, lambda _: errno_of(os.setresuid, launcher,
                                              launcher, launcher)), "0",
           "its own user is there (the test can tell)")
        # 2^32 + 0: the kernel looks at 32 bits, a filter may look at 64
        eq(in_the_fence(d, lambda libc: libc.syscall(
            117, ctypes.c_ulong(1 << 32), ctypes.c_ulong(1 << 32),
            ctypes.c_ulong(1 << 32)) == -1) if os.uname().machine ==
            "x86_64" else "True", "True", "setresuid(2^32 + 0): refused")
        eq(in_the_fence(d, foreign_map), "1",
           "an id map with the host's root: not permitted")
        eq(in_the_fence(d, lambda libc: errno_of(
            os.open, "/etc/shadow", os.O_RDONLY) if libc.setresuid(
                launcher, launcher, launcher) == 0 else "?"), "13",
           "nor does it open what is root's")


def foreign_map(libc):
    """A user namespace below the fence that wants the host's uid 0."""
    r, w = os.pipe()
    ready, go = os.pipe()
    pid = os.fork()
    if pid == 0:
        libc.unshare(CLONE_NEWUSER)
        os.write(go, b"x")
        os.read(r, 1)
        os._exit(0)
    os.read(ready, 1)
    with open(f"/proc/{pid}/uid_map", "w") as f:
        e = errno_of(lambda: os.write(f.fileno(), b"0 0 1\n"))
    os.write(w, b"x")
    os.waitpid(pid, 0)
    return e


def a_session_is_not_its_launcher(mode):
    """Sessions have no rights even in their own user namespace."""
    with Daemon(mode, "allow-sandbox none, namespaces, tmpfs\n") as d:
        c = d.client()
        for kind in ("none", "namespaces", "tmpfs"):
            sid, s = c.start(helper("tries"), flags=f"--sandbox {kind}")
            c.cmd(f"WAIT {sid} 20")
            v = dict(x.split("=") for x in
                     c.output(sid).decode().split())
            eq([n for n in ("setuid0", "setgid0", "setuid_high", "setgroups")
                if v.get(n) in ("0", None)], [],
               f"{kind}: no way to another id, not by 2^32 + 0 either")


def strangers_leave_no_trace(mode):
    """Connections of the refused leave no fd behind."""
    with Daemon(mode) as d:
        net, idp = d.role_pid("netproc"), d.role_pid("idproc")

        def count():
            return (len(os.listdir(f"/proc/{net}/fd")),
                    len(os.listdir(f"/proc/{idp}/fd")))
        d.client().close()
        before = wait_for(lambda: count() if count() == count() else None)
        for _ in range(200):
            s = connect("127.0.0.1", d.port, service_uid("daemon"))
            s.close()
        ok(wait_for(lambda: count() <= before), "refused connections leave "
           "no fd behind", (before, count()))


def uploads_leave_no_trace(mode):
    """Many sessions of every end leave the daemon as it was."""
    with Daemon(mode, "stop-timeout 1\n") as d:
        pids = {r: d.role_pid(r) for r in ("netproc", "spawner", "launcher")}

        def count():
            return {r: len(os.listdir(f"/proc/{p}/fd"))
                    for r, p in pids.items()}
        c = d.client()
        c.cmd("LIST")
        before = count()
        for i in range(30):
            sid = c.upload(helper("hello"))["id"]
            c.cmd("START " + sid + (" --split" if i % 2 else ""))
            c.cmd(f"WAIT {sid} 20")
            c.output(sid)
            c.cmd("DELETE " + sid)
            b = c.upload(tar_of(("run", helper("hello"))), "run")["id"]
            c.cmd("START " + b)
            c.cmd(f"WAIT {b} 20")
            c.cmd("DELETE " + b)
        sid, _ = c.start(helper("target"), until=b"target")
        for _ in range(5):
            c.cmd("DEBUG " + sid)
            c.cmd("KILL " + sid)
            c.cmd("START " + sid)
        c.cmd("KILL " + sid)
        c.cmd("DELETE " + sid)
        ok(wait_for(lambda: all(count()[r] <= before[r] for r in pids)),
           "no fd is left of 60 sessions", (before, count()))
        left = [status_of(p).get("Name") for p in d.processes()]
        eq(sorted(left), sorted([r for r in table(d) if r != "tlsproc"] +
                                ["launcher", "observer"]), "no process either")
        zombies = [p for p in d.processes()
                   if (stat_of(p) or "  ")[1] == "Z"]
        eq(zombies, [], "no zombie either")


ROOT = ("system",) if AS_ROOT else ()
run_tests(
    alone(at_the_start), alone(with_sessions), alone(after_kill),
    alone(groups_of_the_starter, ROOT), alone(fence_has_no_root, ROOT),
    alone(a_session_is_not_its_launcher),
    alone(strangers_leave_no_trace, ROOT),
    alone(uploads_leave_no_trace))
