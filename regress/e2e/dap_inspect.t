#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Breakpoints, watchpoints and looking at a stop, over adapters that have
# their ways: conversations of regress/dap, replayed by a mock adapter.
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dbgeditor import Editor
from dbgrig import TOP, Rig
from dl import eq, ok, run_tests, wait_for

X = "/nowhere/absent.c"


def bp(result):
    return result["breakpoint"]


def command(r, text):
    """What raw answers: Rig's own first argument has that name."""
    r.last += 1
    n = r.last
    r.raw({"conn": 1, "rw": True, "id": n, "command": "raw",
           "args": {"command": text}})
    r.until(lambda: n in r.answers, text)
    return r.answers[n]


def listed(r):
    return {b["id"]: b for b in r.ask("breakpoint_list")["breakpoints"]}


# --- breakpoints ----------------------------------------------------------
def two_at_one_address():
    with Rig("same_pc") as r:
        r.start()
        a = bp(r.ask("breakpoint_add", file=X, line=9))
        b = bp(r.ask("breakpoint_add", function="main"))
        eq(b["kind"], "function", "a function")
        s = r.ask("continue")
        eq(sorted(s["breakpoints"]), [a["id"], b["id"]], "both are hit")
        eq([b["hits"] for b in listed(r).values()], [1, 1], "and counted")


def moved_and_refused():
    with Rig("moved") as r:
        r.start()
        b = bp(r.ask("breakpoint_add", file=X, line=9999))
        eq((b["line"], b["actual"]["line"], b["moved"], b["verified"]),
           (9999, 26, True, True), "asked for, and where it is")
        ok("MOVED" in b["words"], "said loudly", b["words"])
        e = r.refused("breakpoint_add", file=X, line=7)
        eq(e["code"], "not_verified", "words of the adapter mean no")
        ok("no statement there" in e["message"], "and are shown", e)
        eq(list(listed(r)), [b["id"]], "nothing is left of it")
        late = bp(r.ask("breakpoint_add", file=X, line=8))["id"]
        wait_for(lambda: listed(r)[late]["verified"])
        eq(listed(r)[b["id"]]["actual"]["line"], 26,
           "events are matched by id")


def found_by_its_end():
    with Rig("other_path") as r:
        r.start()
        b = bp(r.ask("breakpoint_add", file="/nowhere/a/b/absent.c", line=5))
        ok(b["verified"], "found", b)
        eq(b["actual"]["file"], "/build/b/absent.c", "where it is")
        ok("/nowhere/a/b/absent.c" in b["message"], "and that it was looked for",
           b)


def condition_failed():
    with Rig("bad_condition") as r:
        r.start()
        r.ask("breakpoint_add", file=X, line=9, condition="nosuch > 1")
        s = r.ask("continue")
        ok("FAILED" in s["words"] and "undeclared" in s["words"],
           "why it stands here", s["words"])
        ok("undeclared" in s["failed_conditions"][0]["error"],
           "in a member of its own", s)
        ok("undeclared" in list(listed(r).values())[0]["condition_error"],
           "the list says so too")


def only_enabled_ones():
    with Rig("enabled_only") as r:
        r.start()
        one = bp(r.ask("breakpoint_add", file=X, line=1))["id"]
        two = bp(r.ask("breakpoint_add", file=X, line=2))["id"]
        r.ask("breakpoint_disable", id=one)
        eq([b["enabled"] for b in listed(r).values()], [False, True],
           "one is off")
        e = r.refused("breakpoint_add", file=X, line=3)
        ok("no more room" in e.get("message", ""), "refused by the adapter",
           e)
        eq(list(listed(r)), [one, two], "rolled back")
        s = r.ask("continue")
        eq(s["breakpoints"], [two], "answers belong to the enabled ones")


