#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# A logger that has been taken over: it has the lines that come from then on,
# and nothing else.  A role that has been taken over says its own lines alone.
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from rogue import ROLE, blob, daemon, u32
from taken import KILLED, Stage, datagram
from dl import AS_ROOT, alive, alone, eq, helper, ok, run_tests, wait_for

PWRITE, FTRUNCATE, LSEEK, SHUTDOWN, CLOCK_GETTIME = 18, 77, 8, 48, 228
LEVEL_WARN, LEVEL_AUDIT = 1, 4
ROLES = ("netproc", "spawner", "launcher", "idproc", "announcer")


def taken(d, role):
    return stage.get(role, d.role_pid(role))


def session(d):
    c = d.client(d.alice)
    sid, s = c.start(helper("handler"), until=b"ready")
    return c, sid, s["pid"]


def names(c, sid, n):
    """So many lines of the audit log, each an answer as well."""
    t = time.monotonic()
    c.send("".join(f"NAME {sid} {'x' * 40}{i}\n" for i in range(n)))
    good = sum("error" not in c.recv_line().decode() for _ in range(n))
    return good, time.monotonic() - t


def reads_nothing(mode):
    """It may not be heard of again: users, roles and the stop go on."""
    with daemon(mode) as d:
        c, sid, pid = session(d)
        r = taken(d, "logger")
        for number, _, _ in r.peers().values():
            r.deaf(number)
        good, _ = names(c, sid, 20000)
        eq(good, 20000, "commands are obeyed though no line is read")
        old = d.role_pid("netproc")
        os.kill(old, signal.SIGKILL)
        ok(wait_for(lambda: d.role_pid("netproc") not in (None, old), 60),
           "a role that dies is started again")
        ok(alive(pid), "what ran before runs on")
        d.proc.send_signal(signal.SIGTERM)
        eq(d.proc.wait(30), 0, "the daemon stops")
        ok(not r.alive(), "and with it the logger")


def accuses(mode):
    """Two hold sessions, and are not ended; with the others it ends too."""
    with daemon(mode) as d:
        c, sid, pid = session(d)
        for role in ("spawner", "launcher", "netproc"):
            r, before = taken(d, "logger"), {x: d.role_pid(x) for x in ROLES}
            number, _, _ = r.peers()["parent"]
            try:
                r.send(number, datagram("VIOLATION", u32(ROLE[role], 0) +
                                        blob("lies\x1b[2J")))
            except EOFError:
                pass
            ok(wait_for(lambda: d.role_pid("logger") not in (None, r.pid),
                        60), f"who accuses {role} is ended", d.log()[-900:])
            want = {role} - {"spawner", "launcher"}
            ok(wait_for(lambda: {x for x in ROLES if d.role_pid(x) !=
                                 before[x] and d.role_pid(x)} == want, 60),
               f"and {want or 'nobody'} with it")
        ok(alive(pid), "what ran before runs on")
        ok(wait_for(lambda: "that launcher sent lies" in d.log(), 60) and
           "\x1b" not in d.log(), "the log has it, escaped", d.log()[-900:])


def floods_the_parent(mode):
    """It asks for the host's log without end, and is answered or ended."""
    with daemon(mode) as d:
        c, sid, pid = session(d)
        r = taken(d, "logger")
        number, _, _ = r.peers()["parent"]
        sent, _ = r.flood(number, 50000, 1500, datagram("HOSTLOG_LOST"))
        ok(sent > 100, "a flood of HOSTLOG_LOST", sent)
        eq(names(c, sid, 100)[0], 100, "the daemon serves")
        ok(alive(pid) and d.proc.poll() is None, "and lives")


def changes_the_past(mode):
    """What stands in the audit file stays."""
    with daemon(mode) as d:
        r = taken(d, "logger")
        # in the place of the audit file, whose flags it has as well
        eq([r.call(nr, 2, *args) for nr, args in (
            (FTRUNCATE, (0,)), (PWRITE, (b"x", 1, 0)))], [KILLED] * 2,
           "no file is shortened, or written elsewhere than at its end")
        eq(r.call(LSEEK, 2, 0, 0), -1, "nor gone back in")


