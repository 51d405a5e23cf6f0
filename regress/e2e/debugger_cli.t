#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# debugger against a stand-in for the daemon: what it asks, what it prints,
# where, and with which exit code.
import json
import os
import pty
import queue
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from dl import eq, ok, run_tests, wait_for  # noqa: E402
from fake_debugger import (DEBUGGER, ID, STOP, FakeDebugger,  # noqa: E402
                           Refusal, environment, run)

work = tempfile.mkdtemp(prefix="dl-debugger-")
os.makedirs(work + "/src")
for name in ("app", "src/main.rs"):
    with open(os.path.join(work, name), "w") as made:
        made.write("#!/bin/sh\n")
    os.chmod(os.path.join(work, name), 0o755)
fake = FakeDebugger()


def dbg(*args, data=b"", env=None, server=fake, **extra):
    e = environment(work, **extra)
    if server is not None:
        e["DEBUGLANTERN_SOCKET"] = server.path
    e.update(env or {})
    return run([DEBUGGER, *args], e, cwd=work, data=data)


def asked(*args, **kw):
    """The last request of a command: its name and its arguments."""
    del fake.asked[:]
    r = dbg(*args, **kw)
    if not fake.asked:
        return r
    return fake.asked[-1]


# What is typed, and what is asked: the request, its arguments.
PLACE = {"file": work + "/src/main.rs", "line": 42, "cwd": work}
REQUESTS = [
    ("detach", "detach", {}),
    ("stop", "stop", {}),
    ("kill", "stop", {}),
    ("restart", "restart", {}),
    ("restart --no-wait", "restart", {"wait": False}),
    ("status", "status", {}),
    ("breakpoint add src/main.rs:42", "breakpoint_add", PLACE),
    ("break src/main.rs:42", "breakpoint_add", PLACE),
    ("b ./src/main.rs:42", "breakpoint_add", PLACE),
    ("b gone.c:7", "breakpoint_add",
     {"file": "gone.c", "line": 7, "cwd": work}),
    ("b 7", "breakpoint_add", {"line": 7, "cwd": work}),
    ("b main", "breakpoint_add", {"function": "main", "cwd": work}),
    ("b ns::f", "breakpoint_add", {"function": "ns::f", "cwd": work}),
    ("b c:f", "breakpoint_add", {"function": "c:f", "cwd": work}),
    ("b main if x > 3", "breakpoint_add",
     {"function": "main", "condition": "x > 3", "cwd": work}),
    ("breakpoint add --function main", "breakpoint_add",
     {"function": "main", "cwd": work}),
    ("breakpoint add -f mod::S::m", "breakpoint_add",
     {"function": "mod::S::m", "cwd": work}),
    ("break src/main.rs:42 --condition x>10 --hit-count 5 --log at_{x}",
     "breakpoint_add", dict(PLACE, condition="x>10", hit_count=5,
                            log="at_{x}")),
    ("breakpoint list", "breakpoint_list", {}),
    ("breakpoint remove 3", "breakpoint_remove", {"id": 3}),
    ("breakpoint delete all", "breakpoint_remove", {"all": True}),
    ("breakpoint enable 3", "breakpoint_enable", {"id": 3}),
    ("breakpoint disable 3", "breakpoint_disable", {"id": 3}),
    ("watch counter", "watch_add",
     {"expression": "counter", "access": "write"}),
    ("watch s.field --read", "watch_add",
     {"expression": "s.field", "access": "read"}),
    ("watch add list --access --condition list>1", "watch_add",
     {"expression": "list", "access": "access", "condition": "list>1"}),
    ("watch list", "watch_list", {}),
    ("watch remove 2", "watch_remove", {"id": 2}),
    ("catch panic", "catch_add", {"kind": "panic"}),
    ("catch throw std::runtime_error", "catch_add",
     {"kind": "throw", "type": "std::runtime_error"}),
    ("catch list", "catch_list", {}),
    ("catch remove 4", "catch_remove", {"id": 4}),
    ("continue", "continue", {}),
    ("c --thread", "continue", {"thread_only": True}),
    ("c --timeout 7 --no-wait", "continue", {"timeout_s": 7, "wait": False}),
    ("next", "next", {}), ("n 5", "next", {"count": 5}),
    ("next --count 3 --thread 12", "next", {"count": 3, "thread": 12}),
    ("step", "step", {}),
    ("s --instruction", "step", {"granularity": "instruction"}),
    ("finish", "finish", {}), ("out", "finish", {}),
    ("until src/main.rs:42", "until", PLACE),
    ("until 50", "until", {"line": 50, "cwd": work}),
    ("pause", "pause", {}),
    ("await --timeout 60 --since 9", "await", {"timeout_s": 60, "since": 9}),
    ("context", "context", {}),
    ("where --context 10", "context", {"lines": 10}),
    ("source src/main.rs:42", "source", PLACE),
    ("list src/main.rs:42 --context 20", "source", dict(PLACE, lines=20)),
    ("source --function", "source", {"function": True, "cwd": work}),
    ("backtrace", "backtrace", {}),
    ("bt --locals --limit 5", "backtrace", {"locals": True, "limit": 5}),
    ("frame", "frame", {}), ("frame 2", "frame", {"index": 2}),
    ("up", "up", {}), ("down", "down", {}),
    ("locals --max 65536", "locals", {"max": 65536}),
    ("args --frame 1", "args", {"frame": 1}),
    ("print counter", "print", {"expression": "counter"}),
    ("p x + 1", "print", {"expression": "x + 1"}),
    ("print -- -x", "print", {"expression": "-x"}),
    ("print v --format hex --type", "print",
     {"expression": "v", "format": "hex"}),
    ("print v --path v[3] --offset 20", "print",
     {"expression": "v", "path": "v[3]", "offset": 20}),
    ("eval f(2)", "eval", {"expression": "f(2)"}),
    ("set counter 100", "set", {"target": "counter", "value": "100"}),
    ("set counter -1", "set", {"target": "counter", "value": "-1"}),
    ("set s.f = 3", "set", {"target": "s.f", "value": "3"}),
    ("threads", "threads", {}),
    ("thread 2", "thread", {"id": 2}), ("thread", "thread", {}),
    ("thread -- -3", "thread", {"id": -3}),
    ("bt --thread -3", "backtrace", {"thread": -3}),
    ("next --thread=-3", "next", {"thread": -3}),
    ("memory read 0x7ffc --count 64 --format hex", "memory_read",
     {"address": "0x7ffc", "count": 64, "format": "hex"}),
    ("memory read &var", "memory_read", {"address": "&var"}),
    ("memory write 0x10 00ff", "memory_write",
     {"address": "0x10", "hex": "00ff"}),
    ("registers", "registers", {}),
    ("registers rax rsp", "registers", {"names": ["rax", "rsp"]}),
    ("disassemble", "disassemble", {}),
    ("disassemble 0x5555 --count 20 --source", "disassemble",
     {"address": "0x5555", "count": 20, "source": True}),
    ("raw thread backtrace all", "raw",
     {"command": "thread backtrace all"}),
]


