#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# The tracer's timeline, as a process that can be killed, starved and lied to.
import json
import os
import random
import re
import shutil
import sqlite3
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import AS_ROOT, eq, ok, read_proc, run_tests
from tracestore import Store

SANITIZED = os.environ.get("DL_SANITIZED") == "1"
MANY = 1000000 if SANITIZED else 10000000
FULL = "No space left on device"
FILES = (".calls", ".db", ".db-wal")
RNG = random.Random(4)


def fresh_dir():
    return tempfile.mkdtemp(prefix="dl-trc-")


def pages(s, **args):
    """All events, from page to page by the cursor."""
    events = []
    while True:
        page = s.query(limit=500, **args)
        events += page["events"]
        if not page["hasMore"]:
            return events, page["totalCount"]
        args["afterEventId"] = page["events"][-1]["id"]


# --- killed ------------------------------------------------------------------

def whole(s, what):
    """A readable beginning: in order, without holes, counted right."""
    stats = s.do("stats")
    last = s.query(limit=500, offset=max(0, stats["calls"] - 400))
    first = s.query(limit=500)
    good = first["totalCount"] == stats["calls"] + stats["texts"]
    for page in (first["events"], last["events"]):
        times = [e["timestamp_ns"] for e in page]
        good = good and times == sorted(times)
        seqs = {}
        for e in page:
            ord_, seq = map(int, e["id"].split("."))
            if ord_ and seq != seqs.setdefault(ord_, seq):
                good = False
            seqs[ord_] = seq + 1
    by_thread = sum(s.query(limit=1, threadId=100 + t,
                            eventType=k)["totalCount"]
                    for t in range(3)
                    for k in ("function_enter", "function_exit"))
    good = good and by_thread == stats["calls"]
    return ok(good, f"{what}: {stats['calls']} calls are whole",
              [stats, first["totalCount"], by_thread])


def by_values(s):
    """Some that every function has a number for, and some that none has."""
    return [s.query(returnValue=v, limit=20) for v in (
        {"equals": 3}, {"equals": 77}, {"equals": 199}, {"equals": 1000},
        {"isNull": True}, {"isNull": False})]


def killed(calls, rounds, what):
    where = fresh_dir()
    had = 0
    for n in range(rounds):
        with Store(where) as s:
            s.open(new=n == 0, calls=calls)
            if n == 0:
                for fn in range(50):
                    s.do("function", fn=fn, name=f"f{fn}", file="a.c")
                s.do("flush")
            s.send("forever", threads=3, fns=50, values=200,
                   start=1000 + n * 10**10)
            time.sleep(RNG.uniform(0.01, 0.4))
            s.proc.kill()
            s.proc.wait()
        with Store(where) as s:
            s.open(calls=calls)
            whole(s, f"{what}, {n}")
            stats = s.do("stats")
            had = max(had, stats["calls"])
            eq(stats["functions"], 50, f"{what}, {n}: with their names")
            found = by_values(s)
            s.do("close", keep=True)
            eq(s.end(), (0, ""), f"{what}, {n}: and nothing was wrong")
        with Store(where) as s:
            s.open(calls=calls, forward=True)
            ok(by_values(s) == found,
               f"{what}, {n}: values are found as if each were looked at")
    ok(had > 0, f"{what}: it had stored {had}")
    shutil.rmtree(where)


def killed_at_any_moment():
    killed(1 << 30, 8, "killed")


def killed_while_it_makes_room():
    killed(1 << 20, 8, "killed in eviction")


def output_survives():
    where = fresh_dir()
    with Store(where) as s:
        s.open(new=True)
        for n in range(20):
            s.do("output", ts=n, text=f"line {n}\n")
            s.do("crash", ts=n, tid=1, json='{"signal":11}')
        s.do("flush")
        s.do("output", ts=99, text="not flushed\n")
        s.proc.kill()
    with Store(where) as s:
        s.open()
        events, count = pages(s)
        eq([e["text"] for e in events if e["eventType"] == "stdout"],
           [f"line {n}\n" for n in range(20)], "output is there")
        eq(count, 40, "and crashes are")
    shutil.rmtree(where)


