#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Breakpoints, watchpoints, catchpoints and looking at a stop, over the
# adapters that this machine has: lldb-dap 19 and 22, gdb, delve, debugpy.
import os
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dbgadapters import WORK, adapters, built, source_line
from dbgrig import Failed
from dl import eq, has_watchpoints, ok, run_tests

FILES = {"native": "look.c", "go": "look.go", "python": "look.py"}
BINARIES = {"native": "./look", "go": "./golook", "python": "look.py"}
# the array and the structure of each program, and a local of add()
NAMES = {"native": ("o.numbers", "o.in", "sum"),
         "go": ("numbers", "in", "sum"),
         "python": ("numbers", "o", "total")}


def line(a, mark):
    return source_line(FILES[a.kind], mark)


def begin(r, a, mark="the loop", *args, **kw):
    """Started and stopped at the line that is marked so."""
    kw.setdefault("breaks", [{"file": FILES[a.kind], "line": line(a, mark)}])
    s = a.start(r, BINARIES[a.kind], *args, **kw)
    eq(s["state"], "stopped", f"{a.name}: stopped")
    return s


def values(variables):
    return {v["name"]: v["value"] for v in variables}


def text(s, stream="stdout"):
    return "".join(o.get("text", "") for o in s["output"]
                   if o["stream"] == stream)


# --- the summary of a stop ------------------------------------------------
def summary(a):
    with a.rig() as r:
        s = begin(r, a)
        eq((s["reason"], s["frame"]["line"], s["breakpoints"]),
           ("breakpoint", line(a, "the loop"), [1]), "where and why")
        src = s["source"]
        ok("the loop" in src["lines"][src["current"] - src["first"]],
           "the line itself", src)
        eq(values(s["locals"])["total"], "0", "its locals")
        n = r.ask("step")
        ok("add" in n["frame"]["function"], "step enters add", n["words"])
        got = values(n["arguments"])
        eq((got.get("a"), got.get("b")), ("0", "0"), "arguments apart")
        ok("sum" not in got and "a" not in values(n["locals"]),
           "from the other variables", n)
        for _ in range(12):
            n = r.ask("next")
            if "main" in n["frame"]["function"] and n["changed"]:
                break
        ok("main" in n["frame"]["function"], "next comes back", n["words"])
        r.ask("continue")
        s = r.ask("continue")
        changed = {c["name"]: (c["old"], c["new"]) for c in s["changed"]}
        was, now = changed.get("i", ("0", "0"))
        eq(int(now), int(was) + 1, "what changed since it was shown")


def commands(a):
    """Each of them does it, or says that this adapter cannot."""
    array, struct, _ = NAMES[a.kind]
    cannot = {"go": {"memory_read", "watch_add", "catch_add"},
              "python": {"memory_read", "watch_add", "registers",
                         "disassemble", "raw"},
              "native": {"watch_add"} if a.name == "gdb" else set()}[a.kind]
    rows = [("locals", {}), ("args", {}), ("backtrace", {}),
            ("backtrace", {"locals": True, "limit": 2}), ("frame", {}),
            ("up", {}), ("down", {}), ("threads", {}), ("thread", {}),
            ("source", {}), ("source", {"file": FILES[a.kind], "line": 3,
                                        "cwd": WORK}),
            ("context", {"lines": 1}), ("print", {"expression": "total"}),
            ("print", {"expression": struct}),
            ("print", {"expression": array, "offset": 250}),
            ("print", {"expression": "i", "format": "binary"}),
            ("eval", {"expression": "total + 1"}),
            ("set", {"target": "total", "value": "30"}),
            ("memory_read", {"address": "&total", "count": 4}),
            ("registers", {}), ("disassemble", {"count": 4}),
            ("watch_add", {"expression": "total"}),
            ("catch_add", {"kind": "throw"}),
            ("watch_list", {}), ("catch_list", {}),
            ("breakpoint_list", {})]
    with a.rig() as r:
        begin(r, a)
        if len(r.ask("backtrace")["frames"]) == 1:
            # gdb shows nothing beyond main
            rows = [x for x in rows if x[0] not in ("up", "down")]
        for command, args in rows:
            n = r.send(command, **args)
            r.until(lambda: n in r.answers, command)
            got = r.answers[n]
            if command in cannot:
                eq(got.get("error", {}).get("code"), "unsupported",
                   f"{a.name} cannot {command}")
                ok(a.profile in got["error"]["message"],
                   "and is named", got)
            else:
                ok(got["success"], f"{a.name}: {command} {args}", got)
        eq(r.ask("print", expression="total")["value"], "30", "it was set")
        eq(r.ask("set", target="total", value="0")["old"], "30", "old value")


