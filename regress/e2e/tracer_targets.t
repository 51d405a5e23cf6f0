#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# What can be traced, through the daemon: Go and static programs, uploaded
# ones, bundles and commands of the host; what is said of functions and
# programs that cannot be, and of calls that are not there.
import json
import os
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (alive, alone, eq, ok, run_tests, stat_of,  # noqa: E402
                status_of, tar_of, wait_for)
from mcp import ToolError, at_daemon  # noqa: E402
from tracerig import SOURCES, WORK, build, plain  # noqa: E402

LONG = 120
ENTER, EXIT = "function_enter", "function_exit"
STORM = 100000
NODE = os.path.realpath(shutil.which("node") or "/usr/bin/node")


def kinds(*flags, name="kinds"):
    return build("kinds.c", "-g", "-O1", *flags, name=name)


def has_ended(m, session):
    return wait_for(lambda: m.refused("debug_trace", sessionId=session,
                                      add=["nonesuch"]) == "PROCESS_EXITED",
                    LONG)


def beats(m, session, what="it"):
    """Its calls come, each with its values."""
    enters = dict(function={"equals": "beat"}, eventType=ENTER, limit=20,
                  verbose=True)
    ok(wait_for(lambda: m.query(session, **enters)["totalCount"] > 20, LONG),
       f"{what}: its calls are seen")
    r = m.query(session, function={"equals": "beat"}, limit=40, verbose=True)
    args = {e["id"]: e["arguments"] for e in r["events"]
            if e["eventType"] == ENTER}
    bad = [e for e in r["events"] if e["eventType"] == EXIT and
           e["parentEventId"] in args and
           e["returnValue"] != args[e["parentEventId"]][0] * 3 + 1]
    ok(bad == [] and all(a[1] == "on" for a in args.values()),
       f"{what}: with their values", (args, bad[:3]))


def goes_on(d, m, pid, session, what):
    """It is let go, and has done what it does untraced."""
    ok(m.stop(session)["success"], f"{what}: tracing stops")
    eq(status_of(pid)["TracerPid"], "0", f"{what}: nobody traces it")
    os.kill(pid, signal.SIGTERM)
    if what != "launched":
        ok(wait_for(lambda: b"bad 0" in d.client().output(session), LONG),
           f"{what}: it was not disturbed")


# --- functions ---------------------------------------------------------------

def go_program(mode):
    out = os.path.join(WORK, "prog_go")
    if not os.path.exists(out):
        subprocess.run(["/usr/bin/go", "build", "-o", out,
                        SOURCES + "/prog.go"], check=True,
                       env=dict(os.environ, HOME=WORK, GO111MODULE="off",
                                GOCACHE=WORK + "/gocache", GOFLAGS=""))
    with at_daemon(mode, "tracer budget 0\n") as (d, m):
        m.trace(add=["main.Add", "main.Deep"])
        s = m.launch(out)["sessionId"]
        r = m.trace(s)
        eq((r["hookedFunctions"], sorted(
            (x["function"], "Go program" in x["reason"])
            for x in r.get("entryOnly", []))),
           (2, [("main.Add", True), ("main.Deep", True)]),
           "Go: only beginnings are seen, it says, and why")
        eq(r.get("notTraceable"), None, "Go: which is not to be not traced")
        ok(has_ended(m, s), "Go: it ends")
        q = m.query(s, function={"equals": "main.Add"}, limit=5)
        eq((q["totalCount"] + sum(x["lost"] for x in q.get("losses", [])) >=
            16000, {e["eventType"] for e in q["events"]}), (True, {ENTER}),
           "Go: all of its calls are there")
        eq(m.query(s, eventType=EXIT)["totalCount"], 0, "Go: no ends are")
        eq("".join(e["text"] for e in m.query(s, eventType="stdout")
                   ["events"]), plain(out), "Go: it is not disturbed")
        eq(len(m.trace(s).get("entryOnly", [])), 2,
           "Go: that is said of what has ended, too")
        m.stop(s)
        d.tidy()


