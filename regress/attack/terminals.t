#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# Hostile programs on terminals: what is typed by nobody, terminals of
# others, terminals of all, and programs that do not want to go.
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e", "lib"))
from dl import (ALICE, AS_ROOT, BOB, Daemon, alone, eq, helper, in_modes, ok,
                passwd_wrapper, run_tests)
from terminals import Tty

KINDS = ("none", "namespaces", "tmpfs")
ALL_KINDS = "allow-sandbox none, namespaces, tmpfs\nstop-timeout 1\n"


class Ttys:
    """The attacker, uploaded and started on a terminal."""

    def __init__(self, c, args, kind, flags=""):
        self.c = c
        self.sid = c.upload(helper("ttys"))["id"]
        c.cmd(f"ARGS {self.sid} {args}")
        r = c.cmd(f"START {self.sid} --tty --sandbox {kind} {flags}".strip())
        if "error_code" in r:
            raise RuntimeError(f"START: {r}")
        self.pid = r["pid"]

    def wait(self, seconds=30):
        return self.c.cmd(f"WAIT {self.sid} {seconds}")

    def text(self):
        return self.c.output(self.sid).decode(errors="replace")

    def said(self):
        self.wait()
        return dict(line.split("=", 1) for line in self.text().split("\r\n")
                    if "=" in line)

    def kill(self):
        return self.c.cmd("KILL " + self.sid)


def nothing_is_typed_by_programs(d):
    c = d.client()
    for kind in KINDS:
        said = Ttys(c, "push", kind).said()
        eq(said.pop("tty", None), "0", f"{kind}: it has a terminal")
        eq(said, {k: "EPERM" for k in ("sti", "sti.tty", "sti.high", "linux",
                                       "linux.high", "console", "vhangup")},
           f"{kind}: and cannot type on it, nor hang it up")


def masters_are_the_daemons(d):
    c = d.client()
    for kind in KINDS[1:]:
        eq(Ttys(c, "masters", kind).said(), {"masters": "0"},
           f"{kind}: no process inside has a master")


def terminals_of_others(d):
    """Of another user, and of the same user's other sessions."""
    a, b = d.client(ALICE), d.client(BOB)
    for kind in KINDS:
        victim = Tty(b, "cat", flags="--sandbox none")
        mine = Tty(a, "cat", flags="--sandbox none")
        at = Ttys(a, "others", kind)
        at.wait()
        said = dict(line.split("=") for line in at.text().split("\r\n")
                    if line.startswith("/dev/pts/"))
        if kind == "none":
            ok("EACCES" in said.values(), f"{kind}: others' are refused", said)
        else:
            eq(said, {}, f"{kind}: others have no name inside")
            eq(mine.text(), b"", f"{kind}: nor those of the same user")
        eq(victim.text(), b"", f"{kind}: another user's terminal is untouched")
        victim.end()
        mine.end()


def no_terminals_are_left(d):
    a, b = d.client(ALICE), d.client(BOB)
    for kind in KINDS[1:]:
        hogs = [Ttys(a, "many", kind) for _ in range(3)]
        for h in hogs:
            a.until(h.sid, b"ready")
            ok("opened=63 errno=ENOSPC" in h.text(),
               f"{kind}: a session gets 64 terminals", h.text())
        t = Tty(b, "echo there")
        eq(t.wait()["exit_code"], 0, f"{kind}: others get theirs")
        for h in hogs:
            h.kill()


def a_terminal_is_not_stolen(d):
    c = d.client()
    for kind in KINDS:
        victim = Tty(c, "sh -c 'tty; cat'", flags=f"--sandbox {kind}")
        name = victim.until(b"\r\n").split()[0].decode()
        at = Ttys(c, f"steal {name}", kind)
        said = at.said()
        eq(said.get("ctty.stolen"), "EPERM", f"{kind}: not by a new session")
        ok(said.get("ctty.other", "EPERM") == "EPERM" or kind != "none",
           f"{kind}: nor another session's", said)
        victim.type(b"still\n")
        ok(b"still\r\nstill\r\n" in victim.until(b"still\r\nstill\r\n"),
           f"{kind}: the other terminal works")
        victim.end()


def nobody_stays(d):
    c = d.client()
    for kind in KINDS:
        at = Ttys(c, "stay", kind)
        r = at.wait(60)
        eq((r["state"], r["exit_code"]), ("STOPPED", 9),
           f"{kind}: who ignores all signals is ended after the program")
        at = Ttys(c, "flood", kind)
        eq(c.cmd("STOP " + at.sid)["state"], "STOPPED", f"{kind}: STOP")


def floods_delay_nobody(d):
    """Others' sessions go on, and what is shown is their own."""
    a, b = d.client(), d.client()
    floods = [Ttys(a, "flood", "namespaces") for _ in range(4)]
    t = Tty(b, "cat")
    slowest = 0
    for i in range(20):
        line = b"line %d\n" % i
        began = time.monotonic()
        t.type(line)
        b.until(t.sid, b"\r\n".join([line.rstrip()] * 2))
        slowest = max(slowest, time.monotonic() - began)
    ok(slowest < 5, "an echo comes during four floods", slowest)
    for _ in range(3):
        eq(b.cmd("LIST")[0]["state"], "RUNNING", "and so do answers")
    for f in floods:
        eq(f.kill()["state"], "STOPPED", "a flood is ended by KILL")
    t.end()


def terminals_that_flap(d):
    c = d.client()
    at = Ttys(c, "flap", "namespaces")
    r = at.wait(60)
    eq((r["state"], r["exit_code"]), ("STOPPED", 0),
       "a terminal that is opened and closed 20,000 times")
    total = c.cmd(f"OUTPUT {at.sid} 999999999")["total"]
    eq(total, 20000 * 6, "loses nothing")


def a_thousand_sizes(d):
    c = d.client()
    t = Tty(c, "sh -c \"trap 'n=x\\$n' WINCH; echo go; while :; do sleep .1; "
            "done\"")
    t.until(b"go")
    for i in range(1000):
        s = t.resize(20 + i % 200, 10 + i % 50)
    eq((s["cols"], s["rows"]), (219, 59), "1000 sizes")
    t.end()


def two_users(mode):
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, ALL_KINDS, wrapper=wrapper) as d:
        terminals_of_others(d)
        no_terminals_are_left(d)


run_tests(
    in_modes(nothing_is_typed_by_programs, masters_are_the_daemons,
             a_terminal_is_not_stolen, nobody_stays, floods_delay_nobody,
             terminals_that_flap, a_thousand_sizes, conf=ALL_KINDS),
    alone(two_users, modes=("system",) if AS_ROOT else ()))
