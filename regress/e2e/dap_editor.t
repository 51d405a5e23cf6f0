#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Editors in a session that the command line began: they join in the middle of
# a stop, see what others do, and take nothing away when they leave.
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dbgeditor import Editor
from dbgrig import TOP, Rig
from dl import copy_source, eq, ok, run_tests, wait_for

WORK = tempfile.mkdtemp(prefix="dl-dap-")
SOURCE = os.path.join(WORK, "prog.c")


def line_of(text):
    with open(SOURCE) as f:
        return [i for i, s in enumerate(f, 1) if text in s][0]


def begun(r, program="./prog", **kw):
    return r.ask("start", program=program, cwd=WORK, **kw)


def joins_a_stop():
    with Rig() as r:
        s = begun(r)
        e = Editor(r)
        can = e.join()
        ok(can["supportsConfigurationDoneRequest"] and
           can["supportsFunctionBreakpoints"], "what it can", can)
        e.ask("configurationDone")
        stop = e.event("stopped")
        eq(stop["threadId"], s["thread"]["id"], "it hears of the stop")
        threads = e.ask("threads")["threads"]
        eq(threads[0]["id"], stop["threadId"], "threads")
        frames = e.ask("stackTrace", threadId=stop["threadId"])
        frame = frames["stackFrames"][0]
        eq((frame["name"], frame["line"]),
           ("main", s["frame"]["line"]), "where it stands")
        scopes = e.ask("scopes", frameId=frame["id"])["scopes"]
        names = [v["name"] for v in e.ask(
            "variables",
            variablesReference=scopes[0]["variablesReference"])["variables"]]
        ok("sum" in names and "argc" in names, "its variables", names)
        v = e.ask("evaluate", expression="1+2", context="watch",
                  frameId=frame["id"])
        ok("3" in v["result"], "an expression", v)
        steps(r, e, stop)


def steps(r, e, stop):
    e.ask("next", threadId=stop["threadId"])
    e.event("continued")
    eq(e.event("stopped")["reason"], "step", "it steps")
    s = r.ask("context")
    eq(s["reason"], "step", "the command line sees that")
    s = r.ask("next")
    e.event("continued")
    eq(e.event("stopped")["reason"], "step", "the editor sees its steps")
    r.ask("set", target="sum", value="7")
    ok(e.event("invalidated") is not None, "and that a value was set")
    n = r.send("continue", timeout_s=30)
    eq(r.answer(n)["exit"], {"code": 3}, "it ends")
    eq(e.event("exited")["exitCode"], 3, "with its code")
    e.event("terminated")
    out = "".join(m["body"]["output"] for m in e.got
                  if m.get("event") == "output" and
                  m["body"]["category"] == "stdout")
    ok("i=2 sum=" in out, "the program's output was shown", out)


def text_of(e, category="stdout"):
    return "".join(m["body"]["output"] for m in e.got
                   if m.get("event") == "output" and
                   m["body"]["category"] == category)


def hears(e, what, category="stdout"):
    while what not in text_of(e, category):
        e.more()
    return True


def joined(r, **kw):
    """An editor in a program that stands at its beginning."""
    begun(r, **kw)
    e = Editor(r)
    e.join()
    e.ask("configurationDone")
    e.event("stopped")
    return e


