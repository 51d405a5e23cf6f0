#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# What one request of a tracer's leaves to the next, and programs that are not
# as most are: with children while patterns are read, with a library mapped
# twice, without their first thread.
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import eq, ok, run_tests, stat_of, wait_for  # noqa: E402
from tracerig import SOON, SOURCES, build, stop, stripped  # noqa: E402
from tracerproc import Tracer, calls  # noqa: E402

ENTER = "function_enter"
LOADS = 400
LITTER, STILL, SWARM = 60, 300, 40
BY_NAME = ("SELECT function_name, count(*) FROM events WHERE event_type = "
           "'function_enter' GROUP BY 1 ORDER BY 1")


def calls_by_name(t):
    return dict(t.ask("sql", statement=BY_NAME)["rows"])


def numbers_with_gaps():
    """Functions that cannot be traced have numbers, too."""
    with Tracer() as t:
        r = t.ask("launch", command=build("kinds.c", "-g", "-O1"),
                  args=["on", "2000"], projectRoot=SOURCES,
                  trace={"add": ["beat", "rounds", "brief", "behind"]})
        t.until(lambda q: q["totalCount"] > 100)
        eq(t.ask("trace")["notTraceableCount"], 2, "two of four are traced")
        time.sleep(0.5)
        t.put("_kill")
        ok(t.event("successor") is not None, "a successor comes")
        was = calls_by_name(t)
        eq(sorted(was), ["beat", "behind"], "it knows what was called")
        ok(t.ask("trace", add=["end", "on", "hold", "storm", "main"])
           ["hookedFunctions"] > 1, "it traces others")
        eq(calls_by_name(t), was, "which take nobody's name")
        t.ask("stop")
        stop(r["pid"])


def what_is_refused_changes_nothing():
    program = stripped(build("watched.c", "-g", "-O1"))
    with Tracer() as t:
        r = t.ask("launch", command=program, args=["-1", "5000"],
                  projectRoot=SOURCES, trace={"add": ["usleep", "nothing"],
                                              "rawRegisters": True})
        eq(t.ask("trace")["hookedFunctions"], 1, "one is traced by registers")
        r2 = t.ask("trace", add=["usleep"])
        eq((r2.get("activePatterns"), r2.get("hookedFunctions")),
           (["usleep", "nothing"], 1),
           "it is when it is asked for without them")
        eq(t.code("trace", add=["nothing", "nowhere"]), "NO_DEBUG_SYMBOLS",
           "what matches nothing is refused")
        r2 = t.ask("trace")
        eq((r2["activePatterns"], r2["hookedFunctions"]),
           (["usleep", "nothing"], 1), "what was there before stays")
        t.ask("stop")
        stop(r["pid"])


def attached_as_it_says():
    """followForks of an attach that failed is not the next one's."""
    p = subprocess.Popen([build("brood.c", "-g", "-O1")])
    try:
        with Tracer("-p", str(p.pid)) as first, \
                Tracer("-p", str(p.pid)) as t:
            first.ask("attach")
            eq(t.code("attach", followForks=True), "FRIDA_ATTACH_FAILED",
               "another one traces it")
            first.ask("stop")
            t.ask("trace", add=["brood", "hatch"])
            t.until(lambda q: q["totalCount"] > 40,
                    function={"equals": "brood"})
            eq(sorted(calls_by_name(t)), ["brood"],
               "children are not followed then")
            t.ask("stop")
    finally:
        p.kill()
        p.wait()


def reader_of(t):
    """The process that reads symbols for it."""
    mine = (t.p.pid, t.pid())
    return next(int(x) for x in os.listdir("/proc") if x.isdigit() and
                (stat_of(int(x)) or ("",) * 3)[2] in mine and
                os.path.basename(os.readlink(f"/proc/{x}/exe")) == "symbols")


def children_meanwhile():
    """Those that are born while a pattern waits get its probes as well."""
    program = build("scions.c", "-g", "-O1")
    with Tracer() as t:
        t.ask("launch", command=program, args=["20"], projectRoot=SOURCES,
              followForks=True, trace={"add": ["main"]})
        reader = reader_of(t)
        os.kill(reader, signal.SIGSTOP)
        n = t.put("trace", {"add": ["inherit"]})
        time.sleep(0.5)
        os.kill(reader, signal.SIGCONT)
        eq(t.answer(n)["ok"]["hookedFunctions"], 2, "it is traced")
        t.over()
        by = t.ask("sql", statement="SELECT thread_id, count(*) FROM events "
                   "WHERE function_name = 'inherit' AND event_type = "
                   "'function_enter' GROUP BY 1")["rows"]
        eq(len(by), 19, "in each of the children")
        c = t.ask("query", eventType="crash")["events"][0]["crash"]
        eq((c.get("function"), c.get("sourceFile")),
           ("fall", os.path.join(os.path.normpath(SOURCES), "scions.c")),
           "and of one that falls it is known where")


def calls_of_each(t):
    return dict(t.ask("sql", statement="SELECT thread_id, count(*) FROM "
                      "events WHERE event_type = 'function_enter' GROUP BY 1")
                ["rows"])


def calls_later(t, was):
    """How many have called since."""
    return sum(n > was.get(tid, 0) for tid, n in calls_of_each(t).items())