def forges(mode):
    """Only the spawner says who did what."""
    for role in ("netproc", "idproc", "launcher"):
        with daemon(mode) as d:
            c, sid, pid = session(d)
            r, logger = taken(d, role), d.role_pid("logger")
            number, _, _ = r.peers()["logger"]
            try:
                r.send(number, datagram("LOG", u32(LEVEL_AUDIT) + blob(
                    "user=root action=FORGED"), request=10**6))
            except EOFError:
                pass
            ok(wait_for(lambda: d.role_pid("logger") not in (None, logger),
                        60), f"{role}: its link begins anew",
               d.log()[-900:])
            if role != "launcher":
                ok(wait_for(lambda: not r.alive(), 60),
                   f"{role}: it is ended")
            ok(wait_for(lambda: f"{role} broke the message table" in d.log(),
                        60), f"{role}: the log says so", d.log()[-900:])
            eq("FORGED" in d.log(), False, f"{role}: and has no such line")
            ok(alive(pid), f"{role}: what ran before runs on")


def speaks_for_itself_alone(mode):
    """A line has the name of the link by which it came."""
    with daemon(mode) as d:
        r = taken(d, "netproc")
        number, _, _ = r.peers()["logger"]
        eq(r.send(number, datagram("LOG", u32(LEVEL_WARN) + blob(
            "spawner: session= action=FORGED\x1b"), request=10**6)), 0,
           "a line is sent")
        ok(wait_for(lambda: "netproc: spawner: session= action=FORGED?" in
                    d.log()), "it is netproc's", d.log()[-900:])


def shuts_its_link(mode):
    """The next one of that role is heard all the same."""
    with daemon(mode) as d:
        r = taken(d, "netproc")
        _, _, fd = r.peers()["logger"]
        eq(r.call(SHUTDOWN, fd, 2), 0, "a role shuts its link down")
        os.kill(r.pid, signal.SIGKILL)
        n = stage.get("netproc", wait_for(lambda: d.role_pid("netproc") not in
                                          (None, r.pid) and
                                          d.role_pid("netproc"), 60))
        number, _, _ = n.peers()["logger"]
        n.send(number, datagram("LOG", u32(LEVEL_WARN) + blob("heard"),
                                request=1))
        ok(wait_for(lambda: "netproc: heard" in d.log()), "the next one is "
           "heard", d.log()[-900:])


def poisons_the_next(mode):
    """What it leaves in the memory that outlives it harms nobody."""
    with daemon(mode) as d:
        c, sid, pid = session(d)
        r = taken(d, "logger")
        with open(f"/proc/{r.pid}/maps") as f:
            at = [int(x.split("-")[0], 16) for x in f if "/memfd:log" in x][0]
        # copied there by the kernel: a clock's words as at, end and lost
        eq(r.call(CLOCK_GETTIME, 0, at), 0, "it writes to that memory")
        os.kill(r.pid, signal.SIGKILL)
        ok(wait_for(lambda: d.role_pid("logger") not in (None, r.pid), 60),
           "another one is started")
        before = d.role_pid("logger")
        eq(names(c, sid, 50)[0], 50, "commands are obeyed")
        ok(wait_for(lambda: d.log().count('action="NAME"') >= 50, 60),
           "and in the log", d.log()[-900:])
        eq(d.role_pid("logger"), before, "the next one lives")


stage = Stage(("logger", "netproc", "idproc", "launcher"))
run_tests(*[alone(t) for t in (
    reads_nothing, accuses, floods_the_parent, changes_the_past, forges,
    speaks_for_itself_alone, shuts_its_link)],
          alone(poisons_the_next, ("system", "user") if AS_ROOT else ()))
