#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# A session's tracer has been taken over: it costs its session its tracer, and
# nobody else anything.  And what the spawner does for one that behaves: runs
# programs, holds them, keeps what it leaves for the next one.
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from rogue import blob, daemon, u32
from inst import Kind, Local, frame, outcome, vec
from dl import (AS_ROOT, alive, alone, eq, helper, ok, run_tests,
                stat_of, status_of, wait_for)

# what it does, and what who asked for it is told: done = it goes on
MODES = {
    "never-asked": "tracer_lost", "another-conn": "done", "twice": "done",
    "endless": "tracer_lost", "much": "tracer_lost",
    "garbage": "tracer_refused", "control": "tracer_refused",
    "open-end": "tracer_refused", "bad-flags": "tracer_lost",
    "bad-phase": "tracer_lost", "bad-pid": "tracer_lost",
    "short-state": "tracer_lost", "others-words": "tracer_lost",
    "launchers-words": "tracer_lost", "others-orders": "tracer_lost", "principal": "tracer_lost",
    "unknown": "tracer_lost", "an-fd": "tracer_lost", "states": "done",
    "logs": "done", "empty-pieces": "tracer_lost", "runs": "done",
    "bad-run": "tracer_lost", "bad-run-flags": "tracer_lost",
    "bad-run-cwd": "tracer_lost", "lets-go": "done", "many-symbols": "done",
    "files": "done", "deaf-files": "tracer_lost", "arms": "done",
    "byes": "tracer_lost", "dies": "tracer_lost", "aborts": "tracer_lost",
    "executes": "tracer_lost", "actions": "done", "bad-action": "tracer_lost",
    "no-action": "tracer_lost",
}


def state(phase=0, functions=0, pid=0):
    return frame("TRC_STATE", u32(phase, functions, pid))


def run(cwd="/", argv=vec("/bin/sleep", "1000"), env=vec(), flags=0):
    return frame("TRC_RUN", blob(cwd) + argv + env + u32(flags))


KIND = Kind("tracer", lambda: {
    "TRC_STATE": state(), "TRC_RUN": run(),
    "INST_DOES": frame("INST_DOES", u32(1)),
    "INST_LOG": frame("INST_LOG", u32(0) + blob("x")),
    "TRC_NAMED": frame("TRC_NAMED", blob(""))})


def every_mode(mode):
    def actions(d):
        ok("TRACER launch" in d.log() and "TRACER stop" not in d.log(),
           "and tells of nothing that nobody asked for")

    KIND.every_mode(mode, MODES, actions)


def wrong_values():
    for v in ((3,), (2 ** 32 - 1,), (0, 0, 2 ** 31), (0, 0, 2 ** 32 - 1)):
        yield f"state {v}", [state(*v)]
    yield "a name that is a path", [frame("TRC_NAMED", blob("../x"))]
    yield "a long name", [frame("TRC_NAMED", blob("x" * 280))]
    for name, r in (("an empty program", run(argv=vec(""))),
                    ("a program without an end", run(argv=blob("/bin/sh"))),
                    ("a relative directory", run(cwd="tmp")),
                    ("a long directory", run(cwd="/" + "x" * 9000)),
                    ("many arguments", run(argv=vec(*["x" * 100] * 500))),
                    ("a large environment", run(env=vec(
                        *["A=" + "x" * 100] * 500))),
                    ("unknown flags", run(flags=1))):
        if len(r) < 50000:
            yield name, [r]
    for name in ("TRC_RUN", "TRC_LET_GO", "TRC_WANT_SYMBOLS",
                 "TRC_WANT_FILES", "TRC_WANT_USED", "INST_BYE"):
        yield f"{name} with something behind it", [frame(
            name, bytes.fromhex(KIND.good(name).split(":")[7]) + b"x")]


def after_the_end():
    yield "an order, then BYE", [run(), KIND.good("INST_BYE")]
    yield "an order, BYE, an order", [run(), KIND.good("INST_BYE"), run()]
    yield "symbols, then BYE", [KIND.good("TRC_WANT_SYMBOLS"),
                                KIND.good("INST_BYE")]