def expressions(a):
    array, struct, _ = NAMES[a.kind]
    with a.rig() as r:
        begin(r, a)
        for _ in range(4):
            r.ask("continue")
        p = r.ask("print", expression="total", format="hex")
        eq(p["value"], "0x6", "hex")
        eq(r.ask("print", expression="total", format="binary")["value"],
           "0b00000110", "binary")
        p = r.ask("print", expression=array)
        eq(p["children"], 300, "how many")
        eq([f["value"] for f in p["fields"][:4]], ["0", "1", "3", "6"],
           "elements")
        cut = [c for c in p["truncated"] if c["what"] == "fields"][0]
        rest = r.ask("print", path=cut["path"], offset=cut["offset"])
        ok(rest["fields"], "the rest is to be had", rest)
        ok(str(cut["offset"]) in rest["fields"][0]["name"],
           "from there on", rest["fields"][0])
        p = r.ask("print", expression=struct)
        ok("hello" in str(p), "inside of a structure", p)
        e = r.refused("print", expression="nothing_of_this_name")
        eq(e["code"], "evaluate_failed", "no such variable")
        ok("nothing_of_this_name" in e["message"], "is named", e)


def outer_frames(a):
    """What is set in a frame that is not the innermost is set, or refused."""
    with a.rig() as r:
        begin(r, a, "in add")
        r.ask("up")
        n = r.send("set", target="total", value="30")
        r.until(lambda: n in r.answers, "set")
        got = r.answers[n]
        if a.kind == "native":
            eq(r.ask("print", expression="total")["value"], "30", "set")
        else:
            ok(got.get("error", {}).get("code") == "unsupported" and
               "innermost" in got["error"]["message"],
               f"{a.name} cannot, and says so", got)
            eq(r.ask("print", expression="total")["value"], "0", "nor did it")
        eq(r.ask("context")["frame"]["index"], 1, "and still in that frame")


def breakpoints(a):
    in_add = line(a, "in add")
    with a.rig() as r:
        begin(r, a)
        r.ask("breakpoint_remove", all=True)
        one = r.ask("breakpoint_add", file=FILES[a.kind], line=in_add,
                    cwd=WORK, condition="b == 3")["breakpoint"]
        ok(one["verified"] and not one["moved"], "verified", one)
        s = r.ask("continue")
        eq((s["breakpoints"], values(s["arguments"])["b"]),
           ([one["id"]], "3"), "where its condition holds")
        # several at one place, each with a will of its own
        two = r.ask("breakpoint_add", file=FILES[a.kind], line=in_add,
                    cwd=WORK, condition="b == 5")["breakpoint"]["id"]
        log = r.ask("breakpoint_add", file=FILES[a.kind], line=in_add,
                    cwd=WORK, log="b is {b}")["breakpoint"]["id"]
        s = r.ask("continue")
        eq(s["breakpoints"], [two], "the second condition")
        eq(text(s, "log"), "b is 4\nb is 5\n", "and a log point beside it")
        r.ask("breakpoint_disable", id=two)
        r.ask("breakpoint_remove", id=log)
        r.ask("breakpoint_remove", id=one["id"])
        hit = r.ask("breakpoint_add", file=FILES[a.kind], line=in_add,
                    cwd=WORK, hit_count=2)["breakpoint"]["id"]
        s = r.ask("continue")
        eq((s["breakpoints"], values(s["arguments"])["b"]), ([hit], "7"),
           "the second hit")
        r.ask("breakpoint_remove", all=True)
        far = r.ask("breakpoint_add", file="/build/of/others/"
                    + FILES[a.kind], line=in_add,
                    cwd=WORK)["breakpoint"]
        ok(far["verified"], "found by the end of its path", far)
        s = r.ask("continue")
        eq(s["breakpoints"], [far["id"]], "and hit")


