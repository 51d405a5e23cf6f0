#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# debugger from end to end: real programs, real debug adapters. A matrix of
# commands and adapters says what works and what an adapter cannot.
import atexit
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from dapwire import Wire  # noqa: E402
from dbgmatrix import (Tables, allow_tracing, at, matrix,  # noqa: E402
                       refused, text_of, values)
from dl import (ALICE, AS_ROOT, BIN, BOB, LIBEXEC, Client, Daemon,  # noqa: E402
                alive, copy_source, descendants, eq, has_watchpoints,
                listener_of,
                narrow, ok, passwd_wrapper, run_tests, runs_narrow, tar_of,
                wait_for)
from fake_debugger import DEBUGGER, environment, run  # noqa: E402

SOURCES = os.path.join(HERE, "debuggees")
LLDB22 = os.path.join(HERE, "../lldb22.sh")
work = tempfile.mkdtemp(prefix="dl-debugger-")
os.chmod(work, 0o755)


def build():
    for name in os.listdir(SOURCES):
        copy_source(os.path.join(SOURCES, name), work)
    env = dict(os.environ, HOME=work, GOFLAGS="-mod=mod", GOCACHE=work + "/gc")
    for argv in (["gcc", "-g", "-O0", "-o", "c", "prog.c"],
                 ["gcc", "-g", "-O0", "-o", "crash", "crash.c"],
                 ["strip", "-o", "bare", "c"],
                 ["gcc", "-g", "-O0", "-o", "forks", "forks.c"],
                 ["gcc", "-g", "-O0", "-pthread", "-o", "threads",
                  "threads.c"],
                 ["g++", "-g", "-O0", "-o", "throw", "throw.cc"],
                 ["go", "build", "-gcflags=all=-N -l", "-o", "go", "prog.go"]):
        subprocess.run(argv, cwd=work, env=env, check=True, timeout=300)
    shutil.rmtree(work + "/gc", ignore_errors=True)


class User:
    """Somebody at a daemon."""

    def __init__(self, daemon, uid=None, **extra):
        self.home = tempfile.mkdtemp(prefix="dl-home-")
        atexit.register(shutil.rmtree, self.home, True)
        self.uid = daemon.uid if uid is None else uid
        self.kw = {}
        if self.uid is not None and AS_ROOT:
            os.chown(self.home, self.uid, self.uid)
            self.kw = {"user": self.uid, "group": self.uid,
                       "extra_groups": []}
        self.env = environment(self.home, **extra)
        self.env["DEBUGLANTERN_SOCKET"] = daemon.dir + \
            "/run/debuglantern.sock"
        # the adapters are Debian's, whatever else is on this machine
        self.env["PATH"] = "/usr/bin:/bin"

    def dbg(self, *args, **kw):
        return run([DEBUGGER, *args], self.env, cwd=work, timeout=120,
                   **self.kw, **kw)

    def ask(self, *args, **kw):
        """The answer, with how it ended as "code"."""
        r = self.dbg("--json", *args, **kw)
        try:
            o = json.loads(r.out)
        except ValueError:
            o = {"error": {"code": "?", "message": repr(r)}}
        if isinstance(o, dict):
            o["rc"] = r.code
        return o


def line_of(name, text, skip=0):
    with open(os.path.join(work, name)) as f:
        for i, line in enumerate(f, 1):
            if text in line:
                if skip == 0:
                    return i
                skip -= 1
    raise ValueError(text)


# --- the matrix ---------------------------------------------------------------

def works(o):
    return o["rc"] == 0 and o["catchpoint"]["id"]


class Kind:
    """An adapter and a program for it: what it cannot, what it does by a way
    round, what becomes of catchpoints there."""

    def __init__(self, adapter, program, source, double, caller, cannot=(),
                 falls=None, catches=None, calls_itself=None):
        self.adapter, self.program, self.source = adapter, program, source
        self.path = os.path.join(work, source)
        self.body = line_of(source, double)
        self.place = "%s:%d" % (source, self.body)
        self.caller, self.cannot = caller, set(cannot)
        self.falls = falls or {}
        self.catches = dict(throw=works, panic=works, type=works)
        self.catches.update(catches or {})
        self.calls_itself = calls_itself or adapter


WATCHES = ["watch", "watch --read", "watch --access"]
MEMORY = ["memory read", "memory write", "memory written", "memory at 1"]
CODE = ["registers", "registers NAME", "disassemble", "disassemble ADDRESS",
        "disassemble --source"]
