#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Holding: a program waits for those who are to have all of its output, as it
# would at the end of a pipe.
import base64
import json
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from ctl_rig import CTL
from dl import (ALICE, AS_ROOT, BOB, Client, Daemon, Prober, alone, eq,
                free_port, helper, in_modes, ok, passwd_wrapper, run_tests,
                session_processes, wait_for)

KIB = 1 << 10
MIB = 1 << 20
RING = 256 * KIB


def poured(stream, n):
    """What pour writes of n bytes (a multiple of 16)."""
    return b"".join(b"%c%014d\n" % (stream, i) for i in range(n // 16))


def total(c, sid):
    return c.cmd(f"OUTPUT {sid} 0")["total"]


class Follower:
    """FOLLOW ... hold; its first line has come."""

    def __init__(self, d, sid, words="0 base64 hold", uid=None):
        self.c = d.client(uid)
        self.c.send(f"FOLLOW {sid} {words}\n")
        self.first = self.c.json()
        self.at = self.first.get("offset", 0)
        self.data = {None: bytearray(), "out": bytearray(),
                     "err": bytearray()}
        self.jumps = []
        self.last = None

    def line(self):
        """Takes one line; False at the last one."""
        r = self.c.json()
        if r.get("offset", self.at) != self.at:
            self.jumps.append((self.at, r["offset"]))
        if r.get("final") or r.get("ok") is False:
            self.last = r
            return False
        data = base64.b64decode(r["output"])
        self.data[r.get("stream")] += data
        self.at = r["offset"] + len(data)
        return True

    def rest(self):
        while self.last is None and self.line():
            pass
        return self

    def close(self):
        self.c.close()


def settles(c, sid):
    """The total, when it has not changed for a while."""
    seen = [-1, 0]

    def still():
        seen.append(total(c, sid))
        return seen[-1] == seen[-2] == seen[-3] and seen[-1] > 0
    wait_for(still, 30, 0.1)
    return seen[-1]


def start_held(d, c, n, followers=1):
    """A session, and those who hold it."""
    sid = c.upload(helper("flood"))["id"]
    c.cmd(f"ARGS {sid} {n}")
    f = [Follower(d, sid) for _ in range(followers)]
    c.cmd("START " + sid)
    return sid, *f


# --- the protocol --------------------------------------------------------

def first_line(d):
    c = d.client()
    sid = c.upload(helper("flood"))["id"]
    f = Follower(d, sid, "hold")
    eq(f.first, {"id": sid, "output": "", "offset": 0, "total": 0,
                 "held": True}, "the first line comes before the start")
    f.close()
    f = Follower(d, sid, "5 base64 hold")
    eq((f.first["offset"], f.first["encoding"]), (5, "base64"),
       "with an offset and base64")
    f.close()
    v = c.cmd("VERSION")
    ok("FOLLOW hold" in v["extensions"], "VERSION announces it", v)
    for words in ("0 hold base64", "hold 0", "0 base64 hold hold"):
        r = c.cmd(f"FOLLOW {sid} {words}")
        eq(r.get("error_code"), "invalid_argument", f"FOLLOW {words}")
    eq(c.cmd(f"OUTPUT {sid} 0 hold").get("error_code"), "invalid_argument",
       "OUTPUT waits for nobody")
    j = d.client()
    j.send(json.dumps({"id": 1, "command": "follow", "args": {
        "session": sid, "hold": True}}) + "\n")
    r = j.json()
    ok(r["id"] == 1 and r["event"]["held"], "in JSON: an event", r)
    j.close()


def program_waits(d):
    c = d.client()
    n = 32 * MIB
    sid, f = start_held(d, c, n)
    at = settles(c, sid)
    # what the kernel holds of a connection may be more than the ring
    ok(0 < at < n, "the program is not read to its end", at)
    eq(c.cmd("STATUS " + sid)["state"], "RUNNING", "the program waits")
    with Prober(d) as p:
        f.rest()
        p.check("nobody else does")
    eq((f.jumps, f.at, f.last["exit_code"]), ([], n, 0),
       "and its holder has all of it in the end")
    lines = b"".join(b"%015d\n" % i for i in range(n // 16))
    ok(f.data[None] == lines, "byte for byte")
    f.close()


def holder_goes(d):
    c = d.client()
    for how in ("closes", "is reset"):
        sid, f = start_held(d, c, 32 * MIB)
        ok(settles(c, sid) < 32 * MIB, f"a holder that {how}: held")
        f.c.close() if how == "closes" else f.c.reset()
        s = c.cmd(f"WAIT {sid} 30")
        eq(s["state"], "STOPPED", f"a holder that {how}: the program goes on")
        c.cmd("DELETE " + sid)


def two_holders(d):
    c = d.client()
    n = 32 * MIB
    sid, a, b = start_held(d, c, n, 2)
    reader = threading.Thread(target=b.rest)
    reader.start()
    at = settles(c, sid)
    ok(0 < at < n, "of two the slower one counts", at)
    for _ in range(20):
        a.line()
    a.close()
    reader.join(60)
    eq((b.at, b.jumps), (n, []), "when it goes, the other one counts")
    b.close()


def late_holder(d):
    """Who begins in the middle loses nothing from then on."""
    c = d.client()
    sid = c.upload(helper("flood"))["id"]
    c.cmd(f"ARGS {sid} 0")
    c.cmd("START " + sid)
    wait_for(lambda: total(c, sid) > 4 * MIB)
    f = Follower(d, sid)
    settles(c, sid)
    f.line()
    first = f.jumps
    f.jumps = []
    while f.at < first[0][1] + 4 * MIB:
        f.line()
    eq((len(first), f.jumps), (1, []), "after the first line no byte is lost")
    f.close()
    c.cmd("KILL " + sid)


def changes_of_stream(d):
    """More of them than the ring remembers."""
    c = d.client()
    sid = c.upload(helper("twostreams"))["id"]
    n = 20000
    c.cmd(f"ARGS {sid} {n}")
    f = Follower(d, sid)
    c.cmd(f"START {sid} --split")
    settles(c, sid)
    f.rest()
    eq((f.data["out"] == b"".join(b"o%d\n" % i for i in range(n)),
        f.data["err"] == b"".join(b"e%d\n" % i for i in range(n)),
        f.data[None], f.jumps), (True, True, b"", []),
       "which stream each byte is of is not forgotten")
    f.close()


def ends_while_held(d):
    c = d.client()
    for verb in ("KILL", "STOP"):
        sid, f = start_held(d, c, 0)
        settles(c, sid)
        eq(c.cmd("DELETE " + sid).get("error_code"), "session_running",
           "DELETE of a held program")
        s = c.cmd(f"{verb} {sid}")
        eq(s["state"], "STOPPED", f"{verb} of a held program")
        f.rest()
        ok(f.jumps == [] and f.at == f.last["total"] > 0,
           f"{verb}: what it had written is all there", (f.jumps, f.at))
        ok(f.data[None] == b"".join(
            b"%015d\n" % i for i in range(f.at // 16 + 1))[:f.at],
           f"{verb}: byte for byte")
        f.close()
        c.cmd("DELETE " + sid)
    sid, f = start_held(d, c, 0)
    settles(c, sid)
    eq(c.cmd(f"SIGNAL {sid} KILL").get("ok", True), True, "SIGNAL of one")
    eq(c.cmd(f"WAIT {sid} 30")["signal"], "SIGKILL", "ends it as well")
    f.rest()
    eq(f.jumps, [], "and nothing is lost")
    f.close()


def large_pipes(d):
    """What a program leaves in pipes that it has made larger."""
    c = d.client()
    n = 12 * MIB
    for how in ("reads on", "goes", "is not asked"):
        sid = c.upload(helper("pour"))["id"]
        c.cmd(f"ARGS {sid} {n} {MIB}")
        f = Follower(d, sid)
        c.cmd(f"START {sid} --split")
        s = c.cmd("STATUS " + sid)
        while how != "reads on" and s["pid"] and f.line():
            s = c.cmd("STATUS " + sid)
        if how == "reads on":
            f.rest()
            eq((f.jumps, f.last["exit_code"]), ([], 7),
               "large pipes: no jump")
            ok(f.data["out"] == poured(b"o"[0], n) and
               f.data["err"] == poured(b"e"[0], n), "large pipes: exact")
        elif how == "goes":
            f.close()
            eq(c.cmd(f"WAIT {sid} 30")["exit_code"], 7,
               "large pipes: the end comes when nobody waits any more")
        else:
            c.cmd(f"KILL {sid}")
            eq(c.cmd("STATUS " + sid)["state"], "STOPPED",
               "large pipes: KILL waits for no holder")
            f.rest()
        f.close()
        c.cmd("DELETE " + sid)


def output_closed(d):
    """A program that ends when it has written long before: one that has not
    read it does not keep it for longer than they stay."""
    c = d.client()
    sid = c.cmd("NEW start=now -- /bin/sh -c 'head -c %d /dev/zero; "
                "exec >&- 2>&-; sleep 2; exit 3'" % MIB)["id"]
    ok(wait_for(lambda: total(c, sid) == MIB, 10), "it has written all")
    f = Client(d.dir + "/run/debuglantern.sock", uid=d.uid)
    f.send(f"FOLLOW {sid} 0 hold\n")
    ok(wait_for(lambda: not session_processes(sid), 20), "and ended")
    f.close()
    s = c.cmd(f"WAIT {sid} 20")
    eq((s["state"], s["exit_code"]), ("STOPPED", 3), "which is told")
    eq(c.cmd("DELETE " + sid).get("error_code"), None, "and can be deleted")


def children_left(d):
    """The program has ended; what it left running still writes."""
    c = d.client()
    n = 32 * MIB
    r = c.cmd(f'NEW -- sh -c "head -c {n} /dev/zero & exit 3"')
    f = Follower(d, r["id"])
    c.cmd("START " + r["id"])
    settles(c, r["id"])
    s = c.cmd("STATUS " + r["id"])
    eq((s["state"], s["pid"]), ("RUNNING", None), "it waits without its head")
    f.rest()
    eq((f.at, f.jumps, f.last["exit_code"]), (n, [], 3),
       "and is read to its end")
    f.close()


def on_terminals(d):
    c = d.client()
    sid = c.cmd("NEW tty -- cat")["id"]
    r = c.cmd(f"FOLLOW {sid} hold")
    ok(r["error_code"] == "invalid_argument" and "ATTACH" in r["message"],
       "a session on a terminal", r)
    sid = c.upload(helper("flood"))["id"]
    c.cmd(f"ARGS {sid} {4 * MIB}")
    f = Follower(d, sid)
    c.cmd(f"START {sid} --tty")
    r = f.c.json()
    ok(r["error_code"] == "invalid_argument" and "ATTACH" in r["message"],
       "one that is started on a terminal after all", r)
    eq(c.cmd(f"WAIT {sid} 30")["state"], "STOPPED", "nobody holds it")
    f.close()


def second_run(d):
    """A hold is of one run."""
    c = d.client()
    sid, f = start_held(d, c, MIB)
    f.rest()
    c.cmd("START " + sid)
    eq(c.cmd(f"WAIT {sid} 30")["state"], "STOPPED", "the next run is free")
    r = f.c.cmd("STATUS " + sid)
    eq(r["id"], sid, "and the connection takes commands")
    f.c.send(f"FOLLOW {sid} 0 base64 hold\n")
    eq(f.c.json()["held"], True, "a run that is over")
    f.at, f.last = MIB - RING, None
    f.rest()
    eq((f.at, f.last["exit_code"], f.jumps), (MIB, 0, []), "is told as ever")
    f.close()


# --- the client ----------------------------------------------------------

def spawn(d, *args, target=None, env=(), **kw):
    if d.uid is not None:
        kw.update(user=d.uid, group=d.uid, extra_groups=[])
    e = dict(d.env, DEBUGLANTERN_TARGET=target or f"127.0.0.1:{d.port}",
             **dict(env))
    return subprocess.Popen([CTL, *args], env=e, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            **kw)


class Reader(threading.Thread):
    """Takes what comes, after a while and in small pieces."""

    def __init__(self, file, wait, between=lambda n: None):
        super().__init__(daemon=True)
        self.file, self.wait, self.between = file, wait, between
        self.data = b""
        self.start()

    def run(self):
        time.sleep(self.wait)
        parts, n = [], 0
        while part := os.read(self.file.fileno(), 16 * KIB):
            parts.append(part)
            n += len(part)
            self.between(n)
        self.data = b"".join(parts)


def run_poured(d, n, wait, name, between=lambda m: None, **kw):
    p = spawn(d, "run", helper("pour"), str(n), **kw)
    out = Reader(p.stdout, wait, between)
    err = Reader(p.stderr, wait)
    for r in (out, err):
        r.join(60)
    eq((p.wait(60), len(out.data), len(err.data)), (7, n, n),
       f"{name}: how much came" + (
           "" if len(err.data) == n else repr(err.data[-300:])))
    ok(out.data == poured(b"o"[0], n) and err.data == poured(b"e"[0], n),
       f"{name}: byte for byte")


def run_waits(d):
    n = 20 * MIB
    run_poured(d, n, 2, "run, read after two seconds")


def netproc_dies(d):
    n = 6 * MIB
    todo = [MIB, 3 * MIB]

    def between(m):
        if todo and m > todo[0]:
            todo.pop(0)
            os.kill(d.role_pid("netproc"), signal.SIGKILL)
            # longer than the next one needs to be there
            time.sleep(0.5)
    run_poured(d, n, 0.5, "run, netproc killed twice", between)
    eq(todo, [], "it was")


def netproc_dies_for_good(d):
    """Who does not come back is not waited for for ever."""
    c = d.client()
    sid, f = start_held(d, c, 32 * MIB)
    settles(c, sid)
    os.kill(d.role_pid("netproc"), signal.SIGKILL)
    try:
        while f.line():
            pass
        ok(False, "the holder's connection is lost", f.last)
    except (OSError, EOFError, ValueError) as e:
        ok(True, f"the holder's connection is lost: {type(e).__name__}")

    def ended():
        try:
            with_new = d.client()
            s = with_new.cmd("STATUS " + sid)
            with_new.close()
            return s["state"] == "STOPPED"
        except (OSError, EOFError, ValueError):
            return False
    ok(wait_for(ended, 60, 0.2), "the program goes on in the end")


def stopped_client(d):
    n = 4 * MIB
    p = spawn(d, "run", helper("pour"), str(n))
    out, err = Reader(p.stdout, 0), Reader(p.stderr, 0)
    c = d.client()
    wait_for(lambda: c.cmd("LIST"))
    p.send_signal(signal.SIGSTOP)
    try:
        sid, s = c.run(helper("flood"), str(2 * MIB))
        eq(s["exit_code"], 0, "a stopped client stops nobody else's program")
        mine = [x for x in c.cmd("LIST") if x["id"] != sid]
        at = settles(c, mine[0]["id"]) if mine and \
            mine[0]["state"] == "RUNNING" else 0
        ok(at < 2 * n, "only its own", at)
    finally:
        p.send_signal(signal.SIGCONT)
    for r in (out, err):
        r.join(120)
    eq((p.wait(60), out.data == poured(b"o"[0], n),
        err.data == poured(b"e"[0], n)), (7, True, True),
       "which goes on with it, and loses nothing")


def killed_client(d):
    p = spawn(d, "run", helper("flood"), "0")
    c = d.client()
    sid = wait_for(lambda: [x["id"] for x in c.cmd("LIST")
                            if x["state"] == "RUNNING"])[0]
    ok(settles(c, sid) < 32 * MIB, "run is not read: its program waits")
    p.kill()
    p.communicate()
    before = total(c, sid)
    ok(wait_for(lambda: total(c, sid) > before + 4 * MIB, 30),
       "run is killed: its program goes on")
    c.cmd("KILL " + sid)


def follow_option(d):
    c = d.client()
    sid = c.upload(helper("flood"))["id"]
    n = 32 * MIB
    c.cmd(f"ARGS {sid} {n}")
    p = spawn(d, "--json", "follow", "--hold", sid)
    eq(json.loads(p.stdout.readline()).get("held"), True, "follow --hold")
    c.cmd("START " + sid)
    ok(settles(c, sid) < n, "follow --hold: the program waits")
    at = 0
    for line in p.stdout:
        r = json.loads(line)
        if r["offset"] != at:
            break
        at += len(r.get("output", ""))
    p.communicate()
    eq((at, r.get("final"), p.returncode), (n, True, 0),
       "follow --hold: no byte is missing")
    p = spawn(d, "output", "--hold", sid)
    ok(b"--follow" in p.communicate()[1] and p.returncode == 2,
       "output --hold without --follow")


# --- rights --------------------------------------------------------------

def rights(mode):
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, wrapper=wrapper if AS_ROOT else ()) as d:
        c = d.client()
        sid = c.upload(helper("flood"))["id"]
        c.cmd(f"ARGS {sid} {32 * MIB}")
        for access, first in (("ro", "read_only"), ("rw", None)):
            c.cmd(f"SHARE {sid} u{BOB}:{access}")
            f = Follower(d, sid, uid=BOB)
            eq(f.first.get("error_code"), first, f"a share {access}")
        c.cmd("START " + sid)
        ok(0 < settles(c, sid) < 32 * MIB, "who may use it holds it")
        c.cmd(f"SHARE {sid} u{BOB}:ro")
        eq(c.cmd(f"WAIT {sid} 30")["state"], "STOPPED",
           "and not any more when they may only look")
        while f.line():
            pass
        eq(f.last.get("error_code"), "read_only", "which they are told")
        f.close()


# --- doors ---------------------------------------------------------------

def doors(mode):
    tls, n = free_port(), 20 * MIB
    with Daemon(mode, f"listen on localhost\n"
                f"listen on 127.0.0.1 port {tls} tls\n") as d:
        r = d.ctl("--table", "fingerprint")
        env = {"DEBUGLANTERN_FINGERPRINT": r.stdout.decode().strip()}
        run_poured(d, n, 2, "over TLS", target=f"tls://127.0.0.1:{tls}",
                   env=env)
        run_poured(d, n, 2, "by the local socket",
                   target=f"unix:{d.dir}/run/debuglantern.sock")
        todo = [2 * MIB]

        def between(m):
            if todo and m > todo[0]:
                todo.pop()
                os.kill(d.role_pid("netproc"), signal.SIGKILL)
        run_poured(d, 4 * MIB, 0.5, "over TLS, netproc killed", between,
                   target=f"tls://127.0.0.1:{tls}", env=env)


run_tests(
    in_modes(
        first_line, program_waits, holder_goes, two_holders, late_holder,
        changes_of_stream, ends_while_held, large_pipes, output_closed,
        children_left, on_terminals, second_run, run_waits, stopped_client, killed_client,
        follow_option),
    in_modes(netproc_dies, netproc_dies_for_good, calm=False),
    alone(rights, modes=("system",) if AS_ROOT else ()), alone(doors))
