#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# debuglanternctl timeline on files, and trace and timeline against a stand-in
# for the daemon: what is asked, what is printed, with which exit code.
import csv
import io
import json
import os
import random
import re
import shutil
import signal
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from ctl_rig import CTL, NO_ACCOUNT, Home, Screen, Terminal  # noqa: E402
from dl import (ALICE, AS_ROOT, eq, ok, passwd_wrapper,  # noqa: E402
                run_tests, wait_for)
from fake_server import hello  # noqa: E402
from tracestore import Store  # noqa: E402

KEPT = ".local/state/debuglantern/timelines"
NAME = "mean-2026-11-22-14h32"
FILES = (".calls", ".db", ".db-wal")
NOWHERE = "unix:/nowhere/debuglantern.sock"
RNG = random.Random(7)
HOSTILE = re.compile(b"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")


def fill(where, name=NAME, events=0):
    """One in which functions, output and a crash are."""
    with Store(where, name) as s:
        s.open(new=True, start=1000)
        for fn, fname in enumerate(("main", "parse::größe", "数::読む<名前>",
                                    "evil\x1b[31m")):
            s.do("function", fn=fn, name=fname, file="/src/mean.c",
                 line=fn + 1, ret="i32")

        def event(*e):
            return s.do("append", events=[list(e)])[0]
        a = event("enter", 7, 0, 2000, 0, 0, "0000040005000000")
        b = event("enter", 7, 1, 3000, a, 0, "0000040006000000")
        c = event("enter", 7, 2, 3500, b, 0)
        s.do("output", ts=3600, tid=7, text="out \x1b]0;evil\x07 put\n")
        event("exit", 7, 2, 3900, c, 400, "00000400ffffffff")
        event("exit", 7, 1, 8000, b, 5000, "0000040007000000")
        x = event("enter", 8, 3, 8100)
        s.do("output", ts=8200, kind="stderr", text="warn\n")
        event("exit", 8, 3, 9000, x, 900, "0000040000000000")
        event("exit", 7, 0, 2500000000, a, 2499998000, "0000040000000000")
        s.do("crash", ts=2600000000, tid=7, json='{"signal":"SIGSEGV"}')
        if events:
            s.do("generate", n=events, fns=4, threads=3, start=3000000000)
        s.do("status", status="exited", ended=1700000100)
        s.do("close", keep=True)
        eq(s.end(), (0, ""), "a timeline is there")


class KeptHome(Home):
    before = NO_ACCOUNT

    def __init__(self):
        super().__init__()
        self.kept = os.path.join(self.dir, KEPT)
        os.makedirs(self.kept, 0o700)

    def timeline(self, *args, **kw):
        return self.ctl("-t", NOWHERE, "timeline", *args, **kw)


TREE = [
    "     0.000001000       7 > main(5)",
    "     0.000002000       7   > parse::größe(6)",
    "     0.000002500       7     > 数::読む<名前>()",
    "     0.000002600       7 stdout: out \\x1b]0;evil\\x07 put",
    "     0.000002900       7     < 数::読む<名前> = -1  (400 ns)",
    "     0.000007000       7   < parse::größe = 7  (5.000 us)",
    "     0.000007100       8 > evil\\x1b[31m()",
    "     0.000007200       0 stderr: warn",
    "     0.000008000       8 < evil\\x1b[31m = 0  (900 ns)",
    "     2.499999000       7 < main = 0  (2.500 s)",
    "     2.599999000       7 crash: {\"signal\":\"SIGSEGV\"}",
]


def typed(line):
    """Without a description values are the words that were captured."""
    line = re.sub(r'"0x([0-9a-f]+)"', lambda m: str(int(m[1], 16)), line)
    return line.replace("4294967295", "-1")


