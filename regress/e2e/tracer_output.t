#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# What a traced program writes: by which thread, in which call and when; and
# what threads call themselves.
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import eq, ok, run_tests
from tracerig import build, plain
from tracerig import SOURCES as GIVEN
from tracerproc import Tracer

WRITTEN = ("stdout", "stderr")
BY = {"write": "by_write", "writev": "by_writev", "stdio": "by_stdio"}


def everything(t, **args):
    """All events, in order."""
    events, more = [], True
    while more:
        if events:
            args["afterEventId"] = events[-1]["id"]
        q = t.ask("query", verbose=True, limit=500, **args)
        events += q["events"]
        more = q["hasMore"]
    return events


def text_of(events, kind):
    return "".join(e["text"] for e in events if e["eventType"] == kind)


def who_and_when(events):
    """Events of said.c with a wrong writer; how many were not written
    between the ends of their calls, as far as the clocks of two processors
    agree."""
    calls = {e["id"]: e for e in events if e["eventType"] == "function_enter"}
    ends = {e["parentEventId"]: e["timestamp_ns"] for e in events
            if e["eventType"] == "function_exit"}
    wrong, late = [], 0
    for e in events:
        if e["eventType"] not in WRITTEN:
            continue
        who, how, _ = e["text"].split()
        call = calls.get(e.get("parentEventId"))
        if call is None or call["function"] != BY[how] or (
                call["threadId"], call["threadName"]) != (
                e["threadId"], e["threadName"]) or e["threadName"] != who:
            wrong.append((e, call))
        elif not call["timestamp_ns"] <= e["timestamp_ns"] <= \
                ends[call["id"]]:
            late += 1
    return wrong, late


