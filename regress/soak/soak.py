#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Many clients of eight users for a long time: how long LIST takes meanwhile,
and whether the daemon's processes grow, leak, or refuse anything.
usage: soak.py SECONDS CONNECTIONS SOCKETS SESSIONS"""
import contextlib
import ctypes
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import traceback

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "regress/e2e/lib"))
import crowd  # noqa: E402
import dl  # noqa: E402

BUILD = os.environ.get("DL_BUILD", os.path.join(TOP, "build"))
USERS = 8
WARM_UP = 60            # seconds, at most
MOST_MS = 20            # LIST, 99 of 100
GROWTH = 1.05, 1024     # of a role: times what it had, and KiB
SETTLE = 120            # seconds until what was used is given back
LOOK_MS = 50            # between two questions of who measures
# clients come one after the other, and each may be made to wait
COMING = 600
CONF = """max-sessions 512
max-connections 8192
max-connections-per-user 1024
output-buffer 64K
pty-scrollback 64K
stop-timeout 5
"""
# that all has been done once before it is counted
SMALL = {"askers": 1, "followers": 1, "sockets": 1, "terminals": 1,
         "steady": 1, "changing": 1, "streams": 1}


class Soak(dl.Daemon):
    """As in service: without a line of log for every step."""
    FLAGS = ("-d",)


def share(total, i):
    """What the i-th user has of so many."""
    return total // USERS + (i < total % USERS)


def shape(i, connections, sockets, sessions):
    """As crowd.Crowd takes it.  One more connection is that which measures."""
    sockets, sessions = share(sockets, i), share(sessions, i)
    terminals = -(-sockets // crowd.TERMINALS_EACH) or 1
    changing = max(1, sessions // 5)
    steady = sessions - terminals - changing
    if steady < 1:
        raise SystemExit(f"soak: {sessions} sessions are too few for the "
                         f"terminals of {sockets} WebSockets of a user")
    left = share(connections, i) - 1 - changing - 2 * steady
    if left < 1:
        raise SystemExit(f"soak: too few connections for the programs of "
                         f"{sessions} sessions of a user")
    return {"askers": left, "followers": 2 * steady, "sockets": sockets,
            "terminals": terminals, "steady": steady, "changing": changing,
            "streams": 2}


class Worker:
    """The process of one user's clients."""

    def __init__(self, uid, *what):
        self.sock, theirs = socket.socketpair()
        self.sock.settimeout(COMING)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                self.sock.close()
                become(uid)
                crowd.asyncio.run(crowd.Crowd(*what).serve(theirs))
                os._exit(0)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        theirs.close()
        self.file = self.sock.makefile("r")

    def tell(self, order):
        self.sock.sendall(order.encode() + b"\n")

    def told(self):
        return json.loads(self.file.readline())

    def end(self):
        # not merely closed: workers that came later hold it, too
        self.sock.shutdown(socket.SHUT_RDWR)
        self.file.close()
        self.sock.close()
        os.waitpid(self.pid, 0)


def become(uid):
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    # as after an exec: the daemon may look who holds a socket
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
    # clients are elsewhere, in service: they do not compete for the processor
    os.nice(5)


class Crowds:
    """Those of all users."""

    def __init__(self, d, users, tokens, image, shapes):
        self.workers = [
            Worker(uid, d.port, d.web, f"u{uid}", token, image, s)
            for uid, token, s in zip(users, tokens, shapes)]

    def all(self, order):
        """What each says after it; everybody gets it at once."""
        for w in self.workers:
            w.tell(order)
        said = [w.told() for w in self.workers]
        # without everybody there is nothing to measure
        if order == "come" and any(s["errors"] for s in said):
            raise RuntimeError(f"come: {[s['first'] for s in said]}")
        return said

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for w in self.workers:
            w.end()


class Probe:
    """A client that does nothing but measure how long LIST takes."""

    def __init__(self, program, port, uid):
        self.proc = subprocess.Popen(
            [program, str(port), str(LOOK_MS), "LIST"], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=uid,
            group=uid, extra_groups=[])
        if self.proc.stdout.readline() != "ready\n":
            raise RuntimeError("probe: is not answered")

    def waits(self):
        out, _ = self.proc.communicate(timeout=crowd.PATIENCE)
        if self.proc.returncode != 0:
            raise RuntimeError("probe: LIST failed")
        return json.loads(out)["wait"]


# --- what is counted -----------------------------------------------------

def roles(d):
    """{name: [pids]}, the daemon itself among them."""
    out = {"parent": [d.proc.pid]}
    for pid, name in d.children().items():
        out.setdefault(name, []).append(pid)
    return out


def kib(pid, name, key):
    text = dl.read_proc(pid, name).decode()
    return int(re.search(rf"^{key}:\s*(\d+)", text, re.M)[1])


def memory(d):
    """{role: (RSS, PSS)} in KiB."""
    return {name: (sum(kib(p, "status", "VmRSS") for p in pids),
                   sum(kib(p, "smaps_rollup", "Pss") for p in pids))
            for name, pids in roles(d).items()}


