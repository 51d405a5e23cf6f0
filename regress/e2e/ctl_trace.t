#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# debuglanternctl trace and timeline on real programs, from the command line
# to what they are seen to do.
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from ctl_rig import CTL, Screen  # noqa: E402
from dl import (ALICE, AS_ROOT, MODES, Daemon, alive, eq, ok,  # noqa: E402
                passwd_wrapper, read_proc, run_tests, tap, wait_for)
from tracerig import SOURCES, WORK, build, stripped  # noqa: E402

KEPT = ".local/state/debuglantern/timelines"
LINE = re.compile(r"^ *(\d+)\.(\d{9}) +(\d+) (.*)$")


class User:
    """Somebody with a home, and a daemon."""

    def __init__(self, daemon, home):
        self.d, self.home = daemon, home
        self.uid = ALICE if AS_ROOT else os.geteuid()
        self.env = {**os.environ, "HOME": home, "LC_ALL": "C.UTF-8",
                    "TERM": "xterm", "DEBUGLANTERN_TARGET":
                    f"127.0.0.1:{daemon.port}"}
        for name in ("NO_COLOR", "XDG_STATE_HOME"):
            self.env.pop(name, None)
        self.kw = {"user": ALICE, "group": ALICE, "extra_groups": []} \
            if AS_ROOT else {}

    def ctl(self, *args, timeout=120, cwd=WORK):
        return subprocess.run([CTL, *args], env=self.env, cwd=cwd,
                              capture_output=True, timeout=timeout, **self.kw)

    def text(self, *args):
        """What people see; it must have worked."""
        r = self.ctl(*args, "--table") if "--" not in args else \
            self.ctl("--table", *args)
        if r.returncode != 0:
            raise RuntimeError(f"{args}: {r}")
        return r.stdout.decode()

    def json(self, *args):
        r = self.ctl("--json", *args)
        if r.returncode != 0:
            raise RuntimeError(f"{args}: {r}")
        return json.loads(r.stdout)

    def run(self, *args, name=None):
        """Starts a command traced; the session's name."""
        how = () if name is None else ("--name", name)
        r = self.ctl("trace", "run", "-q", *how, *args)
        if r.returncode != 0:
            raise RuntimeError(f"trace run {args}: {r}")
        return r.stdout.decode().strip()

    def ended(self, name):
        return wait_for(lambda: self.json("trace", "status", name)["state"]
                        == "ended", 60)

    def tidy(self):
        for s in self.json("trace", "list"):
            self.ctl("trace", "stop", s["session"])
        for s in self.json("list"):
            self.ctl("kill", s["id"])
            self.ctl("wait", s["id"], "30")
            self.ctl("delete", s["id"])


@contextlib.contextmanager
def a_home():
    if not AS_ROOT:
        yield os.path.expanduser("~"), ()
        return
    with tempfile.TemporaryDirectory(prefix="dl-traced-") as home:
        os.chown(home, ALICE, ALICE)
        with passwd_wrapper(("traced", ALICE, home)) as wrapper:
            yield home, wrapper


def in_modes(*tests):
    def run():
        only = os.environ.get("DL_ONLY", "")
        for mode in MODES:
            tap.prefix = mode + ": "
            with a_home() as (home, wrapper), \
                    Daemon(mode, wrapper=wrapper) as d:
                user = User(d, home)
                for t in tests:
                    if only not in t.__name__:
                        continue
                    t(user)
                    user.tidy()
                eq(user.json("timeline", "--kept"), [],
                   "nothing is left in the home")
            tap.prefix = ""
    run.__name__ = "in_modes"
    run.chooses = True
    return run


def lines(text):
    """(ns, thread, what) of each line."""
    out = []
    for line in text.splitlines():
        m = LINE.match(line)
        if m is None:
            raise RuntimeError(f"no line of a timeline: {line!r}")
        out.append((int(m[1]) * 10**9 + int(m[2]), int(m[3]), m[4]))
    return out


def no_time(what):
    return re.sub(r"  \([\d.]+ (ns|us|ms|s)((, \w+)*)\)$", r"\2", what)


