# SPDX-License-Identifier: ISC
"""Every command and flag of debugger, with one adapter: each works, works by
a way round, or says that the adapter cannot.  What the client's own tables
have and no row asks for is a failure."""
import contextlib
import ctypes
import json
import os
import re
import signal
import subprocess

from dl import eq, has_watchpoints, ok, wait_for
from fake_debugger import DEBUGGER

# The same for all commands, or for many: one row of any command will do.
COMMON = {"session", "json", "timeout", "system", "target", "help", "version",
          "max=", "path=", "offset=", "thread=", "frame="}
# Rows that are no adapter's matter: tests of debugger.t have them.
ELSEWHERE = {("dap", None), ("help", None), ("setup", None),
             ("setup", "list"), ("setup", "check"), ("use", None),
             ("sessions", None)}


class Tables:
    """What the client itself says that there is."""

    def __init__(self, env):
        self.env = env
        self.commands = [x.split(":")[0] for x in self.lines()
                         if not x.startswith("--")]
        self.names = {}
        self.options = {}
        for c in self.commands:
            self.names[c] = c
            for a in self.aliases(c):
                self.names[a] = c
            self.options[c] = {x[2:].split(":")[0] for x in self.lines(c)
                               if x.startswith("--")}

    def lines(self, command=None):
        argv = [DEBUGGER, "help", "--completion"]
        argv += command.split() if command else []
        return subprocess.run(argv, env=self.env, capture_output=True,
                              text=True, check=True).stdout.splitlines()

    def aliases(self, command):
        out = subprocess.run([DEBUGGER, "help", *command.split()],
                             env=self.env, capture_output=True, text=True,
                             check=True).stdout
        m = re.search(r"^Also called (.*)\.$", out, re.M)
        return m.group(1).split(",") if m else []

    def letters(self, command):
        out = subprocess.run([DEBUGGER, "help", *command.split()],
                             env=self.env, capture_output=True, text=True,
                             check=True).stdout
        return dict(re.findall(r"^  -(\w), --([\w-]+)", out, re.M))

    def command(self, argv):
        words = [w for w in argv if not w.startswith("-")]
        two = " ".join(words[:2])
        return self.names.get(two) or self.names.get(words[0])

    def rows_of(self, argv):
        """What a command line has used: the command, and each flag."""
        c = self.command(argv)
        rows = {(c, None)}
        letters = self.letters(c)
        for w in argv:
            if w == "--":
                break
            name = w[2:] if w.startswith("--") else \
                letters.get(w[1:2]) if w.startswith("-") else None
            rows |= {(c, o) for o in self.options[c]
                     if name is not None and o.rstrip("=") == name}
        return rows

    def wanted(self):
        rows = {(c, o) for c in self.commands
                for o in {None} | self.options[c]}
        return {r for r in rows if not is_common(r[1])}


def is_common(option):
    return option is not None and (option in COMMON or
                                   option.rstrip("=") in COMMON)


class Matrix:
    def __init__(self, u, kind, tables):
        self.u, self.kind, self.tables = u, kind, tables
        self.seen = {}
        self.used = set()
        self.common = set()

    def note(self, argv):
        for r in self.tables.rows_of(argv):
            self.used.add(r)
            if is_common(r[1]):
                self.common.add(r[1])

    def row(self, name, good, *argv):
        """One question; good says whether the answer is right."""
        o = self.u.ask(*argv)
        self.note(argv)
        error = o.get("error", {})
        if o.get("schema") != 1:
            ok(False, "its schema has a version: " + " ".join(argv), o)
        what = "%s: %s: %s" % (self.kind.adapter, name, " ".join(argv))
        if error.get("code") == "unsupported":
            self.seen[name] = "cannot: " + error["message"]
            ok(name in self.kind.cannot and o["rc"] == 1 and
               self.kind.calls_itself in error["message"],
               what + ": it says that it cannot", o)
            return o
        try:
            worked = bool(good(o))
        except (KeyError, IndexError, TypeError, ValueError):
            worked = False
        self.seen[name] = "works" if worked else "FAILS"
        if worked and name in self.kind.falls:
            self.seen[name] = "falls back: " + self.kind.falls[name]
        ok(worked and name not in self.kind.cannot, what, o)
        return o

    def end(self):
        for name in sorted(self.seen):
            print("# %-10s %-20s %s" % (self.kind.adapter, name,
                                        self.seen[name]))
        eq({n for n in self.seen if self.seen[n].startswith("cannot")},
           self.kind.cannot, self.kind.adapter + ": what it cannot")
        eq(sorted(str(r) for r in self.tables.wanted() - ELSEWHERE -
                  self.used), [],
           self.kind.adapter + ": every command and flag has a row")