def others_can_read_the_database():
    where = fresh_dir()
    with Store(where) as s:
        s.open(new=True)
        s.do("function", fn=3, name="main", file="a.c")
        s.do("close", keep=True)
    with sqlite3.connect(os.path.join(where, "t.db")) as db:
        eq(db.execute("SELECT fn, name FROM functions").fetchall(),
           [(3, "main")], "a kept timeline's database is one of SQLite's")
        eq(db.execute("PRAGMA integrity_check").fetchone(), ("ok",),
           "in order")
        eq(db.execute("PRAGMA journal_mode").fetchone(), ("wal",),
           "with a log of writes")
    db.close()
    shutil.rmtree(where)


def only_one_writes():
    where = fresh_dir()
    with Store(where) as a, Store(where) as b:
        a.open(new=True)
        eq(b.ask("open", dir=where, name="t"),
           {"error": "this timeline is in use"}, "a second one is refused")
        a.proc.kill()
        a.proc.wait()
        b.open()
    shutil.rmtree(where)


# --- a full disk -------------------------------------------------------------

def on_small_disk(size):
    return ["unshare", "-m" if AS_ROOT else "-rm", "sh", "-c",
            f'mount -t tmpfs -o size={size} none "$0" && exec "$@"']


def a_full_disk():
    where = fresh_dir()
    with Store(where, before=[*on_small_disk("6m"), where]) as s:
        s.open(new=True)
        s.do("function", fn=0, name="f0", file="a.c")
        s.do("flush")
        inside = f"/proc/{s.proc.pid}/root{where}"
        s.do("generate", n=20000, fns=1)
        filler = os.path.join(inside, "filler")
        with open(filler, "wb") as f:
            f.write(bytes(4 << 20))
        s.do("generate", n=60000, fns=1, start=10**9)
        answer = s.ask("flush")
        ok(FULL in answer.get("error", ""), "the disk is said to be full",
           answer)
        stats = s.do("stats")
        ok(stats["lost"] > 0, "what could not be stored is counted", stats)
        eq(stats["calls"] + stats["lost"], 80000, "one or the other")
        page = s.query(limit=10)
        eq((len(page["events"]), page["totalCount"]), (10, stats["calls"]),
           "what there is can be asked for")
        for n in range(200):
            s.do("output", ts=2 * 10**9 + n, text="x" * 1000)
        s.do("crash", ts=3 * 10**9, json='{"signal":6}')
        s.ask("flush")
        os.unlink(filler)
        eq(s.ask("flush"), {"ok": None}, "with room it goes on by itself")
        eq(s.do("stats")["trouble"], "", "and says so")
        eq(s.query(eventType="crash")["totalCount"], 1,
           "the crash was not lost")
        lost = s.do("stats")["lost"]
        s.do("generate", n=5000, fns=1, start=4 * 10**9)
        stats = s.do("stats")
        eq(stats["lost"], lost, "no more calls are lost")
        last = s.query(offset=stats["calls"] + stats["texts"] - 1)
        ok(last["events"] and last["events"][0]["timestamp_ns"] > 4 * 10**9,
           "and the latest are there", last)
        code, err = s.end()
        eq(code, 0, "it ends well")
        eq(len(re.findall(FULL, err)), len(set(err.splitlines()) & {
            line for line in err.splitlines() if FULL in line}),
           "each trouble was said once")
    shutil.rmtree(where)


def a_disk_that_is_full_at_the_start():
    where = fresh_dir()
    with Store(where, before=[*on_small_disk("8k"), where]) as s:
        answer = s.ask("open", dir=where, name="t", new=True)
        ok("cannot make the timeline" in answer.get("error", "") or
           FULL in answer.get("error", ""), "a clear error", answer)
        eq(s.end()[0], 0, "and no more than that")
    shutil.rmtree(where)


# --- hostile programs --------------------------------------------------------

NAMES = ["'; DROP TABLE functions; --", '"}],"totalCount":0,"x":[{"',
         "\x1b]0;owned\x07", "a\nb\tc", "\u202egnp.exe", "é" * 3000,
         "(anonymous namespace)::f", "operator()", "x" * 5000,
         "</script><script>", "%s%n%p", "\\", "\udcff"]