def shape(text):
    """A tree without times and threads, output apart."""
    return [no_time(w) for _, _, w in lines(text)
            if not w.startswith(("stdout: ", "stderr: "))]


def story_round(i):
    null = i % 2 == 0
    name = 'null' if null else '"größe"'
    return [f"> work({i})",
            f"  > name_of({i})", f"  < name_of = {name}",
            f"  > step({i},{name})", f"  < step = {2 * i + null}",
            f'  > step({i},"数")', f"  < step = {2 * i}",
            f'< work = {{"n":{i},"total":{4 * i + null}}}']


PATTERNS = ("-p", "work", "-p", "step", "-p", "name_*")


# --- C -----------------------------------------------------------------------

def a_story(u):
    program = build("story.c", "-g", "-O1")
    name = u.run(*PATTERNS, "--", program, "3", "1")
    ok(re.fullmatch(r"story_c-g-O1-\d{4}-\d\d-\d\d-\d\dh\d\d", name),
       "the session is called after program and time", name)
    ok(u.ended(name), "it has ended")
    tree = u.text("timeline", name, "--tree")
    eq(shape(tree), sum(map(story_round, range(3)), []),
       "the calls with arguments and results, indented")
    times = [t for t, _, _ in lines(tree)]
    eq(times, sorted(times), "in the order of time")
    said = [w for _, _, w in lines(tree) if w.startswith("std")]
    eq("\\n".join(x.removeprefix("stdout: ") for x in said).split("\\n"),
       [f"round {i}: {4 * i + (i % 2 == 0)}" for i in range(3)] +
       ["stderr: done"], "and what it has written")
    flat = u.text("timeline", name)
    eq([w.strip() for _, _, w in lines(tree)],
       [w for _, _, w in lines(flat)], "flat it is the same")
    eq(u.text("timeline", name, "--limit", "500"), flat,
       "as it is event by event")
    filtered(u, name)
    in_sql(u, name)
    exported(u, name)
    refused(u, name, program)


def filtered(u, name):
    for words, wanted in (
            (["--function", "step"], 12), (["--contains", "or"], 6),
            (["--matches", "^(work|name_.*)$"], 12),
            (["--type", "exit", "--returns", "null"], 2),
            (["--returns", "2"], 2), (["--returns", "größe"], 1),
            (["--type", "stderr"], 1), (["--type", "crash"], 0),
            (["--limit", "5"], 5)):
        eq(len(u.text("timeline", name, *words).splitlines()), wanted,
           "filtered: " + " ".join(words))


def in_sql(u, name):
    q = "SELECT function_name AS f, count(*) AS n FROM events " \
        "WHERE event_type = 'function_enter' GROUP BY 1 ORDER BY 1"
    eq(u.json("timeline", "sql", name, q)["rows"],
       [["name_of", 3], ["step", 6], ["work", 3]], "asked in SQL")
    eq([x.split() for x in u.text("timeline", "sql", name, q).splitlines()],
       [["f", "n"], ["name_of", "3"], ["step", "6"], ["work", "3"]],
       "as a table")
    r = u.ctl("timeline", "sql", name, "DELETE FROM events")
    ok(r.returncode == 1 and b"SELECT" in r.stderr, "which only reads", r)


def exported(u, name):
    path = os.path.join(u.home, "trace.json")
    u.text("timeline", "export", name, "--format", "chrome", "-o", path)
    with open(path) as f:
        events = json.load(f)["traceEvents"]
    os.unlink(path)
    stacks, good = {}, True
    for e in events:
        stack = stacks.setdefault(e["tid"], [])
        if e["ph"] == "B":
            stack.append(e["ts"])
        elif e["ph"] == "E":
            good = good and bool(stack) and stack.pop() <= e["ts"]
    ok(good and not any(stacks.values()), "chrome: B and E are balanced")
    eq(sum(e["ph"] == "B" for e in events), 12, "and all are there")
    folded = dict(x.rsplit(" ", 1) for x in u.text(
        "timeline", "export", name, "--format", "folded").splitlines())
    eq(sorted(folded), ["work", "work;name_of", "work;step"], "folded")
    spent = u.json("timeline", "sql", name, "SELECT sum(duration_ns) FROM "
                   "events WHERE function_name = 'work'")["rows"][0][0]
    eq(sum(map(int, folded.values())), spent, "whose lines sum up")