def harmless():
    yield "LET_GO before anything runs", [KIND.good("TRC_LET_GO")] * 2
    yield "two orders at once", [run(), run()]
    yield "nothing to run", [run(argv=vec())]
    yield "a program that is not there", [run(argv=vec("/no/such"))]
    yield "files, twice", [KIND.good("TRC_WANT_FILES")] * 2
    yield "all phases", [state(n) for n in (1, 2, 0, 1)]


def by_bytes(mode):
    KIND.by_bytes(mode, wrong_values, after_the_end, harmless)


def other_sessions(mode):
    KIND.other_sessions(mode, lambda sid: (
        frame("TRC_STATE", u32(1, 3, 0), session=sid),
        frame("TRC_LET_GO", session=sid)),
        lambda status: status["tracer"] == {"functions": 3,
                                            "state": "tracing"})


# --- one that behaves ------------------------------------------------------
def do(j, session, command, **more):
    if session is not None:
        more["session"] = session
    return outcome(j.ask(request={"command": command}, **more))


def facts(j, session):
    return j.ask(session=session, request={"command": "facts"})["result"]


def fact(j, session, key, want=1):
    """Waits until it is so; what it was told by then."""
    wait_for(lambda: facts(j, session)[key] == want, 15)
    got = facts(j, session)
    eq(got[key], want, f"it is told: {key}")
    return got


def stopped(pid):
    return stat_of(pid)[1] in ("T", "t")


def becomes(c, what, want):
    return wait_for(lambda: c.cmd("STATUS " + what).get("state") == want, 15)


def named(d, name):
    return [p for p in d.processes() if (stat_of(p) or ("",))[0] == name]


def runs(mode):
    """A program that stands at its first instruction until it is let go."""
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        eq(do(j, None, "start", start=True, name="x"), "good", "it starts")
        f = facts(j, "x")
        eq((f["made"], f["resumed"], f["target"], f["hello_files"]),
           (1, 0, 0, 0), "for a session of its own making")
        eq((f["budget"], f["calls"], f["output"], f["user"]),
           (100000, 1 << 30, 50 << 20, 4 << 30),
           "with the limits that there are")
        eq(c.cmd("STATUS x")["tracer"], {"functions": 0, "state": "idle"},
           "which is shown")
        eq(do(j, "x", "run " + helper("hello")), "done", "it runs a program")
        f = fact(j, "x", "rans")
        s = c.cmd("STATUS x")
        eq((s["state"], s["pid"], s["command"][0]),
           ("RUNNING", f["pid"], helper("hello")), "as the session's")
        ok(f["rings"] >= 1, "it has its output", f)
        ok(stopped(f["pid"]), "it stands still", stat_of(f["pid"]))
        eq(c.cmd("OUTPUT x")["output"], "", "and has done nothing")
        eq(do(j, "x", "arm"), "done", "output is waited for")
        eq(do(j, "x", "go"), "done", "it is let go")
        ok(becomes(c, "x", "STOPPED"), "and runs to its end")
        f = fact(j, "x", "ended")
        eq((f["code"], f["signal"]), (c.cmd("STATUS x")["exit_code"], 0),
           "which is told")
        fact(j, "x", "bells")
        eq(do(j, "x", "over"), "done", "it says so itself")
        eq(c.cmd("STATUS x")["tracer"]["state"], "ended",
           "the timeline is there to be asked")
        eq(do(j, "x", "run " + helper("hello")), "done", "once more")
        fact(j, "x", "rans", 2)
        eq(c.cmd("KILL x")["state"], "STOPPED", "killed before it ran")
        fact(j, "x", "ended", 2)
        eq(c.cmd("START x")["state"], "RUNNING", "started by its user")
        f = fact(j, "x", "rans", 3)
        ok(becomes(c, "x", "STOPPED"), "it is held by nobody")
        eq(do(j, "x", "bye"), "done", "at the end")
        eq(c.cmd("STATUS x").get("error_code"), "not_found", "all of it goes")
        ok(wait_for(lambda: named(d, "tracer") == []), "the process too")


