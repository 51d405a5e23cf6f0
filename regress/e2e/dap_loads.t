#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Breakpoints in libraries that the program loads, unloads and
# loads again, over lldb-dap 19 and 22, and gdb where it is an adapter.
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dbgadapters import WORK, adapters, built, source_line
from dl import eq, run_tests

C, CC = "./loadedc.so", "./loadedcc.so"
PLAIN = "./loadedplain.so"  # loaded.c at -O0
FUNCTIONS = ("work", "few", "many")


def calls(loads, which=FUNCTIONS):
    """What the program calls, with which n: one load after the other."""
    out = []
    for n in loads:
        out.append(("work", n))
        for i in (2 * n, 2 * n + 1):
            out += [("few", i), ("many", i)]
    return [c for c in out if c[0] in which]


def alone(*args):
    """What it says without a debugger."""
    return subprocess.run(["./loads", *args], cwd=WORK, capture_output=True,
                          text=True, check=True).stdout


def pending(functions, **more):
    return [{"function": f, "pending": True, **more} for f in functions]


def function(s):
    return s["frame"]["function"].split("(")[0].lstrip(":")


def number(s):
    return int(next(v["value"] for v in s["arguments"] if v["name"] == "n"))


def written(s, stream="stdout"):
    return "".join(o["text"] for o in s.get("output", ())
                   if o["stream"] == stream).replace("\r", "")


def begin(a, r, breaks, *args, **kw):
    kw.setdefault("stop_on_entry", False)
    return a.start(r, "./loads", *args, breaks=breaks, **kw)


def to_end(r, s, at_stop=None):
    """Each stop, as (function, n), the stop of the end, and the output."""
    got, out = [], written(s)
    while s["state"] == "stopped" and len(got) < 60:
        eq(s["reason"], "breakpoint", f"why it stops: {s['words']}")
        got.append((function(s), number(s)))
        if at_stop is not None:
            at_stop(got)
        s = r.ask("continue")
        out += written(s)
    return got, s, out


def ended(s, out, *args):
    eq((s["state"], s.get("exit"), out),
       ("exited", {"code": 0}, alone(*args)), "its end is as without")


def hits(r):
    return {b["function"]: b["hits"]
            for b in r.ask("breakpoint_list")["breakpoints"]}


def at(mark):
    return {"file": "loads.c", "line": source_line("loads.c", mark)}


# --- stops ---------------------------------------------------------------
def loaded_again(a):
    """Each call stops once, where the function begins, at each load."""
    for lib in (CC, C):
        for first in range(len(FUNCTIONS)):
            order = FUNCTIONS[first:] + FUNCTIONS[:first]
            with a.rig() as r:
                s = begin(a, r, pending(order), "3", lib)
                want = calls((1, 2, 3))
                counted = []

                def count_last(got, r=r, want=want, counted=counted):
                    if len(got) == len(want):
                        counted.append(hits(r))

                got, s, out = to_end(r, s, count_last)
                eq(got, want, f"{lib}: each call once")
                eq(counted, [{"work": 3, "few": 6, "many": 6}],
                   "all are counted")
                ended(s, out, "3", lib)


def line(s):
    return s["frame"]["line"]


def on_lines(src, marks, **more):
    return [{"file": src, "line": source_line(src, m), "pending": True, **more}
            for m in marks]


def lines_loaded_again(a):
    """Lines of a library have their stops at each load, and keep their
    conditions and counts."""
    src, end = "loaded.c", source_line("loaded.c", "sum += text[n % 2]")
    with a.rig() as r:
        s = begin(a, r, on_lines(src, ["sum += text[n % 2]", "if (sum > 10"]),
                  "3", PLAIN)
        got, out = [], written(s)
        while s["state"] == "stopped" and len(got) < 20:
            got.append((function(s), line(s)))
            s = r.ask("continue")
            out += written(s)
        work = ("work", source_line(src, "if (sum > 10"))
        eq(got, [("few", end), ("few", end), work] * 3,
           "each passes its line once")
        eq([b["hits"] for b in r.ask("breakpoint_list")["breakpoints"]],
           [6, 3], "all are counted")
        ended(s, out, "3", PLAIN)
    with a.rig() as r:
        s = begin(a, r, on_lines(src, ["sum += text[n % 2]"],
                                 condition="n % 2 == 1") +
                  on_lines(src, ["if (sum > 10"], hit_count=3), "4", PLAIN)
        got = []
        while s["state"] == "stopped" and len(got) < 20:
            got.append((function(s), number(s)))
            s = r.ask("continue")
        eq(got, [("few", 3), ("few", 5), ("few", 7), ("work", 3), ("few", 9),
                 ("work", 4)], "only these")