INSTRUCTION = ["next --instruction", "step --instruction"]
NO_PANIC = {"panic": refused("not_verified")}
LLDB = {"source FUNCTION": "the text, else a function breakpoint",
        "catch TYPE": "a filter for all, types compared here",
        "output": "pipes of ours, not the adapter's terminal"}
LLDB19 = dict(LLDB, **{
    "memory read": "its command `memory read`",
    "memory write": "its command `memory write`",
    "next --instruction": "its command `thread step-inst-over`",
    "step --instruction": "its command `thread step-inst`",
    "continue --thread": "its command `thread continue`"})


def adapters(d):
    u = User(d)
    tables = Tables(u.env)
    kinds = [
        Kind("lldb-dap", "./c", "prog.c", "doubled = i", "sum_up",
             falls=LLDB19, catches=NO_PANIC),
        Kind("lldb22", "./c", "prog.c", "doubled = i", "sum_up", falls=LLDB,
             catches=NO_PANIC, calls_itself="lldb-dap"),
        Kind("delve", "./go", "prog.go", "doubled :=", "sumUp",
             WATCHES + MEMORY + ["catch throw", "catch TYPE",
                                 "continue --thread"]),
        Kind("debugpy", "./prog.py", "prog.py", "doubled = i", "sum_up",
             WATCHES + MEMORY + CODE + INSTRUCTION + [
                 "raw", "continue --thread"]),
    ]
    only = os.environ.get("DL_ADAPTER", "")
    for kind in kinds:
        if only in kind.adapter:
            matrix(u, kind, tables, work)


# --- what programs do ---------------------------------------------------------

def crashes(d):
    u = User(d)
    for how, name in (("segv", "SIGSEGV"), ("abort", "SIGABRT")):
        o = u.ask("start", "--run", "./crash", "--", how)
        ok(o.get("state") == "stopped" and name in json.dumps(o), how +
           ": the stop tells of it", o)
        if how == "segv":
            eq(o["frame"]["line"], line_of("crash.c", "*nowhere = 1"),
               "and where")
        o = u.ask("continue")
        eq((o["state"] in ("exited", "terminated"), o.get("exit")),
           (True, {"signal": name}), "going on ends it by the signal")
        u.ask("stop")
    o = u.ask("start", "--run", "--timeout", "1", "./c", "--", "--where")
    u.dbg("input", "--eof")
    o = u.ask("await")
    ok(o.get("exit") == {"code": 3}, "an exit code", o)
    out = u.dbg("output").out
    ok(work in out, "the directory is the client's", out)
    u.ask("stop")


def exceptions(d):
    u = User(d)
    o = u.ask("start", "./throw")
    eq(u.ask("catch", "throw")["rc"], 0, "catch throw")
    o = u.ask("continue")
    ok(o["state"] == "stopped" and o["reason"] == "exception" and
       "risky" in json.dumps(u.ask("bt")), "an exception stops", o)
    eq(u.ask("catch", "remove", "all")["rc"], 0, "no longer")
    o = u.ask("continue")
    eq((o.get("exit"), "caught too much" in text_of(o)),
       ({"code": 3}, True), "it goes on")
    u.ask("stop")


def forks(d):
    """A child is nobody's to debug: no breakpoint ends it."""
    u = User(d)
    for adapter in ("lldb-dap", "lldb22"):
        o = u.ask("start", "./forks", "--adapter", adapter, "-b", "both")
        eq((o.get("state"), o.get("reason")), ("stopped", "breakpoint"),
           adapter + ": it stops")
        eq(u.ask("print", "code").get("value"), "6", "in the parent")
        ok("child 5 0" in u.dbg("output").out, "whose child has ended")
        eq(u.ask("continue").get("exit"), {"code": 7}, "and so does it")
        u.ask("stop")


def many_threads(d):
    u = User(d)
    o = u.ask("start", "./threads", "-b", "threads.c:%d" % line_of(
        "threads.c", 'printf("thread'))
    eq(o["state"], "stopped", "a thread stops")
    t = u.ask("threads")["threads"]
    eq(len(t), 4, "four threads")
    other = next(x["id"] for x in t if not x.get("selected"))
    ok(u.ask("bt", "--thread", str(other))["frames"], "the stack of another")
    eq(u.ask("status")["thread"]["id"], o["thread"]["id"],
       "looking there has not moved anything")
    eq(u.ask("thread", str(other))["thread"]["id"], other, "but thread does")
    u.ask("breakpoint", "remove", "all")
    eq(u.ask("continue").get("exit"), {"code": 0}, "to the end")
    u.ask("stop")