def printed():
    with KeptHome() as h:
        fill(h.kept)
        path = os.path.join(h.kept, NAME)
        before = {f: os.stat(path + f).st_mtime_ns for f in FILES}
        for what, words in (
                ("its name", [NAME]), ("a path", [path]),
                ("one of its files", [path + ".db"]),
                ("its calls", [path + ".calls"])):
            r = h.timeline(*words, "--tree", "--table")
            eq((r.code, [typed(x) for x in r.out.decode().splitlines()],
                r.err), (0, TREE, b""), f"{what}: the tree")
        # event by event the client makes the lines by itself
        r = h.timeline(path, "--tree", "--limit", "100", "--table")
        eq([typed(x) for x in r.out.decode().splitlines()], TREE,
           "the same by events")
        flat = [re.sub("^(.{25}) +", r"\1", x) for x in TREE]
        for extra in ([], ["--limit", "100"]):
            r = h.timeline(path, "--table", *extra)
            eq([typed(x) for x in r.out.decode().splitlines()], flat,
               f"flat {extra}")
        r = h.timeline(path)
        events = [json.loads(x) for x in r.out.splitlines()]
        eq([e["eventType"] for e in events if e["eventType"] != "stderr"][:4],
           ["function_enter"] * 3 + ["stdout"], "elsewhere it is JSON")
        eq(events[2]["parentEventId"], events[1]["id"], "with parents")
        ok(not HOSTILE.search(r.out), "and harmless", r.out)
        r = h.timeline(path, "--after", events[5]["id"], "--limit", "2")
        eq([json.loads(x)["id"] for x in r.out.splitlines()],
           [e["id"] for e in events[6:8]], "from an event on")
        eq({f: os.stat(path + f).st_mtime_ns for f in FILES}, before,
           "and reading has written nothing")
        os.chmod(path + ".calls", 0o400)
        os.unlink(path + ".db-wal")
        eq(h.timeline(path, "--table").code, 0, "nor need it be writable")


def filtered():
    with KeptHome() as h:
        fill(h.kept)
        for words, wanted in (
                (["--function", "main"], 2), (["--contains", "größe"], 2),
                (["--matches", "^(main|数.*)$"], 4), (["--thread", "8"], 2),
                (["--type", "exit"], 4), (["--type", "function_enter"], 4),
                (["--type", "crash"], 1), (["--returns", "0x7"], 1),
                (["--returns", "nothing such"], 0),
                (["--type", "exit", "--contains", "a"], 2)):
            for form in ([], ["--table"]):
                r = h.timeline(NAME, *words, *form)
                eq((r.code, r.out.count(b"\n")), (0, wanted),
                   f"{' '.join(words)} {form}")
        for words, said in (
                (["--type", "x"], b"enter, exit, stdout, stderr or crash"),
                (["--thread", "x"], b"whole number"),
                (["--limit", "0"], b"give 1 to"),
                (["--matches", "["], b"without its ]"),
                (["--after", "x"], b"id of an event"),
                (["--follow"], b"does not go on")):
            r = h.timeline(NAME, *words)
            ok(r.code in (1, 2) and said in r.err, f"wrong: {words}", r)


def asked_in_sql():
    with KeptHome() as h:
        fill(h.kept)
        q = "SELECT function_name AS name, count(*) AS n, max(duration_ns) " \
            "AS d FROM events GROUP BY 1 ORDER BY 1"
        r = h.timeline("sql", NAME, q, "--table")
        lines = r.out.decode().splitlines()
        eq(lines[0].split(), ["name", "n", "d"], "a table")
        eq(lines[1].split(), ["3", "null"], "null is said")
        # each character of the last name takes two columns
        wide = [len(x) + sum(ord(c) > 0x2e80 for c in x) for x in lines]
        eq(len(set(wide)), 1, "wide names are as wide as others")
        r = h.timeline("sql", NAME, q, "--format", "csv")
        rows = list(csv.reader(io.StringIO(r.out.decode(), newline="")))
        eq((rows[0], rows[2]), (["name", "n", "d"], ["evil\x1b[31m", "2",
                                                     "900"]), "as CSV")
        r = h.timeline("sql", NAME, q)
        eq(json.loads(r.out)["columns"], ["name", "n", "d"], "as JSON")
        r = h.timeline("sql", NAME, "SELECT id FROM events", "--limit", "3",
                       "--table")
        ok(r.code == 0 and r.out.count(b"\n") == 4 and b"--limit" in r.err,
           "that there is more is said", r)
        for bad in ("DROP TABLE events", "SELECT", "ATTACH 'x' AS y"):
            r = h.timeline("sql", NAME, bad)
            ok(r.code == 1 and r.err, f"refused: {bad}", r)
        r = h.timeline("sql", NAME, "SELECT 1", "--format", "xml")
        ok(r.code == 2 and b"table, json or csv" in r.err, "no such format")


