#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# What comes while something else is under way: stops that are being judged,
# requests that the adapter has not answered, an end, a start in between.
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dbgrig import CONVERSATIONS, Failed, Rig
from dl import eq, ok, run_tests, wait_for

WORK = tempfile.mkdtemp(prefix="dl-dap-")
CAN = '{"supportsConfigurationDoneRequest":true%s}'
ENTRY = 'ev stopped {"reason":"entry","threadId":4711}'
HIT = 'ev stopped {"reason":"breakpoint","threadId":4711,' \
    '"hitBreakpointIds":[1]}'
NO = 'ok evaluate {"result":"false","variablesReference":0}'
THREADS = 'ok threads {"threads":[{"id":4711,"name":"a"}]}'
PLACE = {"file": "/nowhere/a.c", "line": 9}


def says(*lines, can="", launched="ok launch", stop=ENTRY):
    """An adapter that comes to a stop, then says these."""
    where = tempfile.mkdtemp(dir=WORK)
    os.symlink(os.path.join(os.path.abspath(CONVERSATIONS), "auto.inc"),
               os.path.join(where, "auto.inc"))
    with open(os.path.join(where, "said.conv"), "w") as f:
        f.write("\n".join((
            "include auto.inc", "< initialize", "ok initialize " + CAN % can,
            "< launch", "ev initialized", *launched.split("\n"),
            "< configurationDone", "ok configurationDone",
            *stop.split("\n"), *lines)) + "\n")
    return os.path.join(where, "said")


def answers(r, n, within=30):
    return wait_for(lambda: r.answered(n), within)


def error(r, n):
    try:
        return {"not an error": r.answer(n)}
    except Failed as e:
        return e.error


# --- a stop that turns out to be none ------------------------------------
# It is judged for as long as nobody asks for threads.
JUDGED = ["< continue", "ok continue", HIT, "< evaluate", "< threads",
          THREADS, NO]


def judged(r):
    r.start()
    r.ask("breakpoint_add", condition="i == 3", **PLACE)
    r.ask("continue", wait=False)
    time.sleep(.5)


def who_asks_while_it_is_judged():
    with Rig(says(*JUDGED, "< continue", "ok continue")) as r:
        judged(r)
        asked = {"status": r.send("status"),
                 "await": r.send("await", timeout_s=0),
                 "next": r.send("next")}
        time.sleep(.3)
        r.ask("threads", conn=2)
        for what, n in asked.items():
            ok(answers(r, n), f"{what} is answered when it goes on")
        eq([r.answer(asked[x])["state"] for x in ("status", "await")],
           ["running", "running"], "that it runs")
        eq(error(r, asked["next"])["code"], "not_stopped",
           "and does not step")


def limits_while_it_is_judged():
    """The time is over between two such stops."""
    with Rig(says(*JUDGED, "< continue", "ok continue", *JUDGED[2:],
                  "< continue", "ok continue")) as r:
        judged(r)
        n = r.send("await", timeout_s=1)
        time.sleep(1.5)
        r.ask("threads", conn=2)
        ok(answers(r, n), "the limit holds")
        eq(r.answer(n)["state"], "running", "although it went on at once")


def pause_while_it_is_judged():
    with Rig(says(*JUDGED)) as r:
        judged(r)
        n = r.send("pause")
        time.sleep(.3)
        r.ask("threads", conn=2)
        eq(r.answer(n)["state"], "stopped", "it stays where it stands")


# --- steps that nobody waits for -----------------------------------------
def steps_without_waiting():
    with Rig("steps") as r:
        r.start()
        s = r.ask("next", count=3, wait=False)
        eq(s["state"], "running", "it is answered at once")
        eq(r.ask("await", since=s["epoch"])["reason"], "breakpoint",
           "and all steps are done")


# --- a pause that a stop is ahead of -------------------------------------
def pause_and_stop():
    frames = "".join((
        'ok stackTrace {"stackFrames":[{"id":1,"name":"main","line":9,',
        '"column":2}],"totalFrames":1}'))
    with Rig(says('ev stopped {"reason":"breakpoint","threadId":5}',
                  'ok threads {"threads":[{"id":1,"name":"a"},'
                  '{"id":5,"name":"b"}]}', '< stackTrace {"threadId":5}',
                  frames, stop="< threads")) as r:
        r.ask("start", program="/bin/true", cwd="/", adapter=r.kind,
              stop_on_entry=False, wait=False)
        s = r.ask("pause")
        eq((s["state"], s["thread"]["id"]), ("stopped", 5),
           "the thread that has stopped is looked at")


# --- the adapter never says that it has launched -------------------------
def begun(r, state="running"):
    n = r.send("start", program="/bin/true", cwd="/", adapter=r.kind,
               stop_on_entry=False, wait=False)
    if state is not None:
        r.state(state)
    return n


SILENT = {"launched": "auto threads", "stop": "out begun"}


def launch_is_never_answered():
    with Rig(says(**SILENT), ["-r", "1"]) as r:
        eq(r.answer(begun(r))["state"], "running", "it runs all the same")
        r.ask("stop")