def javascript(mode):
    """V8 finds its frames by the return addresses on the stack."""
    program = "try { null.x } catch (e) { console.log(e.stack.length > 9) }"
    with at_daemon(mode) as (d, m):
        s = d.ctl("trace", "run", "-q", "--raw", "-p",
                  "v8::internal::Isolate::**", "--", NODE, "-e",
                  program).stdout.decode().strip()
        ok(has_ended(m, s), "node: it ends")
        eq(d.client().output(s), b"true\n",
           "node: a traced program catches what it throws")
        r = m.trace(s)
        ok(r["hookedFunctions"] > 50 and
           all("V8" in x["reason"] for x in r["entryOnly"]),
           "node: of its functions beginnings are seen, and why is said",
           (r["hookedFunctions"], r.get("entryOnly", [])[:2]))
        m.stop(s)
        d.tidy()


def a_walker_is_named(mode):
    p = build("stuck.c", "-g", "-O0", name="stuck")
    with at_daemon(mode) as (d, m):
        s = m.launch(p)["sessionId"]
        eq([w for w in m.trace(s).get("warnings", [])
            if "frame pointers" in w], [],
           "nothing is traced: nothing is said of what walks")
        r = m.trace(s, add=["outer"])
        at = subprocess.run(["nm", p], capture_output=True, text=True,
                            check=True).stdout
        at = [line.split()[0] for line in at.splitlines()
              if line.endswith(" tight")][0].lstrip("0")
        ok(any("frame pointers" in w and at[-3:] + " " in w
               for w in r.get("warnings", [])),
           "what walks and cannot be watched is named in the answer", r)
        m.stop(s)
        d.tidy()


def walkers_without_an_unwind_table_are_named(mode):
    """frames.c has some; with a table each of them is known and mended."""
    plainly = ("-g", "-O0", "-fno-omit-frame-pointer")
    with at_daemon(mode) as (d, m):
        for compiler in ("gcc", "clang"):
            for table in ("no-", ""):
                p = build("frames.c", *plainly,
                          f"-f{table}asynchronous-unwind-tables",
                          compiler=compiler,
                          name=f"frames_{compiler}_{table}table")
                s = m.launch(p, "wait")["sessionId"]
                eq([w for w in m.trace(s).get("warnings", [])
                    if "frame pointers" in w], [],
                   f"{compiler}: nothing is traced: nothing is said")
                r = m.trace(s, add=["first"])
                said = " ".join(w for w in r.get("warnings", [])
                                if "frame pointers" in w)
                nm = subprocess.run(["nm", p], capture_output=True, text=True,
                                    check=True).stdout
                at = [x.split()[0][-3:] for x in nm.splitlines()
                      if x.split()[-1] in ("walk", "callers", "passes")]
                if table:
                    ok(any(a + " that walks" in said for a in at) and
                       "-fasynchronous-unwind-tables" in said,
                       f"{compiler}: without tables one is named, and how to "
                       "mend it", (said, at))
                else:
                    eq(said, "", f"{compiler}: with tables nothing is amiss")
                m.stop(s)
        d.tidy()


def not_all_functions(mode):
    with at_daemon(mode) as (d, m):
        o = m.launch(kinds(), "on", "2000")
        s = o["sessionId"]
        r = m.trace(s, add=["beat", "rounds", "brief", "behind"])
        why = {x["function"]: x["reason"] for x in r["notTraceable"]}
        eq((r["hookedFunctions"], r["notTraceableCount"], why),
           (2, 2, {"rounds": "a loop begins with its first instruction",
                   "brief": "it is shorter than a jump"}),
           "what cannot be patched is named, with the reason")
        eq(m.trace(s)["notTraceable"], r["notTraceable"],
           "which stays to be asked")
        beats(m, s, "the others")
        eq(m.trace(s, remove=["rounds", "brief"]).get("notTraceable"), None,
           "who does not want them is not told of them")
        goes_on(d, m, o["pid"], s, "launched")
        d.tidy()


# --- programs ----------------------------------------------------------------

def attach(m, sid, what):
    r = m.trace(sid, add=["beat", "rounds"])
    eq((r["hookedFunctions"], [x["function"] for x in r["notTraceable"]]),
       (1, ["rounds"]), f"{what}: it is attached to")
    beats(m, sid, what)


