#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# An adapter that says yes and does nothing, refuses what it does, or ends in
# between: a relay before the real lldb-dap 19 does so with chosen requests.
# Each request ends in an error, the program stays as it is for everybody, and
# the session is of use when the adapter does what it is asked again.
import contextlib
import json
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from dbgadapters import WORK, built, source_line
from dbgeditor import Editor
from dbgrig import Failed, Rig
from dl import Daemon, copy_source, eq, ok, run_tests, stat_of, wait_for
from fake_debugger import DEBUGGER, environment, run

BODY = source_line("prog.c", "int y = x * x")
# a command, its arguments, the adapter's request for it
RESUMES = (
    ("next", {}, "next"),
    ("step", {}, "stepIn"),
    ("finish", {}, "stepOut"),
    ("continue", {}, "continue"),
    ("next", {"granularity": "instruction"}, "evaluate"),
    ("until", {"file": os.path.join(WORK, "prog.c"), "line": BODY + 2},
     "continue"),
)
BOUND = 60              # seconds for what has its answer in two


class Relay:
    """The engine, with the relay before lldb-dap."""

    def __init__(self, *options):
        self.where = tempfile.mkdtemp(dir=WORK)
        self.orders = os.path.join(self.where, "orders")
        command = "%s %s lldb-dap-19" % (
            os.path.join(HERE, "lib/relay_adapter.py"), self.orders)
        self.r = Rig(None, ["-A", "lldb-dap=" + command, "-i", "60", *options])

    def order(self, **conduct):
        with open(self.orders + ".new", "w") as f:
            json.dump(conduct, f)
        os.rename(self.orders + ".new", self.orders)

    def unheard(self, request):
        """How often that was asked for and not passed on."""
        try:
            with open(self.orders + ".log") as f:
                return f.read().split().count(request)
        except FileNotFoundError:
            return 0

    def start(self, *args, **kw):
        return self.r.ask("start", program="./prog", cwd=WORK,
                          args=list(args), adapter="lldb-dap", **kw)

    def in_square(self, **kw):
        """Stopped at a breakpoint of the function that is called thrice."""
        self.start(stop_on_entry=False, breaks=[
            {"function": "square", "cwd": WORK, **kw}])
        s = self.r.ask("status")
        eq(s["frame"]["function"].split("(")[0], "square", "in square")
        return s


@contextlib.contextmanager
def relay(*options):
    x = Relay(*options)
    with x.r:
        yield x


def refusal(r, n, what):
    """The error that request n ends with, in time."""
    ok(wait_for(lambda: r.answered(n), BOUND), f"{what}: it is answered")
    try:
        return {"not an error": r.answer(n)}
    except Failed as e:
        return e.error


def place(s):
    return (s["state"], s["reason"], s["frame"]["line"], s["breakpoints"])


def has_cause_and_remedy(message, command, what):
    ok('did not do "%s"' % command in message and
       "has not moved" in message and "`debugger continue`" in message,
       f"{what}: the cause and the remedy", message)


def usable(x, what, hits=None):
    """Everything works: the relay does what it is asked."""
    r = x.r
    ok(r.ask("backtrace")["frames"], f"{what}: bt")
    if hits is not None:
        eq(r.ask("breakpoint_list")["breakpoints"][0]["hits"], hits,
           f"{what}: the breakpoint was hit no more often")
    eq(r.ask("pause")["state"], "stopped", f"{what}: pause of what stands")
    eq(r.ask("next")["reason"], "step", f"{what}: next")
    s = r.ask("continue")
    eq((s["state"], s["reason"]), ("stopped", "breakpoint"),
       f"{what}: continue to the next hit")
    ok(s["breakpoints"] != [], f"{what}: which is told", s)
    ok("terminated" in r.ask("stop")["state"], f"{what}: stop")


