#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# The breakpoint that stops the program is told right over every adapter, in
# whatever order it answers a list of them.
import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dbgadapters import WORK, adapters, built, source_line
from dl import eq, ok, run_tests
from dbgeditor import Editor

PROGRAMS = {
    "native": ("./places", "places.c", "cc", "-g", "-O0", "-o", "places",
               "places.c"),
    "go": ("./goplaces", "places.go", "go", "build", "-gcflags=all=-N -l",
           "-o", "goplaces", "places.go"),
    "python": ("places.py", "places.py"),
}
NAMES = ("a1", "b2", "c3", "d4", "e5")
# lldb-dap 19 answers each of them as d4, a1, b2, c3
ORDERS = (("a1", "b2", "c3", "d4"), ("e5", "a1", "d4", "b2", "c3"))


def mark(name):
    return f"/* in {name} */", f"// in {name}", f"# in {name}"


class Debugged:
    """An adapter, and the program that it debugs."""

    def __init__(self, adapter):
        self.adapter = adapter
        self.name = adapter.name
        self.program, self.source = PROGRAMS[adapter.kind][:2]
        self.file = os.path.join(WORK, self.source)
        self.prefix = "main." if adapter.kind == "go" else ""

    def start(self, r, **kw):
        return self.adapter.start(r, self.program, **kw)

    def function(self, name):
        return self.prefix + name

    def line(self, name):
        with open(self.file) as f:
            for n, text in enumerate(f, 1):
                if any(m in text for m in mark(name)):
                    return n
        raise KeyError(name)


def stops(r, s, names):
    """The stops from s on: the name of each one's breakpoint, and i."""
    out = []
    while s["state"] == "stopped":
        i = r.ask("print", expression="i")["value"]
        out.append(("+".join(names[n] for n in s["breakpoints"]), int(i)))
        s = r.ask("continue")
    return out, s


def where(s, a):
    return s["frame"]["function"].removeprefix(a.prefix).split("(")[0]


# --- functions ------------------------------------------------------------
def presets_keep_their_names(a):
    for order in ORDERS:
        with a.adapter.rig() as r:
            s = a.start(r, stop_on_entry=False,
                        breaks=[{"function": a.function(n)} for n in order])
            names = {b["id"]: b["function"].removeprefix(a.prefix) for b in
                     r.ask("breakpoint_list")["breakpoints"]}
            eq(list(names.values()), list(order),
               f"{a.name}: {order} are set")
            told = [(where(s, a), [names[n] for n in s["breakpoints"]])]
            for _ in order[1:]:
                s = r.ask("continue")
                told.append((where(s, a),
                             [names[n] for n in s["breakpoints"]]))
            eq(told, [(n, [n]) for n in sorted(order)],
               f"{a.name}: each stop names the function that it is in")


def terms_stay_with_their_function(a):
    terms = (("d4", {"hit_count": 3}), ("c3", {"condition": "i==4"}),
             ("b2", {"log": "b2={i}"}), ("a1", {"condition": "i==2"}))
    for order in itertools.islice(itertools.permutations(terms), 0, 24, 11):
        with a.adapter.rig() as r:
            a.start(r)
            names = {}
            for n, kw in order:
                b = r.ask("breakpoint_add", function=a.function(n), **kw)
                names[b["breakpoint"]["id"]] = n
            log = []
            got = []
            s = r.ask("continue")
            while s["state"] == "stopped":
                i = r.ask("print", expression="i")["value"]
                got.append(("+".join(names[n] for n in s["breakpoints"]),
                            int(i)))
                log += [x["text"] for x in s["output"]
                        if x["stream"] == "log"]
                s = r.ask("continue")
            log += [x["text"] for x in s["output"] if x["stream"] == "log"]
            order = [n for n, _ in order]
            eq(got, [("a1", 2), ("d4", 2), ("d4", 3), ("c3", 4), ("d4", 4),
                     ("d4", 5)], f"{a.name}: stops of {order}")
            eq("".join(log).split(), [f"b2={i}" for i in range(6)],
               f"{a.name}: log of {order}")


