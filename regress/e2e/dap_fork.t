#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Python's children run into the breakpoints of their parent: they run on, and
# the parent alone stops.
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dbgadapters import WORK, adapters, built, source_line
from dl import eq, ok, run_tests

# how children are made, and what their parent says then
HOWS = {
    "fork": "(8, 0)", "spawn": "(8, 0)", "forkserver": "(8, 0)",
    "pool": "[2, 4, 6]", "exit": "(b'10', 7)",
    "threads": "[(b'10', 7), (b'10', 7), (b'10', 7)]", "subprocess": "42",
}
BREAK = {"file": "forks.py", "line": source_line("forks.py", "the stop")}


def text(s):
    return "".join(o.get("text", "") for o in s["output"]
                   if o["stream"] == "stdout")


def parent_stops(r, s, how):
    eq((s["state"], s.get("reason"),
        [v["value"] for v in s.get("arguments", []) if v["name"] == "n"]),
       ("stopped", "breakpoint", ["10"]), f"{how}: the parent stops")
    ok(HOWS[how] + "\n" in text(s), f"{how}: the children have run on",
       text(s))
    s = r.ask("continue", timeout_s=30)
    eq((s["state"], s["exit"], text(s)), ("exited", {"code": 0},
                                          "parent 20\n"), "and it ends")


def children_run_on(a):
    for how in HOWS:
        with a.rig() as r:
            parent_stops(r, a.start(r, "forks.py", how, breaks=[BREAK],
                                    stop_on_entry=False, timeout_s=40), how)


def children_run_on_after_an_attach(a):
    for how in ("fork", "pool", "threads"):
        wait = os.path.join(WORK, "wait")
        open(wait, "w").close()
        p = subprocess.Popen(
            ["/usr/bin/python3", "forks.py", how, wait], cwd=WORK,
            stdout=subprocess.PIPE, text=True)
        try:
            p.stdout.readline()
            with a.rig() as r:
                r.ask("attach", pid=p.pid, adapter=a.name)
                b = r.ask("breakpoint_add", cwd=WORK, **BREAK)["breakpoint"]
                os.unlink(wait)
                s = r.ask("await", timeout_s=40)
                eq((s["state"], s.get("breakpoints")), ("stopped", [b["id"]]),
                   f"{how}: the parent that was attached to stops")
                eq(p.stdout.readline(), HOWS[how] + "\n",
                   "its children have run on")
                r.ask("breakpoint_remove", all=True)
                r.ask("detach")
            eq((p.stdout.readline(), p.wait(30)), ("parent 20\n", 0),
               "and it ends by itself")
        finally:
            p.kill()
            p.wait()


built("forks.py")
HERE = [a for a in adapters() if a.kind == "python"]


def launched():
    for a in HERE:
        children_run_on(a)


def attached():
    for a in HERE:
        children_run_on_after_an_attach(a)


run_tests(launched, attached)