def hostile_names():
    where = fresh_dir()
    with Store(where) as s:
        s.open(new=True)
        for fn, name in enumerate(NAMES):
            name = name.encode("utf-8", "replace").decode()
            s.do("function", fn=fn, name=name, raw=name, file=name, ret="str")
            s.do("thread", tid=fn + 1, name=name)
            s.do("append", events=[
                ["enter", fn + 1, fn, 1000 + fn, 0, 0, "0000040022005c0a"]])
            s.do("output", ts=1000 + fn, text=name, kind="stderr")
            s.do("crash", ts=1000 + fn, json='{"why":' + json.dumps(name))
        for hexes in ("ff", "00", "c3", "e2" "82", "1b5b324a", "22" "7d"):
            s.do("output", ts=5000, hex=hexes * 5)
        events, count = pages(s, verbose=True)
        # a character that never ended is still held back
        ok(len(events) == count > 3 * len(NAMES), "all are shown", count)
        names = [e["function"] for e in events if "function" in e]
        ok(names[0] == NAMES[0] and names[1] == NAMES[1],
           "names come as they are", names[:2])
        rows = s.do("sql", sql="SELECT function_name, source_file, text, "
                    "arguments FROM events")["rows"]
        eq(len(rows), count, "SQL shows as many")
        path = os.path.join(where, "out")
        for form in ("chrome", "folded", "flat", "tree"):
            s.do("export", format=form, path=path)
            with open(path, "rb") as f:
                text = f.read().decode()
            if form == "chrome":
                ok(len(json.loads(text)["traceEvents"]) > count,
                   "the export is JSON")
            ok(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", text),
               f"{form}: nothing that a terminal obeys")
            if form in ("flat", "tree"):
                eq(text.count("\n"), count, f"{form}: a line each")
        eq(s.end(), (0, ""), "and nothing was wrong")
    shutil.rmtree(where)


def hostile_statements():
    where = fresh_dir()
    with Store(where) as s:
        s.open(new=True)
        s.do("generate", n=20000, fns=5, threads=2)
        before = sorted(os.listdir(where))
        out = os.path.join(where, "written")
        for text in (f"ATTACH '{out}' AS x", f"VACUUM INTO '{out}'",
                     f"SELECT writefile('{out}', 'x')",
                     "SELECT readfile('/etc/passwd')",
                     "SELECT load_extension('libc.so.6')",
                     f"PRAGMA temp_store_directory='{where}'",
                     "PRAGMA journal_mode=DELETE", "SELECT * FROM texts",
                     "SELECT 1; SELECT 2", "x" * 70000):
            ok("error" in s.ask("sql", sql=text), f"refused: {text[:40]}")
        eq(sorted(os.listdir(where)), before, "no file was made")
        begun = time.monotonic()
        answer = s.ask("sql", ms=500, tick=True, sql=(
            "SELECT count(*) FROM events a, events b, events c"))
        ok("too long" in answer.get("error", ""), "the endless one ends",
           answer)
        ok(time.monotonic() - begun < 60, "in time")
        ok(s.do("stats")["ticks"] > 0, "and others were served meanwhile")
        answer = s.do("sql", sql="SELECT * FROM events", rows=10**9)
        ok(len(answer["rows"]) <= 10000 and answer["truncated"],
           "an answer has an end")
        eq(s.do("sql", sql="SELECT status FROM sessions")["rows"],
           [["running"]], "and it goes on")
    shutil.rmtree(where)


def threads_without_end():
    where = fresh_dir()
    with Store(where) as s:
        s.open(new=True, calls=4 << 20)
        for n in range(40):
            s.do("append", events=[
                ["enter", 1000 * n + t, 1, 1000 * n + t, 0, 0]
                for t in range(500)])
            for t in range(0, 500, 50):
                s.do("gone", tid=1000 * n + t)
        s.do("flush")
        stats = s.do("stats")
        ok(stats["bytes"] <= 4 << 20, "their calls are within the limit",
           stats)
        eq(stats["calls"] + stats["evicted"], 20000, "each was counted")
        events, count = pages(s)
        eq(len(events), count, "and what is left is shown")
        eq(events[-1]["timestamp_ns"], 39499, "to the last")
    shutil.rmtree(where)