def output_while_it_runs():
    with Rig() as r:
        e = joined(r, args=["halves"])
        e.ask("continue", threadId=1)
        ok(hears(e, "i=2 sum=5\n"), "output comes while the program runs")
        ok(hears(e, "to stderr\n", "stderr"), "and errors")
        eq(r.ask("status")["state"], "running", "which has not stopped")
        ok(hears(e, "half "), "the beginning of a character waits")
        r.raw({"command": "_input", "args": {"text": "\n"}})
        ok(hears(e, "half \u00e4\n"), "for its end", text_of(e))
        late = Editor(r, conn=40)
        late.join()
        late.ask("configurationDone")
        ok(hears(late, "half \u00e4\n"), "who joins hears what came before")
        r.raw({"command": "_input", "args": {"text": "\n"}})
        eq(e.event("exited")["exitCode"], 3, "it ends")
        eq(text_of(e), "i=0 sum=0\ni=1 sum=1\ni=2 sum=5\nhalf \u00e4\n",
           "each byte was shown once")
        e.event("terminated")
        s = r.ask("restart")
        eq(s["reason"], "entry", "it is run again")
        e.event("stopped")
        e.got.clear()
        r.ask("continue", wait=False)
        ok(hears(e, "i=2 sum=5\n"), "and heard again", text_of(e))
        r.ask("stop")


def rss(r):
    with open(f"/proc/{r.p.pid}/status") as f:
        return [int(x.split()[1]) for x in f if x.startswith("VmHWM")][0]


def floods():
    with Rig() as r:
        e = joined(r, args=["flood"])
        slow = Editor(r, conn=40)
        slow.join()
        slow.ask("configurationDone")
        slow.event("stopped")
        before = rss(r)
        e.ask("continue", threadId=1)
        eq(e.event("exited")["exitCode"], 3, "100 MB are no hindrance")
        heard = len(text_of(e))
        ok(1000 < heard < 100 << 20 and "left out" in text_of(e, "console"),
           "what is left out is said", heard)
        ok(text_of(e).endswith("after it\n"), "the last is there")
        slow.event("exited")
        ok(len(text_of(slow)) < 400 << 10, "who does not fetch has little",
           len(text_of(slow)))
        ok(rss(r) - before < 16 << 10, "in bounded memory", rss(r) - before)


def exceptions_have_owners():
    with Rig() as r:
        begun(r, program="./throws")
        mine = r.ask("catch_add", kind="throw")["catchpoint"]["id"]
        e = Editor(r)
        can = e.join()
        ok("throw" in [f["filter"] for f in
                       can["exceptionBreakpointFilters"]] and
           can["supportsExceptionFilterOptions"], "it can stop at them", can)
        b = e.ask("setExceptionBreakpoints", filters=["throw", "cpp_throw",
                                                      "dance"],
                  filterOptions=[{"filterId": "throw",
                                  "condition": "std::logic_error"}])
        eq([x["verified"] for x in b["breakpoints"]],
           [True, True, False, True], "ours, the adapter's, none, a type")
        ok("panic and throw" in b["breakpoints"][2]["message"],
           "why not", b)
        eq(len(r.ask("catch_list")["catchpoints"]), 4, "all are listed")
        e.ask("setExceptionBreakpoints", filters=[])
        eq([c["id"] for c in r.ask("catch_list")["catchpoints"]], [mine],
           "the command line's stays")
        r.ask("catch_remove", id=mine)
        first = e.ask("setExceptionBreakpoints", filters=["throw"])
        again = e.ask("setExceptionBreakpoints", filters=["throw"])
        eq(first, again, "what stays keeps its id")
        e.ask("configurationDone")
        e.event("stopped")
        e.ask("continue", threadId=1)
        eq(e.event("stopped")["reason"], "exception", "it stops at a throw")
        eq(r.ask("status")["reason"], "exception", "for everybody")
        e.ask("disconnect", terminateDebuggee=False)
        ok(wait_for(lambda: r.ask("catch_list")["catchpoints"] == [], 20),
           "they leave with their editor")


def too_many():
    with Rig() as r:
        begun(r)
        e = Editor(r)
        e.join()
        for command, args in (
                ("setBreakpoints", {"source": {"path": SOURCE},
                                    "breakpoints": [{}] * 5000}),
                ("setFunctionBreakpoints", {"breakpoints": [0] * 5000}),
                ("setExceptionBreakpoints", {"filters": [[]] * 5000})):
            m = e.response(e.send(command, **args))
            ok(not m["success"] and "more breakpoints than" in m["message"],
               f"{command}: as many as nobody has", m)
        b = e.ask("setExceptionBreakpoints", filters=[[], 7, None],
                  filterOptions=[8, {"filterId": 9, "condition": {}}])
        eq([x["verified"] for x in b["breakpoints"]], [False] * 5,
           "what is no filter is none")
        eq(r.ask("next")["reason"], "step", "life goes on")