def static_programs(mode):
    with at_daemon(mode) as (d, m):
        for flags in (("-static",), ("-static-pie",)):
            what = " ".join(flags)
            program = kinds(*flags, name="kinds" + flags[0])
            m.trace(add=["beat"])
            o = m.launch(program, "on", "2000")
            eq(m.trace(o["sessionId"])["hookedFunctions"], 1,
               f"{what}: it is traced from its beginning")
            beats(m, o["sessionId"], what)
            ok(any("ready" in e["text"] for e in m.query(
                o["sessionId"], eventType="stdout")["events"]),
               f"{what}: what it writes is seen")
            m.stop(o["sessionId"])
            os.kill(o["pid"], signal.SIGTERM)
            ok(wait_for(lambda: not alive(o["pid"]), LONG), f"{what}: ends")
        d.tidy()


def sessions(mode):
    """An image, a bundle, a command of the host: each is a session first."""
    with at_daemon(mode) as (d, m):
        c = d.client()
        for what, sid in (
                ("uploaded", c.upload(kinds("-static", name="kinds-static"))
                 ["id"]),
                ("uploaded, with libraries", c.upload(kinds())["id"]),
                ("bundle", c.upload(tar_of(("app/run", kinds())), "app/run")
                 ["id"]),
                ("of the host", json.loads(d.ctl(
                    "--json", "new", kinds()).stdout)["id"])):
            c.cmd(f"ARGS {sid} on 2000")
            r = c.cmd(f"START {sid}")
            ok(r.get("state") == "RUNNING", f"{what}: it runs", r)
            c.until(sid, b"ready", LONG)
            pid = c.cmd("STATUS " + sid)["pid"]
            attach(m, sid, what)
            goes_on(d, m, pid, sid, what)
        d.tidy()


def no_way_in(mode):
    """Another traces it already: its own child, or gdb."""
    with at_daemon(mode) as (d, m):
        c = d.client()
        sid = c.upload(kinds())["id"]
        c.cmd(f"ARGS {sid} held 2000")
        c.cmd(f"START {sid}")
        c.until(sid, b"ready", LONG)
        pid = c.cmd("STATUS " + sid)["pid"]
        by = int(status_of(pid)["TracerPid"])
        ok(by != 0 and stat_of(by)[2] == pid, "a child of its own traces it")
        for _ in range(2):
            try:
                m.trace(sid, add=["beat"])
                ok(False, "it is not attached to")
            except ToolError as e:
                ok(e.code == "FRIDA_ATTACH_FAILED" and "traced by process" in
                   e.error["message"] and "Failed to attach" in
                   e.error["message"], "it is said who is in the way", e)
        eq(m.refused("debug_query", sessionId=sid), "SESSION_NOT_FOUND",
           "there is no timeline of it")
        os.kill(by, signal.SIGKILL)
        ok(wait_for(lambda: status_of(pid)["TracerPid"] == "0", LONG),
           "when that is gone")
        attach(m, sid, "then")
        goes_on(d, m, pid, sid, "then")
        d.tidy()


# --- what is not there -------------------------------------------------------

LIMITED = "tracer budget 0\ntracer timeline-calls 1M\n"