# --- says yes and does not ---------------------------------------------------
def deaf(command, args, request, conduct):
    what = f"{command} {'by instruction ' if 'granularity' in args else ''}" \
        f"({conduct})"
    with relay() as x:
        before = x.in_square()
        x.order(**{request: conduct})
        beside = x.r.send("await", conn=2, since=before["epoch"])
        e = refusal(x.r, x.r.send(command, **args), what)
        eq(e.get("code"), "refused", f"{what} is refused")
        has_cause_and_remedy(e["message"], command, what)
        s = x.r.ask("status")
        eq(place(s), place(before), f"{what}: it stands as before")
        has_cause_and_remedy(s.get("refused", ""), command, f"{what}: status")
        has_cause_and_remedy(x.r.answer(beside).get("refused", ""), command,
                             f"{what}: the client beside")
        eq(x.unheard(request), 1, f"{what}: it was asked for once")
        x.order()
        usable(x, what, 1)


def requests_that_move_nothing_are_refused():
    for row in RESUMES:
        deaf(*row, "yes")


def says_that_it_runs():
    for row in RESUMES[:1] + RESUMES[3:4]:
        deaf(*row, "continued")


def without_waiting():
    """The answer was given: the state tells, and to whoever asks."""
    for command, args, request in RESUMES:
        what = f"{command} --no-wait"
        with relay() as x:
            before = x.in_square()
            x.order(**{request: "yes"})
            s = x.r.ask(command, wait=False, **args)
            eq(s["state"], "running", f"{what} is answered at once")
            s = x.r.ask("await", conn=2, since=s["epoch"], timeout_s=BOUND)
            eq(place(s), place(before), f"{what}: await: it stands as before")
            has_cause_and_remedy(s.get("refused", ""), command, what)
            ok("refused" in x.r.ask("status"), f"{what}: status, later")
            x.order()
            eq("refused" in x.r.ask("next"), False, f"{what}: next is a step")
            eq(x.r.ask("continue")["reason"], "breakpoint", f"{what}: goes on")


def editors():
    for theirs, ours in (("next", "next"), ("stepIn", "step"),
                         ("stepOut", "finish"), ("continue", "continue")):
        what = f"an editor's {theirs}"
        with relay() as x:
            before = x.in_square()
            e, beside = Editor(x.r), Editor(x.r, conn=30)
            for one in (e, beside):
                one.join()
                one.ask("configurationDone")
                one.event("stopped")
            x.order(**{theirs: "yes"})
            e.ask(theirs, threadId=before["thread"]["id"])
            for one in (e, beside):
                one.event("continued")
                said = one.take(lambda m: m.get("event") == "output" and
                                "has not moved" in m["body"]["output"])
                has_cause_and_remedy(said["body"]["output"], ours, what)
                eq(one.event("stopped")["reason"], "breakpoint",
                   f"{what}: stopped as before")
            ok(e.ask("stackTrace", threadId=before["thread"]["id"])
               ["stackFrames"], f"{what}: its stack")
            x.order()
            e.ask("next", threadId=before["thread"]["id"])
            eq(e.event("stopped")["reason"], "step", f"{what}: next")
            eq(x.r.ask("continue")["reason"], "breakpoint", f"{what}: goes on")


def many_steps():
    with relay() as x:
        before = x.in_square()
        x.order(next="yes")
        e = refusal(x.r, x.r.send("next", count=5), "next --count 5")
        has_cause_and_remedy(e["message"], "next", "next --count 5")
        eq(place(x.r.ask("status")), place(before), "not one step was done")
        eq(x.unheard("next"), 1, "and none was asked for after it")
        x.order()
        usable(x, "next --count 5", 1)


# --- stops that only a step or pause shows -----------------------------------
def not_let_go_unseen():
    """The condition of the breakpoint under it does not hold: what refused
    to go on stays where it is, and nothing more is asked for."""
    for conduct in ("yes", "no"):
        with relay() as x:
            x.start()
            b = x.r.ask("breakpoint_add", function="square", cwd=WORK,
                        condition="x == 77", hit_count=1)["breakpoint"]["id"]
            s = x.r.ask("step")
            while s["frame"]["function"].split("(")[0] != "square":
                s = x.r.ask("step")
            before = place(s)
            x.order(**{"continue": conduct})
            e = refusal(x.r, x.r.send("continue"), f"continue ({conduct})")
            eq(e.get("code"), "refused", f"continue ({conduct}) is refused")
            time.sleep(2)
            s = x.r.ask("status")
            eq(place(s), before, f"({conduct}) it stands as before")
            eq(x.unheard("continue"), 1, f"({conduct}) asked for once")
            x.order()
            s = x.r.ask("continue")
            eq(s.get("exit"), {"code": 3}, f"({conduct}) runs to its end")
            eq(b, 1, "one breakpoint")


