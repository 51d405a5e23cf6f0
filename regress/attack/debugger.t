#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# A session's debugger has been taken over: it costs its session its debugger,
# and nobody else anything.
import json
import os
import select
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import rogue
from rogue import daemon
from dl import (AS_ROOT, SANITIZED, Client, Prober, alive, alone, eq, helper,
                ok, run_tests, session_processes, stat_of, status_of, wait_for)

rogue.with_roles(debugger=helper("rogue_debugger"))

# what it does, and what who asked for it is told: done = it goes on
MODES = {
    "never-asked": "debugger_lost", "another-conn": "done", "twice": "done",
    "huge": "debugger_lost", "endless": "debugger_lost",
    "garbage": "debugger_refused", "control": "debugger_refused",
    "open-end": "debugger_refused", "bad-flags": "debugger_lost",
    "bad-phase": "debugger_lost", "bad-state": "debugger_lost",
    "short-state": "debugger_lost", "others-words": "debugger_lost",
    "launchers-words": "debugger_lost", "principal": "debugger_lost",
    "unknown": "debugger_lost", "an-fd": "debugger_lost", "states": "done",
    "logs": "done", "drains": "done",
    "deaf-drains": "debugger_lost", "empty-pieces": "debugger_lost",
    "runs": "done", "host-run": "done",
    "bad-run": "debugger_lost", "bad-run-flags": "debugger_lost",
    "byes": "debugger_lost", "kills": "done", "dies": "debugger_lost",
    "aborts": "debugger_lost", "executes": "debugger_lost",
    "writes": "debugger_lost",
}


class Local(Client):
    def __init__(self, d, uid):
        super().__init__(d.dir + "/run/debuglantern.sock", uid=uid)

    def put(self, **args):
        self.send(json.dumps({"id": 1, "command": "debugger",
                              "args": args}).encode() + b"\n")

    def get(self):
        return json.loads(self.recv_line())

    def ask(self, **args):
        self.put(**args)
        return self.get()


def roles(d):
    return [d.role_pid(n) for n in ("netproc", "spawner", "launcher",
                                    "idproc")]


def rss(d):
    return int(status_of(d.role_pid("spawner"))["VmRSS"].split()[0])


def fds(d):
    return len(os.listdir(f"/proc/{d.role_pid('spawner')}/fd")) \
        if AS_ROOT else 0


def debuggers(d):
    return [p for p in d.processes()
            if (stat_of(p) or ("",))[0] == "debugger"]


def outcome(r):
    return r["error"]["code"] if "error" in r else r["result"]["mode"]


def one(d, c, j, how, want):
    r = j.ask(start=True, name="x", request={"command": "start"})
    eq(outcome(r), "good", f"{how}: it starts")
    got = outcome(j.ask(session="x", request={"command": how}))
    eq(got, want, f"{how}: who asked is told")
    if want in ("done", "debugger_refused"):
        eq(outcome(j.ask(session="x", request={"command": "after"})), "good",
           f"{how}: and what he asks next is answered")
    else:
        ok(wait_for(lambda: len(debuggers(d)) == 1, 15),
           f"{how}: the process is ended", debuggers(d))


def clean_up(c):
    s = next((s for s in c.cmd("LIST") if s["name"] == "x"), None)
    if s is None:
        return True
    if s["state"] in ("RUNNING", "DEBUGGING"):
        c.cmd("KILL " + s["id"])
    r = c.cmd("DELETE " + s["id"])
    return r.get("state") == "DELETED" or r.get("error_code") == "not_found"


def every_mode(mode):
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        good = Local(d, d.alice)
        eq(outcome(good.ask(start=True, name="other",
                            request={"command": "start"})), "good",
           "another debugger")
        before, had, size = roles(d), fds(d), rss(d)
        for how, want in MODES.items():
            if SANITIZED and how in ("executes", "writes"):
                continue    # the run time opens files of its own
            with Prober(d, d.alice) as p:
                one(d, c, j, how, want)
                p.check(f"{how}: nobody else waits", 3)
            ok(wait_for(lambda: clean_up(c), 15),
               f"{how}: its session can be removed")
            eq(outcome(good.ask(session="other",
                                request={"command": "x"})), "good",
               f"{how}: another session's debugger has not noticed")
            eq(roles(d), before, f"{how}: no process was replaced")
            ok(wait_for(lambda: fds(d) == had, 15),
               f"{how}: no fd is left", (had, fds(d)))
        ok(rss(d) - size < 32 * 1024, "the spawner has not grown",
           (size, rss(d)))
        ok("\x1b" not in d.log(), "the log is clean")
        ok(d.log().count("result=\"ok\"\\x0a") < 1000, "and not full of it")
        good.ask(session="other", request={"command": "byes"})


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
        pid, size = debuggers(d)[0], rss(d)
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


def claims(mode):
    """What it says is the program is signalled only if it is the session's."""
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        other = c.upload(helper("sleeper"))["id"]
        victims = [1, d.proc.pid, d.role_pid("launcher"), os.getpid(),
                   c.cmd("START " + other)["pid"]]
        if d.bob is not None:
            b = d.client(d.bob)
            his = b.upload(helper("sleeper"))["id"]
            victims.append(b.cmd("START " + his)["pid"])
        j.ask(start=True, name="x", request={"command": "runs"})
        ok(wait_for(lambda: c.cmd("STATUS x").get("state") == "DEBUGGING"),
           "it has an adapter")
        eq(c.cmd("STATUS x")["pid"], None, "its program is not known yet")
        eq(c.cmd("SIGNAL x KILL").get("error_code"), "not_running",
           "and nothing else of it is signalled")
        victims += debuggers(d) + [2 ** 31 - 1]
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
        os.kill(debuggers(d)[0], signal.SIGKILL)
        for x in j[20:]:
            if outcome(x.get()) != "debugger_lost":
                ok(False, "who waits is told of its end")
        ok(True, "all who wait are told of its end")


run_tests(alone(every_mode), alone(flood), alone(deaf), alone(leaving),
          alone(claims), alone(too_many))
