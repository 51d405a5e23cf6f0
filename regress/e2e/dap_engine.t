#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# The debugger's engine over the adapters that this machine has: lldb-dap 19
# and 22, delve and debugpy, each with a program of its own language.
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dbgadapters import WORK, adapters, built
from dbgrig import Failed
from dl import AS_ROOT, alive, eq, ok, run_tests, tap, wait_for

OUTPUT = "i=0 sum=0\ni=1 sum=1\ni=2 sum=5\n"
# what the adapters of each kind debug here
PROGRAMS = {
    "native": ("./prog", "prog.c", "cc", "-g", "-O0", "-pthread", "-o",
               "prog", "prog.c"),
    "go": ("./goprog", "prog.go", "go", "build", "-gcflags=all=-N -l", "-o",
           "goprog", "prog.go"),
    "python": ("prog.py", "prog.py"),
}


class Debugged:
    """An adapter that is there, and the program that it debugs."""

    def __init__(self, adapter):
        self.name, self.adapter = adapter.name, adapter.adapter
        self.native = adapter.kind == "native"
        self.program = PROGRAMS[adapter.kind][0]
        self.rig = adapter.rig
        self.begin = adapter.start

    def start(self, r, *args, **kw):
        return self.begin(r, self.program, *args, **kw)


def debugged():
    there = adapters()
    for kind in {a.kind for a in there}:
        built(*PROGRAMS[kind][1:])
    return [Debugged(a) for a in there]


def text(result, stream=None):
    return "".join(o.get("text", "") for o in result.get("output", [])
                   if stream in (None, o.get("stream")))


def ended(result):
    return result["state"] in ("exited", "terminated")


def to_the_end(r, s):
    """sys.exit() with a code is an exception to some."""
    while s["state"] == "stopped" and s["reason"] == "exception":
        s = dict(r.ask("continue"), output=s["output"])
    return s


def tree_left(pids):
    return [p for p in pids if alive(p)]


# --- each of them --------------------------------------------------------
def life(a):
    with a.rig() as r:
        s = a.start(r)
        eq((s["state"], s["reason"], s["breakpoints"]),
           ("stopped", "entry", []), "stopped where it begins")
        ok(s["frame"]["line"] > 0, "in a source file", s)
        epochs = [s["epoch"]]
        for i in range(3):
            s = r.ask("next")
            eq((s["state"], s["reason"]), ("stopped", "step"), f"next {i}")
            epochs.append(s["epoch"])
        ok(epochs == sorted(set(epochs)), "epochs grow")
        s = to_the_end(r, r.ask("continue"))
        ok(ended(s), "it ends", s)
        eq(s.get("exit"), {"code": 3}, "with its exit code")
        eq(r.refused("next")["code"], "not_running", "no step after that")
        told = r.state("terminated")
        eq((told["ended"], told["code"]), (True, 3), "the session knows, too")
        ok(wait_for(lambda: not r.tree(), 60), "the adapter is gone")
        s = r.ask("restart")
        eq(s["state"], "stopped", "restart")
        s = to_the_end(r, r.ask("continue"))
        eq(s.get("exit"), {"code": 3}, "again to the end")


def output(a):
    with a.rig() as r:
        s = to_the_end(r, a.start(r, stop_on_entry=False))
        ok(ended(s), "it ran to its end", s)
        eq(text(s, "stdout"), OUTPUT, "its output, byte by byte")
        eq(text(s, "stderr"), "to stderr\n", "and its errors apart")


def input_(a):
    with a.rig() as r:
        a.start(r, "read")
        n = r.send("continue")
        r.raw({"command": "_input", "args": {"text": "a line\n"}})
        s = r.answer(n)
        ok("got a line" in text(s), "it read what was typed", s)


def environment(a):
    with a.rig() as r:
        s = a.start(r, "env", env=["A=x=y", "PATH=" + os.environ["PATH"]],
                    stop_on_entry=False)
        ok("A=x=y\n" in text(s), "the client's environment", text(s))


