#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Traced programs that are against it, through the daemon: each costs its own
# timeline, and neither the daemon nor the sessions beside it anything. And
# what others may not see, and what a name may not do to who reads it.
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../e2e/lib"))
from dl import (ALICE, AS_ROOT, BIN, BOB, SANITIZED, Client,  # noqa: E402
                Daemon, alive, alone, eq, ok, passwd_wrapper, run_tests, stat_of,
                system_with, wait_for)
from mcp import NEW, Mcp, at_daemon  # noqa: E402
from tracerig import SOURCES, WORK, build  # noqa: E402

HOSTILE = build("hostile.c", "-O2", "-g", name="hostile")
SLOW = build("slow.c", "-O2", "-g", name="slow")
# to follow forks, and to see a storm end
LONG = 300 if SANITIZED else 120
# its own mapping of the agent, or its return addresses, are not there any
# more: this may be the end of it
MAY_DIE = ("scribble", "control", "unmap", "unmap-control", "agent", "gs",
           "forge")
HARMLESS = ("ptrace", "notsc", "undumpable", "seccomp", "storm", "threads",
            "execs", "child")
ROLES = ("netproc", "spawner", "launcher", "idproc")
# what a terminal would obey, but for the ends of lines
CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f]")


def roles(d):
    return [d.role_pid(n) for n in ROLES]


def tracers(d):
    return [p for p in d.processes()
            if (stat_of(p) or ("",))[0] == "tracer"]


def end(pid, signo=signal.SIGKILL):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signo)
    return wait_for(lambda: not alive(pid))


def ends(m, session):
    """Its program has ended."""
    return wait_for(lambda: m.refused("debug_trace", sessionId=session,
                                      add=["nonesuch"]) == "PROCESS_EXITED",
                    LONG)


class Calm:
    """A traced program that has nothing to do with it, and its values."""

    def __init__(self, m):
        self.m = m
        m.trace(add=["beat"])
        o = m.launch(SLOW, "500")
        self.id, self.pid = o["sessionId"], o["pid"]
        self.n = self.count()

    def count(self):
        return self.m.query(self.id, limit=1)["totalCount"]

    def check(self, what, losses=(False,)):
        """It has gone on, and each value is what it must be."""
        ok(wait_for(lambda: self.count() > self.n + 50, LONG),
           f"{what}: another program's calls are seen as before")
        n = self.count()
        r = self.m.query(self.id, offset=max(0, n - 400), limit=400,
                         verbose=True)
        args = {e["id"]: e["arguments"] for e in r["events"]
                if e["eventType"] == "function_enter"}
        exits = [e for e in r["events"] if e["eventType"] == "function_exit"
                 and e["parentEventId"] in args]
        bad = [e for e in exits if e["function"] != "beat" or
               e["returnValue"] != args[e["parentEventId"]][0] * 3 + 1]
        ok(exits and not bad and ("losses" in r) in losses,
           f"{what}: and are what they were", (len(exits), bad[:3]))
        self.n = n

    def stop(self):
        self.m.stop(self.id)
        ok(alive(self.pid), "the calm program goes on")
        end(self.pid, signal.SIGTERM)


def pages(m, session):
    """All that is there can be read, as it is or with its values."""
    seen = 0
    r = m.query(session, limit=500, verbose=True)
    while True:
        seen += len(r["events"])
        if not r["hasMore"] or not r["events"] or seen > 20000:
            return seen
        r = m.query(session, limit=500, verbose=True,
                    afterEventId=r["events"][-1]["id"])


def one(m, calm, how):
    m.trace(add=["call"])
    o = m.launch(HOSTILE, how, followForks=how in ("storm", "execs"))
    s = o["sessionId"]
    ok(ends(m, s), f"{how}: its end is seen")
    n = m.query(s, function={"equals": "call"}, limit=1)["totalCount"]
    ok(n >= 10, f"{how}: its calls are seen until then", n)
    ok(pages(m, s) > 0, f"{how}: all of its timeline can be read")
    said = "".join(e["text"] for e in m.query(
        s, eventType="stdout", limit=500)["events"])
    if how not in MAY_DIE:
        ok("here\n" in said, f"{how}: it does what it does untraced", said)
    r = m.stop(s)
    ok(r["success"], f"{how}: it is stopped", r)
    ok(m.refused("debug_query", sessionId=s) == "SESSION_NOT_FOUND",
       f"{how}: and leaves nothing")
    calm.check(how)