def many_breakpoints(d):
    """More than a request of any other command could name."""
    u = User(d)
    line = line_of("prog.c", "doubled = i")
    many = []
    for i in range(200):
        many += ["-b", "prog.c:%d" % (line + i % 2 * 2)]
    o = u.ask("start", "./c", *many)
    ok(at(o, line) and len(o["breakpoints"]) == 100,
       "a start with 200 breakpoints", o)
    o = u.ask("breakpoint", "list", "--max", "200000")
    eq(len(o["breakpoints"]), 200, "all of them are there")
    u.ask("stop")
    with contextlib.closing(Client(u.env["DEBUGLANTERN_SOCKET"],
                                   uid=u.uid)) as c:
        def start(n, note=""):
            c.send(json.dumps({"id": 1, "command": "debugger", "args": {
                "start": True, "name": "many", "request": {
                    "command": "start", "args": {
                        "program": work + "/c", "cwd": work, "args": [],
                        "max": 200000, "breaks": [{
                            "file": work + "/prog.c", "line": line,
                            "condition": "i == %d" % i + note}
                            for i in range(n)]}}}}) + "\n")
            return json.loads(c.recv_line())
        r = start(200)
        ok(r["success"] and len(r["result"]["breakpoints"]) == 1,
           "the same as a line of JSON", r)
        u.ask("stop")
        for n, note, words in ((600, "", "breakpoints already"),
                               (1, "0" * 61440, "at most 61440 bytes"),
                               (1, "0" * 65536, "at most 65536 bytes")):
            r = start(n, note)
            ok(not r["success"] and words in r["error"]["message"],
               "what is too much is refused with words", r)


def flood(d):
    u = User(d)
    t = time.monotonic()
    o = u.ask("start", "--run", "./crash", "--", "flood")
    eq(o.get("exit"), {"code": 0}, "100 MB of output do not stop it")
    r = json.dumps(o)
    ok(len(r) < 65536, "the answer is bounded", len(r))
    ok(len(u.dbg("output").out) <= 65536, "so is output")
    print("# 100 MB in %.1f s" % (time.monotonic() - t))
    u.ask("stop")


# --- several ------------------------------------------------------------------

def sessions(d):
    u = User(d)
    for name in ("one", "two"):
        eq(u.ask("start", "-s", name, "./c")["rc"], 0, "session " + name)
    names = {s["name"]: s["current"] for s in u.ask("sessions")["sessions"]}
    eq(names, {"one": False, "two": True}, "the last one is current")
    u.ask("next", "-s", "one")
    eq(u.ask("use", "one")["rc"], 0, "use")
    names = {s["name"]: s["current"] for s in u.ask("sessions")["sessions"]}
    eq(names["one"], True, "makes another current")
    before = u.ask("status", "-s", "two")["epoch"]
    u.ask("next")
    eq(u.ask("status", "-s", "two")["epoch"], before,
       "each runs for itself")
    eq(u.ask("next", "-s", "nonesuch")["rc"], 3, "no such session")
    answers = []

    def wait():
        answers.append(u.ask("await", "-s", "two", "--timeout", "60"))
    u.ask("continue", "-s", "two", "--no-wait")
    crowd = [threading.Thread(target=wait) for _ in range(8)]
    for c in crowd:
        c.start()
    time.sleep(1)
    u.ask("pause", "-s", "two")
    for c in crowd:
        c.join()
    eq({(a.get("state"), a.get("epoch")) for a in answers},
       {("stopped", answers[0].get("epoch"))},
       "eight that wait are told the same, while a ninth pauses")
    for name in ("one", "two"):
        u.ask("stop", "-s", name)
    eq(u.ask("sessions")["sessions"], [], "stop leaves nothing")


def overtaken(d):
    """A step that a breakpoint interrupted is over: who says continue means
    it."""
    u = User(d)
    for adapter in ("lldb-dap", "lldb22"):
        u.ask("start", "./c", "--adapter", adapter, "-b", "calculate")
        eq(u.ask("finish")["frame"]["function"], "sum_up", "finish")
        eq(u.ask("finish")["reason"], "breakpoint", "another is interrupted")
        u.ask("breakpoint", "remove", "--all")
        last = line_of("prog.c", "printf(\"total")
        b = u.ask("break", "prog.c:%d" % last)["breakpoint"]
        o = u.ask("continue")
        ok(at(o, last) and o["breakpoints"] == [b["id"]],
           adapter + ": continue does not stop where the step would have",
           o)
        u.ask("stop")


