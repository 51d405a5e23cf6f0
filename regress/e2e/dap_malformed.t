#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Requests that the protocol does not allow are refused to the editor that sent
# them: the adapter lives, and the others see nothing of it.
import copy
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dbgadapters import WORK, adapters, built
from dl import eq, ok, run_tests
from dbgeditor import Editor

PROGRAMS = {
    "native": ("./prog", "prog.c", "cc", "-g", "-O0", "-pthread", "-o",
               "prog", "prog.c"),
    "go": ("./goprog", "prog.go", "go", "build", "-gcflags=all=-N -l", "-o",
           "goprog", "prog.go"),
    "python": ("prog.py", "prog.py"),
}
MANY = int(os.environ.get("DL_MALFORMED", "150"))
VALUES = (None, True, False, -1, 0, 1, 2**31, 2**63 - 1, -2**63, 1.5, "",
          "x", "\0", "a" * 5000, [], {}, [[]], {"x": None}, [{}, 7])


class Scene:
    """A stopped program, one editor that errs and one that does not."""

    def __init__(self, r, a):
        a.start(r, PROGRAMS[a.kind][0])
        self.rig = r
        self.other = Editor(r, conn=40)
        self.other.join()
        self.other.ask("configurationDone")
        self.thread = self.other.event("stopped")["threadId"]
        self.renew()

    def renew(self):
        """Ids hold as long as nothing was changed."""
        self.bad = Editor(self.rig)
        self.bad.join()
        self.bad.ask("configurationDone")
        e = self.other
        frame = e.ask("stackTrace", threadId=self.thread, startFrame=0,
                      levels=1)["stackFrames"][0]
        self.frame = frame["id"]
        self.pc = frame.get("instructionPointerReference", "0x1000")
        self.scope = e.ask("scopes", frameId=self.frame)["scopes"][0][
            "variablesReference"]

    def good(self):
        """Each request of the protocol that may reach the adapter."""
        at = {"path": os.path.join(WORK, "prog.c"), "name": "prog.c"}
        return {
            "threads": {}, "loadedSources": {},
            "modules": {"startModule": 0, "moduleCount": 1},
            "stackTrace": {"threadId": self.thread, "startFrame": 0,
                           "levels": 1, "format": {"hex": False}},
            "scopes": {"frameId": self.frame},
            "variables": {"variablesReference": self.scope, "start": 0,
                          "count": 1, "filter": "named",
                          "format": {"hex": False}},
            "evaluate": {"expression": "1", "frameId": self.frame,
                         "context": "watch", "format": {"hex": True}},
            "source": {"sourceReference": 1, "source": dict(at)},
            "exceptionInfo": {"threadId": self.thread},
            "setVariable": {"variablesReference": self.scope, "name": "i",
                            "value": "0", "format": {"hex": False}},
            "setExpression": {"expression": "i", "value": "0",
                              "frameId": self.frame},
            "readMemory": {"memoryReference": self.pc, "offset": 0,
                           "count": 4},
            "writeMemory": {"memoryReference": self.pc, "offset": 0,
                            "allowPartial": False, "data": ""},
            "disassemble": {"memoryReference": self.pc, "offset": 0,
                            "instructionOffset": 0, "instructionCount": 1,
                            "resolveSymbols": False},
            "completions": {"text": "su", "column": 3, "line": 1,
                            "frameId": self.frame},
            "setBreakpoints": {"source": dict(at), "sourceModified": False,
                               "breakpoints": [{"line": 14, "column": 1,
                                                "condition": "x",
                                                "hitCondition": "2",
                                                "logMessage": "m"}]},
            "setFunctionBreakpoints": {
                "breakpoints": [{"name": "square", "condition": "x",
                                 "hitCondition": "2"}]},
            "setExceptionBreakpoints": {
                "filters": ["throw"],
                "filterOptions": [{"filterId": "throw", "condition": "x"}]},
            "cancel": {"requestId": 1, "progressId": "p"},
        }