def by_two_threads():
    with Tracer() as t:
        t.ask("launch", command=build("said.c", "-g", "-O1"), args=["200"],
              projectRoot=GIVEN, trace={"add": ["by_*"]})
        t.over()
        events = everything(t)
        written = [e for e in events if e["eventType"] in WRITTEN]
        eq(len(written), 2 * 3 * 200 + 1, "each write is an event")
        wrong, late = who_and_when(events)
        eq(wrong[:2], [], "in the call and thread that wrote it")
        ok(late < len(written) // 5, "at the time of that", late)
        for kind in WRITTEN:
            for who in ("first", "other"):
                mine = [e["text"].split() for e in written
                        if e["eventType"] == kind and e["threadName"] == who]
                order = [int(x[2]) for x in mine if x[2] != "-1"]
                eq(order, sorted(order), f"{kind} of {who} is in order")
        s = t.ask("status")
        eq((s["losses"], [x["skipped"] for x in s["functions"]]),
           ([], [0] * 3), "nothing is lost")


def as_a_tree():
    with Tracer() as t:
        t.ask("launch", command=build("said.c", "-g", "-O1"), args=["1"],
              projectRoot=GIVEN, trace={"add": ["@usercode"]})
        t.over()
        r = t.ask("export", format="tree")
        lines = t.ask("read", export=r["export"], offset=0)["data"]
        column = {what: min(line.index(what) for line in lines.splitlines()
                            if what in line)
                  for what in ('> turn("other"', '> by_write("other"',
                               "stdout: other write")}
        eq(list(column.values()), sorted(set(column.values())),
           "a tree shows it within its call")


def nothing_else_traced():
    with Tracer() as t:
        t.ask("launch", command=build("said.c", "-g", "-O1"), args=["3"],
              projectRoot=GIVEN)
        t.over()
        events = everything(t)
        eq({(e["text"].split()[0], e["threadName"], e["parentEventId"])
            for e in events}, {("first", "first", None),
                               ("other", "other", None)},
           "threads are known when no function is traced")
        eq(t.ask("trace").get("hookedFunctions", 0), 0,
           "what tells of them is no function of the user's")


def the_function_itself():
    program = build("said.c", "-g", "-O1")
    with Tracer() as t:
        r = t.ask("launch", command=program, args=["20"], projectRoot=GIVEN,
                  trace={"add": ["*write", "*writev"], "rawRegisters": True})
        ok(r.get("pid", 0) > 0, "libc's own functions can be traced", r)
        t.over()
        events = everything(t)
        calls = {e["id"]: e for e in events
                 if e["eventType"] == "function_enter"}
        # what debug information calls it differs
        eq({(calls[e["parentEventId"]]["function"].endswith("write"),
             calls[e["parentEventId"]]["function"].startswith("by_"),
             calls[e["parentEventId"]]["threadId"] == e["threadId"])
            for e in events if e["eventType"] == "stdout"},
           {(True, False, True)}, "and output is theirs then")


def taken_away_again():
    program = build("watched.c", "-g", "-O1")
    with Tracer() as t:
        t.ask("launch", command=program, args=["-1", "2000"],
              projectRoot=GIVEN, trace={"add": ["*write"],
                                        "rawRegisters": True})
        first = t.until(lambda q: len(q["events"]) > 0, eventType="stdout",
                        limit=1, verbose=True)["events"][0]
        ok(first["parentEventId"] is not None, "first it is in write", first)
        r = t.ask("trace", remove=["*write"], add=["main"])
        last = t.ask("query", limit=1, offset=t.ask("query")["totalCount"] -
                     1)["events"][0]["id"]
        later = t.until(lambda q: len(q["events"]) > 4, eventType="stdout",
                        afterEventId=last, verbose=True)["events"]
        eq((r.get("hookedFunctions"), later[-1]["threadId"],
            later[-1]["parentEventId"]), (1, first["threadId"], None),
           "then nobody traces that, and the thread is known still")


def by_other_ways():
    for flags, words in ((("-static", "-s"), "without symbols"),
                         (("-DDIRECT",), "by its own system calls")):
        program = build("told.c", "-g", "-O1", *flags)
        with Tracer() as t:
            t.ask("launch", command=program, projectRoot=GIVEN)
            t.over()
            events = everything(t)
            eq([text_of(events, k) for k in WRITTEN],
               [plain(program), "at the end\n"], f"{words} all of it comes")
            ok(not any("threadId" in e for e in events),
               f"{words} nobody knows by whom", events)
    with Tracer() as t:
        t.ask("launch", command=build("told.c", "-g", "-O1"),
              projectRoot=GIVEN)
        t.over()
        events = everything(t)
        eq([text_of(events, k) for k in WRITTEN],
           [plain(build("told.c", "-g", "-O1")), "at the end\n"],
           "by other descriptors, too")
        eq({("threadId" in e) for e in events
            if "another number" in e["text"]}, {False},
           "of these the thread is not known")
        eq({("threadId" in e) for e in events
            if "another number" not in e["text"]}, {True}, "of the others it is")


def liars():
    program = build("hostile.c", "-g", "-O1")
    for how in ("scribble", "forge", "notsc", "storm"):
        with Tracer() as t:
            t.ask("launch", command=program, args=[how], projectRoot=GIVEN,
                  trace={"add": ["beats"]})
            t.over()
            events = everything(t, eventType="stdout")
            eq(text_of(events, "stdout"), "here\n",
               f"a program that does {how} is heard, neither more nor less")


def names_that_change():
    program = build("names.c", "-g", "-O1")
    with Tracer() as t:
        t.ask("launch", command=program, projectRoot=GIVEN,
              trace={"add": ["work"]})
        names = t.until(lambda q: {e.get("threadName") for e in q["events"]}
                        >= {"by itself", "by another"}, limit=500,
                        verbose=True)
        eq({e["arguments"][0]: e["threadName"] for e in names["events"]
            if e["eventType"] == "function_enter"},
           {1: "by itself", 2: "by another",
            3: os.path.basename(program)[:15]},
           "threads have the names that they have been given")


def overtaken():
    """A tracer that is too late counts what it could not read."""
    want = b"".join(b"%d\n" % i for i in range(3000000)).decode()
    with Tracer() as t:
        t.ask("launch", command="/bin/sh", args=[
            "-c", "sleep 1; seq 0 2999999"])
        pid = t.pid()
        os.kill(pid, signal.SIGSTOP)
        time.sleep(3)
        os.kill(pid, signal.SIGCONT)
        t.over()
        r = t.ask("query", eventType="stdout", limit=1)
        lost = r.get("lostOutputBytes", 0)
        got = text_of(everything(t, eventType="stdout"), "stdout")
        ok(0 < lost < len(want), "what was overwritten is counted", lost)
        eq((len(got) + lost, got[-8:]), (len(want), want[-8:]),
           "and is all that is missing: no byte is there twice")


run_tests(by_two_threads, overtaken, as_a_tree, nothing_else_traced,
          the_function_itself, taken_away_again, by_other_ways, liars,
          names_that_change)