def bad_places(a):
    with a.rig() as r:
        begin(r, a)
        n = r.send("breakpoint_add", file=FILES[a.kind], line=9999, cwd=WORK)
        r.until(lambda: n in r.answers, "an answer")
        got = r.answers[n]
        words = got["result"]["words"] if got["success"] else \
            got["error"]["message"]
        ok("MOVED" in words or "NOT set" in words or "no breakpoint" in words,
           f"{a.name} says loudly what became of line 9999", words)
    with a.rig() as r:
        e = {}
        try:
            a.start(r, BINARIES[a.kind],
                    breaks=[{"function": "no_function_of_this_name"}])
        except Exception as x:
            e = x.error
        if a.kind == "python":
            ok(not e or e["code"] == "not_verified", "functions come late")
        else:
            eq(e.get("code"), "not_verified", "a bad --break ends the start")
            ok("no_function_of_this_name" in e["message"] and
               "nothing was started" in e["message"], "and is named", e)


# --- one kind of adapter --------------------------------------------------
def crashes(a):
    for how, signal in (("segv", "SIGSEGV"), ("abort", "SIGABRT")):
        with a.rig() as r:
            s = a.start(r, "./look", how, stop_on_entry=False)
            eq((s["reason"], s["frame"]["function"]), ("signal", "main"),
               f"{how}: shown where the program is")
            mark = "the crash" if how == "segv" else "the abort"
            eq(s["frame"]["line"], source_line("look.c", mark), "its line")
            ok(signal in s["words"] and signal in
               s["exception"]["description"], "which signal", s["words"])
            eq(text(s), "total 45\n", "and what it wrote before")
            s = r.ask("continue")
            eq((s["state"], s["exit"]), ("exited", {"signal": signal}),
               "it ends by that signal, which is no exit code")


def watchpoints(a):
    if a.name == "gdb":
        return
    with a.rig() as r:
        begin(r, a)
        r.ask("breakpoint_remove", all=True)
        w = r.ask("watch_add", expression="total")["watchpoint"]
        c = r.ask("watch_add", expression="counter",
                  condition="counter > 8")["watchpoint"]
        r.ask("watch_add", expression="o.numbers[100]")
        r.ask("watch_add", expression="o.numbers[101]")
        e = r.refused("watch_add", expression="o.numbers[102]")
        ok(e["code"] == "refused" and "4 places" in e["message"], "a fifth",
           e)
        e = r.refused("watch_add", expression="o")
        ok("bytes" in e["message"], "too large", e)
        eq(r.refused("watch_add", expression="total + 1")["code"],
           "evaluate_failed", "no place at all")
        if not has_watchpoints():
            eq(len(r.ask("watch_remove", all=True)["removed"]), 4, "removed")
            return
        s = r.ask("continue")
        eq((s["reason"], s["watchpoints"]), ("watchpoint", [w["id"]]),
           "total is written")
        ok({"name": "total", "old": "0", "new": "1"} in s["changed"],
           "old and new", s["changed"])
        for _ in range(9):
            s = r.ask("continue")
            if c["id"] in s["watchpoints"]:
                break
        ok(int(r.ask("print", expression="counter")["value"]) > 8,
           "a condition", s)
        eq(len(r.ask("watch_remove", all=True)["removed"]), 4, "removed")
        s = r.ask("continue")
        eq(s.get("exit"), {"code": 7}, "nothing stops it now")


def threads(a):
    with a.rig() as r:
        begin(r, a, "beside a worker", "threads")
        t = r.ask("threads")["threads"]
        eq(len(t), 2, "two threads")
        other = [x for x in t if not x["selected"]][0]
        bt = r.ask("backtrace", thread=other["id"], limit=50)
        ok(any(f["function"] == "worker" for f in bt["frames"]),
           "the other one's stack", bt)
        ok("in_threads" in r.ask("context")["words"], "nothing has moved")
        s = r.ask("thread", id=other["id"])
        eq(s["thread"]["id"], other["id"], "now it has")
        eq(r.ask("context")["thread"]["id"], other["id"], "for all")
        none = max(x["id"] for x in t) + 1000
        eq(r.refused("thread", id=none)["code"] in
           ("no_such", "adapter_failed", "refused"), True, "no such thread")


