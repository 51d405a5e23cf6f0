#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# A session's debugger has been taken over: it costs its session its debugger,
# and nobody else anything.
import json
import os
import re
import select
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import rogue
from rogue import (BY_NAME, HEADER, PAYLOAD_MAX, ROWS, blob, daemon, u32)
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
    "writes": "debugger_lost", "deeds": "done",
    "bad-deed": "debugger_lost", "no-deed": "debugger_lost",
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
        ok("DEBUGGER pause" in d.log() and "DEBUGGER raw" not in d.log(),
           "and tells of nothing that nobody asked for")
        ok(d.log().count("result=\"ok\"\\x0a") < 1000, "and not full of it")
        good.ask(session="other", request={"command": "byes"})


# --- each message, by its bytes ------------------------------------------
NULL, CHANNEL, DIRECTORY = range(3)
OWN = [r for r in ROWS if (r["from"], r["to"]) == ("debugger", "spawner")]
HOST = 4                        # DBG_RUN_HOST: outside of any sandbox


def frame(what, payload=b"", length=None, size=None, fds=0, kind=NULL,
          generation=0, session=b""):
    """One datagram, as the rogue is told of it."""
    t = BY_NAME[what]["type"] if isinstance(what, str) else what
    length = len(payload) if length is None else length
    size = HEADER.size + len(payload) if size is None else size
    return f"{t}:{length}:{size}:{fds}:{kind}:{generation}:" \
        f"{session.hex()}:{payload.hex()}"


def sized(what, n, **kw):
    return frame(what, length=n, size=HEADER.size + n, **kw)


def state(phase=0, pid=0, ended=0, code=0, signal=0):
    return frame("DBG_STATE", u32(phase, pid, ended, code, signal))


def vec(*words):
    return blob(b"".join(w.encode() + b"\0" for w in words))


def run(flags=0, name="rogue", cwd="/", argv=vec("/bin/sleep", "1000"),
        env=vec(), shown=vec()):
    return frame("DBG_RUN", u32(flags) + blob(name) + blob(cwd) + argv +
                 env + shown)


def good(name):
    """One that is as its row wants it."""
    return {"DBG_STATE": state(), "DBG_RUN": run(),
            "DBG_DOES": frame("DBG_DOES", u32(1)),
            "DBG_LOG": frame("DBG_LOG", u32(0) + blob("x"))}.get(
        name, sized(name, BY_NAME[name]["min"]))


def wrong_sizes():
    for r in OWN:
        for n in (r["min"] - 1, r["max"] + 1):
            if 0 <= n <= PAYLOAD_MAX:
                yield f"{r['name']} of {n} bytes", [sized(r["name"], n)]
        n = r["min"]
        for told, sent in ((n + 1, n), (n, n + 1), (2 ** 32 - 1, n),
                           (n, -1), (n, -HEADER.size + 3)):
            yield f"{r['name']} with {sent} bytes told to be {told}", [
                frame(r["name"], length=told, size=HEADER.size + sent)]
    for n in (0, 1, HEADER.size - 1, HEADER.size + PAYLOAD_MAX + 1, 200000):
        yield f"a datagram of {n} bytes", [frame("DBG_KILL", size=n)]


def wrong_fds():
    for r in OWN:
        for kind in (NULL, CHANNEL, DIRECTORY):
            for n in (1, 2, 4):
                f = good(r["name"]).split(":")
                f[3:5] = [str(n), str(kind)]
                yield f"{r['name']} with {n} fds of kind {kind}", [":".join(f)]


def wrong_types():
    own = {r["type"] for r in OWN}
    for r in ROWS:
        if r["type"] not in own:
            yield f"{r['name']} is no word of its", [
                sized(r["name"], min(r["min"], PAYLOAD_MAX))]
    for t in (0, max(own) + 1000, 2 ** 31, 2 ** 32 - 1):
        yield f"type {t}", [frame(t)]
    for r in OWN:
        f = good(r["name"]).split(":")
        f[5] = "1"
        yield f"{r['name']} of another generation", [":".join(f)]


def wrong_values():
    for v in ((99,), (2 ** 32 - 1,), (0, 2 ** 31), (0, 2 ** 32 - 1),
              (0, 0, 2), (0, 0, 1, 256), (0, 0, 1, 0, 65),
              (0, 0, 1, 0, 2 ** 31)):
        yield f"state {v}", [state(*v)]
    yield "a level that there is not", [
        frame("DBG_LOG", u32(99) + blob("x"))]
    yield "a line that is longer than told", [
        frame("DBG_LOG", u32(0) + u32(4) + b"x")]
    yield "a line with a zero byte", [
        frame("DBG_LOG", u32(0) + blob(b"a\0b"))]
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
            "DBG_" + name, bytes.fromhex(good("DBG_" + name).split(":")[7]) +
            b"x")]
    for flags in (4, 1 << 31):
        yield f"an answer with flags {flags:x}", [frame(
            "DBG_REPLY", u32(flags) + b"{}")]
    yield "an answer to nothing", [frame("DBG_REPLY", u32(0) + b"{}")]


def after_the_end():
    for r in OWN:
        yield f"BYE, then {r['name']}", [good("DBG_BYE"), good(r["name"])]
    yield "an order, then BYE", [run(), good("DBG_BYE")]
    yield "an order, BYE, an order", [run(), good("DBG_BYE"), run()]