def requests():
    for line, command, args in REQUESTS:
        a = asked(*line.split())
        eq(a["request"] if isinstance(a, dict) else a,
           {"command": command, "args": args}, line)
    eq(asked("-s", "one", "next").get("session"), "one", "-s names a session")
    eq(asked("next", env={"DEBUGGER_SESSION": "two"}).get("session"), "two",
       "so does $DEBUGGER_SESSION")
    ok("session" not in asked("next"), "nothing names the current one")
    eq(asked("use", "three"), {
        "session": "three", "use": True,
        "request": {"command": "status", "args": {}}}, "use names its own")


def starts():
    a = asked("start", "./app", "--adapter", "lldb-dap", "--", "-x", "a b")
    r = a["request"]["args"]
    eq(a["start"], True, "start says that it makes a session")
    eq((a["request"]["command"], r["program"], r["args"], r["cwd"],
        r["adapter"]), ("start", work + "/app", ["-x", "a b"], work,
                        "lldb-dap"), "program, arguments, directory")
    ok("HOME=" + work in r["env"] and "breaks" not in r,
       "its environment is the client's", r)
    a = asked("start", "app", "-b", "src/main.rs:42", "-b", "main if x",
              "--env", "A=1", "-e", "B=x y", "--cwd", "src",
              "--stop-on-entry", "--tty", "--timeout", "9", "-s", "lab",
              "--sandbox", "none", "--network", "none",
              env={"DEBUGLANTERN_TOKEN": "dlt_secret"})
    r = a["request"]["args"]
    eq(r["breaks"], [{"file": work + "/src/main.rs", "line": 42},
                     {"condition": "x", "function": "main"}], "breakpoints")
    eq(r["env"][-2:], ["A=1", "B=x y"], "own variables come last")
    ok(not any("dlt_secret" in v for v in r["env"]), "a token stays here")
    eq((r["cwd"], r["stop_on_entry"], r["tty"], r["timeout_s"]),
       (work + "/src", True, True, 9), "options")
    eq((a["name"], a["sandbox"], a["network"], "session" in a),
       ("lab", "none", "none", False), "the session's own")
    r = asked("start", "./app", "--run", "--no-wait")["request"]["args"]
    eq((r["stop_on_entry"], r["wait"]), (False, False), "--run, --no-wait")
    a = asked("start", "--image", "ab12", "--", "arg")
    eq((a["image"], a["request"]["args"]["args"],
        "program" in a["request"]["args"]), ("ab12", ["arg"], False),
       "an uploaded one")
    r = asked("start", "sh")["request"]["args"]
    ok(r["program"].endswith("/sh") and r["program"][0] == "/",
       "a bare name is looked up in $PATH", r["program"])
    big = {"BIG": "x" * 8000}
    del fake.asked[:]
    r = dbg("start", "./app", env=big)
    ok("1 environment variable" in r.err and r.code == 0 and not any(
        v.startswith("BIG=") for v in
        fake.asked[-1]["request"]["args"]["env"]),
       "what is too long for a request is left out, and said", r.err)
    a = asked("attach", "4242", "--program", "app")
    eq((a["start"], a["request"]["command"], a["request"]["args"]["pid"],
        a["request"]["args"]["program"]),
       (True, "attach", 4242, work + "/app"), "attach to a process")
    a = asked("attach", "web-1")
    eq((a["image"], a["start"], a["request"]), (
        "web-1", True, {"command": "attach", "args": {"cwd": work}}),
       "attach to a session")
    a = asked("attach", "--program", "app", "web-1", "--adapter", "x")
    eq((a["image"], a["request"]["args"]), (
        "web-1", {"cwd": work, "program": work + "/app", "adapter": "x"}),
       "with the symbols of a file here")
    ok("no such program" in dbg("attach", "web-1", "--program", "nosuch").err,
       "which has to be there")