def hostile(mode):
    with at_daemon(mode) as (d, m):
        calm = Calm(m)
        was = roles(d)
        for how in HARMLESS + MAY_DIE:
            one(m, calm, how)
        eq(roles(d), was, "no process of the daemon was replaced")
        calm.stop()
        ok(wait_for(lambda: tracers(d) == []), "no tracer is left",
           tracers(d))
        d.tidy()


def killed(mode):
    """kill -9 of the tracer, in the middle."""
    with at_daemon(mode) as (d, m):
        calm = Calm(m)
        m.trace(add=["beat", "outer"])
        # another copy: sessions are told apart by program
        path = shutil.copy(SLOW, os.path.join(WORK, f"victim-{mode}"))
        before = set(tracers(d))
        o = m.launch(path, "200")
        s, pid = o["sessionId"], o["pid"]
        ok(wait_for(lambda: m.query(s, limit=1)["totalCount"] > 500),
           "its calls are seen")
        own = set(tracers(d)) - before
        eq(len(own), 1, "a tracer of its own")
        n = m.query(s, limit=1)["totalCount"]
        end(own.pop())
        ok(alive(pid), "the program outlives its tracer")
        r = wait_for(lambda: m.query(s, limit=500))
        ok(r["totalCount"] >= n - 1 and len(r["events"]) == 500,
           "its timeline can be asked still, and is all that was shown",
           (n, r["totalCount"]))
        old = m.query(s, limit=1)["totalCount"]
        t = m.trace(s, add=["other"])
        eq(t["hookedFunctions"], 1, "it can be traced anew")
        ok(wait_for(lambda: m.query(s, function={"equals": "other"}, limit=1,
                                    eventType="function_exit")["totalCount"]),
           "and is seen")
        ok(m.query(s, limit=1)["totalCount"] > old, "behind what was there")
        calm.check("killed tracer")
        m.stop(s)
        ok(alive(pid), "it goes on")
        c = d.client()
        end(pid, signal.SIGTERM)
        ok(wait_for(lambda: b"bad 0" in c.output(s)),
           "and has never done anything wrong", c.cmd("STATUS " + s))
        calm.stop()
        d.tidy()


# what to start a daemon by, so that a place is a small disk, Alice's
SMALL = ["unshare", "-m", "sh", "-c",
         'mount -t tmpfs -o size=3m none "$0" && chown "$1:$1" "$0" && '
         'shift && exec "$@"']


def full_disk():
    """A home without room: the program and its output do not notice."""
    where = tempfile.mkdtemp(prefix="dl-full-")
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, where, True)
        names = stack.enter_context(passwd_wrapper(("u", ALICE, where)))
        d = stack.enter_context(Daemon("system", wrapper=[
            *SMALL, where, str(ALICE), *names]))
        d.uid = ALICE
        m = stack.enter_context(Mcp(d))
        fills(d, m)


def fills(d, m):
    calm = Calm(m)
    m.trace(add=["beat", "other"])
    path = shutil.copy(SLOW, os.path.join(WORK, "fast"))
    o = m.launch(path, "0")
    s, pid = o["sessionId"], o["pid"]
    m.trace(s, budget=0)
    ok(wait_for(lambda: "space" in said_of(d, s)["trouble"], LONG),
       "that the disk is full is said", said_of(d, s))
    ok(alive(pid), "the program goes on")
    ok(pages(m, s) > 0, "what there is can be read")
    ok(m.query(s, limit=1).get("losses"), "and what is missing is counted")
    m.trace(s, budget=1000)
    ok(m.stop(s)["success"] and alive(pid), "it is stopped")
    end(pid, signal.SIGTERM)
    # theirs is one disk, but so few calls may have waited until it had room
    calm.check("a disk that has room again", losses=(False, True))
    calm.stop()
    d.tidy()


def said_of(d, session):
    """What the status of its tracer says."""
    c = Client(d.dir + "/run/debuglantern.sock", uid=d.uid)
    with contextlib.closing(c):
        c.send(json.dumps({"id": 1, "command": "tracer", "args": {
            "session": session, "request": {"command": "status"}}}) + "\n")
        r = c.json()["result"]
        return dict(r, trouble=r["trouble"] or "")


