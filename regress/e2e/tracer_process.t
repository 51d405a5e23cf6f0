#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# A tracer's process: every request of it, on programs that are compiled here,
# and what is left when they, it or its client goes.
import json
import os
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import AS_ROOT, eq, ok, run_tests, status_of, wait_for
from tracerig import SOON, WORK, build, plain, stop, stripped
from tracerig import SOURCES as GIVEN
from tracerproc import TIMELINES, Tracer, calls

ENTER = "function_enter"
SOURCES = os.path.normpath(GIVEN)


def warnings(r):
    """All but that about the TSC, which some machines have."""
    return [w for w in r.get("warnings", []) if "TSC" not in w]


def watched(*flags):
    return build("watched.c", "-g", "-O1", *flags)


def from_launch_to_stop():
    program = watched()
    with Tracer() as t:
        r = t.ask("launch", command=program, args=["3"], projectRoot=GIVEN,
                  trace={"add": ["@usercode"]})
        eq((r["sessionId"], r["pid"] > 0), ("session", True),
           "launch says which session and process")
        s = t.ended()
        eq((s["pid"], s["patterns"], s["binary"], s["projectRoot"]),
           (0, ["@usercode"], program, SOURCES), "status knows them")
        ok(s["file"].startswith(t.home) and t.files() ==
           ["session.calls", "session.db", "session.db-wal"],
           "the timeline is in its owner's directory", (s, t.files()))
        q = t.ask("query", verbose=True, limit=500)
        eq(calls(q, ENTER)[0][0], "main", "the first call is main's")
        eq([c for c in calls(q) if c[0] == "make_point"][:2],
           [("make_point", [0, "pt"]),
            ("make_point", {"x": 0, "y": 1, "name": "pt"})],
           "arguments and results have their types")
        eq([c[1] for c in calls(q) if c[0] == "name_of"],
           [["RED"], "red", ["GREEN"], "green", ["BLUE"], None],
           "enumerations, strings and NULL, too")
        eq([c[1] for c in calls(q) if c[0] == "scale"],
           [[0, 0.5], 0, [1, 0.5], 0.5, [2, 0.5], 1], "and floats")
        first = q["events"][0]
        eq((first["parentEventId"], {
            e["parentEventId"] for e in q["events"] if e["eventType"] == ENTER
            and e["function"] != "main"}), (None, {first["id"]}),
           "calls know whom they are in")
        times = [e["timestamp_ns"] for e in q["events"]]
        eq(times, sorted(times), "all is in the order of time")
        out = t.ask("query", eventType="stdout")
        eq("".join(e["text"] for e in out["events"]),
           "1 red 0 1 0\n2 green 0.5 1 3\n3 - 1 1 6\n",
           "what it has written is there")
        eq([e["text"] for e in t.ask("query", eventType="stderr")["events"]],
           ["done\n"], "and to stderr")
        total = t.ask("query")["totalCount"]
        eq(t.ask("stop"), {"success": True, "eventsCollected": total},
           "stop says how much there was")
        eq(t.files(), [], "and leaves nothing")
        ok(t.event("bye") is not None, "the tracer is done")


REFUSED = (
    ("launch", {}, "INVALID_ARGUMENT", "command"),
    ("launch", {"command": 1}, "INVALID_ARGUMENT", "a string"),
    ("launch", {"command": "/nonexistent/x"}, "INVALID_ARGUMENT",
     "No such file"),
    ("launch", {"command": "/etc/passwd"}, "INVALID_ARGUMENT",
     "Permission denied"),
    ("launch", {"command": "x", "client": {"cwd": "relative"}},
     "INVALID_ARGUMENT", "absolute"),
    ("launch", {"command": "/bin/true", "args": ["a", 1]},
     "INVALID_ARGUMENT", "list of strings"),
    ("launch", {"command": "/bin/true", "env": {"A": 1}},
     "INVALID_ARGUMENT", "object of strings"),
    ("launch", {"command": "/bin/true", "client": {"x": 1}},
     "INVALID_ARGUMENT", 'no "x"'),
    ("launch", {"command": "/bin/true", "hold": 1}, "INVALID_ARGUMENT",
     "true or false"),
    ("launch", {"command": "/bin/true", "trace": {"remove": ["a"]}},
     "INVALID_ARGUMENT", "removed"),
    ("launch", {"command": "/bin/true", "trace": {"add": ["a:::b"]}},
     "INVALID_PATTERN", "Invalid trace pattern 'a:::b'"),
    ("launch", {"command": "/bin/true", "wrong": 1}, "INVALID_ARGUMENT",
     'no "wrong"'),
    ("attach", {}, "INVALID_ARGUMENT", "runs"),
    ("trace", {"add": ["x"]}, "INVALID_ARGUMENT", "runs"),
    ("resume", {}, "INVALID_ARGUMENT", "held"),
    ("query", {}, "SESSION_NOT_FOUND", "nothing has been traced"),
    ("sql", {"statement": "SELECT 1"}, "SESSION_NOT_FOUND", "nothing"),
    ("export", {"format": "text"}, "SESSION_NOT_FOUND", "nothing"),
    ("read", {"export": 1, "offset": 0}, "INVALID_ARGUMENT", "no export 1"),
    ("nonsense", {}, "NOT_SUPPORTED", "launch, attach"),
)
REFUSED_LATER = (
    ("trace", {"add": "x"}, "INVALID_ARGUMENT", "list of strings"),
    ("trace", {"add": ["x" * 600]}, "INVALID_PATTERN", "Invalid"),
    ("trace", {"add": [""]}, "INVALID_PATTERN", "Invalid trace pattern ''"),
    ("trace", {"add": ["x"] * 300}, "INVALID_ARGUMENT", "256"),
    ("trace", {"remove": ["never"]}, "INVALID_ARGUMENT", "no active pattern"),
    ("trace", {"addresses": ["401136"]}, "INVALID_PATTERN", "0x"),
    ("trace", {"budget": -1}, "INVALID_ARGUMENT", "whole number"),
    ("trace", {"projectRoot": "rel"}, "INVALID_ARGUMENT", "absolute"),
    ("trace", {"patterns": []}, "INVALID_ARGUMENT", "add, remove"),
    ("query", {"limit": 0}, "INVALID_ARGUMENT", "1 to 500"),
    ("query", {"function": "x"}, "INVALID_ARGUMENT", "object"),
    ("query", {"function": {"matches": "("}}, "INVALID_ARGUMENT", ""),
    ("query", {"afterEventId": "99.1"}, "INVALID_ARGUMENT", "no event"),
    ("query", {"wait_ms": 1}, "INVALID_ARGUMENT", "wait_ms"),
    ("follow", {"wait_ms": 25001}, "INVALID_ARGUMENT", "25000"),
    ("follow", {"afterEventId": 1}, "INVALID_ARGUMENT", "a string"),
    ("sql", {}, "INVALID_ARGUMENT", "statement"),
    ("sql", {"statement": "DELETE FROM events"}, "INVALID_ARGUMENT", ""),
    ("sql", {"statement": "SELECT 1", "rows": 10001}, "INVALID_ARGUMENT",
     "10000"),
    ("functions", {}, "INVALID_ARGUMENT", "pattern"),
    ("functions", {"pattern": "a:::b"}, "INVALID_PATTERN", "Invalid"),
    ("functions", {"pattern": "a", "limit": 0}, "INVALID_ARGUMENT", "1000"),
    ("export", {"format": "xml"}, "INVALID_ARGUMENT", "chrome"),
    ("export", {"format": "text", "query": {"x": 1}}, "INVALID_ARGUMENT",
     "'x'"),
    ("read", {"export": 0, "offset": 0}, "INVALID_ARGUMENT", "from 1"),
    ("status", {"x": 1}, "INVALID_ARGUMENT", "takes nothing"),
    ("stop", {"keep": "yes"}, "INVALID_ARGUMENT", "true or false"),
    ("launch", {"command": "/bin/true"}, "SESSION_EXISTS", "already active"),
)
TEXTS = ('{"', '[]', '"x"', '{} {}', '{"command":1}', '{"args":{}}',
         '{"command":"query","args":[]}', "[" * 30 + "]" * 30)