def exported():
    with KeptHome() as h:
        fill(h.kept, events=30000)
        out = os.path.join(h.dir, "out.json")
        r = h.timeline("export", NAME, "--format", "chrome", "-o", out)
        eq((r.code, r.out, r.err), (0, b"", b""), "into a file")
        with open(out) as f:
            events = json.load(f)["traceEvents"]
        open_calls, bad = {}, 0
        for e in events:
            stack = open_calls.setdefault(e.get("tid"), [])
            if e["ph"] == "B":
                stack.append(e["name"])
            elif e["ph"] == "E":
                bad += not stack or stack.pop() != e.get("name", None) and \
                    "name" in e
        # the others are in their last calls
        eq((bad, open_calls[7], open_calls[8]), (0, [], []),
           "each beginning has its end")
        ok(len(events) > 30000, "and all are there", len(events))
        r = h.timeline("export", NAME, "--format", "folded", "--function",
                       "main", "--thread", "7")
        eq(r.out.decode(), "main 2499998000\n", "folded stacks sum up")
        r = h.timeline("export", NAME, "--format", "text", "--type", "stderr")
        eq(r.out.count(b"\n"), 1, "text, filtered")
        for words, said in (
                ([], b"--format chrome"), (["--format", "x"], b"chrome, fol"),
                (["--format", "text", "-o", "/nowhere/x"], b"cannot write")):
            r = h.timeline("export", NAME, *words)
            ok(r.code == 2 and said in r.err, f"wrong: {words}", r)
        eq(sorted(os.listdir(h.dir)), [".local", "out.json"],
           "nothing is left beside it")
        full = h.timeline("export", NAME, "--format", "text", "-o",
                          "/dev/full")
        ok(full.code == 2 and b"No space left" in full.err, "a full disk",
           full)
        p = h.spawn("-t", NOWHERE, "timeline", NAME, "--table", stdout=-1,
                    stderr=-1)
        p.stdout.readline()
        p.stdout.close()
        err = p.stderr.read()
        p.stderr.close()
        eq((p.wait() in (0, 2, -signal.SIGPIPE), err), (True, b""),
           "a reader that has had enough is no trouble")


def listed_and_deleted():
    with KeptHome() as h:
        r = h.timeline("--kept", "--table")
        eq((r.code, r.out), (0, b"no timelines are kept\n"), "none")
        fill(h.kept)
        fill(h.kept, "other")
        with open(os.path.join(h.kept, "broken.calls"), "w") as f:
            f.write("x")
        with Store(h.kept, "busy") as s:
            s.open(new=True)
            rows = {x["name"]: x for x in json.loads(
                h.timeline("--kept").out)}
            eq(sorted(rows), ["broken", "busy", NAME, "other"], "all of them")
            eq((rows[NAME]["program"], rows[NAME]["status"],
                rows[NAME]["bytes"] > 0), ("/bin/prog", "exited", True),
               "with what they are of")
            ok("in use" in rows["busy"]["trouble"] and
               rows["broken"]["trouble"], "or what is wrong with them", rows)
            lines = h.timeline("--kept", "--table").out.decode().splitlines()
            eq(lines[0].split(), ["NAME", "SIZE", "STARTED", "PROGRAM",
                                  "STATUS"], "a table")
            r = h.timeline("busy", "--table")
            ok(r.code == 2 and b"in use" in r.err, "one that is written", r)
            r = h.timeline("delete", "busy")
            ok(r.code == 1 and b"trace stop busy" in r.err,
               "is not deleted", r)
        r = h.timeline("delete", "nosuch", "other", "../x")
        ok(r.code == 2 and b"--kept" in r.err, "what there is goes", r)
        eq(sorted(x["name"] for x in json.loads(h.timeline("--kept").out)),
           ["broken", "busy", NAME], "and that alone")
        r = h.timeline("nosuch")
        ok(r.code == 3 and b"cannot reach" in r.err and
           b"nor is a timeline" in r.err, "neither daemon nor file", r)
        r = h.timeline("/etc/passwd")
        ok(r.code == 2 and b"NAME.calls" in r.err, "no timeline", r)
        r = h.timeline()
        ok(r.code == 2 and b"--kept" in r.err, "of what?", r)


def given_to(uid, top):
    for path, _, files in os.walk(top):
        for name in ("", *files):
            os.chown(os.path.join(path, name), uid, uid)


