#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# A session's debugger has been taken over: it costs its session its debugger,
# and nobody else anything.
import os
import select
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from rogue import blob, daemon, u32
from inst import Kind, Local, clean_up, frame, outcome, roles, rss, vec
from dl import (Prober, alive, alone, eq, helper, ok, run_tests,
                session_processes, stat_of, wait_for)

# what it does, and what who asked for it is told: done = it goes on
MODES = {
    "never-asked": "debugger_lost", "another-conn": "done", "twice": "done",
    "huge": "debugger_lost", "endless": "debugger_lost",
    "garbage": "debugger_refused", "control": "debugger_refused",
    "open-end": "debugger_refused", "bad-flags": "debugger_lost",
    "bad-phase": "debugger_lost", "bad-state": "debugger_lost",
    "short-state": "debugger_lost", "others-words": "debugger_lost",
    "launchers-words": "debugger_lost", "others-orders": "debugger_lost", "principal": "debugger_lost",
    "unknown": "debugger_lost", "an-fd": "debugger_lost", "states": "done",
    "logs": "done", "drains": "done",
    "deaf-drains": "debugger_lost", "empty-pieces": "debugger_lost",
    "runs": "done", "host-run": "done",
    "bad-run": "debugger_lost", "bad-run-flags": "debugger_lost",
    "byes": "debugger_lost", "kills": "done", "dies": "debugger_lost",
    "aborts": "debugger_lost", "executes": "debugger_lost",
    "writes": "debugger_lost", "actions": "done",
    "bad-action": "debugger_lost", "no-action": "debugger_lost",
}


HOST = 4                        # DBG_RUN_HOST: outside of any sandbox


def state(phase=0, pid=0, ended=0, code=0, signal=0):
    return frame("DBG_STATE", u32(phase, pid, ended, code, signal))


def run(flags=0, name="rogue", cwd="/", argv=vec("/bin/sleep", "1000"),
        env=vec(), shown=vec()):
    return frame("DBG_RUN", u32(flags) + blob(name) + blob(cwd) + argv +
                 env + shown)


KIND = Kind("debugger", lambda: {
    "DBG_STATE": state(), "DBG_RUN": run(),
    "INST_DOES": frame("INST_DOES", u32(1)),
    "INST_LOG": frame("INST_LOG", u32(0) + blob("x"))})


def every_mode(mode):
    def actions(d):
        ok("DEBUGGER pause" in d.log() and "DEBUGGER raw" not in d.log(),
           "and tells of nothing that nobody asked for")

    KIND.every_mode(mode, MODES, actions)


def wrong_values():
    for v in ((99,), (2 ** 32 - 1,), (0, 2 ** 31), (0, 2 ** 32 - 1),
              (0, 0, 2), (0, 0, 1, 256), (0, 0, 1, 0, 65),
              (0, 0, 1, 0, 2 ** 31)):
        yield f"state {v}", [state(*v)]
    for name, r in (("no program", run(argv=vec())),
                    ("an empty program", run(argv=vec(""))),
                    ("a program without an end", run(argv=blob("/bin/sh"))),
                    ("a relative directory", run(cwd="tmp")),
                    ("a long name", run(name="x" * 4000)),
                    ("a long directory", run(cwd="/" + "x" * 9000)),
                    ("many arguments", run(argv=vec(*["x" * 100] * 500))),
                    ("a large environment", run(env=vec(
                        *["A=" + "x" * 100] * 500))),
                    ("much to be shown", run(shown=vec(
                        *["x" * 100] * 500))),
                    ("unknown flags", run(flags=1 << 20))):
        if len(r) < 50000:
            yield name, [r]
    for name in ("RUN", "KILL", "DRAIN"):
        yield f"{name} with something behind it", [frame(
            "DBG_" + name, bytes.fromhex(KIND.good("DBG_" + name).split(":")[7]) +
            b"x")]


def after_the_end():
    yield "an order, then BYE", [run(), KIND.good("INST_BYE")]
    yield "an order, BYE, an order", [run(), KIND.good("INST_BYE"), run()]


def harmless():
    """What is in order, though nobody would do it."""
    yield "KILL and DRAIN before anything runs", [
        KIND.good("DBG_KILL"), KIND.good("DBG_DRAIN"), KIND.good("DBG_KILL")]
    yield "two orders at once", [run(), run()]
    yield "an order that is killed at once", [run(), KIND.good("DBG_KILL")]
    yield "an end of what never ran", [state(5, 0, 1, 3), state(5, 0, 1, 0, 9)]
    yield "out of the sandbox, twice", [run(HOST), run(HOST)]
    yield "an adapter that is not there", [run(argv=vec("/no/such"))]
    yield "all phases", [state(n) for n in (1, 2, 3, 4, 5, 0, 4, 3)]


def by_bytes(mode):
    KIND.by_bytes(mode, wrong_values, after_the_end, harmless)


def other_sessions(mode):
    KIND.other_sessions(mode, lambda sid: (
        frame("DBG_STATE", u32(3, 0, 0, 0, 0), session=sid),
        frame("DBG_KILL", session=sid), frame("DBG_DRAIN", session=sid)),
        lambda status: status["debugger"]["state"] == "running")