def refusals(t, table):
    for command, args, code, words in table:
        e = t.ask(command, **args).get("error", {})
        ok(e.get("code") == code and words in e.get("message", ""),
           f"{command} {json.dumps(args)[:60]} is refused as {code}", e)


def what_is_wrong_is_said():
    with Tracer() as t:
        refusals(t, REFUSED)
        for text in TEXTS:
            n = t.put("x", text=text)
            eq(t.answer(n).get("error", {}).get("code"), "INVALID_ARGUMENT",
               f"no request: {text[:20]!r}")
        r = t.ask("launch", command=os.path.basename(watched()), args=[
            "-1", "20000"], client={"cwd": WORK, "env": {}}, projectRoot=".")
        ok("pid" in r, "what is right is done after all that", r)
        refusals(t, REFUSED_LATER)
        eq(t.ask("trace")["activePatterns"], [],
           "what was refused is not half done")
        for command, args in (("launch", {}), ("attach", {}), ("resume", {}),
                              ("stop", {}), ("trace", {"add": ["main"]}),
                              ("trace", {"budget": 1})):
            n = t.put(command, args, ro=True)
            eq(t.answer(n).get("error", {}).get("code"), "READ_ONLY",
               f"{command} takes more than looking")
        for command, args in (("query", {}), ("status", {}), ("trace", {}),
                              ("sql", {"statement": "SELECT 1"}),
                              ("functions", {"pattern": "main"}),
                              ("export", {"format": "text"})):
            n = t.put(command, args, ro=True)
            ok("ok" in t.answer(n), f"{command} does not")


def patterns_come_and_go():
    program = watched()
    p = subprocess.Popen([program, "-1", "5000"], stdout=subprocess.DEVNULL)
    try:
        with Tracer("-p", str(p.pid), "-m") as t:
            with open(f"/proc/{p.pid}/mem", "rb") as mem:
                for command, args in (("trace", {}),
                                      ("functions", {"pattern": "main"})):
                    t.answer(t.put(command, args, ro=True))
                eq(status_of(p.pid)["TracerPid"], "0",
                   "who may only look attaches to nothing")
                go(t, p, mem, program)
    finally:
        p.kill()
        p.wait()


def text_of(pid, mem, program):
    """The bytes of its code, as they are now."""
    with open(f"/proc/{pid}/maps") as f:
        lo, hi = next(x.split()[0].split("-") for x in f
                      if "r-xp" in x and program in x)
    mem.seek(int(lo, 16))
    return mem.read(int(hi, 16) - int(lo, 16))


def go(t, p, mem, program):
    before = text_of(p.pid, mem, program)
    eq(t.code("trace", add=["@usercode"]), "INVALID_PATTERN",
       "@usercode needs a root")
    r = t.ask("trace", add=["@usercode"], projectRoot=SOURCES)
    eq((r["activePatterns"], r["hookedFunctions"], r.get("pending"),
        r["inlined"]), (["@usercode"], 5, None, ["tiny"]),
       "a program that runs is traced at once")
    ok(text_of(p.pid, mem, program) != before, "its code has changed")
    r = t.ask("trace", add=["nothing::*", "scale"])
    eq((r["hookedFunctions"], r["pending"]), (5, ["nothing::*"]),
       "what is there already is not there twice, what is nowhere waits")
    r = t.ask("trace", remove=["@usercode"])
    eq((r["activePatterns"], r["hookedFunctions"]),
       (["nothing::*", "scale"], 1), "some stay when others go")
    at = t.ask("query", function={"equals": "scale"})["totalCount"]
    # a call that had begun by then is over when another one has been made
    t.until(lambda q: q["totalCount"] > at + 2, function={"equals": "scale"})
    n = t.ask("query", function={"equals": "validate"})["totalCount"]
    q = t.until(lambda q: q["totalCount"] > at + 20,
                function={"equals": "scale"})
    ok(q["totalCount"] > at + 20 and t.ask("query", function={
        "equals": "validate"})["totalCount"] == n, "and only they are traced")
    at = t.ask("query", limit=500)["events"][-1]["id"]
    r = t.ask("trace", add=["_ZN5nope", "make_point"], budget=0)
    eq(r["pending"], ["nothing::*", "_ZN5nope"], "several at a time")
    f = t.ask("functions", pattern="*", limit=3)
    eq((len(f["functions"]), f["hasMore"]), (3, True), "functions has pages")
    f = t.ask("functions", pattern="tiny")["functions"]
    eq((f[0]["traceable"], f[0]["file"]),
       (False, os.path.join(SOURCES, "watched.c")),
       "functions says what is inlined")
    eq(status_of(p.pid)["TracerPid"] != "0", True, "somebody traces it")
    ok(t.ask("stop")["success"], "stop")
    eq(status_of(p.pid)["TracerPid"], "0", "nobody does any more")
    ok(p.poll() is None, "the program goes on")
    eq(text_of(p.pid, mem, program), before, "with its code as it was")


