#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# A real bug in a real program, found by questions alone: redis with a mistake
# in one of its 4000 functions (regress/redis.patch). Nothing is compiled here,
# and nothing that is asked names that function before an answer has.
import contextlib
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import alive, alone, eq, ok, run_tests, wait_for  # noqa: E402
from mcp import at_daemon  # noqa: E402
from redis import Redis, arguments, redis_dir  # noqa: E402

TOWNS = {"Palermo": (13.361389, 38.115556), "Catania": (15.087269, 37.502669),
         "Messina": (15.55256, 38.193814), "Agrigento": (13.576547, 37.31109),
         "Trapani": (12.51365, 38.01763), "Enna": (14.279, 37.567),
         "Ragusa": (14.7255, 36.9269)}
WIDE, HIGH = 400000, 100000
EARTH = 6372797.56
RIGHT = ["Enna", "Agrigento", "Catania"]
# "the towns of a strip 400 km wide and 100 km high around Enna"
SEARCH = ("GEOSEARCH", "Sicily", "FROMMEMBER", "Enna", "BYBOX", WIDE / 1000,
          HIGH / 1000, "km", "ASC")
WHERE = redis_dir()


def fill(r):
    for name, (x, y) in TOWNS.items():
        r.ask("GEOADD", "Sicily", x, y, name)


@contextlib.contextmanager
def room(d):
    where = tempfile.mkdtemp(prefix="dl-redis-")
    if d is not None and d.uid is not None:
        os.chown(where, d.uid, d.uid)
    try:
        yield where
    finally:
        shutil.rmtree(where, ignore_errors=True)


def expected():
    """What the program says where nothing is wrong with it."""
    with room(None) as where:
        p = subprocess.Popen([WHERE + "/good/redis-server",
                              *arguments(where)], stdout=subprocess.DEVNULL)
        try:
            r = Redis(where)
            fill(r)
            eq(r.ask(*SEARCH), RIGHT, "the program without the mistake")
            r.close()
        finally:
            p.kill()
            p.wait()


class Agent:
    """Who has the report of a user, and four tools."""

    def __init__(self, m, where):
        self.m = m
        o = m.launch(WHERE + "/bad/redis-server", *arguments(where),
                     cwd=where, projectRoot=WHERE + "/src")
        self.session, self.pid = o["sessionId"], o["pid"]
        self.seen = None

    def ask(self, **query):
        """Events since the last look."""
        if self.seen is not None:
            query.setdefault("afterEventId", self.seen)
        return self.m.query(self.session, **query)["events"]

    def look(self):
        """From now on only what is new."""
        last = self.m.query(self.session, limit=500)
        n = max(0, last["totalCount"] - 1)
        e = self.m.query(self.session, offset=n, limit=1)["events"]
        if e:
            self.seen = e[-1]["id"]

    def names(self, **query):
        return {e["function"] for e in self.ask(limit=500, **query)}


def which_command(a, r):
    """Of all that a client may ask for, what is this?"""
    t = a.m.trace(a.session, add=["*Command"])
    ok(t["hookedFunctions"] > 200, "every command of the program is watched",
       t)
    eq(r.ask(*SEARCH) == RIGHT, False, "what the user sees is wrong")
    found = wait_for(lambda: a.names(eventType="function_exit",
                                     function={"contains": "geo"}))
    eq(found, {"geosearchCommand"}, "the command that answers it")
    e = a.ask(function={"equals": "geosearchCommand"},
              eventType="function_exit")[0]
    t = a.m.trace(a.session, remove=["*Command"])
    eq((t["activePatterns"], t["hookedFunctions"]), ([], 0),
       "they are watched no more")
    return e["sourceFile"]