def refused(u, name, program):
    r = u.ctl("trace", "run", program)
    ok(r.returncode == 1 and b"SESSION_EXISTS" in r.stderr and
       r.stderr.count(b"\n") == 2 and b"debug_stop" not in r.stderr and
       f'"debuglanternctl trace stop {name}" ends'.encode() in r.stderr,
       "a second one of a program", r)
    r = u.ctl("trace", name, "main")
    ok(r.returncode == 1 and b"PROCESS_EXITED" in r.stderr,
       "what has ended cannot be traced", r)
    r = u.ctl("trace", name, "a:::b")
    ok(r.returncode == 1 and r.stderr, "nor by what is no pattern", r)
    out = u.text("trace", "stop", name)
    ok(re.match(r"stopped; 2\d events were collected\n$", out), "stopped",
       out)
    r = u.ctl("timeline", name)
    ok(r.returncode == 1 and b"--kept" in r.stderr, "and gone", r)


def without_symbols(u):
    program = stripped(build("form.c", "-g", "-O1"))
    for how in ((), ("-q",), ("-f",), ("--table",)):
        r = u.ctl("trace", "run", *how, "--name", "bare", "-p", "submit",
                  "--", program, "1")
        ok(r.returncode == 1 and b"NO_DEBUG_SYMBOLS" in r.stderr and
           b"--raw" in r.stderr and b"permission" not in r.stderr,
           f"of a stripped one nothing is watched: said so {how}", r)
        ok(u.ended("bare"), "it ran all the same")
        u.text("trace", "stop", "bare")
    name = u.run("--", program, "2000")
    r = u.ctl("trace", name, "submit")
    ok(r.returncode == 1 and b"--raw" in r.stderr and b"permission" not in
       r.stderr, "nor of one that runs", r)
    u.text("trace", "stop", name)


# --- C++ and Rust ------------------------------------------------------------

def balanced(text):
    """A tree in which each line is where the stack says."""
    stack = []
    for what in shape(text):
        name = what.strip(" <>")
        if what.endswith(", unwound"):
            # it is noticed when something else happens there
            if name.split(", ")[0] in stack:
                stack.reverse()
                stack.remove(name.split(", ")[0])
                stack.reverse()
            continue
        depth = (len(what) - len(what.lstrip())) // 2
        if what.lstrip().startswith(">"):
            if depth != len(stack):
                return f"{what!r} at {len(stack)}"
            stack.append(name.split("(")[0])
        elif not what.lstrip().startswith("<"):
            # output, by whom that is known or not
            if depth not in (0, len(stack)):
                return f"{what!r} at {len(stack)}"
        else:
            if depth != len(stack) - 1 or not name.startswith(stack.pop()):
                return f"{what!r} ends {stack}"
    return "" if not stack else f"{stack} have not ended"


def exceptions(u):
    program = build("throw.cc", "-g", "-O1")
    name = u.run("-p", "catcher", "-p", "through", "-p", "deep", "-p",
                 "guard::~guard", "--", program)
    ok(u.ended(name), "C++: it has ended")
    tree = u.text("timeline", name, "--tree", "--type", "enter")
    calls = {w.split("(")[0].strip() for _, _, w in lines(tree)}
    ok({"> catcher", "> through", "> deep"} <= calls, "C++: calls",
       calls)
    eq(balanced(u.text("timeline", name, "--tree")), "",
       "C++: each call has its end, through exceptions, too")


def in_rust(u):
    program = os.path.join(WORK, "rusty")
    subprocess.run(["rustc", "-g", "-C", "opt-level=1", "-o", program,
                    os.path.join(SOURCES, "prog.rs")], check=True,
                   capture_output=True)
    name = u.run("-p", "@usercode", "--project", SOURCES, "--", program)
    ok(u.ended(name), "Rust: it has ended")
    shown = shape(u.text("timeline", name, "--contains", "rust_add"))
    eq(len(shown), 20, "Rust: the project's own")
    ok(all(re.search(r"rust_add(\(1,2\)| = 3)$", x) for x in shown),
       "Rust: with values", shown[:2])
    tree = u.text("timeline", name, "--tree")
    eq(balanced(tree), "", "Rust: through panics")
    ok("std::" not in "".join(w.split("(")[0] for w in shape(tree)),
       "Rust: and none of the library's")


