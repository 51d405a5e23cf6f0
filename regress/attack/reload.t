#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# Setup, which reads the configuration at a reload, was taken over by a directory
# service's module: it ends nobody and changes nothing, and the next reload is
# obeyed.
import os
import signal
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e", "lib"))
from dl import (AS_ROOT, Daemon, alone, eq, helper, ok, run_tests, stat_of,
                wait_for)
from rogue import ROWS

TYPES = {x["name"]: x["type"] for x in ROWS}
HAS_EVIL = ("echo passwd: files dlevil >/run/dl-evil.conf; "
            "mount --bind /run/dl-evil.conf /etc/nsswitch.conf; "
            "rm /run/dl-evil.conf; exec \"$@\"")
WHY = "the configuration was not reloaded"


def serves(d):
    c = d.client(uid=d.uid)
    try:
        return len(c.cmd("LIST")) == 1
    finally:
        c.close()


class Evil(Daemon):
    """A daemon whose host has the module."""

    def __init__(self, mode, tmp):
        os.symlink(helper("nss_evil"), tmp + "/libnss_dlevil.so.2")
        super().__init__(
            mode, env=dict(os.environ, LD_LIBRARY_PATH=tmp),
            wrapper=["unshare", "-m", "sh", "-ec", HAS_EVIL, "sh"])
        with open(self.conf_path) as f:
            self.base = f.read()
        self.sid = self.client(uid=self.uid).start(
            helper("sleeper"), until=b"ready")[0]
        self.roles = self.children()

    def reload(self, more=""):
        """What the log has of it when it is over."""
        seen = len(self.log())
        self.write_conf(self.base + more)
        self.proc.send_signal(signal.SIGHUP)
        wait_for(lambda: "reloaded" in self.log()[seen:], 30)
        wait_for(lambda: not self.readers(), 30)
        return self.log()[seen:]

    def readers(self):
        return [p for p, n in self.children().items() if n == "setup"]

    def as_before(self, what):
        eq(self.proc.poll(), None, f"{what}: the daemon goes on")
        eq({p: n for p, n in self.children().items() if n != "setup"},
           self.roles, f"{what}: so do all roles")
        ok(serves(self), f"{what}: it serves")
        text = self.reload("line-timeout 29\n")
        ok("was reloaded" in text, f"{what}: the next reload is obeyed", text)


def name(what):
    return f"quota user evil-{what} sessions 1\n"


def each(mode, tmp):
    with Evil(mode, tmp) as d:
        text = d.reload(name("parent"))
        ok(WHY in text and "NOT REFUSED" not in text,
           "nothing is done to the parent", text)
        d.as_before("against the parent")
        for what in ("crash", "exit"):
            text = d.reload(name(what))
            ok(f"{WHY}: setup has ended before it was done" in text,
               f"{what}: the log has it", text)
            d.as_before(what)
        text = d.reload(name(f"flood{TYPES['PLAN_LOG']}"))
        ok(WHY in text and text.count("flooding") < 300,
           "a flood of lines is cut off", text[-500:])
        d.as_before("a flood")


def every_message(mode, tmp):
    """Empty ones and junk of each type, and types that there are none of."""
    with Evil(mode, tmp) as d:
        for n in (0, *TYPES.values(), len(ROWS) + 1, 2 ** 32 - 1):
            text = d.reload(name(n))
            if WHY not in text or "was reloaded" in text:
                ok(False, f"type {n} changes nothing", text)
        d.as_before("messages of all types")


def one_that_hangs(mode, tmp):
    """It holds up nobody, and is gone when the daemon stops."""
    with Evil(mode, tmp) as d:
        d.write_conf(d.base + name("hang"))
        d.proc.send_signal(signal.SIGHUP)
        pid = wait_for(d.readers, 30)[0]
        ok(serves(d), "the daemon serves meanwhile")
        # one more, which waits for the first
        d.proc.send_signal(signal.SIGHUP)
        ok(serves(d), "and after another signal")
        eq(d.readers(), [pid], "one at a time")
        d.proc.terminate()
        eq(d.proc.wait(10), 0, "the stop ends it")
        ok(wait_for(lambda: stat_of(pid) is None, 10), "it is gone")


def in_tmp(fn):
    """With a directory of its own, which every user can read."""
    def test(mode):
        with tempfile.TemporaryDirectory(prefix="dl-evil-") as tmp:
            os.chmod(tmp, 0o755)
            fn(mode, tmp)
    test.__name__ = fn.__name__
    return alone(test)


run_tests(*([in_tmp(f) for f in (each, every_message, one_that_hangs)]
            if AS_ROOT else []))