def late(mode):
    """An answer to who has gone, of which the debugger was told."""
    with daemon(mode) as d:
        j, gone = Local(d, d.alice), Local(d, d.alice)
        eq(outcome(j.ask(start=True, name="x",
                         request={"command": "start"})), "good", "it starts")
        gone.ask(session="x", request={"command": "y"})
        gone.put(session="x", request={"command": "silent"})
        eq(outcome(j.ask(session="x", request={"command": "y"})), "good",
           "it has the request")
        gone.close()
        eq(outcome(j.ask(session="x", request={"command": "z"})), "good",
           "and hears that who asked has gone")
        for _ in range(3):
            eq(outcome(j.ask(session="x", request={"command": "late"})),
               "done", "its answer is nobody's")
        eq(len(KIND.of(d)), 1, "and no violation")


def big_session(c):
    """As large to tell as there may be one."""
    sid = c.cmd("NEW -- cat")["id"]
    for n in range(7):
        c.cmd(f"ENV {sid} V{n}={'x' * 4000}")
    return sid


def flood(mode):
    """Many whose state changes without end, of sessions that are large."""
    with daemon(mode) as d:
        c = d.client(d.alice)
        many = [(big_session(c), Local(d, d.alice)) for _ in range(16)]
        for sid, j in many:
            eq(outcome(j.ask(start=True, image=sid,
                             request={"command": "start"})), "good",
               "it starts")
        before = roles(d)
        with Prober(d, d.alice) as p:
            for sid, j in many:
                j.put(session=sid, request={"command": "states"})
            for sid, j in many:
                eq(outcome(j.get()), "done", "it has said it all")
                eq(c.cmd("STATUS " + sid)["debugger"]["state"], "running",
                   "and the last is what is shown to who was answered")
            # any of them, again and again, is the one that is meant
            for n in range(4):
                for sid, j in many:
                    j.put(session=sid, use=True, request={"command": "x"})
                for sid, j in many:
                    eq(outcome(j.get()), "good", "each can be chosen")
            eq(sum(r["current"] for r in many[0][1].ask(list=True)["result"]),
               1, "one is")
            p.check("nobody else waits", 5)
        eq(roles(d), before, "no process was replaced")


def deaf(mode):
    """One that does not read costs the spawner no memory."""
    with daemon(mode) as d:
        j = Local(d, d.alice)
        eq(outcome(j.ask(start=True, name="x",
                         request={"command": "start"})), "good", "it starts")
        pid, size = KIND.of(d)[0], rss(d)
        os.kill(pid, signal.SIGSTOP)
        busy = 0
        for _ in range(200):
            x = Local(d, d.alice)
            x.put(session="x", request={"command": "y" * 59000})
            if select.select([x.s], [], [], 0.05)[0]:
                busy += outcome(x.get()) == "busy"
            x.close()
        ok(busy > 100, "soon it is asked no more", busy)
        ok(rss(d) - size < 4 * 1024, "the spawner has not grown",
           (size, rss(d)))
        os.kill(pid, signal.SIGCONT)
        ok(wait_for(lambda: outcome(j.ask(
            session="x", request={"command": "z"})) == "good"),
           "once it reads again it is asked again")


def has_left(d, c, j, name):
    """Whether its debugger gets a process outside of any sandbox."""
    eq(outcome(j.ask(session=name, request={"command": "host-run"})), "done",
       "it has asked for it")
    return bool(wait_for(lambda: [
        s for s in c.cmd("LIST") if s["name"] == name and
        s["state"] == "DEBUGGING" and s["sandbox"] == "none"], 2))


def leaving(mode):
    """Out of the sandbox, where the configuration knows no such sessions."""
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        far = Local(d, d.alice)
        ok("user" in far.cmd("AUTH " + c.cmd("TOKEN create")["token"]),
           "one comes with a token")
        for who, name in (j, "near"), (far, "far"), (j, "inside"):
            eq(outcome(who.ask(start=True, name=name,
                               request={"command": "start"})), "good",
               "it starts")
        eq(has_left(d, c, far, "far"), False, "not for who has a token")
        j.ask(session="inside", request={"command": "runs"})
        ok(wait_for(lambda: c.cmd("STATUS inside")["state"] == "DEBUGGING"),
           "one has had an adapter in a sandbox")
        c.cmd("KILL inside")
        eq(has_left(d, c, j, "inside"), False, "not after that")
        eq(has_left(d, c, j, "near"), mode == "user",
           "but in user mode for who is at home")