def breakpoints_have_owners():
    inner, outer = line_of("int y = x * x"), line_of("return 3")
    with Rig() as r:
        begun(r)
        mine = r.ask("breakpoint_add", file=SOURCE, line=outer)
        e = Editor(r)
        e.join()
        b = e.ask("setBreakpoints", source={"path": SOURCE}, breakpoints=[
            {"line": inner}, {"line": outer, "condition": "sum > 100"}])
        eq([x["verified"] for x in b["breakpoints"]], [True, True],
           "both are verified")
        ids = [x["id"] for x in b["breakpoints"]]
        f = e.ask("setFunctionBreakpoints", breakpoints=[{"name": "main"}])
        eq(len(f["breakpoints"]), 1, "a function")
        e.ask("setFunctionBreakpoints", breakpoints=[])
        e.ask("configurationDone")
        e.event("stopped")
        eq(len(r.ask("breakpoint_list")["breakpoints"]), 3, "all are listed")
        e.ask("continue", threadId=1)
        stop = e.event("stopped")
        eq((stop["reason"], stop["hitBreakpointIds"]),
           ("breakpoint", [ids[0]]), "its own is hit")
        again = e.ask("setBreakpoints", source={"path": SOURCE},
                      breakpoints=[{"line": inner}])["breakpoints"]
        eq([x["id"] for x in again], [ids[0]], "what stays keeps its id")
        e.ask("setBreakpoints", source={"path": SOURCE}, breakpoints=[])
        left = r.ask("breakpoint_list")["breakpoints"]
        eq([x["id"] for x in left], [mine["breakpoint"]["id"]],
           "what others have set stays")
        s = r.ask("continue")
        eq((s["reason"], s["breakpoints"]), ("breakpoint", [left[0]["id"]]),
           "and stops it")


def in_the_mock(r):
    """An editor that sees what a conversation says."""
    r.start()
    e = Editor(r)
    e.join()
    e.ask("configurationDone")
    e.event("stopped")
    return e


def one_after_the_other():
    with Rig("slow_breakpoints") as r:
        e = in_the_mock(r)
        at = {"path": "/nowhere/absent.c"}
        first = e.send("setBreakpoints", source=at,
                       breakpoints=[{"line": 20}])
        then = e.send("setBreakpoints", source=at, breakpoints=[])
        ok(r.ask("status"), "both are on their way")
        e.send("threads")
        a = e.response(first)["body"]["breakpoints"]
        eq([(b["line"], b["verified"]) for b in a], [(20, True)], "the first")
        eq(e.response(then)["body"]["breakpoints"], [], "the one after it")
        eq(r.ask("breakpoint_list")["breakpoints"], [],
           "what was said last holds")


def leaves_with_some_on_their_way():
    with Rig("slow_breakpoints") as r:
        e = in_the_mock(r)
        at = {"path": "/nowhere/absent.c"}
        e.send("setBreakpoints", source=at, breakpoints=[{"line": 20}])
        later = e.send("setBreakpoints", source=at,
                       breakpoints=[{"line": 30}])
        last = e.send("disconnect", terminateDebuggee=False)
        ok(not e.response(later)["success"], "what was not begun is refused")
        ok(e.response(last)["success"], "it leaves")
        eq(r.ask("threads")["threads"][0]["name"], "a", "then it is answered")
        ok(wait_for(lambda: r.ask("breakpoint_list")["breakpoints"] == [],
                    20), "and is nobody's", r.ask("breakpoint_list"))