def born_while_probes_come_and_go():
    """A child has the code that its parent had when it was born, whatever
    that has been given before anybody heard of it."""
    program = build("litter.c", "-g", "-O1")
    with Tracer() as t, tempfile.TemporaryDirectory() as tmp:
        born = tmp + "/born"
        t.ask("launch", command=program, args=[str(LITTER), born],
              projectRoot=SOURCES, followForks=True,
              trace={"add": ["inherit"]})
        while not os.path.exists(born):
            t.ask("trace", remove=["inherit"])
            t.ask("trace", add=["inherit"])
        was = calls_of_each(t)
        wait_for(lambda: calls_later(t, was) == LITTER, 10, 0.2)
        eq(calls_later(t, was), LITTER, "each child has its probe")
        t.ask("trace", remove=["inherit"])
        time.sleep(0.3)
        was = calls_of_each(t)
        time.sleep(0.3)
        eq(calls_later(t, was), 0, "and none keeps it")
        os.remove(born)
        t.over()


def threads_make_children_meanwhile():
    """Nor has a child a jump to what its parent was given later."""
    program = build("swarm.c", "-g", "-O1", "-pthread")
    with Tracer() as t:
        t.ask("launch", command=program, args=[str(SWARM)],
              projectRoot=SOURCES, followForks=True,
              trace={"add": ["inherit"]})
        # wanted otherwise than the last time it has other stubs
        raw = False
        while "error" not in t.ask("trace", add=["inherit"],
                                   rawRegisters=raw):
            t.ask("trace", remove=["inherit"])
            raw = not raw
        t.over()
        q = t.ask("query", eventType="stdout")["events"]
        eq([e["text"] for e in q], ["bad 0\n"], "all of them end well")


def killed_before_they_run():
    """Whose children end before anybody has heard of them is traced on."""
    program = build("stillborn.c", "-g", "-O1")
    with Tracer() as t:
        t.ask("launch", command=program, args=[str(STILL)],
              projectRoot=SOURCES, followForks=True, trace={"add": ["beat"]})
        t.over()
        eq(calls_by_name(t), {"beat": STILL}, "each of its calls is seen")


def mapped_twice():
    lib = build("plug.c", "-g", "-O1", "-shared", "-fPIC", name="plug2.so")
    p = subprocess.Popen([build("twice.c", "-g", "-O1", "-ldl"), lib],
                         stdout=subprocess.PIPE)
    try:
        eq(p.stdout.readline(), b"ready\n", "a file is below its own library")
        with Tracer("-p", str(p.pid)) as t:
            r = t.ask("trace", add=["plugged"])
            eq((r["hookedFunctions"], r.get("notTraceable")), (1, None),
               "whose functions are traced")
            q = t.until(lambda q: q["totalCount"] > 3, verbose=True)
            ok(("plugged", [20]) in calls(q, ENTER), "as they are called", q)
            t.ask("stop")
        eq(p.poll(), None, "and it runs on")
    finally:
        p.kill()
        p.wait()


def leader_is_gone(pid):
    return wait_for(lambda: (stat_of(pid) or "??")[1] == "Z", SOON)


def without_its_first_thread():
    program = build("leaderless.c", "-g", "-O1")
    with Tracer() as t:
        pid = t.ask("launch", command=program, args=["500"],
                    projectRoot=SOURCES, trace={"add": ["one"]})["pid"]
        ok(leader_is_gone(pid), "its first thread ends")
        r = t.ask("trace", add=["other"])
        eq((r["hookedFunctions"], r.get("notTraceable")), (2, None),
           "patterns can be added then")
        t.until(lambda q: q["totalCount"] > 3, function={"equals": "other"})
        eq(t.ask("trace", remove=["one"])["hookedFunctions"], 1, "or removed")
        eq(t.over()["state"], "ended", "its end is seen")
        ok("code: 3" in t.ask("trace", add=["x"])["error"]["message"],
           "with its code")
    p = subprocess.Popen([program, "500"])
    try:
        ok(leader_is_gone(p.pid), "another one is started")
        with Tracer("-p", str(p.pid)) as t:
            eq(t.ask("attach").get("pid"), p.pid, "which is attached to")
            eq(t.ask("trace", add=["one"])["hookedFunctions"], 1, "traced")
            t.until(lambda q: q["totalCount"] > 3)
            ok(t.ask("stop")["success"], "and let go")
        eq(p.wait(SOON), 3, "it ends by itself")
    finally:
        p.kill()
        p.wait()


def loads_while_others_come():
    """No library is missed by its being loaded while threads are stopped."""
    lib = build("plug.c", "-g", "-O1", "-shared", "-fPIC", name="plug.so")
    program = build("plugs.c", "-g", "-O1", "-ldl")
    with Tracer() as t:
        t.ask("launch", command=program, args=[lib, str(LOADS)],
              projectRoot=SOURCES, trace={"add": ["plugged"]})
        while t.ask("trace", add=["main"]).get("error") is None:
            t.ask("trace", remove=["main"])
        t.over()
        eq(calls_by_name(t).get("plugged"), 3 * LOADS,
           "each time that it is loaded its calls are seen")


run_tests(numbers_with_gaps, what_is_refused_changes_nothing,
          attached_as_it_says, children_meanwhile,
          born_while_probes_come_and_go, threads_make_children_meanwhile,
          killed_before_they_run, mapped_twice, without_its_first_thread,
          loads_while_others_come)