def changes_keep_the_names(a):
    with a.adapter.rig() as r:
        a.start(r)
        ids = {n: r.ask("breakpoint_add", function=a.function(n))
               ["breakpoint"]["id"] for n in ("e5", "c3", "a1", "d4")}
        r.ask("breakpoint_disable", all=True)
        r.ask("breakpoint_remove", id=ids.pop("c3"))
        ids["b2"] = r.ask("breakpoint_add", function=a.function("b2"))[
            "breakpoint"]["id"]
        r.ask("breakpoint_enable", all=True)
        names = {i: n for n, i in ids.items()}
        s = r.ask("continue")
        for when in ("removed and enabled", "sent to a new run"):
            told = []
            while len(told) < 4:
                if s["breakpoints"]:
                    told.append((where(s, a), [names[n]
                                               for n in s["breakpoints"]]))
                s = r.ask("continue")
            eq(told, [(n, [n]) for n in sorted(ids)],
               f"{a.name}: after some were {when}")
            s = r.ask("restart")


# --- lines ----------------------------------------------------------------
def lines_keep_their_names(a):
    for order in ORDERS:
        with a.adapter.rig() as r:
            s = a.start(r, stop_on_entry=False, breaks=[
                {"file": a.file, "line": a.line(n),
                 **({"condition": "i > 3"} if n == "b2" else {})}
                for n in order])
            names = dict(zip((b["id"] for b in r.ask("breakpoint_list")
                              ["breakpoints"]), order))
            got, s = stops(r, s, names)
            eq(got, [(n, i) for i in range(6) for n in sorted(order)
                     if n != "b2" or i > 3],
               f"{a.name}: lines in the order {order}")


# --- an editor ------------------------------------------------------------
def editors_get_their_own_order(a):
    for order in ORDERS:
        with a.adapter.rig() as r:
            a.start(r)
            e = Editor(r)
            e.join()
            there = e.ask("setFunctionBreakpoints", breakpoints=[
                {"name": a.function(n)} for n in order])["breakpoints"]
            eq([b["verified"] for b in there], [True] * len(order),
               f"{a.name}: an editor's functions are there")
            names = {b["id"]: n for b, n in zip(there, order)}
            e.ask("configurationDone")
            stop = e.event("stopped")
            told = []
            for _ in order:
                e.ask("continue", threadId=stop["threadId"])
                stop = e.event("stopped")
                frame = e.ask("stackTrace", threadId=stop["threadId"])[
                    "stackFrames"][0]
                told.append((where({"frame": {"function": frame["name"]}}, a),
                             [names[i] for i in stop["hitBreakpointIds"]]))
            eq(told, [(n, [n]) for n in sorted(order)],
               f"{a.name}: the editor's ids of {order} are right")


def unmet_functions_have_no_line(a):
    with a.adapter.rig() as r:
        a.start(r)
        e = Editor(r)
        e.join()
        b = e.ask("setFunctionBreakpoints", breakpoints=[
            {"name": "no_such_function"}, {"name": a.function("b2")}])[
                "breakpoints"]
        # debugpy takes any name
        eq([x["verified"] for x in b], [a.adapter.kind == "python", True],
           f"{a.name}: the one that is not there is the first")
        ok("line" not in b[0], f"{a.name}: and has no line", b)


def every_adapter():
    there = [Debugged(a) for a in adapters()]
    for kind in {a.adapter.kind for a in there}:
        built(*PROGRAMS[kind][1:])
    for a in there:
        presets_keep_their_names(a)
        terms_stay_with_their_function(a)
        changes_keep_the_names(a)
        lines_keep_their_names(a)
        editors_get_their_own_order(a)
        unmet_functions_have_no_line(a)


run_tests(every_adapter)