def without_debug_information():
    program = stripped(watched())
    with Tracer() as t:
        r = t.ask("launch", command=program, args=["-1", "5000"],
                  projectRoot=SOURCES, trace={"add": ["main"]})
        ok(r["warnings"][0].startswith("NO_DEBUG_SYMBOLS: Binary has no "
                                       "DWARF debug info."),
           "launch warns", r)
        e = t.ask("trace", add=["*"])["error"]
        eq((e["code"], e["message"]), (
            "NO_DEBUG_SYMBOLS", "Binary has no DWARF debug info. Ask user "
            "permission to modify build configuration to compile with debug "
            "symbols (e.g., add `-g` flag or use debug build profile)."),
           "trace is refused in the known words")
        eq(t.ask("trace")["activePatterns"], [], "and nothing stays of it")
        out = subprocess.run(["nm", watched()], stdout=subprocess.PIPE,
                             check=True).stdout.decode()
        at = next(x.split()[0] for x in out.splitlines()
                  if x.endswith(" validate"))
        name = f"{os.path.basename(program)}+0x{at.lstrip('0')}"
        r = t.ask("trace", addresses=[name, "0x" + at])
        eq(r["hookedFunctions"], 1, "an address is traced")
        q = t.until(lambda q: q["totalCount"] > 2, verbose=True,
                    eventType="function_exit")
        eq([e["returnValue"] for e in q["events"]][0], "0x1",
           "and shown as the registers are")
        q = t.ask("query", verbose=True, eventType=ENTER, limit=1)
        eq(len(q["events"][0]["arguments"]), 6, "all that carry arguments")
        r = t.ask("trace", add=["usleep"], rawRegisters=True)
        eq(r["hookedFunctions"], 2, "libraries' functions by their names")
        q = t.until(lambda q: q["totalCount"] > 0, verbose=True,
                    function={"equals": "usleep"}, eventType=ENTER)
        ok(q["events"][0]["arguments"][0] in ("0x1388", 5000),
           "with what they are given", q["events"][0])


def seldom_used_parts():
    """gcc moves them away, under a name that DWARF does not have."""
    program = build("holes.cc", "-g", "-O2")
    symbols = subprocess.run(["nm", program], check=True,
                             stdout=subprocess.PIPE).stdout
    ok(b"holesRKNSt7__cxx1112basic_string" in symbols and
       b".cold\n" in symbols, "there is one")
    with Tracer() as t:
        r = t.ask("launch", command=program, projectRoot=SOURCES,
                  trace={"add": ["holes"]})
        t.over()
        eq(warnings(r), [], "nothing is missing of it")
        r = t.ask("trace")
        eq((r["hookedFunctions"], warnings(r)), (1, []), "it is traced")


def seldom_used_parts_of_mangled_names():
    """Demangled, such a part is called like its function."""
    for level in ("-O2", "-O3"):
        program = build("aside.cc", level)
        with Tracer() as t:
            r = t.ask("launch", command=program, projectRoot=SOURCES,
                      trace={"add": ["catcher**", "cleaner**", "thrower**",
                                     "main**"], "rawRegisters": True})
            ok(r.get("pid"), f"{level}: it is launched with all its parts", r)
            over = t.get(lambda m: m.get("event") == "over")
            eq(over and over["status"], 0, f"{level}: and ends as it should")
            t.ended()
            r = t.ask("trace")
            ok(any(f["function"] == "catcher" and "not called" in f["reason"]
                   for f in r["notTraceable"]),
               f"{level}: such a part is not traced, and that is said", r)
            rows = t.ask("query", eventType="stdout", limit=500)["events"]
            eq("".join(e["text"] for e in rows), plain(program),
               f"{level}: the program says what it always says")


def debug_information_elsewhere():
    program = build("watched.c", "-g", "-O1", "-Wl,--build-id",
                    name="apart")
    for cmd in (["objcopy", "--only-keep-debug", program,
                 program + ".debug"], ["strip", program]):
        subprocess.run(cmd, check=True)
    with Tracer() as t:
        t.ask("launch", command=program, args=["2"], projectRoot=SOURCES,
              trace={"add": ["make_point"]})
        t.ended()
        eq(calls(t.ask("query", verbose=True))[:2],
           [("make_point", [0, "pt"]),
            ("make_point", {"x": 0, "y": 1, "name": "pt"})],
           "debug information beside the program is found")
    other = build("watched.c", "-g", "-O0", "-Wl,--build-id", name="other")
    os.replace(other, program + ".debug")
    with Tracer() as t:
        r = t.ask("launch", command=program, args=["2"], projectRoot=SOURCES,
                  trace={"add": ["make_point"]})
        ok("NO_DEBUG_SYMBOLS" in r["warnings"][0],
           "that of another build is not taken", r)


def section(program, name):
    """Where it is in the file, and its size."""
    out = subprocess.run(["readelf", "-SW", program], check=True,
                         stdout=subprocess.PIPE).stdout.decode()
    row = next(x.split("]", 1)[1].split() for x in out.splitlines()
               if f" {name} " in x)
    return int(row[3], 16), int(row[4], 16)


def damaged_debug_information():
    program = build("watched.c", "-g", "-O1", name="damaged")
    with open(program, "rb") as f:
        data = bytearray(f.read())
    for name in (".debug_info", ".debug_abbrev"):
        at, size = section(program, name)
        for i in range(at, at + size, 7):
            data[i] ^= 0x5a
    with open(program, "wb") as f:
        f.write(data)
    with Tracer() as t:
        r = t.ask("launch", command=program, args=["2"], projectRoot=SOURCES,
                  trace={"add": ["**"]})
        ok(r["pid"] > 0, "a damaged program runs", r)
        ok(any("damaged" in w and "damaged: " in w for w in r["warnings"]),
           "it is said what is wrong with it", r)
        eq(t.ended()["state"], "ended", "to its end")
        out = t.ask("query", eventType="stdout")["events"]
        ok(out and "1 red" in out[0]["text"], "as it always does", out)


