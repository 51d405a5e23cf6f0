#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# How it ends, and what is said of it: the program, the adapter, the debugger's
# process, by itself or by force, of a program that the debugger has started,
# of one that ran in a session before, and of a process that is no session's.
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from dl import (AS_ROOT, Client, Daemon, alive, copy_source,  # noqa: E402
                eq, ok, run_tests, stat_of, tap, wait_for)

work = tempfile.mkdtemp(prefix="dl-ends-")
os.chmod(work, 0o755)
PROGRAM = work + "/waits"
SIGKILL = signal.SIGKILL


class Case:
    """A program under a debugger; whose it is is the subclass's matter."""
    lives_on = True             # without its debugger

    def __init__(self, d):
        self.d = d
        self.c = d.client()
        self.j = Client(d.dir + "/run/debuglantern.sock", uid=d.uid,
                        timeout=120)
        self.begin()

    def ask(self, **args):
        self.j.send(json.dumps({"id": 1, "command": "debugger",
                                "args": args}) + "\n")
        r = json.loads(self.j.recv_line())
        return r["result"] if r["success"] else r["error"]

    def do(self, command, **args):
        return self.ask(session=self.name, request={"command": command,
                                                    "args": args})

    def status(self):
        return self.c.cmd("STATUS " + self.name)

    def becomes(self, state):
        return wait_for(lambda: self.status().get("state") == state, 30)

    def adapter(self):
        return [p for p in self.d.processes()
                if (stat_of(p) or ("",))[0].startswith("lldb-dap")][0]

    def debugger(self):
        return [p for p in self.d.processes()
                if (stat_of(p) or ("",))[0] == "debugger"][0]

    def type(self, text):
        self.c.send("INPUT %s %d\n%s" % (self.name, len(text), text))
        self.c.json()

    def end(self):
        for c in (self.c, self.j):
            c.close()


class Started(Case):
    lives_on = False

    def begin(self):
        self.name = "t"
        r = self.ask(start=True, name="t", request={
            "command": "start", "args": {
                "program": PROGRAM, "cwd": work, "args": [],
                "env": ["PATH=/usr/bin:/bin"], "stop_on_entry": False,
                "wait": False}})
        ok(r.get("state") == "running", "begun", r)
        self.c.until("t", b"here")
        self.pid = self.status()["pid"]


class Beside(Case):
    def begin(self):
        self.name = self.c.cmd("NEW start=now -- " + PROGRAM)["id"]
        self.c.until(self.name, b"here")
        self.pid = self.status()["pid"]
        r = self.ask(start=True, session=self.name, request={
            "command": "attach", "args": {"adapter": "lldb-dap"}})
        ok(r.get("state") == "running", "begun", r)

    def end(self):
        self.c.cmd("KILL " + self.name)
        self.c.cmd("WAIT " + self.name + " 20")
        self.c.cmd("DELETE " + self.name)
        super().end()


class ByPid(Case):
    def begin(self):
        kw = {} if self.d.uid is None else {
            "user": self.d.uid, "group": self.d.uid, "extra_groups": []}
        self.p = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL,
                                  preexec_fn=allow_tracing, **kw)
        self.pid = self.p.pid
        self.name = "t"
        r = self.ask(start=True, name="t", request={
            "command": "attach", "args": {"pid": self.pid, "cwd": "/",
                                          "adapter": "lldb-dap"}})
        ok(r.get("state") == "running", "begun", r)

    def type(self, text):
        self.p.stdin.write(text.encode())
        self.p.stdin.flush()

    def end(self):
        self.p.kill()
        self.p.wait(30)
        self.p.stdin.close()
        super().end()


def allow_tracing():
    """Yama lets nobody but parents trace, unless told."""
    import ctypes
    ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)


def gone(pid):
    """Also as what its parent has not looked at yet."""
    return wait_for(lambda: not alive(pid), 30)


def program_exits(x):
    x.type("end\n")
    s = x.do("await")
    eq((s["state"], s.get("exit"), s["words"]), ("exited", {"code": 7},
       "the program has ended with exit code 7"), "the debugger's words")
    ok(x.becomes("STOPPED"), "its session is STOPPED", x.status())
    eq((x.status()["exit_code"], x.status()["signal"]), (7, None),
       "with its exit code")
    r = x.do("next")
    ok(r["code"] == "not_running" and "exit code 7" in r["message"],
       "later, too", r)
    r = x.do("stop")
    ok("goes on" not in r["words"], "nothing goes on", r)