def fails(mode):
    """What comes to nothing leaves nothing."""
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        eq(do(j, None, "fails", start=True, name="x"), "NO",
           "a first request fails")
        eq(c.cmd("LIST"), [], "there is no session then")
        sid = c.upload(helper("sleeper"))["id"]
        c.cmd("START " + sid)
        eq(do(j, sid, "fails", start=True), "NO",
           "nor a tracer of a session that was there")
        eq((c.cmd("STATUS " + sid)["tracer"], do(j, sid, "x")),
           (None, "no_tracer"), "it has none")
        for first in ("dies", "bad-flags"):
            eq(do(j, None, first, start=True, name="x"), "tracer_lost", first)
            ok(wait_for(lambda: c.cmd("LIST")[1:] == []),
               "before it was of any use", c.cmd("LIST"))
        eq(do(j, None, "a", start=True, name="x"), "good", "it starts")
        for path, code in (("/no/such", "exec_failed"), ("", "invalid_"
                                                        "argument")):
            n = facts(j, "x")["failures"]
            do(j, "x", "run " + path)
            eq(fact(j, "x", "failures", n + 1)["failure"], code,
               f"run {path!r} fails")
        do(j, "x", "run " + helper("sleeper"))
        fact(j, "x", "rans")
        n = facts(j, "x")["failures"]
        do(j, "x", "run " + helper("sleeper"))
        eq(fact(j, "x", "failures", n + 1)["failure"], "busy",
           "there is one already")
        ok(do(j, sid, "a", start=True), "one beside a session's program")
        n = facts(j, sid)["failures"]
        do(j, sid, "run " + helper("sleeper"))
        eq(fact(j, sid, "failures", n + 1)["failure"], "busy",
           "which stays that")
        c.cmd("KILL " + sid)
        do(j, sid, "run " + helper("sleeper"))
        eq(fact(j, sid, "failures", n + 2)["failure"], "not_permitted",
           "for good")
        do(j, sid, "run ")
        f = fact(j, sid, "rans")
        ok(stopped(f["pid"]), "and can be run from the beginning")
        do(j, sid, "go")
        ok(wait_for(lambda: not stopped(f["pid"])), "as any other")


def names(mode):
    """Labels get numbers; a program is traced once."""
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        for want in ("x", "x-2", "x-3"):
            r = j.ask(start=True, name="x", request={"command": "a"})
            eq(outcome(r), "good", "it starts")
            ok(want in [s["name"] for s in c.cmd("LIST")], f"as {want}")
        eq(j.ask(start=True, name="no label", request={"command": "a"})
           ["error"]["code"], "invalid_name", "what is no label is none")
        do(j, "x", "run " + helper("sleeper"))
        fact(j, "x", "rans")
        do(j, "x-2", "run " + helper("sleeper"))
        eq(fact(j, "x-2", "failures")["failure"], "SESSION_EXISTS",
           "the same program is traced already")
        do(j, "x-2", "run " + helper("hello"))
        fact(j, "x-2", "rans")
        c.cmd("KILL x")
        do(j, "x-3", "run " + helper("sleeper"))
        eq(fact(j, "x-3", "failures")["failure"], "SESSION_EXISTS",
           "also when it has ended, and nobody has said stop")
        do(j, "x", "bye")
        do(j, "x-3", "run " + helper("sleeper"))
        fact(j, "x-3", "rans")
        if mode == "system":
            b = Local(d, d.bob)
            eq(do(b, None, "a", start=True, name="x"), "good",
               "another user has names of their own")
            do(b, "x", "run " + helper("sleeper"))
            fact(b, "x", "rans")