def of_another_version():
    """A program of two units; the second one's version is changed."""
    extra = os.path.join(WORK, "extra.c")
    with open(extra, "w") as f:
        f.write("int another(int n)\n{\n\treturn n + 1;\n}\n")
    program = build("watched.c", "-g", "-O1", extra, name="versions")
    at, _ = section(program, ".debug_info")
    with open(program, "r+b") as f:
        f.seek(at)
        at += 4 + struct.unpack("<I", f.read(4))[0]
        f.seek(at + 4)
        f.write(struct.pack("<H", 6))
    return program


def debug_information_that_is_not_read():
    split = build("watched.c", "-g", "-O1", "-gsplit-dwarf", name="split")
    shared = [build("watched.c", "-g", "-O1", name=f"dwz{i}")
              for i in range(2)]
    subprocess.run(["dwz", "-m", os.path.join(WORK, "common"), *shared],
                   check=True)
    whole = watched()
    for path, words in ((split, "-gsplit-dwarf"), (shared[0], "dwz"),
                        (of_another_version(), "(2 to 5 are)"),
                        (whole, None)):
        with Tracer() as t:
            r = t.ask("launch", command=path, args=["2"], projectRoot=SOURCES,
                      hold=True)
            for what, a in (
                    ("trace", t.ask("trace", add=["make_*", "name_of"])),
                    ("functions", t.ask("functions", pattern="make_point"))):
                said = [w for w in a.get("warnings", a.get("error", {}).get(
                    "warnings", [])) if os.path.basename(path) in w]
                if words is None:
                    eq(said, [], f"{what}: nothing is to be said of it")
                elif "error" not in a:
                    ok(any(words in w for w in said),
                       f"{what}: {words} is why there are no types", a)
            t.ask("stop")
            stop(r["pid"])


def what_was_traced_stays():
    """What a program's end leaves to be asked is what there was."""
    with Tracer() as t:
        t.ask("launch", command=watched(), args=["5"], hold=True,
              projectRoot=SOURCES)
        was = t.ask("trace", add=["make_point", "scale", "nothing::*"])
        t.ask("resume")
        s = t.ended()
        now = t.ask("trace")
        was.pop("stopNs"), now.pop("stopNs")
        eq(now, was, "what was traced can be asked when it has ended")
        eq(s["hookedFunctions"], 2, "status has it")
        by = {f["function"]: f["calls"] for f in s["functions"]}
        eq(by, {"make_point": 5, "scale": 5}, "with the calls of each")
        time.sleep(0.5)
        t.put("_kill")
        ok(t.event("successor") is not None, "a successor comes")
        eq({f["function"]: f["calls"] for f in t.ask("status")["functions"]},
           by, "which knows them from the timeline")


def deleted_sessions():
    with Tracer() as t:
        one_run(t)
        kept = t.ask("stop", keep=True)["kept"]
        ok(os.path.exists(kept + ".db"), "one is kept")
        before = t.files()
        with Tracer(home=t.home) as u:
            one_run(u)
            eq(len(u.files()), 6, "another one is there")
            u.put("_forget")
            ok(u.event("bye") is not None, "its session is deleted when its "
               "tracer has been killed")
            eq(u.files(), before, "its files have gone, the others are there")
        with Tracer(home=t.home) as u:
            one_run(u)
            u.ask("stop", keep=True)
            before = u.files()
            u.put("_forget")
            u.event("successor")
            eq(u.files(), before, "what was kept is the session's no more")


def looking(t, command, **args):
    return t.answer(t.put(command, args, ro=True))


def exported(t, **args):
    n = looking(t, "export", **args)["ok"]["export"]
    return looking(t, "read", export=n, offset=0)["ok"]["data"]


def who_looks_sees_no_values():
    """Names of functions, times and output; of a crash which, and where."""
    with Tracer() as t:
        t.ask("launch", command=watched(), args=["3"], projectRoot=GIVEN,
              trace={"add": ["@usercode"]})
        t.ended()
        own = json.dumps(t.ask("query", verbose=True, limit=500))
        ok('"pt"' in own and '"red"' in own, "the owner sees values")
        q = looking(t, "query", verbose=True, limit=500)["ok"]
        eq({(json.dumps(e["arguments"]), e["returnValue"])
            for e in q["events"] if "arguments" in e}, {("[]", None)},
           "a query has no arguments and no results")
        eq((q.get("valuesWithheld"), [c[0] for c in calls(q)]),
           (True, [c[0] for c in calls(json.loads(own))]),
           "says so, and has all calls")
        f = looking(t, "follow", verbose=True, limit=500, wait_ms=0)["ok"]
        eq({(json.dumps(e["arguments"]), e["returnValue"])
            for e in f["events"] if "arguments" in e}, {("[]", None)},
           "nor does what is followed")
        for table in ("arguments", "return_value", "coalesce(arguments, '') "
                      "|| coalesce(return_value, '')"):
            r = looking(t, "sql", statement=f"SELECT DISTINCT {table} AS v "
                        "FROM events")["ok"]
            ok("pt" not in str(r) and "red" not in str(r),
               f"SQL has no {table}", r)
        r = looking(t, "sql", statement="SELECT count(*) FROM events WHERE "
                    "return_value = '\"red\"'")["ok"]
        ok("[[0]]" in json.dumps(r).replace(" ", ""), "nor can it look for one",
           r)
        for how in ({"equals": "red"}, {"isNull": True}):
            r = looking(t, "query", returnValue=how).get("error", {})
            eq(r.get("code"), "READ_ONLY", f"nor a query: {how}")
            r = looking(t, "export", format="text",
                        query={"returnValue": how}).get("error", {})
            eq(r.get("code"), "READ_ONLY", f"nor an export: {how}")
        for form in ("chrome", "folded", "text", "tree"):
            data = exported(t, format=form)
            ok("make_point" in data and '"pt' not in data and
               '"red' not in data and '= red' not in data,
               f"an export as {form} has no values", data[:300])
        n = t.ask("export", format="text")["export"]
        eq(looking(t, "read", export=n, offset=0).get("error", {}).get("code"),
           "INVALID_ARGUMENT", "what was exported with them is not read")
        again = json.dumps(t.ask("query", verbose=True, limit=500))
        eq(again, own, "the owner sees them as before")
    with Tracer() as t:
        t.ask("launch", command=build("fault.c", "-g", "-O1"),
              projectRoot=SOURCES, trace={"add": ["deep"]})
        t.ended()
        c = looking(t, "query", eventType="crash")["ok"]["events"][0]["crash"]
        eq((c["signalName"], c["function"], c["openCalls"]),
           ("SIGSEGV", "deep", ["deep"] * 4), "a crash: which, and where")
        eq([k for k in ("registers", "stack", "stackPointer", "address")
            if k in c], [], "and nothing of its memory")
        r = str(looking(t, "sql", statement="SELECT text FROM events WHERE "
                        "event_type = 'crash'")["ok"])
        ok("SIGSEGV" in r and "rip" not in r, "nor in SQL", r)
        for form in ("text", "chrome"):
            data = exported(t, format=form)
            ok("SIGSEGV" in data and "rip" not in data, f"nor as {form}",
               data[-600:])