def watched(d):
    """Whose watchpoint was hit, where the adapter gives only a number."""
    u = User(d)
    for adapter in ("lldb-dap", "lldb22"):
        u.ask("start", "./c", "--adapter", adapter, "-b", "calculate")
        u.ask("breakpoint", "disable", "--all")
        counter = u.ask("watch", "counter")["watchpoint"]["id"]
        e = u.ask("watch", "counter", "--read")["error"]
        ok("watchpoint %d is at the same place" % counter in e["message"],
           adapter + ": one watchpoint a place", e)
        total = u.ask("watch", "total", "--frame", "1")["watchpoint"]["id"]
        if not has_watchpoints():
            u.ask("stop")
            continue
        told = [u.ask("continue")["watchpoints"] for _ in range(3)]
        # 0 is added first, which is no change
        eq(told, [[counter], [counter], [total]],
           adapter + ": each by its own id")
        hits = {w["id"]: w["hits"]
                for w in u.ask("watch", "list")["watchpoints"]}
        eq(hits, {counter: 2, total: 1}, adapter + ": and counted")
        u.ask("stop")


def classes(d):
    """Exit codes by class, each of a real failure, as text and as JSON."""
    u = User(d)
    eq(u.ask("status")["rc"], 3, "no session")
    u.ask("start", "./c")
    for code, word, *args in (
            (0, None, "print", "1"),
            (1, "evaluate_failed", "print", "nonesuch"),
            (1, "no_such", "disassemble", "0x1"),
            (1, "no_such", "registers", "nonesuch"),
            (1, "no_such", "source", "nonesuch"),
            (1, "no_such", "breakpoint", "enable", "99"),
            (1, "not_verified", "until", "9999"),
            (2, "usage", "breakpoint", "remove"),
            (2, "usage", "breakpoint", "remove", "--all", "1"),
            (2, "usage", "next", "--nonesuch"),
            (2, "usage", "nonesuch"),
            (3, "not_found", "next", "-s", "nonesuch"),
            (4, "adapter_missing", "start", "./c", "--adapter", "nonesuch"),
            (1, "evaluate_failed", "eval", "(int)usleep(1500000)"),
            (5, "timeout", "raw", "expr (int)usleep(3000000)", "--timeout",
             "1")):
        o = u.ask(*args)
        eq((o["rc"], o.get("error", {}).get("code"), o["schema"]),
           (code, word, 1), " ".join(args))
        r = u.dbg(*args)
        ok(r.code == code and (r.err != "") == (code != 0) and
           (r.out == "") == (code != 0), "and for people", r)
    eq(u.dbg("breakpoint", "remove", "--nonesuch").err.splitlines()[1],
       '  usage: debugger breakpoint remove ID|--all; "debugger help '
       'breakpoint remove" lists its options', "what would be right")
    ok('"nonesuch"' in u.dbg("next", "-s", "nonesuch").err,
       "the name of what is not there")
    ok("raw expr" in u.dbg("eval", "(int)usleep(1500000)").err,
       "a call that takes long: what lets it")
    u.ask("stop")


def another_machine(name):
    """The program, with the header of one that no host of ours runs."""
    with open(work + "/c", "rb") as f:
        image = bytearray(f.read())
    image[18:20] = b"\x16\0"   # EM_S390
    with open(os.path.join(work, name), "wb") as f:
        f.write(image)
    os.chmod(os.path.join(work, name), 0o755)


def not_so(d):
    """What cannot be: is said so that it can be mended."""
    u = User(d)
    r = u.dbg("start", "./c", "-b", "nosuch")
    ok(r.code == 1 and "function nosuch is NOT" in r.err and
       "nothing was started" in r.err, "a bad -b starts nothing", r)
    another_machine("elsewhere")
    r = u.dbg("start", "./elsewhere")
    ok("/elsewhere (ELF for s390, this host runs " in r.err,
       "a program of another machine", r)
    eq(u.ask("sessions")["sessions"], [], "of neither is a session left")
    u.ask("start", "./c")
    u.ask("continue", "--timeout", "1")
    u.ask("pause")
    for words in ("until", "20"), ("break", "20"):
        r = u.dbg(*words)
        ok(r.code == 1 and "no source here" in r.err and "FILE:LINE" in
           r.err, "%s LINE where no source is" % words[0], r)
    u.ask("start", "./crash", "-s", "two")
    for told in "(crash, session two)", "(c, session ":
        r = u.dbg("stop")
        ok(told in r.out, "stop says which session it was", r)