def files_that_were_changed():
    where = fresh_dir()
    with Store(where) as s:
        s.open(new=True)
        for fn in range(20):
            s.do("function", fn=fn, name=f"f{fn}", file="a.c")
        s.do("generate", n=20000, fns=20, threads=2)
        s.do("output", ts=5, text="hello\n", times=500)
        s.do("crash", ts=6, json='{"signal":11}')
        s.do("close", keep=True)
    good = {f: open(os.path.join(where, "t" + f), "rb").read()
            for f in FILES}
    opened = bad = 0
    for n in range(60):
        for f in FILES:
            data = bytearray(good[f])
            if f == FILES[n % 2] and data:
                for _ in range(RNG.choice((1, 10, 1000))):
                    data[RNG.randrange(len(data))] = RNG.randrange(256)
                if n % 5 == 0:
                    data = data[:RNG.randrange(len(data))]
            with open(os.path.join(where, "t" + f), "wb") as out:
                out.write(data)
        with Store(where) as s:
            if "ok" in s.ask("open", dir=where, name="t"):
                opened += 1
                s.ask("query", query={"limit": 500, "verbose": True})
                s.ask("query", query={"offset": 15000})
                s.ask("query", query={"returnValue": {"equals": 1}})
                s.ask("sql", sql="SELECT count(*), max(text) FROM events")
                s.ask("generate", n=1000, start=10**9)
                s.ask("close", keep=True)
            code, err = s.end()
            bad += code != 0 or "Sanitizer" in err
    eq(bad, 0, "whatever the files hold, nothing dies of it")
    ok(opened > 10, f"{opened} of 60 were opened all the same")
    shutil.rmtree(where)


def it_shrinks_under_us():
    where = fresh_dir()
    with Store(where) as s:
        s.open(new=True)
        s.do("generate", n=50000)
        for f in (".calls", ".db"):
            os.truncate(os.path.join(where, "t" + f), 0)
        for what, args in (("query", {"query": {}}),
                           ("query", {"query": {"offset": 40000}}),
                           ("sql", {"sql": "SELECT count(*) FROM events"}),
                           ("generate", {"n": 20000, "start": 10**9}),
                           ("output", {"text": "x"}), ("flush", {}),
                           ("query", {"query": {}})):
            s.ask(what, **args)
        eq(s.end()[0], 0, "a file that is cut off under it harms nobody")
    shutil.rmtree(where)


# --- large -------------------------------------------------------------------

def ten_million():
    where = fresh_dir()
    with Store(where) as s:
        s.open(new=True, calls=4 << 30)
        for fn in range(1000):
            s.do("function", fn=fn, name=f"mod{fn % 10}::f{fn}",
                 file=f"m{fn % 10}.c", ret="i32")
        s.do("generate", n=MANY, threads=4, fns=1000)
        eq(s.query(limit=1)["totalCount"], MANY, "all are counted")
        kinds = [s.query(eventType=k, limit=1)["totalCount"]
                 for k in ("function_enter", "function_exit")]
        eq(sum(kinds), MANY, "entries and exits are all")
        eq(sum(s.query(limit=1, function={"contains": f"mod{m}::"})
               ["totalCount"] for m in range(10)), MANY,
           "so are those of each module")
        eq(sum(s.query(limit=1, returnValue={"equals": v})["totalCount"]
               for v in range(4)), kinds[1], "and of each return value")
        late = s.query(offset=MANY - 3)
        eq((len(late["events"]), late["hasMore"]), (3, False), "the last")
        middle = s.query(offset=MANY // 2, limit=2)["events"]
        after = s.query(afterEventId=middle[0]["id"], limit=1)["events"]
        eq(after[0], middle[1], "offset and cursor meet in the middle")
        one = s.query(function={"matches": r"::f7\d$"}, limit=500,
                      offset=MANY // 300)
        ok(len(one["events"]) == 500 and all(
            re.search(r"::f7\d$", e["function"]) for e in one["events"]),
           "a pattern far in", one["totalCount"])
        peak = int(re.search(r"VmHWM:\s*(\d+)", read_proc(
            s.proc.pid, "status").decode())[1])
        ok(SANITIZED or peak < 200 * 1024, f"in {peak >> 10} MiB of memory")
        for q, most in (({}, 1), ({"offset": MANY // 2}, 1),
                        ({"function": {"contains": "mod3"}}, 1),
                        ({"threadId": 102, "function": {"contains": "f77"}},
                         1)):
            us = s.do("bench", query=q, times=5)["best"]
            ok(us < most * 1e6, f"{json.dumps(q)} takes {us} us")
        s.do("close", keep=True)
    with Store(where) as s:
        s.open(calls=4 << 30)
        eq(s.query(limit=1)["totalCount"], MANY, "all are found again")
    shutil.rmtree(where)


run_tests(killed_at_any_moment, killed_while_it_makes_room, output_survives,
          others_can_read_the_database, only_one_writes, a_full_disk,
          a_disk_that_is_full_at_the_start, hostile_names,
          hostile_statements, threads_without_end, files_that_were_changed,
          it_shrinks_under_us, ten_million)