def hit_that_is_none():
    """The program is let go at hits that do not count: if the adapter does
    not do so, the stop is shown."""
    for conduct in ("yes", "no"):
        with relay() as x:
            x.start()
            x.r.ask("breakpoint_add", function="square", cwd=WORK,
                    condition="x >= 0", hit_count=3)
            x.order(**{"continue": ["does", conduct]})
            n = x.r.send("continue")
            ok(wait_for(lambda: x.r.answered(n), BOUND),
               f"({conduct}) it is answered")
            time.sleep(1)
            s = x.r.ask("status")
            ok(s["state"] == "stopped" and "continue" in s["refused"] or
               "refused to go on" in s["refused"], f"({conduct}) the stop "
               "is shown, and why", s)
            eq(s["frame"]["function"].split("(")[0], "square",
               f"({conduct}) where it stands")
            eq(x.unheard("continue"), 1, f"({conduct}) asked for once")
            x.order()
            s = x.r.ask("continue")
            eq((s["reason"], s["breakpoints"]), ("breakpoint", [1]),
               f"({conduct}) stopped at the third hit")
            eq(x.r.ask("breakpoint_list")["breakpoints"][0]["hits"], 3,
               f"({conduct}) which is counted as such")


def stop_told_late():
    """It has run and stands: its stop is on its way, as on a busy host."""
    with relay() as x:
        x.in_square()
        x.order(**{"continue": "late"})
        s = x.r.ask("continue")
        eq((s["reason"], s["breakpoints"], "refused" in s),
           ("breakpoint", [1], False), "it is waited for")
        x.order()
        usable(x, "after a late stop", 2)


# --- other misconduct --------------------------------------------------------
def refuses_what_it_did():
    for command, request in (("next", "next"), ("continue", "continue")):
        what = f"{command} that is done and refused"
        with relay() as x:
            before = x.in_square()
            x.order(**{request: "did"})
            e = refusal(x.r, x.r.send(command), what)
            ok("the relay says no" in e.get("message", ""), f"{what}: error",
               e)
            x.order()
            stopped = ("stopped", "step" if command == "next" else
                       "breakpoint")

            def arrived():
                # one answer: it may run on between two
                s = x.r.ask("status")
                return (s["state"], s.get("reason")) == stopped and \
                    s["epoch"] > before["epoch"]
            ok(wait_for(arrived, BOUND), f"{what}: where it is now",
               x.r.ask("status"))
            s = x.r.ask("status")
            frames = x.r.ask("backtrace")["frames"]
            eq(frames[0]["line"], s["frame"]["line"], f"{what}: bt agrees")
            eq(s["breakpoints"], [] if command == "next" else [1],
               f"{what}: why it has stopped")
            usable(x, what)


def runs_although_refused():
    """A refusal is not believed while the kernel runs the program."""
    with relay() as x:
        x.start("loop")
        # an adapter answers before the kernel has let the program run
        x.order(**{"continue": "ran"})
        e = x.r.refused("continue")
        ok("the program runs" in e.get("message", "") and
           "`debugger pause`" in e["message"], "the cause and the remedy", e)
        x.order()
        eq(x.r.ask("status")["state"], "running", "it runs, and that is said")
        eq(x.r.ask("pause")["reason"], "pause", "it can be paused")
        eq(x.r.ask("continue", wait=False)["state"], "running", "and let run")
        eq(x.r.ask("pause")["reason"], "pause", "and paused again")


