#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# What the timelines of one user may take together: a tracer's process sees
# what others take, and has the rest.
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import eq, ok, run_tests, wait_for
from tracerig import SOURCES, build, stop
from tracerproc import TIMELINES, Tracer

MIB = 1 << 20


def hot():
    return build("hot.c", "-g", "-O1")


def watched():
    return build("watched.c", "-g", "-O1")


def kept(t, name, size, suffix=".calls"):
    """A file of a timeline that somebody has kept; its path."""
    at = os.path.join(t.home, TIMELINES)
    os.makedirs(at, 0o700, exist_ok=True)
    path = os.path.join(at, name + suffix)
    with open(path, "wb") as f:
        f.write(os.urandom(size))
    return path


def used(t):
    """Bytes on the disk of all that is in the directory."""
    at = os.path.join(t.home, TIMELINES)
    return sum(os.stat(os.path.join(at, x)).st_blocks * 512
               for x in os.listdir(at))


def grows(t):
    """Starts what is called without end, and traces all of it."""
    r = t.ask("launch", command=hot(), projectRoot=SOURCES,
              trace={"add": ["hot"], "budget": 0})
    return r["pid"]


def status(t, match):
    return t.until(match, "status")


def one_gives_way():
    with Tracer("-u", str(12 * MIB)) as t:
        pid = grows(t)
        s = status(t, lambda s: s["evicted"] > 0)
        ok(s["evicted"] > 0 and 11 * MIB < s["bytesMost"] <= 12 * MIB,
           "alone it has all, but for what is no call", s)
        path = kept(t, "old", 4 * MIB)
        kept(t, "old", 2 * MIB, ".db")
        kept(t, "unrelated", 2 * MIB, ".txt")
        s = status(t, lambda s: s["bytes"] <= s["bytesMost"] < 6 * MIB)
        ok(5 * MIB < s["bytesMost"] < 6 * MIB and s["bytes"] <= 6 * MIB,
           "what is kept beside it takes from that", s)
        eq(os.stat(path).st_size, 4 * MIB, "and stays as it was")
        kept(t, "older", 8 * MIB)
        s = status(t, lambda s: s["bytes"] <= s["bytesMost"] == MIB)
        eq(s["bytesMost"], MIB, "a little is left to it in any case")
        n = t.ask("query", function={"equals": "hot"})["totalCount"]
        ok(n > 0, "which has the latest calls", n)
        for name in ("old.calls", "older.calls", "old.db"):
            os.unlink(os.path.join(t.home, TIMELINES, name))
        s = status(t, lambda s: s["bytesMost"] > 11 * MIB)
        ok(s["bytesMost"] > 11 * MIB, "when they go it may grow again", s)
        t.ask("stop")
        stop(pid)


def texts_stay():
    """Calls are evicted, what the program has written is not."""
    with Tracer("-u", str(6 * MIB)) as t:
        r = t.ask("launch", command=watched(), args=["-1", "50"],
                  projectRoot=SOURCES, trace={"add": ["@usercode"]})
        first = t.until(lambda q: q["totalCount"] > 0, eventType="stdout",
                        limit=1)["events"]
        kept(t, "old", 6 * MIB)
        status(t, lambda s: s["evicted"] > 0)
        eq(t.ask("query", eventType="stdout", limit=1)["events"], first,
           "its first words are there when its first calls are not")
        t.ask("stop")
        stop(r["pid"])


def refused(t, name, /, **args):
    e = t.ask(name, **args)["error"]
    eq(e["code"], "TIMELINE_FULL", f"{name}: there is no room")
    return e["message"], e["next"]


def none_is_begun():
    with Tracer("-u", str(8 * MIB)) as t:
        kept(t, "small", MIB)
        kept(t, "large", 6 * MIB)
        kept(t, "large", MIB, ".db")
        pid = subprocess.Popen([watched(), "-1", "5000"],
                               stdout=subprocess.DEVNULL)
        with Tracer("-u", str(8 * MIB), "-m", "-p", str(pid.pid),
                    home=t.home) as u:
            words, hint = refused(u, "attach")
            ok("large (7.0 MiB), small (1.0 MiB)" in words and
               "8.0 MiB of the 8.0 MiB" in words, "it is said what takes it",
               words)
            ok("timeline delete" in hint and "trace stop" in hint,
               "and how to remove that", hint)
            eq(u.code("trace", add=["main"]), "TIMELINE_FULL",
               "nor is it attached to by the way")
            eq(len(t.files()), 3, "nothing was made")
            os.unlink(os.path.join(t.home, TIMELINES, "small.calls"))
            ok("pid" in u.ask("attach"), "then there is room")
            u.ask("stop")
        pid.kill()
        pid.wait()
        kept(t, "small", MIB)
        refused(t, "launch", command=watched(), projectRoot=SOURCES)
        ok(t.event("bye") is not None, "the tracer of a launch is done")
    with Tracer("-u", str(8 * MIB)) as t:
        t.put("_memory", None, bytes=8 * MIB)
        words, _ = refused(t, "launch", command=watched(),
                           projectRoot=SOURCES)
        ok("in memory, of sessions: 8.0 MiB" in words and "largest" not in
           words, "what is in memory counts as well", words)


def names_what_is_in_use():
    with Tracer("-u", str(8 * MIB)) as t:
        pid = grows(t)
        status(t, lambda s: s["evicted"] > 0)
        kept(t, "beside", 2 * MIB)
        with Tracer("-u", str(4 * MIB), home=t.home) as u:
            words, _ = refused(u, "launch", command=watched(),
                               projectRoot=SOURCES)
            ok("session (" in words and "MiB, of a session)" in words and
               "beside (2.0 MiB)" in words,
               "a session's is told from one that is kept", words)
        t.ask("stop")
        stop(pid)


def two_at_once():
    """Together they have no more than one alone."""
    with Tracer("-u", str(16 * MIB)) as t, \
            Tracer("-u", str(16 * MIB), home=t.home) as u:
        pids = [grows(t), grows(u)]
        both = lambda: [x.ask("status") for x in (t, u)]  # noqa: E731
        ok(wait_for(lambda: all(s["evicted"] > 0 for s in both()), 60),
           "both have evicted what was theirs", both())
        ok(wait_for(lambda: used(t) <= 17 * MIB and all(
            s["bytesMost"] < 15 * MIB for s in both()), 60),
           "and leave each other room", (used(t), both()))
        t.ask("stop")
        s = status(u, lambda s: s["bytesMost"] > 15 * MIB)
        ok(s["bytesMost"] > 15 * MIB, "which one has that is left", s)
        u.ask("stop")
        for pid in pids:
            stop(pid)


def without_a_limit():
    with Tracer() as t:
        kept(t, "old", 8 * MIB)
        r = t.ask("launch", command=watched(), args=["2"],
                  projectRoot=SOURCES)
        ok("pid" in r, "there need be no limit", r)
        eq(t.ended()["bytesMost"], 1 << 30, "then it is the timeline's own")
        t.ask("stop")


run_tests(one_gives_way, texts_stay, none_is_begun, names_what_is_in_use,
          two_at_once, without_a_limit)