def counts_of_hits():
    with Rig("endless") as r:
        e = in_the_mock(r)
        said = ("5", ">= 5", ">=5", "> 5", " 7 ", "", 9, "== 5", "% 2", "-1",
                "5 6", ">", "99999999999999999999")
        a = e.ask("setBreakpoints", source={"path": "/nowhere/absent.c"},
                  breakpoints=[{"line": 9, "hitCondition": x}
                               for x in said])["breakpoints"]
        eq([b.get("hit_count") for b in r.ask("breakpoint_list")
            ["breakpoints"]], [5, 5, 5, 6, 7, None, 9],
           "from which hit on they stop")
        ok(all(not b["verified"] and "only a number" in b["message"]
               for b in a[7:]) and "id" not in a[7],
           "anything else is refused with words", a[7:])


def large_events():
    path = os.path.join(WORK, "large")
    with open(path + ".conv", "w", encoding="latin-1") as f:
        f.write("include entry19.inc\n< next\nok next\n" +
                "".join(f"ev {name} {body}\n" for name, body in (
                    ("output", '{"category":"important","output":"' +
                     "x" * 300000 + '"}'),
                    ("output", '{"output":"' + "\xe9" * 100000 + '"}'),
                    ("module", '{"reason":"new","module":{"name":"' +
                     "x" * 300000 + '"}}'),
                    ("thread", '{"reason":"started","threadId":7}'))) +
                'ev stopped {"reason":"step","threadId":4711}\n')
    with Rig(path) as r:
        e = in_the_mock(r)
        r.ask("next")
        e.event("stopped")
        said = [m["body"] for m in e.got if m.get("event") == "output"]
        ok(len(said) == 4 and said[0]["category"] == "important" and
           10000 < len(said[0]["output"]) < 200000 and
           set(said[0]["output"]) == {"x"}, "the beginning of long output")
        eq(said[1]["output"],
           f"\n[{300000 - len(said[0]['output'])} bytes of this are left "
           "out]\n", "and how much is left out")
        ok(set(said[2]["output"]) == {"\ufffd"}, "as long as it is shown")
        eq([m["event"] for m in e.got if m.get("event") in
            ("module", "thread")], ["thread"], "other events come or do not")


def joins_an_end():
    """How it ended is known a moment after that it did."""
    path = os.path.join(WORK, "ends")
    with open(path + ".conv", "w") as f:
        f.write("\n".join((
            "include entry19.inc", "< continue", "ok continue",
            "ev terminated {}", 'ev thread {"reason":"exited","threadId":7}',
            "< disconnect", "< threads", 'ok threads {"threads":[]}',
            'ev exited {"exitCode":5}', "ok disconnect")) + "\n")
    with Rig(path) as r:
        e = in_the_mock(r)
        r.ask("continue", wait=False)
        e.event("thread")
        late = Editor(r, conn=40)
        late.join()
        late.ask("configurationDone")
        e.send("threads")
        for who, x in (("who was there", e), ("who joins then", late)):
            eq(x.event("exited")["exitCode"], 5, f"{who} hears how it ended")
            x.event("terminated")


def leaves():
    with Rig() as r:
        begun(r)
        e = Editor(r)
        e.join()
        e.ask("setBreakpoints", source={"path": SOURCE},
              breakpoints=[{"line": line_of("return 3")}])
        e.ask("configurationDone")
        e.ask("disconnect", terminateDebuggee=False)
        while not e.end:
            e.more()
        got = r.ask("dap_receive", client=e.client)
        eq((got["messages"], got["end"]), ([], True), "it is forgotten")
        eq(set(r.ask("dap_close", client=e.client)), {"schema", "session"},
           "and may say once more that it leaves")
        eq(r.refused("dap_close", client=e.client + 1)["code"], "no_such",
           "unlike one that never came")
        eq(r.ask("breakpoint_list")["breakpoints"], [],
           "and so are its breakpoints")
        eq(r.ask("next")["reason"], "step", "the session goes on")
        other = Editor(r, conn=30)
        other.join()
        r.ask("dap_close", client=other.client)
        eq(r.refused("dap_send", client=other.client, message={})["code"],
           "no_such", "closed is closed")