def places_have_owners():
    with Rig("own_places", ["-r", "10"], kind="debugpy") as r:
        r.start(cwd=os.path.abspath(TOP))
        found = r.send("source", function="square")
        e = r.refused("until", file=X, line=5000)
        ok("no code at" in e["message"], "not there", e)
        s = r.answer(found)["source"]
        eq(os.path.basename(s["file"]), "prog.c",
           "who asked for a function finds it")
        there = r.send("until", file=X, line=20)
        eq(r.refused("source", function="other")["code"], "no_such",
           "no such function")
        eq(r.answer(there)["reason"], "until", "who runs to a line gets there")
        for args in ({"timeout_s": -7}, {"granularity": "inch"},
                     {"granularity": "instruction"}):
            ok(r.refused("until", file=X, line=30, **args)["code"] in
               ("invalid_argument", "unsupported"), f"{args}")
        ok(bp(r.ask("breakpoint_add", file=X, line=9))["verified"],
           "what was refused has set nothing")
        r.send("until", conn=9, file=X, line=40)
        r.raw({"command": "_gone", "conn": 9})
        r.ask("threads")
        eq(r.ask("next")["reason"], "step", "nor has who has gone")


def refused_switches():
    with Rig("refused_enable") as r:
        r.start()
        one = bp(r.ask("breakpoint_add", file=X, line=5))["id"]
        r.ask("breakpoint_disable", id=one)
        two = bp(r.ask("breakpoint_add", file=X, line=6))["id"]
        eq(r.refused("breakpoint_enable", all=True)["code"], "refused",
           "not now")
        eq([(b["enabled"], b["verified"]) for b in listed(r).values()],
           [(False, False), (True, True)], "each is as it was")
        eq(r.ask("continue")["breakpoints"], [two], "and stops, or does not")


def refused_removals():
    with Rig("refused_uncatch") as r:
        r.start()
        c = r.ask("catch_add", kind="panic")["catchpoint"]["id"]
        e = r.refused("catch_remove", id=c)
        ok("busy now" in e["message"], "not now", e)
        eq([(c["id"], c["verified"]) for c in r.ask("catch_list")
            ["catchpoints"]], [(c, True)], "it stays")
        eq(r.ask("continue")["breakpoints"], [c], "and stops")


def no_panic():
    with Rig("no_panic") as r:
        r.start()
        e = r.refused("catch_add", kind="panic")
        ok("no function rust_panic" in e["message"], "C does not panic", e)
        eq(caught(r), [], "nothing is left of it")
        r.ask("continue")


def refused_unwatch():
    with Rig("refused_unwatch") as r:
        r.start()
        x = r.ask("watch_add", expression="x")["watchpoint"]["id"]
        y = r.ask("watch_add", expression="y")["watchpoint"]["id"]
        e = r.refused("watch_remove", id=x)
        ok("busy now" in e["message"], "not now", e)
        eq([(w["id"], w["verified"]) for w in r.ask("watch_list")
            ["watchpoints"]], [(x, True), (y, True)], "both stay")
        eq(r.ask("continue")["watchpoints"], [x], "and stops")
        eq(r.ask("watch_remove", all=True)["removed"], [x, y], "later both")
        eq(r.ask("watch_list")["watchpoints"], [], "are gone")


def caught(r):
    return [(c["kind"], c["verified"], c.get("message"))
            for c in r.ask("catch_list")["catchpoints"]]


def refused_filters():
    """A catchpoint is what the adapter says of its filter."""
    with Rig("filters", kind="debugpy") as r:
        r.start()
        e = r.refused("catch_add", kind="throw")
        ok(e.get("code") == "not_verified" and
           "no room for it" in e["message"], "refused, in its words", e)
        eq(caught(r), [], "nothing is left of it")
        c = r.ask("catch_add", kind="throw")
        ok(not c["catchpoint"]["verified"] and "loaded" in c["words"],
           "not yet", c)
        r.ask("threads")
        ok(wait_for(lambda: caught(r) == [("throw", True, None)]),
           "events are matched by id")
        e = r.refused("catch_add", kind="panic")
        ok("uncaught no more" in e.get("message", ""), "ids before order", e)
        eq(caught(r), [("throw", True, None)], "which is of another one")
        e = r.refused("catch_add", kind="panic")
        ok("did not answer" in e.get("message", ""), "left out", e)
        eq(caught(r), [("throw", True, None)], "the other one was not")
        r.ask("catch_add", kind="panic")
        eq(caught(r), [("throw", True, None), ("panic", True, None)],
           "an adapter that answers none takes all")
        r.ask("threads")
        ok(wait_for(lambda: caught(r)[0] == (
            "throw", False, "the adapter has removed it")), "and gone")