def runs_later_although_refused():
    """It is refused, and done two seconds later without an event: from then
    on the program runs for every client, until it stops somewhere."""
    with relay() as x:
        x.start("loop")
        e = Editor(x.r)
        e.join()
        e.ask("configurationDone")
        e.event("stopped")
        # the kernel is asked when a client asks, and from time to time
        for asks in (True, False):
            x.order(**{"continue": "later"})
            why = x.r.refused("continue")
            ok("the relay says no" in why.get("message", ""),
               "the client has its refusal", why)
            s = x.r.ask("status")
            ok(s["state"] == "stopped" and "the relay says no" in
               s.get("refused", ""), "it stands, and that is said", s)
            x.order()
            # of the request that was refused
            e.event("continued")
            e.event("stopped")
            if asks:
                ok(wait_for(lambda: stat_of(s["pid"])[1] != "t", BOUND),
                   "the kernel runs it")
                eq(x.r.ask("status")["state"], "running", "status: it runs")
            e.event("continued")
            for command in ("backtrace", "next", "locals"):
                why = x.r.refused(command)
                ok(why.get("code") == "not_stopped" and "the program is "
                   "running: `debugger pause`" in why["message"],
                   f"{command}: it runs, and what helps", why)
            s = x.r.ask("pause")
            eq((s["state"], s["reason"], "refused" in s),
               ("stopped", "pause", False), "pause stops it")
            e.event("stopped")
            ok(x.r.ask("backtrace")["frames"], "and bt is that of now")
    with relay() as x:
        x.in_square()
        x.order(**{"continue": "later"})
        x.r.refused("continue")
        x.order()
        s = x.r.ask("status")
        s = x.r.ask("await", since=s["epoch"], timeout_s=BOUND)
        eq((s["state"], s["reason"], s["breakpoints"]),
           ("stopped", "breakpoint", [1]), "await: its next stop")
        usable(x, "refused and done later", 2)


def answers_twice():
    with relay() as x:
        x.in_square()
        x.order(next="twice")
        s = x.r.ask("next")
        eq(s["reason"], "step", "the first answer counts")
        eq(x.r.ask("status")["reason"], "step", "also later")
        x.order()
        usable(x, "answers twice", 1)


def does_not_answer():
    for command, wait in (("next", True), ("continue", False)):
        what = f"{command} without an answer"
        with relay("-r", "20") as x:
            before = x.in_square()
            x.order(**{command: "silent"})
            e = refusal(x.r, x.r.send(command, wait=wait), what)
            ok(e.get("code") in ("refused", "timeout"), f"{what}: error", e)
            ok(wait_for(lambda: x.r.ask("status")["state"] == "stopped",
                        BOUND), f"{what}: it stands")
            eq(place(x.r.ask("status")), place(before), f"{what}: as before")
            x.order()
            usable(x, what, 1)


def dies():
    for wait in (True, False):
        with relay() as x:
            x.in_square()
            x.order(next="dies")
            n = x.r.send("next", wait=wait)
            ok(wait_for(lambda: x.r.ask("status")["state"] == "terminated",
                        BOUND), "the adapter has ended, and that is told")
            if wait:
                eq(refusal(x.r, n, "next")["code"], "adapter_exited",
                   "which ends the step with an error")
            eq(x.r.refused("next")["code"], "not_running", "no more steps")
            x.order()
            eq(x.r.ask("restart")["state"], "stopped", "it can begin anew")
            usable(x, "after the end of an adapter")


# --- pausing, beginning, leaving ---------------------------------------------
def pauses():
    """A program that runs on is told to run; the next pause stops it."""
    with relay("-r", "20") as x:
        x.start("loop")
        x.r.ask("continue", wait=False)
        x.order(pause="yes")
        n = x.r.send("pause")
        ok(wait_for(lambda: x.r.answered(n), BOUND), "pause is answered")
        s = x.r.answer(n)
        ok(s["state"] == "running" and "told to pause" in s["words"],
           "it still runs, and that is said", s)
        eq(x.r.ask("pause", wait=False)["state"], "running", "pause --no-wait")
        x.order()
        eq(x.r.ask("pause", conn=2)["reason"], "pause", "another pause")
        eq(x.r.ask("continue", wait=False)["state"], "running", "continue")
        eq(x.r.ask("pause")["reason"], "pause", "and a third")
        eq(x.r.ask("stop")["state"], "terminated", "stop")


def untold():
    """It says by itself that the program runs, which stands."""
    with relay() as x:
        before = x.in_square()
        x.order(evaluate="continued")
        x.r.last += 1
        x.r.raw({"conn": 1, "rw": True, "id": x.r.last, "command": "raw",
                 "args": {"command": "thread list"}})
        x.r.answer(x.r.last)
        eq(x.unheard("evaluate"), 1, "it said so")
        x.order()
        ok(wait_for(lambda: x.r.ask("status")["state"] == "stopped", BOUND),
           "it stands")
        eq(place(x.r.ask("status")), place(before), "where it was")
        usable(x, "unasked for", 1)