def in_the_accounts_home():
    """Where tracers put them, whatever HOME says."""
    with KeptHome() as account, KeptHome() as h, \
            passwd_wrapper(("kept", ALICE, account.dir)) as wrapper:
        h.before = [*wrapper, "setpriv", "--reuid", str(ALICE), "--regid",
                    str(ALICE), "--clear-groups"]
        fill(account.kept, "theirs")
        fill(h.kept, "mine")
        for top in (account.dir, h.dir):
            given_to(ALICE, top)

        def there():
            return [x["name"] for x in json.loads(h.timeline("--kept").out)]

        eq(there(), ["theirs"], "those in the account's home are listed")
        ok(h.timeline("theirs", "--limit", "1").out, "and read")
        eq(h.timeline("delete", "theirs").code, 0, "and deleted")
        eq(there(), [], "then there are none, though others are elsewhere")
        shutil.rmtree(account.kept)
        eq(there(), ["mine"], "where it has no place for them HOME counts")
        h.before = NO_ACCOUNT
        given_to(0, h.dir)
        eq(there(), ["mine"], "so it does where there is no account")


def hostile_files():
    """The files are the user's own, but the program may have written them."""
    with KeptHome() as h:
        fill(h.kept, events=20000)
        path = os.path.join(h.kept, NAME)
        good = {f: open(path + f, "rb").read() for f in FILES}
        bad, opened = [], 0
        for n in range(40):
            for f in FILES:
                data = bytearray(good[f])
                if data and f == FILES[n % 2]:
                    for _ in range(RNG.choice((1, 10, 1000))):
                        data[RNG.randrange(len(data))] = RNG.randrange(256)
                    if n % 5 == 0:
                        data = data[:RNG.randrange(len(data))]
                with open(path + f, "wb") as out:
                    out.write(data)
            for words in ([NAME, "--tree", "--table"], [NAME], ["--kept"],
                          ["sql", NAME, "SELECT count(*), max(text), "
                           "max(arguments) FROM events"],
                          ["export", NAME, "--format", "chrome"]):
                r = h.timeline(*words)
                opened += r.code == 0
                if r.code not in (0, 1, 2) or b"Sanitizer" in r.err or \
                        HOSTILE.search(r.out):
                    bad.append((n, words, r))
        eq(bad, [], "whatever the files hold, nothing dies of it")
        ok(opened > 40, f"{opened} of 200 were read all the same")
        for f in FILES:
            os.unlink(path + f)
        os.mkfifo(path + ".calls")
        for f in FILES[1:]:
            os.symlink("/etc/passwd", path + f)
        r = h.timeline(NAME, timeout=30)
        ok(r.code == 2 and r.err, "what is no file is not waited for", r)


# --- a stand-in for the daemon -----------------------------------------------