def deep_stacks(a):
    with a.rig() as r:
        begin(r, a, "at the bottom", "deep")
        bt = r.ask("backtrace")
        eq(len(bt["frames"]), 20, "twenty frames")
        ok(bt["truncated"], "and that there are more", bt.get("truncated"))
        bt = r.ask("backtrace", limit=100, max=65536)
        ok([f["function"] for f in bt["frames"]].count("down") == 61,
           "all of them")
        eq(r.ask("print", expression="n", frame=59)["value"], "59",
           "a frame far up")
        eq(r.ask("frame", index=60)["frame"]["index"], 60, "to be gone to")


def memory(a):
    with a.rig() as r:
        begin(r, a)
        eq(r.ask("memory_write", address="&counter", hex="0a000000")["count"],
           4, "written")
        eq(r.ask("print", expression="counter")["value"], "10", "seen")
        m = r.ask("memory_read", address="&counter", count=4)
        eq(m["hex"], "0a000000", "read back")
        m = r.ask("memory_read", address="&o", count=2000, max=262144)
        eq(m["count"], 2000, "much of it")
        eq(r.refused("memory_read", address="0x10")["code"],
           "evaluate_failed", "not mapped")
        regs = r.ask("registers", names=["rip", "rsp"])["registers"]
        eq(sorted(x["name"] for x in regs), ["rip", "rsp"], "registers")
        d = r.ask("disassemble", source=True)["instructions"]
        ok(sum(1 for i in d if i.get("current")) == 1, "where it stands")
        ok(any("source" in i for i in d), "with the source")


def hidden_names(a):
    """A path leads to the variable that it stands beside, or is not there."""
    source = {"native": "hides.c", "go": "hides.go"}[a.kind]
    at = {"file": source, "line": source_line(source, "here")}
    with a.rig() as r:
        s = a.start(r, {"native": "./hides", "go": "./gohides"}[a.kind],
                    breaks=[at])
        eq([[re.findall(r"\d+", v["value"]) for v in s[what]
             if re.search(r"\b[xq]\b", v["name"])]
            for what in ("arguments", "locals")],
           [[["7"], ["8", "9"]], [["2"], ["3", "4"], ["5"]]]
           if a.name != "gdb" else
           [[["7"], ["8", "9"]], [["5"], ["2"], ["3", "4"]]],
           "arguments and locals of one name")
        paths = 0
        for v in s["arguments"] + s["locals"]:
            if "path" in v:
                paths += 1
                p = r.ask("print", path=v["path"])
                eq(p["value"], v["value"], f"the path of {v['name']}")
        ok(a.name == "gdb" or paths == 1, "the visible pair has one", s)


def split_functions(a):
    """lldb 19 loses the callers of functions that gcc has split, and it is
    said; where nothing is lost there is no such word."""
    with a.rig() as r:
        s = a.start(r, "./split", breaks=[{"function": "leaf"}])
        for caller in ("whole", "split", "split"):
            b = r.ask("backtrace")
            names = [f["function"].split("(")[0] for f in b["frames"]]
            eq(names[0], "leaf", "stopped")
            if a.name == "lldb-19" and caller == "split":
                ok("main" not in names, "frames are lost", names)
                for answer in (s, b):
                    ok(("misreads split" if len(names) > 1 else
                        "found no caller of leaf") in
                       answer.get("warning", ""), "which is said", answer)
            else:
                eq(names[:3], ["leaf", caller, "main"], "the stack")
                ok("warning" not in s and "warning" not in b,
                   "of which all is well", [s, b])
            s = r.ask("continue")


KEPT = {"split": {"kept": "7", "many": "{7, 8, 9, 10}"},
        "between": {"own": "{42, 4}"}}


def told(r):
    """What the commands that look at the present frame have for values,
    and whether they warn."""
    out = []
    for command in ("context", "locals", "args", "backtrace"):
        got = r.ask(command, **({"frame": 0} if command == "context" else {}))
        out.append((command, values(got.get("locals", [])), got))
    for name in list(out[1][1]):
        try:
            got = r.ask("print", expression=name)
        except Failed:
            # an address that is none is no wrong value
            continue
        seen = {} if "fields" in got else {name: got["value"]}
        out.append(("print " + name, seen, got))
    return out