def catches(pid, signo):
    with open("/proc/%d/status" % pid) as f:
        mask = next(x for x in f if x.startswith("SigCgt:")).split()[1]
    return int(mask, 16) >> (signo - 1) & 1


def interrupted(d):
    u = User(d)
    u.ask("start", "./c")
    u.ask("continue", "--timeout", "1")
    p = subprocess.Popen([DEBUGGER, "await"], env=u.env, cwd=work,
                         stderr=subprocess.PIPE, **u.kw)
    wait_for(lambda: catches(p.pid, signal.SIGINT))
    p.send_signal(signal.SIGINT)
    _, err = p.communicate(timeout=30)
    ok(p.returncode == -signal.SIGINT and b"goes on" in err,
       "Ctrl-C stops waiting", err)
    eq(u.ask("status")["state"], "running", "and leaves the program alone")
    u.dbg("input", "x")
    eq(u.ask("await").get("exit"), {"code": 3}, "which ends as it would")
    u.ask("stop")


def attached(d):
    u = User(d)
    p = subprocess.Popen([work + "/c"], stdin=subprocess.PIPE, cwd=work,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         preexec_fn=allow_tracing, **u.kw)
    p.stdin.write(b"spin\n")
    p.stdin.flush()
    while p.stdout.readline() != b"read spin\n":
        pass
    o = u.ask("attach", str(p.pid))
    eq(o["rc"], 0, "attach to a process")
    o = u.ask("pause")
    ok(o.get("state") == "stopped", "pause", o)
    o = u.ask("bt")
    ok("main" in json.dumps(o), "its stack", o)
    eq(u.ask("detach")["rc"], 0, "detach")
    with open("/proc/%d/status" % p.pid) as f:
        ok(wait_for(lambda: f.seek(0) == 0 and "TracerPid:\t0" in f.read()),
           "nobody holds it any more")
    ok(p.poll() is None, "it goes on by itself")
    p.kill()
    p.wait()
    u.ask("stop")


def spin(c, sid):
    """Runs it, up to its loop."""
    c.cmd("START " + sid)
    c.send("INPUT %s 5\nspin\n" % sid)
    c.json()
    c.until(sid, b"read spin")


def uploaded(d):
    """Attached to while it runs, also with symbols from elsewhere."""
    u, c = User(d), d.client()
    place = "prog.c:%d" % line_of("prog.c", "usleep(")
    for adapter in ("lldb-dap", "lldb22"):
        for name, more in (("c", []), ("bare", ["--program", "./c"]),
                           ("bundle", ["--program", "./c"])):
            how = "%s, %s: " % (adapter, name)
            if name == "bundle":
                with open(os.path.join(work, "bare"), "rb") as f:
                    c.upload(tar_of(("prog", f.read())), "prog")
            else:
                c.upload(os.path.join(work, name))
            sid = c.cmd("LIST")[-1]["id"]
            o = u.ask("attach", sid)
            eq(o.get("error", {}).get("code"), "not_running",
               how + "not before it runs")
            spin(c, sid)
            o = u.ask("attach", "--adapter", adapter, sid, *more)
            eq(o.get("state"), "running", how + "attach")
            s = c.cmd("STATUS " + sid)
            eq((s["state"], s["debugger"]["adapter"]),
               ("DEBUGGING", adapter), how + "by that adapter")
            eq([s["adapter"] for s in u.ask("sessions")["sessions"]],
               [adapter], how + "as sessions has it")
            o = u.ask("break", place)
            ok(o.get("breakpoint", {}).get("verified"), how + "its lines", o)
            o = u.ask("await")
            eq((o.get("reason"), o.get("frame", {}).get("function")),
               ("breakpoint", "main"), how + "are reached")
            eq(u.ask("print", "p.y").get("value"), "4", how + "a variable")
            u.ask("breakpoint", "remove", "--all")
            c.cmd("KILL " + sid)
            eq(u.ask("next")["error"]["code"], "not_running",
               how + "until it is killed")
            spin(c, sid)
            o = u.ask("attach", "--adapter", adapter, sid, *more)
            eq(o.get("state"), "running", how + "its next run")
            eq(u.ask("pause").get("state"), "stopped", how + "is another")
            ok("goes on" in u.ask("stop").get("words", ""), how + "stop")
            eq(c.cmd("STATUS " + sid)["state"], "RUNNING", how + "it runs")
            c.cmd("KILL " + sid)
            c.cmd("DELETE " + sid)
    c.close()


