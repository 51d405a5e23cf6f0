#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Clients with the right to look see names of variables, where the program is
# and what it writes, and no value in any answer; the owner sees all of it.
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dbgadapters import WORK, adapters, built, source_line
from dl import eq, ok, run_tests

PROGRAM = {"native": ("secret.cc", "./secret"), "go": ("secret.go",
                                                       "./gosecret"),
           "python": ("secret.py", "secret.py")}
# code and twice, in digits of both bases, and the word
SECRET = re.compile(r"9876[5-9]|1975[3-4]\d|0x181cd|0x3039a|s3cret")
LOOKS = ("context", "status", "await", "threads", "breakpoint_list",
         "watch_list", "catch_list")


def answers(r, rw, at=LOOKS):
    out = {}
    for command in at:
        n = r.send(command, rw=rw, **({"timeout_s": 10}
                                      if command == "await" else {}))
        r.until(lambda n=n: n in r.answers, command)
        out[command] = json.dumps(r.answers[n])
        ok(r.answers[n]["success"], f"{command} is answered",
           r.answers[n])
    return out


def nothing_secret(a, got, when):
    for command, text in got.items():
        found = SECRET.search(text)
        ok(found is None, f"{a.name}, {when}: no value in {command}",
           text[max(0, found.start() - 200):][:400] if found else "")


def names(variables):
    return [v["name"] for v in variables]


def stops(a, r, place):
    b = r.ask("breakpoint_add", log="the code is {code}", cwd=WORK,
              **place)["breakpoint"]
    ok(b["id"], "a log point")
    if a.kind == "native" and a.name != "gdb":
        r.ask("watch_add", expression="code", condition="code < 0")
    r.ask("continue")
    s = r.ask("context")
    ok(SECRET.search(json.dumps(s)), "the owner sees values", s)
    ok("the code is 9876" in json.dumps(s), "and what log points say", s)
    got = answers(r, False)
    nothing_secret(a, got, "at a stop")
    c = json.loads(got["context"])["result"]
    known = names(c["arguments"]) + names(c["locals"])
    ok("code" in known and "twice" in known, "names are there", c)
    eq({k for v in c["arguments"] + c["locals"] + c["changed"] for k in v} -
       {"name", "type"}, set(), "and types, and nothing else of them")
    eq([o["stream"] for o in c["output"]], ["stdout"], "its own output is")
    ok("its own output" in c["output"][0]["text"], "with its text", c)
    return c


def ends_by_an_exception(a, r):
    r.ask("breakpoint_remove", all=True)
    if a.kind == "native":
        r.ask("watch_remove", all=True)
    r.ask("catch_add", kind="throw" if a.kind == "native" else "panic")
    s = r.ask("continue")
    for _ in range(3):
        if s.get("exception"):
            break
        s = r.ask("continue")
    ok(SECRET.search(json.dumps(s)), "the owner sees what it says", s)
    got = answers(r, False)
    nothing_secret(a, got, "at an exception")
    told = {"native": "runtime_error", "go": "work", "python": "ValueError"}
    ok(told[a.kind] in got["context"], "but which it is", got["context"])


def the_end(a, r):
    r.ask("catch_remove", all=True)
    s = r.ask("continue")
    for _ in range(3):
        if s["state"] != "stopped":
            break
        s = r.ask("continue")
    got = answers(r, False, ("context", "status", "await"))
    # output of the program itself is for viewers, too
    for command, text in got.items():
        o = json.loads(text)["result"]
        o.pop("output", None)
        ok(SECRET.search(json.dumps(o)) is None,
           f"{a.name}, at its end: no value in {command}", o)


def readers_see_names_not_values(a):
    source, program = PROGRAM[a.kind]
    place = {"file": source, "line": source_line(source, "the stop")}
    with a.rig() as r:
        s = a.start(r, program, breaks=[place])
        eq(s["state"], "stopped", f"{a.name}: stopped")
        stops(a, r, place)
        ends_by_an_exception(a, r)
        the_end(a, r)


def readers_run_nothing(a):
    """All that reads values takes more than the right to look."""
    source, program = PROGRAM[a.kind]
    with a.rig() as r:
        a.start(r, program, breaks=[
            {"file": source, "line": source_line(source, "the stop")}])
        for command, args in (
                ("print", {"expression": "code"}), ("eval", {"expression":
                                                             "code"}),
                ("set", {"target": "code", "value": "1"}),
                ("locals", {}), ("args", {}), ("backtrace", {"locals": True}),
                ("frame", {}), ("up", {}), ("down", {}), ("thread", {}),
                ("memory_read", {"address": "&code"}), ("registers", {}),
                ("disassemble", {}), ("raw", {}),
                ("watch_add", {"expression": "code"}), ("dap", {}),
                ("dap_send", {}), ("dap_receive", {})):
            n = r.send(command, rw=False, **args)
            r.until(lambda n=n: n in r.answers, command)
            eq(r.answers[n].get("error", {}).get("code"), "read_only",
               f"{a.name}: {command}")


def every():
    out = []
    for a in HERE:
        for fn in (readers_see_names_not_values, readers_run_nothing):
            def test(a=a, fn=fn):
                fn(a)
            test.__name__ = fn.__name__ + "_" + re.sub("[^a-z0-9]", "_",
                                                       a.name)
            out.append(test)
    return out


built("secret.cc", "g++", "-g", "-O0", "-o", "secret", "secret.cc")
built("secret.go", "go", "build", "-gcflags=all=-N -l", "-o", "gosecret",
      "secret.go")
built("secret.py")
HERE = adapters()
run_tests(*every())