def places(o, path=()):
    """All members and elements below."""
    items = o.items() if isinstance(o, dict) else \
        enumerate(o) if isinstance(o, list) else ()
    for k, v in items:
        yield (*path, k)
        yield from places(v, (*path, k))


def spoiled(message, rnd):
    m = copy.deepcopy(message)
    for _ in range(rnd.choice((1, 1, 1, 2))):
        there = [p for p in places(m) if p[0] == "arguments"]
        if not there:
            break
        *way, last = rnd.choice(there)
        o = m
        for k in way:
            o = o[k]
        if rnd.random() < 0.4:
            del o[last]
        else:
            o[last] = rnd.choice(VALUES)
    return m


def says(e, m):
    e.seq += 1
    m["seq"] = e.seq
    e.rig.ask("dap_send", conn=e.conn, client=e.client, message=m)
    return e.response(e.seq)


def lives(r):
    s = r.ask("status")
    return s["state"] == "stopped" and s["adapter"]["alive"] and \
        r.ask("backtrace")["frames"]


def without_each_member(a, scene):
    """Needed members that are missing are named, before the adapter."""
    needed = {
        "stackTrace": ("threadId",), "scopes": ("frameId",),
        "variables": ("variablesReference",), "evaluate": ("expression",),
        "exceptionInfo": ("threadId",), "completions": ("text", "column"),
        "setVariable": ("variablesReference", "name", "value"),
        "setExpression": ("expression", "value"),
        "readMemory": ("memoryReference", "count"),
        "writeMemory": ("memoryReference", "data"),
        "disassemble": ("memoryReference", "instructionCount"),
        "source": ("sourceReference",), "setBreakpoints": ("source",),
        "setFunctionBreakpoints": ("breakpoints",),
        "setExceptionBreakpoints": ("filters",),
        "continue": ("threadId",), "next": ("threadId",),
        "stepIn": ("threadId",), "stepOut": ("threadId",),
        "pause": ("threadId",),
    }
    good = scene.good()
    for command, names in needed.items():
        m = {"type": "request", "command": command}
        for args in (None, 7, [], "x"):
            b = says(scene.bad, dict(m, arguments=args))
            ok(not b["success"] and "argument" in b["message"],
               f"{a.name}: {command} with {args} is refused", b)
        for name in names:
            args = dict(good.get(command, {"threadId": 1}))
            del args[name]
            b = says(scene.bad, dict(m, arguments=args))
            ok(not b["success"] and f'"{name}"' in b["message"],
               f"{a.name}: {command} without {name} is refused", b)
    ok(lives(scene.rig), f"{a.name}: the adapter lives")


def at_random(a, scene):
    rnd = random.Random(int(os.environ.get("DL_SEED", "1")))
    last = []
    answered = 0
    for n in range(MANY):
        command, args = rnd.choice(sorted(scene.good().items()))
        m = spoiled({"type": "request", "command": command,
                     "arguments": args}, rnd)
        last = [*last[-4:], str(m)[:300]]
        answered += says(scene.bad, m)["type"] == "response"
        if n % 5 == 4:
            # an editor that fetches nothing for a minute is forgotten
            scene.other.ask("threads")
        if n % 25 == 24:
            if not lives(scene.rig):
                ok(False, f"{a.name}: the adapter lives", last)
                return
            scene.bad.ask("disconnect", terminateDebuggee=False)
            scene.renew()
    eq(answered, MANY, f"{a.name}: each of {MANY} was answered")
    ok(lives(scene.rig), f"{a.name}: and the adapter lives", last)
    eq(scene.rig.ask("next")["reason"], "step", f"{a.name}: life goes on")


def every_adapter():
    there = adapters()
    for kind in {a.kind for a in there}:
        built(*PROGRAMS[kind][1:])
    for a in there:
        with a.rig() as r:
            scene = Scene(r, a)
            without_each_member(a, scene)
            at_random(a, scene)


run_tests(every_adapter)