def image_by_name(d):
    """Uploads that lldb starts have the name of their file."""
    u, c = User(d), d.client()
    # lldb 22 is where no other root has it
    for adapter, sandbox in (("lldb-dap", "namespaces"), ("lldb-dap", "tmpfs"),
                             ("lldb22", "namespaces")):
        how = "%s, %s: " % (adapter, sandbox)
        sid = c.upload(os.path.join(work, "c"), file="by-name")["id"]
        # a directory that each sandbox has
        u.ask("start", "--adapter", adapter, "--image", sid, "--sandbox",
              sandbox, "--cwd", "/")
        ok(u.ask("print", "argv[0]").get("value", "").endswith(
            "/image/by-name\""), how + "argv[0] ends in it",
           u.ask("print", "argv[0]"))
        pid = u.ask("status").get("pid")
        with open("/proc/%s/comm" % pid) as f:
            eq(f.read(), "by-name\n", how + "comm is that")
        u.ask("stop")
        c.cmd("DELETE " + sid)


def image_of_32_bits(d):
    """lldb finds out by the path of the process's file what it is."""
    u, c = User(d), d.client()
    for how, sid in (("an image", c.upload(narrow(), file="narrow")["id"]),
                     ("a bundle", c.upload(tar_of(("narrow", narrow())),
                                           "narrow")["id"])):
        u.ask("start", "--image", sid, "-b", "spin", "--cwd", "/", "--",
              "spin")
        eq((u.ask("print", "more").get("value"),
            u.ask("status").get("state")), ("1", "stopped"),
           how + " of 32 bits stops where it was told, with its arguments")
        u.ask("stop")
        c.cmd("ARGS %s spin" % sid)
        c.cmd("START " + sid)
        u.ask("attach", sid)
        u.ask("break", "spin")
        u.ask("continue")
        eq((u.ask("print", "more").get("value"),
            u.ask("status").get("state")), ("1", "stopped"),
           how + " of 32 bits is attached to")
        u.ask("stop")
        c.cmd("KILL " + sid)
        c.cmd("DELETE " + sid)


def image_of_32_bits_without_a_file():
    """Nothing is begun, nor attached to."""
    if os.uname().machine != "x86_64":
        return
    d = Daemon("user", conf="allow-sandbox none, namespaces\n")
    u, c = User(d), d.client()
    sid = c.upload(narrow(), file="narrow")["id"]
    r = u.dbg("start", "--image", sid, "-b", "spin", "--sandbox", "none")
    ok(r.code != 0 and "32-bit" in r.err and "as a bundle" in r.err and
       "gdb" in r.err, "why not, and what instead", r)
    eq(c.cmd("STATUS " + sid)["state"], "LOADED", "nothing was started")
    u.dbg("stop")
    if not runs_narrow():
        d.cleanup()
        return
    c.cmd("ARGS %s spin" % sid)
    c.cmd("START %s --sandbox none" % sid)
    r = u.dbg("attach", sid)
    ok(r.code != 0 and "32-bit" in r.err, "nor attached to", r)
    eq(c.cmd("STATUS " + sid)["state"], "RUNNING", "it runs on")
    d.cleanup()


def on_demand(d):
    """Nothing runs: start brings a daemon, which is the user's alone."""
    u = User(d)
    del u.env["DEBUGLANTERN_SOCKET"]
    u.env["XDG_RUNTIME_DIR"] = u.home
    # of the service that has started us: the daemon is none of it
    u.env["NOTIFY_SOCKET"] = u.home + "/notify"
    o = u.ask("start", "./c")
    ok(at(o, line_of("prog.c", "struct point p")) or
       o.get("state") == "stopped", "start, and nothing else", o)
    path = u.home + "/debuglantern/debuglantern.sock"
    eq(os.stat(path).st_uid, u.uid if u.uid is not None else os.getuid(),
       "a daemon of one's own")
    daemon = listener_of(path)
    eq(u.ask("stop")["rc"], 0, "stop")
    eq(listener_of(path), daemon, "the same as before")
    os.kill(daemon, signal.SIGTERM)
    ok(wait_for(lambda: not alive(daemon)), "it ends")


class Editor(Wire):
    """One that starts "debugger dap" as its adapter."""

    def __init__(self, u, *args):
        super().__init__([DEBUGGER, "dap", *args], env=u.env, cwd=work,
                         **u.kw)


