#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The rights of every process of the daemon and of its sessions, as the kernel
tells them, are those of regress/audit/; their filters are those of
regress/filters/, instruction by instruction.

audit.t --write puts what it has found in their place, to be looked at."""
import ctypes
import difflib
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (AS_ROOT, SANITIZED, Client, Daemon, alone, connect, eq, helper,
                ok, run_tests, stat_of, status_of, wait_for)  # noqa: E402
from procaudit import Audit, starter  # noqa: E402
from tlsclient import with_tls  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
WRITE = "--write" in sys.argv
KINDS = ("none", "namespaces", "tmpfs")
ROLES = ("logger", "netproc", "spawner", "announcer", "idproc", "tlsproc")
CONF = (f'adapter toy command "{helper("toy_adapter")} lldb-dap"\n'
        "allow-sandbox none, namespaces, tmpfs\n"
        "bundle-max-members 10000000\n")
PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
PTRACE_SECCOMP_GET_FILTER = 0x420C
WALL = 0x40000000

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 2 + [ctypes.c_void_p] * 2
libc.ptrace.restype = ctypes.c_long


def filter_of(pid):
    """The program of the filter that was loaded last."""
    if libc.ptrace(PTRACE_SEIZE, pid, None, None) == -1:
        raise OSError(ctypes.get_errno(), "PTRACE_SEIZE")
    try:
        libc.ptrace(PTRACE_INTERRUPT, pid, None, None)
        os.waitpid(pid, WALL)
        # counted from the first
        last = int(status_of(pid)["Seccomp_filters"]) - 1
        n = libc.ptrace(PTRACE_SECCOMP_GET_FILTER, pid, last, None)
        if n == -1:
            raise OSError(ctypes.get_errno(), "PTRACE_SECCOMP_GET_FILTER")
        buf = ctypes.create_string_buffer(n * 8)
        libc.ptrace(PTRACE_SECCOMP_GET_FILTER, pid, last, buf)
        return buf.raw
    finally:
        libc.ptrace(PTRACE_DETACH, pid, None, None)


def named(d, name):
    return [p for p in d.processes() if (stat_of(p) or ("",))[0] == name]


def instrument(d, kind, command, args):
    """The process of a session's debugger or tracer, by the local socket."""
    c = Client(d.dir + "/run/debuglantern.sock", uid=d.uid)
    c.send(json.dumps({"id": 1, "command": kind, "args": {
        "start": True, "name": kind,
        "request": {"command": command, "args": args}}}) + "\n")
    r = json.loads(c.recv_line())
    if not r.get("success"):
        raise RuntimeError(f"{kind}: {r}")
    return c, named(d, kind)[0]


def busy_archiver(d):
    """One that is confined, stopped at its work, and the asker's connection."""
    name = tarfile.TarInfo("d")
    name.type, name.mode = tarfile.DIRTYPE, 0o755
    data = gzip.compress(name.tobuf() * 2048, 1) * 600
    c = d.client(uid=d.uid)
    c.send(b"UPLOAD %d prog\n" % len(data) + data)
    pid = wait_for(d.archivers, 60)[0]
    few = int(status_of(pid)["Seccomp_filters"])

    def caged():
        # its own filter comes last, and is the one that kills
        st = status_of(pid)
        return int(st["Seccomp_filters"]) > few or few > 2
    ok(wait_for(caged, 60), "an archiver is at work")
    os.kill(pid, signal.SIGSTOP)
    return c, pid


def processes(d):
    """(name, pid, its filter) of all kinds that there are, and connections to
    keep meanwhile."""
    out = [("parent", d.proc.pid, None)]
    for role in ROLES:
        out.append((role, d.role_pid(role), role))
    if d.mode == "system":
        out.append(("acctproc", d.role_pid("acctproc"), "acctproc"))
        out.append(("acctgate", d.role_pid("acctgate"), None))
    for pid in named(d, "launcher"):
        if stat_of(pid)[2] == d.proc.pid:
            out.append(("launcher", pid, "launcher"))
    out.append(("observer", named(d, "observer")[0], "observer"))
    # it and its reserve are one like the other
    out = [x for i, x in enumerate(out) if x[0] not in
           [y[0] for y in out[:i]]]
    keep = []
    c = d.client(uid=d.uid)
    for kind in KINDS:
        sid, s = c.start(helper("sleeper"), flags=f"--sandbox {kind}",
                         until=b"ready")
        out.append((f"stub, {kind}", stat_of(s["pid"])[2], None))
        out.append((f"session, {kind}", s["pid"],
                    None if kind == "none" else "session"))
    sid, s = c.start(helper("target"), until=b"target")
    port = c.cmd("DEBUG " + sid)["debug_port"]
    keep.append(d.client(uid=d.uid))
    keep.append(connect("127.0.0.1", port, d.uid, 30))
    # has a tracer already
    out.append(("session, debugged", s["pid"], None))
    out.append(("gdbserver", wait_for(lambda: named(d, "gdbserver"), 60)[0],
                "session"))
    more, pid = instrument(
        d, "debugger", "start", {
            "program": helper("sleeper"), "args": [], "cwd": "/", "env": [],
            "adapter": "toy", "stop_on_entry": True})
    out.append(("debugger", pid, "debugger"))
    out.append(("adapter", named(d, "toy_adapter")[0], "session"))
    keep.append(more)
    more, pid = instrument(
        d, "tracer", "launch", {
            "command": helper("sleeper"), "args": [], "cwd": "/", "env": {},
            "projectRoot": "/", "trace": {"add": ["main"]}})
    out.append(("tracer", pid, "tracer"))
    keep.append(more)
    # it stays for what else its tracer may ask of the binary
    out.append(("symbols", wait_for(lambda: named(d, "symbols"), 60)[0],
                "symbols"))
    more, pid = busy_archiver(d)
    out.append(("archiver", pid, "archiver-unpack"))
    keep.append(more)
    return out, keep


def comparable(text):
    """A sanitizer's reports go through a pipe, also of those that have no log,
    and its shadow is larger than any limit."""
    if not SANITIZED:
        return text
    text = re.sub(r"(, )?(pipe|the log|/dev/null)\b", "", text)
    text = text.replace("descriptors  , ", "descriptors  ")
    return re.sub(r", as \d+/\d+", "", text)


def looked_at(found):
    audit = Audit()
    for name, pid, _ in found:
        audit.add(name, pid)
    return comparable(str(audit))


def compare(found, path):
    with open(path) as f:
        golden = comparable(f.read())
    # what waits for its next turn still has a descriptor more
    text = wait_for(lambda: (t := looked_at(found)) == golden and t, 30) or \
        looked_at(found)
    ok(text == golden, "every process has the rights that it is to have",
       "\n".join(difflib.unified_diff(golden.splitlines(), text.splitlines(),
                                      "golden", "now", "", "", 4, "")))


def filters(found):
    for name, pid, which in found:
        if which is None:
            continue
        want = subprocess.run([helper("filters"), "bpf", which],
                              stdout=subprocess.PIPE, check=True).stdout
        eq(filter_of(pid) == want, True,
           f"{name}: its filter is {which}'s, to the last instruction")


def rights(mode):
    path = os.path.join(HERE, "../audit", mode + ".txt")
    with Daemon(mode, with_tls(CONF)[1]) as d:
        found, keep = processes(d)
        if WRITE:
            with open(path, "w") as f:
                f.write(looked_at(found))
        compare(found, path)
        if not SANITIZED:
            filters(found)
        for c in keep:
            c.close()


starter()
run_tests(alone(rights, ("system", "user") if AS_ROOT else ()))
