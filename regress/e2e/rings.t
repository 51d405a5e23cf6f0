#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Every reader of a session's output gets all that is held, the latest to the
# last byte, and is told what has gone. The same program outside of the
# daemon, and tail(1), say what is right.
import base64
import codecs
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from dl import AS_ROOT, Daemon, alone, eq, ok, run_tests, token_of  # noqa
from fake_debugger import DEBUGGER, environment, run  # noqa: E402
from term import LOST, Attached, WebSocket  # noqa: E402
from web import Web  # noqa: E402

# U+FFFD for each byte, as OUTPUT has it: Python has one for a cut sequence
codecs.register_error("bytewise", lambda e: ("\ufffd" * (e.end - e.start),
                                             e.end))

SEQ = "/usr/bin/seq"
WRAPPED, WHOLE = 299999, 99999
MIB = 1 << 20


def bare(last, tty):
    out = subprocess.run([SEQ, "0", str(last)], check=True,
                         stdout=subprocess.PIPE).stdout
    return out.replace(b"\n", b"\r\n") if tty else out


def tail(data, lines):
    return subprocess.run(["tail", "-n", str(lines)], input=data, check=True,
                          stdout=subprocess.PIPE).stdout


class Ring:
    """A session that has written 0 to last, and what of it is held."""

    def __init__(self, d, last, tty):
        self.d, self.c = d, d.client()
        self.sid = self.c.upload(SEQ)["id"]
        self.c.cmd(f"ARGS {self.sid} 0 {last}")
        self.c.cmd(f"START {self.sid}" + (" --tty" if tty else ""))
        self.c.cmd(f"WAIT {self.sid} 60")
        self.all = bare(last, tty)
        self.total = len(self.all)
        # bytes that may be overwritten next count as gone
        self.kept = min(self.total, MIB if tty else MIB // 4)
        self.lost = self.total - self.kept
        self.held = self.all[self.lost:]


def readers(d, r):
    """All that ask once and get an answer that ends."""
    at, got, asked = 0, b"", 0
    while True:
        o = r.c.cmd(f"OUTPUT {r.sid} {at} base64")
        got += base64.b64decode(o["output"])
        asked += 1
        if "next" not in o:
            break
        at = o["next"]
        eq(o["offset"] + len(base64.b64decode(o["output"])), at,
           "OUTPUT: an answer that is cut says where it goes on")
    eq((got == r.held, o["total"]), (True, r.total),
       "OUTPUT, until no next is left: all that is held")
    eq(asked > 1, r.kept > MIB // 4, "in more than one answer where it must")
    out = d.ctl("output", r.sid)
    eq((out.returncode, out.stdout == r.held), (0, True),
       "debuglanternctl output: all that is held")
    eq(f"{r.lost} bytes of output are lost".encode() in out.stderr,
       r.lost > 0, "and how much is not")
    o = json.loads(d.ctl("--json", "output", r.sid).stdout)
    eq((o["output"].encode() == r.held, o["offset"], o["total"],
        o.get("output_lost", 0), "next" in o),
       (True, r.lost, r.total, r.lost, False),
       "with --json: one answer with all of it")
    for n in (1, 3, 20000, 40000):
        eq(d.ctl("output", "--tail", str(n), r.sid).stdout ==
           tail(r.held, n), True, f"--tail {n}: tail -n says the same")
    out = d.ctl("output", "--tail", "3", r.sid)
    eq((out.stdout, out.stderr), (tail(r.all, 3), b""),
       "--tail 3: the last three, and nothing is amiss")
    out = d.ctl("output", "--tail", "1000000", r.sid)
    eq((out.stdout == r.held, b"are lost" in out.stderr),
       (True, r.lost > 0), "more lines than are held: that is said")
    near = max(0, r.total - (300000 if r.kept > 300000 else 3000))
    eq(d.ctl("output", "--offset", str(near), r.sid).stdout == r.all[near:],
       True, "--offset: all from there on")
    out = d.ctl("output", "-f", r.sid)
    eq((out.stdout == r.held, b"are lost" in out.stderr),
       (True, r.lost > 0), "--follow: all that is held")


def web_readers(d, r):
    w = Web(d, token_of(d))
    path = f"sessions/{r.sid}"
    a = w.get(path + "/output")
    eq((a.body == r.held, int(a.headers["X-Offset"]),
        int(a.headers["X-Total"])), (True, r.lost, r.total),
       "a download: all that is held, and where it begins")
    a = w.get(path + "/output?tail=100000")
    eq(a.body == r.all[-100000:], True, "its last bytes")
    at, got = 0, ""
    while True:
        o = w.get(path + f"/output?format=json&offset={at}").data
        got += o["output"]
        if "next" not in o:
            break
        at = o["next"]
    eq(got.encode() == r.held, True, "in JSON, until no next is left")
    a = w.get(path + "/stream")
    got, first = b"", None
    for line in a.body.splitlines():
        if line.startswith(b"data: ") and b'"data"' in line:
            o = json.loads(line[6:])
            first = o["offset"] if first is None else first
            got += base64.b64decode(o["data"])
    eq((got == r.held, first), (True, r.lost),
       "server-sent events: all that is held, and where it begins")


def terminal_readers(d, r):
    """The scrollback, from the spawner's mark on or from where one was."""
    token = token_of(d)
    for name, options, query in (
            ("from the start", "from=0", "?from=0"), ("anew", "", "")):
        for t in (Attached(d.client(), r.sid, options),
                  WebSocket(d.web, f"/api/v1/pty/sessions/{r.sid}/attach" + query,
                            headers=[("Authorization", "Bearer " + token)])):
            t.until_gone()
            what = f"{type(t).__name__}, {name}: "
            first = t.next - len(t.out)
            ok(r.all.endswith(bytes(t.out)) and first >= r.lost and
               len(t.out) > r.kept // 2 - 8192 and t.next == r.total,
               what + "the scrollback, to the last byte",
               (first, len(t.out), t.next, r.total))
            if options and r.lost:
                eq([x[0] for x in t.of(LOST)], [0],
                   what + "what has gone is said")
            t.close()


def every_reader_gets_the_end(mode):
    with Daemon(mode, web=True) as d:
        for tty, last in ((False, WRAPPED), (True, WHOLE), (True, WRAPPED),
                          (False, 10)):
            r = Ring(d, last, tty)
            readers(d, r)
            web_readers(d, r)
            if tty:
                terminal_readers(d, r)


def characters_at_cuts(mode):
    """Text that is cut between answers has each of its characters."""
    with Daemon(mode) as d:
        c = d.client()
        word = "€" * 3 + "ä" + "x"
        sid = c.upload("/usr/bin/yes")["id"]
        c.cmd(f"ARGS {sid} {word}")
        c.cmd(f"START {sid} --tty")
        line = (word + "\r\n").encode()
        total = 0
        while total < 600000:
            total = c.cmd(f"OUTPUT {sid} 999999999999")["total"]
        c.cmd(f"STOP {sid}")
        c.cmd(f"WAIT {sid} 20")
        o = json.loads(d.ctl("--json", "output", sid).stdout)
        raw = d.ctl("output", sid).stdout
        eq((o["total"] - o["offset"], o["output"] ==
            raw.decode(errors="bytewise")), (len(raw), True),
           "as text: the same as in bytes")
        eq(o["output"].strip("\ufffd").count("\ufffd"), 0,
           "no character is cut where an answer ends")
        ok(raw.count(line) > 20000, "it was more than one answer",
           raw.count(line))
        # as text, bytes that are none
        sid = c.upload("/usr/bin/printf")["id"]
        c.cmd(f"ARGS {sid} \\377\\376%s {'b' * 40000}")
        c.cmd(f"START {sid}")
        c.cmd(f"WAIT {sid} 20")
        c.send(f"FOLLOW {sid}\n")
        at = 0
        while not (o := c.json()).get("final"):
            eq(o["offset"], at, "FOLLOW as text: next is where it goes on")
            at = o.get("next", at + len(o["output"]))
        eq(o["offset"], at, "to the end")


def another_run(mode):
    """Pages of one run are not put together with those of the next."""
    with Daemon(mode) as d:
        r = Ring(d, WHOLE, True)
        first = r.c.cmd(f"OUTPUT {r.sid} 0 base64")
        r.c.cmd(f"ARGS {r.sid} 0 9")
        r.c.cmd(f"START {r.sid} --tty")
        r.c.cmd(f"WAIT {r.sid} 20")
        o = r.c.cmd(f"OUTPUT {r.sid} {first['next']} base64")
        eq((o["output"], o["offset"], o["total"]), ("", 30, 30),
           "the next run is shorter: nothing more, and its total")


def debugger_output_has_its_end_and_says_what_is_lost(mode):
    """Output that a debugged session holds, by debugger."""
    with Daemon(mode) as d, tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o755)
        home = os.path.join(work, "home")
        os.mkdir(home)
        kw = {}
        if AS_ROOT and d.uid is not None:
            os.chown(home, d.uid, d.uid)
            kw = {"user": d.uid, "group": d.uid, "extra_groups": []}
        source = os.path.join(work, "count.c")
        with open(source, "w") as f:
            f.write("#include <stdio.h>\nint main(void)\n{\n\tint i;\n"
                    "\tfor (i = 0; i < 300000; i++)\n"
                    "\t\tprintf(\"%d\\n\", i);\n\treturn 0;\n}\n")
        subprocess.run(["gcc", "-g", "-o", work + "/count", source],
                       check=True)
        env = environment(home)
        env["DEBUGLANTERN_SOCKET"] = d.dir + "/run/debuglantern.sock"
        env["PATH"] = "/usr/bin:/bin"

        def dbg(*args):
            return run([DEBUGGER, *args], env, cwd=work, timeout=120, **kw)
        r = dbg("start", "--run", "./count")
        eq(r.code, 0, "it runs to its end")
        want = bare(WRAPPED, False)
        held = want[-MIB:]
        lost = len(want) - len(held)
        r = dbg("output", "--tail", "3")
        eq((r.out.encode(), r.err), (tail(want, 3), ""),
           "debugger output --tail 3: the last three")
        o = json.loads(dbg("output", "--tail", "3", "--json").out)
        eq((o["output"].encode(), o["total"]), (tail(want, 3), len(want)),
           "and as JSON")
        r = dbg("output", "--all")
        eq((r.out.encode() == held, f"{lost} bytes of output are lost" in
            r.err), (True, True), "--all: all that is held, and how much is "
           "not")
        o = json.loads(dbg("output", "--all", "--json").out)
        eq((o["output"].encode() == held, o["offset"], o["output_lost"]),
           (True, lost, lost), "and as JSON")
        env["DEBUGGER_CLIENT"] = "another"
        r = dbg("output")
        eq((r.out.encode() == want[-65536:], f"{len(want) - 65536} bytes are "
            "passed over" in r.err), (True, True),
           "output: the last 64 KiB, and how much is before them")
        env["DEBUGGER_CLIENT"] = "third"
        o = json.loads(dbg("output", "--json").out)
        eq((o["output"].encode() == want[-65536:], o["output_left_out"]),
           (True, len(want) - 65536), "and as JSON")
        eq(dbg("output").out, "", "which have been seen then")
        env["DEBUGGER_CLIENT"] = "fourth"
        eq((dbg("output", "--clear").out, dbg("output").out), ("", ""),
           "--clear passes over all")
        dbg("stop")


run_tests(alone(every_reader_gets_the_end), alone(characters_at_cuts),
          alone(another_run),
          alone(debugger_output_has_its_end_and_says_what_is_lost))