def crash_and_end():
    with Tracer() as t:
        t.ask("launch", command=build("fault.c", "-g", "-O1"),
              projectRoot=SOURCES, trace={"add": ["deep"]})
        t.ended()
        q = t.ask("query", eventType="crash")
        eq(q["totalCount"], 1, "a crash is an event")
        c = q["events"][0]["crash"]
        eq((c["signalName"], c["address"], c["function"], c["sourceFile"]),
           ("SIGSEGV", "0x0", "deep", os.path.join(SOURCES, "fault.c")),
           "it says what and where")
        ok("rip" in c["registers"] and len(c["stack"]) > 8,
           "with registers and stack")
        eq((c["openCalls"], [e["eventType"] for e in c["lastEvents"]]),
           (["deep"] * 4, [ENTER] * 4), "and what came before")
        ids = [e["id"] for e in t.ask("query", function={
            "equals": "deep"})["events"]]
        eq([e["eventId"] for e in c["lastEvents"]], ids,
           "by the ids of the events")
        e = t.ask("trace", add=["main"])["error"]
        eq((e["code"], e["message"]), (
            "PROCESS_EXITED", "Target process has exited (code: 139, "
            "SIGSEGV). Session still queryable but cannot add traces."),
           "nothing can be added then")
        eq(t.ask("trace")["activePatterns"], ["deep"],
           "what was there can be asked")
        ok(t.ask("functions", pattern="deep")["totalCount"] == 1,
           "functions, too")


def families():
    program = build("family.c", "-g", "-O1")
    for follow, want in ((True, [1, 2, 3, 4]), (False, [1, 4])):
        with Tracer() as t:
            t.ask("launch", command=program, projectRoot=SOURCES,
                  followForks=follow, trace={"add": ["work"]})
            t.ended()
            q = t.ask("query", verbose=True)
            eq([c[1][0] for c in calls(q, ENTER)], want,
               f"calls of children are there: {follow}")
            eq([c[1] for c in calls(q, "function_exit")],
               [n + 100 for n in want], "each has its end")
            tids = {e["threadId"] for e in q["events"]}
            eq(len(tids), 2 if follow else 1, "by their own numbers")
            eq(len({e["id"].split(".")[0] for e in q["events"]}), len(tids),
               "a thread stays the same to its end")


def strange_children():
    """Without SIGCHLD, or of a vfork whose parent has another program now."""
    program = build("forks.c", "-O2")
    for follow in (True, False):
        for how, want in (("bare", "3\n"), ("guest", "guest\n")):
            with Tracer() as t:
                t.ask("launch", command=program, args=[how, "3"],
                      followForks=follow, trace={"add": ["mark"]},
                      projectRoot=SOURCES)
                t.over()
                out = t.ask("query", eventType="stdout")["events"]
                eq("".join(e["text"] for e in out), want,
                   f"{how}: its children run, followed {follow}")


def libraries_that_come_later():
    lib = build("plug.c", "-g", "-O1", "-shared", "-fPIC", name="plug.so")
    program = build("plugs.c", "-g", "-O1", "-ldl")
    with Tracer() as t:
        t.ask("launch", command=program, args=[lib, "3"], hold=True,
              projectRoot=SOURCES)
        r = t.ask("trace", add=["plugged"])
        eq((r["hookedFunctions"], r["pending"]), (0, ["plugged"]),
           "a pattern waits for a library")
        t.ask("resume")
        t.ended()
        q = t.ask("query", verbose=True, limit=500)
        eq([c[1] for c in calls(q, ENTER)], [[-1], [20], [21]] * 3,
           "from its constructor on, each time that it is loaded")
        eq("".join(e["text"] for e in q["events"] if "text" in e),
           "82\n" * 3, "and it does what it always does")


def held_and_let_go():
    with Tracer() as t:
        r = t.ask("launch", command=watched(), args=["1"], hold=True,
                  projectRoot=SOURCES, env={"X": "1"})
        eq(t.ask("query")["totalCount"], 0, "a program that is held waits")
        eq(status_of(r["pid"])["State"][0], "t", "at its beginning")
        t.ask("trace", add=["**"])
        eq(t.ask("query")["totalCount"], 0, "also while it is traced")
        eq(t.ask("resume"), {"success": True}, "resume")
        t.ended()
        names = [c[0] for c in calls(t.ask("query", verbose=True), ENTER)]
        eq(names[:2], ["main", "make_point"], "nothing of it was missed")
    with Tracer() as t:
        r = t.ask("launch", command=watched(), args=["-1", "1000"],
                  hold=True, projectRoot=SOURCES)
        t.ask("stop")
        ok(wait_for(lambda: status_of(r["pid"])["State"][0] in "SR", SOON),
           "stop lets it go, too")
        stop(r["pid"])


