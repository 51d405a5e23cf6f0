#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# The logger's end: what roles say meanwhile waits for the next one, and the
# daemon goes on without it.
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (Daemon, alive, alone, eq, helper, ok, run_tests, wait_for)


def kill_logger(d):
    old = d.role_pid("logger")
    os.kill(old, signal.SIGKILL)
    ok(wait_for(lambda: d.role_pid("logger") not in (None, old)),
       "a logger that was killed is started again")


def named(d, sid):
    """How often that session was given a name, as the log has it."""
    return d.log().count(f'session={sid} action="NAME"')


def acts(c, sid, n):
    """So many lines of the audit log."""
    c.send("".join(f"NAME {sid} n{i}\n" for i in range(n)))
    for _ in range(n):
        c.recv_line()


def killed_at_work(d):
    """Of what is said while loggers die, each line is there, or its loss."""
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    for _ in range(4):
        c.send("".join(f"NAME {sid} n{n}\n" for n in range(250)))
        kill_logger(d)
        for _ in range(250):
            c.recv_line()

    def lost():
        return sum(int(n) for n in re.findall(
            r"spawner: as the logger was killed, (\d+) lines", d.log()))
    ok(wait_for(lambda: named(d, sid) + lost() >= 1000, 60),
       "each line is in the log, or its loss",
       (named(d, sid), lost()))
    ok(wait_for(lambda: d.log().count("logger was ended by signal 9") == 4),
       "and the end of each logger", d.log()[-1000:])
    ok(lost() < 20, "what is lost is the line in hand", lost())


def killed_while_idle(d):
    """What is said after one is dead and before the next reads is kept."""
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    for _ in range(3):
        kill_logger(d)
    old = d.role_pid("logger")
    # the next is started after a while
    os.kill(old, signal.SIGKILL)
    wait_for(lambda: not alive(old))
    acts(c, sid, 100)
    ok(wait_for(lambda: named(d, sid) == 100), "nothing is lost",
       (named(d, sid), d.log()[-1000:]))
    eq("may be lost" in d.log(), False, "nor is it said")


def hangs(d):
    """A logger that stands still stops nothing but the log."""
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    pid = d.role_pid("logger")
    os.kill(pid, signal.SIGSTOP)
    acts(c, sid, 100)
    old = d.role_pid("netproc")
    os.kill(old, signal.SIGKILL)
    ok(wait_for(lambda: d.role_pid("netproc") not in (None, old)),
       "another role that dies is started again")
    eq(named(d, sid), 0, "the log stands still")
    os.kill(pid, signal.SIGCONT)
    ok(wait_for(lambda: named(d, sid) == 100 and
                "netproc was ended by signal 9" in d.log()),
       "and has all of it when the logger goes on", d.log()[-1000:])


def hangs_at_the_stop(mode):
    with Daemon(mode) as d:
        pid = d.role_pid("logger")
        os.kill(pid, signal.SIGSTOP)
        t = time.monotonic()
        d.proc.send_signal(signal.SIGTERM)
        eq(d.proc.wait(20), 0, "the daemon stops")
        ok(time.monotonic() - t < 10, "soon", time.monotonic() - t)
        ok(not alive(pid), "and with it the logger")
        ok("the last lines of the log are lost" in d.log(),
           "which is said", d.log()[-500:])


def dies_at_the_stop(mode):
    """The parent has a word for that as well."""
    with Daemon(mode) as d:
        spawner = d.role_pid("spawner")
        os.kill(spawner, signal.SIGSTOP)
        d.proc.send_signal(signal.SIGTERM)
        ok(wait_for(lambda: "stopping" in d.log()), "it stops")
        os.kill(d.role_pid("logger"), signal.SIGKILL)
        os.kill(spawner, signal.SIGCONT)
        eq(d.proc.wait(20), 0, "the daemon stops")
        ok("the last lines of the log are lost" in d.log(),
           "which is said", d.log()[-500:])


def audit_file_goes_on(mode):
    class Prepared(Daemon):
        def write_conf(self, text):
            super().write_conf(text.replace("$DIR", self.dir))

    with Prepared(mode, 'audit-file "$DIR/audit"\n') as d:
        def lines(word):
            with open(d.dir + "/audit") as f:
                return sum(word in x for x in f)
        c = d.client()
        sid = c.upload(helper("hello"))["id"]
        kill_logger(d)
        acts(c, sid, 20)
        ok(wait_for(lambda: lines("NAME") == 20) and lines("UPLOAD") == 1,
           "the next logger adds to the same file")


def each(fn):
    """A daemon for each: what one logger has done delays the next."""
    def run(mode):
        with Daemon(mode) as d:
            fn(d)
    run.__name__ = fn.__name__
    return alone(run)


run_tests(*[each(t) for t in (killed_at_work, killed_while_idle, hangs)],
          *[alone(t) for t in (hangs_at_the_stop, dies_at_the_stop,
                               audit_file_goes_on)])