def detached_before_it_is():
    with Rig(says("< disconnect", "ok disconnect", **SILENT)) as r:
        n = begun(r)
        time.sleep(.5)
        r.ask("detach", conn=2)
        ok("detached" in error(r, n).get("message", ""),
           "who started it hears of it", error(r, n))


def ended_before_it_is():
    with Rig(says('ev exited {"exitCode":4}', **SILENT)) as r:
        eq(r.answer(begun(r, None)).get("exit"), {"code": 4},
           "who started it hears of the end")


def started_anew_before_it_is():
    with Rig(says(**SILENT)) as r:
        n = begun(r)
        again = r.send("restart", wait=False, conn=2)
        eq(error(r, n)["code"], "refused", "who was first hears of it")
        ok(not r.answered(again), "the other waits")
        r.ask("stop", conn=3)
        ok("stop" in error(r, again)["message"], "until it is ended")


# --- let go, but it stays ------------------------------------------------
def detach_is_refused():
    with Rig(says("< disconnect", "no disconnect not now", "< next",
                  "ok next", 'ev stopped {"reason":"step",'
                  '"threadId":4711}')) as r:
        first = r.start()
        ok("not now" in r.refused("detach")["message"], "it says so")
        s = r.ask("status")
        eq((s["state"], s["thread"]["id"]), ("stopped", 4711),
           "it is where it was")
        ok(s["epoch"] > first["epoch"], "what was read before is old")
        eq(r.ask("next")["reason"], "step", "and goes on from there")


# --- started anew --------------------------------------------------------
def quick_restart():
    """What runs is not asked for a breakpoint of the next one."""
    fn = ',"supportsFunctionBreakpoints":true'
    hit = HIT.replace("[1]", "[2]")
    with Rig(says("< continue", "deaf", can=fn, stop=hit),
             ["-r", "30"]) as r:
        s = r.ask("start", program="/bin/true", cwd="/", adapter=r.kind)
        eq(s["reason"], "entry", "it runs to main")
        r.send("continue")
        r.state("running")
        before = time.monotonic()
        eq(r.ask("restart", conn=2)["reason"], "entry", "and once more")
        ok(time.monotonic() - before < 15, "at once",
           time.monotonic() - before)


def two_restarts():
    with Rig(says()) as r:
        r.start()
        n = [r.send("restart", conn=2), r.send("restart", conn=3)]
        for k in n:
            eq(r.answer(k)["reason"], "entry", "both see the newest")
        eq(r.ask("status")["state"], "stopped", "which is there")


# --- ended by somebody ---------------------------------------------------
def told_before_the_end():
    with Rig(says("< continue", "ok continue", "< disconnect")) as r:
        r.start()
        r.ask("continue", wait=False)
        n = r.send("await", conn=2)
        r.ask("stop", conn=3)
        r.state("bye")
        ok(r.answered(n), "who waits is told before the session ends")
        s = r.answer(n)
        ok(s["state"] == "terminated" and "`debugger stop`" in s["words"],
           "why", s)


def editor(r):
    """One that waits for what it is to hear."""
    client = r.ask("dap")["client"]

    def say(seq, command, **arguments):
        r.ask("dap_send", client=client, message={
            "seq": seq, "type": "request", "command": command,
            "arguments": arguments})
    for seq, command in enumerate(("initialize", "attach",
                                   "configurationDone")):
        say(seq, command)
    got = []
    while not any(m.get("event") == "stopped" for m in got):
        got += r.ask("dap_receive", client=client, timeout_s=30)["messages"]
    return say, r.send("dap_receive", conn=21, client=client, timeout_s=60)


def names(a):
    return [m.get("event", m.get("command")) for m in a["messages"]]


def editors_before_the_end():
    with Rig(says()) as r:
        r.start()
        n = editor(r)[1]
        r.ask("stop", conn=3)
        r.state("bye")
        ok(r.answered(n), "an editor is told before the session ends")
        a = r.answer(n)
        eq((names(a), a["end"]), (["terminated"], True), "all in one answer")


def ended_by_an_editor():
    with Rig(says()) as r:
        r.start()
        say, n = editor(r)
        other = editor(r)[1]
        say(7, "disconnect", terminateDebuggee=True)
        r.state("bye")
        ok(r.answered(n) and r.answered(other), "both are told")
        a = r.answer(n)
        eq((sorted(names(a)), a["end"]), (["disconnect", "terminated"],
                                          True),
           "its response and the end in one answer")
        a = r.answer(other)
        eq((names(a), a["end"]), (["terminated"], True), "the other's end")


try:
    run_tests(who_asks_while_it_is_judged, limits_while_it_is_judged,
              pause_while_it_is_judged, steps_without_waiting,
              pause_and_stop, launch_is_never_answered,
              detached_before_it_is, ended_before_it_is,
              started_anew_before_it_is, detach_is_refused, quick_restart,
              two_restarts, told_before_the_end, editors_before_the_end,
              ended_by_an_editor)
finally:
    shutil.rmtree(WORK, ignore_errors=True)