def two_at_once(mode):
    """Where an adapter is about to be there is no place for gdbserver."""
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        sid = c.upload(helper("sleeper"))["id"]
        c.cmd("START " + sid)
        eq(outcome(j.ask(start=True, session=sid,
                         request={"command": "start"})), "good", "it starts")
        os.kill(d.role_pid("launcher"), signal.SIGSTOP)
        try:
            eq(outcome(j.ask(session=sid, request={"command": "beside-run"})),
               "done", "it has asked for an adapter")
            c.send("DEBUG " + sid + "\n")
            ok(select.select([c.s], [], [], 10)[0], "DEBUG does not wait")
        finally:
            os.kill(d.role_pid("launcher"), signal.SIGCONT)
        eq(c.json().get("error_code"), "already_debugging",
           "as another is about to be attached")
        ok(wait_for(lambda: c.cmd("STATUS " + sid)["state"] == "DEBUGGING"),
           "which is there then")
        eq(c.cmd("DEBUG " + sid).get("error_code"), "already_debugging",
           "and alone")
        c.cmd("KILL " + sid)


def claims(mode):
    """What it says is the program is signalled only if it is the session's."""
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        other = c.upload(helper("sleeper"))["id"]
        victims = [1, d.proc.pid, d.role_pid("launcher"), os.getpid(),
                   c.cmd("START " + other)["pid"]]
        if d.bob is not None:
            b = d.client(d.bob)
            theirs = b.upload(helper("sleeper"))["id"]
            victims.append(b.cmd("START " + theirs)["pid"])
        j.ask(start=True, name="x", request={"command": "runs"})
        ok(wait_for(lambda: c.cmd("STATUS x").get("state") == "DEBUGGING"),
           "it has an adapter")
        eq(c.cmd("STATUS x")["pid"], None, "its program is not known yet")
        eq(c.cmd("SIGNAL x KILL").get("error_code"), "not_running",
           "and nothing else of it is signalled")
        victims += KIND.of(d) + [2 ** 31 - 1]
        for pid in victims:
            eq(outcome(j.ask(session="x",
                             request={"command": f"claims {pid}"})),
               "done", "it claims another process")
            eq((c.cmd("STATUS x")["pid"], c.cmd("SIGNAL x KILL").get(
                "error_code")), (None, "not_running"), "it is not believed")
        ok(all(alive(p) for p in victims[:-1]), "all of them live")
        with Prober(d, d.alice) as p:
            eq(outcome(j.ask(session="x", request={"command": "pids"})),
               "done", "many")
            p.check("nobody else waits", 3)
        own = [p for p in session_processes(c.cmd("STATUS x")["id"])
               if stat_of(p)[0] == "sleep"]
        eq(len(own), 1, "its own process")
        j.ask(session="x", request={"command": f"claims {own[0]}"})
        ok(wait_for(lambda: c.cmd("STATUS x")["pid"] == own[0]),
           "what is its own is shown", c.cmd("STATUS x"))
        # and the number of one that lived is not good for another
        j.ask(session="x", request={"command": f"claims {victims[4]}"})
        eq(c.cmd("STATUS x")["pid"], own[0], "and stays that")
        os.kill(d.role_pid("launcher"), signal.SIGKILL)
        ok(wait_for(lambda: c.cmd("SIGNAL x KILL").get("error_code") !=
                    "try_again"), "another launcher knows it as well")
        ok(wait_for(lambda: not alive(own[0])), "and is signalled")
        c.cmd("KILL " + other)


def last_words(mode):
    """Who has answered and gone has answered, whatever else is waited for."""
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        j.ask(start=True, name="x", request={"command": "runs"})
        ok(wait_for(lambda: c.cmd("STATUS x").get("state") == "DEBUGGING"),
           "it has an adapter")
        other = Local(d, d.alice)
        other.ask(session="x", request={"command": "y"})
        other.put(session="x", request={"command": "silent"})
        eq(outcome(j.ask(session="x", request={"command": "z"})), "good",
           "it has another request")
        # so that the process which it names is not found meanwhile
        os.kill(d.role_pid("launcher"), signal.SIGSTOP)
        try:
            eq(outcome(j.ask(session="x", request={"command": "last-words"})),
               "done", "its last answer comes")
            eq(outcome(other.get()), "debugger_lost",
               "and who gets none is told")
        finally:
            os.kill(d.role_pid("launcher"), signal.SIGCONT)
        ok(wait_for(lambda: clean_up(c), 15), "its session can be removed")


def too_many(mode):
    """One that never answers, asked by as many as there may be."""
    with daemon(mode) as d:
        j = [Local(d, d.alice) for _ in range(40)]
        eq(outcome(j[0].ask(start=True, name="x",
                            request={"command": "start"})), "good",
           "it starts")
        for x in j[1:]:
            x.put(session="x", request={"command": "silent"})
        r = j[0].ask(session="x", request={"command": "status"})
        eq(outcome(r), "good", "it can be asked while others wait")
        for x in j[1:20]:
            x.close()
        os.kill(KIND.of(d)[0], signal.SIGKILL)
        for x in j[20:]:
            r = x.get()
            if outcome(r) != "debugger_lost":
                ok(False, "who waits is told of its end", r)
        ok(True, "all who wait are told of its end")


run_tests(alone(every_mode), alone(by_bytes), alone(other_sessions),
          alone(late), alone(flood), alone(deaf), alone(leaving),
          alone(two_at_once), alone(claims), alone(last_words),
          alone(too_many))