def held(d):
    """{what: how many} of all that must not become more."""
    out = {}
    for name, pids in roles(d).items():
        out[f"{name}: processes"] = len(pids)
        out[f"{name}: fds"] = sum(len(os.listdir(f"/proc/{p}/fd"))
                                  for p in pids)
    out["processes"] = len(d.processes())
    out["mounts"] = dl.read_proc(d.proc.pid, "mountinfo").count(b"\n")
    out["cgroups"] = sum(len(glob.glob(
        f"{top}/**/debuglantern/{d.proc.pid}/**/", recursive=True))
        for top in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"))
    return out


def settled(d):
    """What is held when that has not changed for some seconds."""
    last, since = held(d), time.monotonic()
    while time.monotonic() - since < 5:
        time.sleep(0.5)
        now = held(d)
        if now != last:
            last, since = now, time.monotonic()
    return last


class Report:
    def __init__(self):
        self.wrong = []

    def check(self, good, text):
        print(("   " if good else "NO ") + text, flush=True)
        if not good:
            self.wrong.append(text)

    def latency(self, waits):
        """Of the users, the one who was served worst."""
        p50, p99, most = (max(w[k] for w in waits) / 1e6
                          for k in ("p50", "p99", "max"))
        self.check(p99 <= MOST_MS,
                   f"LIST, {sum(w['n'] for w in waits)} times: p50 "
                   f"{p50:.2f} ms, p99 {p99:.2f} ms (<= {MOST_MS}), max "
                   f"{most:.2f} ms, each that of the user worst off")

    def growth(self, before, after):
        for name in sorted(before.keys() | after.keys()):
            (r0, p0), (r1, p1) = before.get(name, (0, 0)), \
                after.get(name, (0, 0))
            self.check(r1 <= r0 * GROWTH[0] + GROWTH[1],
                       f"{name}: RSS {r0} -> {r1} KiB, PSS {p0} -> {p1} KiB")

    def leaks(self, before, after):
        for what in sorted(before.keys() | after.keys()):
            a, b = before.get(what, 0), after.get(what, 0)
            self.check(b <= a, f"{what}: {a} -> {b}")

    def work(self, said):
        asked, heard, starts, errors = (
            sum(s[k] for s in said)
            for k in ("asked", "heard", "starts", "errors"))
        self.check(errors == 0, f"{asked} requests, {starts} starts, "
                   f"{heard} bytes heard, {errors} errors")
        for s in said:
            for text in s["first"]:
                print("      " + text[:500])


# --- what is done --------------------------------------------------------

def warm_up(d, users, tokens, image):
    """Everything once, with few clients: what is held from then on."""
    with Crowds(d, users, tokens, image, [SMALL] * USERS) as c:
        c.all("come")
        c.all("go_on")
        time.sleep(5)
        c.all("stand_still")
        said = c.all("go_away")
    return said, settled(d)


def work_for(c, d, program, users, seconds):
    """How long LIST took for each user while all were at work."""
    with contextlib.ExitStack() as stack:
        probes = []
        for uid in users:
            probes.append(Probe(program, d.port, uid))
            stack.callback(probes[-1].proc.kill)
        c.all("go_on")
        time.sleep(seconds)
        waits = [p.waits() for p in probes]
    c.all("stand_still")
    return waits


def soak(d, users, tokens, image, seconds, shapes, report):
    program = os.path.join(d.dir, "probe")
    # where it was built, others may not be let in
    shutil.copy(os.path.join(BUILD, "regress/bench/probe"), program)
    said, held_before = warm_up(d, users, tokens, image)
    report.work(said)
    with Crowds(d, users, tokens, image, shapes) as c:
        began = time.monotonic()
        c.all("come")
        print(f"   all have come in {time.monotonic() - began:.0f} s",
              flush=True)
        work_for(c, d, program, users, min(WARM_UP, seconds / 2))
        before = memory(d)
        waits = work_for(c, d, program, users, seconds)
        after = memory(d)
        peak = held(d)
        said = c.all("go_away")
    report.work(said)
    report.latency(waits)
    report.growth(before, after)
    print(f"   meanwhile: {peak['processes']} processes, netproc "
          f"{peak['netproc: fds']} fds")
    dl.wait_for(lambda: all(v <= held_before.get(k, 0)
                            for k, v in held(d).items()), SETTLE, 1)
    report.leaks(held_before, held(d))
    for uid in users:
        left = dl.user_processes(uid)
        report.check(not left, f"processes left of u{uid}: {left}")
    bad = [x for x in d.log().splitlines()
           if any(w in x for w in dl.TROUBLE)]
    report.check(not bad, f"lines of trouble in the log: {bad[:5]}")


def main():
    if os.geteuid() != 0:
        raise SystemExit("soak: eight users at once can only be had by root")
    seconds, *sizes = map(int, sys.argv[1:])
    shapes = [shape(i, *sizes) for i in range(USERS)]
    print(f"soak: {sum(s['sockets'] for s in shapes)} WebSockets, "
          f"{sizes[0]} connections, {sizes[2]} sessions of {USERS} users for "
          f"{seconds} s", flush=True)
    users = [dl.ALICE + i for i in range(USERS)]
    with open(os.path.join(BUILD, "regress/soak/chatter"), "rb") as f:
        image = f.read()
    report = Report()
    with dl.passwd_wrapper(*users) as wrapper, \
            Soak("system", CONF, wrapper=wrapper, web=True) as d:
        tokens = [dl.token_of(d, uid=u) for u in users]
        soak(d, users, tokens, image, seconds, shapes, report)
    if report.wrong:
        print(f"soak: {len(report.wrong)} bounds were missed")
    sys.exit(1 if report.wrong else 0)


if __name__ == "__main__":
    main()