def filters_refused_before_the_start():
    with Rig("filter_refused", kind="debugpy") as r:
        for kind in ("throw", "panic"):
            r.ask("catch_add", kind=kind)
        r.start()
        eq(caught(r), [("throw", False, "not in this program"),
                       ("panic", False, "the adapter debugpy cannot stop at "
                        "a panic")], "each for its own reason")
        words = r.ask("catch_list")["catchpoints"][0]["words"]
        ok("NOT set: not in this program" in words, "said loudly", words)
        e = Editor(r)
        e.join()
        first = e.ask("setExceptionBreakpoints",
                      filters=["throw"])["breakpoints"]
        eq([b["verified"] for b in first], [True], "an editor has one")
        gone = "the adapter has removed it"
        ok(wait_for(lambda: [c for c in caught(r) if c[2] == gone]), "lost")
        eq(e.ask("setExceptionBreakpoints", filters=["throw"])["breakpoints"],
           [{"verified": False, "id": first[0]["id"], "message": gone}],
           "an editor is told why")


def kept_by_us():
    with Rig("emulated") as r:
        r.start()
        b = bp(r.ask("breakpoint_add", file=X, line=9, condition="i > 1",
                     hit_count=2))["id"]
        s = r.ask("continue")
        eq((s["reason"], s["breakpoints"]), ("breakpoint", [b]),
           "the second hit of a true condition")
        eq(listed(r)[b]["hits"], 2, "both are counted")
        r.ask("breakpoint_add", file=X, line=9, log="i is {i}!")
        r.ask("breakpoint_remove", id=b)
        s = r.ask("continue")
        eq(s["reason"], "goto", "a log point does not stop")
        eq([o["text"] for o in s["output"] if o["stream"] == "log"],
           ["i is 42!\n"], "but writes")


def wants_of_clients():
    with Rig("order19") as r:
        for args, word in (
                ({}, "a breakpoint is at"), ({"file": X}, "a breakpoint"),
                ({"file": X, "line": 0}, "line"),
                ({"file": X, "line": "9"}, "line"),
                ({"file": X, "line": 1, "function": "f"}, "a breakpoint"),
                ({"function": ""}, "function"),
                ({"function": "f", "hit_count": -1}, "hit_count"),
                ({"function": "f", "condition": 7}, "condition")):
            e = r.refused("breakpoint_add", **args)
            ok(e.get("code") == "invalid_argument" and
               word in e["message"], f"{args}", e)
        eq(r.refused("breakpoint_remove", id=3)["code"], "no_such", "id")
        eq(r.refused("breakpoint_remove")["code"], "invalid_argument",
           "no id")
        eq(r.refused("catch_add", kind="fish")["code"], "invalid_argument",
           "kinds of catchpoints")
        b = bp(r.ask("breakpoint_add", file="absent.c", line=9, cwd="/some/dir"))
        eq(b["file"], "/some/dir/absent.c", "the client's directory")
        ok("next start" in b["words"], "before anything runs", b)
        eq(r.ask("breakpoint_remove", all=True)["removed"], [b["id"]],
           "all are removed")


# --- watchpoints ----------------------------------------------------------
def by_address():
    with Rig("watch") as r:
        r.start()
        x = r.ask("watch_add", expression="x")["watchpoint"]
        eq((x["address"], x["size"], x["value"]), ("0x1000", 4, "1"), "x")
        y = r.ask("watch_add", expression="y", access="access")["watchpoint"]
        e = r.refused("watch_add", expression="z")
        ok(e["code"] == "refused" and "4 places" in e["message"],
           "no room for a third", e)
        eq([w["verified"] for w in r.ask("watch_list")["watchpoints"]],
           [True, True], "the others have their place back")
        s = r.ask("continue")
        eq((s["reason"], s["watchpoints"]), ("watchpoint", [y["id"]]),
           "which of them it was")
        ok({"name": "y", "old": "2", "new": "5"} in s["changed"],
           "old and new", s["changed"])


