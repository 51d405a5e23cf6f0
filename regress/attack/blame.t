#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Who is ended when a role breaks the rules of messages: whoever did it, and
# nobody whose end would cost others their sessions.
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from rogue import daemon
from taken import Stage, datagram
from dl import alive, alone, eq, helper, ok, run_tests, wait_for

ROLES = ("netproc", "spawner", "launcher", "idproc")


def pids(d):
    return {r: d.role_pid(r) for r in ROLES}


def session(d):
    c = d.client(d.alice)
    sid, s = c.start(helper("handler"), until=b"ready")
    return c, sid, s["pid"]


def breaks_the_table(d, sender, receiver):
    """With a message that there is not."""
    r = stage.get(sender, d.role_pid(sender))
    channel, generation, _ = r.peers()[receiver]
    try:
        r.send(channel, datagram(99999, generation=generation))
    except EOFError:
        # it is ended before it can tell that it was sent
        pass


# who sends what may not be sent, to whom, and who is ended for it
ENDED = (
    ("netproc", "spawner", {"netproc"}),
    ("netproc", "idproc", {"netproc"}),
    ("idproc", "netproc", {"idproc", "netproc"}),
    ("idproc", "spawner", {"idproc"}),
    ("spawner", "netproc", {"netproc"}),
    ("spawner", "idproc", {"idproc"}),
    ("launcher", "spawner", {"launcher"}),
    ("spawner", "launcher", {"spawner"}),
)


def one(mode, sender, receiver, want):
    name = f"{sender} to {receiver}"
    with daemon(mode) as d:
        _, sid, pid = session(d)
        before = pids(d)
        breaks_the_table(d, sender, receiver)
        ok(wait_for(lambda: all(d.role_pid(r) not in (None, before[r])
                                for r in want), 60),
           f"{name}: {' and '.join(sorted(want))} ended", d.log()[-1000:])
        # who comes now is served when all are back
        c = wait_for(lambda: client(d), 60)
        ok(c, f"{name}: and others serve")
        now = pids(d)
        eq({r for r in ROLES if now[r] != before[r]}, want,
           f"{name}: nobody else")
        if "spawner" not in want:
            eq([s["id"] for s in c.cmd("LIST")], [sid],
               f"{name}: the session is there")
            ok(alive(pid) and c.output(sid) == b"ready\n",
               f"{name}: its program lives, and its output is whole")
        eq(d.log().count("is ended:"), len(want), f"{name}: one line for "
           "each that is ended")


def client(d):
    """Of the new netproc, and known to it."""
    try:
        c = d.client(d.alice)
        return c if isinstance(c.cmd("LIST"), list) else None
    except (OSError, EOFError):
        return None


def in_the_wrong(mode):
    for row in ENDED:
        one(mode, *row)


def launcher_without_a_reserve(mode):
    """What one dies of, the next one does as well."""
    with daemon(mode) as d:
        _, sid, pid = session(d)
        both = [stage.get("launcher", p) for p in launchers(d)]
        # the one in reserve knows nobody yet
        active, reserve = sorted(both, key=lambda t: "spawner" not in
                                 t.peers())
        reserve.fragile("spawner")
        active.exit()
        ok(wait_for(lambda: not active.alive() and not reserve.alive() and
                    len(launchers(d)) == 2, 60),
           "two launchers end one after the other, and two are there",
           d.log()[-1000:])
        c = d.client(d.alice)
        ok(wait_for(lambda: "error_code" not in c.cmd("START " + c.upload(
            helper("handler"))["id"]), 60, 0.5), "programs start again",
           d.log()[-1000:])
        ok(alive(pid) and c.output(sid) == b"ready\n",
           "what ran before runs on")
        eq(d.proc.poll(), None, "the daemon has not ended")


def reserve_that_ended_at_once(mode):
    """Its launcher announces it after it was reaped, and is not to blame."""
    with daemon(mode) as d:
        _, sid, pid = session(d)
        before = pids(d)
        r = stage.get("launcher", before["launcher"])
        channel, generation, _ = r.peers()["parent"]
        eq(r.send(channel, datagram("CHAINED", generation=generation),
                  fds=1), 0, "a pidfd of a process that was reaped is sent")
        c = d.client(d.alice)
        ok("error_code" not in c.cmd("START " + c.upload(
            helper("handler"))["id"]), "programs start", d.log()[-1000:])
        eq((pids(d), d.log().count("is ended:")), (before, 0),
           "nobody is ended")
        ok(alive(pid) and c.output(sid) == b"ready\n",
           "what ran before runs on")


def reaped():
    """A pidfd of a process that is no more."""
    p = subprocess.Popen(["true"])
    fd = os.pidfd_open(p.pid)
    p.wait()
    return fd


def launchers(d):
    """Both, when both take orders."""
    def both():
        with stage.changed:
            there = [t.pid for t in stage.all if t.role == "launcher"]
        found = [p for p in d.children("launcher") if p in there]
        return found if len(found) == 2 else None
    return wait_for(both, 60) or []


stage = Stage(ROLES, flags=0, given=[reaped()])
run_tests(alone(in_the_wrong), alone(launcher_without_a_reserve),
          alone(reserve_that_ended_at_once))
