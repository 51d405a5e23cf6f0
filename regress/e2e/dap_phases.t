#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# An adapter that is killed, ends, hangs, floods or babbles, in each phase of
# a session: whoever waits is told, the state is right, nothing is left of it,
# and the next start works.
import os
import shutil
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dbgrig import CONVERSATIONS, Failed, Rig
from dl import eq, helper, ok, run_tests, wait_for

WORK = tempfile.mkdtemp(prefix="dl-dap-")
# one that is well, by the name of another kind
GOOD = ["-A", f"codelldb={helper('mock_adapter')} "
        f"{os.path.abspath(CONVERSATIONS)}/order22.conv"]
QUICK = GOOD + ["-i", "1", "-r", "2"]
CAN = '{"supportsConfigurationDoneRequest":true}'

# What is said before it goes wrong, in the order of a session.
SPOKEN = ["include auto.inc", "< initialize", "ok initialize " + CAN,
          "< launch"]
BREAKS = SPOKEN + ["ev initialized", "ok launch",
                   "auto setBreakpoints", "< setBreakpoints"]
CONFIGURED = SPOKEN + ["ev initialized", "ok launch",
                       "< configurationDone"]
STOP = 'ev stopped {"reason":"entry","threadId":4711}'
# a stop of which nobody is told more
BARE = [x for x in CONFIGURED if x != "include auto.inc"] + [
    "ok configurationDone", STOP]
STOPPED = CONFIGURED + ["ok configurationDone", STOP]
RUNNING = STOPPED + ["< continue", "ok continue"]


def start(r, **kw):
    return r.start(**kw)


def with_break(r):
    return r.start(breaks=[{"file": "/nowhere/a.c", "line": 3}])


def after(*commands):
    """Starts it, then does these; the last one meets the trouble."""
    def go(r):
        r.start()
        for c in commands[:-1]:
            r.ask(c[0], **c[1])
        return r.ask(commands[-1][0], **commands[-1][1])
    return go


GO = ("continue", {"wait": False})
LONG = ("continue", {"timeout_s": 4})
TOLD = ["initializing", "configuring", "running", "stopped"]

# phase: what is said before, what is done, the states that are told
PHASES = {
    "at once": ([], start, TOLD[:1]),
    "initialize": (SPOKEN[:2], start, TOLD[:1]),
    "launch": (SPOKEN, start, TOLD[:1]),
    "no initialized": (SPOKEN + ["ok launch"], start, TOLD[:1]),
    "setBreakpoints": (BREAKS, with_break, TOLD[:2]),
    "configurationDone": (CONFIGURED, start, TOLD[:3]),
    "stopped": (BARE, start, TOLD[:3]),
    "continue": (STOPPED + ["< continue"], after(LONG), TOLD + ["running"]),
    "running": (RUNNING, after(LONG), TOLD + ["running"]),
    "pause": (RUNNING + ["< pause"], after(GO, ("pause", {})),
              TOLD + ["running"]),
    "evaluate": (STOPPED + ['< evaluate {"expression":"slow()"}'],
                 after(("print", {"expression": "slow()"})), TOLD),
}


class Checks:
    """What is found out beside others, to be said when all have ended."""

    def __init__(self, phase):
        self.phase = phase
        self.found = []

    def ok(self, cond, name, detail=None):
        self.found.append((bool(cond), f"{self.phase}: {name}", detail))

    def eq(self, got, want, name):
        self.ok(got == want, name, f"got {got!r}, want {want!r}")


def each(fn, phases):
    """fn(checks, phase), some at a time: most of it is waiting."""
    places = threading.Semaphore(3)
    all_of = [Checks(p) for p in phases]

    def one(c):
        with places:
            try:
                fn(c, c.phase)
            except Exception as e:  # noqa: one of many
                c.ok(False, "ran to its end", repr(e)[:3000])
    threads = [threading.Thread(target=one, args=(c,)) for c in all_of]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for c in all_of:
        for found in c.found:
            ok(*found)


class Trouble:
    """A conversation that ends like this."""

    def __init__(self, phase, how):
        said, self.act, self.told = PHASES[phase]
        self.path = os.path.join(tempfile.mkdtemp(dir=WORK), "said")
        os.symlink(os.path.join(os.path.abspath(CONVERSATIONS), "auto.inc"),
                   os.path.join(os.path.dirname(self.path), "auto.inc"))
        self.write(said + how)

    def write(self, lines):
        with open(self.path + ".conv", "w") as f:
            f.write("\n".join(lines) + "\n")

    def rig(self, options=GOOD):
        return Rig(self.path, options)

    def go(self, r):
        """What became of it: an answer, or an error."""
        try:
            return self.act(r)
        except Failed as e:
            return e.error


def begins_anew(c, r):
    c.eq(r.start(adapter="codelldb")["state"], "stopped",
         "the next start works")
    c.ok("words" in r.ask("stop"), "and is stopped")
    gone(c, r)


def gone(c, r):
    c.ok(wait_for(lambda: not r.tree(), 60), "no process is left", r.tree())


def told(r):
    return [s["state"] for s in r.states]


# --- it ends -------------------------------------------------------------
def ends(how, word):
    """Each phase ends with the adapter, which is said."""
    def one(c, phase):
        t = Trouble(phase, how)
        with t.rig() as r:
            got = t.go(r)
            c.eq(got.get("code"), "adapter_exited", "who waits is told")
            c.ok(word in got.get("message", ""), "of what", got)
            c.eq(told(r), t.told + ["terminated"], "the states")
            s = r.ask("status")
            c.eq((s["state"], s["adapter"]["alive"], "exit" in s),
                 ("terminated", False, False), "it is over")
            c.eq(r.refused("next")["code"], "not_running", "nothing runs")
            gone(c, r)
            begins_anew(c, r)
    each(one, PHASES)