def calls(a):
    with a.rig() as r:
        a.start(r)
        for _ in range(30):
            s = r.ask("step")
            if "square" in s["frame"]["function"]:
                break
        ok("square" in s["frame"]["function"], "step goes in", s["frame"])
        s = r.ask("finish")
        ok("square" not in s["frame"]["function"], "finish comes out",
           s["frame"])
        s = r.ask("next", count=2)
        eq(s["reason"], "step", "two steps at once")
        file = s["frame"]["file"]
        s = r.ask("until", file=file, line=last_line(file))
        eq((s["reason"], s["frame"]["line"]), ("until", last_line(file)),
           "until a line")
        eq(r.ask("breakpoint_list")["breakpoints"], [],
           "which is no breakpoint")


def refused_finish_leaves_a_session(a):
    """Where it begins there is no frame to finish: lldb-dap 19 says that it
    does so, and leaves the program where it is."""
    with a.rig() as r:
        a.start(r, stop_on_entry=True)
        n = r.send("finish")
        try:
            s = r.answer(n)
        except Failed as e:
            eq(e.code, "refused", "a finish that is none is refused")
            if a.name == "lldb-19":
                ok("has not moved" in e.message, "because nothing moved",
                   e.message)
            s = r.ask("status")
            eq((s["state"], s["reason"]), ("stopped", "entry"),
               "it is stopped as before")
            ok(r.ask("backtrace")["frames"], "it can be looked at")
            # without a line table gdb steps by instruction alone
            how = {"granularity": "instruction"} if a.name == "gdb" else {}
            eq(r.ask("next", **how)["reason"], "step", "and stepped")
        s = s if ended(s) else to_the_end(r, r.ask("continue"))
        eq(s.get("exit"), {"code": 3}, "and runs to its end")


def runs_for_long(a):
    with a.rig() as r:
        a.start(r, "loop")
        r.ask("continue", wait=False)
        time.sleep(2.5)
        eq(r.ask("status")["state"], "running",
           "one that runs is not taken for one that stands")
        eq(r.ask("pause")["reason"], "pause", "and can be paused")


def last_line(file):
    """Of main, before it returns or exits."""
    with open(file) as f:
        return max(i for i, s in enumerate(f, 1)
                   if "return 3" in s or "xit(3)" in s)


def pausing(a):
    with a.rig() as r:
        go = a.start(r, "loop", stop_on_entry=False, wait=False)
        eq(go["state"], "running", "started without waiting")
        ok(wait_for(lambda: OUTPUT in text(r.ask("status")), 20),
           "it runs")
        s = r.ask("await", timeout_s=0)
        eq(s["state"], "running", "still running is an answer")
        ok("running" in s.get("words", "running"), "with words", s)
        waiting = r.send("await", conn=2, since=s["epoch"])
        s = r.ask("pause", conn=3)
        eq((s["state"], s["reason"]), ("stopped", "pause"), "paused")
        eq(r.answer(waiting)["epoch"], s["epoch"], "who waited hears of it")
        eq(r.ask("continue", wait=False)["state"], "running", "and goes on")
        eq(r.ask("pause")["reason"], "pause", "paused once more")


def killed_adapter(a):
    with a.rig() as r:
        a.start(r, "loop")
        tree = r.tree()
        n = r.send("continue")
        r.state("running")
        os.kill(victim(r.p.pid), signal.SIGKILL)
        try:
            s = r.answer(n)
            ok(False, "who waits hears of it", s)
        except Exception as e:
            eq(getattr(e, "code", e), "adapter_exited",
               "who waits hears of it")
        ok(wait_for(lambda: not tree_left(tree), 20),
           "nothing of its tree is left", tree_left(tree))
        eq(a.start(r)["state"], "stopped", "the next start works")