def begins():
    for command in ("start", "restart"):
        with relay() as x:
            if command == "restart":
                x.in_square()
            x.order(configurationDone="yes")
            n = x.r.send("restart") if command == "restart" else x.r.send(
                "start", program="./prog", cwd=WORK, adapter="lldb-dap")
            e = refusal(x.r, n, command)
            eq(e.get("code"), "refused", f"{command} is refused")
            ok("has not moved" in e.get("message", ""), f"{command}: why", e)
            eq(x.r.ask("status")["state"], "stopped", f"{command}: it stands")
            x.order()
            ok(x.r.ask("backtrace")["frames"], f"{command}: bt")
            eq(x.r.ask("restart").get("state"), "stopped",
               f"{command}: restart")
            eq(x.r.ask("next")["reason"], "step", f"{command}: next")


def leaves():
    with relay() as x:
        x.in_square()
        x.order(disconnect="yes")
        n = x.r.send("detach")
        e = refusal(x.r, n, "detach")
        ok(e.get("code") == "refused" and "still" in e.get("message", ""),
           "detach is refused", e)
        x.order()
        usable(x, "detach", 1)


# --- as people type it -------------------------------------------------------
def command_line():
    where = tempfile.mkdtemp(dir=WORK)
    os.chmod(where, 0o777)
    orders = os.path.join(where, "orders")
    copied = copy_source(os.path.join(HERE, "lib/relay_adapter.py"), where)
    conf = 'adapter lldb-dap command "/usr/bin/python3 %s %s ' \
        '/usr/bin/lldb-dap-19"\n' % (copied, orders)
    with Daemon("user", conf=conf) as d:
        kw = {} if d.uid is None else {
            "user": d.uid, "group": d.uid, "extra_groups": []}
        home = os.path.join(where, "home")
        os.mkdir(home)
        if d.uid is not None:
            os.chown(home, d.uid, d.uid)
        env = environment(home)
        env["DEBUGLANTERN_SOCKET"] = d.dir + "/run/debuglantern.sock"

        def dbg(*argv):
            return run([DEBUGGER, *argv], env, cwd=WORK, timeout=120, **kw)

        def order(text):
            with open(orders + ".new", "w") as f:
                f.write(text)
            os.rename(orders + ".new", orders)

        r = dbg("start", "./prog", "--adapter", "lldb-dap", "-b", "square")
        eq(r.code, 0, "started")
        for words in ("next", "step", "finish", "continue", "until %d" %
                      (BODY + 2)):
            command = words.split()[0]
            order('{"next": "yes", "stepIn": "yes", "stepOut": "yes", '
                  '"continue": "yes"}')
            r = dbg(*words.split())
            eq(r.code, 1, f"{words} fails")
            has_cause_and_remedy(r.err, command, words)
            r = dbg(*words.split(), "--no-wait")
            eq(r.code, 0, f"{words} --no-wait is answered at once")
            r = dbg("await", "--timeout", str(BOUND))
            has_cause_and_remedy(r.out, command, f"await after {words}")
            has_cause_and_remedy(dbg("status").out, command,
                                 f"status after {words}")
            order("{}")
            ok("square" in dbg("bt").out, f"{words}: bt")
            r = dbg("next")
            ok(r.code == 0 and "has not moved" not in r.out,
               f"{words}: next works", r)
            r = dbg("restart")
            ok(r.code == 0 and "square" in r.out, f"{words}: restart works",
               r)
        eq(dbg("stop").code, 0, "stop")


TESTS = (requests_that_move_nothing_are_refused, says_that_it_runs,
         without_waiting, editors, many_steps,
         not_let_go_unseen, hit_that_is_none, stop_told_late,
         refuses_what_it_did, runs_although_refused,
         runs_later_although_refused, answers_twice,
         does_not_answer, dies, pauses, untold, begins, leaves, command_line)

if __name__ == "__main__":
    built("prog.c", "cc", "-g", "-O0", "-pthread", "-o", "prog", "prog.c")
    run_tests(*TESTS)
