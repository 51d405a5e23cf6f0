#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# The daemon's helpers have been taken over: a gdbserver and an archiver that
# say whatever they like, too much of it, or nothing.
import os
import shutil
import socket
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import rogue
from rogue import daemon
from dl import (AS_ROOT, Prober, alive, alone, connect, eq, helper, ok,
                run_tests, session_processes, status_of, tar_of, wait_for)

rogue.with_roles(archiver=helper("garbage"))
MODES_OF_GDBSERVER = ("exit", "words", "attached", "liar", "flood", "closes",
                      "deaf", "children")


def rss(d):
    return int(status_of(d.role_pid("spawner"))["VmRSS"].split()[0])


def fds(d):
    return len(os.listdir(f"/proc/{d.role_pid('spawner')}/fd")) \
        if AS_ROOT else 0


def roles(d):
    return [d.role_pid(n) for n in ("netproc", "spawner", "launcher",
                                    "idproc")]


def use_port(d, port, seconds=1.0):
    """A debugger that reads what comes and says a little."""
    try:
        with connect("127.0.0.1", port, d.alice, 5) as s:
            s.settimeout(seconds)
            s.sendall(b"$?#3f")
            while s.recv(1 << 20):
                seconds -= 0.001
                if seconds < 0:
                    return
    except OSError:
        pass


def debuggers(mode):
    for how in MODES_OF_GDBSERVER:
        # where every session's mounts show it, and programs run
        path = f"{tempfile.gettempdir()}/dl-garbage-{os.getpid()}-{how}"
        shutil.copy(helper("garbage"), path)
        os.chmod(path, 0o755)
        try:
            with daemon(mode, f'gdbserver "{path}"\nstop-timeout 1\n') as d:
                debugger(d, how)
        finally:
            os.unlink(path)


def debugger(d, how):
    c, other = d.client(d.alice), d.client(d.alice)
    before, had = roles(d), fds(d)
    sid, s = c.start(helper("handler"), until=b"ready")
    size = rss(d)
    with Prober(d, d.alice) as p:
        r = c.cmd("DEBUG " + sid)
        ok(r.get("error_code") == "debug_failed" or "debug_port" in r,
           f"gdbserver {how}: DEBUG is answered", r)
        ok("\x1b" not in str(r) and "\x07" not in str(r),
           f"gdbserver {how}: its words are escaped", r)
        eq("debug_port" in r, how in ("flood", "deaf", "children"),
           f"gdbserver {how}: only one that has attached gets a port")
        if r.get("debug_port"):
            use_port(d, r["debug_port"])
        p.check(f"gdbserver {how}: nobody else waits", 3)
    ok(rss(d) - size < 16 * 1024, f"gdbserver {how}: the spawner does not "
       "grow", (size, rss(d)))
    ok(alive(s["pid"]), f"gdbserver {how}: the program lives")
    eq(other.cmd("KILL " + sid).get("state"), "STOPPED",
       f"gdbserver {how}: KILL ends the session")
    ok(wait_for(lambda: not session_processes(sid)),
       f"gdbserver {how}: and all that it left")
    eq(other.cmd("DELETE " + sid).get("state"), "DELETED",
       f"gdbserver {how}: DELETE removes it")
    eq(roles(d), before, f"gdbserver {how}: no process was replaced")
    ok(wait_for(lambda: fds(d) == had), f"gdbserver {how}: no fd is left",
       (had, fds(d)))
    leftover = [x for x in d.processes() if "garbage" in
                status_of(x).get("Name", "")]
    eq(leftover, [], f"gdbserver {how}: nor a process")
    ok("\x1b" not in d.log(), f"gdbserver {how}: the log is clean")


ARCHIVES = {
    # what the archiver does: whether there is a session then
    "exit": False, "half": False, "escapes": False, "kinds": False,
    "flood": False, "nothing": None, "huge": None, "twice": None,
    "reports": False, "fifo": None, "link": None, "fill": None,
}


def archives(mode):
    with daemon(mode, "max-total-bytes 32M\nbundle-max-bytes 16M\n") as d:
        c = d.client(d.alice)
        c.start(helper("handler"), until=b"ready")
        before, had = roles(d), fds(d)
        for how, session in ARCHIVES.items():
            archive(d, c, how, session)
            ok(wait_for(lambda: fds(d) == had),
               f"archiver {how}: no fd is left", (had, fds(d)))
            eq(roles(d), before, f"archiver {how}: no process was replaced")
        eq([s["state"] for s in c.cmd("LIST")], ["RUNNING"],
           "what else there is runs on")
        ok(rss(d) < 64 * 1024, "the spawner has not grown", rss(d))
        ok("\x1b" not in d.log(), "the log is clean")
        c.cmd("KILL " + c.cmd("LIST")[0]["id"])


def archive(d, c, how, session):
    data = tar_of(("x", b"x"))
    with Prober(d, d.alice) as p:
        r = c.upload(data, how)
        p.check(f"archiver {how}: nobody else waits", 3)
    text = str(r)
    ok("\x1b" not in text and "\x07" not in text,
       f"archiver {how}: its words are clean", r)
    if session is False:
        ok("error_code" in r, f"archiver {how}: UPLOAD fails", r)
        return
    if "id" not in r:
        ok("error_code" in r, f"archiver {how}: UPLOAD fails", r)
        return
    ok(r["size"] <= 16 << 20, f"archiver {how}: it takes what it takes", r)
    s = c.cmd("START " + r["id"])
    ok("error_code" in s or how in ("link",), f"archiver {how}: START of "
       "what is not there fails", s)
    c.cmd("KILL " + r["id"])
    eq(c.cmd("DELETE " + r["id"]).get("state"), "DELETED",
       f"archiver {how}: it can be deleted")
    eq(session_processes(r["id"]), [], f"archiver {how}: nothing is left")


run_tests(alone(debuggers), alone(archives))