def strangers():
    """Another user, and one who may only look."""
    with system_with(ALICE, BOB) as d, Mcp(d, uid=ALICE) as a, \
            Mcp(d, uid=BOB) as b, Mcp(d, uid=BOB, revision=NEW) as b2:
        calm = Calm(a)
        for who in (b, b2):
            for tool, more in (("debug_query", {}), ("debug_trace", {}),
                               ("debug_trace", {"add": ["other"]}),
                               ("debug_stop", {})):
                for name in (calm.id, calm.id[:-1] + "*", str(calm.pid)):
                    eq(who.refused(tool, sessionId=name, **more),
                       "SESSION_NOT_FOUND", f"{tool} of another's {name}")
        theirs = b.launch(SLOW, "500")
        ok(theirs["sessionId"], "their own of the same program is no such one")
        b.trace(add=["other"])
        c = d.client(ALICE)
        sid = c.cmd("STATUS " + calm.id)["id"]
        c.cmd(f"SHARE {sid} u{BOB}")
        ok(b.query(sid, limit=5)["events"], "who may look may ask")
        eq(b.trace(sid)["hookedFunctions"], 1, "and what is traced")
        for tool, more in (("debug_trace", {"add": ["other"]}),
                           ("debug_trace", {"remove": ["beat"]}),
                           ("debug_stop", {})):
            eq(b.refused(tool, sessionId=sid, **more), "READ_ONLY",
               f"{tool}: but changes nothing")
        calm.check("a share to look at")
        c.cmd(f"UNSHARE {sid} u{BOB}")
        eq(b.refused("debug_query", sessionId=sid), "SESSION_NOT_FOUND",
           "no more")
        b.stop(theirs["sessionId"])
        end(theirs["pid"])
        calm.stop()


# --- names ------------------------------------------------------------------

EVIL = b'\x1b]0;x\x07"\\\n\xff\xfe<&\x00'
LONG_NAME = "n" * 10000


def with_names():
    """A program whose names are not: of a function, a file, a type."""
    plain = "ev" + "i" * (len(EVIL) - 4) + "l_"
    source = os.path.join(WORK, plain + ".c")
    with open(source, "w") as f:
        f.write(f"""#include <stdio.h>
#include <unistd.h>
struct t_{plain} {{ int m_{plain}; }};
__attribute__((noinline, noclone)) struct t_{plain}
f_{plain}(struct t_{plain} x) {{ __asm__ volatile("" : : : "memory");
return x; }}
__attribute__((noinline, noclone)) int
{LONG_NAME}(int n) {{ __asm__ volatile("" : : : "memory"); return n; }}
int main(void) {{ int i; struct t_{plain} x = {{ 1 }};
for (i = 0; i < 100; i++) {{ f_{plain}(x); {LONG_NAME}(i);
printf("\\033[2J%c\\n", 0xff); fflush(stdout); usleep(1000); }}
return 0; }}
""")
    path = os.path.join(WORK, "named")
    subprocess.run(["gcc", "-w", "-g", "-O0", "-o", path, source], check=True)
    with open(path, "rb") as f:
        data = f.read()
    # the zero at its end cuts it short: what is behind is another's
    evil = EVIL[:-1] + b"\x01"
    with open(path, "wb") as f:
        f.write(data.replace(plain.encode(), evil))
    return path


def quiet(text):
    """Nothing in it that a terminal obeys."""
    text = text.decode(errors="surrogateescape")
    return not CONTROL.search(text) and "\x1b" not in text


def names(mode):
    program = with_names()
    with at_daemon(mode) as (d, m):
        m.trace(add=["f_*", "n*"])
        o = m.launch(program)
        s = o["sessionId"]
        ok(ends(m, s), "it runs to its end")
        events = m.all(s, verbose=True) + m.all(s)
        ok(len(events) > 800, "its calls are seen", len(events))
        text = json.dumps(events, ensure_ascii=False)
        ok(LONG_NAME[:4000] in text, "a long name is one")
        ok("f_" in text and "\x1b" not in text, "a name is escaped in JSON")
        ok(m.query(s, function={"matches": "^f_"}, limit=1)["totalCount"] > 0,
           "what cannot be written can be looked for")
        for args in (("timeline", s), ("timeline", s, "--tree"),
                     ("trace", s), ("list",),
                     ("timeline", "sql", s, "SELECT * FROM events")):
            p = d.ctl(*args)
            ok(p.returncode == 0 and quiet(p.stdout) and quiet(p.stderr),
               f"{' '.join(args)[:40]}: nothing that a terminal obeys",
               (p.returncode, p.stdout[-500:], p.stderr[-500:]))
        m.stop(s)
        d.tidy()


run_tests(alone(hostile), alone(killed), alone(names),
          *((full_disk, strangers) if AS_ROOT else ()))