def victim(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return int(f.read().split()[0])


def stopping(a):
    with a.rig() as r:
        a.start(r, "loop", stop_on_entry=False, wait=False)
        r.state("running")
        tree = r.tree()
        ok(len(tree) >= 1, "it has processes")
        ok("words" in r.ask("stop"), "stop")
        ok(wait_for(lambda: not tree_left(tree), 20), "all have ended",
           tree_left(tree))


def attaching(a):
    if a.name == "debugpy":
        argv = ["/usr/bin/python3", "prog.py"]
    else:
        argv = [os.path.join(WORK, a.program)]
    p = subprocess.Popen(argv + ["loop"], cwd=WORK,
                         stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    kw = {"adapter": a.adapter or a.name}
    try:
        with a.rig() as r:
            s = r.ask("attach", pid=p.pid, **kw)
            eq(s["state"], "running", "attached, it runs")
            eq(r.ask("pause")["state"], "stopped", "it can be paused")
            ok("words" in r.ask("detach"), "left")
            ok(p.poll() is None, "it lives")
            ok(wait_for(lambda: stat(p.pid) != "t", 20), "and runs",
               stat(p.pid))
    finally:
        p.kill()
        p.wait()


def injectors(a):
    """debugpy attaches by lldb or gdb: without one that works, no waiting."""
    if a.name != "debugpy":
        return
    p = subprocess.Popen(["/usr/bin/python3", "prog.py", "loop"], cwd=WORK,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for name, script, words in (
                ("none", None, "apt-get install lldb-19"),
                ("fails", "echo error: attach failed: no; exit 1",
                 "error: attach failed: no"),
                ("lies", "echo '(void *) $0 = 0x1'; echo '(int) $1 = 2'",
                 "$1 = 2"),
                ("silent", "exit 0", "no output"),
                ("floods", "while echo error: a flood; do :; done",
                 "error: a flood")):
            where = os.path.join(WORK, name)
            os.mkdir(where)
            if script is not None:
                with open(os.path.join(where, "lldb"), "w") as f:
                    f.write("#!/bin/sh\n" + script + "\n")
                os.chmod(f.name, 0o755)
            with a.rig(env={"PATH": where}) as r:
                began = time.monotonic()
                e = r.refused("attach", pid=p.pid, adapter=a.name)
                ok(words in e.get("message", ""), f"{name}: it says why", e)
                eq(e.get("code"), "adapter_exited" if script else
                   "adapter_missing", f"{name}: by its code")
                # debugpy waits for 15 seconds
                ok(time.monotonic() - began < 12, f"{name}: soon")
            ok(p.poll() is None and stat(p.pid) != "t",
               f"{name}: the program goes on")
        with open(os.path.join(WORK, "silent", "lldb"), "w") as f:
            f.write("#!/bin/sh\n/bin/sleep 3\n")
        with a.rig(env={"PATH": os.path.dirname(f.name)}) as r:
            n = r.send("attach", pid=p.pid, adapter=a.name)
            for command in ("stop", "restart"):
                e = r.refused(command)
                ok("would kill" in e.get("message", ""),
                   f"{command} waits for the injector", e)
            try:
                e = {"not an error": r.answer(n)}
            except Failed as failed:
                e = failed.error
            ok("no output" in e.get("message", ""), "which has its time", e)
    finally:
        p.kill()
        p.wait()


def stat(pid):
    with open(f"/proc/{pid}/stat") as f:
        return f.read().rsplit(")", 1)[1].split()[0]


# --- some of them --------------------------------------------------------
def signals(a):
    if not a.native:
        return
    for how, name in (("segv", "SIGSEGV"), ("abort", "SIGABRT")):
        with a.rig() as r:
            s = a.start(r, how, stop_on_entry=False)
            eq(s["reason"], "signal", f"{how}: stopped by the signal")
            ok(name in s["description"], f"{how}: which one", s)
            eq(r.ask("continue").get("exit"), {"signal": name},
               f"{how}: and dies of it")
    with a.rig() as r:
        s = a.start(r, "raise", stop_on_entry=False)
        eq(s["reason"], "signal", "another signal")
        r.ask("stop")
    with a.rig() as r:
        s = a.start(r, "harmless", stop_on_entry=False)
        eq(s.get("exit"), {"code": 3}, "what nobody minds stops nothing")


def exceptions(a):
    if a.name not in ("delve", "debugpy"):
        return
    with a.rig() as r:
        s = a.start(r, "abort", stop_on_entry=False)
        if s["state"] == "stopped":
            eq(s["reason"], "exception", "a panic stops it")
            s = r.ask("continue")
        ok(ended(s), "then it ends", s)
        ok("boom" in text(s) or a.name == "delve", "with its words", text(s))


def entry(a):
    with a.rig() as r:
        s = a.start(r, stop_on_entry=True)
        eq((s["state"], s["reason"]), ("stopped", "entry"),
           "its very first instruction")


def instructions(a):
    with a.rig() as r:
        a.start(r)
        if a.name in ("lldb-19", "lldb-22", "gdb", "delve"):
            for way in ("next", "step"):
                s = r.ask(way, granularity="instruction")
                eq(s["state"], "stopped", f"{way} by instruction")
        else:
            e = r.refused("next", granularity="instruction")
            ok(e["code"] == "unsupported" and a.name in e["message"],
               "refused with words", e)
            eq(r.ask("status")["state"], "stopped", "and nothing moved")


def terminal(a):
    if not a.native:
        return
    with a.rig() as r:
        s = a.start(r, "tty", stop_on_entry=False, tty=True)
        ok("tty 111" in text(s), "a terminal", text(s))


def exact_bytes(a):
    if not a.native:
        return
    with a.rig() as r:
        s = a.start(r, "bytes", stop_on_entry=False)
        coded = [o for o in s["output"] if "base64" in o]
        ok(coded, "what is no text comes as base64", s["output"])


def detaching(a):
    if not a.native:
        return
    with a.rig() as r:
        a.start(r, "loop", stop_on_entry=False, wait=False)
        r.state("running")
        pid = r.ask("pause")["epoch"] and r.ask("status")["pid"]
        began = time.monotonic()
        n = r.send("detach")
        eq(r.ask("status")["state"], "idle", "asked meanwhile")
        r.answer(n)
        ok(alive(pid) and time.monotonic() - began < 60, "it goes on alone")
        # gdb kills it when it ends, a moment later
        time.sleep(1)
        ok(alive(pid), "and the adapter does not take it along")


def no_such(a):
    with a.rig() as r:
        e = r.refused("start", program="./none", cwd=WORK,
                      adapter=a.adapter or a.name)
        ok(e["code"] in ("adapter_failed", "invalid_argument") and
           "none" in e["message"], "a program that is not there", e)
        ok(not re.search(r"[\x00-\x1f]", e["message"]) or
           "\n" in e["message"], "in words")
        for program, words in ((WORK, "Is a directory"),
                               ("", "program is empty")):
            e = r.refused("start", program=program, cwd=WORK,
                          adapter=a.adapter or a.name)
            ok(e["code"] == "invalid_argument" and words in e["message"],
               f"{words}: it is refused at once", e)
        eq(a.start(r)["state"], "stopped", "the right one starts")


TESTS = (life, output, input_, environment, calls,
         refused_finish_leaves_a_session,
         runs_for_long, pausing, killed_adapter,
         stopping, attaching, injectors, signals, exceptions, entry, instructions,
         terminal, exact_bytes, detaching, no_such)


def every_adapter():
    only = os.environ.get("DL_ONLY", "")
    there = debugged()
    ok(there, "there is an adapter")
    for a in there:
        for t in TESTS:
            if only not in a.name + " " + t.__name__:
                continue
            tap.prefix = f"{a.name} {t.__name__}: "
            try:
                t(a)
            except Exception as e:  # noqa: one test of many
                ok(False, "ran to its end", repr(e)[:3000])
    tap.prefix = ""


every_adapter.chooses = True
assert AS_ROOT in (True, False)
run_tests(every_adapter)