# --- answers ------------------------------------------------------------------

def done(o):
    return o["rc"] == 0


def stopped(o):
    return o["rc"] == 0 and o["state"] == "stopped"


def at(o, line):
    return stopped(o) and o["frame"]["line"] == line


def values(o, key="locals"):
    return {v["name"]: v["value"] for v in o.get(key, [])}


def refused(code):
    return lambda o: o["rc"] == 1 and o["error"]["code"] == code and \
        len(o["error"]["message"]) > 8


def text_of(o, stream=None):
    return "".join(p.get("text", "") for p in o.get("output", [])
                   if stream in (None, p.get("stream")))


# --- the rows -----------------------------------------------------------------

def beginnings(m):
    """How a program may be started."""
    k, u = m.kind, m.u
    m.row("start --stop-on-entry", stopped, "start", "--stop-on-entry",
          "--adapter", k.adapter, "--sandbox", "namespaces", "--network", "shared",
          "--max", "4096", k.program)
    u.ask("stop")
    m.row("start --env --cwd", lambda o: done(o), "start", "--run",
          "--adapter", k.adapter, "--env", "DL_ROW=of the row", "--cwd", "/",
          "--timeout", "1", k.program, "--", "--where")
    m.note(["input", "--eof"])
    eq(u.dbg("input", "--eof").code, 0, k.adapter + ": input --eof")
    m.row("await the end", lambda o: o.get("exit") == {"code": 3},
          "await", "--timeout", "60")
    m.note(["output", "--follow"])
    out = u.dbg("output", "--follow").out
    ok("total " in out, k.adapter + ": output --follow ends with it", out)
    m.note(["output", "--tail", "3"])
    out = u.dbg("output", "--tail", "3").out
    ok("at / of the row\n" in out, k.adapter + ": its directory and "
       "environment", out)
    o = u.ask("output", "--tail", "1")
    ok(o["output"].count("\n") <= 1 and o["offset"] > 0 and
       o["schema"] == 1,
       k.adapter + ": a tail as JSON", o)
    u.ask("stop")
    m.row("start --tty --no-wait", done, "start", "--run", "--tty",
          "--no-wait", "--adapter", k.adapter, k.program)
    m.note(["input", "--no-newline", "x"])
    ok(wait_for(lambda: "to stderr" in u.dbg("output", "--all").out, 60),
       k.adapter + ": a terminal's output")
    eq(u.dbg("input", "--no-newline", "on a tty\n").code, 0, "input")
    m.row("await a terminal", lambda o: o.get("exit") == {"code": 3},
          "await", "--timeout", "60")
    u.ask("stop")


def looks(m):
    k, body = m.kind, m.kind.body
    m.row("start", lambda o: at(o, body) and o["breakpoints"] == [1] and
          values(o, "arguments")["i"] == "0", "start", k.program,
          "--adapter", k.adapter, "-b", k.place)
    m.row("status", lambda o: at(o, body) and o["adapter"]["alive"],
          "status", "--max", "4096")
    m.row("context", lambda o: at(o, body) and len(o["source"]["lines"]) == 7,
          "where", "--context", "3")
    m.row("source", lambda o: o["source"]["first"] == 2 and
          len(o["source"]["lines"]) == 3, "list", k.source + ":3",
          "--context", "1")
    m.row("source --function", lambda o: any(
        "calculate(" in x for x in o["source"]["lines"][:2]) and
        o["source"]["current"] == body, "source", "--function")
    m.row("source FUNCTION", lambda o: any(
        "total += calculate" in x for x in o["source"]["lines"]), "source",
        k.caller)
    m.row("backtrace", lambda o: len(o["frames"]) >= 3 and
          o["frames"][0]["line"] == body, "bt")
    m.row("backtrace --locals", lambda o: len(o["frames"]) == 2 and
          "total" in values(o["frames"][1]), "bt", "--locals", "--limit", "2")
    m.row("backtrace --offset", lambda o: o["frames"][0]["index"] == 1 and
          len(o["frames"]) == 1 and o["truncated"][0]["offset"] == 2, "bt",
          "--offset", "1", "--limit", "1")
    m.row("backtrace nowhere", refused("no_such"), "bt", "--offset",
          "9999")
    m.row("up", lambda o: o["frame"]["index"] == 1 and
          "total" in values(o), "up")
    m.row("locals", lambda o: values(o)["total"] == "0", "locals")
    m.row("print", lambda o: o["value"] == "0", "print", "total")
    m.row("down", lambda o: o["frame"]["index"] == 0, "down")
    m.row("frame", lambda o: o["frame"]["index"] == 1, "frame", "1")
    m.row("args", lambda o: values(o, "arguments")["i"] == "0", "args",
          "--frame", "0")
    m.row("frame 0", lambda o: at(o, body), "frame", "0")
    m.row("frame 99", refused("no_such"), "frame", "99")
    t = m.row("threads", lambda o: any(
        t.get("selected") for t in o["threads"]), "threads")
    thread = str(next(t["id"] for t in t["threads"] if t.get("selected")))
    m.row("thread", lambda o: at(o, body), "thread")
    m.row("thread ID", lambda o: at(o, body), "thread", thread)
    m.row("backtrace --thread", lambda o: o["frames"], "bt", "--thread",
          thread)
    m.row("sessions", lambda o: [s["adapter"] for s in o["sessions"]] ==
          [k.adapter], "sessions")


