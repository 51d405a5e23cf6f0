#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# What goes on when a right to it has been taken back, and who keeps a place
# without a right: debuggers, input, and clients that never say who they are.
import ctypes
import os
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../e2e/lib"))
from dl import (ALICE, AS_ROOT, BOB, Client, Daemon, alone, eq, helper, ok,
                run_tests, system_with, wait_for)

SYSTEM = ("system",) if AS_ROOT else ()
NEWNET = 0x40000000
HERE = "198.51.100.1"


def daemon(conf=""):
    return system_with(ALICE, BOB, conf=conf)


def speaks(c):
    """Whether gdbserver is at the other end: it answers a packet."""
    c.send(b"$?#3f")
    c.s.settimeout(5)
    try:
        while b"$T" not in c.buf and b"$S" not in c.buf:
            more = c.s.recv(4096)
            if not more:
                return False
            c.buf += more
    except OSError:
        return False
    return True


def ends(c, seconds=8):
    """Whether the connection ends, whatever is sent before that."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        c.s.settimeout(max(0.1, end - time.monotonic()))
        try:
            if not c.s.recv(4096):
                return True
        except ConnectionError:
            return True
        except socket.timeout:
            pass
    return False


def pipe(c, sid):
    r = c.cmd("GDBPIPE " + sid)
    ok("error_code" not in r, "GDBPIPE", r)
    ok(speaks(c), "gdbserver answers over it")
    return c


def running(c, sid):
    return wait_for(lambda: c.cmd("STATUS " + sid)["state"] == "RUNNING")


def debugger_of_a_share(mode):
    with daemon() as d:
        a = d.client(ALICE)
        sid, _ = a.start(helper("sleeper"), until=b"ready")
        for last in (f"UNSHARE {sid} u{BOB}", f"SHARE {sid} u{BOB}:ro"):
            a.cmd(f"SHARE {sid} u{BOB}:rw")
            b = pipe(d.client(BOB), sid)
            r = a.cmd(f"SHARE {sid} daemon")
            eq(r.get("error_code"), "invalid_argument", "no such share")
            ok(speaks(b), "a share that failed changes nothing")
            a.cmd(last)
            ok(ends(b), f"{last.split()[0]} ends their debugger")
            ok(running(a, sid), "the session runs again")
        # the owner's own is nobody else's affair
        a.cmd(f"SHARE {sid} u{BOB}:rw")
        mine = pipe(d.client(ALICE), sid)
        a.cmd(f"UNSHARE {sid} u{BOB}")
        ok(not ends(mine, 4), "the owner's debugger stays")
        ok(speaks(mine), "and works")
        a.cmd("KILL " + sid)


def input_of_a_share(mode):
    with daemon() as d:
        a = d.client(ALICE)
        sid = a.upload("/bin/cat")["id"]
        a.cmd("START " + sid)
        for last, code in ((f"SHARE {sid} u{BOB}:ro", "read_only"),
                           (f"UNSHARE {sid} u{BOB}", "not_found")):
            a.cmd(f"SHARE {sid} u{BOB}:rw")
            b = d.client(BOB)
            b.send(f"INPUT {sid} 20\nbefore\n")
            a.until(sid, b"before\n")
            a.cmd(last)
            eq(b.json().get("error_code"), code, f"{last.split()[0]} ends "
               "the input that is under way")
            b.send("after\nLIST\n..\nWHOAMI\n")
            eq(b.json().get("user"), f"u{BOB}", "the rest of it is skipped")
        ok(b"after" not in a.output(sid), "and does not reach the program")
        a.cmd("KILL " + sid)


def debugger_of_a_token(mode):
    with daemon() as d:
        a = d.client(ALICE)
        t = a.cmd("TOKEN create")
        sid, _ = a.start(helper("sleeper"), until=b"ready")
        port = a.cmd("DEBUG " + sid)["debug_port"]
        ok(port, "a debug port is open")
        c = d.client(BOB)
        eq(c.cmd("AUTH " + t["token"])["user"], f"u{ALICE}", "by a token")
        pipe(c, sid)
        eq(a.cmd("STATUS " + sid)["debug_port"], None,
           "its place has been taken")
        e = d.client(ALICE)
        eq(e.cmd("GDBPIPE " + sid)["error_code"], "already_debugging",
           "by one only")
        ok(speaks(c), "who stays")
        a.cmd("TOKEN revoke " + t["id"])
        ok(ends(c), "the debugger ends with the token that it came by")
        ok(running(a, sid), "the session runs again")
        # a port whose place was taken by one who went away
        a.cmd("DEBUG " + sid)
        c = d.client(ALICE)
        # who has closed before it is known whose they are, has asked nothing
        c.cmd("WHOAMI")
        c.send(f"GDBPIPE {sid}\n")
        c.close()
        ok(running(a, sid), "who goes away leaves no debugger")
        a.cmd("KILL " + sid)


def slow_strangers(mode):
    """They keep a place for line-timeout, a byte now and then or not.

    The last test: this process stays in a network of its own."""
    if ctypes.CDLL(None, use_errno=True).unshare(NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    for argv in (("link", "set", "lo", "up"),
                 ("address", "add", HERE + "/32", "dev", "lo")):
        subprocess.run(["ip", *argv], check=True)
    with Daemon("system", f"listen on {HERE} plain\nline-timeout 2\n") as d:
        for name, bytes_ in (("blank lines", b"\n"), ("half a line", b"A")):
            c = Client(d.port, HERE)
            begun = time.monotonic()
            try:
                while time.monotonic() < begun + 10:
                    c.send(bytes_)
                    time.sleep(0.2)
            except OSError:
                pass
            ok(1.5 < time.monotonic() - begun < 5, "a stranger that sends "
               f"{name} is closed in time", time.monotonic() - begun)
        c = Client(d.port, HERE)
        eq(c.cmd("AUTH x")["error_code"], "auth_failed", "others may AUTH")


run_tests(alone(debugger_of_a_share, modes=SYSTEM),
          alone(input_of_a_share, modes=SYSTEM),
          alone(debugger_of_a_token, modes=SYSTEM),
          alone(slow_strangers, modes=SYSTEM))