# --- while it runs -----------------------------------------------------------

def followed(u):
    program = build("story.c", "-g", "-O1", name="followed")
    p = subprocess.Popen(
        [CTL, "--table", "trace", "run", "--follow", "--tree", *PATTERNS,
         "--name", "followed", "--", program, "20", "20"], env=u.env,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **u.kw)
    out, err = p.communicate(timeout=180)
    eq(p.returncode, 0, "a follower ends with the program")
    text = out.decode()
    eq(shape(text), sum(map(story_round, range(20)), []),
       "and has seen all from the first call on")
    eq(text, u.text("timeline", "followed", "--tree"),
       "which is what there is afterwards")
    ok(b"trace stop followed" in err, "and what to do then", err)


def attached(u):
    program = build("story.c", "-g", "-O1", name="attached")
    sid = u.json("new", "--name", "attached", program, "100000", "5")["id"]
    u.ctl("start", sid)
    wait_for(lambda: b"round 3" in u.ctl("output", sid).stdout, 60)
    out = u.text("trace", "attached", "work", "nosuch*")
    ok(re.search(r"^functions +1$", out, re.M) and "nosuch*" in out,
       "one that runs", out)
    ok(wait_for(lambda: "> work(" in u.text("timeline", "attached"), 60),
       "its calls are seen")
    out = u.text("trace", "attached", "step")
    ok(re.search(r"^functions +2$", out, re.M), "more of it", out)
    ok(wait_for(lambda: "> step(" in u.text("timeline", "attached"), 60),
       "are seen, too")
    out = u.text("trace", "remove", "attached", "step", "nosuch*")
    ok(re.search(r"^functions +1$", out, re.M) and "nosuch" not in out,
       "less of it", out)
    status = u.text("trace", "status", "attached")
    ok(re.search(r"^ +\d+  work$", status, re.M), "with counts", status)
    table = u.text("trace", "functions", "attached", "*")
    ok(re.search(r"^step .*story\.c:\d+", table, re.M),
       "which functions there are", table)
    ok("attached" in u.text("trace", "list"), "it is listed")
    after(u)
    ended_early(u)


def with_children(u):
    """Whether children are seen is said when a program is attached to."""
    sid = u.json("new", "--name", "brood",
                 build("brood.c", "-g", "-O1", name="brood"))["id"]
    u.ctl("start", sid)
    out = u.text("trace", "--follow-forks", "brood", "brood", "hatch")
    ok(re.search(r"^functions +2$", out, re.M), "attached, with children", out)
    ok(wait_for(lambda: "> hatch(" in u.text(
        "timeline", "brood", "--function", "hatch"), 60),
       "calls of theirs are seen")
    by = {name: {LINE.match(x).group(3) for x in u.text(
        "timeline", "brood", "--function", name).splitlines()}
        for name in ("brood", "hatch")}
    ok(len(by["brood"]) == 1 and not by["brood"] & by["hatch"],
       "as theirs", by)
    u.text("trace", "--follow-forks", "brood", "main")
    u.text("trace", "stop", "brood")
    u.text("trace", "brood", "brood")
    r = u.ctl("trace", "--follow-forks", "brood", "hatch")
    ok(r.returncode == 1 and b"traced already, without" in r.stderr and
       b"stop tracing" in r.stderr, "not what is attached to without them", r)
    status = u.json("trace", "status", "brood")
    eq(status["patterns"], ["brood"], "then nothing is changed")


def after(u):
    """Reading on, by the id of an event."""
    events = [json.loads(x) for x in u.ctl(
        "timeline", "attached", "--limit", "20").stdout.splitlines()]
    more = [json.loads(x) for x in u.ctl(
        "timeline", "attached", "--after", events[9]["id"], "--limit",
        "10").stdout.splitlines()]
    eq([e["id"] for e in more], [e["id"] for e in events[10:]],
       "it can be read on")


