#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# Hostile programs on terminals: what is typed by nobody, terminals of
# others, terminals of all, and programs that do not want to go.
import itertools
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e", "lib"))
from dl import (ALICE, AS_ROOT, BOB, MODES, Daemon, alone, eq, helper,
                in_modes, ok, passwd_wrapper, run_tests)
from terminals import Tty

KINDS = ("none", "namespaces", "tmpfs")
ALL_KINDS = "allow-sandbox none, namespaces, tmpfs\nstop-timeout 1\n"


class Ttys:
    """The attacker, uploaded and started, on a terminal if nothing is said."""

    def __init__(self, c, args, kind, flags="--tty"):
        self.c = c
        self.sid = c.upload(helper("ttys"))["id"]
        c.cmd(f"ARGS {self.sid} {args}")
        r = c.cmd(f"START {self.sid} --sandbox {kind} {flags}".strip())
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

    def tries(self):
        """Outcome for each terminal that it has found."""
        self.wait()
        return dict(line.split("=") for line in self.text().split()
                    if line.startswith("/dev/pts/"))

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
    for kind, flags in itertools.product(KINDS, ("--tty", "")):
        victim = Tty(b, "cat", flags="--sandbox none")
        mine = Tty(a, "cat", flags="--sandbox none")
        said = Ttys(a, "others", kind, flags).tries()
        how = f"{kind} {flags}".strip()
        if kind == "none":
            ok("EACCES" in said.values(), f"{how}: others' are refused", said)
        else:
            eq(said, {}, f"{how}: others have no name inside")
            eq(mine.text(), b"", f"{how}: nor those of the same user")
        eq(victim.text(), b"", f"{how}: another user's terminal is untouched")
        victim.end()
        mine.end()


def no_terminals_are_left(d):
    a, b = d.client(ALICE), d.client(BOB)
    for kind, (flags, most) in itertools.product(KINDS[1:], (
            ("--tty", 63), ("", 16))):
        hogs = [Ttys(a, "many", kind, flags) for _ in range(3)]
        for h in hogs:
            a.until(h.sid, b"ready")
            ok(f"opened={most} errno=ENOSPC" in h.text(), f"{kind} {flags}: "
               f"a session opens {most} terminals", h.text())
        t = Tty(b, "echo there")
        eq(t.wait()["exit_code"], 0, f"{kind} {flags}: others get theirs")
        for h in hogs:
            h.kill()


def kernel_has(name):
    with open("/proc/sys/kernel/pty/" + name) as f:
        return int(f.read())


def many_sessions_leave_terminals(mode):
    """The more sessions there may be, the fewer terminals has each."""
    room = kernel_has("max") - kernel_has("reserve")
    for sessions in (room // 10, 4096):
        most = min(max(room // sessions, 1), 16)
        with Daemon(mode, f"max-sessions {sessions}\n") as d:
            c = d.client()
            for flags, n in (("", most), ("--tty", most - 1)):
                h = Ttys(c, "many", "namespaces", flags)
                c.until(h.sid, b"ready")
                ok(f"opened={n} errno=ENOSPC" in h.text(),
                   f"{sessions} sessions: {n} terminals {flags}", h.text())
                h.kill()
            row = next(r for r in c.cmd("DEPS")["deps"]
                       if r["name"] == "terminals")
            eq((row["available"], "kernel.pty.max" in row.get("remedy", ""),
                f"{most} of a session" in row["description"]),
               (most >= 8, most < 8, True), f"{sessions} sessions: DEPS tells")


# a /dev with consoles of ALICE's: files, as only their names matter
CONSOLES = """for n in null zero full random urandom tty ptmx; do
    touch $0/$n; mount --bind /dev/$n $0/$n; done
mkdir $0/pts $0/shm; mount --bind /dev/pts $0/pts
mount --bind /dev/shm $0/shm
for n in console tty0 tty1 tty2 ttyS7 hvc0 ttyS3; do
    echo typed >$0/$n; chown $1 $0/$n; done
chown 0 $0/tty1; chmod 600 $0/*[0-9] $0/console
echo tty0 ttyS7 hvc0 >$0/active; chmod 644 $0/active
mount --bind $0/active /sys/class/tty/console/active
mount --rbind $0 /dev; shift
exec "$@"
"""


def consoles_are_hidden(mode):
    """After a login at a console it is its user's, with what is typed."""
    with tempfile.TemporaryDirectory(prefix="dl-consoles-") as dev:
        os.chmod(dev, 0o755)
        with passwd_wrapper(ALICE) as accounts, Daemon(
                mode, ALL_KINDS, wrapper=accounts + [
                    "unshare", "-m", "sh", "-ec", CONSOLES, dev,
                    str(ALICE)]) as d:
            c = d.client(ALICE)
            for kind in KINDS:
                sid = c.upload("/bin/cat")["id"]
                c.cmd(f"ARGS {sid} /dev/console /dev/tty0 /dev/tty1 /dev/tty2 "
                      "/dev/ttyS7 /dev/hvc0")
                c.cmd(f"START {sid} --sandbox {kind}")
                c.cmd(f"WAIT {sid} 20")
                eq(c.output(sid).count(b"typed\n"), 5 * (kind == "none"),
                   f"{kind}: its owner's consoles are read with none only, "
                   "serial ones and those of hypervisors among them")
                c.cmd(f"ARGS {sid} /dev/ttyS3")
                c.cmd(f"START {sid} --sandbox {kind}")
                c.cmd(f"WAIT {sid} 20")
                eq(c.output(sid).count(b"typed\n"), int(kind != "tmpfs"),
                   f"{kind}: a serial line that is no console is read")


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
            Daemon(mode, ALL_KINDS + "max-sessions 48\n",
                   wrapper=wrapper) as d:
        terminals_of_others(d)
        no_terminals_are_left(d)


run_tests(
    in_modes(nothing_is_typed_by_programs, masters_are_the_daemons,
             a_terminal_is_not_stolen, nobody_stays, floods_delay_nobody,
             terminals_that_flap, a_thousand_sizes, conf=ALL_KINDS),
    alone(many_sessions_leave_terminals),
    alone(consoles_are_hidden, MODES if AS_ROOT else ()),
    alone(two_users, modes=("system",) if AS_ROOT else ()))
