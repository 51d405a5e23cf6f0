#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# What sessions use of processor and memory, and that it costs nothing while
# nobody looks.
import json
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (ALICE, AS_ROOT, BOB, Daemon, alone, eq, helper, ok,
                passwd_wrapper, run_tests, status_of, wait_for)

SYSTEM = ("system",) if AS_ROOT else ()
MIB = 1 << 20


def rows(c):
    return {r["id"]: r for r in c.cmd("USAGE")}


def sampled(c, sid, than=0):
    """The row of a session once there is a newer sample of it."""
    def newer():
        r = rows(c)[sid]
        return r if (r["at_ms"] or 0) > than else None
    return wait_for(newer, 20, 0.2)


def rate(c, sid):
    """Seconds of processor in a second, between two samples."""
    a = sampled(c, sid)
    b = sampled(c, sid, a["at_ms"])
    return (b["cpu_ns"] - a["cpu_ns"]) / (b["at_ms"] - a["at_ms"]) / 1e6


def run(c, *args):
    sid = c.upload(helper("limits"))["id"]
    c.cmd(f"ARGS {sid} " + " ".join(args))
    eq(c.cmd("START " + sid)["state"], "RUNNING", f"{args}: runs")
    return sid


def new(c, *argv):
    c.send(json.dumps({"id": 1, "command": "NEW",
                       "args": {"argv": argv}}) + "\n")
    sid = c.json()["result"]["id"]
    c.cmd("START " + sid)
    return sid


def numbers(mode):
    with Daemon(mode) as d:
        c = d.client()
        eq(c.cmd("USAGE"), [], "without sessions there is nothing")
        sid = run(c, "hold", str(64 * MIB))
        still = c.upload(helper("hello"))["id"]
        first = rows(c)
        eq(first[still], {"id": still, "cpu_ns": None, "memory": None,
                          "at_ms": None}, "one that does not run uses nothing")
        r = wait_for(lambda: (rows(c)[sid]["memory"] or 0) > 64 * MIB and
                     rows(c)[sid], 20, 0.2)
        ok(r and r["memory"] < 128 * MIB, "memory that is held", r)
        ok(0 <= r["cpu_ns"] < 10**9, "and hardly a second of processor", r)
        busy = run(c, "cpu")
        ok(0.05 < rate(c, busy) < 1.5, "a program that computes: its share")
        # what they start is theirs
        tree = new(c, "sh", "-c", "(while :; do :; done) & wait")
        ok(rate(c, tree) > 0.05, "and one that lets another do it")
        many = new(c, "sh", "-c", "while :; do sh -c :; done")
        ok(rate(c, many) > 0.02, "or many, one after the other")
        for s in (busy, tree, many):
            c.cmd("KILL " + s)
        eq(rows(c)[busy]["cpu_ns"], None, "who has ended uses nothing")
        c.cmd(f"ARGS {busy} cpu")
        c.cmd("START " + busy)
        ok(0.05 < rate(c, busy) < 1.5, "the next run is counted for itself")
        c.cmd("KILL " + busy)


def others(mode):
    with passwd_wrapper(ALICE, BOB) as w, Daemon(mode, wrapper=w) as d:
        a, b = d.client(ALICE), d.client(BOB)
        mine, shared = run(a, "hold", "1000"), run(a, "hold", "1000")
        eq(a.cmd(f"SHARE {shared} u{BOB}:ro").get("id"), shared, "shared")
        ok(sampled(a, mine) and sampled(b, shared), "each sees what is theirs")
        eq(sorted(rows(b)), [shared], "or shared with them, and no more")


def switches(pid):
    return int(status_of(pid)["voluntary_ctxt_switches"])


def nobody_looks(mode):
    with Daemon(mode) as d:
        c = d.client()
        sid = new(c, "sh", "-c", "while sleep 1; do :; done")
        ok(sampled(c, sid), "somebody looks: samples come")
        launcher = d.role_pid("launcher")

        def quiet():
            before = switches(launcher)
            time.sleep(4.5)
            return switches(launcher) == before
        ok(wait_for(quiet, 30), "nobody does any more: the launcher sleeps")
        at = rows(c)[sid]["at_ms"]
        ok(sampled(c, sid, at), "somebody does again: so do they")


def restarts(mode):
    with Daemon(mode) as d:
        c = d.client()
        sid = run(c, "cpu")
        at = sampled(c, sid)["at_ms"]
        for role in ("launcher", "netproc"):
            pid = d.role_pid(role)
            os.kill(pid, signal.SIGKILL)
            wait_for(lambda: d.role_pid(role) not in (None, pid))
            if role == "netproc":
                c = d.client()
            r = sampled(c, sid, at)
            ok(r, f"{role} is killed: samples go on")
            at = r["at_ms"]


def in_top(mode):
    with Daemon(mode) as d:
        c = d.client()
        busy, held = run(c, "cpu"), run(c, "hold", str(32 * MIB))
        r = d.ctl("top", "-n", "4", "-d", "2", "--table")
        eq(r.returncode, 0, "top")
        text = r.stdout.decode()
        last = text.split("CPU%")[-1].splitlines()
        ok("MEMORY" in last[0], "top has columns for both", text)
        line = {x.split()[0]: x.split() for x in last[1:] if x.strip()}
        ok(0 < float(line[busy[:8]][5]) < 150, "what computes", line)
        ok(float(line[held[:8]][5]) < 5 and
           line[held[:8]][6].startswith("3"), "and what only holds", line)
        text = d.ctl("list", "--table").stdout.decode()
        ok("CPU%" not in text, "list has not", text)
        text = d.ctl("--json", "top", "-n", "3", "-d", "2").stdout.decode()
        s = {x["id"]: x for x in json.loads(text.splitlines()[-1])}
        ok(s[busy]["cpu_percent"] > 0 and s[held]["memory"] > 32 * MIB,
           "as JSON they are members", s)


run_tests(alone(numbers), alone(others, SYSTEM), alone(nobody_looks),
          alone(restarts), alone(in_top))