def misread_functions(a, binary="./misread"):
    """A value in a function that lldb 19 misreads comes with a warning, and
    no other does."""
    breaks = [{"file": "misread.cc", "line": source_line("misread.cc", mark)}
              for mark in ("/* split */", "/* between */")]
    bad = a.name == "lldb-19" and binary == "./misread"
    wrong = warned = 0
    with a.rig() as r:
        s = a.start(r, binary, breaks=breaks, stop_on_entry=False)
        for mark in ("split", "between") * 2:
            eq(s["state"], "stopped", mark)
            answers = [("stop", values(s["locals"]), s)] + told(r)
            for command, seen, answer in answers:
                right = all(seen.get(name, value) == value
                            for name, value in KEPT[mark].items())
                words = answer.get("warning", "")
                wrong += not right
                warned += "lldb misreads" in words
                ok(right or "misreads" in words, f"{mark}: {command}: "
                   "a wrong value has a warning", answer)
                ok(bad or not words, f"{mark}: {command}: no warning without "
                   "cause", answer)
                ok(not words or "apt-get install lldb-22" in words and
                   "-fno-reorder-blocks-and-partition" in words,
                   f"{mark}: {command}: it has what helps", words)
                if bad and mark == "split":
                    ok("work" in words, f"{command}: it names the function",
                       words)
            s = r.ask("continue")
        ok((wrong > 0) == bad and (warned >= wrong), "values are wrong where "
           "a warning says so", (wrong, warned))


def misread_functions_that_are_whole(a):
    """What the warning advises helps."""
    misread_functions(a, "./whole")


def breaks_on_split_functions(a):
    """They are where the function begins, not in an instruction of it, and
    not where its exceptions go."""
    names = ["few", "many", "main"]
    want = ["main"] + ["few", "many"] * 4
    end = subprocess.run(["./parts"], cwd=WORK, capture_output=True,
                         text=True).stdout
    for first in range(len(names)):
        order = names[first:] + names[:first]
        with a.rig() as r:
            s = a.start(r, "./parts", stop_on_entry=False,
                        breaks=[{"function": f} for f in order])
            got = []
            out = text(s)
            for _ in range(len(want) + 3):
                if s["state"] != "stopped":
                    break
                f = s["frame"]["function"].split("(")[0]
                got.append(f)
                eq([order[b - 1] for b in s["breakpoints"]], [f],
                   f"{f}: its breakpoint")
                if f != "main":
                    eq(values(s["arguments"]).get("n"),
                       str((got.count(f))), f"{f}: an argument")
                s = r.ask("continue")
                out += text(s)
            eq(got, want, f"{order}: each call, and nothing else")
            eq((s["state"], s.get("exit")), ("exited", {"code": 0}), "its end")
            eq(out.replace("\r", ""), end, "it says what it always says")


def refused_finish_leaves_the_session_usable(a):
    """Where callers are lost it fails at once, and the session can be used."""
    with a.rig() as r:
        s = a.start(r, "./split", breaks=[{"function": "leaf"}])
        for caller in ("whole", "split", "split"):
            ok("leaf" in s["frame"]["function"], "stopped in leaf", s)
            s = r.ask("finish")
            ok(caller in s["frame"]["function"], f"back in {caller}", s)
            began = time.monotonic()
            n = r.send("finish")
            r.until(lambda: n in r.answers, "finish")
            took = time.monotonic() - began
            got = r.answers[n]
            if a.name == "lldb-19" and caller == "split":
                ok(not got["success"] and got["error"]["code"] == "refused"
                   and "not moved" in got["error"]["message"],
                   "no caller to go to", got)
            else:
                ok(got["success"], "finished", got)
                caller = "main"
            ok(took < 60, "answered", took)
            eq(r.ask("status")["state"], "stopped", "it stands")
            b = r.ask("backtrace")
            ok(caller in b["frames"][0]["function"], f"in {caller}", b)
            s = r.ask("continue")
        eq((s["state"], s["exit"]), ("exited", {"code": 0}), "to its end")