def expressions(m):
    m.row("set", lambda o: o["value"] == "21", "set", "i", "21")
    m.row("print after", lambda o: o["value"] == "21", "p", "i", "--type")
    m.row("eval", lambda o: o["value"] == "41" and o["type"], "eval",
          "--type", "i", "+", "20")
    for form, base, text in (("hex", 16, "0x2a"), ("binary", 2, "0b00101010"),
                             ("octal", 8, "0o52"), ("decimal", 10, "42"),
                             ("address", 16, "0x000000000000002a")):
        m.row("print " + form, lambda o, b=base, t=text: o["value"] == t and
              int(o["value"], b) == 42, "print", "i+21", "--format", form)
    m.row("print no format", refused("invalid_argument"), "print", "i",
          "--format", "roman")
    m.row("print wrong", refused("evaluate_failed"), "print", "nonesuch")
    m.row("args --path", done, "args", "--path", "i")


def steps(m):
    k, body = m.kind, m.kind.body
    m.row("next", lambda o: stopped(o) and o["frame"]["line"] > body and
          o["reason"] == "step" and values(o)["doubled"] == "42", "next",
          "--count", "1")
    m.row("finish", lambda o: at(o, line_of(k, "total += calculate")),
          "finish")
    o = m.row("continue --no-wait", done, "continue", "--no-wait")
    m.row("await --since", lambda o: at(o, body) and
          values(o, "arguments")["i"] == "1", "await", "--since",
          str(o["epoch"]), "--timeout", "60")
    m.row("continue --thread", lambda o: at(o, body), "continue", "--thread")
    for command in ("next", "step"):
        m.row(command + " --instruction", lambda o: stopped(o) and
              o["reason"] == "step", command, "--instruction")
        o = m.row(command + " --no-wait", done, command, "--no-wait")
        m.row("await the " + command, stopped, "await", "--since",
              str(o["epoch"]), "--timeout", "60")
    m.row("step", stopped, "step", "--count", "1")
    o = m.row("finish --no-wait", done, "finish", "--no-wait")
    m.row("await the finish", stopped, "await", "--since", str(o["epoch"]),
          "--timeout", "60")