def environment_and_place():
    with Tracer() as t:
        t.ask("launch", command="env", client={
            "cwd": WORK, "env": {"PATH": "/usr/bin:/bin", "A": "client",
                                 "B": "client"}},
              env={"A": "asked"}, projectRoot="/")
        t.ended()
        out = "".join(e["text"] for e in t.ask(
            "query", eventType="stdout")["events"]).split()
        eq(sorted(x for x in out if x[0] in "AB"), ["A=asked", "B=client"],
           "what was asked for stands before the client's environment")
    with Tracer() as t:
        t.ask("launch", command="/bin/pwd", client={"cwd": WORK})
        t.ended()
        out = t.ask("query", eventType="stdout")["events"][0]["text"]
        ok(os.path.samefile(out.strip(), "/bin"),
           "it starts in its own directory", out)
    os.symlink("/usr/bin", WORK + "/elsewhere")
    for command, want in (("../bin/./sh", "/usr/bin/sh"),
                          ("./..//../bin/sh", "/bin/sh"),
                          (WORK + "/elsewhere/../bin/sh",
                           WORK + "/elsewhere/../bin/sh")):
        with Tracer() as t:
            t.ask("launch", command=command, args=["-c", "echo $0"],
                  client={"cwd": "/usr/bin"})
            t.ended()
            eq(t.ask("query", eventType="stdout")["events"][0]["text"],
               want + "\n", f"{command} has one path")


def a_tracer_that_is_killed():
    with Tracer() as t:
        r = t.ask("launch", command=watched(), args=["-1", "5000"],
                  projectRoot=SOURCES, trace={"add": ["make_point"]})
        pid = r["pid"]
        t.until(lambda q: q["totalCount"] > 200)
        time.sleep(0.5)
        t.put("_kill")
        ok(t.event("successor") is not None, "a successor comes")
        s = t.ask("status")
        eq((s["state"], s["pid"], s["projectRoot"], s["hookedFunctions"]),
           ("idle", pid, SOURCES, 0), "it knows the session")
        q = t.ask("query", verbose=True)
        ok(q["totalCount"] > 200 and calls(q)[:2] == [
            ("make_point", [0, "pt"]),
            ("make_point", {"x": 0, "y": 1, "name": "pt"})],
           "and its timeline, with values as they were", calls(q)[:2])
        eq(status_of(pid)["TracerPid"], "0", "the program goes on untraced")
        r = t.ask("trace", add=["scale"])
        eq(r["hookedFunctions"], 1, "it can be traced again")
        q = t.until(lambda q: q["totalCount"] > 0, verbose=True,
                    function={"equals": "scale"})
        eq(calls(q)[0][0], "scale", "into the same timeline")
        t.ask("stop")
        eq(t.files(), [], "stop removes what its predecessor has made")
        stop(pid)


def no_place_for_files():
    with Tracer(home="/dev/null") as t:
        t.ask("launch", command=watched(), args=["-1", "5000"],
              projectRoot=SOURCES, trace={"add": ["make_point"]})
        t.until(lambda q: q["totalCount"] > 100)
        s = t.ask("status")
        eq(s["file"], None, "without a home the timeline is in memory")
        eq(t.code("stop", keep=True), "NOT_SUPPORTED", "and cannot be kept")
        time.sleep(0.5)
        t.put("_kill")
        t.event("successor")
        ok(t.ask("query")["totalCount"] > 100, "but survives its tracer")
        pid = t.ask("status")["pid"]
        ok(t.ask("stop")["success"], "and can be stopped")
        stop(pid)


def stopped_before_it_has_files():
    with Tracer(home="/dev/null") as t:
        # both are on their way before memory is asked for
        t.p.stdin.write(json.dumps({
            "conn": 1, "id": 1000, "command": "launch", "args": {
                "command": watched(), "args": ["-1", "5000"]}}).encode() +
            b"\n")
        n = t.put("stop")
        eq(t.answer(1000)["error"]["code"], "SESSION_NOT_FOUND",
           "a launch that is stopped meanwhile says so")
        ok(t.answer(n)["ok"]["success"] and t.event("bye") is not None,
           "and stop ends it as always")


def traced_by_another():
    p = subprocess.Popen([watched(), "-1", "5000"],
                         stdout=subprocess.DEVNULL)
    try:
        with Tracer("-p", str(p.pid)) as t:
            t.ask("attach")
            for _ in range(2):
                with Tracer("-p", str(p.pid)) as u:
                    for _ in range(2):
                        eq(u.code("attach"), "FRIDA_ATTACH_FAILED",
                           "who cannot attach is told")
                        eq(u.files(), [], "and leaves nothing")
            t.ask("stop")
    finally:
        p.kill()
        p.wait()


def what_is_kept():
    with Tracer() as t:
        t.ask("launch", command=watched(), args=["2"], projectRoot=SOURCES,
              trace={"add": ["make_point"]})
        t.ended()
        r = t.ask("stop", keep=True)
        ok(os.path.exists(r["kept"] + ".calls"), "a timeline is kept", r)
        kept = t.files()
        with Tracer(home=t.home) as u:
            u.ask("launch", command=watched(), args=["2"],
                  projectRoot=SOURCES)
            s = u.ended()
            ok(os.path.basename(s["file"]) != "session" and
               len(u.files()) == len(kept) + 3,
               "another of that name does not take its place", u.files())
            u.ask("stop")
        eq(t.files(), kept, "and its own are gone with it")
    with Tracer() as t:
        os.makedirs(os.path.join(t.home, ".local/state"))
        os.symlink("/tmp", os.path.join(t.home, ".local/state/debuglantern"))
        t.ask("launch", command=watched(), args=["2"], projectRoot=SOURCES)
        eq(t.ended()["file"], None, "a link is no place for timelines")


def bytes_of(t, names):
    got = {}
    for name in names:
        with open(os.path.join(t.home, TIMELINES, name), "rb") as f:
            got[name] = f.read()
    return got


def one_run(t):
    t.ask("launch", command=watched(), args=["2"], projectRoot=SOURCES,
          trace={"add": ["make_point"]})
    return t.ended()


def runs_of_one_session():
    with Tracer() as first:
        one_run(first)
        names = [os.path.basename(first.ask("stop", keep=True)["kept"])]
        for _ in range(4):
            before = bytes_of(first, first.files())
            with Tracer(home=first.home) as t:
                one_run(t)
                names.append(os.path.basename(t.ask("stop", keep=True)
                                              ["kept"]))
            eq(bytes_of(first, before), before,
               "what was kept of earlier runs is as it was")
        eq((len(set(names)), len(first.files())), (5, 15),
           "each run is kept under a name of its own")
        before = bytes_of(first, first.files())
        with Tracer(home=first.home) as t:
            r = t.ask("launch", command=watched(), args=["-1", "5000"],
                      projectRoot=SOURCES, trace={"add": ["make_point"]})
            t.until(lambda q: q["totalCount"] > 100)
            file = t.ask("status")["file"]
            time.sleep(0.5)
            t.put("_kill")
            ok(t.event("successor") is not None, "a successor comes")
            eq(t.ask("status")["file"], file, "it finds the one that is not "
               "kept yet")
            t.ask("stop")
            stop(r["pid"])
        eq(bytes_of(first, first.files()), before, "and removes that alone")
        for name in first.files():
            if name.startswith(names[-1] + "."):
                os.rename(*(os.path.join(first.home, TIMELINES, x) for x in
                            (name, name.replace(names[-1], names[1] + "-99"))))
        before = bytes_of(first, first.files())
        with Tracer(home=first.home) as t:
            eq(one_run(t)["file"], None, "when names run out it is in memory")
            eq(t.code("stop", keep=True), "NOT_SUPPORTED", "it is said that "
               "it cannot be kept")
            t.ask("stop")
        eq(bytes_of(first, first.files()), before, "and nothing is lost")