def usage():
    for line, words in (
            ("", "usage"), ("nonsense", "no command"),
            ("breakpoint", "breakpoint add"), ("next --nonsense", "unknown"),
            ("start", "missing program"), ("start ./gone", "no such program"),
            ("start .", "is a directory"),
            ("start ./app --cwd gone", "no such directory"),
            ("start ./app --env X", "KEY=VALUE"), ("break", "where?"),
            ("break main --function f", "not both"), ("break x.c:", "colon"),
            ("break x.c:xx", '"xx" is no line'),
            ("break x.c:0", "line 0"), ("frame x", "no number"),
            ("thread 99999999999999999999", '"99999999999999999999"'),
            ("bt --thread -", "whole number"), ("locals --frame -1", "whole"),
            ("catch nothing", "panic"), ("catch", "too few"),
            ("next 1 2", "too many"), ("use", "too few"),
            ("next --timeout x", "whole number"), ("attach 0", "process id"),
            ("print", "too few"), ("breakpoint remove x", "no number"),
            ("locals --max 5", "256"), ("input", "give a text"),
            ("--system --target unix:/x status", "two daemons"),
            ("--target tls:// status", "give HOST"), ("setup nonesuch", "known"),
            ("output --tail 0", "--tail"), ("help nonsense", "no command")):
        r = dbg(*line.split())
        ok(r.code == 2 and words in r.err and not r.out,
           "wrong: debugger %s" % line, r)
    r = dbg("--json", "next", "--nonsense")
    o = json.loads(r.out)
    eq((r.code, r.err, o["schema"], o["error"]["code"]),
       (2, "", 1, "usage"), "with --json that is an object, too")
    ok("--nonsense" in o["error"]["message"], "with the same words", o)
    for args in (("help",), ("--help",), ("help", "break"), ("break", "-h"),
                 ("--version",), ("help", "breakpoint", "add")):
        r = dbg(*args)
        ok(r.code == 0 and r.out and not r.err, "help: %s" % (args,), r)


def classes():
    for code, exit_code in (
            ("not_stopped", 1), ("read_only", 1), ("unsupported", 1),
            ("evaluate_failed", 1), ("no_session", 3), ("not_found", 3),
            ("adapter_failed", 4), ("adapter_missing", 4),
            ("adapter_exited", 4), ("timeout", 5)):
        def refuse(*_, code=code):
            raise Refusal(code, "because of \x1b[31m that")
        fake.answers["next"] = refuse
        r = dbg("next")
        eq((r.code, r.out), (exit_code, ""), "exit code of " + code)
        eq(r.err, "debugger: %s: because of \\x1b[31m that\n" % code,
           "its words, harmless")
        r = dbg("next", "--json")
        o = json.loads(r.out)
        eq((r.code, r.err, o["schema"], o["error"]["code"]),
           (exit_code, "", 1, code), "the same as JSON on stdout")
    del fake.answers["next"]