def lines_beside_others(a):
    """A function of the same library, a line of the program, and a line that
    is set while the library is there."""
    with a.rig() as r:
        s = begin(a, r, [at("the call"), *pending(["many"])], "3", PLAIN)
        r.ask("breakpoint_add", **on_lines("loaded.c", ["if (sum > 10"])[0])
        got = []
        s = r.ask("continue")
        while s["state"] == "stopped" and len(got) < 20:
            got.append(function(s))
            s = r.ask("continue")
        eq(got, ["many", "many", "work"] + ["use", "many", "many", "work"] * 2,
           "each has its stops")


def two_libraries(a):
    """The second one with the same functions has its stops, too."""
    for keep in ([], ["keep"]):
        with a.rig() as r:
            args = ["2", *keep, CC, C]
            s = begin(a, r, pending(FUNCTIONS), *args)
            got, s, out = to_end(r, s)
            eq(got, calls((1, 1, 2, 2)), f"{args}: each call once")
            ended(s, out, *args)


def terms(a):
    """Conditions, counts and log points hold over loads."""
    with a.rig() as r:
        s = begin(a, r, pending(["few"], condition="n % 2 == 1") +
                  pending(["many"], hit_count=3) +
                  pending(["work"], log="at {n}"), "3", CC)
        got, logged = [], written(s, "log")
        while s["state"] == "stopped":
            got.append((function(s), number(s)))
            s = r.ask("continue")
            logged += written(s, "log")
        eq(got, [("few", 3), ("many", 4), ("few", 5), ("many", 5), ("many", 6),
                 ("few", 7), ("many", 7)], "only these")
        eq(logged, "at 1\nat 2\nat 3\n", "what the log point says")


def switched(a):
    """Disabled, enabled, removed and added while the library is there, and
    while it is not."""
    with a.rig() as r:
        s = begin(a, r, [at("the use"), *pending(["few"])], "5", CC)
        few = r.ask("breakpoint_list")["breakpoints"][1]["id"]

        def one_use(s):
            got = []
            s = r.ask("continue")
            while s["state"] == "stopped" and function(s) != "main":
                got.append((function(s), number(s)))
                s = r.ask("continue")
            return got, s

        got, s = one_use(s)
        eq(got, calls((1,), ["few"]), "it waits for the first load")
        r.ask("breakpoint_disable", id=few)
        got, s = one_use(s)
        eq(got, [], "disabled")
        r.ask("breakpoint_enable", id=few)
        s = r.ask("continue")
        eq((function(s), number(s)), ("few", 6), "enabled")
        r.ask("breakpoint_add", function="many")
        r.ask("breakpoint_disable", id=few)
        got, s = one_use(s)
        eq(got, [("many", 6), ("many", 7)], "one that came later")
        r.ask("breakpoint_enable", id=few)
        got, s = one_use(s)
        eq(got, calls((4,), ["few", "many"]), "both at the next load")


def added_when_loaded(a):
    """One that did not wait when it was set waits after the unload."""
    with a.rig() as r:
        s = begin(a, r, [at("the call")], "4", CC)
        r.ask("breakpoint_add", function="few")
        r.ask("breakpoint_remove",
              id=r.ask("breakpoint_list")["breakpoints"][0]["id"])
        got, s, out = to_end(r, r.ask("continue"))
        eq(got[:2], calls((1,), ["few"]), "set in the loaded library")
        # it may run through a load before that is known
        eq(got[-4:], calls((3, 4), ["few"]), "and in later loads")