def editors(d):
    u = User(d)
    u.ask("start", "-s", "shared", "./c", "-b", "prog.c:%d" % line_of(
        "prog.c", "doubled = i"))
    e = Editor(u, "-s", "shared")
    ok(e.ask("initialize", adapterID="debuglantern")["success"],
       "an editor comes in")
    e.send("attach")
    e.event("initialized")
    line = line_of("prog.c", "return total")
    r = e.ask("setBreakpoints", source={"path": work + "/prog.c"},
              breakpoints=[{"line": line}])
    ok(r["success"] and r["body"]["breakpoints"][0]["verified"],
       "sets a breakpoint", r)
    e.ask("configurationDone")
    thread = e.event("stopped")["body"]["threadId"]
    r = e.ask("stackTrace", threadId=thread)
    eq(r["body"]["stackFrames"][0]["name"], "calculate",
       "is in the middle of the stop")
    eq(len(u.ask("breakpoint", "list")["breakpoints"]), 2,
       "its breakpoints are beside those of others")
    u.ask("breakpoint", "disable", "1")
    del e.events[:]
    e.ask("continue", threadId=thread)
    e.event("stopped")
    o = u.ask("status")
    ok(at(o, line), "what it lets run stops for all", o)
    del e.events[:]
    u.ask("next")
    ok(e.event("stopped"), "and it is told what others do")
    e.ask("disconnect", terminateDebuggee=False)
    eq(e.close(), 0, "it leaves")
    eq(u.ask("print", "total")["rc"], 0, "the session stays")
    eq(u.ask("stop")["rc"], 0, "until it is stopped")


def eight_of_one(u, name):
    """Eight clients of one session, each with a place of its own in its
    output: whoever lets it run, all are told the same."""
    who = [dict(u.env, DEBUGGER_CLIENT="client%d" % i) for i in range(8)]

    def each(*args):
        """What the eight are answered, all at once."""
        answers = [None] * 8

        def client(i):
            answers[i] = run([DEBUGGER, *args, "-s", name], who[i], cwd=work,
                             timeout=120, **u.kw).out
        crowd = [threading.Thread(target=client, args=(i,))
                 for i in range(8)]
        for c in crowd:
            c.start()
        return lambda: [c.join() for c in crowd] and answers

    def event(text):
        o = json.loads(text)
        return {k: o.get(k) for k in (
            "state", "epoch", "reason", "breakpoints", "thread", "frame",
            "locals", "changed", "output", "exit", "words")}

    line = line_of("prog.c", "printf(\"total")
    u.ask("break", "-s", name, "prog.c:%d" % line)
    for i, command in enumerate(("continue", "next", "step", "continue")):
        epoch = u.ask("status", "-s", name)["epoch"]
        told = each("--json", "await", "--since", str(epoch), "--timeout",
                    "60")
        if i == 3:
            u.dbg("input", "-s", name, "--eof")
        own = u.dbg("--json", command, "-s", name)
        answers = [event(a) for a in told()]
        eq([a for a in answers if a != answers[0]], [],
           "eight that wait for a %s are told the same" % command)
        eq({k: answers[0][k] for k in ("state", "epoch", "frame", "exit")},
           {k: json.loads(own.out).get(k) for k in (
               "state", "epoch", "frame", "exit")}, "as who said it is")
    eq(answers[0]["exit"], {"code": 3}, "to the end")
    out = each("output")()
    eq((set(out), len(out[0].splitlines())), ({out[0]}, 2),
       "eight read the same output")
    eq(set(each("output")()), {""}, "each of it once")


def two_users():
    """Sessions of each, which the other does not see."""
    if not AS_ROOT:
        return
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon("system", wrapper=wrapper) as d:
        users = [User(d, ALICE), User(d, BOB)]
        crowd = [threading.Thread(target=u.ask, args=(
            "start", "-s", name, "./c")) for u in users
            for name in ("one", "two")]
        for c in crowd:
            c.start()
        for c in crowd:
            c.join()
        for u in users:
            o = u.ask("sessions")
            ok(sorted(s["name"] for s in o.get("sessions", [])) ==
               ["one", "two"], "each has two sessions", o)
        ids = [u.ask("status", "-s", "one")["session"] for u in users]
        eq(users[1].ask("print", "1", "-s", ids[0])["rc"], 3,
           "another's does not exist")
        eq(users[0].ask("next", "-s", "one")["frame"]["function"], "main",
           "everybody's own does")
        o = users[0].ask("attach", str(os.getpid()))
        ok(o["rc"] == 1 and "own" in o["error"]["message"],
           "processes are for a daemon of one's own", o)
        for u in users:
            for name in ("one", "two"):
                eight_of_one(u, name)
        for u in users:
            for name in ("one", "two"):
                eq(u.ask("stop", "-s", name)["rc"], 0, "stop")
        left_overs(d)