def harmless():
    """What is in order, though nobody would do it."""
    for r in OWN:
        if r["name"] not in ("DBG_REPLY", "DBG_BYE"):
            yield f"{r['name']} as it should be", [good(r["name"])]
    yield "KILL and DRAIN before anything runs", [
        good("DBG_KILL"), good("DBG_DRAIN"), good("DBG_KILL")]
    yield "two orders at once", [run(), run()]
    yield "an order that is killed at once", [run(), good("DBG_KILL")]
    yield "an end of what never ran", [state(5, 0, 1, 3), state(5, 0, 1, 0, 9)]
    yield "out of the sandbox, twice", [run(HOST), run(HOST)]
    yield "an adapter that is not there", [run(argv=vec("/no/such"))]
    yield "all phases", [state(n) for n in (1, 2, 3, 4, 5, 0, 4, 3)]


def sleepers(d):
    return [p for p in d.processes() if (stat_of(p) or ("",))[0] == "sleep"]


def each(d, c, j, cases, want):
    for name, frames in cases:
        r = j.ask(start=True, name="x", request={"command": "start"})
        if outcome(r) != "good":
            ok(False, f"{name}: it starts", r)
        r = j.ask(session="x", request={"command": "raw " + ",".join(
            frames)})
        if want == "done":
            eq(outcome(r), "done", f"{name}: who asked is told")
            eq(outcome(j.ask(session="x", request={"command": "after"})),
               "good", f"{name}: and it goes on")
        else:
            # an answer in the same breath as BYE may come through
            ok(outcome(r) == "debugger_lost" or (want == "gone" and
               outcome(r) == "done"), f"{name}: who asked is told", r)
            ok(wait_for(lambda: len(debuggers(d)) == 1, 15),
               f"{name}: the process is ended", debuggers(d))
        if not wait_for(lambda: clean_up(c) and not sleepers(d), 15):
            ok(False, f"{name}: nothing of it is left", (
                c.cmd("LIST"), sleepers(d)))


def by_bytes(mode):
    """Every message with wrong sizes, fds, values, in a wrong order."""
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        other = Local(d, d.alice)
        eq(outcome(other.ask(start=True, name="other",
                             request={"command": "start"})), "good",
           "another debugger")
        before, had, size = roles(d), fds(d), rss(d)
        with Prober(d, d.alice) as p:
            bad = [x for cases in (wrong_sizes, wrong_fds, wrong_types,
                                   wrong_values) for x in cases()]
            each(d, c, j, bad, "cut off")
            each(d, c, j, after_the_end(), "gone")
            each(d, c, j, harmless(), "done")
            p.check("nobody else waits", 5)
        # none has just ended by itself; of many lines a second some are lost
        lost = sum(int(n) for n in re.findall(
            r"spawner: (\d+) lines were left out", d.log()))
        cut = d.log().count("; it is ended")
        ok(cut > 20 and cut + lost > len(bad) * 0.9,
           "the log has who broke the table", (cut, lost, len(bad)))
        eq(outcome(other.ask(session="other", request={"command": "x"})),
           "good", "another session's debugger has not noticed")
        eq(roles(d), before, "no process was replaced")
        ok(wait_for(lambda: fds(d) == had, 15), "no fd is left",
           (had, fds(d)))
        ok(rss(d) - size < 16 * 1024, "the spawner has not grown",
           (size, rss(d)))


def other_sessions(mode):
    """What it says is about its own, whatever the header names."""
    with daemon(mode, "stop-timeout 1\n") as d:
        c, j = d.client(d.alice), Local(d, d.alice)
        for name in ("other", "x"):
            eq(outcome(j.ask(start=True, name=name,
                             request={"command": "start"})), "good",
               f"{name} starts")
        sid = bytes.fromhex(c.cmd("STATUS other")["id"].replace("-", ""))
        was = c.cmd("STATUS other")
        for f in (frame("DBG_STATE", u32(3, 0, 0, 0, 0), session=sid),
                  frame("DBG_KILL", session=sid),
                  frame("DBG_DRAIN", session=sid)):
            eq(outcome(j.ask(session="x", request={"command": "raw " + f})),
               "done", "it names another session")
        eq(c.cmd("STATUS x")["debugger"]["state"], "running",
           "its own is what it speaks of")
        j.ask(session="x", request={"command": "raw " + frame(
            "DBG_BYE", session=sid)})
        ok(wait_for(lambda: [s["name"] for s in c.cmd("LIST")] == ["other"]),
           "its own is what goes", c.cmd("LIST"))
        eq(c.cmd("STATUS other"), was, "the other one is as it was")


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
        eq(len(debuggers(d)), 1, "and no violation")


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
        os.kill(debuggers(d)[0], signal.SIGKILL)
        for x in j[20:]:
            if outcome(x.get()) != "debugger_lost":
                ok(False, "who waits is told of its end")
        ok(True, "all who wait are told of its end")


run_tests(alone(every_mode), alone(by_bytes), alone(other_sessions),
          alone(late), alone(flood), alone(deaf), alone(leaving),
          alone(two_at_once), alone(claims), alone(last_words),
          alone(too_many))