def successor(mode):
    """kill -9: the program goes on, and the next one has what was kept."""
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        eq(do(j, None, "a", start=True, name="x"), "good", "it starts")
        do(j, "x", "run " + helper("sleeper"))
        first = fact(j, "x", "rans")
        do(j, "x", "tracing")
        do(j, "x", "files")
        fact(j, "x", "files", 3)
        eq(do(j, "x", "keep"), "done", "it writes what is to be kept")
        os.kill(KIND.of(d)[0], signal.SIGKILL)
        ok(wait_for(lambda: c.cmd("STATUS x")["tracer"]["state"] == "idle"),
           "it is killed", c.cmd("STATUS x"))
        ok(wait_for(lambda: not stopped(first["pid"])),
           "its program goes on without it, as it would never be let go")
        eq(c.cmd("STATUS x")["state"], "RUNNING", "and is the session's")
        f = fact(j, "x", "files", 3)
        eq((f["resumed"], f["made"], f["hello_files"], f["kept"],
            f["target"]), (1, 1, 3, "kept", first["pid"]),
           "the next one knows it all")
        ok(f["self"] != first["self"], "as another process")
        eq(do(j, "x", "fails"), "NO", "a request may fail")
        eq(do(j, "x", "a"), "good", "it stays")
        os.kill(KIND.of(d)[0], signal.SIGKILL)
        ok(wait_for(lambda: not KIND.of(d)), "killed again")
        eq(do(j, "x", "a", start=True), "good", "a start is as good")
        eq(facts(j, "x")["resumed"], 1, "for another one")
        c.cmd("KILL x")
        fact(j, "x", "ended")
        os.kill(KIND.of(d)[0], signal.SIGKILL)
        ok(wait_for(lambda: c.cmd("STATUS x")["tracer"]["state"] == "ended"),
           "and when the program has ended")
        eq(fact(j, "x", "files", 3)["kept"], "kept", "the same")
        eq(c.cmd("DELETE x")["state"], "DELETED", "until it is deleted")
        ok(wait_for(lambda: not KIND.of(d)), "then it goes")


def used(mode):
    """What one user's timelines in memory take, and nobody else's."""
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)

        def keep(j, name):
            eq(do(j, None, "a", start=True, name=name), "good", "it starts")
            do(j, name, "files")
            fact(j, name, "files", 3)
            eq(do(j, name, "keep"), "done", "a page in each of its files")

        def ask(name, n):
            eq(do(j, name, "used"), "done", f"{name} asks")
            return fact(j, name, "nused", n)["used"]
        keep(j, "x")
        page = os.sysconf("SC_PAGE_SIZE")
        eq(ask("x", 1), 2 * page, "its own but for the calls")
        if mode == "system":
            keep(Local(d, d.bob), "x")
        keep(j, "y")
        eq(ask("x", 2), 5 * page, "and all of another session's")
        eq(ask("y", 1), 5 * page, "which has the same to say")
        c.cmd("DELETE y")
        eq(ask("x", 3), 2 * page, "until that is deleted")
        c.cmd("DELETE x")


def held(mode):
    """A tracer's death before a request was answered ends what it held."""
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        j.put(start=True, name="x", request={"command": "silent"})
        ok(wait_for(lambda: KIND.of(d)), "it starts, and does not answer")
        k = Local(d, d.alice)
        k.put(session="x", request={"command": "raw " + run(
            argv=vec(helper("sleeper")))})
        eq(outcome(k.get()), "done", "a program is ordered")
        ok(becomes(c, "x", "RUNNING"), "and runs")
        os.kill(KIND.of(d)[0], signal.SIGKILL)
        eq(outcome(j.get()), "tracer_lost", "who waits is told")
        c.cmd("DELETE x")


def is_confined(pid, uid):
    st = status_of(pid)
    return (st["NoNewPrivs"], st["Seccomp"]) == ("1", "2") and \
        [int(st[x], 16) for x in ("CapPrm", "CapEff", "CapAmb",
                                  "CapInh")] == [0] * 4 and \
        int(st["Uid"].split()[0]) == uid


def symbols(mode):
    """Processes that read symbols: its user's, and gone with it."""
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        eq(do(j, None, "a", start=True, name="x"), "good", "it starts")
        for n in range(1, 9):
            do(j, "x", "symbols")
            fact(j, "x", "symbols", n)
        pids = named(d, "symbols")
        eq(len(pids), 8, "eight at a time")
        do(j, "x", "symbols")
        fact(j, "x", "nosymbols")
        uid = int(status_of(KIND.of(d)[0])["Uid"].split()[0])
        for p in pids:
            # one that was started just now has its own start before it
            ok(wait_for(lambda p=p: is_confined(p, uid)),
               "each is confined, and the owner's", status_of(p))
            if AS_ROOT:
                eq(os.stat(f"/proc/{p}/mem").st_uid, 0, "none is dumpable")
        os.kill(pids[0], signal.SIGKILL)
        ok(wait_for(lambda: not alive(pids[0])), "one is killed")
        do(j, "x", "symbols")
        fact(j, "x", "symbols", 9)
        os.kill(KIND.of(d)[0], signal.SIGSTOP)
        pid = KIND.of(d)[0]
        os.kill(pid, signal.SIGKILL)
        ok(wait_for(lambda: not named(d, "symbols")), "they go with it")
        c.cmd("DELETE x")