# what a sandbox with a root of its own shows of the host is /usr
SEALED = "/usr/local/src"
SEAL = """mount -t tmpfs none $1 && cp -r "$2" "$3" "$4/c" "$4/go" $1 &&
    mkdir -p $1/libexec && { [ -d $1/libexec/debuglantern ] ||
    mv $1/debuglantern $1/libexec; } && chmod -R a+rX $1 || exit 1
at=$1; shift 5; exec $at/bin/debuglanternd "$@"
"""


def sealed():
    """Adapters on pipes, and one that dials, in every kind of sandbox."""
    if not AS_ROOT:
        return
    wrapper = ["unshare", "-m", "sh", "-c", SEAL, "sh", SEALED, BIN, LIBEXEC,
               work]
    with Daemon("system", wrapper=wrapper) as d:
        # the programs are where this process sees none
        c = Client(d.dir + "/run/debuglantern.sock")

        def do(request, **more):
            c.send(json.dumps({"id": 1, "command": "debugger", "args": dict(
                more, request=request)}).encode() + b"\n")
            r = json.loads(c.recv_line())
            return r.get("result") or r

        def start(program, entry, sandbox, network):
            return do({"command": "start", "args": {
                "program": program, "args": [], "cwd": "/",
                "env": ["PATH=/usr/bin:/bin"],
                "breaks": [{"function": entry}]}}, start=True, name="sealed",
                sandbox=sandbox, network=network)

        for sandbox in ("namespaces", "tmpfs"):
            for network in ("shared", "none"):
                for name, entry in ("c", "main"), ("go", "main.main"):
                    how = f"{name}, {sandbox}, network {network}"
                    o = start(f"{SEALED}/{name}", entry, sandbox, network)
                    ok(o.get("state") == "stopped", how, o)
                    s = c.cmd("STATUS sealed")
                    eq((s.get("sandbox"), s.get("network")),
                       (sandbox, network), "it is in it")
                    o = do({"command": "next"})
                    ok(o.get("state") == "stopped", "a step", o)
                    do({"command": "stop"})
                    ok(wait_for(lambda: c.cmd("LIST") == []), "its end")
        o = start(work + "/c", "main", "tmpfs", "none")
        ok("error" in o, "what a sandbox does not show is not debugged in it",
           o)
        left_overs(d)


def left_overs(d):
    def left():
        return [p for p in descendants(d.proc.pid) if stands_for_a_program(p)]
    ok(wait_for(lambda: not left(), 20),
       "no debugger, adapter or program is left", [command_line(p)
                                                   for p in left()])


def command_line(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return f.read().replace(b"\0", b" ")
    except OSError:
        return b""


def stands_for_a_program(pid):
    try:
        with open("/proc/%d/comm" % pid) as f:
            return f.read().strip() in ("debugger", "lldb-dap", "lldb-server",
                                        "dlv", "dapdial", "c", "go", "crash")
    except OSError:
        return False


def with_daemon(*tests):
    only = os.environ.get("DL_ONLY", "")
    tests = [t for t in tests if only in t.__name__]

    def all_of_them():
        build()
        path = subprocess.run(["sh", LLDB22], capture_output=True, text=True,
                              check=True, timeout=600).stdout.strip()
        conf = 'adapter lldb22 command "%s"\n' % path
        with Daemon("user", conf=conf) as d:
            for t in tests:
                t(d)
                for s in User(d).ask("sessions").get("sessions", []):
                    User(d).ask("stop", "-s", s["session"])
            left_overs(d)
    all_of_them.chooses = True
    return all_of_them


if __name__ == "__main__":
    try:
        run_tests(with_daemon(adapters, crashes, exceptions, forks,
                              many_threads,
                              many_breakpoints, flood, sessions, overtaken,
                              watched, classes, not_so, interrupted, attached,
                              uploaded, image_by_name,
                              *([image_of_32_bits] if runs_narrow() else []),
                              editors, on_demand),
                  image_of_32_bits_without_a_file, two_users, sealed)
    finally:
        shutil.rmtree(work, ignore_errors=True)