# --- steps ---------------------------------------------------------------
def steps(a):
    """They go over a load and an unload, and end where they should."""
    with a.rig() as r:
        s = begin(a, r, [at("the load"), *pending(["few"])], "2", CC)
        s = r.ask("next")
        eq((function(s), s["reason"], s["frame"]["line"]),
           ("use", "step", source_line("loads.c", "lib == NULL")),
           "next over a load")
        s = r.ask("continue")
        eq((function(s), number(s)), ("few", 2), "its stops are there")
        r.ask("breakpoint_disable",
              id=r.ask("breakpoint_list")["breakpoints"][1]["id"])
        s = r.ask("continue")
        eq(function(s), "use", "the second load")
        s = r.ask("next", count=3)
        eq((function(s), s["frame"]["line"]),
           ("use", source_line("loads.c", "the call")), "several at once")
    with a.rig() as r:
        s = begin(a, r, [at("the load"), *pending(["nowhere"])], "2", CC)
        s = r.ask("finish")
        eq((function(s), s["reason"]), ("main", "step"),
           "finish over a load and an unload")
        s = r.ask("continue")
        s = r.ask("until", **at("return r"))
        eq((function(s), s["reason"]), ("use", "until"), "until")
        eq(r.ask("continue").get("exit"), {"code": 0}, "its end")


def expressions(a):
    """A program that stands can be made to load the library."""
    with a.rig() as r:
        s = begin(a, r, [at("the load"), *pending(["few"])], "1", CC)
        r.ask("eval", expression='(long)dlopen("./loadedcc.so", 2) != 0')
        got, s, out = to_end(r, r.ask("continue"))
        eq(got, calls((1,), ["few"]), "and stops there")
        ended(s, out, "1", CC)


# --- programs ------------------------------------------------------------
def restarted(a):
    with a.rig() as r:
        s = begin(a, r, pending(FUNCTIONS), "2", CC)
        eq((function(s), number(s)), ("work", 1), "the first call")
        got, s, out = to_end(r, r.ask("restart"))
        eq(got, calls((1, 2)), "all of them anew")
        ended(s, out, "2", CC)


def attached(a):
    with a.rig() as r:
        p = subprocess.Popen(["./waits", "2", WORK + CC[1:]], cwd=WORK,
                             stdout=subprocess.PIPE, stdin=subprocess.PIPE)
        try:
            p.stdout.readline()
            r.ask("attach", pid=p.pid, stop_on_entry=True, cwd=WORK,
                  **({"adapter": a.adapter} if a.adapter else {}))
            for b in pending(FUNCTIONS):
                r.ask("breakpoint_add", **b)
            n = r.send("continue")
            p.stdin.write(b"\n")
            p.stdin.flush()
            got, s, _ = to_end(r, r.answer(n))
            eq(got, calls((1, 2)), "each call once")
            eq((p.wait(60), p.stdout.read().decode()),
               (0, alone("2", CC)), "its end is as without")
        finally:
            p.kill()
            p.wait()


def paused(a):
    """A pause while libraries come and go stays, wherever it comes."""
    with a.rig() as r:
        begin(a, r, pending(["nowhere"]), "100000", C, wait=False)
        for n in range(6):
            s = r.ask("pause")
            eq((s["state"], s["reason"]), ("stopped", "pause"), "paused")
            if n < 5:
                eq(r.ask("continue", wait=False)["state"], "running", "on")
        r.ask("breakpoint_add", function="few", pending=True)
        s = r.ask("continue")
        eq(function(s), "few", "a breakpoint that comes then")


def build():
    built("loads.c", "cc", "-g", "-O0", "-o", "loads", "loads.c")
    built("loads.c", "cc", "-g", "-O0", "-DWAITS", "-o", "waits", "loads.c")
    built("loaded.c", "cc", "-g", "-O2", "-shared", "-fPIC", "-o",
          "loadedc.so", "loaded.c")
    built("loaded.c", "cc", "-g", "-O0", "-shared", "-fPIC", "-o",
          "loadedplain.so", "loaded.c")
    built("loaded.cc", "g++", "-g", "-O2", "-shared", "-fPIC", "-o",
          "loadedcc.so", "loaded.cc")


def every():
    """One test per adapter for programs of machine code."""
    out = []
    for fn in (loaded_again, lines_loaded_again, lines_beside_others,
               two_libraries, terms, switched,
               added_when_loaded, steps, expressions, restarted, attached,
               paused):
        for a in adapters():
            if a.kind != "native":
                continue

            def test(fn=fn, a=a):
                fn(a)
            test.__name__ = f"{fn.__name__}_{a.name.replace('-', '_')}"
            out.append(test)
    return out


build()
run_tests(*every())