def who_decides(a, r, file):
    """Among the functions of that file, whose answers differ by town?"""
    a.look()
    t = a.m.trace(a.session, add=["@file:" + os.path.basename(file)])
    ok(10 < t["hookedFunctions"] < 100, "the functions of its file", t)
    r.ask(*SEARCH)
    ends = wait_for(lambda: [e for e in a.ask(
        limit=500, verbose=True, eventType="function_exit")
        if e["function"] == "geosearchCommand"] and a.ask(
        limit=500, verbose=True, eventType="function_exit"))
    values = {}
    for e in ends:
        values.setdefault(e["function"], set()).add(str(e["returnValue"]))
    # one that is asked for every town, with two answers
    two = [f for f, v in values.items() if v == {"0", "-1"}]
    eq(two, ["geoWithinShape"], "one function says yes to some and no to "
       "others")
    no = a.m.query(a.session, function={"equals": two[0]}, afterEventId=a.seen,
                   eventType="function_exit", returnValue={"equals": -1})
    eq(no["totalCount"], len(TOWNS) - 2, "it says no to five of seven")
    a.m.trace(a.session, remove=["@file:" + os.path.basename(file)])
    return two[0]


def below(a, r, decider):
    """What it calls: entries, with their arguments, and ends by entry."""
    a.look()
    a.m.trace(a.session, add=[decider, "geohash*"])
    r.ask(*SEARCH)
    wait_for(lambda: len(a.ask(function={"equals": decider}, limit=500,
                               eventType="function_exit")) == len(TOWNS))
    events = a.ask(limit=500, verbose=True)
    ends = {e["parentEventId"]: e for e in events
            if e["eventType"] == "function_exit"}
    return [dict(e, end=ends[e["id"]]) for e in events
            if e["eventType"] == "function_enter" and e["id"] in ends]


def children(calls, call):
    return [c for c in calls if c["parentEventId"] == call["id"]]


def contradiction(calls, decider):
    """A call whose answer does not follow from what it was told."""
    for top in (c for c in calls if c["function"] == decider):
        for c in children(calls, top):
            told = [k["end"]["returnValue"] for k in children(calls, c)
                    if k["function"] == "geohashGetDistance"]
            if len(c["arguments"]) < 6 or len(told) != 1:
                continue
            width, height, _, y0, x, y = c["arguments"][:6]
            north = math.radians(abs(y - y0)) * EARTH
            # it says no, though both distances are within
            if c["end"]["returnValue"] == 0 and north < height / 2 and \
                    told[0] < width / 2:
                return c, told[0], (x, y)
    return None


def investigate(mode):
    with at_daemon(mode) as (d, m), room(d) as where:
        a = Agent(m, where)
        r = Redis(where)
        fill(r)
        file = which_command(a, r)
        decider = who_decides(a, r, file)
        calls = below(a, r, decider)
        found = contradiction(calls, decider)
        ok(found, "a call contradicts what it was told", calls[:5])
        call, told, place = found
        eq((call["function"], os.path.basename(call["sourceFile"])),
           ("geohashGetDistanceIfInRectangle", "geohash_helper.c"),
           "it is the function that was broken")
        ok(HIGH / 2 < told < WIDE / 2, "it takes the height for the width",
           told)
        ok(any(abs(x - place[0]) + abs(y - place[1]) < 1e-4
               for n, (x, y) in TOWNS.items() if n in RIGHT),
           "of a town that is missing", place)
        with open(call["sourceFile"]) as f:
            line = f.read().splitlines()[call["line"] - 1]
        ok(re.search(r"\bgeohashGetDistanceIfInRectangle\b", line),
           "and where it is written", line)
        o = m.stop(a.session)
        ok(o["success"] and o["eventsCollected"] > 50, "stopped", o)
        eq((r.ask("PING"), alive(a.pid)), ("PONG", True),
           "the program goes on")
        eq(r.ask(*SEARCH) == RIGHT, False, "as it was")
        eq(m.refused("debug_query", sessionId=a.session),
           "SESSION_NOT_FOUND", "its events have gone")
        r.close()
        os.kill(a.pid, signal.SIGTERM)
        ok(wait_for(lambda: not alive(a.pid)), "it ends as it should")
        eq(m.close(), 0, "so does debuglantern-mcp")
        d.tidy()


run_tests(expected, alone(investigate))