def killed():
    ends(["kill 9"], "SIGKILL")


def exits():
    ends(["stderr 3", "exit 7"], "complaint 2")


def babbles():
    ends(["raw Hello!\\r\\n\\r\\n", "hang"], "Content-Length")


def counts_backwards():
    ends(["raw Content-Length: -20\\r\\n\\r\\n{}", "hang"],
         "Content-Length")


def ends_at_its_end():
    """When all is over anyway, how the adapter ends is no news."""
    def one(c, how):
        for last, state in ((["ev terminated {}", "< disconnect"],
                             "terminated"),
                            (['ev exited {"exitCode":4}'], "exited")):
            t = Trouble("running", last + [how])
            with t.rig() as r:
                s = t.go(r)
                c.eq(s.get("state"), state, "it has ended")
                c.eq(s.get("exit"), {"code": 4} if state == "exited" else
                     None, "with what is known of it")
                begins_anew(c, r)
    each(one, ("kill 6", "hang", "exit 3"))


def ends_while_it_lets_go():
    def one(c, how):
        t = Trouble("running", [])
        t.write(STOPPED + ["< disconnect", how])
        with t.rig(QUICK) as r:
            r.start()
            got = r.refused("detach")
            if how == "hang":
                c.eq(got.get("code"), "timeout", "it does not let go")
            else:
                c.eq(got["not an error"]["state"], "idle", "detached")
            c.eq(told(r)[-1], "idle", "which is told")
            c.eq(r.ask("status")["state"], "idle", "and stays")
            begins_anew(c, r)
    each(one, ("kill 9", "exit 0", "hang"))


# --- it does not answer --------------------------------------------------
# phase: the error, or the state, that its silence ends in
SILENCE = {
    "at once": "timeout", "initialize": "timeout", "launch": "timeout",
    "no initialized": "timeout", "setBreakpoints": "not_verified",
    "configurationDone": "timeout", "stopped": "stopped",
    "continue": "running", "running": "running", "pause": "timeout",
    "evaluate": "timeout",
}
STARTS = ("at once", "initialize", "launch", "no initialized",
          "setBreakpoints", "configurationDone")


def does_not_answer(how, phases=tuple(PHASES)):
    def one(c, phase):
        t = Trouble(phase, how)
        with t.rig(QUICK) as r:
            got = t.go(r)
            c.eq(got.get("code", got.get("state")), SILENCE[phase],
                 "who waits is told")
            if phase in STARTS:
                c.eq(told(r), t.told + ["terminated"], "the states")
                gone(c, r)
            else:
                c.eq(r.ask("status", conn=2)["state"], "stopped"
                     if phase == "stopped" else t.told[-1],
                     "others see where it stands")
                c.ok("words" in r.ask("stop", conn=2), "it is ended")
            begins_anew(c, r)
    each(one, phases)


def hangs():
    does_not_answer(["hang"])


def is_deaf():
    does_not_answer(["deaf"])


def floods_with(body):
    return [f"flood 1000000000 {body}"]


def floods():
    """Endless words of no meaning, and no answer between them."""
    does_not_answer(floods_with('somethingNew {"a":[1,2,{"b":null}]}'))


def floods_of_output():
    does_not_answer(floods_with(
        'output {"category":"console","output":"0123456789\\n"}'),
        ("initialize", "setBreakpoints", "stopped", "running", "evaluate"))


def floods_of_stops():
    """One that stops and goes on, or stops without end, can be ended."""
    does_not_answer(floods_with('stopped {"reason":"step","threadId":1}'),
                    ("launch", "setBreakpoints"))
    def one(c, phase):
        t = Trouble(phase, floods_with(
            'stopped {"reason":"step","threadId":1}'))
        with t.rig(QUICK) as r:
            r.start()
            n = r.send("continue" if phase == "running" else "print",
                       expression="slow()")
            c.eq(r.ask("breakpoint_list", conn=2)["breakpoints"], [],
                 "others are answered")
            c.ok("state" in r.ask("status", conn=2),
                 "also who asks where it stands")
            c.ok("words" in r.ask("stop", conn=3), "it is ended")
            begins_anew(c, r)
            r.until(lambda: n in r.answers, "no answer")
    each(one, ("running", "evaluate"))


def floods_its_stderr():
    does_not_answer(["stderr 1000000000"],
                    ("at once", "launch", "stopped", "running", "evaluate"))


def announces_without_end():
    """What it may announce is bounded, whatever it makes up."""
    t = Trouble("running", [
        f'ev capabilities {{"capabilities":{{"a{i}":true,'
        f'"b{i}":"{"x" * 8000}"}}}}' for i in range(4000)] + [STOP])
    with t.rig() as r:
        r.start()
        before = hwm(r)
        eq(r.ask("continue")["state"], "stopped", "it comes to its end")
        ok(hwm(r) - before < 24 << 20, "of 32 MB nothing was kept",
           hwm(r) - before)


def hwm(r):
    with open(f"/proc/{r.p.pid}/status") as f:
        return next(int(x.split()[1]) * 1024 for x in f
                    if x.startswith("VmHWM"))


try:
    run_tests(killed, exits, babbles, counts_backwards, ends_at_its_end,
              ends_while_it_lets_go, hangs, is_deaf, floods,
              floods_of_output, floods_of_stops, floods_its_stderr,
              announces_without_end)
finally:
    shutil.rmtree(WORK, ignore_errors=True)