def watchpoints_with_ids():
    """Entries belong to the watchpoint that they name."""
    with Rig("watch_ids") as r:
        r.start()

        def watched():
            return [(w["expression"], w["verified"], w.get("message"))
                    for w in r.ask("watch_list")["watchpoints"]]
        x = r.ask("watch_add", expression="x")["watchpoint"]["id"]
        r.ask("watch_add", expression="y")
        e = r.refused("watch_add", expression="z")
        ok("on y: the adapter did not answer" in e["message"],
           "an answer that leaves y out", e)
        eq(watched(), [("x", True, None), ("y", True, None)], "y is back")
        e = r.refused("watch_add", expression="z")
        ok("no more registers" in e["message"], "z is refused", e)
        eq(watched(), [("x", True, None), ("y", False, "taken by another")],
           "and y was, later")
        z = r.ask("watch_add", expression="z")["watchpoint"]
        ok(z["verified"], "z is not refused for y", z)
        z = z["id"]
        eq(watched(), [("x", True, None), ("y", False, "taken by another"),
                       ("z", True, None)], "each has its own entry")
        words = r.ask("watch_list")["watchpoints"][1]["words"]
        ok("NOT set: taken by another" in words, "said loudly", words)
        eq(r.ask("continue")["watchpoints"], [z],
           "an id is a better name than a number in a text")
        eq(r.ask("continue")["watchpoints"], [x], "x has changed")
        eq(r.ask("continue")["watchpoints"], [z], "ids are still the same")


def wants_of_watchers():
    with Rig("watch") as r:
        r.start()
        for args in [{"thread": "a"}, {"frame": []}] * 9:
            eq(r.refused("watch_add", expression="x", **args)["code"],
               "invalid_argument", f"{args}")
        eq(r.ask("watch_list")["watchpoints"], [], "they take no room")
        ok(r.ask("watch_add", expression="x")["watchpoint"]["verified"],
           "which is for others")


def cannot_watch():
    with Rig("order19") as r:
        r.start()
        eq(r.refused("watch_add", expression="x")["code"], "unsupported",
           "it says that it cannot")


# --- expressions and memory -----------------------------------------------
def contexts():
    with Rig("contexts") as r:
        r.start()
        eq(r.ask("print", expression="x")["value"], "7", "looked at")
        eq(r.ask("eval", expression="b")["value"], "8",
           "an expression, not a command of that name")
        eq(command(r, "frame info")["result"]["text"], "frame #0: here\n",
           "a command, without its echo")
        eq(command(r, "nosuch")["error"]["code"], "evaluate_failed",
           "text that is an error is one")


def memory_by_command():
    with Rig("memory19") as r:
        r.start()
        m = r.ask("memory_read", address="&x", count=4)
        eq((m["address"], m["hex"]), ("0x1000", "010203ff"), "read")
        eq(r.ask("memory_write", address="0x1000", hex="0a 0b")["count"], 2,
           "written")
        eq(r.refused("memory_read", address="0")["code"], "evaluate_failed",
           "not mapped")
        r.state("terminated")
        eq(r.refused("memory_read", address="0x1000")["code"], "not_running",
           "nothing is asked after its end")


def memory_by_request():
    with Rig("memory22") as r:
        r.start()
        eq(r.ask("memory_read", address="0x1000", count=4)["hex"],
           "010203ff", "read")
        m = r.ask("memory_read", address="0x1000")
        eq((m["hex"], m["unreadable"]), ("0102", 62), "a part only")
        eq(r.refused("memory_read", address="0x2000", count=4)["code"],
           "adapter_failed", "no base64")
        eq(r.ask("memory_write", address="0x1000", hex="0a0b")["count"], 2,
           "written")
        for args in ({"count": 0}, {"count": 1 << 30}):
            eq(r.refused("memory_read", address="0x1", **args)["code"],
               "invalid_argument", f"{args}")
        for digits in ("", "0", "xy", "00" * 300):
            eq(r.refused("memory_write", address="0x1", hex=digits)["code"],
               "invalid_argument", "digits")


def shadowed():
    """A parameter that a local hides is an argument still."""
    with Rig("shadowed") as r:
        at = r.start()
        eq([[v["value"] for v in at[what]] for what in
            ("arguments", "locals")], [["1", "2", "3", "4"], ["5", "6"]],
           "arguments and locals")