def points(m):
    k, body = m.kind, m.kind.body
    last = line_of(k, "return total")
    m.row("break", lambda o: o["breakpoint"]["id"] == 2 and
          o["breakpoint"]["verified"], "break",
          "%s:%d" % (k.source, last))
    m.row("break no line", lambda o: o["rc"] == 1 and
          o["error"]["code"] == "not_verified" or
          not o["breakpoint"]["verified"] or o["breakpoint"]["moved"],
          "break", k.source + ":9999")
    m.row("break list", lambda o: len(o["breakpoints"]) >= 2, "breakpoint",
          "list")
    m.row("disable", done, "breakpoint", "disable", "1")
    m.row("continue to 2", lambda o: at(o, last) and
          o["breakpoints"] == [2], "c")
    m.row("disable --all", done, "breakpoint", "disable", "--all")
    m.row("enable", done, "breakpoint", "enable", "1")
    m.row("enable --all", lambda o: all(
        b["enabled"] for b in o["breakpoints"]), "breakpoint", "enable",
        "--all")
    m.row("remove no such", refused("no_such"), "breakpoint", "remove", "77")
    m.row("remove", lambda o: o["removed"] == [1], "breakpoint", "remove",
          "1")
    m.row("remove --all", lambda o: 2 in o["removed"], "breakpoint",
          "remove", "--all")
    m.row("restart --no-wait", done, "restart", "--no-wait")
    m.row("await the start", stopped, "await", "--timeout", "60")
    m.row("break --function", lambda o: o["breakpoint"]["verified"], "break",
          "--function", k.caller)
    m.row("continue to function", lambda o: stopped(o) and
          k.caller in o["frame"]["function"], "continue")
    m.row("break --condition", lambda o: o["breakpoint"]["verified"],
          "break", k.place, "--condition", "i == 6")
    m.row("continue if", lambda o: at(o, body) and
          values(o, "arguments")["i"] == "6", "c")
    m.row("remove the condition", done, "breakpoint", "remove", "--all")
    m.row("break --hit-count", done, "break", k.place, "--hit-count", "2")
    m.row("continue to hit", lambda o: at(o, body) and
          values(o, "arguments")["i"] == "8", "c")
    m.row("remove the count", done, "breakpoint", "remove", "all")
    m.row("until nowhere", refused("not_verified"), "until",
          k.source + ":9999")
    o = m.row("until --no-wait", done, "until", "--no-wait",
              "%s:%d" % (k.source, last))
    m.row("await until", lambda o: at(o, last), "await", "--since",
          str(o["epoch"]), "--timeout", "60")


def machine(m):
    k = m.kind
    m.row("restart", stopped, "restart", "--max", "4096")
    m.row("break in caller", done, "break", "%s:%d" % (
        k.source, line_of(k, "total += calculate")))
    m.row("continue to caller", stopped, "continue")
    m.row("continue to it again", lambda o: values(o)["i"] == "1",
          "continue")
    m.row("memory read", lambda o: o["hex"] == "00" * 4, "memory", "read",
          "&total", "--count", "4", "--format", "hex")
    m.row("memory write", done, "memory", "write", "&total", "05000000")
    m.row("memory written", lambda o: o["hex"] == "05000000", "x", "&total",
          "--count", "4")
    m.row("memory at 1", lambda o: o["rc"] == 1 and o["error"]["code"] in (
        "evaluate_failed", "refused"), "memory", "read", "0x1")
    r = m.row("registers", lambda o: len(o["registers"]) > 8, "registers")
    name = r["registers"][0]["name"] if done(r) else "rip"
    m.row("registers NAME", lambda o: len(o["registers"]) == 1, "registers",
          name)
    i = m.row("disassemble", lambda o: 1 <= len(o["instructions"]) <= 4,
              "disassemble", "--count", "4")
    address = i["instructions"][0]["address"] if done(i) else "0x1000"
    m.row("disassemble ADDRESS", lambda o: o["instructions"][0]["address"] ==
          address, "disassemble", address, "--count", "2")
    m.row("disassemble --source", lambda o: any(
        "total" in x.get("source", "") for x in o["instructions"]),
        "disassemble", "--source")
    w = m.row("watch", lambda o: o["watchpoint"]["access"] == "write",
              "watch", "total")
    m.row("watch list", lambda o: len(o["watchpoints"]) <= 1, "watch",
          "list")
    m.row("watch hit", lambda o: stopped(o) and o["watchpoints"] ==
          [w["watchpoint"]["id"]], "continue") \
        if done(w) and has_watchpoints() else None
    m.row("watch remove", lambda o: o["removed"] == [
        w.get("watchpoint", {}).get("id")], "watch", "remove",
        str(w["watchpoint"]["id"])) if done(w) else \
        m.row("watch remove", refused("no_such"), "watch", "remove", "77")
    m.row("watch --read", lambda o: o["watchpoint"]["access"] == "read",
          "watch", "--read", "total")
    m.row("watch remove --all", done, "watch", "remove", "--all")
    m.row("watch --access", lambda o: o["watchpoint"]["condition"] ==
          "total > 30", "watch", "--access", "total", "--condition",
          "total > 30")
    m.row("watch none", lambda o: done(o) and o["removed"] is not None,
          "watch", "remove", "--all")
    m.row("raw", lambda o: o["text"], "raw", "help")


