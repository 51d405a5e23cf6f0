#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Programs that know that they are traced and do what they can about it: it
# costs their own records, at most their own life, and nobody else anything.
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../e2e/lib"))
from dl import AS_ROOT, ALICE, eq, ok, run_tests
from tracerig import SOON, Trace, build, plain, stop, values

HOSTILE = build("hostile.c", "-O2")
# what it does to itself may well be its end; it must not be ours
MAY_DIE = ("scribble", "control", "unmap", "unmap-control", "agent", "gs",
           "forge")


def one(how, follow=False):
    with Trace(HOSTILE, how, follow=follow, ring=1 << 16) as t:
        r = t.probe(1, "call", "enter=r5:4,s5", "leave=r0:4")
        ok(r["ok"], f"{how}: it is traced")
        t.put("quiet 1")
        t.go()
        e = t.end()
        ok(e, f"{how}: the engine sees its end")
        s = t.stats()
        ok(s and s["enter"] >= 10, f"{how}: and the calls before", s)
        t.close()
        if how not in MAY_DIE:
            eq((e["status"], t.output()), (0, "here\n"),
               f"{how}: it survives, and does what it did")
        eq(t.p.returncode in (0, -signal.SIGKILL), True,
           f"{how}: the engine survives")
        return s


def harmless():
    for how in ("ptrace", "child", "notsc", "undumpable", "strict", "seccomp",
                "storm", "threads"):
        one(how)


def followed_storm():
    s = one("storm", follow=True)
    ok(s["forks"] >= 300, "every child is said to be one", s)


def strict_records():
    """Reads that fault, in a thread that may make no system call."""
    with Trace(HOSTILE, "strict") as t:
        t.probe(1, "call", "enter=r5:4,s5", "leave=r0:4")
        t.go()
        e = t.end()
        t.close()
        eq((e["status"], t.output()), (0, "here\n"),
           "strict seccomp: it is not killed for what the agent does")
        calls = t.calls("call")
        eq([values(c)[0] for c in calls],
           list(range(10)) + list(range(1000)), "and is seen still")
        ok(all(a["ts"] <= b["ts"] for a, b in zip(calls, calls[1:])),
           "in order")


def memory():
    for how in MAY_DIE:
        one(how)


def forged():
    """What is not valid is counted, what is looks like any other."""
    with Trace(HOSTILE, "forge") as t:
        t.probe(1, "call", "enter=r5:4", "leave=r0:4")
        t.go()
        t.end()
        s = t.stats()
        t.close()
        ok(s["torn"] > 0, "forged records are found out", s)
        ok(all(e.get("fn", 1) == 1 for e in t.events
               if e["ev"] in ("enter", "exit")),
           "none is of a function that is not traced")


def section(program, name):
    """(offset in the file, bytes)"""
    p = subprocess.run(["readelf", "-SW", program], stdout=subprocess.PIPE,
                       text=True, check=True)
    m = re.search(r" %s +PROGBITS +\w+ (\w+) (\w+)" % re.escape(name), p.stdout)
    with open(program, "rb") as f:
        f.seek(int(m[1], 16))
        return int(m[1], 16), f.read(int(m[2], 16))


def table_of(change):
    """Another table of .eh_frame_hdr: pairs of 32 bits behind their number."""
    def changed(some, head):
        n = struct.unpack_from("<I", head, 8)[0]
        pairs = list(struct.iter_unpack("<ii", head[12:12 + 8 * n]))
        n, pairs = change(some, pairs)
        return head[:8] + struct.pack("<I", n) + b"".join(
            struct.pack("<ii", *x) for x in pairs)
    return ".eh_frame_hdr", changed


def noise(some, data):
    return bytes(some.randrange(256) if some.random() < 0.05 else b
                 for b in data)


UNWIND_TABLES = {
    "out of order": table_of(lambda some, x: (len(x), some.sample(x, len(x)))),
    "backwards": table_of(lambda some, x: (len(x), x[::-1])),
    "of one function": table_of(lambda some, x: (len(x), [x[-1]] * len(x))),
    "of two in turn": table_of(lambda some, x: (len(x), [
        x[i % 2 * 3] for i in range(len(x))])),
    "of anything": table_of(lambda some, x: (len(x), [
        (some.randrange(-1 << 31, 1 << 31), b) for a, b in x])),
    "of other functions'": table_of(lambda some, x: (len(x), [
        (a, some.choice(x)[1]) for a, b in x])),
    "too long": table_of(lambda some, x: (0x7fffffff, x)),
    "of nothing": table_of(lambda some, x: (0, x)),
    "with noise": (".eh_frame_hdr", noise),
    "whose frames have noise": (".eh_frame", noise),
}


def unwind_tables():
    """Programs are searched by their own tables for functions that walk."""
    whole = build("frames.c", "-O2", "-fno-omit-frame-pointer")
    some = random.Random(os.environ.get("DL_SEED", "1"))
    for how, (where, change) in UNWIND_TABLES.items():
        at, data = section(whole, where)
        for i in range(4):
            program = f"{whole}_{i}"
            shutil.copy(whole, program)
            with open(program, "r+b") as f:
                f.seek(at)
                f.write(change(some, data)[:len(data)])
            with Trace(program) as t:
                for fn, name in enumerate(("first", "second", "main")):
                    t.probe(fn + 1, name)
                t.go()
                ok(t.end(), f"a table {how}: the engine sees the end ({i})")
                t.close()
            eq(t.p.returncode, 0, f"a table {how}: the engine survives ({i})")


def beside_another():
    """One engine, two processes: the wild one costs the calm one nothing."""
    p = subprocess.Popen([build("slow.c", "-O2"), "1000"],
                         stdout=subprocess.PIPE)
    try:
        with Trace(pid=p.pid) as calm:
            calm.probe(1, "beat", "enter=r5:4", "leave=r0:4")
            one("storm")
            one("scribble")
            n = len(calm.events)
            ok(calm.get(lambda e: e["ev"] == "exit" and e.get("fn") == 1,
                        since=n), "a calm program is traced beside it")
        p.send_signal(signal.SIGTERM)
        eq((p.communicate(timeout=SOON)[0], p.returncode), (b"bad 0\n", 0),
           "and is not disturbed")
    finally:
        stop(p.pid)
        p.wait()


def others_processes():
    p = subprocess.Popen([build("slow.c", "-O2"), "1000"])
    try:
        with Trace(pid=p.pid, uid=ALICE) as t:
            ok(t.first["ev"] == "refused", "another user's process is not "
               "traced", t.first)
    finally:
        stop(p.pid)
        p.wait()


def own_processes():
    """No right is needed but the owner's."""
    program = build("slow.c", "-O2")
    p = subprocess.Popen([program, "1000"], user=ALICE,
                         stdout=subprocess.PIPE)
    try:
        with Trace(pid=p.pid, uid=ALICE) as t:
            r = t.probe(1, "beat", "enter=r5:4", "leave=r0:4")
            ok(r and r["ok"], "its owner traces it", t.first)
            ok(t.get(lambda e: e["ev"] == "exit" and e.get("fn") == 1),
               "and sees its calls")
        p.send_signal(signal.SIGTERM)
        eq(p.communicate(timeout=SOON)[0], b"bad 0\n", "undisturbed")
    finally:
        stop(p.pid)
        p.wait()


run_tests(harmless, strict_records, followed_storm, memory, forged,
          unwind_tables, beside_another,
          *((others_processes, own_processes) if AS_ROOT else ()))
