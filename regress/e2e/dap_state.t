#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Calls, numbers and registers under each adapter on the processor that is
# here: what it has beyond SSE (AVX-512, the tiles of AMX) is saved around a
# call and put back, or the answer is an error.
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dbgadapters import adapters, built, source_line
from dl import eq, ok, run_tests

BYTES = "{" + " ".join(f"0x{n:02x}" for n in range(1, 17)) + "}"


def begin(r, a, program, source):
    s = a.start(r, program, breaks=[
        {"file": source, "line": source_line(source, "the stop")}])
    eq(s["state"], "stopped", f"{a.name}: stopped")


def raw(r, command):
    """Rig's own first argument has that name."""
    r.last += 1
    n = r.last
    r.raw({"conn": 1, "rw": True, "id": n, "command": "raw",
           "args": {"command": command}})
    return r.answer(n)


def value(r, expression):
    return r.ask("eval", expression=expression)["value"]


def said(s):
    return "".join(o.get("text", "") for o in s["output"]
                   if o["stream"] == "stdout")


def native(a):
    with a.rig() as r:
        begin(r, a, "./state", "state.c")
        calls = {"mul(x, 4.0)": 6.0, "mulf(f, 3.0f)": 7.5,
                 "mull(l, 3.0L)": 3.75, "dot(v, v)": 30.0}
        if a.name == "gdb":
            # gdb by itself passes half of a vector: 11
            del calls["dot(v, v)"]
        eq([float(value(r, e)) for e in calls], list(calls.values()),
           f"{a.name}: calls with numbers")
        eq(float(r.ask("set", target="x", value="7.5")["value"]), 7.5,
           f"{a.name}: a double is set")
        eq(float(r.ask("set", target="f", value="0.5")["value"]), 0.5,
           f"{a.name}: a float is set")
        if a.name == "gdb":
            r.ask("continue")
            return
        raw(r, f'register write xmm7 "{BYTES}"')
        ok(BYTES in str(raw(r, "register read xmm7")),
           f"{a.name}: a vector register is set")
        eq(float(value(r, "mul(x, 2.0)")), 15.0,
           f"{a.name}: a call after that")
        ok(BYTES in str(raw(r, "register read xmm7")),
           f"{a.name}: the register is as it was before the call")
        eq(said(r.ask("continue")), "15 1 2.5 30 kept 2\n",
           f"{a.name}: the program goes on with all that it had")


def go(a):
    with a.rig() as r:
        begin(r, a, "./gostate", "state.go")
        got = r.ask("eval", expression="call mul(x, 4.0)")
        ok(re.search(r"\b6\b", str(got)), f"{a.name}: a call with numbers",
           got)
        eq(float(r.ask("set", target="x", value="2.5")["value"]), 2.5,
           f"{a.name}: a float64 is set")
        eq(said(r.ask("continue")), "5 4\n",
           f"{a.name}: the program goes on with all that it had")


def every(fn, kind):
    out = []
    for a in HERE:
        if a.kind == kind:
            def test(a=a):
                fn(a)
            test.__name__ = f"{kind}_{re.sub('[^a-z0-9]', '_', a.name)}"
            out.append(test)
    return out


built("state.c", "cc", "-g", "-O0", "-o", "state", "state.c")
built("state.go", "go", "build", "-gcflags=all=-N -l", "-o", "gostate",
      "state.go")
HERE = adapters()
run_tests(*every(native, "native"), *every(go, "go"))