WHERE = """\
Thread 1 stopped at /src/main.rs:42 in sum_up (breakpoint 1)

   40 |     let mut sum = 0;
   41 |     for i in 0..n {
-> 42 |         sum += calculate(i);
   43 |     }
   44 |     sum

Arguments:
┌──────┬──────┬───────┐
│ Name │ Type │ Value │
├──────┼──────┼───────┤
│ n    │ i32  │ 100   │
└──────┴──────┴───────┘
Locals:
┌──────┬──────┬───────┐
│ Name │ Type │ Value │
├──────┼──────┼───────┤
│ sum  │ i32  │ 4950  │
│ i    │ i32  │ 99    │
└──────┴──────┴───────┘
"""

CHANGED = """\
Thread 7 stopped at src/main.rs:3 (signal: SIGSEGV: address 0x0)
Locals:
┌──────┬───────┬─────┐
│ Name │ Value │ Was │
├──────┼───────┼─────┤
│ x    │ 2     │ 1   │
│ y    │ 5     │     │
└──────┴───────┴─────┘
Output:
out| one
err| two\\x1b[2J
out| three
Cut: locals, 2 of 30 shown; the rest: --path 'p' --offset 2, or all with --max
"""


def shown():
    eq(dbg("context").out, WHERE, "a stop")
    eq(json.loads(dbg("context", "--json").out), STOP, "the same as JSON")
    fake.answers["status"] = {
        "state": "stopped", "reason": "signal",
        "description": "SIGSEGV: address 0x0", "thread": {"id": 7},
        "frame": {"file": work + "/src/main.rs", "line": 3},
        "locals": [{"name": "x", "value": "2"}, {"name": "y", "value": "5"}],
        "changed": [{"name": "x", "old": "1", "new": "2"}],
        "output": [{"stream": "stdout", "text": "one\n"},
                   {"stream": "stderr", "text": "two\x1b[2J\r\n"},
                   {"stream": "stdout", "base64": "dGhyZWU="}],
        "truncated": [{"what": "locals", "shown": 2, "of": 30, "path": "p",
                       "offset": 2}]}
    eq(dbg("status").out, CHANGED, "a signal, changes, output, what is cut")
    fake.answers["status"]["truncated"][0]["path"] = "m['; x #']"
    ok("; the rest: --path 'm['\\''; x #'\\'']' --offset 2" in
       dbg("status").out, "a path is one word of a shell")
    fake.answers["status"] = {"state": "exited", "words": "it has ended",
                              "exit": {"code": 3}}
    eq(dbg("status").out, "it has ended\n", "an end")
    fake.answers["status"] = dict(STOP, failed_conditions=[
        {"id": 1, "error": "<expr>:1:8: no x\n  1 | x >\n"}])
    ok("(breakpoint 1)\nThe condition of breakpoint 1 failed: <expr>:1:8: no "
       "x\n\n" in dbg("status").out, "that a condition has failed", dbg(
           "status").out)
    fake.answers["status"] = {"state": "running", "words": "still running",
                              "adapter": {"name": "delve", "busy": {
                                  "request": "evaluate", "ms": 12345}}}
    eq(dbg("status").out, "delve is busy with \"evaluate\" for 12 s\n"
       "still running\n", "an adapter that others have to wait for")
    del fake.answers["status"]
    eq(dbg("--version").out.split()[0], "debugger", "the version")


