#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# What comes after the first probes are in: children that outlive who made
# them, libraries that come, go and come again, and the next tracer.
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import eq, ok, run_tests, status_of, wait_for
from tracerig import SOON, SOURCES, WORK, Trace, build, stop
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


def what_was_passed_over():
    """Each call once, whoever has a copy of the count."""
    go = os.path.join(WORK, "storm-go")

    def counted(what):
        f = t.ask("status")["functions"]
        eq([x["calls"] + x["skipped"] for x in f], [20000],
           f"{what}: each call is counted once")
        ok(f and f[0]["skipped"] > 0, f"{what}: some were passed over", f)

    with Tracer() as t:
        t.ask("launch", command=build("heirs.c", "-g", "-O1"),
              args=[go, "20000"], projectRoot=SOURCES, followForks=True,
              trace={"add": ["tell"], "budget": 1000})
        t.until(lambda q: q["events"], eventType="stdout")
        counted("with children")
        t.ask("trace", remove=["tell"])
        counted("removed")
        t.ask("trace", add=["tell"], budget=1000)
        counted("traced again")
        t.ask("trace", add=["tell"], budget=2000)
        counted("with another budget")
        with open(go, "w", encoding="ascii"):
            pass
        t.over()
        counted("when all have ended")


def the_next_tracer():
    """Each goes on in the memory that the first has made."""
    p = subprocess.Popen([build("slow.c", "-O2"), "200"],
                         stdout=subprocess.PIPE)
    sizes = []
    try:
        for n in range(6):
            with Trace(pid=p.pid) as t:
                t.probe(1, "beat", "enter=r5:4,s5", "leave=r0:4")
                ok(t.get(lambda e: e["ev"] == "exit" and e.get("fn") == 1),
                   f"tracer {n} sees calls")
                if n == 3:
                    t.p.kill()
                    t.p.wait()
            with open(f"/proc/{p.pid}/maps", encoding="ascii") as f:
                sizes.append((len(f.readlines()),
                              status_of(p.pid)["VmSize"]))
        eq(sizes, sizes[:1] * 6, "none takes more than the first")
        p.send_signal(signal.SIGTERM)
        eq((p.communicate(timeout=SOON)[0], p.returncode), (b"bad 0\n", 0),
           "the program is not disturbed")
    finally:
        stop(p.pid)
        p.wait()


def threads_between_tracers():
    """They have what their maker has been given, and none of their own."""
    p = subprocess.Popen([build("born.c", "-O2")])
    try:
        # not before it waits for signals
        wait_for(lambda: int(status_of(p.pid).get("SigBlk", "0"), 16) &
                 1 << signal.SIGUSR1 - 1)
        with Trace(pid=p.pid) as t:
            ok(t.probe(1, "beat")["ok"], "before there are any threads")
        for n in range(3):
            p.send_signal(signal.SIGUSR1)
            wait_for(lambda: len(os.listdir(f"/proc/{p.pid}/task")) == n + 2)
        tids = {int(x) for x in os.listdir(f"/proc/{p.pid}/task")} - {p.pid}
        with Trace(pid=p.pid) as t:
            t.probe(1, "beat", "enter=r5:4", "leave=r0:4")
            seen = {n for n in tids if t.get(
                lambda e: e["ev"] == "exit" and e["tid"] == n, 10)}
        eq(seen, tids, "the next tracer sees all of them")
        eq(p.poll(), None, "and the program lives")
    finally:
        stop(p.pid)
        p.wait()


run_tests(heirs, unwinders_that_come_again, functions_that_are_lent,
          what_was_passed_over, the_next_tracer,
          threads_between_tracers)
