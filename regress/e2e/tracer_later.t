#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# What comes after the first probes are in: children that outlive who made
# them, libraries that come, go and come again, and the next tracer.
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import eq, ok, run_tests
from tracerig import SOURCES, WORK, build
from tracerproc import Tracer, calls

ENTER = "function_enter"


def text(t, kind="stdout"):
    return "".join(e["text"] for e in t.ask("query", eventType=kind)["events"])


def heirs():
    """A child goes on with what was planned for one that is gone."""
    go = os.path.join(WORK, "heirs-go")
    with Tracer() as t:
        t.ask("launch", command=build("heirs.c", "-g", "-O1"), args=[go],
              projectRoot=SOURCES, followForks=True,
              trace={"add": ["nonesuch"]})
        q = t.until(lambda q: q["events"], eventType="stdout")
        ok(q["events"], "a child runs", q)
        # so it is each process that gets a probe of its own
        r = t.ask("trace", add=["tell"])
        eq(r["hookedFunctions"], 1, "a function is traced in both")
        with open(go, "w", encoding="ascii"):
            pass
        t.over()
        got = [c[1] for c in calls(t.ask("query", verbose=True, limit=500),
                                   ENTER)]
        eq(got, [[f"heir {i}", i, "tail"] for i in range(20)],
           "the arguments of one that outlives its parent are right")


def thrown():
    return build("thrown.cc", "-g", "-O2", "-shared", "-fPIC",
                 "-static-libstdc++", name="thrown.so")


def unwinders_that_come_again():
    """A library that brings its own, closed and loaded again."""
    with Tracer() as t:
        t.ask("launch", command=build("plugs.c", "-g", "-O1", "-ldl"),
              args=[thrown(), "4"], projectRoot=SOURCES,
              trace={"add": ["thrower"]})
        t.over()
        eq(text(t), "-20\n" * 4, "each time it catches what it throws")
        got = calls(t.ask("query", verbose=True), ENTER)
        eq(got, [("thrower", [20])] * 4, "each time it is traced")


def functions_that_are_lent():
    """A C program, when the first unwinder comes, has probes already."""
    with Tracer() as t:
        t.ask("launch", command=build("lends.c", "-g", "-O2", "-ldl"),
              args=[thrown()], projectRoot=SOURCES,
              trace={"add": ["lent", "thrower"]})
        t.over()
        eq(text(t), "-7\n", "an exception passes its frames")
        got = calls(t.ask("query", verbose=True), ENTER)
        eq([c[0] for c in got], ["lent", "thrower"], "and they are traced")


run_tests(heirs, unwinders_that_come_again, functions_that_are_lent)