LISTS = [
    ("threads", {"threads": [
        {"id": 1, "name": "main", "selected": True, "file": "/a.c",
         "line": 4},
        {"id": -2, "name": "w\x1b]0;x\x07", "function": "poll"}]}, """\
┌────┬───────────────┬─────────┬──────────┐
│ ID │ Name          │ State   │ Location │
├────┼───────────────┼─────────┼──────────┤
│ 1  │ main          │ stopped │ /a.c:4   │
│ -2 │ w\\x1b]0;x\\x07 │ stopped │ poll     │
└────┴───────────────┴─────────┴──────────┘
"""),
    ("breakpoint list", {"breakpoints": [
        {"id": 1, "kind": "line", "file": "/a.c", "line": 9999, "moved": True,
         "actual": {"file": "/a.c", "line": 26}, "enabled": True,
         "verified": True, "hits": 2},
        {"id": 12, "kind": "function", "function": "f", "enabled": False,
         "verified": True, "condition": "x > 1"}]}, """\
┌────┬──────────┬──────────┬──────────┬──────┬───────────┬\
───────────────────────────────────────────────┐
│ ID │ Kind     │ Location │ State    │ Hits │ Condition │ \
Remark                                        │
├────┼──────────┼──────────┼──────────┼──────┼───────────┼\
───────────────────────────────────────────────┤
│  1 │ line     │ /a.c:26  │ set      │    2 │           │ \
moved: there is no code in the line asked for │
│ 12 │ function │ f        │ disabled │      │ x > 1     │ \
                                              │
└────┴──────────┴──────────┴──────────┴──────┴───────────┴\
───────────────────────────────────────────────┘
"""),
    ("breakpoint list", {"breakpoints": [
        {"id": 1, "kind": "line", "file": "/a.c", "line": 1, "enabled": True,
         "verified": True, "hits": 0, "condition_error": "bad\n  1 | s.n\n"},
        {"id": 2, "kind": "line", "file": "/a.c", "line": 2, "enabled": True,
         "hits": 0, "message": 63 * "x" + "\u00e9\u00e9"}]}, """\
┌────┬──────┬──────────┬──────────────────┬──────┬\
────────────────────────────────────────────────────────────────────┐
│ ID │ Kind │ Location │ State            │ Hits │ \
Remark                                                             │
├────┼──────┼──────────┼──────────────────┼──────┼\
────────────────────────────────────────────────────────────────────┤
│  1 │ line │ /a.c:1   │ condition failed │    0 │ \
bad                                                                │
│  2 │ line │ /a.c:2   │ pending          │    0 │ \
""" + 63 * "x" + """... │
└────┴──────┴──────────┴──────────────────┴──────┴\
────────────────────────────────────────────────────────────────────┘
"""),
    ("breakpoint remove 1", {"removed": [1, 2]}, "removed 1, 2\n"),
    ("break main", {"breakpoint": {"id": 1, "words": "breakpoint 1 at x"}},
     "breakpoint 1 at x\n"),
    ("watch list", {"watchpoints": []}, "no watchpoints\n"),
    ("bt", {"frames": [
        {"index": 0, "function": "f", "file": "/a.c", "line": 3,
         "selected": True},
        {"index": 1, "address": "0x10", "module": "libc.so.6"}], "total": 9},
     "-> #0   f at /a.c:3\n   #1   ?? at 0x10 in libc.so.6\n"
     "(9 frames in all; --limit)\n"),
    ("print --type s", {"name": "s", "type": "S", "value": "{...}",
                        "fields": [{"name": "a", "type": "int", "value": "1"},
                                   {"name": "b", "type": "char *",
                                    "value": "\"x\"", "truncated": True,
                                    "bytes": 900}]},
     "(S) s = {...}\n  (int) a = 1\n  (char *) b = \"x\" ... (900 bytes)\n"),
    ("set x 2", {"name": "x", "value": "2", "old": "1"},
     "x = 2\nit was 1\n"),
    ("memory read 0x1000", {"address": "0x1000", "count": 17,
                            "hex": "41420a" + "00" * 14},
     "0x000000001000: 41 42 0a 00 00 00 00 00 00 00 00 00 00 00 00 00  "
     "|AB..............|\n"
     "0x000000001010: 00                                               "
     "|.|\n"),
    ("registers rax", {"registers": [{"name": "rax", "value": "0x1"}]}, """\
┌──────┬───────┐
│ Name │ Value │
├──────┼───────┤
│ rax  │ 0x1   │
└──────┴───────┘
"""),
    ("disassemble", {"instructions": [
        {"address": "0x10", "text": "nop", "symbol": "f+0", "current": True,
         "file": "/a.c", "line": 3, "source": "int x;"},
        {"address": "0x11", "text": "ret"}]},
     "/a.c:3: int x;\n-> 0x10 <f+0>:  nop\n   0x11:  ret\n"),
    ("raw help", {"text": "a\x1b[31mb\x1b]0;c"},
     "a\x1b[31mb\\x1b]0;c\x1b[0m\n"),
    ("source a.c:1", {"source": {"file": "/a.c", "first": 1, "current": 1,
                                 "lines": ["\tx\x07"]}},
     "/a.c\n\n-> 1 |         x\\x07\n"),
    ("locals", {"locals": []}, "none\n"),
    ("sessions", {"sessions": [
        {"session": ID, "name": "one", "state": "stopped", "current": True,
         "pid": 7}]}, """\
┌───┬──────────┬──────┬─────────┬─────┐
│   │ ID       │ Name │ State   │ PID │
├───┼──────────┼──────┼─────────┼─────┤
│ * │ 0f8b6b1e │ one  │ stopped │   7 │
└───┴──────────┴──────┴─────────┴─────┘
"""),
]