def exceptions(a):
    with a.rig() as r:
        mine = r.ask("catch_add", kind="throw", type="my::oops")
        mine = mine["catchpoint"]["id"]
        s = a.start(r, "./throws", "last", stop_on_entry=False)
        eq((s["reason"], s["exception"]["id"], s["breakpoints"]),
           ("exception", "my::oops", [mine]), "of several the one asked for")
        eq(s["exception"]["description"], "two", "its message")
        ok("thrower" in s["frame"]["function"], "shown where it is thrown", s)
        eq(text(s), "", "nothing was written yet")
        base = r.ask("catch_add", kind="throw", type="std::exception")
        base = base["catchpoint"]["id"]
        s = r.ask("restart")
        eq((s["exception"]["id"], s["breakpoints"]),
           ("std::out_of_range", [base]), "by its base")
        r.ask("catch_remove", all=True)
        s = r.ask("continue")
        eq((s["reason"], "SIGABRT" in s["words"]), ("signal", True),
           "not caught by anybody")
        eq(text(s), "one\ntwo\n42\n", "after all the others")
        eq(r.refused("catch_add", kind="panic")["code"], "not_verified",
           "no panics in C++")


def panics(a):
    with a.rig() as r:
        c = r.ask("catch_add", kind="panic")["catchpoint"]["id"]
        s = a.start(r, BINARIES[a.kind], "x", stop_on_entry=False)
        eq(s["breakpoints"], [c], "a panic is caught")
        eq(s["frame"]["line"], line(a, "the panic"), "in the program")
        ok("boom" in s["exception"]["description"], "with its words", s)


def python_throws(a):
    with a.rig() as r:
        c = r.ask("catch_add", kind="throw", type="ValueError")
        c = c["catchpoint"]["id"]
        s = a.start(r, "look.py", stop_on_entry=False)
        eq((s["reason"], s["exception"]["id"], s["breakpoints"]),
           ("exception", "ValueError", [c]), "not the KeyError before it")
        eq(s["frame"]["line"], line(a, "a throw"), "where it is thrown")


def quick(a):
    """What it costs: the median of steps, each with its whole summary."""
    with a.rig() as r:
        begin(r, a)
        took = []
        for _ in range(24):
            began = time.monotonic()
            r.ask("next")
            took.append((time.monotonic() - began) * 1000)
        median = statistics.median(took[5:])
        print(f"# {a.name}: next with its summary {median:.1f} ms")
        # a bound that no load reaches: it tells of a timer in the way
        ok(median < 500, "no step waits for a timer", took)


def build():
    built("look.c", "cc", "-g", "-O0", "-pthread", "-o", "look", "look.c")
    built("throws.cc", "c++", "-g", "-O0", "-o", "throws", "throws.cc")
    built("hides.c", "cc", "-g", "-O0", "-o", "hides", "hides.c")
    built("hides.go", "go", "build", "-gcflags=all=-N -l", "-o", "gohides",
          "hides.go")
    built("split.cc", "g++", "-g", "-O2", "-o", "split", "split.cc")
    built("parts.cc", "g++", "-g", "-O2", "-o", "parts", "parts.cc")
    built("misread.cc", "g++", "-g", "-O2", "-o", "misread", "misread.cc")
    built("misread.cc", "g++", "-g", "-O2", "-o", "whole", "misread.cc",
          "-fno-reorder-blocks-and-partition")
    built("look.go", "go", "build", "-gcflags=all=-N -l", "-o", "golook",
          "look.go")
    built("look.py")


def every(fn, kinds=("native", "go", "python")):
    """One test per adapter of these kinds."""
    out = []
    for a in HERE:
        if a.kind in kinds:
            def test(a=a):
                fn(a)
            test.__name__ = f"{fn.__name__}_{re.sub('[^a-z0-9]', '_', a.name)}"
            out.append(test)
    return out


build()
HERE = adapters()
TESTS = []
for f in (summary, commands, expressions, outer_frames, breakpoints,
          bad_places):
    TESTS += every(f)
for f in (crashes, split_functions, misread_functions,
          misread_functions_that_are_whole, breaks_on_split_functions,
          refused_finish_leaves_the_session_usable, watchpoints, threads,
          deep_stacks,
          memory, exceptions, quick):
    TESTS += every(f, ("native",))
TESTS += every(hidden_names, ("native", "go"))
TESTS += every(panics, ("go", "python")) + every(python_throws, ("python",))
run_tests(*TESTS)