def two_editors():
    with Rig() as r:
        begun(r, args=["loop"])
        both = [Editor(r, conn=20), Editor(r, conn=30)]
        for e in both:
            e.join()
            e.ask("configurationDone")
            e.event("stopped")
        both[0].ask("continue", threadId=1)
        for e in both:
            e.event("continued")
        both[1].ask("pause", threadId=1)
        eq([e.event("stopped")["reason"] for e in both], ["pause", "pause"],
           "both hear of it")
        both[0].ask("disconnect", terminateDebuggee=True)
        both[1].event("terminated")
        ok(wait_for(lambda: not r.tree(), 60), "ended by an editor")


def warned_of_misread_functions():
    """Once for each function that lldb 19 misreads, and of wrong numbers."""
    here = [i for i, s in enumerate(open(os.path.join(WORK, "misread.cc")), 1)
            if "/* split */" in s]
    with Rig() as r:
        begun(r, "./misread", adapter="lldb-dap-19", stop_on_entry=False,
              breaks=[{"file": "misread.cc", "line": here[0]}])
        e = Editor(r)
        e.join()
        e.ask("configurationDone")
        stop = e.event("stopped")
        for again in (False, True):
            top = e.ask("stackTrace", threadId=stop["threadId"])
            ok("work" in top["stackFrames"][0]["name"], "in work", top)
            ok(hears(e, "lldb misreads work", "important"), "a warning")
            if not again:
                e.ask("continue", threadId=stop["threadId"])
                e.event("continued")
                stop = e.event("stopped")
        eq(text_of(e, "important").count("Warning: lldb misreads work"), 1,
           "once")
        r.ask("stop")


def refusals():
    with Rig() as r:
        e = Editor(r)
        e.ask("initialize")
        try:
            e.ask("attach")
            ok(False, "nothing to attach to")
        except RuntimeError as x:
            ok("debugger start" in str(x), "nothing to attach to", x)
        begun(r, args=["loop"], stop_on_entry=False, wait=False)
        r.state("running")
        for command in ("stackTrace", "evaluate", "dance", "setBreakpoints"):
            m = e.response(e.send(command))
            ok(not m["success"] and m["message"], f"{command}: refused", m)
        for args in ({}, {"client": 99}, {"client": "x"}):
            ok(r.refused("dap_receive", **args)["code"] in
               ("invalid_argument", "no_such"), f"{args}")
        eq(r.refused("dap_send", client=e.client)["code"],
           "invalid_argument", "no message")
        eq(r.refused("dap", rw=False)["code"], "read_only",
           "who may only look is no editor")


for name in ("prog.c", "throws.cc", "misread.cc", "auto.inc", "ready19.inc",
             "entry19.inc"):
    copy_source(os.path.join(TOP, "regress/dap", name), WORK)
subprocess.run(["cc", "-g", "-O0", "-pthread", "-o", "prog", "prog.c"],
               cwd=WORK, check=True)
subprocess.run(["c++", "-g", "-O0", "-o", "throws", "throws.cc"], cwd=WORK,
               check=True)
subprocess.run(["g++", "-g", "-O2", "-o", "misread", "misread.cc"], cwd=WORK,
               check=True)
try:
    run_tests(joins_a_stop, warned_of_misread_functions,
              output_while_it_runs, floods,
              exceptions_have_owners, too_many, breakpoints_have_owners,
              one_after_the_other, leaves_with_some_on_their_way,
              counts_of_hits, large_events, joins_an_end, leaves, two_editors,
              refusals)
finally:
    shutil.rmtree(WORK, ignore_errors=True)