def program_is_killed(x):
    os.kill(x.pid, SIGKILL)
    s = x.do("await")
    # lldb calls it 9, others know
    known = [{"signal": "SIGKILL"}]
    if not isinstance(x, Beside):
        known.append({"code": 9})
    ok(s["state"] == "exited" and s.get("exit") in known, "how, if known", s)
    ok("SIGKILL" in s["words"], "and in words", s)
    ok(x.becomes("STOPPED"), "its session is STOPPED", x.status())
    if isinstance(x, Beside):
        eq((x.status()["exit_code"], x.status()["signal"]),
           (None, "SIGKILL"), "the session knows the signal")
    x.do("stop")


def program_crashes(x):
    """Signals that stop it first."""
    s = x.do("pause")
    os.kill(x.pid, signal.SIGSEGV)
    s = x.do("continue")
    while s.get("state") == "stopped" and s["reason"] != "signal":
        s = x.do("continue")
    eq(s.get("reason"), "signal", "it stops at the signal")
    s = x.do("continue")
    eq((s["state"], s.get("exit"), s["words"]),
       ("exited", {"signal": "SIGSEGV"}, "the program was ended by SIGSEGV"),
       "and is ended by it")
    ok(x.becomes("STOPPED"), "its session is STOPPED", x.status())
    eq((x.status()["exit_code"], x.status()["signal"]), (None, "SIGSEGV"),
       "with the signal")
    x.do("stop")


def adapter_dies(x):
    os.kill(x.adapter(), SIGKILL)
    r = x.do("await")
    eq(r.get("code"), "adapter_exited", "who waits is told")
    s = x.do("status")
    ok("lldb-dap" in s["words"] and s["state"] == "terminated" and
       "exit" not in s, "what has ended is the adapter", s)
    eq("goes on without a debugger" in s["words"], x.lives_on,
       "and whether the program does not")
    if x.lives_on:
        ok(alive(x.pid), "it lives")
        r = x.do("next")
        ok("debugger attach" in r["message"], "it can be attached to", r)
        kw = {"pid": x.pid} if isinstance(x, ByPid) else {}
        r = x.do("attach", adapter="lldb-dap", **kw)
        eq(r.get("state"), "running", "once more")
        ok("goes on" in x.do("stop")["words"], "it is left")
    else:
        ok(gone(x.pid), "it ended with it")
        ok(x.becomes("STOPPED"), "its session is STOPPED", x.status())
        ok("restart" in x.do("next")["message"], "it can be run again")
        x.do("stop")


def debugger_dies(x):
    os.kill(x.debugger(), SIGKILL)
    if isinstance(x, Beside):
        ok(x.becomes("RUNNING"), "its session is RUNNING", x.status())
        x.type("end\n")
        ok(x.becomes("STOPPED"), "until it ends", x.status())
        eq(x.status()["exit_code"], 7, "with its exit code")
        return
    ok(x.becomes("STOPPED"), "its session is STOPPED", x.status())
    if x.lives_on:
        ok(alive(x.pid), "the process lives")
        eq(x.status()["signal"], None, "of which nothing wrong is said")
    else:
        ok(gone(x.pid), "the program ended with it")
    x.c.cmd("DELETE " + x.name)


def detached(x):
    r = x.do("detach")
    ok("goes on" in r.get("words", ""), "detach", r)
    ok(wait_for(lambda: not held(x.pid), 30) and alive(x.pid),
       "nobody holds it, and it lives")
    r = x.do("stop")
    ok("goes on" in r["words"], "stop leaves it alone", r)
    ok(alive(x.pid), "it lives")
    if isinstance(x, ByPid):
        return
    ok(x.becomes("RUNNING"), "its session is RUNNING", x.status())
    x.type("end\n")
    ok(gone(x.pid), "until it ends")
    if isinstance(x, Beside):
        ok(x.becomes("STOPPED"), "its session is STOPPED", x.status())
        eq(x.status()["exit_code"], 7, "with its exit code")