def values():
    with Rig("values") as r:
        seen = {v["name"]: v for v in r.start()["locals"]}
        eq({n: v["value"] for n, v in seen.items()},
           {"r": "0x0000000000001000: 41",
            "w": "0x0000000000001004: 119 L'w'",
            "p": "0x0000000000001008 {x:1}", "u": "()",
            "this": "<error: not here>",
            "pf": "0x0000000000001010: 0x0000000000401126",
            "cb": "0x0000000000001018"},
           "what references refer to, and a value of no bytes")
        eq(r.ask("print", expression="r")["value"], "0x0000000000001000: 42",
           "printed")
        v = r.ask("print", expression="names")
        eq([f["value"] for f in v["fields"]], ['0x2000 "a"', '0x2002 "b"'],
           "an array of texts has members")
        ok("fields" not in r.ask("print", expression="text"), "a text has none")
        v = r.ask("print", expression="s")
        eq([(f["name"], f.get("path")) for f in v["fields"]],
           [("a", None), ("", "s")], "bits without a name are not shown")
        e = r.refused("print", expression="this")
        ok(e["code"] == "evaluate_failed" and "not here" in e["message"],
           "a null pointer that is none", e)


# --- frames and bounds ----------------------------------------------------
def nothing_moves():
    with Rig("still_frames") as r:
        eq(r.start()["frame"]["function"], "f", "stopped in f")
        eq(r.ask("print", expression="x", frame=2)["value"], "3", "in main")
        eq(r.ask("locals", frame=2)["frame"]["function"], "main", "locals")
        eq(r.ask("backtrace", thread=4712)["thread"], 4712, "a thread")
        eq(r.ask("print", expression="x")["value"], "1", "still in f")
        eq(r.ask("context")["frame"]["function"], "f", "context")
        eq(r.ask("up")["frame"]["function"], "g", "up moves")
        eq(r.ask("print", expression="x")["value"], "2", "and print sees it")
        eq(r.ask("context")["frame"]["function"], "g", "and context")
        eq(r.ask("frame", index=0)["frame"]["index"], 0, "back")
        eq(r.refused("down")["code"], "no_such", "there is no below")
        eq(r.refused("frame", index=7)["code"], "no_such", "no frame 7")
        eq(r.refused("print", expression="x", frame=-1)["code"],
           "invalid_argument", "nor -1")


def old_threads():
    with Rig("old_threads") as r:
        eq(r.start()["thread"], {"id": 12, "name": "new"},
           "a thread that the first list did not have")
        eq([t["id"] for t in r.ask("threads")["threads"]], [11, 12],
           "all of them")


def bounded():
    with Rig("many_locals") as r:
        s = r.start()
        size = len(json.dumps(s, separators=(",", ":")))
        ok(size <= 8192, f"8 KB at most: {size}")
        cut = [c for c in s["truncated"] if c["what"] == "locals"][0]
        eq((cut["of"], cut["shown"]), (120, len(s["locals"])), "what is left")
        long = s["locals"][0]
        ok(long["truncated"] and long["bytes"] == 700 and
           len(long["value"]) < 700, "a long value is cut", long)
        names = [v["name"] for v in s["locals"]]
        while len(names) < 120:
            more = r.ask("locals", offset=len(names))
            ok(len(json.dumps(more)) < 20000 and more["locals"],
               f"from {len(names)} on")
            names += [v["name"] for v in more["locals"]]
        eq(names, [f"v{i}" for i in range(120)], "all of them, once")
        s = r.ask("context", max=262144)
        eq(len(s["locals"]), 120, "or all at once")
        for most in (100, 1 << 20, -1):
            eq(r.refused("locals", max=most)["code"], "invalid_argument",
               f"max {most}")


def who_only_reads():
    with Rig("still_frames") as r:
        r.start()
        for c in ("context", "threads", "breakpoint_list", "watch_list",
                  "catch_list"):
            ok(r.answer(r.send(c, rw=False)), f"{c} is for readers")
        for c in ("print", "eval", "set", "locals", "raw", "memory_read",
                  "breakpoint_add", "frame", "source", "watch_add"):
            n = r.send(c, rw=False)
            r.until(lambda: n in r.answers, c)
            eq(r.answers[n]["error"]["code"], "read_only", f"{c} is not")


run_tests(two_at_one_address, moved_and_refused, found_by_its_end,
          condition_failed, only_enabled_ones, places_have_owners,
          refused_switches, refused_removals, no_panic, refused_unwatch,
          refused_filters,
          filters_refused_before_the_start, kept_by_us, wants_of_clients,
          by_address, watchpoints_with_ids, wants_of_watchers, cannot_watch,
          contexts, memory_by_command, memory_by_request, values, shadowed,
          nothing_moves, old_threads, bounded, who_only_reads)