def ended_early(u):
    """Who follows something that is stopped, or has seen enough."""
    def follower():
        p = subprocess.Popen([CTL, "timeline", "attached", "-f", "--table"],
                             env=u.env, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, **u.kw)
        p.stdout.readline()
        return p
    p = follower()
    p.send_signal(signal.SIGINT)
    p.stdout.close()
    err = p.stderr.read()
    p.stderr.close()
    eq((p.wait(), err), (-signal.SIGINT, b""), "Ctrl-C ends a follower")
    p = follower()
    pid = u.json("status", "attached")["pid"]
    u.text("trace", "stop", "attached")
    err = p.communicate(timeout=120)[1]
    ok(p.returncode == 0 and b"stopped" in err, "so does stopping",
       (p.returncode, err))
    r = u.json("status", "attached")
    eq((r["state"], r["pid"], r["tracer"]), ("RUNNING", pid, None),
       "but the program goes on")


def tracers_of(u):
    """Of this daemon: other tests have theirs."""
    return [p for p in u.d.processes() if read_proc(p, "comm") ==
            b"tracer\n" and alive(p)]


def kept(u):
    program = build("story.c", "-g", "-O1", name="kept")
    u.run(*PATTERNS, "--", program, "5", name="kept-one")
    ok(u.ended("kept-one"), "it has ended")
    before = u.text("timeline", "kept-one", "--tree")
    path = u.json("trace", "status", "kept-one")["file"]
    ok(path.startswith(os.path.join(u.home, KEPT)), "it is in the home",
       path)
    r = u.json("trace", "stop", "kept-one", "--keep")
    eq(r["kept"], path, "kept")
    eq([(x["name"], x["program"], x["status"]) for x in
        u.json("timeline", "--kept")],
       [("kept-one", program, "exited")], "listed")
    os.unlink(program)
    for name in ("kept-one", path):
        eq(u.text("timeline", name, "--tree"), before,
           "offline it is what it was, values and all")
    eq(len(u.text("timeline", path, "--returns", "null").splitlines()), 3,
       "and is asked as well")
    u.text("timeline", "delete", "kept-one")
    r = u.ctl("timeline", "kept-one")
    eq(r.returncode, 1, "deleted")


def killed(u):
    program = build("story.c", "-g", "-O1", name="killed")
    others = set(tracers_of(u))
    u.run(*PATTERNS, "--", program, "20000", "5", name="killed")
    ok(wait_for(lambda: '< work = {"n":3,' in u.text(
        "timeline", "killed", "--limit", "60"), 60), "it is traced")
    # what the first page has is on its way to the disk
    first = u.text("timeline", "killed", "--limit", "20")
    pid = u.json("status", "killed")["pid"]
    mine = [p for p in set(tracers_of(u)) - others]
    wait_for(lambda: u.json("timeline", "sql", "killed",
                            "SELECT count(*) FROM events")["rows"][0][0] >
             2000, 120)
    for p in mine:
        os.kill(p, signal.SIGKILL)
    ok(wait_for(lambda: not any(map(alive, mine)), 30),
       "the tracer is killed")
    ok(wait_for(lambda: u.ctl("timeline", "killed", "--limit", "20",
                              "--table").stdout.decode() == first, 60),
       "its timeline is still there", u.ctl("timeline", "killed", "--limit",
                                            "20", "--table"))
    ok(alive(pid), "the program, too")


def on_a_screen(u):
    program = build("story.c", "-g", "-O1", name="screen")
    u.run(*PATTERNS, "--", program, "100000", "50", name="on-screen")
    with Screen(u.env, uid=ALICE if AS_ROOT else None) as s:
        s.run("debuglanternctl timeline on-screen --follow --tree")
        # the first of them are off the screen soon
        ok(s.shows("> work("), "it is followed on a screen", s.text())
        s.type("C-c")
        ok(s.back(), "until Ctrl-C")
        bad = [x for x in s.all().splitlines() if len(x) > 80]
        eq(bad, [], "within 80 columns")


build("story.c", "-g", "-O1")
run_tests(in_modes(a_story, without_symbols, exceptions, in_rust, followed, attached,
                   with_children, kept, killed, on_a_screen))
shutil.rmtree(WORK, ignore_errors=True)