def taken_up(x):
    """What it let go of, it can attach to again, at once."""
    kw = {"pid": x.pid} if isinstance(x, ByPid) else {}
    for i in range(2):
        r = x.do("detach")
        ok("goes on" in r.get("words", ""), "detach", r)
        if i == 0 and isinstance(x, Started):
            r = x.do("restart")
            ok("debugger attach" in r.get("message", ""),
               "it is no second time run beside itself", r)
        r = x.do("attach", adapter="lldb-dap", **kw)
        eq(r.get("state"), "running", "and attach")
    ok(alive(x.pid), "it lives")
    eq(x.status()["pid"], x.pid, "it is the session's program still")
    eq(x.do("pause").get("state"), "stopped", "it can be stopped")
    x.do("continue", wait=False)
    x.type("end\n")
    s = x.do("await")
    eq((s["state"], s.get("exit")), ("exited", {"code": 7}), "its end is seen")
    ok(x.becomes("STOPPED"), "its session is STOPPED", x.status())
    eq((x.status()["exit_code"], x.status()["signal"]), (7, None),
       "with its exit code")
    r = x.do("restart")
    eq(r.get("code"), "refused", "what was attached to is not run again")
    x.do("stop")


def taken_up_later(x):
    """The adapter has gone for long, and there is no word of the program."""
    r = x.do("detach")
    ok("goes on" in r.get("words", ""), "detach", r)
    if not isinstance(x, ByPid):
        ok(x.becomes("RUNNING"), "its session is RUNNING", x.status())
        ok("debugger attach" in x.do("status")["words"], "what can be done")
        ok("debugger attach" in x.do("next")["message"], "is said")
        r = x.do("attach", adapter="lldb-dap")
        eq((r.get("state"), x.status()["state"]), ("running", "DEBUGGING"),
           "and done")
    ok("goes on" in x.do("stop")["words"], "stop leaves it alone")
    ok(wait_for(lambda: not held(x.pid), 30) and alive(x.pid), "it lives")
    if isinstance(x, ByPid):
        return
    ok(x.becomes("RUNNING"), "its session is RUNNING", x.status())
    x.type("end\n")
    ok(gone(x.pid), "until it ends")


def both_die(x):
    """The program, and its adapter before it could say so."""
    adapter = x.adapter()
    os.kill(adapter, signal.SIGSTOP)
    os.kill(x.pid, SIGKILL)
    ok(gone(x.pid), "the program has ended")
    os.kill(adapter, SIGKILL)
    s = x.do("await")
    if not x.lives_on:
        eq(s.get("code"), "adapter_exited", "its adapter's end is its own")
    else:
        eq((s.get("state"), s.get("exit")),
           ("exited", {"signal": "SIGKILL"}), "how it has ended")
        ok("SIGKILL" in s["words"] and "goes on" not in s["words"],
           "in words", s)
    ok(x.becomes("STOPPED"), "its session is STOPPED", x.status())
    ok("goes on" not in x.do("stop")["words"], "nothing goes on")


def held(pid):
    with open("/proc/%d/status" % pid) as f:
        return "TracerPid:\t0\n" not in f.read()


def stopped(x):
    r = x.do("stop")
    eq("goes on" in r["words"], x.lives_on, "stop says what becomes of it")
    if x.lives_on:
        ok(wait_for(lambda: not held(x.pid), 30) and alive(x.pid),
           "nobody holds it, and it lives")
    else:
        ok(gone(x.pid), "it has ended")


ENDS = (program_exits, program_is_killed, program_crashes, adapter_dies,
        debugger_dies, detached, taken_up, taken_up_later, both_die, stopped)


def every_end():
    only = os.environ.get("DL_ONLY", "")
    with Daemon("user") as d:
        for kind in (Started, Beside, ByPid):
            for t in ENDS:
                tap.prefix = "%s %s: " % (kind.__name__, t.__name__)
                if only not in tap.prefix:
                    continue
                try:
                    x = kind(d)
                    t(x)
                    x.end()
                except Exception as e:  # noqa: one of many
                    ok(False, "ran to its end", repr(e)[:2000])
                none_left(d)
    tap.prefix = ""


def none_left(d):
    c = d.client()
    ok(wait_for(lambda: c.cmd("LIST") == [], 60), "no session is left",
       c.cmd("LIST"))
    for s in c.cmd("LIST"):
        c.cmd("KILL " + s["id"])
        c.cmd("DELETE " + s["id"])
    ok(wait_for(lambda: not [p for p in d.processes() if (stat_of(p) or (
        "",))[0].startswith(("lldb", "debugger", "waits"))], 60),
       "nor a process of one")
    c.close()


every_end.chooses = True
assert AS_ROOT in (True, False)
copy_source(HERE + "/debuggees/waits.c", work)
subprocess.run(["gcc", "-g", "-O0", "-o", "waits", "waits.c"], cwd=work,
               check=True)
try:
    run_tests(every_end)
finally:
    shutil.rmtree(work, ignore_errors=True)
