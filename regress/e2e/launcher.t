#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The launcher by itself: each sandbox, each way to fail, jobs, debuggers."""
import errno
import io
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "lib"))
from dl import (  # noqa: E402
    ALICE, AS_ROOT, BOB, HELPERS, MODES, attempt, eq, ok, tap, wait_for)
import hand  # noqa: E402
from hand import (  # noqa: E402
    DEBUGGER, ERRORS, INIT, NAMESPACES, NONE, ONE, REPORT, RESULT, SPACE,
    STATUS, STDERR, STDIN, STDOUT, STUB, TARGET, TMPFS, TREE_HUP, TREE_KILL,
    TREE_TERM, WIRE)

KINDS = {"none": NONE, "namespaces": NAMESPACES, "tmpfs": TMPFS}
ENV = ("PATH=/usr/bin:/bin",)
CPU, AS, NOFILE, NPROC, CORE = range(5)


def memfd(data):
    if isinstance(data, str):
        with open(data, "rb") as f:
            data = f.read()
    fd = os.memfd_create("image", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(fd, data)
    os.fchmod(fd, 0o555)
    return fd


def helper(name):
    return memfd(os.path.join(HELPERS, name))


class Place:
    """Directories as the parent makes them, and a launcher."""

    def __init__(self, mode, **settings):
        self.dir = tempfile.mkdtemp(prefix="dl-hand-")
        os.chmod(self.dir, 0o755)
        self.state = os.path.join(self.dir, "state")
        self.run_dir = os.path.join(self.dir, "run")
        for d, m in ((self.state, 0o755), (self.run_dir, 0o755),
                     (self.state + "/tmp", 0o1733)):
            os.mkdir(d)
            os.chmod(d, m)
            if mode == "user" and AS_ROOT:
                os.chown(d, ALICE, ALICE)
        uid = ALICE if AS_ROOT else os.geteuid()
        self.l = hand.Launcher(mode, self.state, self.run_dir, uid,
                               **settings)
        self.image = {}

    def run(self, name, *args, **kw):
        if name not in self.image:
            self.image[name] = memfd(name) if "/" in name else helper(name)
        return self.l.run(self.image[name], (name,) + args, ENV, **kw)

    def sh(self, script, **kw):
        return self.run("/bin/sh", "-c", script, **kw)

    def end(self):
        self.l.end()
        for fd in self.image.values():
            os.close(fd)
        shutil.rmtree(self.dir)


def fds_of(text):
    return sorted(k for k in text if k.startswith("fd") and
                  k[2:].isdigit())


def hygiene(p, kind):
    r = p.run("inside", sandbox=kind, limits=[(NOFILE, 77), (CPU, 5)],
              split=1)
    eq(r.failed, None, "a program starts")
    v = r.lines()
    eq(fds_of(v), ["fd0", "fd1", "fd2"], "nothing but fds 0 to 2")
    for cap in ("Inh", "Prm", "Eff", "Amb"):
        eq(v["status.Cap" + cap], "0" * 16, f"no capability: Cap{cap}")
    if kind != NONE:
        eq(v["status.CapBnd"], "0" * 16, "an empty bounding set")
        eq((v["uid"], v["gid"]), (str(p.l.uid),) * 2,
           "the owner's own ids inside")
        ok(int(v["pid"]) > 1 and v["ppid"] == "1", "a process below the stub",
           v)
        for ns in ("user", "pid", "mnt", "ipc", "uts"):
            ok(v["ns." + ns] != os.readlink(f"/proc/self/ns/{ns}"),
               f"a {ns} namespace of its own")
    else:
        eq(v["uid"], str(p.l.uid), "the owner's uid")
    eq(v["status.NoNewPrivs"], "1", "no_new_privs")
    eq(v["status.Seccomp"], "2", "a filter is on")
    eq(v["ns.net"], os.readlink("/proc/self/ns/net"), "the host's network")
    eq(v["umask"], "22", "the usual umask")
    eq((v["status.SigBlk"], v["status.SigIgn"]), ("0" * 16,) * 2,
       "no signal blocked or ignored")
    eq(v["limit.nofile"], "77,77", "the limit of fds")
    eq(v["limit.cpu"], "5,10", "SIGXCPU comes before SIGKILL")
    eq(v["argv0"], "inside", "argv")
    eq([k for k in r.lines() if k.startswith("env.")], [], "read to the end")
    eq(r.report(), ("exited", 0), "the stub tells of the end")
    r.close()


def groups(p, kind):
    r = p.run("inside", sandbox=kind,
              owner=p.l.owner(groups=(ALICE, BOB)) if
              p.l.mode == "system" else None)
    v = r.lines()
    want = 2 if p.l.mode == "system" else 0
    eq(len(v["status.Groups"].split()), want, "the owner's groups and no more")
    r.close()


def output(p, kind):
    for split in (0, 1):
        r = p.sh("echo one; echo two >/dev/stderr; echo three >&2; read x; "
                 "echo got $x", sandbox=kind, split=split)
        os.write(r.fds[STDIN], b"four\n")
        if split:
            eq(r.read(), "one\ngot four\n", "stdout alone")
            eq(r.read(STDERR), "two\nthree\n", "stderr alone")
        else:
            eq(r.read(), "one\ntwo\nthree\ngot four\n",
               "one pipe keeps the order; /dev/stderr can be opened")
        r.close()


def endings(p, kind):
    for script, want in (("exit 7", ("exited", 7)),
                         ("kill -SEGV $$", ("signaled", signal.SIGSEGV)),
                         ("kill -TERM $$", ("signaled", signal.SIGTERM))):
        r = p.sh(script, sandbox=kind)
        eq(r.report(), want, script)
        r.close()
    r = p.run("crash", sandbox=kind)
    eq(r.report()[0], "signaled", "a crash is one")
    r.close()


def failures(p, kind):
    text = memfd(b"hello")
    r = p.l.run(text, sandbox=kind)
    eq(r.failed, ("EXEC", 8), "what is no program: ENOEXEC")
    with open("/bin/true", "rb") as f:
        elf = f.read()
    bad = memfd(elf.replace(b"/lib64/ld-linux-x86-64.so.2",
                            b"/lib64/ld-linux-x86-64.so.9"))
    r = p.l.run(bad, sandbox=kind)
    eq(r.failed, ("INTERP", 2), "a missing interpreter is named")
    os.fchmod(text, 0o444)
    r = p.l.run(text, sandbox=kind)
    eq(r.failed, ("EXEC", 13), "no right to execute")
    for fd in (text, bad):
        os.close(fd)


def refused_calls(p, kind):
    r = p.run("tries", sandbox=kind)
    v = r.lines()
    r.close()
    always = ["bpf", "perf_event_open", "io_uring_setup", "userfaultfd",
              "keyctl", "add_key", "pidfd_getfd", "open_by_handle_at",
              "tiocsti", "tiocsti_high", "af_vsock", "af_alg",
              "af_alg_high", "setuid0", "setgid0",
              "setuid_high", "setgroups", "reboot", "mount", "umount",
              "pivot_root"] + ["modify_ldt"] * ("modify_ldt" in v)
    inside = ["unshare_user", "unshare_net", "clone_user",
              "clone_user_high", "setns", "chroot", "open_tree", "fsopen",
              "sethostname", "ptrace_init"]
    allowed = ["ptrace_child", "process_vm_readv", "personality",
               "memfd_create", "mmap_exec", "af_unix", "af_inet",
               "af_netlink"]
    ids = {"setuid0", "setgid0", "setuid_high", "setgroups"}
    for name in always + (inside if kind != NONE else []):
        want = ("EPERM", "EINVAL") if name in ids else ("EPERM",)
        ok(v[name] in want, f"{name} is denied", v[name])
    if kind != NONE:
        eq(v["clone3"], "ENOSYS", "clone3 seems not to exist")
        eq(v["kill_init"], "0", "a SIGKILL for the stub has no effect")
    for name in allowed:
        eq(v[name], "0", f"{name} works")


def trees(p, kind):
    r = p.run("family", "3", sandbox=kind)
    r.until("ready\n")
    eq(p.l.signal(r.fds[STUB], 0, TREE_TERM), 0, "SIGTERM for the tree")
    eq(r.report(), ("signaled", 15), "the program has ended by it")
    r.close()
    r = p.run("orphan", sandbox=kind)
    r.until("lives\n")
    eq(struct.unpack("=2I", os.read(r.fds[STATUS], 8)), (1, 7),
       "the leader's end is told at once")
    ok(not r.gone(0.2), "the tree lives on")
    eq(p.l.signal(r.fds[STUB], 0, TREE_TERM), 0, "SIGTERM for the tree")
    eq(r.read(), "grandchild ends\n", "it reaches who forked twice")
    ok(r.gone(), "the tree has ended")
    r.close()
    r = p.run("ignorer", sandbox=kind)
    r.until("ready")
    eq(p.l.signal(r.fds[STUB], 0, TREE_TERM), 0, "SIGTERM for an ignorer")
    ok(not r.gone(0.3), "it stays")
    eq(p.l.signal(r.fds[STUB], 0, TREE_KILL), 0, "SIGKILL for the tree")
    eq(r.report(), ("signaled", 9), "that it does not ignore")
    r.close()


def bomb(p, kind):
    r = p.run("bomb", sandbox=kind, limits=[(NPROC, 60)])
    r.until("ready\n")
    time.sleep(0.3)
    eq(p.l.signal(r.fds[STUB], 0, TREE_KILL), 0, "SIGKILL for a fork bomb")
    ok(r.gone(), "it is gone")
    eq(r.report(), ("signaled", 9), "and was killed")
    r.close()


def crowded(p, kind):
    """A tree among very many other processes."""
    if kind != NONE:
        return
    crowd = subprocess.Popen([os.path.join(HELPERS, "crowd"), "8300"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        eq(crowd.stdout.read(6), b"ready\n", "8300 processes of the host")
        r = p.run("orphan", sandbox=kind)
        r.until("lives\n")
        eq(p.l.signal(r.fds[STUB], 0, TREE_TERM), 0, "SIGTERM for a tree")
        eq(r.read(), "grandchild ends\n", "which is found among them")
        ok(r.gone(), "and has ended")
        r.close()
    finally:
        crowd.stdin.close()
        crowd.wait()


def spawner_dies(p, kind):
    r = p.run("ignorer", sandbox=kind)
    r.until("ready")
    os.close(r.fds.pop(STATUS))
    ok(r.gone(), "without a reader of its reports the tree is killed")
    r.close()


def stub_is_deaf(p, kind):
    if kind == NONE:
        return
    r = p.sh("kill -TERM 1; kill -USR1 1; echo alive; sleep 100",
             sandbox=kind)
    eq(r.until("alive\n"), "alive\n", "signals from inside do nothing")
    ok(not r.gone(0.2), "the stub takes no orders from inside")
    r.close()


def siblings(p, kind):
    if kind == NONE:
        return
    a = p.run("sleeper", sandbox=kind)
    b = p.run("ptracer", str(a.pid), sandbox=kind)
    v = b.lines()
    for what in ("seize", "mem", "environ", "kill", "pidfd"):
        ok(v[f"{what}.{a.pid}"] in ("ESRCH", "ENOENT"),
           f"{what} of a sibling finds nobody", v[f"{what}.{a.pid}"])
    b.close()
    a.close()


def masks(p, kind):
    if kind == NONE:
        return
    for control in (0, 1):
        r = p.run("inside", p.state, p.run_dir, sandbox=kind,
                  control=control)
        v = r.lines()
        ok(v.get("entries." + p.state, "0") == "0",
           "the state directory is empty or not there")
        there = v["path." + p.run_dir] == "40755"
        eq(there, bool(control), f"the run directory with control {control}")
        r.close()


def network(p, kind):
    if kind == NONE:
        return
    r = p.sh("tail -n +3 /proc/net/dev | cut -d: -f1; cat /proc/net/if_inet6",
             sandbox=kind, network=1)
    out = r.read().split()
    eq((out[0], out[-1]), ("lo", "lo"), "network none has lo alone, and up")
    r.close()
    r = p.run("inside", sandbox=kind, network=1)
    ok(r.lines()["ns.net"] != os.readlink("/proc/self/ns/net"),
       "a network namespace of its own")
    r.close()


def root(p, kind):
    home = "/home/somebody/deep"
    r = p.sh("pwd; ls /; ls /dev; touch /usr/x /etc/x; echo $?; "
             "f=/tmp/dl-hand-$$; echo x >$f && cat $f && rm $f", sandbox=kind, home=home)
    out = r.read()
    if kind == TMPFS:
        ok(out.startswith(home + "\n"), "the home is made", out)
        ok("\nwork\n" not in out and "\nroot\n" not in out and
           "\nusr\n" in out, "a root of its own", out)
        ok("urandom" in out and "kmsg" not in out, "a small /dev", out)
    else:
        ok(out.startswith("/\n"), "a missing home is no error", out)
    ok("\n1\n" in out and out.endswith("x\n"), "system read-only, /tmp works",
       out)
    r.close()


def gdb(wire_fd, commands, program):
    """What gdb says; netproc's relay is played by this function."""
    with socket.socket() as ls, socket.socket(fileno=wire_fd) as s:
        ls.bind(("127.0.0.1", 0))
        ls.listen(1)
        argv = ["gdb", "-q", "-batch", "-nx", "-ex", "set sysroot /", "-ex",
                f"target remote 127.0.0.1:{ls.getsockname()[1]}"]
        for c in commands:
            argv += ["-ex", c]
        proc = subprocess.Popen(argv + [program], text=True,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
        ls.settimeout(20)
        c, _ = ls.accept()
        with c:
            end = time.monotonic() + 40
            while time.monotonic() < end:
                for a in select.select([c, s], [], [], 1)[0]:
                    data = a.recv(65536)
                    if not data:
                        end = 0
                    else:
                        (s if a is c else c).sendall(data)
        try:
            return proc.communicate(timeout=20)[0]
        except subprocess.TimeoutExpired:
            proc.kill()
            return "gdb hangs: " + proc.communicate()[0]


def debugging(p, kind):
    program = os.path.join(HELPERS, "target")
    for debug in (1, 0):
        r = p.run("target", sandbox=kind, debug=debug)
        if not debug:
            r.until("target")
        for turn in range(2):
            fds, m = p.l.ask("ATTACH", p.l.attach_body(r.inner),
                             r.fds[TARGET])
            if not eq(m.name, "ATTACHED", "gdbserver attaches"):
                break
            out = gdb(fds.pop(WIRE), ["info symbol $pc", "break tick",
                                      "continue", "delete", "detach"],
                      program)
            ok("SIGSTOP" not in out and "SIGCONT" not in out and
               "Breakpoint 1" in out and "tick" in out,
               f"gdb breaks, debug {debug}, turn {turn}", out)
            if debug and turn == 0:
                ok("_start" in out, "it began at the first instruction", out)
            ok(select.select([fds[DEBUGGER]], [], [], 10)[0],
               "gdbserver has gone")
            ok(b"Attached" in os.read(fds[ERRORS], 4096), "it said so")
            for fd in fds.values():
                os.close(fd)
        with open(f"/proc/{r.pid}/status") as f:
            ok("\nState:\tT" not in f.read(), "the program runs on")
        r.close()


def attach_fails(p, kind):
    r = p.run("sleeper", sandbox=kind)
    fds, m = p.l.ask("ATTACH", p.l.attach_body(4000000), r.fds[TARGET])
    if m.name == "ATTACHED":
        ok(select.select([fds[DEBUGGER]], [], [], 10)[0] and
           b"annot attach" in os.read(fds[ERRORS], 4096),
           "gdbserver says that there is no such process")
    else:
        eq(m.name, "ATTACH_FAILED", "there is no such process")
    for fd in fds.values():
        os.close(fd)
    r.close()


def make_tar(members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as t:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            info.mode = 0o755
            t.addfile(info, io.BytesIO(data))
    return out.getvalue()


def job(p, exec_path="", size=64 << 20, members=1000):
    return p.l.owner() + struct.pack(
        "=I4Q", NAMESPACES, size, members, 512, hand.UNLIMITED) + \
        hand.pack_str(exec_path)


def last_report(fds):
    last = None
    while True:
        d = os.read(fds[REPORT], 192)
        if not d:
            return last
        last = struct.unpack("=IIQQQ160s", d)


def bundles(p):
    with open(os.path.join(HELPERS, "inside"), "rb") as f:
        inside = f.read()
    archive = memfd(make_tar({"bin/inside": inside, "data": b"x"}))
    fds, m = p.l.ask("UNPACK", job(p, "bin/inside"), archive)
    if not eq(m.name, "JOB", "an archiver starts"):
        return
    report = last_report(fds)
    eq(report[:2], (2, 0), "it unpacks")
    ok(select.select([fds[INIT]], [], [], 10)[0], "it has ended")
    eq(os.listdir(p.state), ["tmp"], "the host sees nothing of it")
    where = p.state + "/bundle"
    for kind in KINDS.values():
        for control in (0, 1):
            r = p.l.run(fds[RESULT], ["bin/inside", where, p.run_dir], ENV,
                        sandbox=kind, bundle=1, exec_path="bin/inside",
                        control=control)
            if not eq(r.failed, None, f"runs from kind {kind}"):
                continue
            v = r.lines()
            eq(v["cwd"], where, "its directory is the bundle")
            eq(v["entries." + where], "2", "all files are there")
            eq((v["uid"], v["status.NoNewPrivs"], fds_of(v)),
               (str(p.l.uid), "1", ["fd0", "fd1", "fd2"]), "clean")
            for cap in ("Inh", "Prm", "Eff", "Bnd", "Amb"):
                eq(v["status.Cap" + cap], "0" * 16, f"no Cap{cap}")
            if kind != NONE:
                eq(v["path." + p.run_dir] == "40755", control == 1,
                   f"the run directory with control {control}")
            r.close()
    for path, want in (("bin/none", ("EXEC", 2)), ("bin", ("EXEC", 13)),
                       ("../../../bin/sh", ("EXEC", 18))):
        r = p.l.run(fds[RESULT], ["x"], ENV, bundle=1, exec_path=path)
        eq(r.failed, want, f"{path} does not run")
    for fd in fds.values():
        os.close(fd)
    os.close(archive)


def bundle_refused(p):
    archive = memfd(make_tar({"a": b"x" * 100000}))
    fds, m = p.l.ask("UNPACK", job(p, "a", size=1000), archive)
    eq(m.name, "JOB", "an archiver starts")
    eq(last_report(fds)[0], 3, "too many bytes are refused")
    st, fs = os.fstat(fds[SPACE]), os.fstatvfs(fds[SPACE])
    eq((st.st_nlink, st.st_dev == os.stat("/").st_dev), (0, False),
       "a file that tells of the bundle's room")
    ok(fs.f_blocks < 10**6, "which is bounded")
    for fd in fds.values():
        os.close(fd)
    os.close(archive)


def packing(p):
    fds, m = p.l.ask("PACK", job(p, size=100000))
    if not eq(m.name, "JOB", "an archiver starts"):
        return
    ok(last_report(fds)[0] in (2, 3), "it reports")
    st = os.fstat(fds[RESULT])
    eq((st.st_nlink, st.st_uid), (0, p.l.uid), "an unlinked file of the "
       "owner's")
    for fd in fds.values():
        os.close(fd)


def probes(p):
    _, m = p.l.ask("PROBE")
    eq(m.name, "PROBED", "the host is probed")
    data, (n,) = m.body[4:], struct.unpack_from("=I", m.body)
    rows = {}
    for _ in range(n):
        parts = []
        for kind in "ssuus":
            (v,) = struct.unpack_from("=I", data)
            data = data[4:]
            if kind == "s":
                parts.append(data[:v].decode())
                data = data[v:]
            else:
                parts.append(v)
        rows[parts[0]] = parts[1:]
    eq(data, b"", "rows and nothing else")
    for name in ("gdbserver", "tar", "gzip", "user-namespaces", "seccomp"):
        eq(rows[name][1], 1, f"{name} is there")
    ok(all(r[1] or r[3] for r in rows.values()), "a remedy for what is not")


def observer_of(p):
    out = subprocess.run(["pgrep", "-P", str(p.l.pid), "-x", "observer"],
                         capture_output=True, text=True).stdout.split()
    return int(out[0]) if out else None


def observer_dies(p):
    """The link is lost, so that all who wait are told; the next answers."""
    r = p.run("sleeper")
    use = struct.pack("=I", p.l.uid)
    _, m = p.l.ask("SAMPLE", use, r.fds[STUB])
    eq((m.name, len(m.body)), ("SAMPLED", 16), "a session is looked at")
    _, m = p.l.ask("FIND", struct.pack("=3I", r.pid, p.l.uid, 0),
                   r.fds[STUB])
    eq((m.name, m.u32()[0]), ("FOUND", r.inner), "and its program found")
    os.close(m.fds[0])
    _, m = p.l.ask("FIND", struct.pack("=3I", os.getpid(), p.l.uid, 0),
                   r.fds[STUB])
    eq(m.name, "NOT_FOUND", "but no other process")
    old = observer_of(p)
    for how in (signal.SIGKILL, signal.SIGSYS):
        os.kill(observer_of(p), how)
        m = p.l.expect(p.l.parent, "LINK_LOST")
        eq(m.u32(), (hand.ROLES.index("SPAWNER"), 7), f"{how.name}: a link is lost")
        p.l.spawner.s.close()
        p.l.spawner = hand.Chan()
        p.l.link(p.l.parent, p.l.spawner)
        ok(not r.gone(0.2), "the session lives")
        _, m = p.l.ask("SAMPLE", use, r.fds[STUB])
        eq((m.name, len(m.body)), ("SAMPLED", 16), "the next one answers")
        ok(observer_of(p) not in (None, old), "and is another process")
    eq(p.l.signal(r.fds[STUB], 0, TREE_KILL), 0, "the session can be ended")
    r.close()


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def chain(p):
    """A launcher makes the next one, which does all that the first did."""
    new_parent, new_spawner = hand.Chan(), hand.Chan()
    for generation in range(2):
        p.l.parent.send("CHAIN", fd=new_parent.theirs.fileno())
        m = p.l.expect(p.l.parent, "CHAINED")
        new_parent.theirs.close()
        p.l.setup(new_parent)
        old = p.l.parent, p.l.spawner, p.l.pid
        p.l.link(new_parent, new_spawner)
        p.l.parent, p.l.spawner = new_parent, new_spawner
        with open(f"/proc/self/fdinfo/{m.fds[0]}") as f:
            p.l.pid = int(f.read().split("\nPid:\t")[1].split()[0])
        os.close(m.fds[0])
        hygiene(p, NAMESPACES)
        with open(f"/proc/{p.l.pid}/status") as f:
            text = f.read()
        if p.l.mode == "system":
            ok("CapEff:\t00000000000000e0" in text and
               "CapAmb:\t0000000000000000" in text, "its capabilities", text)
        ok("Seccomp_filters:\t1\n" in text, "filters do not pile up", text)
        old[0].s.close()
        old[1].s.close()
        os.waitpid(old[2], 0)
        new_parent, new_spawner = hand.Chan(), hand.Chan()
    for c in (new_parent, new_spawner):
        c.s.close()
        c.theirs.close()


def outlived(p):
    """What a launcher started lives on without it."""
    r = p.run("sleeper")
    old_spawner = p.l.spawner
    new_parent, new_spawner = hand.Chan(), hand.Chan()
    p.l.parent.send("CHAIN", fd=new_parent.theirs.fileno())
    m = p.l.expect(p.l.parent, "CHAINED")
    new_parent.theirs.close()
    os.kill(p.l.pid, signal.SIGKILL)
    os.waitpid(p.l.pid, 0)
    p.l.setup(new_parent)
    p.l.link(new_parent, new_spawner)
    p.l.parent.s.close()
    p.l.parent, p.l.spawner = new_parent, new_spawner
    old_spawner.s.close()
    with open(f"/proc/self/fdinfo/{m.fds[0]}") as f:
        p.l.pid = int(f.read().split("\nPid:\t")[1].split()[0])
    os.close(m.fds[0])
    ok(not r.gone(0.2), "the session lives")
    eq(p.l.signal(r.fds[STUB], 0, TREE_TERM), 0, "the next launcher reaches it")
    eq(r.report(), ("signaled", 15), "and it ends")
    r.close()


def owners(p):
    if p.l.mode == "user":
        r = p.sh("true", owner=p.l.owner(uid=BOB))
        eq(r.failed, ("IDS", 1), "only the own user in user mode")
        return
    for what, owner in (
            ("uid 0", p.l.owner(0, ALICE)), ("gid 0", p.l.owner(ALICE, 0)),
            ("group 0", p.l.owner(groups=(0,))),
            ("uid 500", p.l.owner(500, ALICE)),
            ("uid 2^32-1", p.l.owner(2**32 - 1, ALICE))):
        r = p.sh("true", owner=owner)
        eq(r.failed and r.failed[0], "IDS", f"{what} is refused")
    for what, owner in (
            ("a uid outside the fence", p.l.owner(60001, ALICE)),
            ("a group outside the fence", p.l.owner(groups=(42,)))):
        r = p.sh("true", owner=owner)
        eq(r.failed, ("IDS", 22), f"{what}: the kernel refuses")
    r = p.sh("true", owner=p.l.owner(BOB))
    eq(r.report(), ("exited", 0), "other users can be owners")
    r.close()
    with open(f"/proc/{p.l.pid}/uid_map") as f:
        maps = [[int(n) for n in line.split()] for line in f]
    ok(all(m[1] > 0 for m in maps), "no uid 0 in the launcher's namespace")


def share(p):
    """Who has many starts under way keeps nobody else from starting."""
    slow, quick = memfd("/bin/true"), helper("hello")
    # a library that nobody writes keeps the loader waiting
    fifo = os.path.join(p.dir, "library")
    os.mkfifo(fifo)
    os.chmod(fifo, 0o644)
    first = p.l.requests
    # the last is another user's, where there are any
    bob = p.l.owner(BOB if p.l.mode == "system" else None)
    orders = [(p.l.run_body(env=("LD_PRELOAD=" + fifo,), watch=1), slow)
              ] * 17 + \
        [(p.l.run_body(owner=bob), quick)] * (p.l.mode == "system")
    for body, image in orders:
        p.l.spawner.send("RUN", body, image, p.l.requests, gen=7)
        p.l.requests += 1
    answers, fds = {}, []
    while len(answers) < len(orders):
        m = p.l.spawner.recv(25)
        fds += m.fds
        if not m.name.endswith("_FD"):
            answers[m.request - first] = m
    order = list(answers)
    eq({n: hand.STEPS[m.u32()[0]] for n, m in answers.items()
        if m.name != "RAN"}, {16: "PENDING"},
       "the 17th start of one user is refused")
    eq(order[:-16], [16, 17][:len(orders) - 16],
       "at once, and nobody else's")
    # the stubs see their status pipes close
    for fd in fds + [slow, quick]:
        os.close(fd)
    r = p.sh("true")
    eq(r.report(), ("exited", 0), "when they are done, it is over")
    r.close()


def launcher_status(p):
    with open(f"/proc/{p.l.pid}/status") as f:
        v = dict(line.rstrip("\n").split(":\t", 1) for line in f
                 if ":\t" in line)
    caps = "00000000000000e0" if p.l.mode == "system" else "0" * 16
    eq((v["CapEff"], v["CapPrm"], v["CapAmb"]), (caps, caps, "0" * 16),
       "the launcher's capabilities")
    eq((v["NoNewPrivs"], v["Seccomp"]), ("1", "2"), "and its filter")
    if p.l.mode == "system":
        eq(v["Uid"].split(), [str(p.l.SERVICE)] * 4, "its user")
    eq(v["Groups"].split(), [], "no groups")
    # an answer shows that all fds have come that the launcher is given
    p.l.ask("PROBE")
    fds = len(os.listdir(f"/proc/{p.l.pid}/fd"))
    for _ in range(20):
        p.sh("true").close()
        p.l.run(p.image["/bin/sh"], ["x"], ENV, owner=p.l.owner(3))
    ok(wait_for(lambda: len(os.listdir(f"/proc/{p.l.pid}/fd")) == fds),
       "no fd is left behind")
    out = subprocess.run(["ps", "--ppid", str(p.l.pid), "-o", "comm="],
                         capture_output=True, text=True).stdout
    eq(out.split("\n"), ["observer", ""], "no zombies, and the observer lives")


def not_allowed(mode):
    p = Place(mode, allow_sandbox=1 << NAMESPACES)
    r = p.sh("true", sandbox=NONE)
    eq(r.failed, ("IDS", 1), "a kind that the configuration forbids")
    p.end()


def no_gdbserver(mode):
    p = Place(mode)
    r = p.run("sleeper")
    fds, m = p.l.ask("ATTACH", p.l.attach_body(r.inner, "/nonexistent/gdb"),
                     r.fds[TARGET])
    eq((m.name, hand.STEPS[m.u32()[0]], m.u32()[1]),
       ("ATTACH_FAILED", "GDBSERVER", 2), "a missing gdbserver is named")
    r.close()
    p.end()


def remove(d):
    try:
        os.rmdir(d)
    except OSError:
        return False
    return True


def cgroups(mode):
    """Needs a cgroup2 tree that may be given away."""
    if not AS_ROOT:
        return
    with open("/proc/self/mountinfo") as f:
        mounts = [m.split()[4] for m in f if " - cgroup2 " in m]
    if not ok(mounts, "cgroup2 is mounted"):
        return
    top = os.path.join(mounts[0], f"dl-hand-{os.getpid()}")
    uid = hand.Launcher.SERVICE if mode == "system" else ALICE
    home = "/".join([mounts[0]] + open("/proc/self/cgroup").read().split(
        "0::")[1].split("\n")[0].strip("/").split("/"))
    for d in (top, top + "/daemon", top + "/sessions"):
        os.makedirs(d, exist_ok=True)
        os.chown(d, uid, uid)
        os.chown(d + "/cgroup.procs", uid, uid)
    sid = bytes(range(16))
    user = top + f"/sessions/u{ALICE}"
    leaf = user + "/00010203-0405-0607-0809-0a0b0c0d0e0f"
    p = None
    try:
        with open(top + "/daemon/cgroup.procs", "w") as f:
            f.write("0")
        p = Place(mode, cgroup=top + "/sessions")
        with open(home + "/cgroup.procs", "w") as f:
            f.write("0")
        for kind in KINDS.values():
            r = p.run("sleeper", sandbox=kind, sid=sid)
            if not eq(r.failed, None, "starts in a cgroup"):
                continue
            with open(leaf + "/cgroup.procs") as f:
                eq(len(f.read().split()), 2, "stub and program are in it")
            p.l.signal(r.fds[STUB], 0, TREE_KILL, sid)
            eq(r.report(), ("signaled", 9), "killed")
            r.close()
        r = p.run("ignorer", sandbox=NONE, sid=sid)
        r.until("ready")
        signal.pidfd_send_signal(r.fds[STUB], signal.SIGKILL)
        ok(r.gone(), "a stub is killed")
        p.l.spawner.send("SWEEP", struct.pack("=2I", ALICE, 0), sid=sid, gen=7)
        ok(wait_for(lambda: not os.path.exists(user)),
           "the cgroup goes with all that was in it, and the user's")
        ok(not lives(r.pid), "the program too")
        r.close()
    finally:
        if p is not None:
            p.end()
        for d in (leaf, user, top + "/daemon", top + "/sessions", top):
            wait_for(lambda d=d: not os.path.isdir(d) or remove(d))


def terminals(p, kind):
    """The master comes instead of two pipes, and nobody else has it."""
    r = p.sh("tty; stty size; ls -l /proc/*/fd 2>/dev/null | grep -c ptmx; "
             "read x; echo got $x; exec cat", sandbox=kind, tty=1, cols=99,
             rows=33)
    if not eq(r.failed, None, "starts on a terminal"):
        return
    eq((STDIN in r.fds, STDERR in r.fds), (False, False), "there are no pipes")
    eq(os.fstat(r.fds[STDOUT]).st_rdev, os.makedev(5, 2), "a master comes")
    out = r.until("\r\n0\r\n")
    ok("/dev/pts/" in out and "33 99\r\n" in out,
       "of the size that was asked for; no master inside", out)
    os.write(r.fds[STDOUT], b"typed\n")
    r.until("got typed")
    eq(p.l.signal(r.fds[STUB], 0, TREE_HUP), 0, "the tree is hung up")
    eq(r.report(), ("signaled", signal.SIGHUP), "which ends it")
    r.close()
    r = p.sh("trap '' HUP; tty >/dev/null && (exec <&- >&- 2>&-; sleep 99)",
             sandbox=kind, tty=1)
    p.l.signal(r.fds[STUB], 0, TREE_KILL)
    eq(r.report()[0], "signaled", "or killed")
    r.close()


def commands(p, kind):
    """Found in the session's PATH, not in the launcher's."""
    def run(*argv, env=ENV, **kw):
        return hand.Run(p.l, *p.l.ask("RUN", p.l.run_body(
            argv, env, sandbox=kind, command=1, **kw)))

    r = run("sh", "-c", "echo $0 $PWD", cwd="/usr")
    eq((r.failed, r.read()), (None, "sh /usr\n"), "a command, by its name")
    r.close()
    for argv, env, cwd, want in (
            (("nothing-of-that-name",), ENV, "", ("COMMAND", "ENOENT")),
            (("/no/such",), ENV, "", ("COMMAND", "ENOENT")),
            (("sh",), ("PATH=/nowhere",), "", ("COMMAND", "ENOENT")),
            (("passwd",), ("PATH=/etc",), "", ("EXEC", "EACCES")),
            (("x" * 5000,), ENV, "", ("COMMAND", "ENOENT")),
            (("sh",), ENV, "/no/such", ("CWD", "ENOENT"))):
        r = run(*argv, env=env, cwd=cwd)
        eq((r.failed[0], errno.errorcode[r.failed[1]]), want,
           f"{argv[0][:30]} in {env[0]}, {cwd}: why not")
    for image, command in ((None, 0), (helper("hello"), 1)):
        r = hand.Run(p.l, *p.l.ask("RUN", p.l.run_body(
            ("sh",), ENV, sandbox=kind, command=command), image))
        eq(r.failed, ("IDS", errno.EBADF), "an image has an fd, and a "
           "command has none")


PER_KIND = (terminals, commands, hygiene, groups, output, endings, failures, refused_calls, trees,
            bomb, crowded, spawner_dies, stub_is_deaf, siblings, masks,
            network, root, debugging, attach_fails)
PER_PLACE = (bundles, bundle_refused, packing, probes, owners, share,
             launcher_status, observer_dies, chain, outlived)
ALONE = (not_allowed, no_gdbserver, cgroups)
only = os.environ.get("DL_ONLY", "")

for mode in MODES:
    place = Place(mode)
    for name, kind in KINDS.items():
        tap.prefix = f"{mode} {name}: "
        for t in PER_KIND:
            if only in t.__name__:
                attempt(t.__name__, t, place, kind)
    tap.prefix = f"{mode}: "
    for t in PER_PLACE:
        if only in t.__name__:
            attempt(t.__name__, t, place)
    place.end()
    for t in ALONE:
        if only in t.__name__:
            attempt(t.__name__, t, mode)
tap.done()