class Daemon:
    """Answers TRACER by functions: name of a request to answers in turn."""

    def __init__(self, **answers):
        self.answers, self.asked = answers, []
        self.s = socket.create_server(("127.0.0.1", 0))
        self.target = "127.0.0.1:%d" % self.s.getsockname()[1]
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def accept(self):
        try:
            while True:
                threading.Thread(target=self.serve, daemon=True,
                                 args=(self.s.accept()[0],)).start()
        except OSError:
            pass

    def serve(self, s):
        with s, s.makefile("r") as lines:
            for line in lines:
                greeting = hello(line)
                if greeting is not None:
                    s.sendall(json.dumps(greeting).encode() + b"\n")
                    continue
                words, brace, rest = line.rstrip("\n").partition("{")
                name = "list"
                request = {}
                if brace:
                    request = json.loads(brace + rest)
                    name = request["command"]
                self.asked.append((words.split(), request))
                turn = self.answers.get(name)
                answer = turn.pop(0) if len(turn) > 1 else turn[0]
                if answer is None:
                    return
                s.sendall(json.dumps(answer).encode() + b"\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # who is about to accept must not do so on whoever has the number next
        self.s.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.s.close()


def refusal(code, message, next_="", **more):
    return {"ok": False, "error_code": "tracer_refused", "message": "no",
            "error": {"code": code, "message": message, "next": next_},
            **more}


def event(n, kind="function_enter", parent=None, **more):
    return {"id": f"1.{n}", "timestamp_ns": n * 1000, "eventType": kind,
            "function": "f", "threadId": 9, "parentEventId": parent,
            "arguments": [n], "returnValue": None if "enter" in kind else n,
            "duration_ns": 10, **more}


def requests():
    traced = {"activePatterns": ["a*", "b\x1b[31m"], "hookedFunctions": 3,
              "pending": ["c"], "inlined": ["i"],
              "notTraceable": [{"function": "x", "reason": "it is short"}],
              "notTraceableCount": 5, "warnings": ["slow"]}
    with Home() as h, Daemon(trace=[traced], launch=[{
            "sessionId": "prog-1", "pid": 42}], attach=[{
                "sessionId": "s1", "pid": 43}], stop=[{
                "success": True, "eventsCollected": 7,
                "kept": "/home/x/t"}]) as d:
        def run(*words, **kw):
            del d.asked[:]
            return h.ctl("-t", d.target, *words, **kw)
        r = run("trace", "s1", "a*", "b", "--budget", "0", "--address",
                "0x10", "--address", "f+4", "--raw", "--project", "/src",
                "--follow-forks", "--table")
        to = ["TRACER", "start", "session=s1"]
        eq(d.asked, [(to, {"command": "attach", "args": {
            "followForks": True, "projectRoot": "/src"}}), (to, {
                "command": "trace", "args": {
                    "add": ["a*", "b"], "addresses": ["0x10", "f+4"],
                    "budget": 0, "rawRegisters": True,
                    "projectRoot": "/src"}})], "patterns")
        text = r.out.decode()
        for said in ("a*, b\\x1b[31m", "functions     3", "no match yet",
                     "it is short", "and 4 more"):
            ok(said in text, f"said: {said}", r)
        eq((r.code, r.err), (0, b"debuglanternctl: warning: slow\n"),
           "warnings apart")
        eq(json.loads(run("trace", "s1", "x").out), traced, "as JSON")
        run("trace", "remove", "s1", "a*")
        eq(d.asked, [(["TRACER", "session=s1"], {
            "command": "trace", "args": {"remove": ["a*"]}})], "removed")
        r = run("trace", "stop", "s1", "--keep", "--table")
        eq((d.asked[0][1], r.out), ({"command": "stop", "args": {
            "keep": True}}, b"stopped; 7 events were collected, and are kept "
            b"in /home/x/t\n"), "stopped")
        r = run("trace", "run", "--name", "n", "-p", "a*", "-p", "b", "-e",
                "K=V", "--cwd", "/", "--", "/bin/sh", "-c", "--", "x y")
        words, request = d.asked[0]
        args = request["args"]
        eq((words, args["command"], args["args"], args["cwd"]),
           (["TRACER", "start", "name=n"], "/bin/sh", ["-c", "--", "x y"],
            "/"), "a command, with its own options")
        eq((args["env"]["K"], args["env"]["HOME"], args["trace"]["add"]),
           ("V", h.dir, ["a*", "b"]), "as a shell would run it")
        ok("DEBUGLANTERN_TOKEN" not in args["env"], "without our token")
        eq(run("trace", "run", "-q", "/bin/sh").out, b"prog-1\n", "its id")
        eq(run("trace", "run", "sh").code, 0, "by the PATH")


def refusals():
    with Home() as h, Daemon(trace=[refusal(
            "INVALID_PATTERN", "Invalid trace pattern '[': \x1b", "Give one")],
            status=[{"ok": False, "error_code": "not_found",
                     "message": "no such session"}]) as d:
        r = h.ctl("-t", d.target, "trace", "s", "[")
        eq((r.code, r.err), (1, b"debuglanternctl: INVALID_PATTERN: Invalid "
                             b"trace pattern '[': \\x1b\n  Give one\n"),
           "in the tracer's words, with what to do")
        r = h.ctl("-t", d.target, "--json", "trace", "s", "[")
        eq(json.loads(r.err)["error"]["code"], "INVALID_PATTERN", "as JSON")
        for words in (["timeline", "s"], ["trace", "status", "s"],
                      ["timeline", "sql", "s", "SELECT 1"]):
            r = h.ctl("-t", d.target, *words)
            ok(r.code == 1 and r.err.startswith(
                b"debuglanternctl: not_found: no such session\n"),
               f"refused: {words[0]}", r)
        for words, said in (
                (["trace", "run"], b"too few"), (["trace", "stop"], b"few"),
                (["trace", "--raw"], b"missing session"),
                (["trace", "run", "--tree", "sh"], b"--follow"),
                (["-t", NOWHERE, "trace", "run", "./nosuch"],
                 b"no such program"),
                (["-t", NOWHERE, "trace", "run", h.dir], b"is a directory"),
                (["timeline", "/etc/passwd"], b"that is no timeline; a "
                 b"timeline is NAME.calls"),
                (["timeline", "/etc/nosuch"], b"No such file"),
                (["trace", "run", "-e", "x", "sh"], b"KEY=VALUE"),
                (["trace", "s", "x", "--budget", "-1"], b"whole number"),
                (["trace", "s", b"\xff"], b"UTF-8")):
            r = h.ctl("-t", d.target, *words)
            ok(r.code == 2 and said in r.err, f"wrong: {words}", r)


def followed():
    """From the beginning, over a broken connection, to the end."""
    first = [event(1), event(2, parent="1.1")]
    then = [event(3, "function_exit", "1.2"), event(4, "function_exit",
                                                    "1.1")]
    page = {"totalCount": 4, "hasMore": False}
    with Home() as h, Daemon(
            follow=[{"events": first, **page}, None, {"events": then, **page},
                    {"events": [], **page}],
            status=[{"state": "tracing"}, {"state": "ended"}]) as d:
        r = h.ctl("-t", d.target, "timeline", "s", "--follow", "--tree",
                  "--table")
        eq(r.out.decode().splitlines(), [
            "     0.000001000       9 > f(1)",
            "     0.000002000       9   > f(2)",
            "     0.000003000       9   < f = 3  (10 ns)",
            "     0.000004000       9 < f = 4  (10 ns)"], "all of it, once")
        eq(r.code, 0, "until it has ended")
        eq([x[1]["args"].get("afterEventId") for x in d.asked
            if x[1]["command"] == "follow"], [None, "1.2", "1.2", "1.4"],
           "each question goes on behind the last event")
    with Home() as h, Daemon(
            follow=[{"events": first, **page}, {
                "ok": False, "error_code": "no_tracer", "message": "x"}],
            status=[{"state": "tracing"}]) as d:
        r = h.ctl("-t", d.target, "timeline", "s", "-f", "--table")
        ok(r.code == 0 and b"stopped" in r.err, "stopping is an end", r)


def exported_by_a_tracer():
    pieces = [{"data": "main 1", "next": 6}, {"data": "0\nmain;f 5\n",
                                             "next": None}]
    with Home() as h, Daemon(
            status=[{"state": "ended", "evicted": 3, "losses": [
                {"threadId": 1, "lost": 2}]}],
            export=[{"export": 1, "bytes": 16}], read=pieces) as d:
        r = h.ctl("-t", d.target, "timeline", "export", "s", "--format",
                  "folded", "--contains", "a")
        eq(r.out, b"main 10\nmain;f 5\n", "the pieces are put together")
        eq([x[1] for x in d.asked][1:3], [
            {"command": "export", "args": {"format": "folded", "query": {
                "function": {"contains": "a"}}}},
            {"command": "read", "args": {"export": 1, "offset": 0}}],
           "what is asked")
        ok(b"2 calls" in r.err and b"oldest 3" in r.err,
           "what is missing is said", r)
    with Home() as h, Daemon(
            status=[{"state": "ended"}], export=[{"export": 1, "bytes": 16}],
            read=[{"data": "main 1", "next": 6},
                  refusal("GONE", "it is gone")]) as d:
        out = os.path.join(h.dir, "o")
        r = h.ctl("-t", d.target, "timeline", "export", "s", "--format",
                  "folded", "-o", out)
        eq((r.code, os.path.exists(out), os.listdir(h.dir)), (1, False, []),
           "half an export is none")


def on_a_terminal():
    with KeptHome() as h:
        fill(h.kept)
        r = h.on_terminal("-t", NOWHERE, "timeline", NAME, "--tree")
        ok(b"\x1b[32m>\x1b[0m main" in r.out, "colours", r)
        ok(b"\x1b]0" not in r.out and b"\x1b[31m()" not in r.out,
           "but not the program's", r)
        r = h.on_terminal("-t", NOWHERE, "timeline", NAME, NO_COLOR="1")
        ok(b"\x1b" not in r.out, "none if none are wanted", r)
        fill(h.kept, "long", events=200000)
        with Terminal([*NO_ACCOUNT, CTL, "-t", NOWHERE, "timeline", "long"],
                      h.environment({})) as t:
            ok(t.until(b" main"), "it prints")
            t.type(b"\x03")
            eq(t.wait(), -signal.SIGINT, "Ctrl-C ends it")
        with Screen(h.environment({})) as s:
            s.run("%s debuglanternctl -t %s timeline %s --tree" % (
                " ".join(NO_ACCOUNT), NOWHERE, NAME))
            ok(s.shows("数::読む<名前> = "), "wide names on a screen",
               s.text())
            shown = [x for x in s.text().splitlines() if "crash" in x]
            ok(shown and shown[0].startswith("     2.599999000       7"),
               "and the columns are where they were", s.text())


run_tests(printed, filtered, asked_in_sql, exported, listed_and_deleted,
          *((in_the_accounts_home,) if AS_ROOT else ()), hostile_files,
          requests, refusals, followed, exported_by_a_tracer, on_a_terminal)