def oldest_go(mode):
    """More calls than there is room for: output and the crash stay."""
    with at_daemon(mode, LIMITED) as (d, m):
        m.trace(add=["beat"])
        s = m.launch(kinds(), "storm", str(STORM))["sessionId"]
        ok(has_ended(m, s), "it crashes")
        q = m.query(s, function={"equals": "beat"}, limit=500, verbose=True)
        lost = sum(x["lost"] for x in q.get("losses", []))
        eq(q["totalCount"] + q["evicted"] + lost, 2 * STORM,
           "each call is there, or is said to have made room")
        ok(0 < q["totalCount"] < STORM and q["evicted"] > STORM // 2,
           "as many are there as there is room for", q["evicted"])
        first = min(e["arguments"][0] for e in q["events"]
                    if e["eventType"] == ENTER)
        q = m.query(s, function={"equals": "beat"}, limit=2, verbose=True,
                    offset=q["totalCount"] - 2)
        eq([e["arguments"] for e in q["events"] if e["eventType"] == ENTER],
           [[STORM - 1, "storm"]], "the latest are, to the last")
        ok(first > STORM // 2, "the oldest are not", first)
        q = m.query(s, eventType="stdout")
        eq(("".join(e["text"] for e in q["events"]), q["evicted"] > 0),
           ("before\nafter\n", True), "all of its output is there")
        q = m.query(s, eventType="crash")
        eq([e["crash"]["signalName"] for e in q["events"]], ["SIGSEGV"],
           "its crash is")
        everything = m.query(s, limit=1)["events"][0]
        eq(everything["text"], "before\n", "older than all that is left")
        ok(d.ctl("timeline", s, "--limit", "3", "--table").stderr.startswith(
            b"debuglanternctl: the oldest "), "the command says it, too")
        m.stop(s)
        d.tidy()


def asked_meanwhile(mode):
    """Calls come faster than anybody could read them: there is a page of
    those that there are, wherever it begins."""
    with at_daemon(mode, LIMITED) as (d, m):
        m.trace(add=["hot"])
        o = m.launch(shutil.copy(build("hot.c", "-g", "-O1"),
                                 os.path.join(WORK, f"asked-{mode}")))
        s = o["sessionId"]
        ok(wait_for(lambda: m.query(s, limit=1).get("evicted"), LONG),
           "the oldest calls have made room")
        bad = []
        for _ in range(8):
            q = m.query(s, limit=5)
            n = q["totalCount"]
            bad += [q] if n == 0 or len(q["events"]) != 5 else []
            # so many are left in any case
            q = m.query(s, limit=5, offset=min(n // 2, 1000))
            bad += [q] if q["totalCount"] <= 1000 or \
                len(q["events"]) != 5 else []
        eq(bad, [], "each question has its events")
        m.stop(s)
        os.kill(o["pid"], signal.SIGKILL)
        d.tidy()


def nuls(mode):
    """They are in what programs write, and in their strings."""
    with at_daemon(mode) as (d, m):
        program = build("holes.cc", "-g", "-O1")
        m.trace(add=["holes"])
        s = m.launch(program)["sessionId"]
        has_ended(m, s)
        got = [e.get("text") or e["arguments"] or e["returnValue"]
               for e in m.all(s, verbose=True)]
        eq(got, ["a\0b\n", ["x\0y"], "x\0y\0!"], "a query has them")
        r = d.ctl("--json", "timeline", s)
        eq([json.loads(line).get("text") for line in
            r.stdout.splitlines()], ["a\0b\n", None, None],
           "as the control protocol has")
        ok(b"x\\u0000y" in d.ctl("timeline", "export", s, "--format",
                                  "text").stdout, "and as text", r)
        m.stop(s)
        d.tidy()


def the_tracer(d):
    found = [p for p in d.processes() if (stat_of(p) or ("",))[0] == "tracer"]
    if len(found) != 1:
        raise RuntimeError(f"tracers: {found}")
    return found[0]


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat") as f:
        return int(f.read().rpartition(")")[2].split()[11])


def nobody_reads(mode):
    """While its tracer stands the program goes on, and that is said."""
    with at_daemon(mode, "tracer budget 0\n") as (d, m):
        program = shutil.copy(build("hot.c", "-g", "-O1"),
                              os.path.join(WORK, f"hot-{mode}"))
        m.trace(add=["hot"])
        o = m.launch(program)
        s, pid = o["sessionId"], o["pid"]
        ok(wait_for(lambda: m.query(s, limit=1)["totalCount"] > 0, LONG),
           "its calls are seen")
        tracer = the_tracer(d)
        os.kill(tracer, signal.SIGSTOP)
        # two seconds of its own time are calls for many rings
        upto = cpu_ticks(pid) + 2 * os.sysconf("SC_CLK_TCK")
        ok(wait_for(lambda: cpu_ticks(pid) >= upto, LONG),
           "nobody is waited for")
        os.kill(tracer, signal.SIGCONT)
        lost = wait_for(lambda: m.query(s, limit=1).get("losses"), LONG)
        ok(lost and lost[0]["threadId"] == pid or mode != "user" and lost and
           lost[0]["lost"] > 1000, "what had no room is counted, by thread",
           lost)
        r = json.loads(d.ctl("--json", "trace", "status", s).stdout)
        ok(r["losses"] and r["lost"] >= lost[0]["lost"],
           "the status has it, too", r.get("losses"))
        m.stop(s)
        os.kill(pid, signal.SIGKILL)
        d.tidy()


run_tests(alone(go_program), alone(javascript), alone(a_walker_is_named),
          alone(walkers_without_an_unwind_table_are_named),
          alone(not_all_functions), alone(static_programs),
          alone(sessions), alone(no_way_in), alone(oldest_go),
          alone(nuls),
          alone(asked_meanwhile, modes=("user",)), alone(nobody_reads))