def on_small_disk(size):
    return ["unshare", "-m" if AS_ROOT else "-rm", "sh", "-c",
            f'mount -t tmpfs -o size={size} none "$0" && exec "$@"', "HOME"]


def a_full_disk():
    with Tracer(before=on_small_disk("300k")) as t:
        r = t.ask("launch", command=build("hot.c", "-g", "-O1"),
                  projectRoot=SOURCES, trace={"add": ["hot"]})
        q = t.until(lambda q: "trouble" in q)
        ok("No space left on device" in q["trouble"] and q["losses"],
           "a full disk is said with each answer", q)
        ok(t.ask("status")["lost"] > 0, "what is lost is counted")
        eq(t.code("export", format="text"), "TIMELINE_FULL",
           "there is no room for an export")
        eq(status_of(r["pid"])["State"][0], "R", "the program runs on")
        ok(t.ask("stop")["success"], "and stop ends it as always")
        stop(r["pid"])
    with Tracer(before=on_small_disk("4k")) as t:
        e = t.ask("launch", command=watched(), projectRoot=SOURCES)["error"]
        eq(e["code"], "TIMELINE_FULL", "without room nothing is launched")


def storms():
    with Tracer() as t:
        r = t.ask("launch", command=build("hot.c", "-g", "-O1"),
                  projectRoot=SOURCES, trace={"add": ["hot", "cool"]})
        q = t.until(lambda q: "sampled" in q and q["totalCount"] > 10,
                    function={"equals": "cool"})
        eq([x["function"] for x in q["sampled"]], ["hot"],
           "who is called too often is sampled, and that is said")
        s = t.ask("status")
        by = {f["function"]: f for f in s["functions"]}
        ok(by["hot"]["skipped"] > by["hot"]["calls"] > 0 and
           by["cool"]["skipped"] == 0, "the others are not", by)
        t.ask("trace", add=["hot"], budget=10)
        n = t.ask("query", function={"equals": "hot"})["totalCount"]
        at = t.ask("query", function={"equals": "cool"})["totalCount"]
        t.until(lambda q: q["totalCount"] > at + 20,
                function={"equals": "cool"})
        more = t.ask("query", function={"equals": "hot"})["totalCount"] - n
        ok(more < 100000, "a budget can be made smaller", more)
        ok(t.ask("trace", add=["hot"], budget=0)["hookedFunctions"] == 2,
           "or be lifted")
        t.until(lambda q: q["totalCount"] > n + more + 200000,
                function={"equals": "hot"})
        ok(t.ask("stop")["success"], "all the same it stops")
        stop(r["pid"])


def one_value_of_thousands():
    with Tracer() as t:
        r = t.ask("launch", command=build("hot.c", "-g", "-O1"),
                  projectRoot=SOURCES, trace={"add": ["hot"]})
        t.until(lambda q: q["totalCount"] > 20000,
                function={"equals": "hot"})
        e = t.ask("query", eventType="function_exit", offset=5000, limit=1,
                  verbose=True)["events"][0]
        value = e["returnValue"]
        ok(value > 1000, "each call returns another value", e)
        q = t.ask("query", returnValue={"equals": value}, verbose=True,
                  limit=500)
        ok(e["id"] in [x["id"] for x in q["events"]],
           "the one that is asked for is found", q["totalCount"])
        eq({x["returnValue"] for x in q["events"]}, {value}, "and no other")
        for other in (-1, str(value), None, True):
            eq(t.ask("query", returnValue={"equals": other})["totalCount"],
               0, f"{other!r} is never returned")
        t.ask("stop")
        stop(r["pid"])


def follow_and_export():
    with Tracer() as t:
        r = t.ask("launch", command=watched(), args=["-1", "20000"],
                  projectRoot=SOURCES, trace={"add": ["make_point"]})
        q = t.until(lambda q: q["totalCount"] > 10, limit=500)
        last = q["events"][-1]["id"]
        seen = []
        while len(seen) < 20:
            f = t.ask("follow", afterEventId=last, wait_ms=20000, limit=5)
            seen += [e["id"] for e in f["events"]]
            last = seen[-1] if seen else last
        ok(len(set(seen)) == len(seen), "follow goes on behind an event", seen)
        t.ask("trace", remove=["make_point"])
        e = t.ask("export", format="tree")
        data, at = "", 0
        while at is not None:
            piece = t.ask("read", export=e["export"], offset=at)
            data += piece["data"]
            at = piece["next"]
        eq(len(data.encode()), e["bytes"], "an export is read in pieces")
        ok("make_point(0,\"pt\")" in data, "and has the calls", data[:300])
        eq(t.code("read", export=e["export"], offset=0), "INVALID_ARGUMENT",
           "once")
        e = t.ask("export", conn=2, format="chrome")
        eq(t.code("read", export=e["export"], offset=0), "INVALID_ARGUMENT",
           "by whom it was made for")
        t.put("_gone", conn=2)
        ok(t.event("left") is not None, "who has gone has left")
        eq(t.ask("read", conn=2, export=e["export"], offset=0)["error"]
           ["code"], "INVALID_ARGUMENT", "and their exports with them")
        made = [t.answer(t.put("export", {"format": "folded"}, conn=4,
                               ro=True)) for _ in range(3)]
        eq([("error" in m) for m in made], [False] * 2 + [True],
           "who only looks has two at most")
        ok("export" in t.ask("export", conn=4, format="folded"),
           "which leaves some for the owner")
        t.put("_gone", conn=4)
        ok(t.get(lambda m: m.get("event") == "left" and m["conn"] == 4)
           is not None, "they have left as well")
        made = [t.ask("export", format="folded") for _ in range(5)]
        eq([("error" in m) for m in made], [False] * 4 + [True],
           "there are at most four")
        r2 = t.ask("sql", statement="SELECT count(*) FROM events WHERE "
                   "function_name = 'make_point'")
        ok(r2["rows"][0][0] > 10, "SQL is answered", r2)
        # a client that waits and goes
        n = t.put("follow", {"wait_ms": 25000, "afterEventId":
                             t.ask("query", limit=500)["events"][-1]["id"]},
                  conn=3)
        t.put("_gone", conn=3)
        left = t.get(lambda m: m.get("event") == "left" and m["conn"] == 3)
        ok(left is not None and t.ask("status")["state"] == "tracing",
           "who waits and goes is no trouble")
        # before that there may have been something for them
        t.msgs = t.msgs[t.msgs.index(left):]
        ok(t.get(lambda m: m.get("id") == n, 1) is None,
           "and is answered no more")
        t.ask("stop")
        stop(r["pid"])