def one_of_the_two(mode):
    """A session has a debugger or a tracer."""
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        sid = c.upload(helper("sleeper"))["id"]
        c.cmd("START " + sid)
        eq(do(j, sid, "a", start=True), "good", "a tracer")
        eq(facts(j, sid)["target"], c.cmd("STATUS " + sid)["pid"],
           "of what runs")
        for what in (f"DEBUG {sid}", f'DEBUGGER start session={sid} '
                     '{"command": "attach", "args": {}}'):
            r = c.cmd(what)
            eq(r.get("error_code"), "already_debugging", what.split()[0])
            ok("tracer" in r["message"], "in words", r)
        c.cmd("KILL " + sid)
        eq(c.cmd(f"START {sid} --debug").get("error_code"),
           "already_debugging", "START --debug")
        c.cmd("START " + sid)
        eq(do(j, sid, "bye"), "done", "it is stopped")
        eq(c.cmd("STATUS " + sid)["state"], "RUNNING", "the program goes on")
        r = c.cmd("DEBUG " + sid)
        ok("error_code" not in r, "gdbserver can be attached", r)
        r = j.ask(session=sid, start=True, request={"command": "a"})
        eq(r["error"]["code"], "already_debugging", "and then no tracer")
        ok("debugger" in r["error"]["message"], "in words", r)
        c.cmd("KILL " + sid)


def others(mode):
    """Who only looks, and who may not even do that."""
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        eq(do(j, None, "a", start=True, name="x"), "good", "it starts")
        ro = Local(d, d.alice)
        ro.cmd("AUTH " + c.cmd("TOKEN create read-only")["token"])
        eq(do(ro, "x", "a"), "good", "who only looks may ask")
        eq(do(ro, None, "a", start=True, name="y"), "read_only",
           "but not start one")
        os.kill(KIND.of(d)[0], signal.SIGKILL)
        ok(wait_for(lambda: not KIND.of(d)), "it is killed")
        # before the daemon has heard of it the answer is that it is lost
        said = []
        wait_for(lambda: said.append(do(ro, "x", "a")) or said[-1] == "good")
        eq([x for x in said if x != "tracer_lost"], ["good"],
           "the next one is what is asked for")
        if mode == "system":
            b = Local(d, d.bob)
            eq(do(b, "x", "a"), "not_found", "for others it does not exist")
            eq(do(b, "x", "a", start=True), "not_found",
               "nor can they trace it")


def lost_roles(mode):
    """netproc and launcher may go; a session's tracer stays."""
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        eq(do(j, None, "a", start=True, name="x"), "good", "it starts")
        do(j, "x", "run " + helper("sleeper"))
        f = fact(j, "x", "rans")
        os.kill(d.role_pid("launcher"), signal.SIGKILL)
        eq(do(j, "x", "go"), "done", "without a launcher just now")
        ok(wait_for(lambda: not stopped(f["pid"])), "it is let go all the "
           "same")
        os.kill(d.role_pid("netproc"), signal.SIGKILL)

        def again():
            try:
                return facts(Local(d, d.alice), "x")["self"] == f["self"]
            except (OSError, EOFError, KeyError, ValueError):
                return False
        ok(wait_for(again, 15), "the same one can be asked by new "
           "connections")


def is_kept(mode):
    """It is idle only when there is nothing that it could be asked about."""
    with daemon(mode, "stop-timeout 1\ntracer idle 1\npty-grace 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        eq(do(j, None, "a", start=True, name="x"), "good", "one starts")
        do(j, "x", "over")
        eq(do(j, None, "a", start=True, name="y"), "good", "another one")
        ok(wait_for(lambda: len(KIND.of(d)) == 1, 15),
           "that does nothing for so long ends")
        eq(do(j, "x", "a"), "good", "but not one that has a timeline")


run_tests(alone(every_mode), alone(by_bytes), alone(other_sessions),
          alone(runs), alone(fails), alone(names), alone(successor),
          alone(used),
          alone(held), alone(symbols), alone(one_of_the_two), alone(others),
          alone(lost_roles), alone(is_kept))