def lists():
    for line, answer, text in LISTS:
        command = {"sessions": "list"}.get(line)
        if command is None:
            command = asked(*line.split())["request"]["command"]
        fake.answers[command] = answer
        eq(dbg(*line.split()).out, text, "printed: " + line)
        got = json.loads(dbg(*line.split(), "--json").out)
        eq(got, answer, "as JSON: " + line)
        del fake.answers[command]


def on_terminal(*args):
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(work)
        os.execve(DEBUGGER, [DEBUGGER, *args], environment(
            work, DEBUGLANTERN_SOCKET=fake.path, NO_COLOR="1"))
    out = b""
    try:
        while data := os.read(master, 65536):
            out += data
    except OSError:
        pass
    os.waitpid(pid, 0)
    os.close(master)
    return out.decode(errors="replace").replace("\r\n", "\n")


def terminals():
    fake.answers["locals"] = {"locals": [
        {"name": "x", "type": "t" * 90, "value": "v" * 200}]}
    lines = on_terminal("locals").splitlines()
    ok(max(map(len, lines)) <= 80 and "~" in lines[4],
       "a box is as wide as the terminal", lines)
    del fake.answers["locals"]
    fake.output = b"a\x1b]0;title\x07b\x1b[2Jc\n"
    out = on_terminal("output", "--all")
    ok("\x1b" not in out and "\\x1b]0;title" in out,
       "what a program wrote does not steer the terminal", out)
    r = dbg("output", "--all")
    eq(r.out, fake.output.decode(), "files and pipes get the bytes")


def waits():
    def still(args, c, f):
        time.sleep(30)
    fake.answers["await"] = still
    fake.answers["print"] = still
    p = subprocess.Popen([DEBUGGER, "await"], stderr=subprocess.PIPE,
                         stdout=subprocess.PIPE, env=environment(
                             work, DEBUGLANTERN_SOCKET=fake.path))
    n = len(fake.asked)
    wait_for(lambda: len(fake.asked) > n or any(
        a.get("request", {}).get("command") == "await" for a in fake.asked))
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=30)
    ok(p.returncode == -signal.SIGINT and b"the program goes on" in err
       and not out, "Ctrl-C ends the waiting, and says so",
       (p.returncode, err))
    t = time.monotonic()
    r = dbg("print", "x", "--timeout", "1")
    ok(r.code == 5 and "timeout" in r.err and time.monotonic() - t < 20,
       "a time limit", r)
    r = dbg("print", "x", "--timeout", "1", "--json")
    eq(json.loads(r.out)["error"]["code"], "timeout", "as JSON")
    del fake.answers["await"], fake.answers["print"]


def outputs():
    fake.started_at = "2026-01-01T12:00:00Z"
    fake.output = b"".join(b"line %d\n" % i for i in range(100))
    eq(dbg("output").out, fake.output.decode(), "output: all of it at first")
    eq(dbg("output").out, "", "then what is new")
    fake.output += b"more\n"
    eq(dbg("output").out, "more\n", "which comes once")
    eq(dbg("output", DEBUGGER_CLIENT="other").out, fake.output.decode(),
       "nobody's reading takes it from another")
    eq(dbg("output", "--all").out, fake.output.decode(), "--all")
    eq(dbg("output", "--tail", "2").out, "line 99\nmore\n", "--tail")
    fake.output += b"and more\n"
    eq(dbg("output", "--clear").out, "", "--clear prints nothing")
    eq(dbg("output").out, "", "and passes over what was there")
    eq(dbg("output", DEBUGGER_CLIENT="other").out, "and more\n",
       "for the one who asked alone")
    eq(dbg("output", "--follow", "--tail", "1").out, "and more\n",
       "--follow, from the last lines on, to the end")
    fake.started_at, fake.output = "2026-01-02T00:00:00Z", b"anew\n"
    eq(dbg("output").out, "anew\n", "another run begins anew")
    fake.output = b"0123456789abcdef" * 10000
    r = dbg("output")
    ok(len(r.out) == 65536 and "passed over" in r.err,
       "a flood is cut, and that is said", (len(r.out), r.err))
    o = json.loads(dbg("output", "--all", "--json").out)
    eq(o["total"], len(fake.output), "as JSON")
    del fake.lines[:]
    eq(dbg("input", "two", "words").out, "", "input prints nothing")
    dbg("input", "-n", "bare")
    dbg("input", "-", data=b"\x00raw\xff")
    dbg("input", "--eof")
    eq(fake.typed, b"two words\nbare\x00raw\xff<eof>", "input")