def catches(m):
    k = m.kind
    for what in ("throw", "panic"):
        m.row("catch " + what, k.catches[what], "catch", what)
    m.row("catch TYPE", k.catches["type"], "catch", "throw", "some::type")
    c = m.row("catch list", lambda o: isinstance(o["catchpoints"], list),
              "catch", "list")
    for p in c["catchpoints"][:1]:
        m.row("catch remove", lambda o: o["removed"] == [p["id"]], "catch",
              "remove", str(p["id"]))
    m.row("catch remove --all", done, "catch", "remove", "--all")


def endings(m):
    k, u = m.kind, m.u
    m.row("remove before the end", done, "breakpoint", "remove", "--all")
    # Go's caller has its frame by a breakpoint that it just passed
    m.row("break --log", done, "break", k.place, "--log", "i={i}")
    o = m.row("still running", lambda o: done(o) and
              o["state"] == "running" and o["epoch"], "continue",
              "--timeout", "1")
    m.row("not stopped", refused("not_stopped"), "print", "total")
    m.note(["input", "spin"])
    eq(u.dbg("input", "spin").code, 0, k.adapter + ": input")
    ok(wait_for(lambda: "read spin" in u.dbg("output", "--all").out, 60),
       k.adapter + ": it was read")
    m.note(["output", "--clear"])
    eq((u.dbg("output", "--clear").code, u.dbg("output").out), (0, ""),
       k.adapter + ": output --clear")
    m.row("pause --no-wait", done, "pause", "--no-wait")
    m.row("await the pause", lambda o: stopped(o) and
          o["reason"] == "pause", "await", "--since", str(o["epoch"]),
          "--timeout", "60")
    m.row("pause again", stopped, "pause")
    m.note(["output", "--all"])
    out = u.dbg("output", "--all").out
    ok("total " in out and "to stderr" in out and "read spin" in out,
       k.adapter + ": output", out)
    ok("i=" in json.dumps(u.ask("status")) + out, k.adapter + ": the log")
    o = m.row("detach", done, "detach")
    m.row("stop", done, "stop")
    m.row("no session", lambda o: o["rc"] == 3, "status")
    # what was let go stays, and would for ever
    pid = re.search(r"process (\d+) goes on", o.get("words", ""))
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid.group(1)), signal.SIGKILL)


def allow_tracing():
    """Yama lets nobody but parents trace, unless told."""
    ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)


def attaching(m, work):
    k, u = m.kind, m.u
    argv = [os.path.join(work, k.program)]
    if k.program.endswith(".py"):
        argv.insert(0, "/usr/bin/python3")
    p = subprocess.Popen(argv, cwd=work,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, preexec_fn=allow_tracing,
                         **u.kw)
    try:
        p.stdin.write(b"spin\n")
        p.stdin.flush()
        while b"read spin" not in p.stdout.readline():
            pass
        a = m.row("attach", done, "attach", "--adapter", k.adapter, str(p.pid),
                  "--program", k.program, "--cwd", ".", "--stop-on-entry",
                  "--no-wait", "--sandbox", "namespaces", "--network", "shared")
        if done(a):
            m.row("pause attached", stopped, "pause")
            m.row("detach attached", done, "detach")
            ok(p.poll() is None, k.adapter + ": it goes on")
        u.ask("stop")
    finally:
        p.kill()
        p.communicate()


def images(m, work):
    k, u = m.kind, m.u
    ctl = os.path.join(os.path.dirname(DEBUGGER), "debuglanternctl")
    r = subprocess.run([ctl, "-t", "unix:" + u.env["DEBUGLANTERN_SOCKET"],
                        "upload", "-q", k.program], cwd=work, env=u.env,
                       capture_output=True, text=True, **u.kw)
    m.note(["start", "--image", "x"])
    if r.returncode != 0:
        ok(k.program.endswith(".py") and "ELF" in r.stderr,
           k.adapter + ": a script is no image", r)
        return
    m.row("start --image", lambda o: at(o, k.body), "start", "--adapter",
          k.adapter, "--image", r.stdout.strip(), "-b", k.place)
    m.row("stop the image", done, "stop")


def line_of(k, text):
    with open(k.path) as f:
        return next(i for i, x in enumerate(f, 1) if text in x)


def matrix(u, kind, tables, work):
    m = Matrix(u, kind, tables)
    beginnings(m)
    looks(m)
    expressions(m)
    steps(m)
    points(m)
    machine(m)
    catches(m)
    endings(m)
    attaching(m, work)
    images(m, work)
    m.end()