def many_followers():
    """Who waits is answered in time, however often others come and go."""
    with Tracer() as t:
        r = t.ask("launch", command="/bin/sleep", args=["1000"],
                  projectRoot="/bin")
        n = t.put("follow", {"wait_ms": 100})
        came, end, conn = [], time.monotonic() + 20, 1
        while not came and time.monotonic() < end:
            conn += 1
            for _ in range(10):
                t.put("follow", {"wait_ms": 25000}, conn=conn)
            t.put("_gone", conn=conn)
            t.fill(0.002)
            came = [m for m in t.msgs if m.get("id") == n]
        ok(came and "ok" in came[0],
           "who follows is answered while others come and go", (came, conn))
        t.ask("stop")
        stop(r["pid"])


def followed_to_the_end():
    """Who follows does not wait for what cannot come."""
    with Tracer() as t:
        t.ask("launch", command="/bin/echo", args=["x"], projectRoot="/bin")
        q = t.until(lambda q: q["events"], eventType="stdout")
        n = t.put("follow", {"wait_ms": 25000,
                             "afterEventId": q["events"][-1]["id"]})
        t.ended()
        # the answer itself, not that of who has waited for all of their time
        eq(t.answer(n, 15)["ok"]["events"], [], "nothing comes after the end")


def of_32_bits():
    """A program that sleeps for ever, by hand: no compiler need have it."""
    code = b"\xb8\x1d\0\0\0\xcd\x80\xeb\xf7"       # pause() again and again
    base, head = 0x8048000, 52 + 32
    elf = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack(
        "<HHIIIIIHHHHHH", 2, 3, 1, base + head, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    elf += struct.pack("<8I", 1, 0, base, base, head + len(code),
                       head + len(code), 5, 0x1000) + code
    path = os.path.join(WORK, "small")
    with open(path, "wb") as f:
        f.write(elf)
    os.chmod(path, 0o755)
    return path


def programs_of_32_bits():
    program = of_32_bits()
    try:
        p = subprocess.Popen([program])
    except OSError:
        # a kernel that runs none
        with Tracer() as t:
            r = t.ask("launch", command=program)["error"]
            eq((r["code"], "32-bit ELF" in r["message"]),
               ("EXEC_FAILED", True), "32 bits: the kernel runs none")
        return
    try:
        with Tracer("-p", str(p.pid)) as t:
            for command, args in (("attach", {}), ("trace", {"add": ["x"]})):
                r = t.ask(command, **args).get("error", {})
                eq((r.get("code"), "64-bit" in r.get("message", "")),
                   ("NOT_SUPPORTED", True), f"32 bits: {command} says so")
        eq(p.poll(), None, "and it runs on")
    finally:
        p.kill()
        p.wait()
    with Tracer() as t:
        r = t.ask("launch", command=program).get("error", {})
        eq((r.get("code"), "64-bit" in r.get("message", "")),
           ("NOT_SUPPORTED", True), "32 bits: launch says so")


def who_it_is():
    with Tracer() as t:
        r = t.ask("launch", command=watched(), args=["-1", "20000"],
                  projectRoot=SOURCES)
        pid = t.pid()
        st = status_of(pid)
        eq((st["NoNewPrivs"], st["Seccomp"]), ("1", "2"),
           "the tracer has a system call filter")
        if AS_ROOT:
            eq(st["Name"], "tracer", "and its own name")
        os.kill(r["pid"], signal.SIGKILL)
        e = t.ended()
        eq(t.ask("trace", add=["x"])["error"]["message"].split(".")[0],
           "Target process has exited (code: 137, SIGKILL)",
           "a program that is killed has ended")
        eq(e["hookedFunctions"], 0, "nothing of it is traced")


# as of a machine whose kernel does not trust its clock
UNSTABLE = ["unshare", "-m" if AS_ROOT else "-rm", "sh", "-ec",
            "echo hpet acpi_pm >HOME/clocks; mount --bind HOME/clocks /sys/"
            "devices/system/clocksource/clocksource0/available_clocksource; "
            "exec \"$@\"", "sh"]


def a_clock_that_is_not_trusted():
    with Tracer(before=UNSTABLE) as t:
        r = t.ask("launch", command=watched(), args=["2"],
                  projectRoot=SOURCES, trace={"add": ["make_point"]})
        ok(any("TSC" in w and "taskset" in w for w in r["warnings"]),
           "the launch warns of it, and says what helps", r)


run_tests(from_launch_to_stop, a_clock_that_is_not_trusted,
          what_is_wrong_is_said, patterns_come_and_go,
          without_debug_information, seldom_used_parts,
          seldom_used_parts_of_mangled_names,
          debug_information_elsewhere,
          damaged_debug_information, debug_information_that_is_not_read,
          what_was_traced_stays, deleted_sessions, crash_and_end,
          who_looks_sees_no_values,
          families, strange_children,
          libraries_that_come_later, held_and_let_go, environment_and_place,
          a_tracer_that_is_killed, no_place_for_files, what_is_kept,
          runs_of_one_session, stopped_before_it_has_files,
          traced_by_another,
          a_full_disk, storms, one_value_of_thousands, follow_and_export,
          many_followers, followed_to_the_end,
          programs_of_32_bits, who_it_is)