def frame(o):
    body = json.dumps(o, indent=1).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def editors():
    got, replies = [], queue.Queue()

    def send(args, c, f):
        a = args["request"]["args"]
        got.append((args["session"], a["client"], a["message"]))
        replies.put({"type": "response", "n": len(got), "text": "\u00e4\n"})
        return {}

    def receive(args, c, f):
        return {"messages": [replies.get(timeout=30)],
                "end": len(got) == 2 and replies.empty()}
    fake.answers.update(dap={"client": 7, "session": ID}, dap_send=send,
                        dap_receive=receive, dap_close={})
    sent = [{"seq": 1, "command": "initialize"}, {"seq": 2, "x": "a\nb"}]
    p = subprocess.Popen([DEBUGGER, "dap", "-s", "lab"], env=environment(
        work, DEBUGLANTERN_SOCKET=fake.path), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for o in sent:
        p.stdin.write(frame(o)[:9])
        p.stdin.flush()
        p.stdin.write(frame(o)[9:])
        p.stdin.flush()
    # it ends by itself when the daemon says that all is said
    out = p.stdout.read()
    p.stdin.close()
    err = p.stderr.read()
    p.wait(60)
    eq(got, [(ID, 7, o) for o in sent],
       "an editor's messages arrive in the session that it joined")
    bodies = [part.split(b"\r\n\r\n", 1) for part in
              out.split(b"Content-Length: ")[1:]]
    ok(len(bodies) == 2 and all(int(n) == len(b) for n, b in bodies) and
       json.loads(bodies[1][1]) == {"type": "response", "n": 2,
                                    "text": "\u00e4\n"},
       "and it gets its answers", (out, err))
    eq((p.returncode, err), (0, b""), "to the end of it")
    fake.answers["dap_receive"] = lambda *_: time.sleep(30)
    for data, code in ((b"", 0), (frame(sent[0]), 0),
                       (b"Content-Length: x\r\n\r\n", 2),
                       (b"Content-Length: 2\r\n\r\n[]", 2)):
        del fake.asked[:]
        r = subprocess.run([DEBUGGER, "dap"], capture_output=True, timeout=60,
                           input=data, env=environment(
                               work, DEBUGLANTERN_SOCKET=fake.path))
        eq(r.returncode, code, "an editor that says %r and goes" % data[-9:])
        if code == 0:
            ok(any(a["request"]["command"] == "dap_close"
                   for a in fake.asked), "and the daemon is told")
    for name in ("dap", "dap_send", "dap_receive", "dap_close"):
        del fake.answers[name]


def sockets():
    r = dbg("status", server=None, DEBUGLANTERN_SOCKET=work + "/none")
    ok(r.code == 3 and "none" in r.err, "nobody listens", r)
    os.chmod(fake.dir, 0o777)
    r = dbg("status")
    ok(r.code == 3 and "can be written by others" in r.err,
       "a directory that others may write in", r)
    os.chmod(fake.dir, 0o700)
    os.symlink(fake.path, work + "/link")
    r = dbg("status", server=None, DEBUGLANTERN_SOCKET=work + "/link")
    ok(r.code == 3 and "symbolic link" in r.err, "a symbolic link", r)
    if os.geteuid() == 0:
        other = FakeDebugger()
        os.chown(other.path, 4321, 4321)
        r = dbg("status", server=other)
        ok(r.code == 3 and "uid 4321" in r.err, "somebody else's socket", r)
    r = dbg("sessions", server=None)
    ok(r.code == 0 and "no debug sessions" in r.out,
       "without a daemon there are no sessions", r)
    eq(json.loads(dbg("sessions", "--json", server=None).out),
       {"schema": 1, "sessions": []}, "as JSON")
    r = dbg("next", server=None)
    ok(r.code == 3 and "debugger start" in r.err,
       "nothing but start needs a daemon that is not there", r)
    r = dbg("--target", fake.target, "context", server=None)
    eq(r.out, WHERE, "--target unix:")
    far = FakeDebugger(tcp=True)
    r = dbg("--target", far.target, "context", server=None)
    eq((r.code, r.out), (0, WHERE), "--target HOST:PORT")
    far.close()


STARTER = """#!/usr/bin/env python3
import os, socket, sys, time
with open(os.environ["STARTS"], "a") as f:
    f.write(" ".join(sys.argv[1:]) + "\\n")
if os.environ.get("FAIL"):
    print("debuglanternd: the reason is this", file=sys.stderr)
    sys.exit("and this is how it is used")
s = socket.socket(socket.AF_UNIX)
s.bind(os.environ["XDG_RUNTIME_DIR"] + "/debuglantern/debuglantern.sock")
s.listen(64)
if os.fork():
    os._exit(0)
os.setsid()
os.dup2(os.open("/dev/null", os.O_RDWR), 2)
for i in range(int(os.environ["CLIENTS"])):
    c = s.accept()[0]
    c.makefile().readline()
    c.sendall(b'{"words":"hello"}\\n')
    c.close()
"""


def daemons():
    bin_dir = os.path.join(work, "bin")
    os.mkdir(bin_dir)
    shutil.copy(DEBUGGER, bin_dir)
    with open(bin_dir + "/debuglanternd", "w") as f:
        f.write(STARTER)
    os.chmod(bin_dir + "/debuglanternd", 0o755)
    runtime = os.path.join(work, "runtime")
    os.mkdir(runtime, 0o700)
    starts = os.path.join(work, "starts")
    env = environment(work, XDG_RUNTIME_DIR=runtime, STARTS=starts,
                      CLIENTS="6", FAIL="1")
    r = run([bin_dir + "/debugger", "start", "./app"], env, cwd=work)
    ok(r.code == 3 and "the reason is this" in r.err and "used" not in r.err,
       "a daemon that cannot start says why", r)
    del env["FAIL"]
    many = [subprocess.Popen([bin_dir + "/debugger", "start", "./app"],
                             env=env, cwd=work, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE) for _ in range(6)]
    got = [(p.communicate(timeout=60), p.returncode) for p in many]
    ok(all(c == 0 and o == b"hello\n" for (o, _), c in got),
       "six that need a daemon at once have one", got)
    with open(starts) as f:
        lines = f.read().splitlines()
    eq(len(lines), 2, "which was started once")
    ok("--local" in lines[1].split(), "for the local socket alone", lines)
    mode = stat.S_IMODE(os.stat(runtime + "/debuglantern").st_mode)
    eq(mode, 0o700, "in a directory of the user's own")
    os.chmod(runtime + "/debuglantern", 0o777)
    os.unlink(runtime + "/debuglantern/debuglantern.sock")
    r = run([bin_dir + "/debugger", "start", "./app"], env, cwd=work)
    ok(r.code == 3 and "writable by others" in r.err,
       "not in one that others may write in", r)


def adapters():
    r = dbg("setup", "--json")
    o = json.loads(r.out)
    names = [a["name"] for a in o["adapters"]]
    ok({"lldb-dap", "delve", "debugpy"} <= set(names), "setup", o)
    ok(all(a["usable"] and a["path"] and a["version"] or a["install"]
           for a in o["adapters"]), "each is there, or how to have it", o)
    gdb = next(a for a in o["adapters"] if a["name"] == "gdb")
    ok(gdb["usable"] or shutil.which("gdb") is None or
       ("14 or later" in gdb["install"] and "speaks no DAP" in
        gdb["install"]), "a gdb that is too old is named", gdb)
    here = {a["name"]: a["usable"] for a in o["adapters"]}
    for name in ("lldb-dap", "gdb"):
        eq(dbg("setup", "--check", name).code, 0 if here[name] else 4,
           "--check tells by its exit code: " + name)


def completions():
    out = dbg("help", "--completion").out
    ok("breakpoint add:" in out and "--json:" in out, "for the shells", out)
    out = dbg("help", "--completion", "break").out
    ok("--condition=:" in out, "a command's options", out)
    fake.answers["list"] = {"sessions": [{"session": ID, "name": "lab"}]}
    for line, wanted in (("debugger brea", "breakpoint"),
                         ("debugger breakpoint en", "enable"),
                         ("debugger use l", "lab"),
                         ("debugger -s 0f", ID),
                         ("debugger next --inst", "--instruction"),
                         ("debugger help memo", "memory")):
        words = line.split()
        script = ("source %s/../../etc/completions/debugger; COMP_WORDS=(%s);"
                  "COMP_CWORD=%d; _debugger; echo ${COMPREPLY[@]}" %
                  (HERE, line, len(words) - 1))
        r = run(["bash", "-c", script], environment(
            work, DEBUGLANTERN_SOCKET=fake.path, PATH=os.path.dirname(
                DEBUGGER) + ":" + os.environ["PATH"]))
        eq(r.out.split(), [wanted], "bash completes " + line)
    del fake.answers["list"]


if __name__ == "__main__":
    try:
        run_tests(requests, starts, usage, classes, shown, lists, terminals,
                  waits, outputs, editors, sockets, daemons, adapters,
                  completions)
    finally:
        shutil.rmtree(work, ignore_errors=True)
